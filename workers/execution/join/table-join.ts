// Joins rows with a reference table. It looks up the rows of each batch in an index of the table, partition by
// partition if the table does not fit into memory.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { type ColumnType, type StoredType, storedTypes } from '../../batch/schema.ts';
import { META_BIG, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import { Failed } from '../../protocol/failure.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { type BatchPiece, inSlices, piecesOf } from '../cells/cell-operator.ts';
import { copiedRowsMax } from '../cells/copied-rows.ts';
import { KEY_ABSENT, type KeyList } from '../keys/hash-table.ts';
import { type MatchLevel, RowKeys } from '../keys/row-keys.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec, targetBatch } from '../spill/row-codec.ts';
import { BATCH_READER_SIZE, PARTITION_LEVELS, RowPartitions, SpillReader, SpillWriter } from '../spill/row-files.ts';
import type { TableRows } from '../tables/run-tables.ts';
import {
  forgetNulls,
  ROW_NONE,
  rowsWithKeys,
  type TableContext,
  type TableIndex,
  type TableRecords,
} from './table-index.ts';

// Looks up the rows of a batch in an index. Appends the cells of the table and the outcome to each row.

/**
 * Outcome of a lookup, in the last column: stored as the meta byte of a boolean, so that it can be written to spill
 * files.
 */
const FOUND = 0;
export const MISSING = 1;
export const MANY = 2;
const OUTCOME_TYPE: ColumnType = 'boolean';

export interface ProbeKeys {
  /** Column indexes in the batches. */
  readonly columns: readonly number[];
  readonly levels: readonly MatchLevel[];
}

/**
 * If several table rows match: `first` uses the first one, `all` emits one row for each, `fail` uses the first one with
 * the outcome MANY.
 */
export type Multiple = 'first' | 'all' | 'fail';

/** `positions` contains, for each live row of the batch, its position among the rows that were looked up (u32). */
export type Probed = (batch: Batch, positions: number) => Slices;

/** Rows with their keys. */
interface KeyedPiece {
  readonly piece: BatchPiece;
  readonly list: KeyList;
}

export type ProbeContext = TableContext & Pick<OperatorContext, 'clock'>;

export class TableProbe {
  readonly #context: ProbeContext;
  readonly #columns: readonly number[];
  readonly #keys: RowKeys;
  readonly #payload: readonly number[];
  readonly #multiple: Multiple;

  /** @param payload columns of the table whose cells are added */
  constructor(context: ProbeContext, { columns, levels }: ProbeKeys, payload: readonly number[], multiple: Multiple) {
    this.#context = context;
    this.#columns = columns;
    this.#keys = new RowKeys(context, columns, levels);
    this.#payload = payload;
    this.#multiple = multiple;
  }

  /** Call this before `keyedPieces`: it edits long texts of the keys, with pauses. */
  editLong(batch: Batch): Slices {
    this.#keys.prepare(batch);
    return this.#keys.editLong(batch, this.#context.clock);
  }

  /** Same as piecesOf, with views of the rows' keys and memory for hashes and ids. */
  *keyedPieces(batch: Batch): Generator<KeyedPiece, void, undefined> {
    const { arena } = this.#context;
    for (const piece of piecesOf(batch)) {
      const { from, to } = piece;
      const rows = batch.selection + from * 4;
      const views = this.#keys.make(batch, rows, to - from);
      const hashes = arena.tryTake((to - from) * 8);
      const ids = arena.tryTake((to - from) * 4);
      piece.isTooLarge = views === 0 || hashes === 0 || ids === 0;
      if (!piece.isTooLarge) yield { piece, list: { views, rows, count: to - from, hashes, ids } };
    }
  }

  *push(index: TableIndex, batch: Batch, next: Probed): Slices {
    const { arena } = this.#context;
    const multiplies = this.#multiple === 'all' && this.#payload.length > 0;
    if (multiplies) for (const [at, column] of batch.columns.entries()) if (column.kind === 'raw') batch.views(at);
    yield* this.editLong(batch);
    for (const { piece, list } of this.keyedPieces(batch)) {
      const neededBytes = batch.rows * (this.#payload.length * VIEW_BYTES + 1) + list.count * 4;
      piece.isTooLarge = arena.freeBytes < neededBytes + (this.#payload.length + 2) * 8;
      if (piece.isTooLarge) continue;
      index.hash(list);
      index.find(list);
      forgetNulls(batch, this.#columns, list);
      const { from } = piece;
      if (multiplies && this.#hasMany(index, list)) yield* this.#multiplied(index, batch, list, from, next);
      else yield* this.#single(index, batch, list, from, next);
    }
  }

  #hasMany(index: TableIndex, { count, ids }: KeyList): boolean {
    const { u32 } = this.#context.arena.heap;
    for (let i = 0; i < count; i++) {
      const id = u32[(ids >>> 2) + i]!;
      if (id !== KEY_ABSENT && index.next(index.first(id)) !== ROW_NONE) return true;
    }
    return false;
  }

  #single(index: TableIndex, batch: Batch, list: KeyList, from: number, next: Probed): Slices {
    const { arena } = this.#context;
    const outcomes = arena.take(batch.rows);
    const targets = this.#payload.map(() => arena.take(batch.rows * VIEW_BYTES));
    const positions = arena.take(list.count * 4);
    const sources = this.#payload.map((column) => index.views(column));
    const { u8, u32 } = arena.heap;
    for (let i = 0; i < list.count; i++) {
      const row = u32[(list.rows >>> 2) + i]!;
      const id = u32[(list.ids >>> 2) + i]!;
      const found = id === KEY_ABSENT ? ROW_NONE : index.first(id);
      u32[(positions >>> 2) + i] = from + i;
      u8[outcomes + row] =
        found === ROW_NONE ? MISSING : this.#multiple === 'fail' && index.next(found) !== ROW_NONE ? MANY : FOUND;
      for (let column = 0; column < targets.length; column++) {
        const to = (targets[column]! >>> 2) + row * 2;
        const source = (sources[column]! >>> 2) + found * 2;
        u32[to] = found === ROW_NONE ? 0 : u32[source]!;
        u32[to + 1] = found === ROW_NONE ? 0 : u32[source + 1]!;
      }
    }
    const made = targets.map((at): ColumnData => ({ kind: 'views', at }));
    const rows = batch.withSelection(list.rows, list.count);
    return next(rows.withColumns([...batch.columns, ...made, outcomeColumn(list.rows, outcomes)]), positions);
  }

  /** Emits each row once per match, in new batches. */
  *#multiplied(index: TableIndex, batch: Batch, { rows, count, ids }: KeyList, from: number, next: Probed): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    let made = new MultipliedRows(this.#context, batch, this.#payload.length);
    const sources = this.#payload.map((column) => index.views(column));
    for (let i = 0; i < count; i++) {
      const row = arena.heap.u32[(rows >>> 2) + i]!;
      const id = arena.heap.u32[(ids >>> 2) + i]!;
      let found = id === KEY_ABSENT ? ROW_NONE : index.first(id);
      do {
        if (made.count === made.rowsMax) {
          yield* next(made.batch(), made.positions);
          arena.release(mark);
          made = new MultipliedRows(this.#context, batch, this.#payload.length);
        }
        made.add(row, from + i, found, sources);
        if (found !== ROW_NONE) found = index.next(found);
      } while (found !== ROW_NONE);
    }
    if (made.count > 0) yield* next(made.batch(), made.positions);
  }
}

/** Copies of rows of one batch, each with the cells of a table row. */
class MultipliedRows {
  readonly #context: TableContext;
  readonly #from: Batch;
  readonly #columns: readonly ColumnData[];
  readonly #payload: readonly number[];
  readonly #outcomes: number;
  readonly #sources: number;
  readonly #selection: number;
  readonly positions: number;
  readonly rowsMax: number;
  count = 0;

  constructor(context: TableContext, from: Batch, payload: number) {
    const { arena } = context;
    this.#context = context;
    this.#from = from;
    this.rowsMax = copiedRowsMax(from.columns.length + payload);
    this.#columns = from.columns.map((column): ColumnData => {
      const at = arena.take(this.rowsMax * VIEW_BYTES);
      if (column.kind === 'views' && column.kinds !== undefined) {
        return { kind: 'views', at, kinds: arena.take(this.rowsMax) };
      }
      if (column.kind !== 'typed') return { kind: 'views', at };
      const big = column.big === null ? null : new Map();
      return { kind: 'typed', type: column.type, at, meta: arena.take(this.rowsMax), big };
    });
    this.#payload = Array.from({ length: payload }, () => arena.take(this.rowsMax * VIEW_BYTES));
    this.#outcomes = arena.take(this.rowsMax);
    this.#sources = arena.take(this.rowsMax * 8);
    this.#selection = arena.take(this.rowsMax * 4);
    this.positions = arena.take(this.rowsMax * 4);
  }

  add(row: number, position: number, found: number, tables: readonly number[]): void {
    const { u8, u32, f64 } = this.#context.arena.heap;
    const to = this.count++;
    for (const [index, column] of this.#from.columns.entries()) {
      const target = this.#columns[index]!;
      if (column.kind === 'raw' || target.kind === 'raw') throw new Error('rows to copy have no raw columns');
      copyWords(u32, target.at + to * VIEW_BYTES, column.at + row * VIEW_BYTES);
      if (column.kind === 'typed' && target.kind === 'typed') copyMeta(u8, target, to, column, row);
      else if (column.kind === 'views' && target.kind === 'views' && column.kinds !== undefined) {
        u8[target.kinds! + to] = u8[column.kinds + row]!;
      }
    }
    for (const [index, at] of this.#payload.entries()) {
      if (found === ROW_NONE) u32.fill(0, (at >>> 2) + to * 2, (at >>> 2) + to * 2 + 2);
      else copyWords(u32, at + to * VIEW_BYTES, tables[index]! + found * VIEW_BYTES);
    }
    u8[this.#outcomes + to] = found === ROW_NONE ? MISSING : FOUND;
    f64[(this.#sources >>> 3) + to] = this.#from.sourceRow(row);
    u32[(this.#selection >>> 2) + to] = to;
    u32[(this.positions >>> 2) + to] = position;
  }

  batch(): Batch {
    const { arena } = this.#context;
    const payload = this.#payload.map((at): ColumnData => ({ kind: 'views', at }));
    const columns = [...this.#columns, ...payload, outcomeColumn(this.#sources, this.#outcomes)];
    return targetBatch({ arena, columns, rows: this.count, selection: this.#selection, sources: this.#sources });
  }
}

/** @param at address of any readable memory, because the 8 bytes of these booleans are not used */
function outcomeColumn(at: number, meta: number): ColumnData {
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}

function copyWords(u32: Uint32Array, to: number, from: number): void {
  u32[to >>> 2] = u32[from >>> 2]!;
  u32[(to >>> 2) + 1] = u32[(from >>> 2) + 1]!;
}

function copyMeta(u8: Uint8Array, target: TypedColumn, to: number, column: TypedColumn, row: number): void {
  const meta = u8[column.meta + row]!;
  u8[target.meta + to] = meta;
  if (meta === META_BIG) target.big?.set(to, column.big!.get(row)!);
}

// Joins rows with a reference table. If the table fits into memory, rows are joined as they arrive. Otherwise both
// sides are partitioned into files by the hash of their keys, joined partition by partition, and put back into their
// order at the end. States: in memory, or partitioned (rows are deferred until `finish`).

const TOO_MANY_OF_A_KEY = 'Rows of one key of a reference table need more memory than one Run may address.';

/** Maximum size of a partition that is loaded even if the budget refuses it. */
const PART_BYTES_FORCED = 262_144;

export interface JoinParts {
  readonly table: TableRows;
  readonly index: TableIndex;
  readonly probe: TableProbe;
  /** Number of columns that the probe adds before the outcome. */
  readonly payload: number;
  /** See Operator. */
  readonly rowsMost: number;
  /** Receives the probe's batches in row order. */
  settle(batch: Batch): Slices;
}

interface Part {
  readonly table: SpillFile;
  readonly tableRows: number;
  readonly rows: SpillFile;
  readonly level: number;
}

export class TableJoin implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #parts: JoinParts;
  #spilled: SpilledJoin | null = null;
  #taken = 0;

  constructor(context: OperatorContext, parts: JoinParts) {
    this.#context = context;
    this.#parts = parts;
    this.rowsMost = parts.rowsMost;
    context.beforeRows(() => this.#load());
  }

  push(batch: Batch): Slices {
    const { index, probe, settle } = this.#parts;
    const taken = this.#taken;
    this.#taken += batch.live;
    if (this.#spilled === null) return probe.push(index, batch, settle);
    return this.#spilled.add(batch, taken);
  }

  *finish(): Steps {
    if (this.#spilled !== null) yield* this.#spilled.finish();
  }

  *#load(): Iterable<void> {
    const { index, table } = this.#parts;
    const inMemory = yield* index.load(table, false);
    if (inMemory) return;
    this.#spilled = new SpilledJoin(this.#context, this.#parts);
    this.#context.defersRows();
  }
}

class SpilledJoin {
  readonly #context: OperatorContext;
  readonly #parts: JoinParts;
  readonly #rowCodec: RowCodec;
  readonly #tableCodec: RowCodec;
  readonly #rows: RowPartitions;
  readonly #tables: RowPartitions;
  readonly #rowReader: SpillReader;
  readonly #tableReader: SpillReader;
  readonly #types: readonly StoredType[];

  constructor(context: OperatorContext, parts: JoinParts) {
    const { arena, kernel, spill, input } = context;
    this.#context = context;
    this.#parts = parts;
    const types = storedTypes(input);
    const texts = (count: number): StoredType[] => new Array(count).fill('text');
    this.#types = [...types, ...texts(parts.payload), OUTCOME_TYPE];
    this.#rowCodec = new RowCodec(arena.heap, kernel, types);
    this.#tableCodec = new RowCodec(arena.heap, kernel, texts(parts.table.columns.length));
    this.#rows = new RowPartitions(arena, this.#rowCodec, spill);
    this.#tables = new RowPartitions(arena, this.#tableCodec, spill);
    this.#rowReader = new SpillReader(arena, this.#rowCodec, BATCH_READER_SIZE);
    this.#tableReader = new SpillReader(arena, this.#tableCodec, BATCH_READER_SIZE);
  }

  /** @param taken number of rows before this batch */
  *add(batch: Batch, taken: number): Slices {
    this.#rowCodec.prepare(batch);
    yield* this.#part(batch, (position) => taken + position);
  }

  *finish(): Steps {
    const { arena, kernel, spill } = this.#context;
    const joined: SpillFile[] = [];
    const codec = new RowCodec(arena.heap, kernel, this.#types);
    const writer = new SpillWriter(arena.heap, codec, new SpillFile(spill));
    yield* this.#partTable(this.#parts.table);
    const waiting = this.#endLevel(0);
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      const records: TableRecords = { sizeBytes: part.table.sizeBytes, read: readOf(part.table), rows: part.tableRows };
      // Rows with the same key are never separated, so partitioning must stop at some level.
      const isLast = part.level + 1 >= PARTITION_LEVELS;
      if (yield* this.#parts.index.load(records, isLast || records.sizeBytes <= PART_BYTES_FORCED)) {
        const file = new SpillFile(spill);
        writer.turnTo(file);
        joined.push(file);
        yield* this.#joinPart(part, codec, writer);
      } else if (isLast) throw new Failed('RUN_RESOURCE_LIMIT', TOO_MANY_OF_A_KEY);
      else {
        yield* this.#split(part);
        waiting.push(...this.#endLevel(part.level + 1));
      }
      part.table.drop();
      part.rows.drop();
    }
    writer.flush();
    const tools = { arena, kernel, spill, types: this.#types };
    yield* mergeFiles(tools, joined, byOrder(arena), (batch) => this.#parts.settle(batch));
  }

  *#joinPart(part: Part, codec: RowCodec, writer: SpillWriter): Steps {
    const { arena } = this.#context;
    const { index, probe } = this.#parts;
    this.#rowReader.open(part.rows);
    while (this.#rowReader.advance() > 0) {
      const { orders: known } = this.#rowReader;
      yield* probe.push(index, this.#rowReader.batch(), (batch, positions) => {
        const orders = arena.take(batch.live * 8);
        const { u32, f64 } = arena.heap;
        for (let i = 0; i < batch.live; i++) {
          f64[(orders >>> 3) + i] = f64[(known >>> 3) + u32[(positions >>> 2) + i]!]!;
        }
        codec.prepare(batch);
        writer.write(batch, { rows: batch.selection, count: batch.live, orders });
        return DONE;
      });
      yield;
    }
  }

  *#split(part: Part): Steps {
    this.#rows.begin(part.level + 1);
    this.#tables.begin(part.level + 1);
    yield* this.#partTable(part.table);
    this.#rowReader.open(part.rows);
    while (this.#rowReader.advance() > 0) {
      const { orders } = this.#rowReader;
      const { heap } = this.#context.arena;
      yield* this.#part(this.#rowReader.batch(), (position) => heap.f64[(orders >>> 3) + position]!);
      yield;
    }
  }

  *#part(batch: Batch, order: (position: number) => number): Slices {
    const { index, probe } = this.#parts;
    yield* probe.editLong(batch);
    for (const { piece, list } of probe.keyedPieces(batch)) {
      index.hash(list);
      this.#addTo(this.#rows, batch, list, (i) => order(piece.from + i));
    }
  }

  *#partTable(records: Pick<TableRecords, 'sizeBytes' | 'read'>): Iterable<void> {
    const { arena } = this.#context;
    const { index } = this.#parts;
    this.#tableReader.open(records);
    let taken = 0;
    while (this.#tableReader.advance() > 0) {
      const batch = this.#tableReader.batch();
      const first = taken;
      inSlices(batch, (from, to) => {
        const keys = index.keyBatch(batch);
        const rows = arena.tryTake((to - from) * 4);
        const hashes = arena.tryTake((to - from) * 8);
        if (keys === null || rows === 0 || hashes === 0) return false;
        // A null key has no match. All such rows would also end up in the same partition.
        const count = rowsWithKeys(keys, from, to, rows);
        const views = index.keyViews(keys, rows, count);
        if (views === 0) return false;
        const list = { views, rows, count, hashes, ids: 0 };
        index.hash(list);
        this.#addTo(this.#tables, batch, list, (i) => first + arena.heap.u32[(rows >>> 2) + i]!);
        return true;
      });
      taken += batch.live;
      yield;
    }
  }

  #addTo(partitions: RowPartitions, batch: Batch, list: KeyList, order: (i: number) => number): void {
    const { arena } = this.#context;
    const orders = arena.take(list.count * 8);
    for (let i = 0; i < list.count; i++) arena.heap.f64[(orders >>> 3) + i] = order(i);
    partitions.add(batch, { rows: list.rows, count: list.count, hashes: list.hashes, orders });
  }

  /** Returns the partitions written at this level, and drops those without rows. */
  #endLevel(level: number): Part[] {
    const { spill } = this.#context;
    const tables = this.#tables.endAll();
    const parts: Part[] = [];
    for (const [index, rows] of this.#rows.endAll().entries()) {
      const table = tables[index]!;
      if (rows === null) table?.file.drop();
      else
        parts.push({ rows: rows.file, table: table?.file ?? new SpillFile(spill), tableRows: table?.rows ?? 0, level });
    }
    return parts;
  }
}

function readOf(file: SpillFile): TableRecords['read'] {
  return (target, position) => file.read(target, position);
}
