// Growing hash tables in the Run's memory: numbered keys with a cache of short keys, and sets of fingerprints.

import { randomFillSync, randomInt } from 'node:crypto';
import type { Batch } from '../../batch/batch.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  ABSENT,
  HELD_MAX,
  KEY_CACHE_BYTES,
  KEY_CACHE_KEYS_MAX,
  KEY_SLOT_BYTES,
  PRINT_BYTES,
  PRINT_SLOT_BYTES,
  REST_BYTES,
  TABLE_BYTES,
  TABLE_HELD,
  TABLE_HELD_MAX,
  TABLE_LIMIT,
  TABLE_MASK,
  TABLE_NEXT,
  TABLE_SLOTS,
} from '../../kernel/layout/keys.ts';
import type { Heap } from '../../memory/heap.ts';
import type { OperatorContext } from '../../template/operation.ts';

// The memory of a growing hash table: its slots, and blocks for the data to which they refer. The kernels that fill it
// stop if they lack space (kernel/assembly/keys.ts). This class then asks the budget for more and reports a refusal.

/** Initial number of slots, so that small files take little memory. */
const SLOTS_FIRST = 4096;

/** Maximum load factor: chains stay short, and the cache line of a slot is mostly sufficient. */
const LOAD_MOST = 0.5;

/**
 * Below this number of slots, the table grows fourfold, then twofold. A small table is moved less often, and a large
 * one wastes less memory.
 */
const SLOTS_FOURFOLD_MAX = 1 << 18;

/** Size of the first block, and of the largest block of a table that is not yet large. */
const BLOCK_BYTES_FIRST = 65_536;
const BLOCK_BYTES_MOST = 4 * 1024 * 1024;

/**
 * Size of a new block of a large table, relative to its current size. Each growth of a large memory triggers a garbage
 * collection of the runtime; with blocks of 4 MiB, this took a sixth of the time of a dedupe of 200 MB. Unused parts of
 * a block are never touched.
 */
const BLOCK_PART = 1 / 4;

interface Region {
  readonly at: number;
  readonly bytes: number;
}

/** Moves the entries of a table to another array of slots. */
export type MoveSlots = (header: number, slots: number, slotCount: number) => void;

class TableStorage {
  /** Address of the header, whose layout the kernels know. */
  readonly header: number;
  readonly #heap: Heap;
  readonly #slotBytes: number;
  readonly #move: MoveSlots;
  /** Blocks before `#block` are full. Outgrown slots become blocks. */
  readonly #blocks: Region[] = [];
  #block = 0;
  #slots: Region;
  /** True if the budget may not refuse growth, because the owner could not continue after a refusal. */
  forced = false;

  constructor(heap: Heap, slotBytes: number, move: MoveSlots) {
    this.#heap = heap;
    this.#slotBytes = slotBytes;
    this.#move = move;
    this.header = heap.allocate(TABLE_BYTES);
    this.#slots = { at: heap.allocate(SLOTS_FIRST * slotBytes), bytes: SLOTS_FIRST * slotBytes };
    this.#blocks.push({ at: heap.allocate(BLOCK_BYTES_FIRST), bytes: BLOCK_BYTES_FIRST });
    this.clear();
  }

  /** Number of entries in the table. */
  get count(): number {
    return this.#heap.u32[(this.header + TABLE_HELD) >>> 2]!;
  }

  /** Removes all entries and keeps the memory. */
  clear(): void {
    const { u8, u32 } = this.#heap;
    u8.fill(0, this.#slots.at, this.#slots.at + this.#slots.bytes);
    const slotCount = this.#slots.bytes / this.#slotBytes;
    u32[(this.header + TABLE_SLOTS) >>> 2] = this.#slots.at;
    u32[(this.header + TABLE_MASK) >>> 2] = slotCount - 1;
    u32[(this.header + TABLE_HELD) >>> 2] = 0;
    u32[(this.header + TABLE_HELD_MAX) >>> 2] = Math.floor(slotCount * LOAD_MOST);
    this.#useBlock(0);
  }

  /** Releases all memory. The object cannot be used afterwards. */
  drop(): void {
    for (const { at, bytes } of [this.#slots, ...this.#blocks]) this.#heap.release(at, bytes);
  }

  /** Makes space for one more entry, which needs `bytes` bytes of a block. Returns false if the budget refuses. */
  grow(bytes: number): boolean {
    if (this.count >= this.#heap.u32[(this.header + TABLE_HELD_MAX) >>> 2]!) return this.#growSlots();
    return this.#growBlocks(bytes);
  }

  #growSlots(): boolean {
    const slotCount = this.#slots.bytes / this.#slotBytes;
    for (const factor of slotCount <= SLOTS_FOURFOLD_MAX ? [4, 2] : [2]) {
      const bytes = this.#slots.bytes * factor;
      const at = this.#heap.tryAllocate(bytes, this.forced);
      if (at === 0) continue;
      this.#move(this.header, at, slotCount * factor);
      this.#heap.u32[(this.header + TABLE_HELD_MAX) >>> 2] = Math.floor(slotCount * factor * LOAD_MOST);
      this.#blocks.push(this.#slots);
      this.#slots = { at, bytes };
      return true;
    }
    return false;
  }

  #growBlocks(neededBytes: number): boolean {
    for (let index = this.#block + 1; index < this.#blocks.length; index++) {
      if (this.#blocks[index]!.bytes < neededBytes) continue;
      this.#useBlock(index);
      return true;
    }
    const total = this.#blocks.reduce((sum, { bytes }) => sum + bytes, 0);
    const least = Math.max(neededBytes, Math.min(BLOCK_BYTES_MOST, total));
    for (const bytes of new Set([Math.max(least, Math.floor(total * BLOCK_PART)), least])) {
      // A table must be able to hold at least one entry, however large.
      const at = this.#heap.tryAllocate(bytes, this.forced || this.count === 0);
      if (at === 0) continue;
      this.#blocks.push({ at, bytes });
      this.#useBlock(this.#blocks.length - 1);
      return true;
    }
    return false;
  }

  #useBlock(index: number): void {
    const { at, bytes } = this.#blocks[index]!;
    this.#block = index;
    this.#heap.u32[(this.header + TABLE_NEXT) >>> 2] = at;
    this.#heap.u32[(this.header + TABLE_LIMIT) >>> 2] = at + bytes;
  }
}

// A growing hash table of keys in the Run's memory. Each distinct key gets a number, 0, 1, 2..., in the order of
// arrival. It asks the budget for memory and reports a refusal; the owner decides what to do then.

/** An id that no key has. */
export const KEY_ABSENT = ABSENT;

/** Keys of a row list: views by physical row; hashes (u64) and ids (u32) by position. */
export interface KeyList {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
  readonly hashes: number;
  readonly ids: number;
}

export class HashTable {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #storage: TableStorage;
  /** Random, so that no file can be prepared whose keys collide. Results do not depend on it. */
  readonly #seed = randomInt(2 ** 32);

  constructor(heap: Heap, kernel: Kernel) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#storage = new TableStorage(heap, KEY_SLOT_BYTES, kernel.exports.moveSlots);
  }

  /** Number of keys in the table. */
  get count(): number {
    return this.#storage.count;
  }

  /** Sets whether the budget may not refuse growth. */
  set forced(forced: boolean) {
    this.#storage.forced = forced;
  }

  /** Removes all keys and keeps the memory. */
  clear(): void {
    this.#storage.clear();
  }

  /** Releases its memory. The table cannot be used afterwards. */
  drop(): void {
    this.#storage.drop();
  }

  /** Computes the hashes, and prefetches the slots that they need. */
  hash(list: KeyList): void {
    const { exports } = this.#kernel;
    exports.hashViews(list.views, list.rows, list.count, this.#seed, list.hashes);
    exports.touchSlots(this.#storage.header, list.hashes, list.count);
  }

  /**
   * Sets the ids of the keys from position `from` on, and adds new keys; `hash` must be called before. Returns the
   * position reached, which is less than `list.count` if the budget refused growth.
   */
  insert(list: KeyList, from = 0): number {
    const { exports } = this.#kernel;
    for (let at = from; ; ) {
      at = exports.insertKeys(this.#storage.header, list.views, list.rows, at, list.count, list.hashes, list.ids);
      if (at === list.count || !this.#storage.grow(this.#keyBytes(list, at))) return at;
    }
  }

  /** Looks up the keys. Keys that are not found get KEY_ABSENT. */
  find(list: KeyList, from = 0): void {
    this.#kernel.exports.findKeys(this.#storage.header, list.views, list.rows, from, list.count, list.hashes, list.ids);
  }

  #keyBytes({ rows, views }: KeyList, position: number): number {
    const { u32 } = this.#heap;
    const row = u32[(rows >>> 2) + position]!;
    return u32[((views + row * VIEW_BYTES) >>> 2) + 1]!;
  }
}

// A cache of short keys in front of a HashTable, because most rows of most groupings have one of a few keys. It only
// saves work: unknown keys are looked up in the table, and if most keys are unknown, the cache is no longer used.

/** Minimum number of rows in a batch. For smaller batches, as in small files, the cache is not worth its memory. */
const ROWS_MIN = 512;

/** Number of batches with fewer than half of the keys cached after which the cache is no longer used. */
const POOR_BATCHES_MAX = 4;

/** Rows with key numbers, by position. */
export interface NumberedRows {
  readonly rows: number;
  readonly count: number;
  readonly ids: number;
}

/** The rows with unknown keys, whose `ids` must be filled in. */
export interface MissedRows extends NumberedRows {
  /** Address of their positions among all rows, or 0 if these are all rows. */
  readonly at: number;
}

export class KeyCache {
  readonly #arena: OperatorContext['arena'];
  readonly #kernel: Kernel;
  readonly #columns: number;
  readonly #addresses: number;
  /** 0 before it is created. */
  #table = 0;
  #poorBatches = 0;

  /** @param columns number of leading columns of a batch that form the key. The cache works only if all are texts. */
  constructor({ arena, kernel }: Pick<OperatorContext, 'arena' | 'kernel'>, columns: number) {
    this.#arena = arena;
    this.#kernel = kernel;
    this.#columns = columns;
    this.#addresses = arena.heap.allocate(Math.max(1, columns) * 4);
  }

  /** Removes all keys, because numbers are assigned anew. */
  clear(): void {
    this.#poorBatches = 0;
    if (this.#table !== 0) this.#empty();
  }

  /** Releases its memory. The cache cannot be used afterwards. */
  drop(): void {
    if (this.#table !== 0) this.#arena.heap.release(this.#table, KEY_CACHE_BYTES);
  }

  /** Sets the `ids` of known keys and returns the other rows. Returns null if the arena is full. */
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

  /**
   * Copies the numbers of the missed rows to the list of all rows.
   * @param learns whether to add the keys to the cache
   */
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

// A growing set of keys in the Run's memory that only records which keys have occurred. It stores 128-bit fingerprints
// instead of keys: 12 bytes per key, and 16 to 32 for its slots, however long a key is. It asks the budget for memory
// and reports a refusal; the owner decides what to do then.
//
// Two different keys with equal fingerprints count as the same key. Fingerprints are SipHash-2-4 with random bits that
// differ for each set and never become visible. For any upload, the probability that n keys contain such a pair is n² /
// 2^129, which is 1.5e-23 for a hundred million keys. Undetected memory errors of the machine are far more frequent.

/** Id of keys that are not found. No new key gets it. */
export const PRINT_ABSENT = ABSENT;

/** Keys of a row list: views by physical row; fingerprints and ids (u32) by position. */
export interface PrintList {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
  readonly prints: number;
  readonly ids: number;
}

export class FingerprintSet {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #storage: TableStorage;
  readonly #secret: number;

  constructor(heap: Heap, kernel: Kernel) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#storage = new TableStorage(heap, PRINT_SLOT_BYTES, kernel.exports.movePrints);
    this.#secret = heap.allocate(PRINT_BYTES);
    randomFillSync(heap.u8, this.#secret, PRINT_BYTES);
  }

  /** Number of keys in the set. */
  get count(): number {
    return this.#storage.count;
  }

  /** Sets whether the budget may not refuse growth. */
  set forced(forced: boolean) {
    this.#storage.forced = forced;
  }

  /** Removes all keys and keeps the memory. */
  clear(): void {
    this.#storage.clear();
  }

  /** Computes the fingerprints, and prefetches the slots that they need. */
  fingerprint({ views, rows, count, prints }: PrintList): void {
    const { exports } = this.#kernel;
    exports.fingerprintViews(views, rows, count, this.#secret, prints);
    exports.touchPrints(this.#storage.header, prints, count);
  }

  /**
   * Adds the keys from position `from` on; `fingerprint` must be called before. New keys get consecutive ids. Returns
   * the position reached, which is less than `count` if the budget refused growth.
   */
  add({ prints, count, ids }: PrintList, from = 0): number {
    for (let at = from; ; ) {
      at = this.#kernel.exports.addPrints(this.#storage.header, prints, at, count, ids);
      if (at === count || !this.#storage.grow(REST_BYTES)) return at;
    }
  }

  /** Looks up the keys. Keys that are not found get PRINT_ABSENT. */
  find({ prints, count, ids }: PrintList, from = 0): void {
    this.#kernel.exports.findPrints(this.#storage.header, prints, from, count, ids);
  }

  /** Returns bits of the key at a position, for partitioning. */
  partition({ prints }: PrintList, position: number): number {
    return this.#heap.u32[(prints + position * PRINT_BYTES + 4) >>> 2]!;
  }
}
