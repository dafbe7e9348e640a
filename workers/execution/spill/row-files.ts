// Files of rows: writes rows of batches to a spill file, reads them back, and distributes them over files by the hash
// of their keys.
import type { Batch } from '../../batch/batch.ts';
import type { Arena } from '../../memory/arena.ts';
import { type Heap, REGION_PADDING_BYTES } from '../../memory/heap.ts';
import { type SpillBytes, SpillFile, type SpillFolder } from '../../memory/spill-file.ts';
import { type RowCodec, type RowTarget, targetBatch } from './row-codec.ts';

// Writes rows of batches to a spill file through a buffer in the Run's memory. A row larger than the buffer goes
// through the arena.

/**
 * Large enough that a write costs little more than its copy, and small enough that 16 buffers fit into a reservation.
 */
const WRITE_BUFFER_BYTES = 65_536;

/** Rows of a batch: physical rows (u32) and their order numbers (f64 by position). */
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

  /** Number of rows written to the current file. */
  get rows(): number {
    return this.#rows;
  }

  /** The codec's `prepare` must be called before. */
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

  /** Finishes the current file and continues with another one. */
  turnTo(file: SpillBytes): void {
    this.flush();
    this.#file = file;
    this.#rows = 0;
  }

  #writeLarge(batch: Batch, list: RowList & { readonly from: number }): void {
    const { arena } = batch;
    for (let bytes = WRITE_BUFFER_BYTES * 4; ; bytes *= 2) {
      const mark = arena.next;
      const at = arena.take(bytes);
      const { next, reached } = this.#codec.encode(batch, list, at, at + bytes);
      if (reached === list.count) this.#file.append(this.#heap.u8.subarray(at, next));
      arena.release(mark);
      if (reached === list.count) return;
    }
  }
}

// Reads the rows of a spill file in the order in which they were written, some at a time.

/** Written records. */
export type RowBytes = Pick<SpillBytes, 'sizeBytes' | 'read'>;

/** Size of a reader's buffers. */
export interface ReaderSize {
  readonly rowsMax: number;
  readonly bufferBytes: number;
}

/** Sizes for reading a single file: an ordinary batch. */
export const BATCH_READER_SIZE: ReaderSize = { rowsMax: 2048, bufferBytes: 262_144 };

/** For reading many files at once, as in a merge. */
export const MERGE_READER_SIZE: ReaderSize = { rowsMax: 256, bufferBytes: 65_536 };

export class SpillReader {
  readonly #heap: Heap;
  readonly #arena: Arena;
  readonly #codec: RowCodec;
  readonly #target: RowTarget;
  readonly #selection: number;
  #buffer: number;
  #bufferBytes: number;
  #file: RowBytes | null = null;
  /** Number of bytes of the file that have been read into the buffer. */
  #position = 0;
  #from = 0;
  #end = 0;
  #rows = 0;

  constructor(arena: Arena, codec: RowCodec, size: ReaderSize) {
    this.#heap = arena.heap;
    this.#arena = arena;
    this.#codec = codec;
    const rowsMax = codec.rowsWithin(size.rowsMax);
    this.#target = codec.target(rowsMax);
    this.#buffer = this.#heap.allocate(size.bufferBytes);
    this.#bufferBytes = size.bufferBytes;
    this.#selection = this.#heap.allocate(rowsMax * 4);
    const { u32 } = this.#heap;
    for (let row = 0; row < rowsMax; row++) u32[(this.#selection >>> 2) + row] = row;
  }

  /** @param from offset at which a row begins */
  open(file: RowBytes, from = 0): void {
    this.#file = file;
    this.#position = from;
    this.#from = this.#buffer;
    this.#end = this.#buffer;
    this.#rows = 0;
  }

  /** Address of the order numbers of the current rows (f64 by row). */
  get orders(): number {
    return this.#target.orders;
  }

  /** Reads the next rows, which replace the current ones. Returns their number, 0 at the end of the file. */
  advance(): number {
    for (;;) {
      const { rows, reached } = this.#codec.decode(this.#target, this.#from, this.#end);
      this.#from = reached;
      this.#rows = rows;
      if (rows > 0) return rows;
      if (!this.#fill()) return 0;
    }
  }

  /** The current rows as a batch, valid until `advance`. */
  batch(): Batch {
    return targetBatch({
      arena: this.#arena,
      columns: this.#codec.columns(this.#target, this.#rows),
      rows: this.#rows,
      selection: this.#selection,
      sources: this.#target.sources,
    });
  }

  /** Returns false at the end of the file. */
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

  /**
   * Doubles the buffer if possible. Otherwise, if each record is longer than the one before, each would need a new
   * buffer.
   */
  #grow(record: number): void {
    const [former, formerBytes] = [this.#buffer, this.#bufferBytes];
    const doubled = Math.max(record, 2 * formerBytes);
    const tried = this.#heap.tryAllocate(doubled);
    this.#bufferBytes = tried === 0 ? record : doubled;
    this.#buffer = tried === 0 ? this.#heap.allocate(record) : tried;
    this.#heap.u8.copyWithin(this.#buffer, this.#from, this.#end);
    this.#heap.release(former, formerBytes);
  }

  /** Size of the record at `from`. Its first 4 bytes must be available; records are not aligned. */
  #recordBytes(): number {
    const { u8 } = this.#heap;
    const at = this.#from;
    return u8[at]! + u8[at + 1]! * 0x100 + u8[at + 2]! * 0x10000 + u8[at + 3]! * 0x1000000;
  }
}

// Distributes rows over files by the hash of their keys. The files are processed one after the other, which needs less
// memory than processing all rows together. A partition that is still too large is split again by other bits of the
// hash.

const PARTITIONS = 16;
const PARTITION_BITS = 4;

/** Distance between the buffers of the writers, because kernels may write slightly beyond the end. */
const BUFFER_STRIDE = WRITE_BUFFER_BYTES + REGION_PADDING_BYTES;

/** Number of levels that the high half of a 64-bit hash permits. Tables use the low half. */
export const PARTITION_LEVELS = 32 / PARTITION_BITS;

/** Rows with the hashes of their keys (u64 by position) and their order numbers (f64 by position). */
export interface HashedRows {
  readonly rows: number;
  readonly count: number;
  readonly hashes: number;
  readonly orders: number;
}

export class RowPartitions {
  readonly #arena: Arena;
  readonly #codec: RowCodec;
  readonly #spill: SpillFolder;
  readonly #buffers: number;
  #writers: (SpillWriter | null)[] = [];
  #files: (SpillFile | null)[] = [];
  #shift = 0;

  constructor(arena: Arena, codec: RowCodec, spill: SpillFolder) {
    this.#arena = arena;
    this.#codec = codec;
    this.#spill = spill;
    this.#buffers = arena.heap.allocate(PARTITIONS * BUFFER_STRIDE);
    this.begin(0);
  }

  /** Starts a new set of partitions. Each level from 0 to PARTITION_LEVELS - 1 uses other bits of the hash. */
  begin(level: number): void {
    this.#shift = level * PARTITION_BITS;
    this.#writers = new Array(PARTITIONS).fill(null);
    this.#files = new Array(PARTITIONS).fill(null);
  }

  /** The codec's `prepare` must be called before. */
  add(batch: Batch, list: HashedRows): void {
    const arena = this.#arena;
    const mark = arena.next;
    const rows = arena.take(list.count * 4);
    const orders = arena.take(list.count * 8);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const { u32, f64 } = arena.heap;
      let count = 0;
      for (let i = 0; i < list.count; i++) {
        const hash = u32[(list.hashes >>> 2) + i * 2 + 1]!;
        if (((hash >>> this.#shift) & (PARTITIONS - 1)) !== partition) continue;
        u32[(rows >>> 2) + count] = u32[(list.rows >>> 2) + i]!;
        f64[(orders >>> 3) + count++] = f64[(list.orders >>> 3) + i]!;
      }
      if (count > 0) this.#writer(partition).write(batch, { rows, count, orders });
    }
    arena.release(mark);
  }

  /** Returns the complete files. */
  end(): SpillFile[] {
    for (const writer of this.#writers) writer?.flush();
    return this.#files.filter((file) => file !== null);
  }

  /**
   * Returns the file of each partition with its number of rows, or null for an empty partition. For two sides whose
   * partitions belong together.
   */
  endAll(): ({ readonly file: SpillFile; readonly rows: number } | null)[] {
    return this.#writers.map((writer, partition) => {
      writer?.flush();
      return writer === null ? null : { file: this.#files[partition]!, rows: writer.rows };
    });
  }

  #writer(partition: number): SpillWriter {
    const known = this.#writers[partition];
    if (known !== null && known !== undefined) return known;
    const file = new SpillFile(this.#spill);
    const buffer = this.#buffers + partition * BUFFER_STRIDE;
    const writer = new SpillWriter(this.#arena.heap, this.#codec, file, buffer);
    this.#files[partition] = file;
    this.#writers[partition] = writer;
    return writer;
  }
}
