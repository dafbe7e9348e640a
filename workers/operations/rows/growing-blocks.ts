// Blocks of a Run's memory for records that are written one behind the other. When the budget refuses another block their
// holder empties them and starts again with the first.
import { type Heap, REGION_PADDING_BYTES } from '../../heap.ts';

/** The first is small for small files. */
const BLOCK_BYTES_FIRST = 262_144;

/** Later ones are as large as all before them: each growth of the memory costs milliseconds, and soon a garbage collection. */
const BLOCK_BYTES_MOST = 64 * 1024 * 1024;

/** One that is refused is tried smaller down to this. So much is taken all the same once the blocks are emptied. */
const BLOCK_BYTES_LEAST = 1024 * 1024;

interface Block {
  readonly at: number;
  readonly limit: number;
  /** Of its region, with what was carved from it. */
  readonly bytes: number;
}

export class GrowingBlocks {
  readonly #heap: Heap;
  readonly #blocks: Block[];
  #at = 0;
  #heldBytes = BLOCK_BYTES_FIRST;
  /** Address of the next record, set by whoever writes it. */
  next: number;

  constructor(heap: Heap) {
    this.#heap = heap;
    const at = heap.allocate(BLOCK_BYTES_FIRST);
    this.#blocks = [{ at, limit: at + BLOCK_BYTES_FIRST, bytes: BLOCK_BYTES_FIRST }];
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
      this.#blocks[this.#at] = { at: larger, limit: larger + bytes, bytes };
      this.#heldBytes += bytes;
    } else {
      if (this.#at + 1 === this.#blocks.length && !this.#another(0)) return false;
      this.#at++;
    }
    this.next = this.#blocks[this.#at]!.at;
    return true;
  }

  /** A region of its own, at the cost of the room for records; 0 when the budget refuses it. */
  carve(bytes: number): number {
    const needed = bytes + REGION_PADDING_BYTES;
    const block = this.#blocks[this.#at]!;
    if (block.limit - this.next > needed) return this.#cut(block, this.#at, needed);
    if (!this.#another(needed)) return 0;
    const last = this.#blocks.length - 1;
    return this.#cut(this.#blocks[last]!, last, needed);
  }

  /** All blocks are empty again. */
  restart(): void {
    this.#at = 0;
    this.next = this.#blocks[0]!.at;
    if (this.#heldBytes < BLOCK_BYTES_LEAST) this.#add(this.#heap.allocate(BLOCK_BYTES_LEAST), BLOCK_BYTES_LEAST);
  }

  /** Gives all blocks back, with what was carved from them: nothing is written any more. Gives how many bytes those are. */
  giveBack(): number {
    for (const { at, bytes } of this.#blocks) this.#heap.giveBack(at, bytes);
    return this.#blocks.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #cut(block: Block, index: number, bytes: number): number {
    const cut = Math.floor((block.limit - bytes) / REGION_PADDING_BYTES) * REGION_PADDING_BYTES;
    this.#blocks[index] = { ...block, limit: cut };
    return cut + REGION_PADDING_BYTES;
  }

  #another(extraBytes: number): boolean {
    const most = Math.min(BLOCK_BYTES_MOST, Math.max(BLOCK_BYTES_LEAST, this.#heldBytes));
    for (let bytes = most; bytes >= BLOCK_BYTES_LEAST; bytes = Math.floor(bytes / 2)) {
      const at = this.#heap.tryAllocate(bytes + extraBytes);
      if (at === 0) continue;
      this.#add(at, bytes + extraBytes);
      return true;
    }
    return false;
  }

  #add(at: number, bytes: number): void {
    this.#blocks.push({ at, limit: at + bytes, bytes });
    this.#heldBytes += bytes;
  }
}
