// A file that is written behind the back of who writes it: a full block is on its way to the system while the next one is
// filled. One block at a time is under way; where the system is slower than the writer, the writer writes itself.
// States of the file: open, closed (finished, or abandoned and nothing under way).
import { close, closeSync, openSync, write, writeSync } from 'node:fs';

/** A write of this size costs little beside its bytes; two such blocks are part of a Run's reservation (budget.ts). */
export const WRITE_BLOCK_BYTES = 262_144;

/**
 * A block that is full before the one on its way has arrived: all processors are busy. So many are then written at once, which
 * costs less processor time (a tenth of that of a selection), before another goes its way.
 */
const BLOCKS_AFTER_MISS = 16;

export class WriteBehind {
  readonly #descriptor: number;
  /** The block that is being filled, and how far. */
  #block: Buffer = Buffer.allocUnsafeSlow(WRITE_BLOCK_BYTES);
  #filledBytes = 0;
  #spare: Buffer | null = null;
  /** Where in the file the block will stand. Each write says its place: the order in which they end does not matter. */
  #position = 0;
  #underWay = false;
  /** Blocks that are still to be written at once. */
  #atOnce = 0;
  #error: Error | null = null;
  #wake: (() => void) | null = null;
  #closed = false;

  /** Throws what the system says, also when the file exists. */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'wx', 0o600);
  }

  /** True while a block is on its way: a turn of the event loop shows when it has arrived. */
  get underWay(): boolean {
    return this.#underWay;
  }

  /** Throws what the system says to these bytes or has said to those before. */
  write(bytes: Uint8Array): void {
    this.#throwError();
    for (let at = 0; at < bytes.length; ) {
      const taken = Math.min(bytes.length - at, WRITE_BLOCK_BYTES - this.#filledBytes);
      this.#block.set(bytes.subarray(at, at + taken), this.#filledBytes);
      this.#filledBytes += taken;
      at += taken;
      if (this.#filledBytes === WRITE_BLOCK_BYTES) this.#send();
    }
  }

  /** Resolves when nothing is under way, however that ended. */
  async settled(): Promise<void> {
    if (!this.#underWay) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Writes what is left and closes the file; it must have settled. Throws as `write`, the file is then still open. */
  finish(): void {
    if (this.#underWay) throw new Error('a file is finished while a block is under way');
    this.#throwError();
    this.#writeNow();
    this.#closed = true;
    closeSync(this.#descriptor);
  }

  /** Closes the file as soon as nothing is under way. Harmless when it is closed. */
  abandon(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#underWay) this.#drop();
  }

  #send(): void {
    if (this.#underWay) this.#atOnce = BLOCKS_AFTER_MISS;
    if (this.#atOnce > 0) {
      this.#atOnce--;
      this.#writeNow();
      return;
    }
    const block = this.#block;
    const bytes = this.#filledBytes;
    this.#block = this.#spare ?? Buffer.allocUnsafeSlow(WRITE_BLOCK_BYTES);
    this.#spare = null;
    this.#underWay = true;
    this.#writeOn(block, 0, this.#position);
    this.#position += bytes;
    this.#filledBytes = 0;
  }

  /** The block from `from` on, again where the system took a part of it. */
  #writeOn(block: Buffer, from: number, position: number): void {
    write(this.#descriptor, block, from, WRITE_BLOCK_BYTES - from, position, (error, written) => {
      if (error === null && from + written < WRITE_BLOCK_BYTES && !this.#closed) {
        this.#writeOn(block, from + written, position + written);
        return;
      }
      this.#error ??= error;
      this.#underWay = false;
      this.#spare = block;
      if (this.#closed) this.#drop();
      this.#wake?.();
      this.#wake = null;
    });
  }

  #writeNow(): void {
    const bytes = this.#filledBytes;
    for (let at = 0; at < bytes; ) at += writeSync(this.#descriptor, this.#block, at, bytes - at, this.#position + at);
    this.#position += bytes;
    this.#filledBytes = 0;
  }

  #throwError(): void {
    if (this.#error !== null) throw this.#error;
  }

  /** Nobody wants the file any more: what the system says to its end is of no use. */
  #drop(): void {
    close(this.#descriptor, () => {});
  }
}
