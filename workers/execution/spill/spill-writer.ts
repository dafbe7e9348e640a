// Writes rows of batches to a spill file through a buffer in the Run's memory. A row larger than the buffer goes through
// the arena.
import type { Batch } from '../../batch/batch.ts';
import type { Heap } from '../../memory/heap.ts';
import type { RowCodec } from './row-codec.ts';
import type { SpillBytes } from './spill-file.ts';

/** Large enough that a write costs little more than its copy, small enough that 16 of them fit a reservation. */
export const WRITE_BUFFER_BYTES = 65_536;

/** Rows of a batch: u32 physical rows and their orders (f64 by position). */
export interface RowList {
  readonly rows: number;
  readonly count: number;
  readonly orders: number;
}

export class SpillWriter {
  readonly #heap: Heap;
  readonly #codec: RowCodec;
  readonly #start: number;
  readonly #limit: number;
  #file: SpillBytes;
  #next: number;
  #rows = 0;

  constructor(heap: Heap, codec: RowCodec, file: SpillBytes, buffer: number = heap.allocate(WRITE_BUFFER_BYTES)) {
    this.#heap = heap;
    this.#codec = codec;
    this.#file = file;
    this.#start = buffer;
    this.#limit = buffer + WRITE_BUFFER_BYTES;
    this.#next = buffer;
  }

  /** Rows written to the file at hand. */
  get rows(): number {
    return this.#rows;
  }

  /** The codec's `prepare` comes first. */
  write(batch: Batch, list: RowList): void {
    this.#rows += list.count;
    for (let from = 0; from < list.count; ) {
      const { next, reached } = this.#codec.encode(batch, { ...list, from }, this.#next, this.#limit);
      this.#next = next;
      from = reached;
      if (from === list.count) return;
      if (this.#next > this.#start) this.flush();
      else {
        this.#writeLarge(batch, { ...list, from, count: from + 1 });
        from++;
      }
    }
  }

  flush(): void {
    this.#file.append(this.#heap.u8.subarray(this.#start, this.#next));
    this.#next = this.#start;
  }

  /** Ends the file at hand and goes on with another. */
  turnTo(file: SpillBytes): void {
    this.flush();
    this.#file = file;
    this.#rows = 0;
  }

  #writeLarge(batch: Batch, list: RowList & { readonly from: number }): void {
    const { arena } = batch;
    for (let room = WRITE_BUFFER_BYTES * 4; ; room *= 2) {
      const mark = arena.next;
      const at = arena.take(room);
      const { next, reached } = this.#codec.encode(batch, list, at, at + room);
      if (reached === list.count) this.#file.append(this.#heap.u8.subarray(at, next));
      arena.release(mark);
      if (reached === list.count) return;
    }
  }
}
