// Carries rows through the functions of `window`: sorted by group and order, forward, backward where a function needs the
// rows to come, and back to where they were. What needs no sorting is not sorted, and only the columns are that the order
// and the functions read: whole rows are put aside and meet their new cells at the end.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Next, Operator, OperatorContext } from '../../operations/operation.ts';
import { PAUSE, type Sliced, type Slices, type Steps } from '../../run/time-slices.ts';
import { groupBytes, groupOrder } from '../aggregate/group-order.ts';
import { setCell } from '../cells/set-cell.ts';
import { byPlace, placeColumn, viewsOf } from '../sort/row-places.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import type { SortTerm } from '../sort/sort-keys.ts';
import { RowStore } from '../spill/row-store.ts';
import { rowsBetween } from '../spill/rows-between.ts';
import type { WindowColumn } from './window-step.ts';

export interface WindowPlan {
  readonly groups: readonly number[];
  readonly terms: readonly SortTerm[];
  readonly columns: readonly WindowColumn[];
  /** Of the rows that come: those of the input, then of the conditions. */
  readonly types: readonly StoredType[];
  /** Hands rows on with the new columns behind those of the input and the conditions. */
  readonly next: Next;
}

/** Each batch that goes back has: the columns that are read, a cell of each function, whether a group begins, its place. */
export class WindowPass implements Operator {
  readonly #context: OperatorContext;
  readonly #plan: WindowPlan;
  readonly #types: readonly StoredType[];
  /** Columns of the input with the conditions that the sorters carry; all where nothing is sorted. */
  readonly #reads: readonly number[];
  readonly #width: number;
  readonly #forward: Direction;
  readonly #backward: Direction | null;
  readonly #sorter: RowSorter | null;
  readonly #reversed: RowSorter | null;
  readonly #back: RowSorter | null;
  /** Whole rows, while their cells are made. */
  readonly #rows: RowStore | null;
  #taken = 0;
  #seen = 0;
  #lastKey: Uint8Array | null = null;

  constructor(context: OperatorContext, plan: WindowPlan) {
    const { groups, terms, columns, types: input } = plan;
    this.#context = context;
    this.#plan = plan;
    const isSorted = groups.length + terms.length > 0;
    const looksAhead = columns.some(({ function: made }) => made.backward !== null);
    const isMoved = isSorted || looksAhead;
    this.#reads = isMoved ? readsOf(plan) : input.map((_, index) => index);
    this.#rows = isMoved ? new RowStore(context, input) : null;
    const reads = this.#reads.map((index) => input[index]!);
    const place = (index: number): number => (index < 0 ? -1 : this.#reads.indexOf(index));
    const carried = columns.map((made) => ({ ...made, column: place(made.column), condition: place(made.condition) }));
    this.#width = reads.length;
    const hidden = columns.map(({ function: made }) => made.hiddenType ?? made.type);
    this.#types = [...reads, ...hidden, 'boolean', 'text'];
    this.#forward = new Direction(context, carried, 'forward');
    this.#backward = looksAhead ? new Direction(context, carried, 'backward') : null;
    const byGroup = groups.map(place);
    const byTerm = terms.map((term) => ({ ...term, index: place(term.index) }));
    this.#sorter = isSorted ? new RowSorter(context, [...reads, 'text'], groupOrder(context, byGroup, byTerm)) : null;
    const turned = this.#types.length;
    this.#reversed = looksAhead ? new RowSorter(context, [...this.#types, 'text'], byPlace(turned, false)) : null;
    const made = [...columns.map(({ function: { type } }) => type), 'text' as const];
    this.#back = isMoved ? new RowSorter(context, made, byPlace(made.length - 1, false)) : null;
  }

  *push(batch: Batch): Slices {
    const { arena } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const places = placeColumn(arena, batch, this.#taken, false);
    this.#taken += batch.live;
    this.#rows?.add(batch);
    const placed = batch.withColumns([...this.#reads.map((index) => batch.columns[index]!), places]);
    if (this.#sorter !== null) this.#sorter.add(placed);
    else {
      const starts = new Uint8Array(batch.live);
      if (this.#seen === 0) starts[0] = 1;
      yield* this.#goForward(placed, starts, new Uint8Array(batch.live));
    }
    arena.release(mark);
  }

  *finish(): Steps {
    if (this.#sorter !== null) {
      yield* this.#sorter.finish((batch) => {
        const { starts, ties } = this.#compare(batch);
        return this.#goForward(batch.withColumns(batch.columns.slice(1)), starts, ties);
      });
    }
    if (this.#reversed !== null) yield* this.#reversed.finish((batch) => this.#goBackward(batch));
    if (this.#back === null) return;
    const rows = this.#rows!;
    rows.begin();
    yield* this.#back.finish((batch) => this.#meet(rows, batch.withColumns(batch.columns.slice(1, -1))));
    rows.drop();
  }

  /** Puts new cells, which are in the order of the rows again, behind the rows. */
  *#meet(rows: RowStore, made: Batch): Slices {
    const { arena } = this.#context;
    for (let from = 0; from < made.live; ) {
      const mark = arena.next;
      const some = rows.next(made.live - from);
      const cells = rowsBetween(made, from, from + some.live);
      yield* this.#plan.next(some.withColumns([...some.columns, ...cells.columns]));
      arena.release(mark);
      from += some.live;
    }
  }

  /** A batch of the input's columns and places. */
  *#goForward(batch: Batch, starts: Uint8Array, ties: Uint8Array): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    const input = batch.columns.slice(0, this.#width);
    const place = batch.columns[this.#width]!;
    const made = yield* this.#forward.columns(batch, starts, ties, -1);
    if (this.#reversed === null) {
      if (this.#back === null) yield* this.#plan.next(batch.withColumns([...input, ...made]));
      else this.#back.add(batch.withColumns([...made, place]));
    } else {
      const turned = placeColumn(arena, batch, this.#seen, true);
      const marks = startColumn(batch, starts);
      this.#reversed.add(batch.withColumns([...input, ...made, marks, place, turned]));
    }
    this.#seen += batch.live;
    arena.release(mark);
  }

  /** The last rows of the last group come first. */
  *#goBackward(batch: Batch): Slices {
    const rows = batch.withColumns(batch.columns.slice(1, -1));
    const marks = rows.columns[this.#types.length - 2]!;
    if (marks.kind !== 'typed') throw new Error('marks are booleans');
    const starts = new Uint8Array(batch.live);
    for (let position = 0; position < batch.live; position++) {
      if (this.#groupEnds) starts[position] = 1;
      this.#groupEnds = batch.heap.u8[marks.meta + batch.physicalRow(position)] === 1;
    }
    const made = yield* this.#backward!.columns(rows, starts, new Uint8Array(batch.live), this.#width);
    const place = rows.columns.at(-1)!;
    this.#back!.add(rows.withColumns([...made, place]));
  }

  /** Going backward: the row before was the first of its group. */
  #groupEnds = true;

  /** Where groups begin among sorted rows, and which rows are equal to the one before by group and order. */
  #compare(batch: Batch): { readonly starts: Uint8Array; readonly ties: Uint8Array } {
    const starts = new Uint8Array(batch.live);
    const ties = new Uint8Array(batch.live);
    const { u8, u32 } = batch.heap;
    const keys = viewsOf(batch.columns[0]!);
    let last = this.#lastKey;
    for (let position = 0; position < batch.live; position++) {
      const view = (keys >>> 2) + batch.physicalRow(position) * 2;
      const key = u8.subarray(u32[view]!, u32[view]! + u32[view + 1]!);
      const bytes = groupBytes(key, this.#plan.groups.length);
      if (last === null || Buffer.compare(key.subarray(0, bytes), last.subarray(0, bytes)) !== 0) starts[position] = 1;
      else if (Buffer.compare(key, last) === 0) ties[position] = 1;
      last = key;
    }
    this.#lastKey = last === null ? null : last.slice();
    return { starts, ties };
  }
}

/** The columns that the order and the functions read. */
function readsOf({ groups, terms, columns }: WindowPlan): number[] {
  const read = columns.flatMap(({ column, condition }) => [column, condition]).filter((index) => index >= 0);
  return [...new Set([...groups, ...terms.map(({ index }) => index), ...read])].sort((a, b) => a - b);
}

/** All functions in one direction. */
class Direction {
  readonly #context: OperatorContext;
  readonly #columns: readonly WindowColumn[];
  readonly #direction: 'forward' | 'backward';
  readonly #readers: readonly (CellReader | null)[];

  constructor(context: OperatorContext, columns: readonly WindowColumn[], direction: 'forward' | 'backward') {
    this.#context = context;
    this.#columns = columns;
    this.#direction = direction;
    this.#readers = columns.map(({ column, columnType }) => (column < 0 ? null : new CellReader(columnType, column)));
  }

  /** @param hidden index of the first column of the other direction, -1 for none */
  *columns(batch: Batch, starts: Uint8Array, ties: Uint8Array, hidden: number): Sliced<ColumnData[]> {
    const made: ColumnData[] = [];
    for (const index of this.#columns.keys()) {
      made.push(this.#column(index, batch, { starts, ties, hidden }));
      if (this.#context.clock.isDue()) yield PAUSE;
    }
    return made;
  }

  #column(
    index: number,
    batch: Batch,
    { starts, ties, hidden }: { readonly starts: Uint8Array; readonly ties: Uint8Array; readonly hidden: number },
  ): ColumnData {
    const column = this.#columns[index]!;
    const { type, hiddenType } = column.function;
    const step = column.function[this.#direction];
    const made = this.#direction === 'forward' ? (hiddenType ?? type) : type;
    if (step === null && this.#direction === 'backward') return batch.columns[hidden + index]!;
    if (step === null) return this.#build(batch, made, []);
    const before = hidden < 0 || hiddenType === null ? null : new CellReader(hiddenType, hidden + index);
    before?.bind(batch);
    const reader = this.#readers[index] ?? null;
    reader?.bind(batch);
    const conditions = column.condition < 0 ? -1 : conditionAt(batch, column.condition);
    const values: unknown[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      if (starts[position] === 1) step.begin();
      const counts = conditions < 0 || batch.heap.u8[conditions + row] === 1;
      // A function without a column counts rows.
      const value = !counts ? null : reader === null ? true : reader.read(row);
      values.push(step.next(value, before?.read(row) ?? null, ties[position] === 1));
    }
    return this.#build(batch, made, values);
  }

  /** Values by position; null where there are none. */
  #build(batch: Batch, type: StoredType, values: readonly unknown[]): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      let isFull = !builder.begin(batch.rows);
      for (let position = 0; position < values.length && !isFull; position++) {
        isFull = !setCell(builder, batch.physicalRow(position), values[position]);
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}

/** Where the booleans of a condition are, by physical row. */
function conditionAt(batch: Batch, index: number): number {
  const column = batch.columns[index]!;
  if (column.kind !== 'typed') throw new Error('conditions are booleans');
  return column.meta;
}

function startColumn(batch: Batch, starts: Uint8Array): ColumnData {
  const at = batch.arena.take(batch.rows * 8);
  const meta = batch.arena.take(batch.rows);
  for (let position = 0; position < batch.live; position++) {
    batch.heap.u8[meta + batch.physicalRow(position)] = starts[position]!;
  }
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}
