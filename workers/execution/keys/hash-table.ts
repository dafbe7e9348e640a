// A growing hash table of keys in the Run's memory: gives each different key a number, 0, 1, 2..., in the order in which
// they come. It asks the budget for room and says when it is refused; what then happens is its owner's business.
import { randomInt } from 'node:crypto';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { ABSENT, KEY_SLOT_BYTES } from '../../kernel/layout/keys.ts';
import type { Heap } from '../../memory/heap.ts';
import { TableStorage } from './table-storage.ts';

/** An id that no key has. */
export const KEY_ABSENT = ABSENT;

/** The keys of a row list: views by physical row, and hashes (u64) and ids (u32) by position. */
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
  readonly #room: TableStorage;
  /** So that nobody can prepare a file whose keys all meet in one slot. Results do not depend on it. */
  readonly #seed = randomInt(2 ** 32);

  constructor(heap: Heap, kernel: Kernel) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#room = new TableStorage(heap, KEY_SLOT_BYTES, kernel.exports.moveSlots);
  }

  /** Keys held. */
  get count(): number {
    return this.#room.count;
  }

  /** Growth that may not be refused from now on, or may. */
  set forced(forced: boolean) {
    this.#room.forced = forced;
  }

  /** Forgets all keys; the memory stays for the next ones. */
  clear(): void {
    this.#room.clear();
  }

  /** Leaves its memory to others; nobody asks it any more. */
  drop(): void {
    this.#room.drop();
  }

  /** Hashes the keys and reads ahead the slots that they need. */
  hash(list: KeyList): void {
    const { exports } = this.#kernel;
    exports.hashViews(list.views, list.rows, list.count, this.#seed, list.hashes);
    exports.touchSlots(this.#room.header, list.hashes, list.count);
  }

  /**
   * Gives ids to the keys from position `from` on, new ones to new keys; `hash` comes first. Gives the position reached:
   * less than `list.count` when the budget refused to let the table grow.
   */
  insert(list: KeyList, from = 0): number {
    const { exports } = this.#kernel;
    for (let at = from; ; ) {
      at = exports.insertKeys(this.#room.header, list.views, list.rows, at, list.count, list.hashes, list.ids);
      if (at === list.count || !this.#room.grow(this.#keyBytes(list, at))) return at;
    }
  }

  /** Looks the keys up; those that are not there get KEY_ABSENT. */
  find(list: KeyList, from = 0): void {
    this.#kernel.exports.findKeys(this.#room.header, list.views, list.rows, from, list.count, list.hashes, list.ids);
  }

  #keyBytes({ rows, views }: KeyList, position: number): number {
    const { u32 } = this.#heap;
    const row = u32[(rows >>> 2) + position]!;
    return u32[((views + row * VIEW_BYTES) >>> 2) + 1]!;
  }
}
