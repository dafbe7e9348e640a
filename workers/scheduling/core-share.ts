// Counts how many cores of the machine are busy with files, over all threads of a node. A read-ahead thread is used
// only if a core is free. There is no lock: two threads that check at the same time may both take the last core,
// which is acceptable for an estimate.
//
// Int32 slots: the number of cores of the machine, then for each thread the cores that its Runs and its read-ahead
// thread use.
import { EXTRA_THREADS_MAX } from '../memory/budget.ts';

const CORE_COUNT = 0;
const FIRST_THREAD = 1;

/** @param cores number of cores that Runs and their read-ahead threads may keep busy */
export function newCoreCounts(cores: number, threads: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer((FIRST_THREAD + threads + EXTRA_THREADS_MAX) * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(buffer)[CORE_COUNT] = cores;
  return buffer;
}

export class CoreShare {
  readonly #counts: Int32Array;
  readonly #own: number;

  /** @param counts result of newCoreCounts */
  constructor(counts: SharedArrayBuffer, thread: number) {
    this.#counts = new Int32Array(counts);
    this.#own = FIRST_THREAD + thread;
  }

  /** Takes a core even if no core is free: a Run always needs one. */
  take(): void {
    Atomics.add(this.#counts, this.#own, 1);
  }

  /** True if at least one core is free. */
  get hasFree(): boolean {
    return sumOf(this.#counts) < Atomics.load(this.#counts, CORE_COUNT);
  }

  tryTake(): boolean {
    const { hasFree } = this;
    if (hasFree) this.take();
    return hasFree;
  }

  release(): void {
    Atomics.sub(this.#counts, this.#own, 1);
  }
}

/** Number of cores that the Runs over files and the read-ahead threads use. */
export function busyCores(counts: SharedArrayBuffer): number {
  return sumOf(new Int32Array(counts));
}

function sumOf(counts: Int32Array): number {
  let busy = 0;
  for (let slot = FIRST_THREAD; slot < counts.length; slot++) busy += Atomics.load(counts, slot);
  return busy;
}

/** Releases the cores of a thread that was lost. */
export function forgetCores(counts: SharedArrayBuffer, thread: number): void {
  Atomics.store(new Int32Array(counts), FIRST_THREAD + thread, 0);
}
