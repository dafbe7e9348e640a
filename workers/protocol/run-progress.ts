// Progress of the Runs of all threads, in shared memory that a progress display reads: the number of rows and of
// bytes. Contains no content of a file.
import type { StoredSource } from '../input/source/source.ts';

const ROWS = 0;
const BYTES = 1;

export const PROGRESS_BYTES = 2 * BigInt64Array.BYTES_PER_ELEMENT;

/** @param progress PROGRESS_BYTES of shared memory, zero at first */
export function progressOf(progress: SharedArrayBuffer): { readonly rows: number; readonly bytes: number } {
  const counts = new BigInt64Array(progress);
  return { rows: Number(Atomics.load(counts, ROWS)), bytes: Number(Atomics.load(counts, BYTES)) };
}

/** Resets the progress to zero. */
export function forgetProgress(progress: SharedArrayBuffer): void {
  const counts = new BigInt64Array(progress);
  for (const slot of [ROWS, BYTES]) Atomics.store(counts, slot, 0n);
}

/** One Run's contribution to the counts. A Run that restarts first subtracts its earlier contribution. */
export class RunProgress {
  readonly #counts: BigInt64Array;
  readonly #source: Pick<StoredSource, 'reachedBytes'>;
  #rows = 0;
  #bytes = 0;

  constructor(progress: SharedArrayBuffer, source: Pick<StoredSource, 'reachedBytes'>) {
    this.#counts = new BigInt64Array(progress);
    this.#source = source;
  }

  /** @param rowsRead number of rows read since the Run started or restarted */
  update(rowsRead: number): void {
    const { reachedBytes } = this.#source;
    Atomics.add(this.#counts, ROWS, BigInt(rowsRead - this.#rows));
    Atomics.add(this.#counts, BYTES, BigInt(reachedBytes - this.#bytes));
    this.#rows = rowsRead;
    this.#bytes = reachedBytes;
  }
}
