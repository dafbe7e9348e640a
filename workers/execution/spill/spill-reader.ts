// Reads the rows of a spill file back, some at a time, in the order in which they were written.
import type { Batch } from '../../batch/batch.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import { type RowCodec, type RowTarget, targetBatch } from './row-codec.ts';
import type { SpillBytes } from './spill-file.ts';

/** Records that were written. */
export type RowBytes = Pick<SpillBytes, 'sizeBytes' | 'read'>;

/** What a reader holds at once. */
export interface ReaderRoom {
  readonly rowsMax: number;
  readonly bufferBytes: number;
}

/** For reading one file: the size of an ordinary batch. */
export const BATCH_ROOM: ReaderRoom = { rowsMax: 2048, bufferBytes: 262_144 };

/** For reading many files at once, as a merge does. */
export const MERGE_ROOM: ReaderRoom = { rowsMax: 256, bufferBytes: 65_536 };

export class SpillReader {
  readonly #heap: Heap;
  readonly #arena: Arena;
  readonly #codec: RowCodec;
  readonly #target: RowTarget;
  readonly #selection: number;
  #buffer: number;
  #bufferBytes: number;
  #file: RowBytes | null = null;
  /** Bytes of the file in the buffer or before it. */
  #position = 0;
  #from = 0;
  #end = 0;
  #rows = 0;

  constructor(arena: Arena, codec: RowCodec, room: ReaderRoom) {
    this.#heap = arena.heap;
    this.#arena = arena;
    this.#codec = codec;
    const rowsMax = codec.rowsWithin(room.rowsMax);
    this.#target = codec.target(rowsMax);
    this.#buffer = this.#heap.allocate(room.bufferBytes);
    this.#bufferBytes = room.bufferBytes;
    this.#selection = this.#heap.allocate(rowsMax * 4);
    const { u32 } = this.#heap;
    for (let row = 0; row < rowsMax; row++) u32[(this.#selection >>> 2) + row] = row;
  }

  /** @param from where a row begins */
  open(file: RowBytes, from = 0): void {
    this.#file = file;
    this.#position = from;
    this.#from = this.#buffer;
    this.#end = this.#buffer;
    this.#rows = 0;
  }

  /** Addresses of the rows at hand: orders (f64 by row). */
  get orders(): number {
    return this.#target.orders;
  }

  /** Reads on; gives how many rows are at hand now, 0 at the end of the file. What was at hand is void. */
  advance(): number {
    for (;;) {
      const { rows, reached } = this.#codec.decode(this.#target, this.#from, this.#end);
      this.#from = reached;
      this.#rows = rows;
      if (rows > 0) return rows;
      if (!this.#fill()) return 0;
    }
  }

  /** The rows at hand as a batch, valid until `advance`. */
  batch(): Batch {
    return targetBatch({
      arena: this.#arena,
      columns: this.#codec.columns(this.#target, this.#rows),
      rows: this.#rows,
      selection: this.#selection,
      sources: this.#target.sources,
    });
  }

  /** False at the end of the file. */
  #fill(): boolean {
    const file = this.#file!;
    if (this.#position === file.sizeBytes) {
      if (this.#from < this.#end) throw new Error('a spill file ends within a row');
      return false;
    }
    const left = this.#end - this.#from;
    const record = left >= 4 ? this.#recordBytes() : 0;
    if (record > this.#bufferBytes) this.#grow(record);
    else this.#heap.u8.copyWithin(this.#buffer, this.#from, this.#end);
    const start = this.#buffer + left;
    const got = file.read(this.#heap.u8.subarray(start, this.#buffer + this.#bufferBytes), this.#position);
    this.#position += got;
    this.#from = this.#buffer;
    this.#end = start + got;
    return true;
  }

  /** By doubling where there is room: of records that become longer and longer each would take a buffer of its own. */
  #grow(record: number): void {
    const [former, formerBytes] = [this.#buffer, this.#bufferBytes];
    const doubled = Math.max(record, 2 * formerBytes);
    const tried = this.#heap.tryAllocate(doubled);
    this.#bufferBytes = tried === 0 ? record : doubled;
    this.#buffer = tried === 0 ? this.#heap.allocate(record) : tried;
    this.#heap.u8.copyWithin(this.#buffer, this.#from, this.#end);
    this.#heap.giveBack(former, formerBytes);
  }

  /** Size of the record at `from` (its first 4 bytes are there; records are not aligned). */
  #recordBytes(): number {
    const { u8 } = this.#heap;
    const at = this.#from;
    return u8[at]! + u8[at + 1]! * 0x100 + u8[at + 2]! * 0x10000 + u8[at + 3]! * 0x1000000;
  }
}
