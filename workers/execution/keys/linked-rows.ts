// Groups of rows that share any of several keys, directly or through other rows: one row of each group is handed on, in the
// order of the input. The rows are put aside, on disk where the budget refuses memory; a hash table joins those with equal keys
// (union-find) as they come. Keys for which it has no room are sorted, on disk too, and rows with equal ones, which then stand side
// by side, are joined at the end. Only the joined places, 4 bytes a row, are always held: where there is no memory for them, the Run
// ends with RUN_RESOURCE_LIMIT.
// States: push (rows are put aside, keys joined or put aside) → finish (those keys are read, then rows).
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { storedTypes } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { DONE, PAUSE, type Slices, type Steps } from '../../run/time-slices.ts';
import type { TextStep } from '../cells/text-chain.ts';
import { unlistedRows } from '../cells/unlisted-rows.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortedGroups } from '../sort/sorted-groups.ts';
import { RowStore } from '../spill/row-store.ts';
import { blankRows } from './blank-rows.ts';
import { DisjointSets } from './disjoint-sets.ts';
import { FirstPlaces } from './first-places.ts';
import { KeyShortener } from './key-shortener.ts';
import { type MatchLevel, matchSteps } from './match-level.ts';
import { RowKeys } from './row-keys.ts';

/** Rows that are handed on at once. */
const EMITTED_ROWS = 2048;

export interface LinkPlan {
  /** Indexes of the columns of each key. */
  readonly keys: readonly (readonly number[])[];
  readonly match: MatchLevel;
  readonly keep: 'first' | 'last' | 'none';
  /** Whether the output has a column with the number of rows of each group. */
  readonly counts: boolean;
}

/** One key. A row with a blank cell in it has no such key. */
interface KeyOrder {
  readonly columns: readonly number[];
  readonly known: FirstPlaces;
  /** Of the keys that are not known; made when there are such. */
  sorter: RowSorter | null;
}

export class LinkedRows {
  readonly #context: OperatorContext;
  readonly #plan: LinkPlan;
  readonly #orders: readonly KeyOrder[];
  readonly #sets: DisjointSets;
  readonly #longKeys: KeyShortener;
  readonly #rows: RowStore;
  readonly #steps: readonly TextStep[];
  /** Columns of the batch whose keys are taken. */
  #columns: readonly ColumnData[] = [];
  #taken = 0;

  constructor(context: OperatorContext, plan: LinkPlan) {
    this.#context = context;
    this.#plan = plan;
    this.#rows = new RowStore(context, storedTypes(context.input));
    this.#steps = matchSteps(context.arena.heap, plan.match);
    this.#longKeys = new KeyShortener(context);
    this.#sets = new DisjointSets(context.arena.heap, plan.keep === 'last' ? 'last' : 'first');
    this.#orders = plan.keys.map((columns) => ({
      columns,
      known: new FirstPlaces(context, columns, plan.match),
      sorter: null,
    }));
  }

  *push(batch: Batch): Slices {
    const { arena } = batch;
    const mark = arena.next;
    this.#rows.add(batch);
    for (const index of this.#plan.keys.flat()) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    this.#columns = [...batch.columns];
    const places = new ColumnBuilder(arena, 'integer');
    while (!places.begin(batch.rows)) arena.enlarge(batch.rows * VIEW_BYTES * 2);
    const placesByRow = new Uint32Array(batch.rows);
    for (let at = 0; at < batch.live; at++) {
      const row = batch.physicalRow(at);
      placesByRow[row] = this.#taken;
      places.set(row, this.#taken++);
    }
    this.#sets.add(batch.live);
    for (const order of this.#orders) {
      const inner = arena.next;
      const blank = blankRows(this.#context, batch, order.columns, this.#steps);
      const filled = blank.count === 0 ? batch : unlistedRows(batch, blank.rows, blank.count, this.#context.kernel);
      const left = arena.take(batch.live * 4);
      const count = order.known.join(filled, placesByRow, this.#sets, left);
      if (count > 0) {
        order.sorter ??= this.#makeSorter(order.columns);
        order.sorter.add(batch.withSelection(left, count).withColumns([places.column]));
      }
      arena.release(inner);
      if (this.#context.clock.isDue()) yield PAUSE;
    }
    arena.release(mark);
  }

  #makeSorter(columns: readonly number[]): RowSorter {
    const keys = new RowKeys(this.#context, columns, this.#plan.match);
    return new RowSorter(this.#context, ['integer'], {
      prepare: (batch) => keys.prepare(batch.withColumns(this.#columns)),
      make: (batch) => this.#longKeys.shortened(batch, keys.makeFilled(batch.withColumns(this.#columns))),
    });
  }

  *finish(): Steps {
    const { keep, counts } = this.#plan;
    const sets = this.#sets;
    for (const { known, sorter } of this.#orders) {
      known.drop();
      if (sorter === null) continue;
      const link = linker(this.#context, sets);
      yield* sorter.finish((batch) => {
        link(batch);
        return DONE;
      });
    }
    if (keep === 'none' || counts) yield* sets.count();
    this.#rows.begin();
    for (let from = 0; from < this.#taken; ) {
      const { arena } = this.#context;
      const mark = arena.next;
      const some = this.#rows.next(Math.min(EMITTED_ROWS, this.#taken - from));
      yield* this.#emit(some, from, sets);
      from += some.live;
      arena.release(mark);
      yield;
    }
    this.#rows.drop();
    sets.drop();
  }

  /** The rows that stand for their groups. */
  *#emit(batch: Batch, first: number, sets: DisjointSets): Slices {
    const { arena, clock, next } = this.#context;
    const selection = arena.take(batch.live * 4);
    const counts = new ColumnBuilder(arena, 'integer');
    while (this.#plan.counts && !counts.begin(batch.rows)) arena.enlarge(batch.rows * VIEW_BYTES * 2);
    let live = 0;
    for (let at = 0; at < batch.live; at++) {
      if ((at & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
      const place = first + at;
      if (sets.find(place) !== place || (this.#plan.keep === 'none' && sets.size(place) > 1)) continue;
      const row = batch.physicalRow(at);
      arena.heap.u32[(selection >>> 2) + live++] = row;
      if (this.#plan.counts) counts.set(row, sets.size(place));
    }
    if (live === 0) return;
    const made = this.#plan.counts ? this.#withCounts(batch, counts.column) : batch;
    yield* next(made.withSelection(selection, live));
  }

  /** The count goes where the output has its column. */
  #withCounts(batch: Batch, counts: ColumnData): Batch {
    const { input, output } = this.#context;
    const columns = output.map(({ id }) => batch.columns[input.findIndex((column) => column.id === id)] ?? counts);
    return batch.withColumns(columns);
  }
}

/** Joins each row of sorted batches, keys and places, with the one before that has the same key. */
function linker(context: OperatorContext, sets: DisjointSets): (batch: Batch) => void {
  const groups = new SortedGroups(context, 0);
  let lastPlace = -1;
  return (batch) => {
    const places = batch.columns[1];
    if (places?.kind !== 'typed') throw new Error('places are typed');
    const { ties } = groups.mark(batch);
    const { i64 } = batch.heap;
    for (let at = 0; at < batch.live; at++) {
      const place = Number(i64[(places.at >>> 3) + batch.physicalRow(at)]);
      if (ties[at] === 1) sets.join(lastPlace, place);
      lastPlace = place;
    }
  };
}
