// Orders of groups: subtotals that follow their groups, as in a report (SubtotalOrder), and sort keys that bring the rows
// of a group together (groupOrder). Sorters use files if the budget refuses memory.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Next, OperatorContext } from '../../template/operation.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { type RowOrder, RowSorter } from '../sort/row-sorter.ts';
import { SortKeys, type SortTerm } from '../sort/sort-keys.ts';

// Each row has numbers after its columns: a mark for each level, which is 1 in the subtotals of this level, and the
// position of the row among the rows of the same level. Sorted groups need one sort, by the group columns, with the mark
// of each level after its columns. Groups in the order of their first appearance need two: the first one puts each
// subtotal before its groups, which then take over its position, and the second one sorts by these positions.

export interface SubtotalPlan {
  /** Types of the columns: group columns first. */
  readonly types: readonly StoredType[];
  readonly groups: number;
  /** Number of leading group columns of each level of subtotals, ascending. */
  readonly levels: readonly number[];
  /** True if groups are sorted by their cells instead of in the order first seen. */
  readonly sorted: boolean;
}

const ASCENDING = { descending: false, nullsFirst: false, compare: 'typed' } as const;

export class SubtotalOrder {
  readonly #context: OperatorContext;
  readonly #plan: SubtotalPlan;
  readonly #rows: RowSorter;
  /** Number of rows that were added to each level, with the groups last. */
  readonly #added: number[];

  constructor(context: OperatorContext, plan: SubtotalPlan) {
    const { types, levels } = plan;
    this.#context = context;
    this.#plan = plan;
    this.#added = [...levels, plan.groups].map(() => 0);
    const order = new SortKeys(context, this.#cellTerms());
    this.#rows = new RowSorter(context, [...types, ...numberTypes(levels.length + 1)], order);
  }

  /**
   * Adds rows of a level, in the order of the level's groups. The groups themselves are the level after all others.
   */
  add(batch: Batch, level: number): void {
    const { arena } = this.#context;
    const mark = arena.next;
    const marks = this.#plan.levels.map((_, index) => numbers(batch, () => (index === level ? 1 : 0)));
    const positions = numbers(batch, () => this.#added[level]!++);
    this.#rows.add(batch.withColumns([...batch.columns, ...marks, positions]));
    arena.release(mark);
  }

  /** Emits the rows in order. */
  *finish(next: Next): Steps {
    const { types, sorted } = this.#plan;
    const emit = (batch: Batch): Slices => next(batch.withColumns(batch.columns.slice(1, types.length + 1)));
    if (sorted) {
      yield* this.#rows.finish(emit);
      return;
    }
    const ordered = this.#positionSorter();
    yield* this.#rows.finish((batch) => {
      ordered.add(batch);
      return DONE;
    });
    yield* ordered.finish(emit);
  }

  /** Terms that sort by the group columns, with the mark of each level after its columns. */
  #cellTerms(): SortTerm[] {
    const { types, groups, levels, sorted } = this.#plan;
    const terms: SortTerm[] = [];
    for (let index = 0; index < groups; index++) {
      terms.push({ ...ASCENDING, index, type: columnTypeOf(types[index]!) });
      const level = levels.indexOf(index + 1);
      if (level >= 0) terms.push({ ...ASCENDING, index: types.length + level, type: 'number', descending: !sorted });
    }
    return terms;
  }

  /** Returns a sorter of the sorted rows, whose first column is their key. */
  #positionSorter(): { add(batch: Batch): void; finish(next: Next): Steps } {
    const { types, levels } = this.#plan;
    const [marks, position] = [types.length, types.length + levels.length];
    const terms = levels.flatMap((_, level) => [position + 1 + level, marks + level]);
    const keys = [...terms, position].map((index): SortTerm => ({ ...ASCENDING, index, type: 'number' }));
    const sorter = new RowSorter(
      this.#context,
      [...types, ...numberTypes(levels.length * 2 + 1)],
      new SortKeys(this.#context, keys),
    );
    const places = levels.map(() => 0);
    return {
      add: (batch) => {
        const { arena } = this.#context;
        const mark = arena.next;
        const rows = batch.withColumns(batch.columns.slice(1));
        const taken = takenPlaces(rows, marks, places);
        sorter.add(rows.withColumns([...rows.columns, ...taken]));
        arena.release(mark);
      },
      finish: (next) => sorter.finish(next),
    };
  }
}

/**
 * Returns the positions that the rows take over from the subtotals before them, one column for each level. `places` are
 * the positions of the last subtotals, and change.
 */
function takenPlaces(batch: Batch, marks: number, places: number[]): ColumnData[] {
  const cell = (index: number, row: number): number =>
    batch.heap.f64[((batch.columns[index] as TypedColumn).at >>> 3) + row]!;
  return places.map((_, level) =>
    numbers(batch, (row) => {
      if (cell(marks + level, row) === 1) places[level] = cell(marks + places.length, row);
      return places[level]!;
    }),
  );
}

function numberTypes(count: number): StoredType[] {
  return Array.from({ length: count }, () => 'number');
}

/** Creates a column of numbers for the live rows of a batch, called for each in order. */
function numbers(batch: Batch, cellOf: (row: number) => number): TypedColumn {
  const { arena } = batch;
  const [at, meta] = [arena.take(batch.rows * 8), arena.take(batch.rows)];
  const { f64, u8 } = arena.heap;
  u8.fill(0, meta, meta + batch.rows);
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    f64[(at >>> 3) + row] = cellOf(row);
  }
  return { kind: 'typed', type: 'number', at, meta, big: null };
}

// Sort keys that bring the rows of a group together in a given order, and keys that concatenate two other keys.

/**
 * Creates keys that bring the rows of each group together. Within a group, rows have the order of the terms, or source
 * order if there are no terms.
 */
export function groupOrder(context: OperatorContext, groups: readonly number[], terms: readonly SortTerm[]): RowOrder {
  const keys = new RowKeys(context, groups, 'exact');
  const order = new SortKeys(context, terms);
  return {
    prepare: (batch) => keys.prepare(batch),
    editLong: (batch, clock) => order.editLong(batch, clock),
    make(batch) {
      if (groups.length === 0) return order.make(batch);
      const left = keys.makeFilled(batch);
      if (left === 0 || terms.length === 0) return left;
      const right = order.make(batch);
      return right === 0 ? 0 : joinedKeys(context, batch, left, right);
    },
  };
}

/**
 * Returns views, by physical row, of the concatenated left and right keys, or 0 if the arena is full. The order is
 * correct if no left key is a prefix of another, which holds for group keys and sort keys.
 */
export function joinedKeys(
  { kernel }: Pick<OperatorContext, 'kernel'>,
  batch: Batch,
  left: number,
  right: number,
): number {
  const { arena, selection, live } = batch;
  const views = arena.tryTake(batch.rows * VIEW_BYTES);
  if (views === 0) return 0;
  const next = kernel.exports.joinKeys(left, right, selection, live, views, arena.next, arena.limit) >>> 0;
  if (next === 0) return 0;
  arena.next = next;
  return views;
}
