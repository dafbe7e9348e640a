// The memory of a growing hash table: its slots, and blocks for what they point to. The kernels that fill it stop where they
// lack room (assembly/hash-table.ts, fingerprint-set.ts); this asks the budget for more and says when it is refused.
import {
  TABLE_BYTES,
  TABLE_HELD,
  TABLE_HELD_MAX,
  TABLE_LIMIT,
  TABLE_MASK,
  TABLE_NEXT,
  TABLE_SLOTS,
} from '../../kernel/layout/keys.ts';
import type { Heap } from '../../memory/heap.ts';

/** Slots at the start, so that small files cost little. */
const SLOTS_FIRST = 4096;

/** Slots in use at most, as a part of all: chains stay short and a slot's cache line mostly suffices. */
const LOAD_MOST = 0.5;

/** Up to here the table grows fourfold, then twofold: fewer moves while they are cheap, less waste when they are large. */
const SLOTS_FOURFOLD_MAX = 1 << 18;

/** Blocks: the first, and the largest of a table that is not yet large. */
const BLOCK_BYTES_FIRST = 65_536;
const BLOCK_BYTES_MOST = 4 * 1024 * 1024;

/**
 * A large table takes this part of what it has: each growth of a large memory makes the runtime collect garbage, which in blocks
 * of 4 MiB cost a sixth of the time of a dedupe of 200 MB. What a block does not use is never touched.
 */
const BLOCK_PART = 1 / 4;

interface Region {
  readonly at: number;
  readonly bytes: number;
}

/** Moves what a table holds to another array of slots. */
export type MoveSlots = (header: number, slots: number, slotCount: number) => void;

export class TableStorage {
  /** Address of the header, which the kernels know. */
  readonly header: number;
  readonly #heap: Heap;
  readonly #slotBytes: number;
  readonly #move: MoveSlots;
  /** Those before `#block` are full. Outgrown slots become such regions. */
  readonly #blocks: Region[] = [];
  #block = 0;
  #slots: Region;
  /** Growth that may not be refused: where giving up would lead nowhere. */
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

  /** What the table holds. */
  get count(): number {
    return this.#heap.u32[(this.header + TABLE_HELD) >>> 2]!;
  }

  /** Forgets all; the memory stays. */
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

  /** Leaves all of its memory to others; it is of no use any more. */
  drop(): void {
    for (const { at, bytes } of [this.#slots, ...this.#blocks]) this.#heap.giveBack(at, bytes);
  }

  /** Makes room for one more, which needs so many bytes of a block; false when the budget refuses. */
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
      // A table must be able to hold one, however large.
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
