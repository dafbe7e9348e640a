// A sorted run of finished rows whose entries lie packed in memory (kernel/assembly/encoded-runs.ts).
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { ENTRY_BYTES, RUN_STATE_BYTES } from '../../kernel/layout/encoded-rows.ts';
import type { Heap } from '../../memory/heap.ts';
import { beginRun, type Entries, type EntryRun } from './entry-merge.ts';

/** Entries that are listed at once. */
const LISTED_ROWS = 512;

/** Where records are written one behind the other. */
export interface PackedRoom {
  next: number;
  readonly limit: number;
  /** Goes on to where there is more room; false: there is none. */
  advance(): boolean;
  /** So many bytes at a multiple of 16; 0: there is no room. */
  take(bytes: number): number;
}

interface Piece {
  readonly from: number;
  readonly end: number;
}

export class PackedRun implements EntryRun {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #state: number;
  readonly #pieces: readonly Piece[];
  #piece = 0;
  #from = 0;

  private constructor(heap: Heap, kernel: Kernel, state: number, pieces: readonly Piece[]) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#state = state;
    this.#pieces = pieces;
    beginRun(heap, state);
  }

  /** Null when there is no room for all of it. */
  static pack(heap: Heap, kernel: Kernel, { at, count }: Entries, room: PackedRoom): PackedRun | null {
    const state = room.take(RUN_STATE_BYTES + LISTED_ROWS * ENTRY_BYTES);
    if (state === 0) return null;
    beginRun(heap, state);
    const pieces: Piece[] = [];
    for (let packed = 0; packed < count; ) {
      const from = room.next;
      const end = kernel.exports.packEntries(at, packed, count, from, room.limit, state) >>> 0;
      packed = heap.u32[state >>> 2]!;
      pieces.push({ from, end });
      room.next = end;
      if (packed < count && !room.advance()) return null;
    }
    return new PackedRun(heap, kernel, state, pieces);
  }

  next(): Entries | null {
    for (; this.#piece < this.#pieces.length; this.#piece++) {
      const { from, end } = this.#pieces[this.#piece]!;
      const at = this.#state + RUN_STATE_BYTES;
      const start = Math.max(this.#from, from);
      const count = this.#kernel.exports.listEntries(start, end, at, LISTED_ROWS, this.#state);
      this.#from = this.#heap.u32[this.#state >>> 2]!;
      if (count > 0) return { at, count };
      this.#from = 0;
    }
    return null;
  }
}
