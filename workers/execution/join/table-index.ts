// A reference table, or a partition of it, in the Run's memory, with an index over its keys. Rows with a null in their
// key are not indexed. After a refusal by the budget, the index cannot be used.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { ColumnType } from '../../batch/schema.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { REGION_PADDING_BYTES } from '../../memory/heap.ts';
import type { SpillBytes } from '../../memory/spill-file.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { inSlices } from '../cells/cell-operator.ts';
import { constantValue, numberOfType } from '../cells/constant-value.ts';
import { HashTable, KEY_ABSENT, type KeyList } from '../keys/hash-table.ts';
import { type MatchLevel, RowKeys } from '../keys/row-keys.ts';
import { RowCodec, targetBatch } from '../spill/row-codec.ts';

/** Means "no row". */
export const ROW_NONE = 0xffffffff;

/** Number of bytes of records read at once, and number of rows decoded at once. Both take a few milliseconds. */
const READ_BYTES = 4 * 1024 * 1024;
const DECODED_ROWS = 65_536;

/** Number of rows whose keys are computed at once. */
const INDEXED_ROWS = 2048;

/** A key column of the table. Its texts are parsed as values of `type`; texts that cannot be parsed match nothing. */
export interface TableKey {
  readonly column: number;
  readonly type: ColumnType;
  /** Type that the Template declares: the same as `type`, or both are numbers. Text if it declares none. */
  readonly declared?: ColumnType;
  readonly match: MatchLevel;
}

/** Records with all columns as text, such as TableRows. */
export type TableRecords = Pick<SpillBytes, 'sizeBytes' | 'read'> & { readonly rows: number };

export type TableContext = Pick<OperatorContext, 'arena' | 'kernel'>;

interface TableMemory {
  readonly bytesMax: number;
  readonly rowsMax: number;
  readonly records: number;
  readonly target: ReturnType<RowCodec['target']>;
  /** Indexed by id: first and last row (u32 each). */
  readonly ends: number;
  /** Indexed by row: the next row with the same key, or ROW_NONE. */
  readonly followers: number;
}

export class TableIndex {
  readonly #context: TableContext;
  readonly #keys: readonly TableKey[];
  readonly #codec: RowCodec;
  readonly #rowKeys: RowKeys;
  readonly #table: HashTable;
  readonly #columns: number;
  readonly #selection: number;
  #memory: TableMemory | null = null;

  /** @param columns number of columns of the table */
  constructor(context: TableContext, columns: number, keys: readonly TableKey[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#keys = keys;
    this.#columns = columns;
    this.#codec = new RowCodec(heap, context.kernel, new Array<ColumnType>(columns).fill('text'));
    // The indexed batches contain the key columns only.
    this.#rowKeys = new RowKeys(
      context,
      keys.map((_, index) => index),
      keys.map(({ match }) => match),
    );
    this.#table = new HashTable(heap, context.kernel);
    this.#selection = heap.allocate(INDEXED_ROWS * 4);
  }

  /** Loads records in place of the previous ones. Returns false if the budget refuses the memory. Yields in between. */
  *load(records: TableRecords, forced: boolean): Generator<void, boolean> {
    this.#table.clear();
    this.#table.forced = forced;
    const memory = this.#allocate(records, forced);
    if (memory === null) return false;
    const end = yield* this.#read(memory, records);
    const rows = yield* this.#decode(memory, end);
    if (rows !== records.rows) throw new Error('a reference table has lost rows');
    for (let from = 0; from < rows; from += INDEXED_ROWS) {
      if (!this.#add(memory, from, Math.min(rows, from + INDEXED_ROWS))) return false;
      yield;
    }
    return true;
  }

  /** Returns the address after the records. */
  *#read(memory: TableMemory, records: TableRecords): Generator<void, number> {
    const { heap } = this.#context.arena;
    const { sizeBytes } = records;
    for (let from = 0; from < sizeBytes; from += READ_BYTES) {
      const bytes = Math.min(READ_BYTES, sizeBytes - from);
      const target = heap.u8.subarray(memory.records + from, memory.records + from + bytes);
      if (records.read(target, from) < bytes) throw new Error('a reference table ends early');
      yield;
    }
    return memory.records + sizeBytes;
  }

  /** Returns the number of rows. */
  *#decode({ records, target }: TableMemory, end: number): Generator<void, number> {
    let done = 0;
    for (let at = records; at < end; ) {
      const next = this.#codec.after(target, done, DECODED_ROWS);
      const { rows, reached } = this.#codec.decode(next, at, end);
      if (rows === 0) break;
      done += rows;
      at = reached;
      yield;
    }
    return done;
  }

  /** Computes the hashes of keys. Needed before `find`, and for partitioning rows by their keys. */
  hash(list: KeyList): void {
    this.#table.hash(list);
  }

  /** Sets the id of each key, KEY_ABSENT for keys that the table does not contain. */
  find(list: KeyList): void {
    this.#table.find(list);
  }

  /** Returns the first row with a key. */
  first(id: number): number {
    return this.#context.arena.heap.u32[(this.#memory!.ends >>> 2) + id * 2]!;
  }

  /** Returns the next row with the same key, or ROW_NONE. */
  next(row: number): number {
    return this.#context.arena.heap.u32[(this.#memory!.followers >>> 2) + row]!;
  }

  /** Returns the address of the views of a column, by row of the table. */
  views(column: number): number {
    return this.#memory!.target.columns[column]!.at;
  }

  /** Returns the key columns of a batch of table rows as values of their types, or null if the arena is full. */
  keyBatch(batch: Batch): Batch | null {
    const columns: ColumnData[] = [];
    for (const { column, type, declared = 'text' } of this.#keys) {
      const parse = declared === 'text' || declared === type ? plainValue : numberOfType;
      const made = type === 'text' ? batch.columns[column]! : typedCells(batch, column, type, parse);
      if (made === null) return null;
      columns.push(made);
    }
    return batch.withColumns(columns);
  }

  /** Returns the keys of some rows of a batch from `keyBatch`, or 0 if the arena is full. */
  keyViews(batch: Batch, rows: number, count: number): number {
    return this.#rowKeys.make(batch, rows, count);
  }

  #allocate({ sizeBytes, rows }: TableRecords, forced: boolean): TableMemory | null {
    const known = this.#memory;
    if (known !== null && sizeBytes <= known.bytesMax && rows <= known.rowsMax) return known;
    const { heap } = this.#context.arena;
    const bytesMax = sizeBytes + REGION_PADDING_BYTES;
    const rowBytes = (this.#columns + 2) * VIEW_BYTES + 12;
    const regions = this.#columns * 2 + 8;
    const all = bytesMax + rows * rowBytes + regions * (REGION_PADDING_BYTES + 12);
    const start = heap.tryAllocate(all, forced);
    if (start === 0) return null;
    let next = start;
    const allocate = (bytes: number): number => {
      const at = next;
      next = (next + bytes + 7) & ~7;
      return at;
    };
    const memory: TableMemory = {
      bytesMax,
      rowsMax: rows,
      records: allocate(bytesMax),
      target: this.#codec.target(rows, allocate),
      ends: allocate(rows * 8),
      followers: allocate(rows * 4),
    };
    if (next > start + all) throw new Error('the memory of a table is too small');
    this.#memory = memory;
    return memory;
  }

  #add(memory: TableMemory, from: number, to: number): boolean {
    const { arena } = this.#context;
    const { u32 } = arena.heap;
    for (let i = 0; i < to - from; i++) u32[(this.#selection >>> 2) + i] = i;
    const columns = memory.target.columns.map(({ at }): ColumnData => ({ kind: 'views', at: at + from * VIEW_BYTES }));
    const sources = memory.target.sources + from * 8;
    const batch = targetBatch({ arena, columns, rows: to - from, selection: this.#selection, sources });
    let sound = true;
    inSlices(batch, (first, end) => {
      const keys = this.keyBatch(batch);
      const rows = arena.tryTake((end - first) * 4);
      const hashes = arena.tryTake((end - first) * 8);
      const ids = arena.tryTake((end - first) * 4);
      if (keys === null || rows === 0 || hashes === 0 || ids === 0) return false;
      const count = rowsWithKeys(keys, first, end, rows);
      const views = this.keyViews(keys, rows, count);
      if (views === 0) return false;
      const list = { views, rows, count, hashes, ids };
      const known = this.#table.count;
      this.#table.hash(list);
      sound &&= this.#table.insert(list) === count;
      if (sound) this.#chain(memory, list, known, from);
      return true;
    });
    return sound;
  }

  /** Appends rows to the chains of their keys. */
  #chain(memory: TableMemory, { rows, count, ids }: KeyList, known: number, from: number): void {
    const { u32 } = this.#context.arena.heap;
    const [ends, followers] = [memory.ends >>> 2, memory.followers >>> 2];
    let fresh = known;
    for (let i = 0; i < count; i++) {
      const id = u32[(ids >>> 2) + i]!;
      const row = from + u32[(rows >>> 2) + i]!;
      u32[followers + row] = ROW_NONE;
      if (id === fresh) {
        u32[ends + id * 2] = row;
        fresh++;
      } else u32[followers + u32[ends + id * 2 + 1]!] = row;
      u32[ends + id * 2 + 1] = row;
    }
  }
}

/** Writes a list of those live rows [from, to) of the batch that have no null column. Returns their number. */
export function rowsWithKeys(batch: Batch, from: number, to: number, rows: number): number {
  const { u32 } = batch.heap;
  let count = 0;
  for (let position = from; position < to; position++) {
    const row = u32[(batch.selection >>> 2) + position]!;
    if (!batch.columns.some((column) => isNull(batch, column, row))) u32[(rows >>> 2) + count++] = row;
  }
  return count;
}

/** Marks the keys of rows with a null in one of the columns as absent. */
export function forgetNulls(batch: Batch, columns: readonly number[], { rows, count, ids }: KeyList): void {
  const { u32 } = batch.heap;
  for (const index of columns) {
    const column = batch.columns[index]!;
    for (let i = 0; i < count; i++) {
      if (isNull(batch, column, u32[(rows >>> 2) + i]!)) u32[(ids >>> 2) + i] = KEY_ABSENT;
    }
  }
}

function isNull({ heap }: Batch, column: ColumnData, row: number): boolean {
  if (column.kind === 'typed') return heap.u8[column.meta + row] === META_NULL;
  if (column.kind === 'raw') throw new Error('keys have views');
  return heap.u32[(column.at >>> 2) + row * 2] === 0;
}

/**
 * Returns cells of a table as values of their declared types, in a larger arena if they do not fit. Only live rows are
 * converted. The cells were checked when the table was read.
 */
export function cellsOfTypes(
  batch: Batch,
  columns: readonly ColumnData[],
  types: readonly ColumnType[],
): readonly ColumnData[] {
  if (types.every((type) => type === 'text')) return columns;
  return columns.map((column, at) => {
    const type = types[at]!;
    return type === 'text' ? column : liveCells(batch, column, type);
  });
}

function liveCells(batch: Batch, column: ColumnData, type: ColumnType): ColumnData {
  if (column.kind !== 'views') throw new Error('tables are text');
  const { arena } = batch;
  const builder = new ColumnBuilder(arena, type);
  while (!builder.begin(batch.rows)) arena.enlarge(arena.capacityBytes * 2);
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    builder.set(row, plainValue(batch.text(column, row), type));
  }
  return builder.column;
}

function plainValue(text: string | null, type: ColumnType): unknown {
  const value = constantValue(text, type);
  return 'problem' in value ? null : value.value;
}

function typedCells(
  batch: Batch,
  index: number,
  type: ColumnType,
  parse: (text: string, type: ColumnType) => unknown,
): ColumnData | null {
  const builder = new ColumnBuilder(batch.arena, type);
  const column = batch.columns[index]!;
  if (column.kind !== 'views') throw new Error('tables are text');
  if (!builder.begin(batch.rows)) return null;
  for (let row = 0; row < batch.rows; row++) {
    const text = batch.text(column, row);
    builder.set(row, text === null ? null : parse(text, type));
  }
  return builder.column;
}
