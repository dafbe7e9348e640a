// Groups rows that share any of several keys, with disjoint sets of row numbers, and emits one row per group.

import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { storedTypes } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import { checkMask, DONE, PAUSE, type Sliced, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { inSlices } from '../cells/cell-operator.ts';
import { unlistedRows } from '../cells/chosen-rows.ts';
import type { TextStep } from '../cells/text-chain.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortedGroups } from '../sort/top-of-groups.ts';
import { RowStore } from '../spill/row-store.ts';
import { HashTable, KEY_ABSENT, type KeyList } from './hash-table.ts';
import { blankRows, KeyShortener, type MatchLevel, matchSteps, RowKeys } from './row-keys.ts';

// Disjoint sets of numbers (union-find with path halving) in the Run's memory: 4 bytes per number, in blocks. The
// representative of a set is its first or last number, whatever the order of joining.

/** Numbers processed between two yields. */
const COUNTED_AT_ONCE = 65_536;

/** Numbers per block, as a power of two: 256 KiB. */
const BLOCK_BITS = 16;
const BLOCK_NUMBERS = 1 << BLOCK_BITS;

class DisjointSets {
  readonly #heap: Heap;
  readonly #byLast: boolean;
  #numbers = 0;
  /**
   * u32 indexes of blocks. Each entry is another number of the same set, nearer to the representative, or the
   * representative itself.
   */
  readonly #parents: number[] = [];
  /** Sizes of the sets (u32), indexed by representative. 0 before they are counted. */
  #sizes = 0;

  constructor(heap: Heap, stands: 'first' | 'last') {
    this.#heap = heap;
    this.#byLast = stands === 'last';
  }

  /**
   * Adds the next numbers, each as a separate set.
   * @throws Failed RUN_RESOURCE_LIMIT, or MemoryWanted, if there is no memory for the table
   */
  add(count: number): void {
    const end = this.#numbers + count;
    while (this.#parents.length * BLOCK_NUMBERS < end) this.#parents.push(this.#heap.allocate(BLOCK_NUMBERS * 4) >>> 2);
    const { u32 } = this.#heap;
    for (; this.#numbers < end; this.#numbers++) u32[this.#at(this.#numbers)] = this.#numbers;
  }

  /** Returns the representative of the set. */
  find(number: number): number {
    const { u32 } = this.#heap;
    let current = number;
    for (let at = this.#at(current), parent = u32[at]!; parent !== current; parent = u32[at]!) {
      const above = u32[this.#at(parent)]!;
      u32[at] = above;
      current = above;
      at = this.#at(current);
    }
    return current;
  }

  #at(number: number): number {
    return this.#parents[number >>> BLOCK_BITS]! + (number & (BLOCK_NUMBERS - 1));
  }

  join(one: number, other: number): void {
    const a = this.find(one);
    const b = this.find(other);
    if (a === b) return;
    const stands = this.#byLast ? Math.max(a, b) : Math.min(a, b);
    this.#heap.u32[this.#at(stands === a ? b : a)] = stands;
  }

  /** Counts the sizes of the sets, after the last join. */
  *count(): Steps {
    const bytes = Math.max(1, this.#numbers) * 4;
    this.#sizes = this.#heap.allocate(bytes);
    this.#heap.u8.fill(0, this.#sizes, this.#sizes + bytes);
    for (let number = 0; number < this.#numbers; number++) {
      this.#heap.u32[(this.#sizes >>> 2) + this.find(number)]!++;
      if (number % COUNTED_AT_ONCE === COUNTED_AT_ONCE - 1) yield;
    }
  }

  /** Returns the size of the set with this representative. */
  size(number: number): number {
    if (this.#sizes === 0) throw new Error('the size of a set is read before the sets have been counted');
    return this.#heap.u32[(this.#sizes >>> 2) + number]!;
  }

  drop(): void {
    for (const block of this.#parents) this.#heap.release(block * 4, BLOCK_NUMBERS * 4);
    if (this.#sizes !== 0) this.#heap.release(this.#sizes, Math.max(1, this.#numbers) * 4);
  }
}

// The position of the first row of each key, in a hash table: rows with the same key are joined as they arrive. If the
// budget refuses memory for more keys, rows of known keys are still joined, and the caller must sort the rows of all
// other keys. States: open (keys are added) → closed (keys are looked up).

/** Initial number of keys. */
const KEYS_FIRST = 1024;

class FirstPlaces {
  readonly #context: OperatorContext;
  readonly #keys: RowKeys;
  readonly #table: HashTable;
  /** Address of the positions (u32), indexed by key number. */
  #places: number;
  #keysMax = KEYS_FIRST;
  #isClosed = false;

  /** @param columns column indexes in the batches that form the key */
  constructor(context: OperatorContext, columns: readonly number[], match: MatchLevel) {
    this.#context = context;
    this.#keys = new RowKeys(context, columns, match);
    this.#table = new HashTable(context.arena.heap, context.kernel);
    this.#places = context.arena.heap.allocate(KEYS_FIRST * 4);
  }

  /**
   * Joins the positions of rows with those of the first rows of their keys. Returns the number of rows with unknown
   * keys, which are written to `left` (u32 physical rows).
   * @param batch rows that all have a key
   * @param places positions by physical row
   */
  *join(batch: Batch, places: Uint32Array, sets: DisjointSets, left: number): Sliced<number> {
    const { arena, clock } = this.#context;
    let leftCount = 0;
    this.#keys.prepare(batch);
    yield* this.#keys.editLong(batch, clock);
    inSlices(batch, (from, to) => {
      const count = to - from;
      const rows = batch.selection + from * 4;
      const views = this.#keys.make(batch, rows, count);
      const [hashes, ids] = [arena.tryTake(count * 8), arena.tryTake(count * 4)];
      if (views === 0 || hashes === 0 || ids === 0) return false;
      const known = this.#table.count;
      this.#number({ views, rows, count, hashes, ids });
      const { u32 } = arena.heap;
      const firsts = this.#places >>> 2;
      let next = known;
      for (let position = 0; position < count; position++) {
        const id = u32[(ids >>> 2) + position]!;
        const row = u32[(rows >>> 2) + position]!;
        if (id === KEY_ABSENT) u32[(left >>> 2) + leftCount++] = row;
        else if (id === next) u32[firsts + next++] = places[row]!;
        else sets.join(u32[firsts + id]!, places[row]!);
      }
      return true;
    });
    return leftCount;
  }

  drop(): void {
    this.#table.drop();
    this.#context.arena.heap.release(this.#places, this.#keysMax * 4);
  }

  /** Sets the key number of each row. New keys get numbers as they arrive, or KEY_ABSENT if there is no memory. */
  #number(list: KeyList): void {
    this.#table.hash(list);
    const reached =
      !this.#isClosed && this.#ensurePlaces(this.#table.count + list.count) ? this.#table.insert(list) : 0;
    if (reached === list.count) return;
    this.#isClosed = true;
    this.#table.find(list, reached);
  }

  #ensurePlaces(keys: number): boolean {
    if (keys <= this.#keysMax) return true;
    const { heap } = this.#context.arena;
    const keysMax = Math.max(keys, this.#keysMax * 2);
    const at = heap.tryAllocate(keysMax * 4);
    if (at === 0) return false;
    heap.u8.copyWithin(at, this.#places, this.#places + this.#table.count * 4);
    heap.release(this.#places, this.#keysMax * 4);
    this.#places = at;
    this.#keysMax = keysMax;
    return true;
  }
}

// Groups rows that share any of several keys, directly or through other rows, and emits one row per group in input
// order. The rows are stored, on disk if the budget refuses memory; a hash table joins rows with equal keys
// (union-find) as they arrive. Keys for which it has no memory are sorted, also on disk, and adjacent rows with equal
// keys are joined at the end. Only the sets, 4 bytes per row, are always in memory: without memory for them, the Run
// ends with RUN_RESOURCE_LIMIT. States: push (rows are stored, keys joined or stored) → finish (those keys are read,
// then the rows).

/** Number of rows emitted at once. */
const EMITTED_ROWS = 2048;

export interface LinkPlan {
  /** Indexes of the columns of each key. */
  readonly keys: readonly (readonly number[])[];
  readonly match: MatchLevel;
  readonly keep: 'first' | 'last' | 'none';
  /** True if the output has a column with the number of rows in each group. */
  readonly counts: boolean;
}

/** One of the keys. A row with a blank cell in it does not have this key. */
interface KeyOrder {
  readonly columns: readonly number[];
  readonly known: FirstPlaces;
  /** Sorts the unknown keys. Created when needed. */
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
  /** Columns of the batch from which keys are taken. */
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
      const blank = yield* blankRows(this.#context, batch, order.columns, this.#steps);
      const filled = blank.count === 0 ? batch : unlistedRows(batch, blank.rows, blank.count, this.#context.kernel);
      const left = arena.take(batch.live * 4);
      const count = yield* order.known.join(filled, placesByRow, this.#sets, left);
      if (count > 0) {
        order.sorter ??= this.#makeSorter(order.columns);
        yield* order.sorter.editLong(batch.withSelection(left, count));
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
      editLong: (batch, clock) => keys.editLong(batch.withColumns(this.#columns), clock),
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

  /** Emits the rows that represent their groups. */
  *#emit(batch: Batch, first: number, sets: DisjointSets): Slices {
    const { arena, clock, next } = this.#context;
    const selection = arena.take(batch.live * 4);
    const counts = new ColumnBuilder(arena, 'integer');
    while (this.#plan.counts && !counts.begin(batch.rows)) arena.enlarge(batch.rows * VIEW_BYTES * 2);
    let live = 0;
    const mask = checkMask(batch.live);
    for (let at = 0; at < batch.live; at++) {
      if ((at & mask) === mask && clock.isDue()) yield PAUSE;
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

  /** Inserts the count where the output has its column. */
  #withCounts(batch: Batch, counts: ColumnData): Batch {
    const { input, output } = this.#context;
    const columns = output.map(({ id }) => batch.columns[input.findIndex((column) => column.id === id)] ?? counts);
    return batch.withColumns(columns);
  }
}

/**
 * Returns a function that joins each row of sorted batches (keys and positions) with the previous row if the keys are
 * equal.
 */
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
