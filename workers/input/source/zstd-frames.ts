// Walks the frames of Zstandard (RFC 8878) without inflating them: where each ends, and whether the last one does. The
// runtime's decoder says neither, and stops behind a frame that ends within what it was given.
import { goesOn } from './compression.ts';

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;

const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const BLOCK_RLE = 1;

/** What the next bytes are. */
type Part = 'magic' | 'skippableSize' | 'descriptor' | 'header' | 'blockHeader' | 'block' | 'checksum' | 'skippable';

export class ZstdFrames {
  #part: Part = 'magic';
  /** Bytes of the part that are to come. */
  #wanted = MAGIC_BYTES;
  /** Of a part that is a number, lowest byte first. */
  #value = 0;
  #valueBytes = 0;
  #hasChecksum = false;
  #isLastBlock = false;

  /** The bytes seen so far end with a frame. */
  get isWhole(): boolean {
    return this.#part === 'magic' && this.#valueBytes === 0;
  }

  /**
   * How many of these bytes belong to the frame that goes on or begins with them. Throws Failed for what is no frame.
   * @param position of the first of them in the file
   */
  take(bytes: Uint8Array, position: number): number {
    for (let at = 0; at < bytes.length; ) {
      if (
        this.#part === 'block' ||
        this.#part === 'skippable' ||
        this.#part === 'header' ||
        this.#part === 'checksum'
      ) {
        const passed = Math.min(this.#wanted, bytes.length - at);
        at += passed;
        this.#wanted -= passed;
      } else {
        this.#value += bytes[at++]! * 2 ** (8 * this.#valueBytes++);
        this.#wanted--;
      }
      while (this.#wanted === 0) if (this.#next(position + at)) return at;
    }
    return bytes.length;
  }

  /** Goes on to the next part; true at the end of a frame. @param position in the file, behind the part */
  #next(position: number): boolean {
    const value = this.#value;
    if (this.#part === 'magic') this.#begin(value, position - MAGIC_BYTES);
    else if (this.#part === 'descriptor') this.#expectHeader(value);
    else if (this.#part === 'skippableSize') this.#expect('skippable', value);
    else if (this.#part === 'header') this.#expect('blockHeader', BLOCK_HEADER_BYTES);
    else if (this.#part === 'blockHeader') this.#expectBlock(value);
    else if (this.#part === 'block' && !this.#isLastBlock) this.#expect('blockHeader', BLOCK_HEADER_BYTES);
    else if (this.#part === 'block' && this.#hasChecksum) this.#expect('checksum', CHECKSUM_BYTES);
    else {
      this.#expect('magic', MAGIC_BYTES);
      return true;
    }
    return false;
  }

  #expect(part: Part, bytes: number): void {
    this.#part = part;
    this.#wanted = bytes;
    this.#value = 0;
    this.#valueBytes = 0;
  }

  #begin(magic: number, position: number): void {
    if (magic === FRAME_MAGIC) this.#expect('descriptor', 1);
    else if ((magic & SKIPPABLE_MASK) === SKIPPABLE_MAGIC) this.#expect('skippableSize', 4);
    else throw goesOn('zstd', position);
  }

  #expectHeader(descriptor: number): void {
    const isSingleSegment = (descriptor & 0x20) !== 0;
    const sizeFlag = descriptor >> 6;
    const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
    this.#hasChecksum = (descriptor & 4) !== 0;
    this.#expect('header', sizeBytes + dictionaryBytes + Number(!isSingleSegment));
  }

  #expectBlock(header: number): void {
    this.#isLastBlock = (header & 1) !== 0;
    const isRunLength = ((header >> 1) & 3) === BLOCK_RLE;
    this.#expect('block', isRunLength ? 1 : header >> 3);
  }
}
