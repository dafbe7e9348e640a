// The memory that pages of a Parquet file lie in: regions of the Run's heap, so that the budget is asked for each of them.
import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';

/** More than is asked for, so that the next page, which may be a little longer, fits too. */
const SPARE = 1.25;

/**
 * A region that the file cannot be read without. Where the budget has none left the Run waits for the node's arena
 * (MemoryWanted); what that cannot hold is too large.
 *
 * @throws Failed FILE_TOO_LARGE
 */
export function allocateFor(heap: Heap, bytes: number, what: string): number {
  try {
    return heap.allocate(bytes);
  } catch (error) {
    if (!(error instanceof Failed) || error.failure.code !== 'RUN_RESOURCE_LIMIT') throw error;
    throw tooLarge(what, bytes);
  }
}

export function tooLarge(what: string, bytes: number): Failed {
  return new Failed(
    'FILE_TOO_LARGE',
    `The Parquet file needs ${bytes} bytes of memory for one ${what}, more than a Run may have. Write it with smaller pages and row groups.`,
  );
}

/** A region that is taken for one page after the other, and made larger where one needs it. */
export class PageRegion {
  readonly #heap: Heap;
  readonly #what: string;
  #at = 0;
  #bytes = 0;

  constructor(heap: Heap, what: string) {
    this.#heap = heap;
    this.#what = what;
  }

  /** Address of so many bytes. What was there is gone. */
  take(bytes: number): number {
    if (this.#at !== 0 && bytes <= this.#bytes) return this.#at;
    const size = this.#at === 0 ? bytes : Math.ceil(bytes * SPARE);
    this.giveBack();
    this.#at = allocateFor(this.#heap, size, this.#what);
    this.#bytes = size;
    return this.#at;
  }

  giveBack(): void {
    if (this.#at !== 0) this.#heap.giveBack(this.#at, this.#bytes);
    this.#at = 0;
    this.#bytes = 0;
  }
}
