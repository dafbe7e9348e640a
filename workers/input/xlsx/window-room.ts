// The memory that the stretches of XML take which are looked at: they lie outside the Run's memory, so as much of it is left
// unused. A stretch that grows for a large cell passes the gate of large rows first.
import type { Heap } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { COMPRESSED_PIECE_BYTES, INFLATED_PIECE_BYTES } from '../zip/limits.ts';
import { WINDOW_BYTES } from './limits.ts';

/** Inflated pieces that are ready or being made, and what they are made of. */
const PIECES_BYTES = 2 * INFLATED_PIECE_BYTES + COMPRESSED_PIECE_BYTES;

export class WindowRoom {
  readonly #heap: Heap;
  readonly #largeRow: LargeRowAccess;
  /** A window may be as large as this, in bytes. */
  #windowBytes = WINDOW_BYTES;
  #wantedBytes = 0;
  #large: { readonly at: number; readonly bytes: number } | null = null;

  /** Throws MemoryWanted. */
  constructor(heap: Heap, largeRow: LargeRowAccess) {
    this.#heap = heap;
    this.#largeRow = largeRow;
    heap.allocate(WINDOW_BYTES + PIECES_BYTES);
  }

  /** False: `wait`, then ask again. */
  has(bytes: number): boolean {
    this.#wantedBytes = bytes <= this.#windowBytes ? 0 : bytes;
    return this.#wantedBytes === 0;
  }

  /** Null: nothing was asked for that there is no room for. */
  wait(): Promise<void> | null {
    return this.#wantedBytes === 0 ? null : this.#acquire(this.#wantedBytes);
  }

  async #acquire(bytes: number): Promise<void> {
    await this.#largeRow.acquire(this.#heap, bytes);
    if (this.#large !== null) this.#heap.giveBack(this.#large.at, this.#large.bytes);
    this.#large = { at: this.#heap.allocate(bytes), bytes };
    this.#windowBytes = bytes;
    this.#wantedBytes = 0;
  }
}
