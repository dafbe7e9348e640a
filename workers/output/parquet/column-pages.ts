// The columns of a row group: the memory of their pages, the pages themselves, and the cells that are appended to them.

import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { type Column, nameShown } from '../../batch/schema.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { META_BIG, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  PAGE_DESCRIPTION_BYTES,
  PAGE_FULL,
  PAGE_LIMIT,
  PAGE_NEXT,
  PAGE_NULLS,
  PAGE_PRESENT,
  PAGE_ROWS,
  PAGE_ROWS_MAX,
} from '../../kernel/layout/output-program.ts';
import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import type { OutputSink } from '../sink/output-sink.ts';
import { DECIMAL_BYTES, DECIMAL_DIGITS, widthOf } from './column-type.ts';
import { ThriftWriter } from './thrift-writer.ts';

// Growing byte buffer in one region of the Run's memory. The region moves when it grows.

export class GrowingBytes {
  readonly #heap: Heap;
  #at = 0;
  #capacity = 0;
  length = 0;

  /** @param capacity initial capacity */
  constructor(heap: Heap, capacity: number) {
    this.#heap = heap;
    this.#capacity = capacity;
  }

  /** Address of the first byte, valid until the next append. */
  get at(): number {
    return this.#at;
  }

  /** Address after the last byte that may be written without growing. */
  get limit(): number {
    return this.#at + this.#capacity;
  }

  /** Address at which this many more bytes may be written. The caller must then increase `length`. */
  reserve(bytes: number): number {
    if (this.#at === 0 || this.length + bytes > this.#capacity) this.#grow(bytes);
    return this.#at + this.length;
  }

  appendByte(byte: number): void {
    const at = this.reserve(1);
    this.#heap.u8[at] = byte;
    this.length++;
  }

  append(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.#heap.u8.set(bytes, at);
    this.length += bytes.length;
  }

  view(): Uint8Array {
    return this.#heap.u8.subarray(this.#at, this.#at + this.length);
  }

  #grow(bytes: number): void {
    let capacity = this.#capacity;
    while (capacity < this.length + bytes) capacity *= 2;
    const at = this.#heap.allocate(capacity);
    if (this.#at !== 0) {
      this.#heap.u8.copyWithin(at, this.#at, this.#at + this.length);
      this.#heap.release(this.#at, this.#capacity);
    }
    this.#at = at;
    this.#capacity = capacity;
  }
}

// Memory for the finished pages of a row group until all its columns are complete: blocks of the Run's memory, which
// the next row group reuses.

const BLOCK_BYTES = 262_144;

interface Block {
  readonly at: number;
  readonly bytes: number;
}

export class GroupMemory {
  readonly #heap: Heap;
  readonly #blocks: Block[] = [];
  /** Index of the current block, and offset of its first free byte. */
  #block = 0;
  #used = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** True if this many bytes are free, or could be allocated from the budget. */
  tryReserve(bytes: number): boolean {
    let free = (this.#blocks[this.#block]?.bytes ?? 0) - this.#used;
    for (const block of this.#blocks.slice(this.#block + 1)) free += block.bytes;
    while (free < bytes) {
      const at = this.#heap.tryAllocate(BLOCK_BYTES);
      if (at === 0) return false;
      this.#blocks.push({ at, bytes: BLOCK_BYTES });
      free += BLOCK_BYTES;
    }
    return true;
  }

  /**
   * Address of `bytes` contiguous bytes. Call `keep` afterwards with the number of bytes that are needed. Throws
   * MemoryWanted, Failed.
   */
  open(bytes: number): number {
    for (; this.#block < this.#blocks.length; this.#block++, this.#used = 0) {
      const block = this.#blocks[this.#block]!;
      if (block.bytes - this.#used >= bytes) return block.at + this.#used;
    }
    const size = Math.max(bytes, BLOCK_BYTES);
    this.#blocks.push({ at: this.#heap.allocate(size), bytes: size });
    this.#used = 0;
    return this.#blocks[this.#block]!.at;
  }

  /** Keeps the first bytes of the region that `open` returned. */
  keep(bytes: number): void {
    this.#used += bytes;
  }

  /** Marks all blocks as free. */
  clear(): void {
    this.#block = 0;
    this.#used = 0;
  }
}

// One column of a row group: the page that is being filled, and the finished pages. A data page of version 1 contains
// the definition levels (which cells are not null), then the plain values; both are compressed together.

/**
 * Size of the values after which a page ends, in bytes: one Snappy fragment, because matches do not reach further
 * back.
 */
const VALUES_BYTES = 65_536;

/** Initial capacity of the values of a page in memory, in bytes. */
const VALUES_BYTES_FIRST = 1024;

/**
 * Maximum size of a page's header, size of the length of its levels, and maximum size of the head of a run of levels,
 * in bytes.
 */
const HEADER_BYTES_MAX = 64;
const LENGTH_BYTES = 4;
const RUN_HEAD_BYTES_MAX = 5;

/** Maximum size of the length that precedes the compressed bytes. */
const SNAPPY_LENGTH_BYTES = 5;

const DATA_PAGE = 0;
const PLAIN = 0;
export const RLE = 3;

export interface PageTools {
  readonly heap: Heap;
  readonly kernel: KernelExports;
  readonly memory: GroupMemory;
  /** Address of the compressor's hash table. */
  readonly snappyTable: number;
  /** Number of rows after which a page ends. Their levels take an eighth of this number in bytes. */
  readonly pageRowsMax: number;
}

/** Values for the column's metadata in this row group. */
export interface ChunkSizes {
  readonly values: number;
  readonly bytes: number;
  readonly storedBytes: number;
}

export class ColumnPages {
  readonly column: Column;
  readonly #tools: PageTools;
  readonly #gap: number;
  /** Reserved space for the levels, then the values. */
  readonly #page: GrowingBytes;
  /** Address of one bit for each row of the page: 1 if the cell is not null. */
  readonly #present: number;
  /** Address of the page's description for kernels. */
  readonly #description: number;
  #rows = 0;
  #nulls = 0;
  #bits = 0;
  #pages: { readonly at: number; readonly bytes: number }[] = [];
  #values = 0;
  #bytes = 0;
  #storedBytes = 0;

  constructor(tools: PageTools, column: Column) {
    this.#tools = tools;
    this.column = column;
    this.#gap = LENGTH_BYTES + RUN_HEAD_BYTES_MAX + tools.pageRowsMax / 8;
    this.#page = new GrowingBytes(tools.heap, this.#gap + VALUES_BYTES_FIRST);
    this.#present = tools.heap.allocate(tools.pageRowsMax / 8);
    this.#description = tools.heap.allocate(PAGE_DESCRIPTION_BYTES);
    this.#begin();
  }

  /** Number of bytes in the unfinished page. */
  get pendingBytes(): number {
    return this.#page.length;
  }

  putNull(): void {
    this.#rows++;
    this.#nulls++;
    if (this.#rows === this.#tools.pageRowsMax) this.endPage();
  }

  /** Appends the texts of live rows [from, to). `views`: address of the views of the column. */
  putTexts(batch: Batch, views: number, from: number, to: number): void {
    const { heap, kernel } = this.#tools;
    for (let position = from; position < to; ) {
      const view = (views + batch.physicalRow(position) * VIEW_BYTES) >>> 2;
      this.#page.reserve(LENGTH_BYTES + (heap.u32[view] === 0 ? 0 : heap.u32[view + 1]!));
      this.#describe();
      position += kernel.packTexts(views, batch.selection + position * 4, to - position, this.#description);
      this.#takeDescribed();
    }
  }

  /**
   * Appends typed cells, not booleans, of the live rows [from, to). Stops before a decimal that a kernel does not
   * convert. Returns the number of rows appended.
   */
  putValues(batch: Batch, { at, meta }: TypedColumn, from: number, to: number, decimalScale: number): number {
    const { kernel } = this.#tools;
    const width = widthOf(this.column);
    let position = from;
    while (position < to) {
      this.#page.reserve(width);
      this.#describe();
      const rows = batch.selection + position * 4;
      const put = kernel.packValues(at, meta, rows, to - position, this.#description, width, decimalScale);
      if (put === 0) break;
      position += put;
      this.#takeDescribed();
    }
    return position - from;
  }

  /** Appends a value in two's complement, high byte first. */
  putBig(value: bigint): void {
    const width = widthOf(this.column);
    const to = this.#page.reserve(width);
    const { u8 } = this.#tools.heap;
    let rest = BigInt.asUintN(width * 8, value);
    for (let index = width - 1; index >= 0; index--) {
      u8[to + index] = Number(rest & 255n);
      rest >>= 8n;
    }
    this.#put(width);
  }

  putBoolean(value: boolean): void {
    const bit = this.#bits & 7;
    if (bit === 0) this.#page.appendByte(0);
    const at = this.#page.at + this.#page.length - 1;
    if (value) this.#tools.heap.u8[at] = this.#tools.heap.u8[at]! | (1 << bit);
    this.#bits++;
    this.#put(0);
  }

  /** Compresses the collected rows into a page. */
  endPage(): void {
    if (this.#rows === 0) return;
    const { heap, kernel, memory, snappyTable } = this.#tools;
    const levels = this.#levels();
    const start = this.#page.at + this.#gap - levels.length;
    heap.u8.set(levels, start);
    const bytes = this.#page.at + this.#page.length - start;
    const bytesMax = HEADER_BYTES_MAX + snappyBytesMax(bytes);
    const at = memory.open(bytesMax);
    // The open page cannot have moved: only the memory of this row group has grown.
    const body = at + HEADER_BYTES_MAX;
    const storedBytes = (kernel.deflateSnappy(start, bytes, body, snappyTable) >>> 0) - body;
    const header = this.#header(bytes, storedBytes);
    const headerAt = body - header.length;
    heap.u8.set(header, headerAt);
    memory.keep(HEADER_BYTES_MAX + storedBytes);
    this.#pages.push({ at: headerAt, bytes: header.length + storedBytes });
    this.#values += this.#rows;
    this.#bytes += header.length + bytes;
    this.#storedBytes += header.length + storedBytes;
    this.#begin();
  }

  /** Writes all finished pages and forgets them. No page may be open. */
  write(sink: OutputSink): ChunkSizes {
    for (const { at, bytes } of this.#pages) sink.write(this.#tools.heap.u8.subarray(at, at + bytes));
    const sizes = { values: this.#values, bytes: this.#bytes, storedBytes: this.#storedBytes };
    this.#pages = [];
    this.#values = 0;
    this.#bytes = 0;
    this.#storedBytes = 0;
    return sizes;
  }

  #begin(): void {
    this.#page.length = this.#gap;
    this.#rows = 0;
    this.#nulls = 0;
    this.#bits = 0;
    this.#tools.heap.u8.fill(0, this.#present, this.#present + this.#tools.pageRowsMax / 8);
  }

  /** Writes the page's description for kernels. */
  #describe(): void {
    const { heap, pageRowsMax } = this.#tools;
    const words = heap.u32;
    const at = this.#description;
    words[(at + PAGE_NEXT) >>> 2] = this.#page.at + this.#page.length;
    words[(at + PAGE_LIMIT) >>> 2] = this.#page.limit;
    words[(at + PAGE_FULL) >>> 2] = this.#page.at + this.#gap + VALUES_BYTES;
    words[(at + PAGE_PRESENT) >>> 2] = this.#present;
    words[(at + PAGE_ROWS) >>> 2] = this.#rows;
    words[(at + PAGE_ROWS_MAX) >>> 2] = pageRowsMax;
    words[(at + PAGE_NULLS) >>> 2] = this.#nulls;
  }

  /** Takes over what a kernel has appended according to the description. */
  #takeDescribed(): void {
    const words = this.#tools.heap.u32;
    const at = this.#description;
    this.#page.length = words[(at + PAGE_NEXT) >>> 2]! - this.#page.at;
    this.#rows = words[(at + PAGE_ROWS) >>> 2]!;
    this.#nulls = words[(at + PAGE_NULLS) >>> 2]!;
    this.#endFullPage();
  }

  #endFullPage(): void {
    if (this.#rows === this.#tools.pageRowsMax || this.#page.length - this.#gap >= VALUES_BYTES) this.endPage();
  }

  #put(bytes: number): void {
    const { u8 } = this.#tools.heap;
    const bits = this.#present + (this.#rows >>> 3);
    this.#page.length += bytes;
    u8[bits] = u8[bits]! | (1 << (this.#rows & 7));
    this.#rows++;
    this.#endFullPage();
  }

  /** One run if all cells are equal (all null or none null), otherwise one bit per cell. */
  #levels(): Uint8Array {
    const rows = this.#rows;
    const isOneRun = this.#nulls === 0 || this.#nulls === rows;
    const groups = Math.ceil(rows / 8);
    const head = varint(isOneRun ? rows * 2 : groups * 2 + 1);
    const present = this.#tools.heap.u8.subarray(this.#present, this.#present + groups);
    const body = isOneRun ? Uint8Array.of(this.#nulls === 0 ? 1 : 0) : present;
    const levels = new Uint8Array(LENGTH_BYTES + head.length + body.length);
    new DataView(levels.buffer).setUint32(0, head.length + body.length, true);
    levels.set(head, LENGTH_BYTES);
    levels.set(body, LENGTH_BYTES + head.length);
    return levels;
  }

  #header(bytes: number, storedBytes: number): Uint8Array {
    const made = new HeaderBytes();
    const thrift = new ThriftWriter(made);
    thrift.integer(1, DATA_PAGE);
    thrift.integer(2, bytes);
    thrift.integer(3, storedBytes);
    thrift.struct(5, () => {
      thrift.integer(1, this.#rows);
      thrift.integer(2, PLAIN);
      thrift.integer(3, RLE);
      thrift.integer(4, RLE);
    });
    thrift.end();
    return made.view();
  }
}

/**
 * Memory to reserve for `deflateSnappy`: more than its output, which has at most bytes + bytes / 64 + 8 bytes, and the
 * 15 bytes that it may write after it.
 */
export function snappyBytesMax(bytes: number): number {
  return SNAPPY_LENGTH_BYTES + bytes + Math.ceil(bytes / 6) + 32;
}

/** Buffer for a page's header. */
class HeaderBytes {
  readonly #bytes = new Uint8Array(HEADER_BYTES_MAX);
  #length = 0;

  appendByte(byte: number): void {
    this.#bytes[this.#length++] = byte;
  }

  append(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Uint8Array.of(...bytes, rest);
}

// Appends the cells of a batch's column to its pages, according to the column's type.

const BIGGEST = 10n ** BigInt(DECIMAL_DIGITS);

/** Maximum number of bytes that the cells of the live rows [from, to) add to a page; less from 2 GiB on. */
export function cellsBytes(kernel: KernelExports, batch: Batch, data: ColumnData, from: number, to: number): number {
  if (data.kind === 'views') return kernel.packedTextBytes(data.at, batch.selection + from * 4, to - from);
  return (to - from) * cellBytes(batch, data, 0);
}

/** Maximum number of bytes that a cell adds to a page. */
export function cellBytes(batch: Batch, data: ColumnData, row: number): number {
  if (data.kind !== 'views') return data.kind === 'typed' && data.type === 'decimal' ? DECIMAL_BYTES : 8;
  const view = (data.at + row * VIEW_BYTES) >>> 2;
  return LENGTH_BYTES + batch.heap.u32[view + 1]!;
}

/** Appends the cells of the live rows [from, to). Throws Failed for a decimal that does not fit. */
export function putCells(pages: ColumnPages, batch: Batch, data: ColumnData, place: CellPlace): void {
  if (data.kind === 'raw') throw new Error('a writer of clean texts got a raw column');
  if (data.kind === 'views') {
    pages.putTexts(batch, data.at, place.from, place.to);
    return;
  }
  const { from, to, decimalScale } = place;
  for (let position = from; position < to; position++) {
    if (data.type !== 'boolean') position += pages.putValues(batch, data, position, to, decimalScale);
    if (position < to) putTyped(pages, batch, data, batch.physicalRow(position), place);
  }
}

export interface CellPlace {
  readonly from: number;
  readonly to: number;
  readonly decimalScale: number;
  /** Index of the column in the output. */
  readonly column: number;
}

interface DecimalCell {
  readonly place: CellPlace;
  readonly pages: ColumnPages;
}

/** Appends a cell that kernels do not convert. */
function putTyped(pages: ColumnPages, batch: Batch, data: TypedColumn, row: number, place: CellPlace): void {
  const meta = batch.heap.u8[data.meta + row]!;
  if (meta === META_NULL) pages.putNull();
  else if (data.type === 'boolean') pages.putBoolean(meta === 1);
  else if (data.type === 'decimal') pages.putBig(scaled(batch, data, row, meta, { place, pages }));
  else throw new Error('a kernel converts every number, date and time');
}

/** The unscaled value at the file's scale. */
function scaled(batch: Batch, data: TypedColumn, row: number, meta: number, { place, pages }: DecimalCell): bigint {
  const scale = place.decimalScale;
  const tooLong = (limit: string): Failed => decimalTooLong(limit, batch.sourceRow(row), place.column, pages);
  const small = { unscaled: batch.heap.i64[(data.at >>> 3) + row]!, scale: meta };
  const cell = meta === META_BIG ? data.big?.get(row) : small;
  if (cell === undefined) throw new Error('a big decimal is missing');
  const more = scale - cell.scale;
  if (more >= 0) {
    const value = cell.unscaled * 10n ** BigInt(more);
    if (value < BIGGEST && value > -BIGGEST) return value;
    throw tooLong(`${DECIMAL_DIGITS - scale} digits before the point`);
  }
  const divisor = 10n ** BigInt(-more);
  if (cell.unscaled % divisor !== 0n) throw tooLong(`${scale} digits after the decimal point`);
  const value = cell.unscaled / divisor;
  if (value < BIGGEST && value > -BIGGEST) return value;
  throw tooLong(`${DECIMAL_DIGITS - scale} digits before the point`);
}

function decimalTooLong(limit: string, row: number, column: number, { column: { name } }: ColumnPages): Failed {
  const message = (shown: string): string =>
    `The decimal in column ${shown} of the output, of row ${row} of the data, needs more than ${limit}. Round the column, or ` +
    'set output.parquet.decimal_scale.';
  const details = { localMessage: message(nameShown(name)) };
  return new Failed('TEMPLATE_CHECK_FAILED', message(String(column + 1)), details);
}
