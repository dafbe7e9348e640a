// Rows that wait for all others of their key: they are put aside as they are, each with the number of its key, while something is
// gathered of each key; when all have come they go on, in their order, with what was gathered. When the budget has no room for
// more keys or for what is gathered of them, another operator gets all rows instead.
// States: numbered → handed over, or finished.
import type { Batch } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { PAUSE, type Pause, type Slices, type Steps } from '../../run/time-slices.ts';
import { piecesOf } from '../cells/slices.ts';
import { RowStore } from '../spill/row-store.ts';
import { HashTable } from './hash-table.ts';
import { KeyCache, type MissedRows, type NumberedRows as NumberedList } from './key-cache.ts';
import type { RowKeys } from './row-keys.ts';

/** Rows read back at once. */
const ROWS_AT_ONCE = 2048;

const HASH_BYTES = 8;

/** What is gathered of each key. */
export interface KeyFacts {
  /** Makes room for so many keys in all; false when the budget refuses. */
  reserve(keys: number): boolean;
  /** Takes rows with the numbers of their keys (u32 by position), the first of them row `first` of all. False: there was no room. */
  take(batch: Batch, list: NumberedList, first: number): boolean;
  /** All rows have come, of so many keys; false when there is no room for what comes of them. */
  settle?(keys: number): Generator<Pause | undefined, boolean>;
  /** Hands on rows that were read back, the first of them row `first`, with the numbers of their keys (f64 by position). */
  emit(batch: Batch, ids: number, first: number): Slices;
  /** Leaves its memory to others. */
  drop(): void;
}

export interface NumberedPlan {
  readonly types: readonly StoredType[];
  /** Columns that make the key, and the keys made of them: these take batches of those columns alone. */
  readonly key: readonly number[];
  readonly keys: RowKeys;
  /** Texts that are equal have equal keys, and other texts have others. */
  readonly isExact: boolean;
  readonly facts: KeyFacts;
  /** What does the same with less memory. */
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
    // Every row has its number: what comes behind may need the memory.
    this.#known.drop();
    this.#recent?.drop();
    let first = 0;
    for (const batch of this.#readBack()) {
      yield* facts.emit(batch, this.#rows.orders, first);
      first += batch.live;
    }
    facts.drop();
  }

  /** Gives rows the numbers of their keys; null when the arena is full. */
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

  /** Null when the arena is full, false when the budget refuses. */
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

  /** The other goes on, with all rows that have come. */
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

  /** All rows in their order, once. */
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
