// Small byte strings that are kept until they expire (records of Runs, small outputs), packed into large blocks: one by
// one they would cost the collector as many objects and the allocator as many pieces. It does not count them.

/** A block is freed by the collector once nothing of it is kept: what is packed together expires together. */
const BLOCK_BYTES = 256 * 1024;

/** A stretch of a block. Its bytes never change. */
export class PackedBytes {
  readonly #block: Buffer;
  readonly #start: number;
  readonly #end: number;

  constructor(block: Buffer, start: number, end: number) {
    this.#block = block;
    this.#start = start;
    this.#end = end;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** The bytes from `start` to `end`, where they lie. */
  slice(start = 0, end = this.length): Uint8Array {
    return this.#block.subarray(this.#start + start, this.#start + Math.min(end, this.length));
  }

  text(): string {
    return this.#block.toString('utf8', this.#start, this.#end);
  }
}

export class BytePacker {
  #block = Buffer.alloc(0);
  #next = 0;

  pack(bytes: Uint8Array): PackedBytes {
    const start = this.#room(bytes.length);
    this.#block.set(bytes, start);
    return new PackedBytes(this.#block, start, this.#next);
  }

  /** Texts one after the other; put together first, they would be copied once more. */
  packTexts(texts: readonly string[]): PackedBytes {
    let bytes = 0;
    for (const text of texts) bytes += Buffer.byteLength(text);
    const start = this.#room(bytes);
    let at = start;
    for (const text of texts) at += this.#block.write(text, at);
    return new PackedBytes(this.#block, start, at);
  }

  #room(bytes: number): number {
    if (this.#next + bytes > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes));
      this.#next = 0;
    }
    const start = this.#next;
    this.#next += bytes;
    return start;
  }
}
