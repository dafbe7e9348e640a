// Blocks of a Run's memory for records that are written one behind the other. When the budget refuses another block their
// holder empties them and starts again with the first.
import type { Heap } from './heap.ts';

/** The first is small for small files. */
const BLOCK_BYTES_FIRST = 262_144;

/** Later ones are as large as all before them, or a part of that: each growth of the memory costs milliseconds, and soon a garbage collection. */
const BLOCK_BYTES_MOST = 64 * 1024 * 1024;

/** One that is refused is tried smaller down to this. So much is taken all the same once the blocks are emptied. */
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
  /** Address of the next record, set by whoever writes it. */
  next: number;

  /** @param part of what is held already: what another block has of it at most */
  constructor(heap: Heap, part = 1) {
    this.#heap = heap;
    this.#part = part;
    const at = heap.allocate(BLOCK_BYTES_FIRST);
    this.#blocks = [{ at, limit: at + BLOCK_BYTES_FIRST }];
    this.next = at;
  }

  /** First address behind the room for records; REGION_PADDING_BYTES behind it are still writable. */
  get limit(): number {
    return this.#blocks[this.#at]!.limit;
  }

  /** Goes on to a block with more room than there is; false when the budget refuses one. */
  advance(): boolean {
    const { at, limit } = this.#blocks[this.#at]!;
    if (this.next === at) {
      // The record is larger than an empty block. When nothing else is held, emptying the blocks would not help it.
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

  /** So many bytes at a multiple of 16, which lie there as a record does; 0 when the budget refuses a block for them. */
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

  /** A region that its holder has outgrown is another block. */
  adopt(at: number, bytes: number): void {
    this.#add(at, bytes);
  }

  /** Has the blocks of `other` too, before its own. What lies in any of them stays: there is room only in another block. */
  absorb(other: GrowingBlocks): void {
    this.#blocks.unshift(...other.#blocks);
    this.#heldBytes += other.#heldBytes;
    this.#at = this.#blocks.length - 1;
    this.next = this.limit;
  }

  /** All blocks are empty again. */
  restart(): void {
    this.#at = 0;
    this.next = this.#blocks[0]!.at;
    if (this.#heldBytes < BLOCK_BYTES_LEAST) this.#add(this.#heap.allocate(BLOCK_BYTES_LEAST), BLOCK_BYTES_LEAST);
  }

  /** Gives all blocks back: nothing is written any more. Gives how many bytes those are. */
  giveBack(): number {
    let bytes = 0;
    for (const { at, limit } of this.#blocks) {
      this.#heap.giveBack(at, limit - at);
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
