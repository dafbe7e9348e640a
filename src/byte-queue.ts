// Small byte strings that are kept until they expire (records of Runs, small outputs), packed into large blocks: one by
// one they would cost the collector as many objects and the allocator as many pieces. It does not count them.
// States of a block: filled → full → free (nothing of it is kept) → filled again. Left to the collector, the blocks of some
// thousand small Runs a second made it look through all that is old each second.

/** What is packed together expires together, so that a block is free soon after its first bytes are. */
const BLOCK_BYTES = 256 * 1024;

/** Free blocks that wait for their next use, at most: 10,000 small Runs a second free 20 of them with each sweep. */
const FREE_BLOCKS_MAX = 32;

/** No UTF-16 unit takes more bytes in UTF-8. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

/** Texts up to this, in UTF-16 units, get room for the most that they can take: measured first, they would be read twice. */
const UNMEASURED_LENGTH_MAX = 4 * 1024;

class Block {
  readonly bytes: Buffer;
  /** Stretches of it that are kept. */
  kept = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }
}

/** A stretch of a block until it is freed; only copies of it leave, so that nobody sees what comes there next. */
export class PackedBytes {
  readonly length: number;
  #packer: BytePacker;
  /** null: freed. */
  #block: Block | null;
  readonly #start: number;

  constructor(packer: BytePacker, block: Block, start: number, length: number) {
    this.#packer = packer;
    this.#block = block;
    this.#start = start;
    this.length = length;
    block.kept += 1;
  }

  /** A copy of the bytes from `start` to `end`. */
  copy(start = 0, end = this.length): Uint8Array {
    return Buffer.from(this.#whole().subarray(start, end));
  }

  text(): string {
    return this.#whole().toString('utf8');
  }

  /** Ends it: once, and nothing can be read any more. */
  free(): void {
    const block = this.#held();
    this.#block = null;
    block.kept -= 1;
    if (block.kept === 0) this.#packer.reuse(block);
  }

  #whole(): Buffer {
    return this.#held().bytes.subarray(this.#start, this.#start + this.length);
  }

  #held(): Block {
    if (this.#block === null) throw new Error('packed bytes were used after they had been freed');
    return this.#block;
  }
}

export class BytePacker {
  #block = new Block(0);
  #next = 0;
  #free: Block[] = [];

  pack(bytes: Uint8Array): PackedBytes {
    const start = this.#room(bytes.length);
    this.#block.bytes.set(bytes, start);
    return this.#kept(start, start + bytes.length);
  }

  /** Texts one after the other; put together first, they would be copied once more. */
  packTexts(texts: readonly string[]): PackedBytes {
    const start = this.#room(bytesMax(texts));
    let at = start;
    for (const text of texts) at += this.#block.bytes.write(text, at);
    return this.#kept(start, at);
  }

  /** Of a block of which nothing is kept any more. */
  reuse(block: Block): void {
    if (block === this.#block) this.#next = 0;
    else if (block.bytes.length === BLOCK_BYTES && this.#free.length < FREE_BLOCKS_MAX) this.#free.push(block);
  }

  #kept(start: number, end: number): PackedBytes {
    this.#next = end;
    return new PackedBytes(this, this.#block, start, end - start);
  }

  #room(bytes: number): number {
    if (this.#next + bytes > this.#block.bytes.length) {
      this.#block = (bytes <= BLOCK_BYTES ? this.#free.pop() : undefined) ?? new Block(Math.max(BLOCK_BYTES, bytes));
      this.#next = 0;
    }
    return this.#next;
  }
}

/** What the texts take in UTF-8 at most. */
function bytesMax(texts: readonly string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= UNMEASURED_LENGTH_MAX) return length * UTF8_BYTES_PER_UNIT_MAX;
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
