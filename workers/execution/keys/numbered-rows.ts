// Rows that wait for all other rows of their key, and the selection of rows by key when the decision needs all rows.
import type { Batch } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import { GrowingWords } from '../../memory/growing-blocks.ts';
import { PAUSE, type Pause, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { piecesOf } from '../cells/cell-operator.ts';
import { RowStore } from '../spill/row-store.ts';
import { HashTable, KeyCache, type MissedRows, type NumberedRows as NumberedList } from './hash-table.ts';
import type { RowKeys } from './row-keys.ts';

// Rows that wait for all other rows of their key: they are stored with the number of their key while facts about each
// key are collected. After the last row, they are emitted in order with these facts. If the budget refuses memory for
// more keys or facts, another operator gets all rows instead. States: numbered → handed over, or finished.

/** Number of rows read back at once. */
const ROWS_AT_ONCE = 2048;

const HASH_BYTES = 8;

/** Facts that are collected for each key. */
export interface KeyFacts {
  /** Provides memory for `keys` keys in total. Returns false if the budget refuses. */
  reserve(keys: number): boolean;
  /**
   * Adds rows with their key numbers (u32 by position). `first` is the number of the first row among all rows. Returns
   * false if there was no memory.
   */
  take(batch: Batch, list: NumberedList, first: number): boolean;
  /** Called after the last row. Returns false if there is no memory for the result. */
  settle?(keys: number): Generator<Pause | undefined, boolean>;
  /**
   * Emits rows that were read back, with their key numbers (f64 by position). `first` is the number of the first of
   * them.
   */
  emit(batch: Batch, ids: number, first: number): Slices;
  /** Releases its memory. */
  drop(): void;
}

export interface NumberedPlan {
  readonly types: readonly StoredType[];
  /** Columns that form the key, and the keys computed from batches of only these columns. */
  readonly key: readonly number[];
  readonly keys: RowKeys;
  /** True if two texts have equal keys only if they are identical. */
  readonly isExact: boolean;
  readonly facts: KeyFacts;
  /** Creates an operator that does the same with less memory. */
  other(): Operator;
}

export class NumberedRows implements Operator {
  readonly #context: OperatorContext;
  readonly #plan: NumberedPlan;
  readonly #known: HashTable;
  readonly #recent: KeyCache | null;
  readonly #rows: RowStore;
  #other: Operator | null = null;
  #taken = 0;

  constructor(context: OperatorContext, plan: NumberedPlan) {
    this.#context = context;
    this.#plan = plan;
    this.#known = new HashTable(context.arena.heap, context.kernel);
    this.#recent = plan.isExact ? new KeyCache(context, plan.key.length) : null;
    this.#rows = new RowStore(context, plan.types);
  }

  *push(batch: Batch): Slices {
    if (this.#other !== null) {
      yield* this.#other.push(batch);
      return;
    }
    const { arena } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const key = batch.withColumns(this.#plan.key.map((index) => batch.columns[index]!));
    this.#plan.keys.prepare(key);
    yield* this.#plan.keys.editLong(key, this.#context.clock);
    const mark = arena.next;
    const ids = arena.take(batch.live * HASH_BYTES);
    let isTaken = true;
    for (const piece of piecesOf(batch)) {
      const list = this.#number(key, piece.from, piece.to);
      piece.isTooLarge = list === null;
      if (list === null) continue;
      isTaken = list !== 'refused' && this.#plan.facts.take(batch, list, this.#taken + piece.from);
      if (!isTaken || list === 'refused') break;
      const { u32, f64 } = arena.heap;
      for (let at = 0; at < list.count; at++) {
        f64[(ids >>> 3) + piece.from + at] = u32[(list.ids >>> 2) + at]!;
      }
    }
    this.#rows.add(batch, ids);
    this.#taken += batch.live;
    arena.release(mark);
    if (!isTaken) yield* this.#handOver();
  }

  *finish(): Steps {
    const { facts } = this.#plan;
    const settles = this.#other === null ? facts.settle?.(this.#known.count) : undefined;
    if (settles !== undefined && !(yield* settles)) yield* this.#handOver();
    if (this.#other !== null) {
      yield* this.#other.finish?.() ?? [];
      return;
    }
    // Every row now has its key number. The table is released because the following steps may need the memory.
    this.#known.drop();
    this.#recent?.drop();
    let first = 0;
    for (const batch of this.#readBack()) {
      yield* facts.emit(batch, this.#rows.orders, first);
      first += batch.live;
    }
    facts.drop();
  }

  /** Sets the key numbers of rows. Returns null if the arena is full. */
  #number(key: Batch, from: number, to: number): NumberedList | 'refused' | null {
    const { arena } = this.#context;
    const count = to - from;
    const all = { rows: key.selection + from * 4, count, ids: arena.tryTake(count * 4) };
    if (all.ids === 0) return null;
    const missed = this.#recent === null ? { ...all, at: 0 } : this.#recent.find(key, all);
    if (missed === null) return null;
    const isKnown = missed.count === 0 || this.#insert(key, missed);
    if (isKnown === null) return null;
    if (!isKnown) return 'refused';
    this.#recent?.settle(key, missed, all, true);
    return all;
  }

  /** Returns null if the arena is full, and false if the budget refuses. */
  #insert(batch: Batch, { rows, count, ids }: MissedRows): boolean | null {
    const { arena } = this.#context;
    const { keys, key, facts } = this.#plan;
    const views = key.length === 0 ? keys.makeFilled(batch.withSelection(rows, count)) : keys.make(batch, rows, count);
    if (views === 0) return null;
    const hashes = arena.tryTake(count * HASH_BYTES);
    if (hashes === 0) return null;
    const list = { views, rows, count, hashes, ids };
    this.#known.hash(list);
    let reached = this.#known.insert(list);
    if (reached < count) {
      this.#rows.putAside();
      reached = this.#known.insert(list, reached);
    }
    if (reached < count) return false;
    if (facts.reserve(this.#known.count)) return true;
    this.#rows.putAside();
    return facts.reserve(this.#known.count);
  }

  /** The other operator takes over, with all rows so far. */
  *#handOver(): Slices {
    this.#rows.putAside();
    this.#known.drop();
    this.#recent?.drop();
    this.#plan.facts.drop();
    const other = this.#plan.other();
    for (const batch of this.#readBack()) {
      yield* other.push(batch);
      if (this.#context.clock.isDue()) yield PAUSE;
    }
    this.#other = other;
  }

  /** Iterates over all rows in order, once. */
  *#readBack(): Generator<Batch, void, undefined> {
    const { arena } = this.#context;
    this.#rows.begin();
    for (let left = this.#taken; left > 0; ) {
      const mark = arena.next;
      const batch = this.#rows.next(Math.min(left, ROWS_AT_ONCE));
      left -= batch.live;
      yield batch;
      arena.release(mark);
    }
    this.#rows.drop();
  }
}

// Selects rows by key if the decision requires all rows: the last row of each key, or the only one. Stores one word per
// key.

/** Values of a key's word if only rows with a unique key are kept. */
const ALONE = 1;
const SEVERAL = 2;

export class LateDistinct implements KeyFacts {
  readonly #context: OperatorContext;
  readonly #keep: 'last' | 'none';
  /** Indexed by key number: its last row, or whether it has one row or several. */
  readonly #words: GrowingWords;

  constructor(context: OperatorContext, keep: 'last' | 'none') {
    this.#context = context;
    this.#keep = keep;
    this.#words = new GrowingWords(context.arena.heap);
  }

  reserve(keys: number): boolean {
    return this.#words.reserve(keys);
  }

  take(_batch: Batch, { ids, count }: NumberedList, first: number): boolean {
    const { u32 } = this.#context.arena.heap;
    const words = this.#words.at >>> 2;
    if (this.#keep === 'last') {
      for (let at = 0; at < count; at++) u32[words + u32[(ids >>> 2) + at]!] = first + at;
      return true;
    }
    for (let at = 0; at < count; at++) {
      const word = words + u32[(ids >>> 2) + at]!;
      u32[word] = u32[word] === 0 ? ALONE : SEVERAL;
    }
    return true;
  }

  *emit(batch: Batch, ids: number, first: number): Slices {
    const { arena, next } = this.#context;
    const selection = arena.take(batch.live * 4);
    const { u32, f64 } = arena.heap;
    const words = this.#words.at >>> 2;
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      const word = u32[words + f64[(ids >>> 3) + position]!]!;
      if (word === (this.#keep === 'last' ? first + position : ALONE)) {
        u32[(selection >>> 2) + live++] = batch.physicalRow(position);
      }
    }
    if (live > 0) yield* next(batch.withSelection(selection, live));
  }

  drop(): void {
    this.#words.drop();
  }
}
