// Decompresses an upload while it is read, with Node's zlib in its thread pool.

import { Failed } from '../../protocol/failure.ts';
import { type Compression, corrupt, cutOff, type Decoder, makeDecoder, otherDataFollows } from './compression.ts';
import type { ByteSource } from './source.ts';

// Finds the ends of Zstandard frames (RFC 8878) without decompressing them, and whether the last frame is complete. The
// decoder of the runtime reports neither, and it stops at the end of a frame within its input.

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;

const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const BLOCK_RLE = 1;

/** Part of a frame to which the next bytes belong. */
type Part = 'magic' | 'skippableSize' | 'descriptor' | 'header' | 'blockHeader' | 'block' | 'checksum' | 'skippable';

export class ZstdFrames {
  #part: Part = 'magic';
  /** Number of bytes of the part that have not arrived yet. */
  #wanted = MAGIC_BYTES;
  /** Value of a part that is a number, lowest byte first. */
  #value = 0;
  #valueBytes = 0;
  #hasChecksum = false;
  #isLastBlock = false;

  /** True if the bytes seen so far end with a complete frame. */
  get isWhole(): boolean {
    return this.#part === 'magic' && this.#valueBytes === 0;
  }

  /**
   * Returns how many of these bytes belong to the current frame. Throws Failed for bytes that are not a frame.
   * @param position offset of the first of them in the file
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

  /**
   * Continues with the next part. Returns true at the end of a frame.
   * @param position offset in the file after the part
   */
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
    else throw otherDataFollows('zstd', position);
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

// Decompresses an upload while it is read, with Node's zlib in its thread pool. The decoder is at most two pieces ahead
// and waits until they are read. Concatenated streams (gzip members, Zstandard frames) form one file. Zeros may follow
// a gzip member; any other data is refused, because it indicates a broken file. States: feeding (the decoder has not
// consumed its input), hungry, done.

/** Compressed bytes passed to the decoder at a time. */
const COMPRESSED_PIECE_BYTES = 16_384;

/** First byte of each gzip member. */
const GZIP_FIRST_BYTE = 0x1f;

const NOTHING = new Uint8Array(0);

export class InflatingSource implements ByteSource {
  readonly #inner: ByteSource;
  readonly #compression: Compression;
  readonly #inflatedBytesMax: number;
  readonly #frames: ZstdFrames | null;
  readonly #piece = new Uint8Array(COMPRESSED_PIECE_BYTES);
  /** Number of bytes read from the file. */
  #readBytes = 0;
  /** Part of the current piece that has not been passed to a decoder. */
  #left: Uint8Array = NOTHING;
  /** null between gzip members. */
  #decoder: Decoder | null;
  #given: Uint8Array = NOTHING;
  #usedBefore = 0;
  #isFeeding = false;
  #isEnding = false;
  #done = false;
  #failure: Failed | null = null;
  #ready: Uint8Array = NOTHING;
  #inflatedBytes = 0;
  #wake: (() => void) | null = null;

  /**
   * @param inflatedBytesMax maximum decompressed size in bytes; beyond it, Failed FILE_TOO_LARGE
   * @throws Failed UNSUPPORTED_FILE_TYPE if the runtime lacks the decoder
   */
  constructor(inner: ByteSource, compression: Compression, inflatedBytesMax: number) {
    this.#inner = inner;
    this.#compression = compression;
    this.#inflatedBytesMax = inflatedBytesMax;
    this.#frames = compression === 'zstd' ? new ZstdFrames() : null;
    this.#decoder = this.#openDecoder();
  }

  get ended(): boolean {
    return this.#done && this.#ready.length === 0;
  }

  read(target: Uint8Array): number {
    let length = 0;
    while (length < target.length && this.#pull()) {
      const bytes = Math.min(this.#ready.length, target.length - length);
      target.set(this.#ready.subarray(0, bytes), length);
      this.#ready = this.#ready.subarray(bytes);
      length += bytes;
    }
    return length;
  }

  async wait(): Promise<void> {
    while (!this.#pull() && !this.#done) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#isFeeding) await this.#change();
      else await this.#feed();
    }
  }

  close(): void {
    this.#decoder?.destroy();
    this.#inner.close();
  }

  #openDecoder(): Decoder {
    const decoder = makeDecoder(this.#compression);
    decoder.on('readable', () => this.#wakeUp());
    decoder.on('end', () => {
      if (decoder === this.#decoder) this.#endStream(decoder);
    });
    decoder.on('error', (error: NodeJS.ErrnoException) => {
      if (decoder !== this.#decoder) return;
      this.#failure = corrupt(this.#compression, error, this.#position - this.#given.length + this.#usedBytes(decoder));
      this.#wakeUp();
    });
    this.#usedBefore = 0;
    return decoder;
  }

  /** Returns true if there are bytes to read. */
  #pull(): boolean {
    if (this.#ready.length > 0) return true;
    this.#ready = (this.#decoder?.read() as Uint8Array | null | undefined) ?? NOTHING;
    this.#inflatedBytes += this.#ready.length;
    if (this.#inflatedBytes > this.#inflatedBytesMax) {
      throw new Failed('FILE_TOO_LARGE', `The file inflates to more than ${this.#inflatedBytesMax} bytes.`);
    }
    return this.#ready.length > 0;
  }

  async #feed(): Promise<void> {
    if (this.#left.length === 0) {
      const bytes = this.#inner.read(this.#piece);
      if (bytes === 0) return this.#inner.ended ? this.#endInput() : this.#inner.wait();
      this.#left = this.#piece.subarray(0, bytes);
      this.#readBytes += bytes;
    }
    if (this.#decoder === null) {
      const padding = this.#left.findIndex((byte) => byte !== 0);
      this.#left = padding < 0 ? NOTHING : this.#left.subarray(padding);
      if (this.#left.length === 0) return;
      if (this.#left[0] !== GZIP_FIRST_BYTE) throw otherDataFollows(this.#compression, this.#position);
      this.#decoder = this.#openDecoder();
    }
    this.#give(this.#decoder);
  }

  #give(decoder: Decoder): void {
    const bytes = this.#frames?.take(this.#left, this.#position) ?? this.#left.length;
    this.#given = this.#left.subarray(0, bytes);
    this.#left = this.#left.subarray(bytes);
    this.#usedBefore = decoder.bytesWritten;
    this.#isFeeding = true;
    decoder.write(this.#given, () => {
      // Unused input means that a gzip member has ended within it: 'end' follows.
      if (decoder !== this.#decoder || this.#usedBytes(decoder) < this.#given.length) return;
      this.#isFeeding = false;
      this.#wakeUp();
    });
  }

  /** Offset in the file of the next byte for a decoder. */
  get #position(): number {
    return this.#readBytes - this.#left.length;
  }

  /** Number of bytes used of the decoder's latest input. */
  #usedBytes(decoder: Decoder): number {
    return decoder.bytesWritten - this.#usedBefore;
  }

  #endInput(): void {
    if (this.#frames?.isWhole === false) throw cutOff(this.#compression, this.#readBytes);
    this.#done = this.#decoder === null;
    this.#isFeeding = true;
    this.#isEnding = true;
    this.#decoder?.end();
  }

  /** Called after the last byte, or if the decoder has found zeros after a gzip member. */
  #endStream(decoder: Decoder): void {
    if (this.#isEnding) this.#done = true;
    else {
      this.#left = this.#given.subarray(this.#usedBytes(decoder));
      this.#decoder = null;
      this.#isFeeding = false;
      decoder.destroy();
    }
    this.#wakeUp();
  }

  /** Resolves at the next event of the decoder. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
