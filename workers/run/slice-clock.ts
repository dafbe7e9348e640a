// The clock of one Run: how long it has held its thread, and for how long each step of its chain held it without a pause.

/** Milliseconds of work after which a Run lets the thread's other Runs go on. */
export const SLICE_MILLISECONDS = 8;

/** What work in slices asks: whether it is time to pause. It takes 50 ns: work on single rows asks at every eighth. */
export interface Pauses {
  isDue(): boolean;
}

/** Work on single rows looks at the clock where these bits of a row's place are all set, or none. */
export const LOOK_MASK = 7;

export class SliceClock implements Pauses {
  readonly #look: () => void;
  /** Of work, without rests. */
  #busyMilliseconds = 0;
  #since = performance.now();
  #looked = this.#since;
  #longest = 0;

  /** @param look called before and after each rest and for each batch: tells that the thread lives, throws Cancelled */
  constructor(look: () => void) {
    this.#look = look;
  }

  get busyMilliseconds(): number {
    return this.#busyMilliseconds + performance.now() - this.#since;
  }

  /** As isDue, for the conveyor: tells that the thread lives, throws Cancelled. */
  look(): boolean {
    this.#look();
    return this.isDue();
  }

  isDue(): boolean {
    return this.#now() - this.#since >= SLICE_MILLISECONDS;
  }

  /** Waits; what passes meanwhile is nobody's work. */
  async rest(wait: () => Promise<void>): Promise<void> {
    this.#look();
    this.#busyMilliseconds += this.#now() - this.#since;
    await wait();
    this.#since = performance.now();
    this.#looked = this.#since;
    this.#look();
  }

  /** A step of the chain begins, in the middle of the one before it; gives what `leave` wants. */
  enter(): number {
    this.#now();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  /** It is over; gives the milliseconds that it held the thread for at most, looks at the clock and steps behind it apart. */
  leave(entered: number): number {
    this.#now();
    const longest = this.#longest;
    this.#longest = entered;
    return longest;
  }

  #now(): number {
    const now = performance.now();
    if (now - this.#looked > this.#longest) this.#longest = now - this.#looked;
    this.#looked = now;
    return now;
  }
}

/** Where a Run alone in its thread gives way: timers and messages have their turn. */
export function nextTurnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
