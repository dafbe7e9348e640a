// Where the finished pages of a row group lie until all its columns are complete: blocks of the Run's memory, which the next row
// group takes over.
import type { Heap } from '../../memory/heap.ts';

const BLOCK_BYTES = 262_144;

interface Block {
  readonly at: number;
  readonly bytes: number;
}

export class GroupMemory {
  readonly #heap: Heap;
  readonly #blocks: Block[] = [];
  /** The block that is written, and the first free byte in it. */
  #block = 0;
  #used = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Whether so many bytes are there, or could be had from the budget for state that grows. */
  tryReserve(bytes: number): boolean {
    let free = (this.#blocks[this.#block]?.bytes ?? 0) - this.#used;
    for (const block of this.#blocks.slice(this.#block + 1)) free += block.bytes;
    while (free < bytes) {
      const at = this.#heap.tryAllocate(BLOCK_BYTES);
      if (at === 0) return false;
      this.#blocks.push({ at, bytes: BLOCK_BYTES });
      free += BLOCK_BYTES;
    }
    return true;
  }

  /** Address of `bytes` bytes side by side; `keep` then says how many are needed. Throws MemoryWanted, Failed. */
  open(bytes: number): number {
    for (; this.#block < this.#blocks.length; this.#block++, this.#used = 0) {
      const block = this.#blocks[this.#block]!;
      if (block.bytes - this.#used >= bytes) return block.at + this.#used;
    }
    const size = Math.max(bytes, BLOCK_BYTES);
    this.#blocks.push({ at: this.#heap.allocate(size), bytes: size });
    this.#used = 0;
    return this.#blocks[this.#block]!.at;
  }

  /** Of what `open` gave. */
  keep(bytes: number): void {
    this.#used += bytes;
  }

  /** All are free again. */
  clear(): void {
    this.#block = 0;
    this.#used = 0;
  }
}
