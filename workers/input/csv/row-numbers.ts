// The selection of a reader's batches: all rows of each. Written as far as batches reach: most files are small.
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import type { Heap } from '../../memory/heap.ts';

export class RowNumbers {
  readonly #heap: Heap;
  readonly #at: number;
  #written = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#at = heap.allocate(BATCH_ROWS_MAX * 4);
  }

  /** Address of the numbers from 0 up to `rows`, BATCH_ROWS_MAX at most. */
  upTo(rows: number): number {
    const { u32 } = this.#heap;
    for (; this.#written < rows; this.#written++) u32[(this.#at >>> 2) + this.#written] = this.#written;
    return this.#at;
  }
}
