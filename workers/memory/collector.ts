// Triggers a thread's garbage collection after large memory was dropped. V8 does not account for the size of a
// WebAssembly memory and can leave a dozen dropped ones uncollected for seconds. Until then, the process and the budget
// would still hold them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Number of dropped bytes that justify an immediate collection, which takes about 10 ms of a thread. */
const COLLECT_BYTES = 16 * 1024 * 1024;

/**
 * With a large budget, a thread may hold this part of it as dropped memory until it is idle. A collection between two
 * Runs finds no object of a Run, so V8 forgets the code that it has compiled for them and compiles it again: with a
 * collection after each Run, W8 on 200 MB took 1.13 times as much processor time.
 */
const COLLECT_BUDGET_PART = 1 / 32;

/**
 * Time without dropped memory after which a smaller amount is collected. An idle thread produces no garbage, so V8
 * itself would never collect it.
 */
const COLLECT_LATER_MILLISECONDS = 1000;

/**
 * Delay before repeating a collection that did not free everything, because something still referred to the memory. It
 * doubles with each repetition, so that memory that stays referenced costs a thread next to nothing.
 */
const AGAIN_MILLISECONDS = 200;

export interface Collector {
  /**
   * Reports memory of `bytes` bytes that is no longer referenced, at the latest after the current turn of the event
   * loop.
   * @param isAwaited other Runs wait for this memory, so even a small amount justifies a collection
   */
  dropped(bytes: number, isAwaited: boolean): void;
  /** Reports that dropped memory of `bytes` bytes was freed. */
  collected(bytes: number, isAwaited: boolean): void;
  /**
   * Reports long texts of `bytes` bytes. V8 stores them outside its heap and may not collect them until they reach 64
   * MiB.
   */
  madeTexts(bytes: number): void;
}

/** Collector of the calling thread. */
export class ThreadCollector implements Collector {
  readonly #collectBytes: number;
  #collect: (() => void) | null = null;
  #droppedBytes = 0;
  #textBytes = 0;
  /** Number of dropped memories that other Runs wait for. */
  #awaited = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Delay with which `#timer` was started. */
  #dueInMilliseconds = 0;
  #later: NodeJS.Timeout | null = null;

  /** @param budgetBytes memory budget of all threads */
  constructor(budgetBytes = 0) {
    this.#collectBytes = Math.max(COLLECT_BYTES, budgetBytes * COLLECT_BUDGET_PART);
  }

  dropped(bytes: number, isAwaited: boolean): void {
    this.#droppedBytes += bytes;
    if (isAwaited) this.#awaited++;
    if (this.#isWorthwhile) this.#schedule(0, AGAIN_MILLISECONDS);
    else this.#collectLater(COLLECT_LATER_MILLISECONDS);
  }

  collected(bytes: number, isAwaited: boolean): void {
    this.#droppedBytes -= bytes;
    if (isAwaited) this.#awaited--;
  }

  /**
   * Collects immediately: there is no later opportunity in the middle of a row, and its next text is as long as the
   * last one.
   */
  madeTexts(bytes: number): void {
    this.#textBytes += bytes;
    if (this.#textBytes >= COLLECT_BYTES) this.#collectNow();
  }

  get #isWorthwhile(): boolean {
    return this.#droppedBytes >= this.#collectBytes || this.#awaited > 0;
  }

  #collectNow(): void {
    this.#textBytes = 0;
    this.#collect ??= collectFunction();
    this.#collect();
  }

  /** Memory that is still referenced then is collected later, if it is much. */
  #collectLater(milliseconds: number): void {
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = setTimeout(() => {
      this.#later = null;
      if (this.#droppedBytes === 0) return;
      this.#collectNow();
      if (this.#droppedBytes >= COLLECT_BYTES) this.#collectLater(milliseconds * 2);
    }, milliseconds).unref();
  }

  /** A collection that was to be repeated later gives way to one that is due earlier. */
  #schedule(milliseconds: number, againMilliseconds: number): void {
    if (this.#timer !== null && milliseconds >= this.#dueInMilliseconds) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dueInMilliseconds = milliseconds;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!this.#isWorthwhile) return;
      this.#collectNow();
      this.#schedule(againMilliseconds, againMilliseconds * 2);
    }, milliseconds).unref();
  }
}

/** Size up to which a memory that several threads have used is kept for the next Run. */
export const SPARE_MEMORY_BYTES_MAX = 128 * 1024 * 1024;

/**
 * Delay before a thread reports a memory that may be used again: the next Run receives it under another reference, so
 * that a collection after each Run would free nothing.
 */
const REPORT_MILLISECONDS = 2000;

/** A reference to a memory that the thread does not use any more. */
interface DroppedShare {
  readonly bytes: number;
  isReported: boolean;
}

/** Drops memory that several threads have used: see KernelPool for memory of one thread. */
export class SharedMemories {
  readonly #collector: Collector;
  readonly #dropped = new Set<DroppedShare>();
  readonly #freed = new FinalizationRegistry<DroppedShare>((dropped) => {
    this.#dropped.delete(dropped);
    if (dropped.isReported) this.#collector.collected(dropped.bytes, false);
  });
  #timer: NodeJS.Timeout | null = null;

  constructor(collector: Collector) {
    this.#collector = collector;
  }

  /** @param memory no longer used by the calling thread. It is free once all threads have collected it. */
  drop(memory: WebAssembly.Memory<SharedArrayBuffer>): void {
    const dropped = { bytes: memory.buffer.byteLength, isReported: false };
    this.#dropped.add(dropped);
    this.#freed.register(memory, dropped);
    if (dropped.bytes > SPARE_MEMORY_BYTES_MAX) this.#report();
    else this.#timer ??= setTimeout(() => this.#report(), REPORT_MILLISECONDS).unref();
  }

  #report(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const dropped of this.#dropped) {
      if (dropped.isReported) continue;
      dropped.isReported = true;
      this.#collector.dropped(dropped.bytes, false);
    }
  }
}

/** Does nothing. For tests and tools that own their process. */
export const NO_COLLECTOR: Collector = { dropped: () => {}, collected: () => {}, madeTexts: () => {} };

/**
 * Returns a function that runs a full collection. This is the only way for a program that cannot require command-line
 * flags.
 */
function collectFunction(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
