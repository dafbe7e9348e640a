// Memory of a Run that grows: blocks of records, and lists of words.
import type { Heap } from './heap.ts';

// Blocks of a Run's memory for records that are written consecutively. If the budget refuses another block, the owner
// empties all blocks and starts again with the first one.

/** Size of the first block, small for small files. */
const BLOCK_BYTES_FIRST = 262_144;

/**
 * Maximum size of later blocks. Each is as large as all previous blocks together, or a fraction of that, because each
 * growth of the memory costs milliseconds and eventually a garbage collection.
 */
const BLOCK_BYTES_MOST = 64 * 1024 * 1024;

/**
 * Minimum size of later blocks. A refused size is halved down to this minimum. After the blocks are emptied, this much
 * is allocated in any case.
 */
const BLOCK_BYTES_LEAST = 1024 * 1024;

const TAKEN_ALIGNMENT_BYTES = 16;

interface Block {
  readonly at: number;
  readonly limit: number;
}

export class GrowingBlocks {
  readonly #heap: Heap;
  readonly #part: number;
  readonly #blocks: Block[];
  #at = 0;
  #heldBytes = BLOCK_BYTES_FIRST;
  /** Address of the next record, set by the code that writes records. */
  next: number;

  /** @param part maximum size of another block as a fraction of the bytes already held */
  constructor(heap: Heap, part = 1) {
    this.#heap = heap;
    this.#part = part;
    const at = heap.allocate(BLOCK_BYTES_FIRST);
    this.#blocks = [{ at, limit: at + BLOCK_BYTES_FIRST }];
    this.next = at;
  }

  /** First address after the memory for records. REGION_PADDING_BYTES after it are still writable. */
  get limit(): number {
    return this.#blocks[this.#at]!.limit;
  }

  /** Moves to a block with more free memory. Returns false if the budget refuses one. */
  advance(): boolean {
    const { at, limit } = this.#blocks[this.#at]!;
    if (this.next === at) {
      // The record is larger than an empty block. If this is the only block, emptying the blocks would not help, so a
      // larger block is allocated in any case.
      const bytes = (limit - at) * 2;
      const larger = this.#at === 0 ? this.#heap.allocate(bytes) : this.#heap.tryAllocate(bytes);
      if (larger === 0) return false;
      this.#blocks[this.#at] = { at: larger, limit: larger + bytes };
      this.#heldBytes += bytes;
    } else {
      if (this.#at + 1 === this.#blocks.length && !this.#another()) return false;
      this.#at++;
    }
    this.next = this.#blocks[this.#at]!.at;
    return true;
  }

  /**
   * Allocates `bytes` bytes at a multiple of 16, stored like a record. Returns 0 if the budget refuses a block for
   * them.
   */
  take(bytes: number): number {
    for (;;) {
      const at = Math.ceil(this.next / TAKEN_ALIGNMENT_BYTES) * TAKEN_ALIGNMENT_BYTES;
      if (at + bytes <= this.limit) {
        this.next = at + bytes;
        return at;
      }
      if (!this.advance()) return 0;
    }
  }

  /** Adds a region that its owner has outgrown as another block. */
  adopt(at: number, bytes: number): void {
    this.#add(at, bytes);
  }

  /**
   * Takes over the blocks of `other`, before its own. The content of all blocks stays, so writing continues in a new
   * block.
   */
  absorb(other: GrowingBlocks): void {
    this.#blocks.unshift(...other.#blocks);
    this.#heldBytes += other.#heldBytes;
    this.#at = this.#blocks.length - 1;
    this.next = this.limit;
  }

  /** Marks all blocks as empty. */
  restart(): void {
    this.#at = 0;
    this.next = this.#blocks[0]!.at;
    if (this.#heldBytes < BLOCK_BYTES_LEAST) this.#add(this.#heap.allocate(BLOCK_BYTES_LEAST), BLOCK_BYTES_LEAST);
  }

  /** Releases all blocks, after which nothing may be written. Returns the number of bytes released. */
  release(): number {
    let bytes = 0;
    for (const { at, limit } of this.#blocks) {
      this.#heap.release(at, limit - at);
      bytes += limit - at;
    }
    return bytes;
  }

  #another(): boolean {
    const most = Math.min(BLOCK_BYTES_MOST, Math.max(BLOCK_BYTES_LEAST, Math.floor(this.#heldBytes * this.#part)));
    for (let bytes = most; bytes >= BLOCK_BYTES_LEAST; bytes = Math.floor(bytes / 2)) {
      const at = this.#heap.tryAllocate(bytes);
      if (at === 0) continue;
      this.#add(at, bytes);
      return true;
    }
    return false;
  }

  #add(at: number, bytes: number): void {
    this.#blocks.push({ at, limit: at + bytes });
    this.#heldBytes += bytes;
  }
}

// A list of u32 words in a Run's memory, initially zero, in one region that grows. Asks the budget for memory and
// reports a refusal.

/** Initial number of words. */
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

  /** Makes space for `words` words. Returns false if the budget refuses. */
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

  /** Address of the first word, valid until the next `reserve`. */
  get at(): number {
    return this.#at;
  }

  /** Releases the memory. */
  drop(): void {
    this.#heap.release(this.#at, this.#words * 4);
  }
}
