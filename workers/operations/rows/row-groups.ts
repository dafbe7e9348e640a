// Rows brought together by group and reduced to one row each, in bounded memory: sorted by group, read group by group, and
// what comes of each group sorted by where the group was first seen.
import type { Batch } from '../../batch.ts';
import type { ColumnType } from '../../schema.ts';
import { CellReader } from '../cells/cell-values.ts';
import { ColumnBuilder } from '../cells/column-builder.ts';
import { LongKeys } from '../keys/long-keys.ts';
import type { MatchLevel } from '../keys/match-level.ts';
import { RowKeys } from '../keys/row-keys.ts';
import type { OperatorContext } from '../operation.ts';
import { type HoldingMetrics, LateGroups } from './late-groups.ts';
import { RowSorter } from './row-sorter.ts';
import { SortKeys } from './sort-keys.ts';
import { type ValueRow, valueBatch } from './value-batch.ts';

/** Groups written at once. */
const GROUPS_MAX = 512;

/** Reduces groups: rows of a group come one after the other, in the order of the source. */
export interface GroupReduction {
  /** Columns that it reads: indexes in the batches, groups first. */
  readonly reads: readonly number[];
  readonly readTypes: readonly ColumnType[];
  /** How many of the first columns make the group. */
  readonly groups: number;
  readonly makes: readonly ColumnType[];
  /** Which texts are the same group, and whether a null makes a group of its own. */
  readonly match?: MatchLevel;
  readonly nullsDistinct?: boolean;
  /** Which row of the group gives the result its place and source row: the first unless set. */
  readonly place?: 'first' | 'last';
  /** Whether the group cells come out before the others: true unless set. */
  readonly showsGroups?: boolean;
  /** Whether groups come by their cells instead of their place. */
  readonly sorted?: boolean;
  /** The metrics that it makes, by their cells, if some may hold values. */
  readonly metrics?: HoldingMetrics;
  begin(): void;
  add(values: readonly unknown[]): void;
  /** The cells of the group's row behind its group cells; null when nothing comes of the group. */
  end(): readonly unknown[] | null;
}

export class RowGroups {
  readonly #context: OperatorContext;
  readonly #reduction: GroupReduction;
  readonly #sorter: RowSorter;
  /** Groups whose metrics have more values than they may hold. */
  #late: LateGroups | null = null;
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
    const longKeys = new LongKeys(context);
    const types: ColumnType[] = [...reduction.readTypes, 'integer'];
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

  *finish(next: (batch: Batch) => void): Iterable<void> {
    const { readTypes, makes, showsGroups } = this.#reduction;
    const groups = this.#groupCells;
    const types: ColumnType[] = [...readTypes.slice(0, groups), ...makes, 'integer'];
    const last = types.length - 1;
    const order = { index: last, type: 'integer', descending: false, nullsFirst: false, compare: 'typed' } as const;
    const byGroup = types.slice(0, groups).map((type, index) => ({ ...order, index, type }));
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

  *#reduce(types: readonly ColumnType[], results: RowSorter): Iterable<void> {
    const { readTypes, metrics } = this.#reduction;
    const groups = this.#groupCells;
    const readers = [...readTypes, 'integer' as const].map((type, index) => new CellReader(type, index + 1));
    let pending: ValueRow[] = [];
    let key: Buffer | null = null;
    let placed: ValueRow = { cells: [], source: 0 };
    const takesLast = this.#reduction.place === 'last';
    const close = (): void => {
      const late = this.#late?.isOpen === true ? this.#late : null;
      late?.take();
      const made = key === null ? null : this.#reduction.end();
      if (made === null) return;
      const { cells, source } = placed;
      const row = { cells: [...cells.slice(0, groups), ...made, cells[cells.length - 1]], source };
      if (late === null) pending.push(row);
      else late.close(row);
    };
    const writePending = (): void => {
      this.#write(pending, types, results);
      pending = [];
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
        if (metrics?.held.isOver !== true) continue;
        this.#late ??= new LateGroups(this.#context, metrics, types, groups);
        this.#late.take();
      }
      if (pending.length >= GROUPS_MAX) writePending();
    });
    close();
    writePending();
    if (this.#late === null) return;
    yield* this.#late.finish((row) => {
      pending.push(row);
      if (pending.length >= GROUPS_MAX) writePending();
    });
    writePending();
  }

  #write(rows: readonly ValueRow[], types: readonly ColumnType[], results: RowSorter): void {
    const { arena } = this.#context;
    for (let from = 0; from < rows.length; from += GROUPS_MAX) {
      const some = rows.slice(from, from + GROUPS_MAX);
      const mark = arena.next;
      results.add(valueBatch(this.#context, some, types));
      arena.release(mark);
    }
  }
}

function keyBytes(batch: Batch, row: number): Buffer {
  const column = batch.columns[0]!;
  if (column.kind !== 'views') throw new Error('the first column is no key');
  const { u8, u32 } = batch.heap;
  const view = (column.at >>> 2) + row * 2;
  return Buffer.from(u8.buffer, u32[view]!, u32[view + 1]!);
}
