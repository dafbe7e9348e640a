// How many cores of the machine work on files, counted over all threads of a node: a read-ahead thread goes where one
// is left. Two that look at once may both take the last: a guess at what the machine has to spare, no lock.
// Int32 slots: the machine's cores, then of each thread those that its Runs and its read-ahead thread keep busy.
import { EXTRA_THREADS_MAX } from '../memory/budget.ts';

const CORE_COUNT = 0;
const FIRST_THREAD = 1;

/** @param cores that Runs and their read-ahead threads may keep busy */
export function newCoreCounts(cores: number, threads: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer((FIRST_THREAD + threads + EXTRA_THREADS_MAX) * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(buffer)[CORE_COUNT] = cores;
  return buffer;
}

export class CoreShare {
  readonly #counts: Int32Array;
  readonly #own: number;

  /** @param counts newCoreCounts */
  constructor(counts: SharedArrayBuffer, thread: number) {
    this.#counts = new Int32Array(counts);
    this.#own = FIRST_THREAD + thread;
  }

  /** A Run needs its core in any case. */
  take(): void {
    Atomics.add(this.#counts, this.#own, 1);
  }

  /** Whether not all are busy. */
  get hasFree(): boolean {
    let busy = 0;
    for (let slot = FIRST_THREAD; slot < this.#counts.length; slot++) busy += Atomics.load(this.#counts, slot);
    return busy < Atomics.load(this.#counts, CORE_COUNT);
  }

  tryTake(): boolean {
    const { hasFree } = this;
    if (hasFree) this.take();
    return hasFree;
  }

  give(): void {
    Atomics.sub(this.#counts, this.#own, 1);
  }
}

/** A thread was lost: so is what it did. */
export function forgetCores(counts: SharedArrayBuffer, thread: number): void {
  Atomics.store(new Int32Array(counts), FIRST_THREAD + thread, 0);
}
