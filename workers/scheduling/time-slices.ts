// Time slices of long work: the steps of a coroutine, the clock that ends a slice, and the turns of accounts. Work that
// could block the thread for long is done in pieces, with pauses in which the thread's other Runs continue. The Run
// (run.ts) drives the work, checks the clock and cancellation, and returns to the event loop.

/** A point at which work may pause. Its memory in the arena stays valid. */
export type Pause = 'pause';

export const PAUSE: Pause = 'pause';

/**
 * Work that progresses while it is iterated. A function that receives slices either iterates them with `yield*`, or
 * returns them as its own last action. No other work of the Run happens during a pause.
 */
export type Slices = Iterable<Pause>;

/** Like Slices, with a result. */
export type Sliced<T> = Generator<Pause, T, undefined>;

/** Work before the first row or after the last one. When it yields undefined, the arena is cleared. */
// biome-ignore lint/suspicious/noConfusingVoidType: a generator that yields nothing gives void
export type Steps = Iterable<Pause | void>;

/** No work left. */
export const DONE: Slices = [];

/** True if a function returned a generator, which makes the result in slices, instead of the result itself. */
export function isSliced<T>(made: T | Sliced<T>): made is Sliced<T> {
  return typeof made === 'object' && made !== null && Symbol.iterator in made && 'next' in made;
}

/** Runs work to its end without pauses. */
export function done<T>(work: Generator<unknown, T, undefined>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

// Clock of one Run. Measures how long the Run has blocked its thread, and how long each step of its chain ran without
// a pause.

/** Work time after which a Run yields to the thread's other Runs, in milliseconds. */
export const SLICE_MILLISECONDS = 8;

/**
 * Lets long work check whether it is time to pause. A check takes 50 ns; `checkMask` says at which rows work on single
 * rows checks.
 */
export interface Pauses {
  isDue(): boolean;
}

/**
 * In a batch with at most this many rows, each row checks the clock, because cells of megabytes come in batches of few
 * rows.
 */
const LONG_ROWS_MAX = 256;

/** Otherwise every eighth row checks the clock. */
const SHORT_ROWS_MASK = 7;

/**
 * Mask for work on `count` single rows: it checks the clock at rows whose index has all of these bits set, or none of
 * them.
 */
export function checkMask(count: number): number {
  return count <= LONG_ROWS_MAX ? 0 : SHORT_ROWS_MASK;
}

/** Calls `wait`, and resolves when its promise does. */
export type Rest = (wait: () => Promise<void>) => Promise<void>;

export class SliceClock implements Pauses {
  readonly #onCheck: () => void;
  /** Work time, without the time of pauses. */
  #busyMilliseconds = 0;
  #since = performance.now();
  #checkedAt = this.#since;
  #longest = 0;

  /**
   * @param onCheck called before and after each rest and for each batch: it shows that the thread is alive and throws
   * Cancelled
   */
  constructor(onCheck: () => void) {
    this.#onCheck = onCheck;
  }

  get busyMilliseconds(): number {
    return this.#busyMilliseconds + performance.now() - this.#since;
  }

  /** Like isDue, for the code that drives the Run. Also shows that the thread is alive, and throws Cancelled. */
  check(): boolean {
    this.#onCheck();
    return this.isDue();
  }

  isDue(): boolean {
    return this.#now() - this.#since >= SLICE_MILLISECONDS;
  }

  /** Waits. The waiting time does not count as work. */
  async rest(wait: () => Promise<void>): Promise<void> {
    this.#onCheck();
    this.#busyMilliseconds += this.#now() - this.#since;
    await wait();
    this.#since = performance.now();
    this.#checkedAt = this.#since;
    this.#onCheck();
  }

  /** Starts measuring a nested step. The result must be passed to `leave`. */
  enter(): number {
    this.#now();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  /**
   * Ends the nested step. Returns its longest uninterrupted work time in milliseconds, excluding checks of the clock
   * and nested steps.
   */
  leave(entered: number): number {
    this.#now();
    const longest = this.#longest;
    this.#longest = entered;
    return longest;
  }

  #now(): number {
    const now = performance.now();
    if (now - this.#checkedAt > this.#longest) this.#longest = now - this.#checkedAt;
    this.#checkedAt = now;
    return now;
  }
}

/** Yields to timers and messages, for a Run that is alone in its thread. */
export function nextTurnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

// Turns of the paused Runs of one thread. One Run continues for one time slice per turn of the event loop, so that messages
// are received between two slices.

/**
 * Accounts take turns, and so do the Runs of one account. A small Run therefore waits for one time slice of each other
 * account, regardless of how many large Runs these accounts have.
 */
export class ThreadTurns {
  /** Waiting Runs by account. The first account has the next turn. */
  readonly #waiting = new Map<number, (() => void)[]>();

  /**
   * Resolves when it is the caller's turn.
   * @param accountRow see RunTask
   */
  next(accountRow: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.size === 0) setImmediate(this.#pass);
      const runs = this.#waiting.get(accountRow);
      if (runs === undefined) this.#waiting.set(accountRow, [resolve]);
      else runs.push(resolve);
    });
  }

  readonly #pass = (): void => {
    for (const [accountRow, runs] of this.#waiting) {
      runs.shift()!();
      this.#waiting.delete(accountRow);
      if (runs.length > 0) this.#waiting.set(accountRow, runs);
      break;
    }
    if (this.#waiting.size > 0) setImmediate(this.#pass);
  };
}
