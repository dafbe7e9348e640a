// Sets of numbers that are joined (union-find with path halving), in the Run's memory: 4 bytes a number, in blocks. Its first or
// last number stands for a set, whatever the order of joining.
import type { Heap } from '../../memory/heap.ts';
import type { Steps } from '../../run/time-slices.ts';

/** Numbers between two pauses. */
const COUNTED_AT_ONCE = 65_536;

/** Numbers of a block, as a power of two: 256 KiB. */
const BLOCK_BITS = 16;
const BLOCK_NUMBERS = 1 << BLOCK_BITS;

export class DisjointSets {
  readonly #heap: Heap;
  readonly #byLast: boolean;
  #numbers = 0;
  /** u32 indexes of blocks, u32 by number: a number of the same set, nearer to the one that stands for it, or that itself. */
  readonly #parents: number[] = [];
  /** u32 by number that stands for a set: how many are in it; 0 before they are counted. */
  #sizes = 0;

  constructor(heap: Heap, stands: 'first' | 'last') {
    this.#heap = heap;
    this.#byLast = stands === 'last';
  }

  /**
   * Adds the next numbers, each alone.
   * @throws Failed RUN_RESOURCE_LIMIT, or MemoryWanted, where there is no memory for the table
   */
  add(count: number): void {
    const end = this.#numbers + count;
    while (this.#parents.length * BLOCK_NUMBERS < end) this.#parents.push(this.#heap.allocate(BLOCK_NUMBERS * 4) >>> 2);
    const { u32 } = this.#heap;
    for (; this.#numbers < end; this.#numbers++) u32[this.#at(this.#numbers)] = this.#numbers;
  }

  /** The number that stands for the set. */
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

  /** Counts the sets, when all are joined. */
  *count(): Steps {
    const bytes = Math.max(1, this.#numbers) * 4;
    this.#sizes = this.#heap.allocate(bytes);
    this.#heap.u8.fill(0, this.#sizes, this.#sizes + bytes);
    for (let number = 0; number < this.#numbers; number++) {
      this.#heap.u32[(this.#sizes >>> 2) + this.find(number)]!++;
      if (number % COUNTED_AT_ONCE === COUNTED_AT_ONCE - 1) yield;
    }
  }

  /** Of the set for which a number stands. */
  size(number: number): number {
    if (this.#sizes === 0) throw new Error('sets are counted before they are asked for their sizes');
    return this.#heap.u32[(this.#sizes >>> 2) + number]!;
  }

  drop(): void {
    for (const block of this.#parents) this.#heap.giveBack(block * 4, BLOCK_NUMBERS * 4);
    if (this.#sizes !== 0) this.#heap.giveBack(this.#sizes, Math.max(1, this.#numbers) * 4);
  }
}
