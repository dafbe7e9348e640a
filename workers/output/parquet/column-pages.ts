// One column of a row group: the page that is being filled, and the finished ones. A page of version 1 holds the levels (which
// cells are there), then the values, plain; both together are compressed.
import type { Column } from '../../batch/schema.ts';
import type { Heap } from '../../memory/heap.ts';
import type { OutputSink } from '../sink/output-sink.ts';
import { widthOf } from './column-type.ts';
import type { GroupMemory } from './group-memory.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { type SnappyDeflate, snappyBytesMax } from './snappy-deflate.ts';
import { ThriftWriter } from './thrift-writer.ts';

/** Bytes of values after which a page ends: a fragment of Snappy, which finds no repetition further away. */
const PAGE_BYTES = 65_536;

/** First size of a page in memory. */
const PAGE_BYTES_FIRST = 1024;

/** Bytes of a page's header at most, of the levels' length, and of the head of a run of levels. */
const HEADER_BYTES_MAX = 64;
const LENGTH_BYTES = 4;
const RUN_HEAD_BYTES_MAX = 5;

const DATA_PAGE = 0;
const PLAIN = 0;
export const RLE = 3;

export interface PageTools {
  readonly heap: Heap;
  readonly memory: GroupMemory;
  readonly snappy: SnappyDeflate;
  /** Rows after which a page ends: their levels take an eighth of it in bytes. */
  readonly pageRowsMax: number;
}

/** What the metadata says of the column in this row group. */
export interface ChunkSizes {
  readonly values: number;
  readonly bytes: number;
  readonly storedBytes: number;
}

export class ColumnPages {
  readonly column: Column;
  readonly #tools: PageTools;
  readonly #gap: number;
  /** Room for the levels, then the values. */
  readonly #page: GrowingBytes;
  /** A bit for each row of the page: whether it is there. */
  readonly #present: Uint8Array;
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
    this.#page = new GrowingBytes(tools.heap, this.#gap + PAGE_BYTES_FIRST);
    this.#present = new Uint8Array(tools.pageRowsMax / 8);
    this.#begin();
  }

  /** Bytes that are not in a finished page yet. */
  get pendingBytes(): number {
    return this.#page.length;
  }

  putNull(): void {
    this.#rows++;
    this.#nulls++;
    if (this.#rows === this.#tools.pageRowsMax) this.endPage();
  }

  putText(at: number, bytes: number): void {
    const to = this.#page.room(LENGTH_BYTES + bytes);
    const { u8 } = this.#tools.heap;
    for (let index = 0; index < LENGTH_BYTES; index++) u8[to + index] = (bytes >>> (index * 8)) & 255;
    u8.copyWithin(to + LENGTH_BYTES, at, at + bytes);
    this.#put(LENGTH_BYTES + bytes);
  }

  /** The low bytes of what stands at `at`. */
  putFixed(at: number): void {
    const width = widthOf(this.column);
    const to = this.#page.room(width);
    const { u8 } = this.#tools.heap;
    for (let index = 0; index < width; index++) u8[to + index] = u8[at + index]!;
    this.#put(width);
  }

  /** Two's complement, high byte first. */
  putBig(value: bigint): void {
    const width = widthOf(this.column);
    const to = this.#page.room(width);
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

  /** Compresses what there is into a page of its own. */
  endPage(): void {
    if (this.#rows === 0) return;
    const { heap, memory, snappy } = this.#tools;
    const levels = this.#levels();
    const start = this.#page.at + this.#gap - levels.length;
    heap.u8.set(levels, start);
    const bytes = this.#page.at + this.#page.length - start;
    const room = HEADER_BYTES_MAX + snappyBytesMax(bytes);
    const at = memory.open(room);
    // Where the page is may have changed nothing: only this row group's memory grew.
    const body = at + HEADER_BYTES_MAX;
    const storedBytes = snappy.deflate(heap.u8, start, bytes, body) - body;
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

  /** Writes all pages, of which none is being filled, and forgets them. */
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
    this.#present.fill(0);
  }

  #put(bytes: number): void {
    this.#page.length += bytes;
    this.#present[this.#rows >>> 3]! |= 1 << (this.#rows & 7);
    this.#rows++;
    if (this.#rows === this.#tools.pageRowsMax || this.#page.length - this.#gap >= PAGE_BYTES) this.endPage();
  }

  /** One run where all cells are alike, else a bit each. */
  #levels(): Uint8Array {
    const rows = this.#rows;
    const isOneRun = this.#nulls === 0 || this.#nulls === rows;
    const groups = Math.ceil(rows / 8);
    const head = varint(isOneRun ? rows * 2 : groups * 2 + 1);
    const body = isOneRun ? Uint8Array.of(this.#nulls === 0 ? 1 : 0) : this.#present.subarray(0, groups);
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

/** A page's header while it is made. */
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
