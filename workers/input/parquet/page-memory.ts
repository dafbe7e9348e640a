// Memory for the pages of a Parquet file, and the limit on their decompressed bytes.

import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import type { StoredSource } from '../source/source.ts';

// Counts the decompressed bytes of all pages against the limit of the plan.

export class InflatedBytes {
  readonly #bytesMax: number;
  readonly #parted: Pick<StoredSource, 'part'> | null;
  #bytes = 0;

  /**
   * @param bytesMax null for no limit
   * @param parted set if other threads also decompress pages
   */
  constructor(bytesMax: number | null, parted: Pick<StoredSource, 'part'> | null) {
    this.#bytesMax = bytesMax ?? Number.POSITIVE_INFINITY;
    this.#parted = parted;
  }

  /** Throws Failed. */
  add(bytes: number): void {
    this.#bytes = this.#parted?.part?.addInflated(bytes) ?? this.#bytes + bytes;
    if (this.#bytes > this.#bytesMax)
      throw new Failed('FILE_TOO_LARGE', `The file inflates to more than ${this.#bytesMax} bytes.`);
  }
}

// Memory for the pages of a Parquet file: regions of the Run's heap, so that the budget limits them.

/** Factor for the size of a region, so that a slightly larger next page also fits. */
const SPARE = 1.25;

/**
 * Allocates a region that is necessary to read the file. If the budget is exhausted, the Run waits for the node's arena
 * (MemoryWanted). If that is too small as well, the file is too large.
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

/** A region that is reused for one page after the other and grows if necessary. */
export class PageRegion {
  readonly #heap: Heap;
  readonly #what: string;
  #at = 0;
  #bytes = 0;

  constructor(heap: Heap, what: string) {
    this.#heap = heap;
    this.#what = what;
  }

  /** Returns the address of a region with this many bytes. Its previous content is lost. */
  take(bytes: number): number {
    if (this.#at !== 0 && bytes <= this.#bytes) return this.#at;
    const size = this.#at === 0 ? bytes : Math.ceil(bytes * SPARE);
    this.release();
    this.#at = allocateFor(this.#heap, size, this.#what);
    this.#bytes = size;
    return this.#at;
  }

  release(): void {
    if (this.#at !== 0) this.#heap.release(this.#at, this.#bytes);
    this.#at = 0;
    this.#bytes = 0;
  }
}
