// The numbers of short keys that come again and again, in front of a HashTable: most rows of most groupings have one of a
// few keys. It only ever saves work: what it does not know the table is asked, and where it knows little it steps aside.
import type { Batch } from '../../batch/batch.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { HELD_MAX, KEY_CACHE_BYTES, KEY_CACHE_KEYS_MAX } from '../../kernel/layout/key-cache.ts';
import type { OperatorContext } from '../../operations/operation.ts';

/** A batch with fewer rows, as small files have, is not worth the memory. */
const ROWS_MIN = 512;

/** Batches of which the table knew less than half, after which it is asked no more. */
const POOR_BATCHES_MAX = 4;

/** Numbers of rows, by position. */
export interface NumberedRows {
  readonly rows: number;
  readonly count: number;
  readonly ids: number;
}

/** The rows whose keys are not known: `ids` are to be filled in. */
export interface MissedRows extends NumberedRows {
  /** Their positions among all; 0: these are all. */
  readonly at: number;
}

export class KeyCache {
  readonly #arena: OperatorContext['arena'];
  readonly #kernel: Kernel;
  readonly #columns: number;
  readonly #addresses: number;
  /** 0: not made yet. */
  #table = 0;
  #poorBatches = 0;

  /** @param columns how many of a batch's first columns make the key; the table is of use where all are texts */
  constructor({ arena, kernel }: Pick<OperatorContext, 'arena' | 'kernel'>, columns: number) {
    this.#arena = arena;
    this.#kernel = kernel;
    this.#columns = columns;
    this.#addresses = arena.heap.allocate(Math.max(1, columns) * 4);
  }

  /** Forgets all: the numbers are given anew. */
  clear(): void {
    this.#poorBatches = 0;
    if (this.#table !== 0) this.#empty();
  }

  /** Leaves its memory to others; nobody asks it any more. */
  drop(): void {
    if (this.#table !== 0) this.#arena.heap.giveBack(this.#table, KEY_CACHE_BYTES);
  }

  /** Fills in the `ids` of keys that are known, and gives the others; null when the arena is full. */
  find(batch: Batch, all: NumberedRows): MissedRows | null {
    if (!this.#isOfUse(batch, all.count)) return { ...all, at: 0 };
    const arena = this.#arena;
    const [rows, at, ids] = [arena.tryTake(all.count * 4), arena.tryTake(all.count * 4), arena.tryTake(all.count * 4)];
    if (rows === 0 || at === 0 || ids === 0) return null;
    const { exports } = this.#kernel;
    const addresses = this.#placeColumns(batch);
    const count = exports.findCachedKeys(this.#table, addresses, this.#columns, all.rows, all.count, all.ids, rows, at);
    if (count * 2 > all.count) this.#poorBatches++;
    return { rows, count, ids, at };
  }

  /** Takes the numbers of those that were missed over into those of all. @param learns whether to know them from now on */
  settle(batch: Batch, missed: MissedRows, all: NumberedRows, learns: boolean): void {
    const { exports } = this.#kernel;
    if (missed.at === 0 || missed.count === 0) return;
    exports.scatter(missed.ids, missed.at, missed.count, all.ids);
    if (!learns) return;
    const addresses = this.#placeColumns(batch);
    exports.addCachedKeys(this.#table, addresses, this.#columns, missed.rows, missed.count, missed.ids);
  }

  #isOfUse(batch: Batch, count: number): boolean {
    if (this.#columns === 0 || this.#poorBatches >= POOR_BATCHES_MAX) return false;
    for (let index = 0; index < this.#columns; index++) if (batch.columns[index]!.kind !== 'views') return false;
    if (this.#table !== 0) return true;
    if (count < ROWS_MIN) return false;
    this.#table = this.#arena.heap.tryAllocate(KEY_CACHE_BYTES);
    if (this.#table === 0) this.#poorBatches = POOR_BATCHES_MAX;
    else this.#empty();
    return this.#table !== 0;
  }

  #empty(): void {
    const { u8, u32 } = this.#arena.heap;
    u8.fill(0, this.#table, this.#table + KEY_CACHE_BYTES);
    u32[(this.#table + HELD_MAX) >>> 2] = KEY_CACHE_KEYS_MAX;
  }

  #placeColumns(batch: Batch): number {
    const { u32 } = this.#arena.heap;
    for (let index = 0; index < this.#columns; index++) u32[(this.#addresses >>> 2) + index] = batch.views(index);
    return this.#addresses;
  }
}
