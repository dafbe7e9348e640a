// Carries rows through the functions of `window`: sorted by group and order, forward, backward where a function needs the
// rows to come. What needs no sorting is not sorted, and only the columns are that the order and the functions read: whole rows
// are put aside and meet their new cells at the end, which are put at their places, or sorted by them.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Next, Operator, OperatorContext } from '../../operations/operation.ts';
import type { Slices, Steps } from '../../run/time-slices.ts';
import { groupOrder } from '../aggregate/group-order.ts';
import { byPlace, placeColumn } from '../sort/row-places.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import type { SortTerm } from '../sort/sort-keys.ts';
import { SortedGroups } from '../sort/sorted-groups.ts';
import { RowStore } from '../spill/row-store.ts';
import { rowsBetween } from '../spill/rows-between.ts';
import { PlacedCells } from './placed-cells.ts';
import { WindowDirection } from './window-direction.ts';
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
  readonly #marks: SortedGroups;
  readonly #width: number;
  readonly #forward: WindowDirection;
  readonly #backward: WindowDirection | null;
  readonly #sorter: RowSorter | null;
  readonly #reversed: RowSorter | null;
  readonly #madeTypes: readonly StoredType[];
  /** Whole rows, while their cells are made; null where rows go on at once. */
  readonly #rows: RowStore | null;
  /** Where the new cells wait for their rows: one of both. */
  #placed: PlacedCells | null = null;
  #back: RowSorter | null = null;
  #taken = 0;
  #seen = 0;

  constructor(context: OperatorContext, plan: WindowPlan) {
    const { groups, terms, columns, types: input } = plan;
    this.#context = context;
    this.#plan = plan;
    this.#marks = new SortedGroups(context, groups.length);
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
    this.#forward = new WindowDirection(context, carried, 'forward');
    this.#backward = looksAhead ? new WindowDirection(context, carried, 'backward') : null;
    const byGroup = groups.map(place);
    const byTerm = terms.map((term) => ({ ...term, index: place(term.index) }));
    this.#sorter = isSorted ? new RowSorter(context, [...reads, 'text'], groupOrder(context, byGroup, byTerm)) : null;
    const turned = this.#types.length;
    this.#reversed = looksAhead ? new RowSorter(context, [...this.#types, 'text'], byPlace(turned, false)) : null;
    this.#madeTypes = columns.map(({ function: { type } }) => type);
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
    if (this.#rows === null) return;
    this.#placed = PlacedCells.of(this.#context.arena.heap, this.#madeTypes, this.#taken);
    if (this.#placed === null) this.#back = this.#sorterBack();
    if (this.#sorter !== null) {
      yield* this.#sorter.finish((batch) => {
        const { starts, ties } = this.#marks.mark(batch);
        return this.#goForward(batch.withColumns(batch.columns.slice(1)), starts, ties);
      });
    }
    if (this.#reversed !== null) yield* this.#reversed.finish((batch) => this.#goBackward(batch));
    this.#rows.begin();
    if (this.#back === null) yield* this.#meetPlaced(this.#rows, this.#placed!);
    else {
      const rows = this.#rows;
      yield* this.#back.finish((batch) => this.#meet(rows, batch.withColumns(batch.columns.slice(1, -1))));
    }
    this.#rows.drop();
  }

  #sorterBack(): RowSorter {
    const types = [...this.#madeTypes, 'text' as const];
    return new RowSorter(this.#context, types, byPlace(types.length - 1, false));
  }

  /** @param made the new cells of rows, and behind them the rows' places */
  #keep(made: Batch): void {
    if (this.#placed !== null) {
      if (this.#placed.put(made)) return;
      this.#back = this.#sorterBack();
      for (const batch of this.#placed.batches(this.#context.arena)) this.#back.add(batch);
      this.#placed.drop();
      this.#placed = null;
    }
    this.#back!.add(made);
  }

  *#meetPlaced(rows: RowStore, placed: PlacedCells): Steps {
    const { arena } = this.#context;
    for (let from = 0; from < this.#taken; ) {
      const mark = arena.next;
      const some = rows.next(this.#taken - from);
      yield* this.#plan.next(some.withColumns([...some.columns, ...placed.columns(from, some.live)]));
      arena.release(mark);
      from += some.live;
      yield;
    }
    placed.drop();
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
      if (this.#rows === null) yield* this.#plan.next(batch.withColumns([...input, ...made]));
      else this.#keep(batch.withColumns([...made, place]));
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
    this.#keep(rows.withColumns([...made, place]));
  }

  /** Going backward: the row before was the first of its group. */
  #groupEnds = true;
}

/** The columns that the order and the functions read. */
function readsOf({ groups, terms, columns }: WindowPlan): number[] {
  const read = columns.flatMap(({ column, condition }) => [column, condition]).filter((index) => index >= 0);
  return [...new Set([...groups, ...terms.map(({ index }) => index), ...read])].sort((a, b) => a - b);
}

function startColumn(batch: Batch, starts: Uint8Array): ColumnData {
  const at = batch.arena.take(batch.rows * 8);
  const meta = batch.arena.take(batch.rows);
  for (let position = 0; position < batch.live; position++) {
    batch.heap.u8[meta + batch.physicalRow(position)] = starts[position]!;
  }
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}
