// Ranges of bytes that are removed in the order in which they were added (Runs that have ended, until they expire), one
// behind the other in large blocks: one by one they would cost the collector as many objects and the allocator as many
// pieces. It does not know what is in them.
// States of a block: filled → full → empty (all of it was removed) → filled again.

/** What is left free at a block's end is charged to nobody: of entries of 66 KiB, the longest usual ones, 3 %. */
const BLOCK_BYTES = 1024 * 1024;

/** Empty blocks that keep their memory for their next use, at most: 10,000 small Runs a second empty 5 with each sweep. */
const EMPTY_BLOCKS_MAX = 8;

/** Before each entry, its length as an unsigned number. */
const LENGTH_BYTES = 4;

class Block {
  readonly number: number;
  readonly bytes: Buffer;
  filledBytes = 0;
  removedBytes = 0;
  /** The one that is removed after it. */
  next: Block | null = null;

  constructor(number: number, lengthBytes: number) {
    this.number = number;
    this.bytes = Buffer.allocUnsafeSlow(lengthBytes);
  }
}

export class SegmentedFifo {
  /** By number; null where the number is free. */
  #blocks: (Block | null)[] = [];
  #freeNumbers: number[] = [];
  #empty: Block[] = [];
  #first: Block | null = null;
  #last: Block | null = null;

  /** Adds an entry and returns its place, which is good until it is removed. What is in it is left over from others. */
  add(lengthBytes: number): number {
    const bytes = LENGTH_BYTES + lengthBytes;
    let block = this.#last;
    if (block === null || block.filledBytes + bytes > block.bytes.length) block = this.#append(bytes);
    const start = block.filledBytes;
    block.bytes.writeUInt32LE(lengthBytes, start);
    block.filledBytes += bytes;
    // An entry that is longer than a block has one of its own, and begins it.
    return block.number * BLOCK_BYTES + start;
  }

  /** Whether an entry of so many bytes goes where the last one is. What is there stays readable as long as any of it. */
  fitsBehindLast(lengthBytes: number): boolean {
    const block = this.#last;
    return block !== null && block.filledBytes + LENGTH_BYTES + lengthBytes <= block.bytes.length;
  }

  /** The bytes themselves: whoever keeps some of them beyond their removal takes a copy. */
  at(place: number): Buffer {
    const { bytes } = this.#blocks[Math.floor(place / BLOCK_BYTES)]!;
    const start = (place % BLOCK_BYTES) + LENGTH_BYTES;
    return bytes.subarray(start, start + bytes.readUInt32LE(start - LENGTH_BYTES));
  }

  /** The place of the entry that is removed next; null: there is none. */
  get first(): number | null {
    return this.#first === null ? null : this.#first.number * BLOCK_BYTES + this.#first.removedBytes;
  }

  /** Removes the first entry, if there is one. */
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
