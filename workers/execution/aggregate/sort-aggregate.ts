// Groups rows by sorting, and reduces each group to one row, in bounded memory: rows are sorted by group and read group
// by group, and the results are sorted by where the group was first seen.
import type { Batch } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { NativeText } from '../../batch/native-cell.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Next, OperatorContext } from '../../template/operation.ts';
import { type ValueRow, valueBatch } from '../cells/value-cells.ts';
import { KeyShortener, type MatchLevel, RowKeys } from '../keys/row-keys.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys } from '../sort/sort-keys.ts';

/** Maximum number of groups written at once. */
const GROUPS_MAX = 512;

/** Maximum number of characters of their texts: the row of a group may have cells of 4 MiB. */
const GROUPS_LENGTH_MAX = 262_144;

/** Reduces groups. The rows of a group follow one another in source order. */
export interface GroupReduction {
  /** Indexes of the columns that it reads from the batches, group columns first. */
  readonly reads: readonly number[];
  readonly readTypes: readonly StoredType[];
  /** Number of leading columns that form the group key. */
  readonly groups: number;
  readonly makes: readonly StoredType[];
  /** Comparison of texts, and whether each null forms a separate group. */
  readonly match?: MatchLevel;
  readonly nullsDistinct?: boolean;
  /** The row of the group that determines position and source row of the result. 'first' by default. */
  readonly place?: 'first' | 'last';
  /** True (the default) if the group cells are emitted before the other cells. */
  readonly showsGroups?: boolean;
  /** True if groups are emitted sorted by their cells instead of by position. */
  readonly sorted?: boolean;
  begin(): void;
  add(values: readonly unknown[]): void;
  /** Returns the cells of the result row after its group cells, or null if the group has no result. */
  end(): readonly unknown[] | null;
}

export class SortAggregate {
  readonly #context: OperatorContext;
  readonly #reduction: GroupReduction;
  readonly #sorter: RowSorter;
  #taken = 0;

  constructor(context: OperatorContext, reduction: GroupReduction) {
    this.#context = context;
    this.#reduction = reduction;
    const keys = new RowKeys(
      context,
      Array.from({ length: reduction.groups }, (_, index) => index),
      reduction.match ?? 'exact',
      reduction.nullsDistinct ?? false,
    );
    const longKeys = new KeyShortener(context);
    const types: StoredType[] = [...reduction.readTypes, 'integer'];
    this.#sorter = new RowSorter(context, types, {
      prepare: (batch) => keys.prepare(batch),
      editLong: (batch, clock) => keys.editLong(batch, clock),
      make: (batch) => longKeys.shortened(batch, keys.makeFilled(batch)),
    });
  }

  *add(batch: Batch): Slices {
    const { arena } = batch;
    for (const index of this.#reduction.reads) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const positions = new ColumnBuilder(arena, 'integer');
    while (!positions.begin(batch.rows)) arena.enlarge(batch.rows * 16);
    for (let at = 0; at < batch.live; at++) positions.set(batch.physicalRow(at), this.#taken++);
    const columns = this.#reduction.reads.map((index) => batch.columns[index]!);
    const placed = batch.withColumns([...columns, positions.column]);
    yield* this.#sorter.editLong(placed);
    this.#sorter.add(placed);
    arena.release(mark);
  }

  *finish(next: Next): Steps {
    const { readTypes, makes, showsGroups } = this.#reduction;
    const groups = this.#groupCells;
    const types: StoredType[] = [...readTypes.slice(0, groups), ...makes, 'integer'];
    const last = types.length - 1;
    const order = { index: last, type: 'integer', descending: false, nullsFirst: false, compare: 'typed' } as const;
    const byGroup = types.slice(0, groups).map((type, index) => ({ ...order, index, type: columnTypeOf(type) }));
    const sorted = this.#reduction.sorted === true ? byGroup : [];
    const results = new RowSorter(this.#context, types, new SortKeys(this.#context, [...sorted, order]));
    yield* this.#reduce(types, results);
    const from = showsGroups === false ? groups + 1 : 1;
    yield* results.finish((batch) => next(batch.withColumns(batch.columns.slice(from, -1))));
  }

  /** Number of group cells in the result rows, either to be emitted or for sorting. */
  get #groupCells(): number {
    const { groups, showsGroups, sorted } = this.#reduction;
    return showsGroups === false && sorted !== true ? 0 : groups;
  }

  *#reduce(types: readonly StoredType[], results: RowSorter): Steps {
    const { readTypes } = this.#reduction;
    const groups = this.#groupCells;
    const readers = [...readTypes, 'integer' as const].map((type, index) => new CellReader(type, index + 1));
    let pending: ValueRow[] = [];
    let pendingLength = 0;
    let key: Buffer | null = null;
    let placed: ValueRow = { cells: [], source: 0 };
    const takesLast = this.#reduction.place === 'last';
    const close = (): void => {
      const made = key === null ? null : this.#reduction.end();
      if (made === null) return;
      const { cells, source } = placed;
      put({ cells: [...cells.slice(0, groups), ...made, cells[cells.length - 1]], source });
    };
    const put = (row: ValueRow): void => {
      pending.push(row);
      for (const cell of row.cells) {
        if (typeof cell === 'string') pendingLength += cell.length;
        else if (cell instanceof NativeText) pendingLength += cell.text.length;
      }
      if (pending.length >= GROUPS_MAX || pendingLength >= GROUPS_LENGTH_MAX) writePending();
    };
    const writePending = (): void => {
      this.#write(pending, types, results);
      pending = [];
      pendingLength = 0;
    };
    yield* this.#sorter.finish((batch) => {
      for (const reader of readers) reader.bind(batch);
      for (let at = 0; at < batch.live; at++) {
        const row = batch.physicalRow(at);
        const values = readers.map((reader) => reader.read(row));
        const bytes = keyBytes(batch, row);
        const isNew = key === null || !key.equals(bytes);
        if (isNew) {
          const copy = Buffer.from(bytes);
          close();
          key = copy;
          this.#reduction.begin();
        }
        if (isNew || takesLast) placed = { cells: values, source: batch.sourceRow(row) };
        this.#reduction.add(values);
      }
      return DONE;
    });
    close();
    writePending();
  }

  #write(rows: readonly ValueRow[], types: readonly StoredType[], results: RowSorter): void {
    const { arena } = this.#context;
    if (rows.length === 0) return;
    const mark = arena.next;
    results.add(valueBatch(this.#context, rows, types));
    arena.release(mark);
  }
}

function keyBytes(batch: Batch, row: number): Buffer {
  const column = batch.columns[0]!;
  if (column.kind !== 'views') throw new Error('the first column is not a key');
  const { u8, u32 } = batch.heap;
  const view = (column.at >>> 2) + row * 2;
  return Buffer.from(u8.buffer, u32[view]!, u32[view + 1]!);
}
