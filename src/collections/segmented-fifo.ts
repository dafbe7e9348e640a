// A queue of byte ranges that are removed in the order in which they were added, such as ended Runs until they
// expire. The ranges are stored one after the other in large blocks; individually they would cost the garbage
// collector one object each and the allocator one allocation each. The content is not interpreted.
//
// States of a block: filled → full → empty (all entries removed) → filled again.

/**
 * Size of a block. The unused end of a block is not charged to the budget; with entries of 66 KiB, the largest usual
 * size, it is 3 %.
 */
const BLOCK_BYTES = 1024 * 1024;

/** Maximum number of empty blocks kept for reuse. At 10,000 small Runs per second, each sweep empties 5 blocks. */
const EMPTY_BLOCKS_MAX = 8;

/** The length of each entry, an unsigned integer, is stored before it. */
const LENGTH_BYTES = 4;

class Block {
  readonly number: number;
  readonly bytes: Buffer;
  filledBytes = 0;
  removedBytes = 0;
  /** The block that is removed after this one. */
  next: Block | null = null;

  constructor(number: number, lengthBytes: number) {
    this.number = number;
    this.bytes = Buffer.allocUnsafeSlow(lengthBytes);
  }
}

export class SegmentedFifo {
  /** Blocks by number; null: the number is free. */
  #blocks: (Block | null)[] = [];
  #freeNumbers: number[] = [];
  #empty: Block[] = [];
  #first: Block | null = null;
  #last: Block | null = null;

  /**
   * Adds an entry and returns its place, which is valid until the entry is removed. The entry's bytes are
   * uninitialised and may contain data of earlier entries.
   */
  add(lengthBytes: number): number {
    const bytes = LENGTH_BYTES + lengthBytes;
    let block = this.#last;
    if (block === null || block.filledBytes + bytes > block.bytes.length) block = this.#append(bytes);
    const start = block.filledBytes;
    block.bytes.writeUInt32LE(lengthBytes, start);
    block.filledBytes += bytes;
    // An entry longer than a block gets a separate block and starts at its beginning, so its place stays unambiguous.
    return block.number * BLOCK_BYTES + start;
  }

  /**
   * True if an entry of this size fits into the block of the last entry. A block stays readable until all its entries
   * have been removed.
   */
  fitsLastBlock(lengthBytes: number): boolean {
    const block = this.#last;
    return block !== null && block.filledBytes + LENGTH_BYTES + lengthBytes <= block.bytes.length;
  }

  /** The bytes of an entry, not a copy. Callers that keep them beyond the entry's removal must copy them. */
  at(place: number): Buffer {
    const { bytes } = this.#blocks[Math.floor(place / BLOCK_BYTES)]!;
    const start = (place % BLOCK_BYTES) + LENGTH_BYTES;
    return bytes.subarray(start, start + bytes.readUInt32LE(start - LENGTH_BYTES));
  }

  /** The place of the entry that is removed next; null: the queue is empty. */
  get first(): number | null {
    return this.#first === null ? null : this.#first.number * BLOCK_BYTES + this.#first.removedBytes;
  }

  /** Removes the first entry, if any. */
  removeFirst(): void {
    const block = this.#first;
    if (block === null) return;
    block.removedBytes += LENGTH_BYTES + block.bytes.readUInt32LE(block.removedBytes);
    if (block.removedBytes === block.filledBytes) this.#removeBlock(block);
  }

  #append(bytes: number): Block {
    const block = (bytes <= BLOCK_BYTES ? this.#empty.pop() : undefined) ?? this.#newBlock(bytes);
    if (this.#last === null) this.#first = block;
    else this.#last.next = block;
    this.#last = block;
    return block;
  }

  #newBlock(bytes: number): Block {
    const number = this.#freeNumbers.pop() ?? this.#blocks.length;
    const block = new Block(number, Math.max(BLOCK_BYTES, bytes));
    this.#blocks[number] = block;
    return block;
  }

  #removeBlock(block: Block): void {
    this.#first = block.next;
    if (this.#first === null) this.#last = null;
    block.next = null;
    block.filledBytes = 0;
    block.removedBytes = 0;
    if (block.bytes.length === BLOCK_BYTES && this.#empty.length < EMPTY_BLOCKS_MAX) this.#empty.push(block);
    else {
      this.#blocks[block.number] = null;
      this.#freeNumbers.push(block.number);
    }
  }
}
