// Rows brought together by group and reduced to one row each, in bounded memory: sorted by group, read group by group, and
// what comes of each group sorted by where the group was first seen.
import type { Batch } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { NativeText } from '../../batch/native-text.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import type { Next, OperatorContext } from '../../operations/operation.ts';
import { DONE, type Steps } from '../../run/time-slices.ts';
import { type ValueRow, valueBatch } from '../cells/value-batch.ts';
import { KeyShortener } from '../keys/key-shortener.ts';
import type { MatchLevel } from '../keys/match-level.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys } from '../sort/sort-keys.ts';

/** Groups written at once. */
const GROUPS_MAX = 512;

/** ... and characters of their texts: a group's row may have cells of 4 MiB. */
const GROUPS_LENGTH_MAX = 262_144;

/** Reduces groups: rows of a group come one after the other, in the order of the source. */
export interface GroupReduction {
  /** Columns that it reads: indexes in the batches, groups first. */
  readonly reads: readonly number[];
  readonly readTypes: readonly StoredType[];
  /** How many of the first columns make the group. */
  readonly groups: number;
  readonly makes: readonly StoredType[];
  /** Which texts are the same group, and whether a null makes a group of its own. */
  readonly match?: MatchLevel;
  readonly nullsDistinct?: boolean;
  /** Which row of the group gives the result its place and source row: the first unless set. */
  readonly place?: 'first' | 'last';
  /** Whether the group cells come out before the others: true unless set. */
  readonly showsGroups?: boolean;
  /** Whether groups come by their cells instead of their place. */
  readonly sorted?: boolean;
  begin(): void;
  add(values: readonly unknown[]): void;
  /** The cells of the group's row behind its group cells; null when nothing comes of the group. */
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
      make: (batch) => longKeys.shortened(batch, keys.makeFilled(batch)),
    });
  }

  add(batch: Batch): void {
    const { arena } = batch;
    for (const index of this.#reduction.reads) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const positions = new ColumnBuilder(arena, 'integer');
    while (!positions.begin(batch.rows)) arena.enlarge(batch.rows * 16);
    for (let at = 0; at < batch.live; at++) positions.set(batch.physicalRow(at), this.#taken++);
    const columns = this.#reduction.reads.map((index) => batch.columns[index]!);
    this.#sorter.add(batch.withColumns([...columns, positions.column]));
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

  /** Cells of the group that its row has: those that come out or sort it. */
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
  if (column.kind !== 'views') throw new Error('the first column is no key');
  const { u8, u32 } = batch.heap;
  const view = (column.at >>> 2) + row * 2;
  return Buffer.from(u8.buffer, u32[view]!, u32[view + 1]!);
}
