// A list of u32 words in a Run's memory, all zero at first, in one region that grows. It asks the budget for room and says when
// it is refused.
import type { Heap } from './heap.ts';

/** Of a list at first. */
const WORDS_FIRST = 4096;

export class GrowingWords {
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

  /** Address of the first word, until room is made for more. */
  get at(): number {
    return this.#at;
  }

  /** Leaves its memory to others. */
  drop(): void {
    this.#heap.giveBack(this.#at, this.#words * 4);
  }
}
