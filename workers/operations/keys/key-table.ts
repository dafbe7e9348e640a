// A growing hash table of keys in the Run's memory: gives each different key a number, 0, 1, 2..., in the order in which
// they come. It asks the budget for room and says when it is refused; what then happens is its owner's business.
import { randomInt } from 'node:crypto';
import { VIEW_BYTES } from '../../batch.ts';
import type { Heap } from '../../heap.ts';
import type { Kernel } from '../../kernel/kernel.ts';

/** Slots at the start: 64 KiB, so that small files cost little. */
const SLOTS_FIRST = 4096;

const SLOT_BYTES = 16;

/** Slots in use at most, as a part of all: chains stay short and a slot's cache line mostly suffices. */
const LOAD_MOST = 0.5;

/** Up to here the table grows fourfold, then twofold: fewer moves while they are cheap, less waste when they are large. */
const SLOTS_FOURFOLD_MAX = 1 << 18;

/** Keys' bytes are taken in blocks: the first, and the largest of a table that is not yet large. */
const BLOCK_BYTES_FIRST = 65_536;
const BLOCK_BYTES_MOST = 4 * 1024 * 1024;

/**
 * A large table takes this part of what it has: each growth of a large memory makes the runtime collect garbage, which in blocks
 * of 4 MiB cost a sixth of the time of a dedupe of 200 MB. What a block does not use is never touched.
 */
const BLOCK_PART = 1 / 4;

/** An id that no key has. */
export const KEY_ABSENT = 0xffffffff;

const HEADER_BYTES = 32;
const HELD = 2;
const MOST = 3;
const NEXT = 4;
const LIMIT = 5;

interface Region {
  readonly at: number;
  readonly bytes: number;
}

/** The keys of a row list: views by physical row, and hashes (u64) and ids (u32) by position. */
export interface KeyList {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
  readonly hashes: number;
  readonly ids: number;
}

export class KeyTable {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #header: number;
  /** So that nobody can prepare a file whose keys all meet in one slot. Results do not depend on it. */
  readonly #seed = randomInt(2 ** 32);
  /** Regions for keys' bytes: those before `#block` are full. Outgrown slots become such regions. */
  readonly #blocks: Region[] = [];
  #block = 0;
  #slots: Region;
  /** Growth that may not be refused: where giving up would lead nowhere. */
  forced = false;

  constructor(heap: Heap, kernel: Kernel) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#header = heap.allocate(HEADER_BYTES);
    this.#slots = { at: heap.allocate(SLOTS_FIRST * SLOT_BYTES), bytes: SLOTS_FIRST * SLOT_BYTES };
    this.#blocks.push({ at: heap.allocate(BLOCK_BYTES_FIRST), bytes: BLOCK_BYTES_FIRST });
    this.clear();
  }

  /** Keys held. */
  get count(): number {
    return this.#heap.u32[(this.#header >>> 2) + HELD]!;
  }

  /** Forgets all keys; the memory stays for the next ones. */
  clear(): void {
    const { u8, u32 } = this.#heap;
    u8.fill(0, this.#slots.at, this.#slots.at + this.#slots.bytes);
    const slotCount = this.#slots.bytes / SLOT_BYTES;
    this.#block = 0;
    u32.set([this.#slots.at, slotCount - 1, 0, Math.floor(slotCount * LOAD_MOST)], this.#header >>> 2);
    this.#useBlock(0);
  }

  /** Hashes the keys and reads ahead the slots that they need. */
  hash(list: KeyList): void {
    const { exports } = this.#kernel;
    exports.hashViews(list.views, list.rows, list.count, this.#seed, list.hashes);
    exports.touchSlots(this.#header, list.hashes, list.count);
  }

  /**
   * Gives ids to the keys from position `from` on, new ones to new keys; `hash` comes first. Gives the position reached:
   * less than `list.count` when the budget refused to let the table grow.
   */
  insert(list: KeyList, from = 0): number {
    const { exports } = this.#kernel;
    for (let at = from; ; ) {
      at = exports.insertKeys(this.#header, list.views, list.rows, at, list.count, list.hashes, list.ids);
      if (at === list.count) return at;
      if (!this.#grow(list, at)) return at;
    }
  }

  /** Looks the keys up; those that are not there get KEY_ABSENT. */
  find(list: KeyList, from = 0): void {
    this.#kernel.exports.findKeys(this.#header, list.views, list.rows, from, list.count, list.hashes, list.ids);
  }

  #grow(list: KeyList, position: number): boolean {
    const { u32 } = this.#heap;
    if (this.count >= u32[(this.#header >>> 2) + MOST]!) return this.#growSlots();
    const row = u32[(list.rows >>> 2) + position]!;
    return this.#growKeys(u32[((list.views + row * VIEW_BYTES) >>> 2) + 1]!);
  }

  #growSlots(): boolean {
    const slotCount = this.#slots.bytes / SLOT_BYTES;
    for (const factor of slotCount <= SLOTS_FOURFOLD_MAX ? [4, 2] : [2]) {
      const bytes = this.#slots.bytes * factor;
      const at = this.#heap.tryAllocate(bytes, this.forced);
      if (at === 0) continue;
      this.#kernel.exports.moveSlots(this.#header, at, slotCount * factor);
      this.#heap.u32[(this.#header >>> 2) + MOST] = Math.floor(slotCount * factor * LOAD_MOST);
      this.#blocks.push(this.#slots);
      this.#slots = { at, bytes };
      return true;
    }
    return false;
  }

  #growKeys(keyBytes: number): boolean {
    for (let index = this.#block + 1; index < this.#blocks.length; index++) {
      if (this.#blocks[index]!.bytes < keyBytes) continue;
      this.#useBlock(index);
      return true;
    }
    const total = this.#blocks.reduce((sum, { bytes }) => sum + bytes, 0);
    const least = Math.max(keyBytes, Math.min(BLOCK_BYTES_MOST, total));
    for (const bytes of new Set([Math.max(least, Math.floor(total * BLOCK_PART)), least])) {
      // A table must be able to hold one key, however large.
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
    this.#heap.u32[(this.#header >>> 2) + NEXT] = at;
    this.#heap.u32[(this.#header >>> 2) + LIMIT] = at + bytes;
  }
}
