// Sets of numbers that are joined (union-find with path halving), in the Run's memory: 4 bytes a number. Its first or last
// number stands for a set, whatever the order of joining.
import type { Heap } from '../../memory/heap.ts';
import type { Steps } from '../../run/time-slices.ts';

/** Numbers between two pauses. */
const COUNTED_AT_ONCE = 65_536;

export class DisjointSets {
  readonly #heap: Heap;
  readonly #numbers: number;
  readonly #byLast: boolean;
  /** u32 by number: a number of the same set, nearer to the one that stands for it, or that itself. */
  readonly #parents: number;
  /** u32 by number that stands for a set: how many are in it; 0 before they are counted. */
  #sizes = 0;

  /**
   * Each number below `numbers` alone.
   * @throws Failed RUN_RESOURCE_LIMIT, or MemoryWanted, where there is no memory for the table
   */
  constructor(heap: Heap, numbers: number, stands: 'first' | 'last') {
    this.#heap = heap;
    this.#numbers = numbers;
    this.#byLast = stands === 'last';
    this.#parents = heap.allocate(Math.max(1, numbers) * 4);
    const { u32 } = heap;
    for (let number = 0, at = this.#parents >>> 2; number < numbers; number++) u32[at + number] = number;
  }

  /** The number that stands for the set. */
  find(number: number): number {
    const { u32 } = this.#heap;
    const parents = this.#parents >>> 2;
    let current = number;
    for (let parent = u32[parents + current]!; parent !== current; parent = u32[parents + current]!) {
      const above = u32[parents + parent]!;
      u32[parents + current] = above;
      current = above;
    }
    return current;
  }

  join(one: number, other: number): void {
    const [a, b] = [this.find(one), this.find(other)];
    if (a === b) return;
    const stands = this.#byLast ? Math.max(a, b) : Math.min(a, b);
    this.#heap.u32[(this.#parents >>> 2) + (stands === a ? b : a)] = stands;
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
    const bytes = Math.max(1, this.#numbers) * 4;
    this.#heap.giveBack(this.#parents, bytes);
    if (this.#sizes !== 0) this.#heap.giveBack(this.#sizes, bytes);
  }
}
