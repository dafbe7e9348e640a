// Triggers a thread's garbage collection after large memory was dropped. V8 does not account for the size of a
// WebAssembly memory and can leave a dozen dropped ones uncollected for seconds. Until then, the process and the budget
// would still hold them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { BudgetShare } from './budget.ts';

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
 * Delay before repeating a collection that did not free everything, because something still referred to the memory. On
 * a busy machine that is often V8, which compiles a function of the Run in the background. The delay doubles with each
 * repetition, so that memory that stays referenced costs a thread next to nothing. The limits bound the time that a Run
 * waits for memory that is free at last.
 */
const AGAIN_MILLISECONDS = 200;
const AGAIN_MILLISECONDS_MAX = 10_000;
const AGAIN_AWAITED_MILLISECONDS_MAX = 1000;

/** Memory that a thread does not use any more. */
export interface DroppedMemory {
  readonly bytes: number;
  /** Other Runs may wait for this memory, so even a small amount justifies a collection. */
  readonly isAwaited: boolean;
  /** Called when the memory was found to be collected. Must not refer to the memory. */
  readonly freed: () => void;
}

export interface Collector {
  /** @param memory no longer referenced, at the latest after the current turn of the event loop */
  dropped(memory: object, dropped: DroppedMemory): void;
  /**
   * Collects memory that was dropped in an earlier turn, unless a collection has tried it already. Returns true if some
   * of it is free now.
   */
  collectDropped(): boolean;
  /** True if no collection has tried to free the memory that was dropped last. */
  readonly hasDropped: boolean;
  /**
   * Reports long texts of `bytes` bytes. V8 stores them outside its heap and may not collect them until they reach 64
   * MiB.
   */
  madeTexts(bytes: number): void;
}

/**
 * Collector of the calling thread. It looks with weak references whether memory was collected, because the callbacks of
 * a FinalizationRegistry may stop. With Node.js 20 to 24, they stop in the whole thread if any registry becomes garbage
 * while its callback is due. Then memory stayed charged, and Runs waited for it forever.
 */
export class ThreadCollector implements Collector {
  readonly #collectBytes: number;
  #collect: (() => void) | null = null;
  readonly #dropped = new Map<WeakRef<object>, DroppedMemory>();
  #droppedBytes = 0;
  #textBytes = 0;
  /** Number of dropped memories that other Runs wait for. */
  #awaited = 0;
  #timer: NodeJS.Timeout | null = null;
  /** True if `#timer` collects in this turn of the event loop or the next one. */
  #isDue = false;
  #hasDropped = false;

  /** @param budgetBytes memory budget of all threads */
  constructor(budgetBytes = 0) {
    this.#collectBytes = Math.max(COLLECT_BYTES, budgetBytes * COLLECT_BUDGET_PART);
  }

  dropped(memory: object, dropped: DroppedMemory): void {
    this.#findFreed();
    this.#dropped.set(new WeakRef(memory), dropped);
    this.#hasDropped = true;
    this.#droppedBytes += dropped.bytes;
    if (dropped.isAwaited) this.#awaited++;
    const isWorthwhile = this.#droppedBytes >= this.#collectBytes || this.#awaited > 0;
    if (!this.#isDue) this.#collectIn(isWorthwhile ? 0 : COLLECT_LATER_MILLISECONDS, AGAIN_MILLISECONDS);
  }

  get hasDropped(): boolean {
    return this.#hasDropped;
  }

  collectDropped(): boolean {
    if (!this.#hasDropped) return false;
    const { size } = this.#dropped;
    this.#collectNow();
    return this.#dropped.size < size;
  }

  /**
   * Collects immediately: there is no later opportunity in the middle of a row, and its next text is as long as the
   * last one.
   */
  madeTexts(bytes: number): void {
    this.#textBytes += bytes;
    if (this.#textBytes >= COLLECT_BYTES) this.#collectNow();
  }

  #collectNow(): void {
    this.#textBytes = 0;
    this.#hasDropped = false;
    this.#collect ??= collectFunction();
    this.#collect();
    this.#findFreed();
  }

  /** Looking at a weak reference keeps its memory until the end of the turn, so a collection comes before the look. */
  #findFreed(): void {
    for (const [memory, { bytes, isAwaited, freed }] of this.#dropped) {
      if (memory.deref() !== undefined) continue;
      this.#dropped.delete(memory);
      this.#droppedBytes -= bytes;
      if (isAwaited) this.#awaited--;
      freed();
    }
  }

  /** Collects after a delay, and again until everything is free. Replaces a collection that was due later. */
  #collectIn(milliseconds: number, againMilliseconds: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isDue = milliseconds === 0;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#isDue = false;
      if (this.#dropped.size === 0) return;
      this.#collectNow();
      if (this.#dropped.size === 0 || this.#timer !== null) return;
      const longest = this.#awaited > 0 ? AGAIN_AWAITED_MILLISECONDS_MAX : AGAIN_MILLISECONDS_MAX;
      const next = Math.min(againMilliseconds, longest);
      this.#collectIn(next, next * 2);
    }, milliseconds).unref();
  }
}

/** Maximum size of a memory that several threads have used and that is kept for the next Run. */
const SPARE_MEMORY_BYTES_MAX = 512 * 1024 * 1024;

/** Maximum part of the memory budget that such memory may take meanwhile. */
const SPARE_BUDGET_PART = 1 / 8;

/** Size up to which a memory that several threads have used is kept for the next Run. */
export function spareMemoryBytesMax(budgetBytes: number): number {
  return Math.min(SPARE_MEMORY_BYTES_MAX, budgetBytes * SPARE_BUDGET_PART);
}

/**
 * Delay before a thread reports a memory that may be used again: the next Run receives it under another reference, so
 * that a collection after each Run would free nothing.
 */
const REPORT_MILLISECONDS = 2000;

/** Drops memory that several threads have used: see KernelPool for memory of one thread. */
export class SharedMemories {
  readonly #collector: Collector;
  readonly #spareBytesMax: number;
  /** Memories that were not reported yet. */
  readonly #kept = new Set<WeakRef<WebAssembly.Memory<SharedArrayBuffer>>>();
  #timer: NodeJS.Timeout | null = null;

  /** @param spareBytesMax size up to which another Run may use a memory again */
  constructor(collector: Collector, spareBytesMax: number) {
    this.#collector = collector;
    this.#spareBytesMax = spareBytesMax;
  }

  /**
   * @param memory no longer used by the calling thread. It is free once all threads have collected it.
   * @param mayReturn true if the thread may use it again for the same Run
   */
  drop(memory: WebAssembly.Memory<SharedArrayBuffer>, mayReturn = false): void {
    this.#kept.add(new WeakRef(memory));
    if (!mayReturn && memory.buffer.byteLength > this.#spareBytesMax) this.#report();
    else this.#timer ??= setTimeout(() => this.#report(), REPORT_MILLISECONDS).unref();
  }

  #report(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const kept of this.#kept) {
      const memory = kept.deref();
      if (memory === undefined) continue;
      const { byteLength } = memory.buffer;
      this.#collector.dropped(memory, { bytes: byteLength, isAwaited: false, freed: () => {} });
    }
    this.#kept.clear();
  }
}

/**
 * Frees the memory that the thread has dropped before it refuses. Otherwise a Run could fail because the memory of its
 * first attempt was not collected yet.
 */
export function collectingShare(share: BudgetShare, collector: Collector): BudgetShare {
  return {
    take: (bytes) => share.take(bytes) || (collector.collectDropped() && share.take(bytes)),
    force: (bytes) => share.force(bytes),
    release: (bytes) => share.release(bytes),
    get takenBytes() {
      return share.takenBytes;
    },
  };
}

/** Does nothing. For tests and tools that own their process. */
export const NO_COLLECTOR: Collector = {
  dropped: () => {},
  collectDropped: () => false,
  hasDropped: false,
  madeTexts: () => {},
};

/**
 * Returns a function that runs a full collection. This is the only way for a program that cannot require command-line
 * flags.
 */
function collectFunction(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
