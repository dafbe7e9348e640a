// How far the Runs of all threads are, in memory that the threads share with whoever shows it: two counts, nothing of a file.
import type { StoredSource } from '../input/source/source.ts';

const ROWS = 0;
const BYTES = 1;

export const PROGRESS_BYTES = 2 * BigInt64Array.BYTES_PER_ELEMENT;

/** @param progress PROGRESS_BYTES, at first all zero */
export function progressOf(progress: SharedArrayBuffer): { readonly rows: number; readonly bytes: number } {
  const counts = new BigInt64Array(progress);
  return { rows: Number(Atomics.load(counts, ROWS)), bytes: Number(Atomics.load(counts, BYTES)) };
}

/** Nothing was done yet. */
export function forgetProgress(progress: SharedArrayBuffer): void {
  const counts = new BigInt64Array(progress);
  for (const slot of [ROWS, BYTES]) Atomics.store(counts, slot, 0n);
}

/** What one Run adds to the counts: one that begins again takes back what it has told. */
export class RunProgress {
  readonly #counts: BigInt64Array;
  readonly #source: Pick<StoredSource, 'reachedBytes'>;
  #rows = 0;
  #bytes = 0;

  constructor(progress: SharedArrayBuffer, source: Pick<StoredSource, 'reachedBytes'>) {
    this.#counts = new BigInt64Array(progress);
    this.#source = source;
  }

  /** @param rowsRead since the Run began, or began again */
  tell(rowsRead: number): void {
    const { reachedBytes } = this.#source;
    Atomics.add(this.#counts, ROWS, BigInt(rowsRead - this.#rows));
    Atomics.add(this.#counts, BYTES, BigInt(reachedBytes - this.#bytes));
    this.#rows = rowsRead;
    this.#bytes = reachedBytes;
  }
}
