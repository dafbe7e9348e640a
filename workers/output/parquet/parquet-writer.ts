// Writer of Parquet. Rows are collected in columns, whose finished pages are kept compressed until their row group is
// full. The memory is reserved from the budget; if the budget refuses more, the row group ends early.
import type { Batch } from '../../batch/batch.ts';
import type { Schema } from '../../batch/schema.ts';
import { SNAPPY_TABLE_BYTES } from '../../kernel/layout/output-program.ts';
import { done, PAUSE, type Slices } from '../../scheduling/time-slices.ts';
import type { RowWriter, WriterTools } from '../writer.ts';
import {
  type ChunkSizes,
  ColumnPages,
  cellBytes,
  cellsBytes,
  GroupMemory,
  GrowingBytes,
  putCells,
  RLE,
} from './column-pages.ts';
import type { ParquetSettings } from './column-type.ts';
import { physicalOf, writePath, writeSchema } from './column-type.ts';
import { INTEGERS, STRUCT, ThriftWriter } from './thrift-writer.ts';

const MAGIC = Buffer.from('PAR1');

/** Maximum size of a row group before compression, in bytes: readers load one row group at a time. */
const GROUP_BYTES_MAX = 64 * 1024 * 1024;

/** Maximum number of rows and bytes that are processed together. Memory is requested from the budget once per segment. */
const SEGMENT_ROWS_MAX = 1024;
const SEGMENT_BYTES_MAX = 1024 * 1024;

/** Maximum growth of a page by compression, with an allowance for unused ends of blocks. */
const GROWTH = 1.5;
const PAGE_EXTRA_BYTES = 1024;

/**
 * Maximum number of rows of a page, multiples of 8. Wide files have shorter pages, so that all unfinished pages
 * together stay small.
 */
const PAGE_ROWS_MAX = 20_480;
const WIDE_PAGE_ROWS_MAX = 1024;
const WIDE_COLUMNS = 256;

/** After each 256 columns of a segment, the clock is checked: a file may have thousands of columns. */
const COLUMNS_MASK = 255;

const SNAPPY = 1;
const PLAIN = 0;
const FORMAT_VERSION = 1;
const CREATED_BY = 'template-run';

export class ParquetWriter implements RowWriter {
  readonly formulasGuarded = 0;
  readonly ahead = null;
  readonly #schema: Schema;
  readonly #settings: ParquetSettings;
  readonly #tools: WriterTools;
  readonly #memory: GroupMemory;
  readonly #columns: readonly ColumnPages[];
  /** Metadata of the finished row groups. */
  readonly #groups: GrowingBytes;
  #groupCount = 0;
  #rows = 0;
  #groupRows = 0;
  #groupBytes = 0;
  /** Number of output bytes so far. */
  #position = 0;

  constructor(schema: Schema, settings: ParquetSettings, tools: WriterTools) {
    const { heap } = tools;
    this.#schema = schema;
    this.#settings = settings;
    this.#tools = tools;
    this.#memory = new GroupMemory(heap);
    const pageRowsMax = schema.length > WIDE_COLUMNS ? WIDE_PAGE_ROWS_MAX : PAGE_ROWS_MAX;
    const snappyTable = heap.allocate(SNAPPY_TABLE_BYTES);
    const pageTools = { heap, kernel: tools.kernel.exports, memory: this.#memory, snappyTable, pageRowsMax };
    this.#columns = schema.map((column) => new ColumnPages(pageTools, column));
    this.#groups = new GrowingBytes(heap, 1024);
    this.#write(MAGIC);
  }

  *push(batch: Batch): Slices {
    for (let from = 0; from < batch.live; ) {
      const { to, bytes } = this.#segment(batch, from);
      if (this.#groupRows > 0 && this.#groupBytes + bytes > GROUP_BYTES_MAX) yield* this.#endGroup();
      if (this.#groupRows > 0 && !this.#memory.tryReserve(this.#capacityFor(bytes))) yield* this.#endGroup();
      const { decimalScale } = this.#settings;
      for (const [column, pages] of this.#columns.entries()) {
        putCells(pages, batch, batch.columns[column]!, { from, to, decimalScale, column });
        if ((column & COLUMNS_MASK) === COLUMNS_MASK && this.#tools.clock.isDue()) yield PAUSE;
      }
      this.#groupRows += to - from;
      this.#groupBytes += bytes;
      from = to;
      if (this.#tools.clock.isDue()) yield PAUSE;
    }
  }

  *endRows(): Slices {
    if (this.#groupRows > 0) yield* this.#endGroup();
  }

  finish(): void {
    if (this.#groupRows > 0) done(this.#endGroup());
    const { heap } = this.#tools;
    const footer = new GrowingBytes(heap, 1024);
    const thrift = new ThriftWriter(footer);
    thrift.integer(1, FORMAT_VERSION);
    writeSchema(thrift, 2, this.#schema, this.#settings.decimalScale);
    thrift.long(3, this.#rows);
    thrift.list(4, STRUCT, this.#groupCount);
    if (this.#groupCount > 0) {
      const { length } = this.#groups;
      const at = footer.reserve(length);
      heap.u8.copyWithin(at, this.#groups.at, this.#groups.at + length);
      footer.length += length;
    }
    thrift.text(6, CREATED_BY);
    thrift.end();
    const tail = Buffer.alloc(4);
    tail.writeUInt32LE(footer.length);
    this.#write(footer.view());
    this.#write(tail);
    this.#write(MAGIC);
  }

  /**
   * Rows starting at a position that together have about SEGMENT_BYTES_MAX bytes and stay within one row group; at
   * least one row.
   */
  #segment(batch: Batch, from: number): { readonly to: number; readonly bytes: number } {
    const end = Math.min(batch.live, from + SEGMENT_ROWS_MAX);
    const kernel = this.#tools.kernel.exports;
    let bytes = 0;
    for (const data of batch.columns) bytes += cellsBytes(kernel, batch, data, from, end);
    if (bytes < SEGMENT_BYTES_MAX && this.#groupBytes + bytes <= GROUP_BYTES_MAX) return { to: end, bytes };
    // Too many bytes for one segment: each row counts.
    bytes = 0;
    let to = from;
    for (; to < end && bytes < SEGMENT_BYTES_MAX; to++) {
      const row = batch.physicalRow(to);
      let rowBytes = 0;
      for (const data of batch.columns) rowBytes += cellBytes(batch, data, row);
      // A row group ends before the row that would exceed its limit, regardless of batch boundaries.
      if (to > from && this.#groupBytes + bytes + rowBytes > GROUP_BYTES_MAX) break;
      bytes += rowBytes;
    }
    return { to, bytes };
  }

  #capacityFor(bytes: number): number {
    let pending = bytes;
    for (const { pendingBytes } of this.#columns) pending += pendingBytes;
    return pending * GROWTH + this.#columns.length * PAGE_EXTRA_BYTES;
  }

  *#endGroup(): Generator<typeof PAUSE, void, undefined> {
    for (const pages of this.#columns) {
      pages.endPage();
      if (this.#tools.clock.isDue()) yield PAUSE;
    }
    const thrift = new ThriftWriter(this.#groups);
    const start = this.#position;
    const chunks: { readonly start: number; readonly sizes: ChunkSizes }[] = [];
    for (const pages of this.#columns) {
      const sizes = pages.write(this.#tools.sink);
      chunks.push({ start: this.#position, sizes });
      this.#position += sizes.storedBytes;
      if (this.#tools.clock.isDue()) yield PAUSE;
    }
    thrift.body(() => this.#writeGroup(thrift, start, chunks));
    this.#memory.clear();
    this.#groupCount++;
    this.#rows += this.#groupRows;
    this.#groupRows = 0;
    this.#groupBytes = 0;
  }

  #writeGroup(thrift: ThriftWriter, start: number, chunks: readonly { start: number; sizes: ChunkSizes }[]): void {
    thrift.list(1, STRUCT, chunks.length);
    let bytes = 0;
    for (const [index, chunk] of chunks.entries()) {
      bytes += chunk.sizes.bytes;
      thrift.body(() => this.#writeChunk(thrift, index, chunk.start, chunk.sizes));
    }
    thrift.long(2, bytes);
    thrift.long(3, this.#groupRows);
    thrift.long(5, start);
    thrift.long(6, this.#position - start);
  }

  #writeChunk(thrift: ThriftWriter, index: number, start: number, sizes: ChunkSizes): void {
    const column = this.#schema[index]!;
    // Required field: the offset of separate column metadata, which readers ignore and this file does not have.
    thrift.long(2, start);
    thrift.struct(3, () => {
      thrift.integer(1, physicalOf(column));
      thrift.list(2, INTEGERS, 2);
      thrift.element(PLAIN);
      thrift.element(RLE);
      writePath(thrift, 3, column);
      thrift.integer(4, SNAPPY);
      thrift.long(5, sizes.values);
      thrift.long(6, sizes.bytes);
      thrift.long(7, sizes.storedBytes);
      thrift.long(9, start);
    });
  }

  #write(bytes: Uint8Array): void {
    this.#tools.sink.write(bytes);
    this.#position += bytes.length;
  }
}
