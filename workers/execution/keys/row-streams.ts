// Distributes the rows of a Run that several threads share over streams by the hash of their keys, so that each thread
// processes whole groups. Phases of such a Run:
//
// 1. scatter: each thread reads parts of the file and writes the rows to streams (RowScatter).
// 2. compute: each thread takes streams, runs the operation on their rows, and writes the new cells (StreamResults).
// 3. match: each thread reads parts of the file again and adds the new cells to the rows (RowMatch).
//
// Rows have order numbers, which are ascending in each stream, so nothing has to be sorted or merged.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import { type Heap, REGION_PADDING_BYTES } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import { STREAM_BITS, STREAMS } from '../../protocol/messages.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { piecesOf } from '../cells/cell-operator.ts';
import { arrange } from '../cells/copied-rows.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { type RowBytes, SpillReader } from '../spill/row-files.ts';
import { ROW_STREAMS, type StreamFile, type StreamFiles } from '../spill/stream-files.ts';
import { RowKeys } from './row-keys.ts';

// Encodes rows for several streams.

/** Distance between the order numbers of two parts: more rows than a part has. */
export const PART_ORDERS = 2 ** 32;

const BUFFER_BYTES = 65_536;

interface StreamBuffer {
  at: number;
  bytes: number;
  next: number;
}

/** Rows of a batch (u32) and their order numbers (f64 by position). */
interface OrderedRows {
  readonly rows: number;
  readonly from: number;
  readonly count: number;
  readonly orders: number;
}

class StreamEncoder {
  readonly #heap: Heap;
  readonly #codec: RowCodec;
  readonly #file: StreamFile;
  readonly #buffers: readonly StreamBuffer[];
  part = 0;

  constructor({ arena, kernel }: OperatorContext, types: readonly StoredType[], file: StreamFile, streams: number) {
    this.#heap = arena.heap;
    this.#codec = new RowCodec(arena.heap, kernel, types);
    this.#file = file;
    const stride = BUFFER_BYTES + REGION_PADDING_BYTES;
    const at = arena.heap.allocate(stride * streams);
    this.#buffers = Array.from({ length: streams }, (_, stream) => {
      const start = at + stream * stride;
      return { at: start, bytes: BUFFER_BYTES, next: start };
    });
  }

  /** Must be called before rows of the batch are written. The description is valid until the arena is released. */
  begin(batch: Batch): void {
    this.#codec.describe(batch);
  }

  /** @param stream number in the file, whose buffer has the number `buffer` */
  write(batch: Batch, stream: number, list: OrderedRows, buffer = stream): void {
    const target = this.#buffers[buffer]!;
    for (let { from } = list; ; ) {
      const { next, reached } = this.#codec.encodeDescribed(
        batch,
        { ...list, from },
        target.next,
        target.at + target.bytes,
      );
      target.next = next;
      from = reached;
      if (from === list.count) return;
      if (target.next > target.at) this.#flush(stream, target);
      else this.#enlarge(target);
    }
  }

  flush(stream: number, buffer = stream): void {
    this.#flush(stream, this.#buffers[buffer]!);
  }

  #flush(stream: number, buffer: StreamBuffer): void {
    this.#file.append(this.part, stream, this.#heap.u8.subarray(buffer.at, buffer.next));
    buffer.next = buffer.at;
  }

  /** For a row that is larger than the buffer. */
  #enlarge(buffer: StreamBuffer): void {
    buffer.bytes *= 2;
    buffer.at = this.#heap.allocate(buffer.bytes);
    buffer.next = buffer.at;
  }
}

// Phase 1: scatter.

/** The rows that an operation needs to make its new cells. */
export interface StreamPlan {
  /** Indexes of the columns that are read, those of the key first, and their types. */
  readonly reads: readonly number[];
  readonly types: readonly StoredType[];
  /** Number of leading columns that form the key. */
  readonly keys: number;
  /** True if the first rows are examined together (withOrderCheck). */
  readonly isExamined: boolean;
}

/** Minimum number of rows to judge the distribution of keys, and the maximum number that withOrderCheck examines. */
const JUDGED_ROWS_MIN = 1000;

/** Maximum part of the rows in one stream. With more, one thread would do most of the work. */
const STREAM_ROWS_RATIO_MAX = 1 / 2;

/** The files of RowScatter, and the number of the current part. */
export interface ScatterFiles {
  readonly part: number;
  /** Random, so that no file can be prepared whose rows are all in one stream. The same for all threads. */
  readonly seed: number;
  file(): StreamFile;
}

/** An operator that writes the rows to streams. `endPart` must be called at the end of each part. */
export class RowScatter implements Operator {
  readonly #context: OperatorContext;
  readonly #plan: StreamPlan;
  readonly #files: ScatterFiles;
  readonly #keys: RowKeys;
  readonly #encoder: StreamEncoder;
  readonly #file: StreamFile;
  readonly #counts = new Uint32Array(STREAMS);
  readonly #next = new Uint32Array(STREAMS);
  readonly #totals = new Float64Array(STREAMS);
  /** Stream of each row of the part. */
  #rowStreams = new Uint8Array(16_384);
  #rows = 0;

  constructor(context: OperatorContext, plan: StreamPlan, files: ScatterFiles) {
    this.#context = context;
    this.#plan = plan;
    this.#files = files;
    const key = plan.reads.slice(0, plan.keys).map((_, index) => index);
    this.#keys = new RowKeys(context, key, 'exact');
    this.#file = files.file();
    this.#encoder = new StreamEncoder(context, plan.types, this.#file, STREAMS);
  }

  *push(batch: Batch): Slices {
    for (const index of this.#plan.reads) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const read = batch.withColumns(this.#plan.reads.map((index) => batch.columns[index]!));
    this.#keys.prepare(read);
    for (const piece of piecesOf(read)) piece.isTooLarge = !this.#put(read, piece.from, piece.to);
  }

  endPart(): void {
    const { part } = this.#files;
    this.#encoder.part = part;
    for (let stream = 0; stream < STREAMS; stream++) this.#encoder.flush(stream);
    this.#file.append(part, ROW_STREAMS, this.#rowStreams.subarray(0, this.#rows));
    if (part === 0) this.#judge();
    this.#rows = 0;
  }

  finish(): Steps {
    this.#file.end();
    return DONE;
  }

  /** Throws Failed if one thread is faster with such rows. */
  #judge(): void {
    const rows = this.#rows;
    const isUneven = rows >= JUDGED_ROWS_MIN && this.#totals.some((count) => count > rows * STREAM_ROWS_RATIO_MAX);
    // withOrderCheck examines rows of the first part only.
    if (isUneven || (this.#plan.isExamined && rows < JUDGED_ROWS_MIN))
      throw new Failed('RUN_RESOURCE_LIMIT', 'The rows have too few keys for several threads.');
  }

  /** Returns false if the arena is full. */
  #put(batch: Batch, from: number, to: number): boolean {
    const { arena, kernel } = this.#context;
    const count = to - from;
    const rows = batch.selection + from * 4;
    const views = this.#keys.make(batch, rows, count);
    const [hashes, sorted, orders] = [arena.tryTake(count * 8), arena.tryTake(count * 4), arena.tryTake(count * 8)];
    // The description of decimals needs memory, too.
    if (
      views === 0 ||
      hashes === 0 ||
      sorted === 0 ||
      orders === 0 ||
      arena.freeBytes < batch.rows * 8 * batch.columns.length
    )
      return false;
    kernel.exports.hashViews(views, rows, count, this.#files.seed, hashes);
    this.#sort(rows, count, hashes, sorted, orders);
    this.#encoder.part = this.#files.part;
    this.#encoder.begin(batch);
    for (let stream = 0; stream < STREAMS; stream++) {
      const end = this.#next[stream]!;
      const list = { rows: sorted, from: end - this.#counts[stream]!, count: end, orders };
      if (list.from < end) this.#encoder.write(batch, stream, list);
    }
    return true;
  }

  /** Lists the rows by their streams, with their order numbers. */
  #sort(rows: number, count: number, hashes: number, sorted: number, orders: number): void {
    const { u32, f64 } = this.#context.arena.heap;
    const { part } = this.#files;
    const firstOrder = part * PART_ORDERS + this.#rows;
    const first = this.#rows;
    const rowStreams = this.#rowStreamsFor(first + count);
    const counts = this.#counts.fill(0);
    for (let i = 0, at = (hashes >>> 2) + 1; i < count; i++, at += 2) {
      const stream = u32[at]! >>> (32 - STREAM_BITS);
      rowStreams[first + i] = stream;
      counts[stream]!++;
    }
    const next = this.#next;
    for (let stream = 0, start = 0; stream < STREAMS; stream++) {
      next[stream] = start;
      start += counts[stream]!;
      this.#totals[stream]! += counts[stream]!;
    }
    for (let i = 0; i < count; i++) {
      const at = next[rowStreams[first + i]!]!++;
      u32[(sorted >>> 2) + at] = u32[(rows >>> 2) + i]!;
      f64[(orders >>> 3) + at] = firstOrder + i;
    }
    this.#rows += count;
  }

  #rowStreamsFor(rows: number): Uint8Array {
    if (rows > this.#rowStreams.length) {
      const larger = new Uint8Array(Math.max(rows, this.#rowStreams.length * 2));
      larger.set(this.#rowStreams);
      this.#rowStreams = larger;
    }
    return this.#rowStreams;
  }
}

// Phase 2: compute.

/** Rows of a stream that are read at once. */
const READER_SIZE = { rowsMax: 2048, bufferBytes: 262_144 };

/** Reads the rows of a stream, followed by a column with their order numbers. */
export function streamReader(
  context: OperatorContext,
  { types }: Pick<StreamPlan, 'types'>,
  rows: RowBytes,
): () => Batch | null {
  const { arena, kernel } = context;
  const reader = new SpillReader(arena, new RowCodec(arena.heap, kernel, types), READER_SIZE);
  const meta = arena.heap.allocate(READER_SIZE.rowsMax);
  arena.heap.u8.fill(0, meta, meta + READER_SIZE.rowsMax);
  reader.open(rows);
  return () => {
    if (reader.advance() === 0) return null;
    const batch = reader.batch();
    const orders = { kind: 'typed', type: 'number', at: reader.orders, meta, big: null } as const;
    return batch.withColumns([...batch.columns, orders]);
  };
}

/** Writes the new cells of one stream. */
export class StreamResults {
  readonly #context: OperatorContext;
  readonly #encoder: StreamEncoder;
  readonly #stream: number;
  #part = -1;

  constructor(context: OperatorContext, types: readonly StoredType[], file: StreamFile, stream: number) {
    this.#context = context;
    this.#encoder = new StreamEncoder(context, types, file, 1);
    this.#stream = stream;
  }

  /** @param batch rows whose first column has their order numbers, as streamReader returned them */
  add(batch: Batch): Slices {
    const [orders, ...columns] = batch.columns as [ColumnData, ...ColumnData[]];
    if (orders.kind !== 'typed') throw new Error('order numbers are numbers');
    const { arena } = this.#context;
    const mark = arena.next;
    const made = batch.withColumns(columns);
    for (const [index, column] of columns.entries()) if (column.kind === 'raw') made.views(index);
    const list = arena.take(batch.live * 8);
    const { f64 } = arena.heap;
    for (let position = 0; position < batch.live; position++) {
      f64[(list >>> 3) + position] = f64[(orders.at >>> 3) + batch.physicalRow(position)]!;
    }
    this.#encoder.begin(made);
    for (let from = 0; from < batch.live; ) {
      const part = this.#partAt(list, from);
      if (part !== this.#part) this.#turnTo(part);
      let to = from + 1;
      while (to < batch.live && this.#partAt(list, to) === part) to++;
      this.#encoder.write(made, this.#stream, { rows: batch.selection, from, count: to, orders: list }, 0);
      from = to;
    }
    arena.release(mark);
    return DONE;
  }

  end(): void {
    this.#turnTo(-1);
  }

  #partAt(orders: number, position: number): number {
    return Math.floor(this.#context.arena.heap.f64[(orders >>> 3) + position]! / PART_ORDERS);
  }

  #turnTo(part: number): void {
    if (this.#part >= 0) this.#encoder.flush(this.#stream, 0);
    this.#part = part;
    this.#encoder.part = part;
  }
}

// Phase 3: match.

export interface MatchPlan {
  /** Types of the new columns. */
  readonly types: readonly StoredType[];
}

/** The files of RowMatch, and the number of the current part. */
export interface MatchFiles {
  readonly part: number;
  readonly rows: StreamFiles;
  readonly cells: StreamFiles;
}

/** Size of a reader. A stream has some hundred rows in each part. */
const MATCH_READER_SIZE = { rowsMax: 1024, bufferBytes: 65_536 };

/** The current rows of a stream. */
interface Cursor {
  readonly reader: SpillReader;
  columns: readonly ColumnData[];
  orders: number;
  row: number;
  rows: number;
}

/** New columns of a batch, by physical row. */
interface MadeColumn {
  readonly type: StoredType;
  readonly at: number;
  readonly meta: number;
  big: TypedColumn['big'];
}

/** An operator that adds the new cells to the rows. */
export class RowMatch implements Operator {
  readonly #context: OperatorContext;
  readonly #plan: MatchPlan;
  readonly #files: MatchFiles;
  readonly #cursors: readonly Cursor[];
  readonly #hasTexts: boolean;
  #part = -1;
  #rowStreams: Uint8Array = new Uint8Array(0);
  #taken = 0;

  constructor(context: OperatorContext, plan: MatchPlan, files: MatchFiles) {
    const { arena, kernel } = context;
    this.#context = context;
    this.#plan = plan;
    this.#files = files;
    const codec = new RowCodec(arena.heap, kernel, plan.types);
    this.#cursors = Array.from({ length: STREAMS }, () => {
      return { reader: new SpillReader(arena, codec, MATCH_READER_SIZE), columns: [], orders: 0, row: 0, rows: 0 };
    });
    this.#hasTexts = plan.types.some((type) => type === 'text' || type === 'json' || type === 'text_with_kind');
  }

  *push(batch: Batch): Slices {
    const { arena, layout, next } = this.#context;
    if (this.#files.part !== this.#part) this.#enter(this.#files.part);
    for (const index of layout) if (index >= 0 && batch.columns[index]!.kind === 'raw') batch.views(index);
    const mark = arena.next;
    const selection = arena.take(batch.live * 4);
    for (let from = 0; from < batch.live; ) {
      const columns = this.#columns(batch.rows);
      const { to, count } = this.#match(batch, from, selection, columns);
      const made = columns.map(columnOf);
      if (count > 0) yield* next(arrange(batch.withSelection(selection, count), layout, made));
      from = to;
    }
    this.#taken += batch.live;
    arena.release(mark);
  }

  #enter(part: number): void {
    this.#part = part;
    this.#taken = 0;
    this.#rowStreams = this.#files.rows.rowStreams(part);
    for (const [stream, cursor] of this.#cursors.entries()) {
      cursor.reader.open(this.#files.cells.ofPart(part, stream));
      this.#advance(cursor);
    }
  }

  #advance(cursor: Cursor): void {
    cursor.rows = cursor.reader.advance();
    cursor.row = 0;
    if (cursor.rows === 0) return;
    cursor.columns = cursor.reader.batch().columns;
    cursor.orders = cursor.reader.orders >>> 3;
  }

  #columns(rows: number): MadeColumn[] {
    const { arena } = this.#context;
    return this.#plan.types.map((type) => ({ type, at: arena.take(rows * 8), meta: arena.take(rows), big: null }));
  }

  /**
   * Copies new cells to the rows from position `from` on, and lists these rows. Returns the position reached: texts are
   * valid only until their stream is read further.
   */
  #match(batch: Batch, from: number, selection: number, columns: MadeColumn[]): { to: number; count: number } {
    const { heap } = this.#context.arena;
    const firstOrder = this.#part * PART_ORDERS + this.#taken;
    const rowStreams = this.#rowStreams;
    let { u32, f64 } = heap;
    let count = 0;
    for (let position = from; position < batch.live; position++) {
      const cursor = this.#cursors[rowStreams[this.#taken + position]!];
      if (cursor === undefined) throw fileChanged();
      if (cursor.row === cursor.rows && cursor.rows > 0) {
        if (this.#hasTexts && count > 0) return { to: position, count };
        this.#advance(cursor);
        ({ u32, f64 } = heap);
      }
      if (cursor.rows === 0 || f64[cursor.orders + cursor.row] !== firstOrder + position) throw fileChanged();
      const row = u32[(batch.selection >>> 2) + position]!;
      for (let index = 0; index < columns.length; index++) copyCell(heap, cursor, index, columns[index]!, row);
      u32[(selection >>> 2) + count++] = row;
      cursor.row++;
    }
    return { to: batch.live, count };
  }
}

/** The second reading of the file has other rows than the first one. The file is then read again as a whole. */
function fileChanged(): Failed {
  return new Failed('RUN_RESOURCE_LIMIT', 'The file was changed while it was read.');
}

function copyCell({ u8, u32 }: Heap, cursor: Cursor, index: number, to: MadeColumn, row: number): void {
  const from = cursor.columns[index]!;
  if (from.kind === 'raw') throw new Error('rows that were read back have no raw columns');
  const [source, target] = [(from.at >>> 2) + cursor.row * 2, (to.at >>> 2) + row * 2];
  // Not as a number of 64 bits, because a conversion could change the bits.
  u32[target] = u32[source]!;
  u32[target + 1] = u32[source + 1]!;
  const meta = from.kind === 'typed' ? from.meta : from.kinds;
  if (meta !== undefined) u8[to.meta + row] = u8[meta + cursor.row]!;
  if (from.kind !== 'typed' || from.big === null) return;
  const big = from.big.get(cursor.row);
  if (big === undefined) return;
  to.big ??= new Map();
  to.big.set(row, big);
}

function columnOf({ type, at, meta, big }: MadeColumn): ColumnData {
  if (type === 'text_with_kind') return { kind: 'views', at, kinds: meta };
  if (type === 'text' || type === 'json') return { kind: 'views', at };
  return { kind: 'typed', type, at, meta, big };
}
