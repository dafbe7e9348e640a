// Hands on the last row of each key, or those whose key no other row has, in order, when all rows have come: they are put aside
// as they are, with a bit for each that says whether it stays. When the budget refuses more keys they are sorted instead.
// States: hashed (keys are held) → sorted, or finished.
import type { Batch } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { PAUSE, type Slices, type Steps } from '../../run/time-slices.ts';
import type { SortAggregate } from '../aggregate/sort-aggregate.ts';
import { piecesOf } from '../cells/slices.ts';
import { RowStore } from '../spill/row-store.ts';
import { HashTable, type KeyList } from './hash-table.ts';
import type { RowKeys } from './row-keys.ts';

/** Rows read back at once. */
const ROWS_AT_ONCE = 2048;

/** Of a growing list at first. */
const WORDS_FIRST = 4096;

const WORD_BITS = 32;

const HASH_BYTES = 8;

export class LateDistinct implements Operator {
  readonly #context: OperatorContext;
  readonly #keys: RowKeys;
  readonly #keep: 'last' | 'none';
  readonly #known: HashTable;
  readonly #rows: RowStore;
  /** The last row of each key, by the number of the key. */
  readonly #lastRows: GrowingWords;
  /** A bit for each row: whether it stays. */
  readonly #stays: GrowingWords;
  readonly #makeSorted: () => SortAggregate;
  #sorted: SortAggregate | null = null;
  #taken = 0;

  /** @param makeSorted what does the same by sorting */
  constructor(context: OperatorContext, keys: RowKeys, keep: 'last' | 'none', makeSorted: () => SortAggregate) {
    const { heap } = context.arena;
    this.#context = context;
    this.#keys = keys;
    this.#keep = keep;
    this.#known = new HashTable(heap, context.kernel);
    this.#rows = new RowStore(context, storedTypes(context.input));
    this.#lastRows = new GrowingWords(heap);
    this.#stays = new GrowingWords(heap);
    this.#makeSorted = makeSorted;
  }

  *push(batch: Batch): Slices {
    if (this.#sorted !== null) {
      this.#sorted.add(batch);
      return;
    }
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const isTaken = this.#takeKeys(batch);
    this.#rows.add(batch);
    this.#taken += batch.live;
    if (!isTaken) yield* this.#sort();
  }

  *finish(): Steps {
    if (this.#sorted !== null) {
      yield* this.#sorted.finish(this.#context.next);
      return;
    }
    let row = 0;
    for (const batch of this.#readBack()) {
      const { arena } = this.#context;
      const selection = arena.take(batch.live * 4);
      const { u32 } = arena.heap;
      let live = 0;
      for (let position = 0; position < batch.live; position++, row++) {
        if (this.#stays.bit(row)) u32[(selection >>> 2) + live++] = batch.physicalRow(position);
      }
      if (live > 0) yield* this.#context.next(batch.withSelection(selection, live));
    }
  }

  /** Notes the keys of a batch; false when there is no memory for them. */
  #takeKeys(batch: Batch): boolean {
    this.#keys.prepare(batch);
    if (!this.#stays.reserve(Math.ceil((this.#taken + batch.live) / WORD_BITS))) return false;
    for (const piece of piecesOf(batch)) {
      const slice = this.#slice(batch, piece.from, piece.to);
      piece.isTooLarge = slice === null;
      if (slice === null) continue;
      const held = this.#known.count;
      let reached = this.#known.insert(slice);
      if (reached < slice.count) {
        this.#rows.putAside();
        reached = this.#known.insert(slice, reached);
      }
      if (reached < slice.count || !this.#lastRows.reserve(this.#known.count)) return false;
      this.#note(slice, this.#taken + piece.from, held);
    }
    return true;
  }

  /** Which rows stay, as far as is known. Keys from number `held` on are new. */
  #note({ ids, count }: KeyList, first: number, held: number): void {
    const { u32 } = this.#context.arena.heap;
    let known = held;
    for (let position = 0; position < count; position++) {
      const id = u32[(ids >>> 2) + position]!;
      const row = first + position;
      const isNew = id === known;
      if (isNew) known++;
      else this.#stays.clearBit(this.#lastRows.word(id));
      if (isNew || this.#keep === 'last') this.#stays.setBit(row);
      this.#lastRows.put(id, row);
    }
  }

  #slice(batch: Batch, from: number, to: number): KeyList | null {
    const { arena } = this.#context;
    const count = to - from;
    const rows = batch.selection + from * 4;
    const views = this.#keys.make(batch, rows, count);
    if (views === 0) return null;
    const hashes = arena.tryTake(count * HASH_BYTES);
    const ids = arena.tryTake(count * 4);
    if (hashes === 0 || ids === 0) return null;
    const slice = { views, rows, count, hashes, ids };
    this.#known.hash(slice);
    return slice;
  }

  /** Goes on by sorting, with all rows that have come. */
  *#sort(): Slices {
    const sorted = this.#makeSorted();
    this.#rows.putAside();
    this.#known.drop();
    this.#lastRows.drop();
    this.#stays.drop();
    for (const batch of this.#readBack()) {
      sorted.add(batch);
      if (this.#context.clock.isDue()) yield PAUSE;
    }
    this.#sorted = sorted;
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

/** A list of u32 words, all zero at first, in one region that grows. */
class GrowingWords {
  readonly #heap: Heap;
  #at: number;
  #words = WORDS_FIRST;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#at = heap.allocate(WORDS_FIRST * 4);
    heap.u8.fill(0, this.#at, this.#at + WORDS_FIRST * 4);
  }

  /** Makes room for so many; false when the budget refuses. */
  reserve(words: number): boolean {
    if (words <= this.#words) return true;
    const most = Math.max(words, this.#words * 2);
    const at = this.#heap.tryAllocate(most * 4);
    if (at === 0) return false;
    const { u8 } = this.#heap;
    u8.copyWithin(at, this.#at, this.#at + this.#words * 4);
    u8.fill(0, at + this.#words * 4, at + most * 4);
    this.drop();
    this.#at = at;
    this.#words = most;
    return true;
  }

  word(index: number): number {
    return this.#heap.u32[(this.#at >>> 2) + index]!;
  }

  put(index: number, value: number): void {
    this.#heap.u32[(this.#at >>> 2) + index] = value;
  }

  bit(index: number): boolean {
    return ((this.word(index >>> 5) >>> (index & 31)) & 1) === 1;
  }

  setBit(index: number): void {
    this.put(index >>> 5, this.word(index >>> 5) | (1 << (index & 31)));
  }

  clearBit(index: number): void {
    this.put(index >>> 5, this.word(index >>> 5) & ~(1 << (index & 31)));
  }

  /** Leaves its memory to others. */
  drop(): void {
    this.#heap.giveBack(this.#at, this.#words * 4);
  }
}
