// Carries rows through the functions of `window`: sorted by group and order, forward, backward where a function needs the
// rows to come, and back to where they were. What needs no sorting is not sorted.
import type { Batch, ColumnData } from '../../batch.ts';
import { Failed } from '../../failure.ts';
import type { ColumnType } from '../../schema.ts';
import { CellReader } from '../cells/cell-values.ts';
import { ColumnBuilder } from '../cells/column-builder.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { Operator, OperatorContext } from '../operation.ts';
import { groupBytes, groupOrder } from '../rows/group-order.ts';
import { byPlace, placeColumn, viewsOf } from '../rows/row-places.ts';
import { RowSorter } from '../rows/row-sorter.ts';
import type { SortTerm } from '../rows/sort-keys.ts';
import type { WindowFunction } from './window-functions.ts';

export interface WindowColumn {
  readonly function: WindowFunction;
  /** Index of its column in the input, -1 for none. */
  readonly column: number;
  readonly columnType: ColumnType;
}

export interface WindowPlan {
  readonly groups: readonly number[];
  readonly terms: readonly SortTerm[];
  readonly columns: readonly WindowColumn[];
  /** Hands rows on with the new columns behind those of the input. */
  readonly next: (batch: Batch) => void;
}

/** Each batch that goes back has: the input, a cell of each function, whether a group begins, its place. */
export class WindowPass implements Operator {
  readonly #context: OperatorContext;
  readonly #plan: WindowPlan;
  readonly #types: readonly ColumnType[];
  readonly #width: number;
  readonly #forward: Direction;
  readonly #backward: Direction | null;
  readonly #sorter: RowSorter | null;
  readonly #reversed: RowSorter | null;
  readonly #back: RowSorter | null;
  #taken = 0;
  #seen = 0;
  #lastKey: Uint8Array | null = null;

  constructor(context: OperatorContext, plan: WindowPlan) {
    const input = context.input.map(({ type }) => type);
    const { groups, terms, columns } = plan;
    this.#context = context;
    this.#plan = plan;
    this.#width = input.length;
    const hidden = columns.map(({ function: made }) => made.hiddenType ?? made.type);
    this.#types = [...input, ...hidden, 'boolean', 'text'];
    this.#forward = new Direction(context, columns, 'forward');
    const looksAhead = columns.some(({ function: made }) => made.backward !== null);
    this.#backward = looksAhead ? new Direction(context, columns, 'backward') : null;
    const isSorted = groups.length + terms.length > 0;
    this.#sorter = isSorted ? new RowSorter(context, [...input, 'text'], groupOrder(context, groups, terms)) : null;
    const place = this.#types.length;
    this.#reversed = looksAhead ? new RowSorter(context, [...this.#types, 'text'], byPlace(place, false)) : null;
    const made = [...input, ...columns.map(({ function: { type } }) => type), 'text' as const];
    this.#back = isSorted || looksAhead ? new RowSorter(context, made, byPlace(made.length - 1, false)) : null;
  }

  push(batch: Batch): void {
    const { arena } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const places = placeColumn(arena, batch, this.#taken, false);
    this.#taken += batch.live;
    const placed = batch.withColumns([...batch.columns, places]);
    if (this.#sorter !== null) this.#sorter.add(placed);
    else {
      const starts = new Uint8Array(batch.live);
      if (this.#seen === 0) starts[0] = 1;
      this.#goForward(placed, starts, new Uint8Array(batch.live));
    }
    arena.release(mark);
  }

  *finish(): Iterable<void> {
    if (this.#sorter !== null) {
      yield* this.#sorter.finish((batch) => {
        const { starts, ties } = this.#compare(batch);
        this.#goForward(batch.withColumns(batch.columns.slice(1)), starts, ties);
      });
    }
    if (this.#reversed !== null) yield* this.#reversed.finish((batch) => this.#goBackward(batch));
    if (this.#back === null) return;
    yield* this.#back.finish((batch) => this.#plan.next(batch.withColumns(batch.columns.slice(1, -1))));
  }

  /** A batch of the input's columns and places. */
  #goForward(batch: Batch, starts: Uint8Array, ties: Uint8Array): void {
    const { arena } = this.#context;
    const mark = arena.next;
    const input = batch.columns.slice(0, this.#width);
    const place = batch.columns[this.#width]!;
    const made = this.#forward.columns(batch, starts, ties, -1);
    if (this.#reversed === null) {
      const rows = batch.withColumns([...input, ...made]);
      if (this.#back === null) this.#plan.next(rows);
      else this.#back.add(rows.withColumns([...rows.columns, place]));
    } else {
      const turned = placeColumn(arena, batch, this.#seen, true);
      const marks = startColumn(batch, starts);
      this.#reversed.add(batch.withColumns([...input, ...made, marks, place, turned]));
    }
    this.#seen += batch.live;
    arena.release(mark);
  }

  /** The last rows of the last group come first. */
  #goBackward(batch: Batch): void {
    const rows = batch.withColumns(batch.columns.slice(1, -1));
    const marks = rows.columns[this.#types.length - 2]!;
    if (marks.kind !== 'typed') throw new Error('marks are booleans');
    const starts = new Uint8Array(batch.live);
    for (let position = 0; position < batch.live; position++) {
      if (this.#groupEnds) starts[position] = 1;
      this.#groupEnds = batch.heap.u8[marks.meta + batch.physicalRow(position)] === 1;
    }
    const made = this.#backward!.columns(rows, starts, new Uint8Array(batch.live), this.#width);
    const place = rows.columns.at(-1)!;
    this.#back!.add(rows.withColumns([...rows.columns.slice(0, this.#width), ...made, place]));
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
  columns(batch: Batch, starts: Uint8Array, ties: Uint8Array, hidden: number): ColumnData[] {
    return this.#columns.map((column, index) => {
      const { type, hiddenType } = column.function;
      const step = column.function[this.#direction];
      const made = this.#direction === 'forward' ? (hiddenType ?? type) : type;
      if (step === null && this.#direction === 'backward') return batch.columns[hidden + index]!;
      if (step === null) return this.#build(batch, made, []);
      const before = hidden < 0 || hiddenType === null ? null : new CellReader(hiddenType, hidden + index);
      before?.bind(batch);
      this.#readers[index]?.bind(batch);
      const values: unknown[] = [];
      for (let position = 0; position < batch.live; position++) {
        const row = batch.physicalRow(position);
        if (starts[position] === 1) step.begin();
        const value = this.#readers[index]?.read(row) ?? null;
        values.push(step.next(value, before?.read(row) ?? null, ties[position] === 1));
      }
      return this.#build(batch, made, values);
    });
  }

  /** Values by position; null where there are none. */
  #build(batch: Batch, type: ColumnType, values: readonly unknown[]): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      let isFull = !builder.begin(batch.rows);
      for (let position = 0; position < values.length && !isFull; position++) {
        const value = values[position];
        const outcome = value instanceof CellFault ? value.code : builder.set(batch.physicalRow(position), value);
        isFull = outcome === 'full';
        if (outcome !== 'full' && outcome !== 'done')
          throw new Failed('TEMPLATE_ROW_ERROR', `window: ${outcome}: a sum is larger than a cell can be.`);
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}

function startColumn(batch: Batch, starts: Uint8Array): ColumnData {
  const at = batch.arena.take(batch.rows * 8);
  const meta = batch.arena.take(batch.rows);
  for (let position = 0; position < batch.live; position++) {
    batch.heap.u8[meta + batch.physicalRow(position)] = starts[position]!;
  }
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}
