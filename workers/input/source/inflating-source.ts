// Inflates a compressed upload on the way (Node's zlib, in its thread pool), no further ahead than two pieces: the decoder
// waits until they are read. Streams that stand one after the other (members of gzip, frames of Zstandard) are one file.
// Behind a member of gzip zeros may stand; anything else is refused, for it is a sign of a broken file.
// States: feeding (the decoder has not used up what it was given), hungry, done.
import { Failed } from '../../protocol/failure.ts';
import { type Compression, corrupt, cutOff, type Decoder, goesOn, makeDecoder } from './compression.ts';
import type { ByteSource } from './source.ts';
import { ZstdFrames } from './zstd-frames.ts';

/** Compressed bytes handed to the decoder at a time. */
const COMPRESSED_PIECE_BYTES = 16_384;

/** Of each member. */
const GZIP_FIRST_BYTE = 0x1f;

const NOTHING = new Uint8Array(0);

export class InflatingSource implements ByteSource {
  readonly #inner: ByteSource;
  readonly #compression: Compression;
  readonly #inflatedBytesMax: number;
  readonly #frames: ZstdFrames | null;
  readonly #piece = new Uint8Array(COMPRESSED_PIECE_BYTES);
  /** Bytes of the file that were read. */
  #readBytes = 0;
  /** Of the piece, what no decoder was given yet. */
  #left: Uint8Array = NOTHING;
  /** Null between members of gzip. */
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
   * @param inflatedBytesMax ceiling of what comes out, in bytes; above it Failed FILE_TOO_LARGE
   * @throws Failed UNSUPPORTED_FILE_TYPE where the runtime has no such decoder
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

  /** Whether there is something to read. */
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
      if (this.#left[0] !== GZIP_FIRST_BYTE) throw goesOn(this.#compression, this.#position);
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
      // What it has not used stands behind its member: its end is to come.
      if (decoder !== this.#decoder || this.#usedBytes(decoder) < this.#given.length) return;
      this.#isFeeding = false;
      this.#wakeUp();
    });
  }

  /** Byte of the file that is given to a decoder next. */
  get #position(): number {
    return this.#readBytes - this.#left.length;
  }

  /** Of what the decoder was given last. */
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

  /** Behind the last byte, or where a decoder has met zeros behind its member. */
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

  /** Resolves when the decoder has told something. */
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
