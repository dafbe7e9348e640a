// The bytes of one entry, piece by piece: stored ones from the file, deflated ones through zlib in its thread pool, which
// inflates the next piece while this one is worked on.
import { createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { Failed } from '../../protocol/failure.ts';
import type { ZipEntry } from './central-directory.ts';
import { Crc32 } from './crc32.ts';
import {
  AT_ONCE_BYTES_MAX,
  COMPRESSED_PIECE_BYTES,
  INFLATED_PIECE_BYTES,
  INFLATION_RATIO_MAX,
  RATIO_FREE_BYTES,
} from './limits.ts';
import { malformedArchive, notInflatable } from './malformed-archive.ts';
import { type RandomAccess, readExactly } from './random-access.ts';

/** Bytes that come in pieces. */
export interface PieceSource {
  /** The next piece, which stays as it is; 'wait' when none is there now (then await `wait`). Throws Failed. */
  next(): Uint8Array | 'wait' | 'end';
  wait(): Promise<void>;
  close(): void;
}

export class EntryReader implements PieceSource {
  readonly #file: RandomAccess;
  readonly #entry: ZipEntry;
  readonly #count: (bytes: number) => void;
  readonly #isStored: boolean;
  readonly #checksum = new Crc32();
  /** First compressed byte in the file, the next one, and the one behind the last. */
  readonly #start: number;
  #at: number;
  readonly #end: number;
  #inflatedBytes = 0;
  /** Where the stretch begins whose ratio is looked at next. */
  #mark: { readonly inflatedBytes: number; readonly at: number };
  #inflate: InflateRaw | null = null;
  #isInflated = false;
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  /** @param count is told of all bytes that come out; throws Failed when they are too many */
  constructor(file: RandomAccess, entry: ZipEntry, start: number, isStored: boolean, count: (bytes: number) => void) {
    this.#file = file;
    this.#entry = entry;
    this.#start = start;
    this.#at = start;
    this.#mark = { inflatedBytes: 0, at: start };
    this.#end = start + entry.compressedBytes;
    this.#isStored = isStored;
    this.#count = count;
  }

  next(): Uint8Array | 'wait' | 'end' {
    if (this.#isStored) return this.#nextStored();
    if (this.#isInflated) return this.#finish();
    if (this.#inflate === null && this.#entry.inflatedBytes <= AT_ONCE_BYTES_MAX) return this.#allAtOnce();
    const inflate = this.#inflate ?? this.#begin();
    const piece: Buffer | null = inflate.read();
    if (this.#failure !== null) throw this.#broken(this.#failure);
    if (piece !== null) return this.#account(piece);
    if (this.#isInflated) return this.#finish();
    this.#feed(inflate);
    return 'wait';
  }

  wait(): Promise<void> {
    const inflate = this.#inflate;
    if (inflate === null || inflate.readableLength > 0 || this.#isInflated || this.#failure !== null) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  close(): void {
    this.#inflate?.destroy();
    this.#wakeUp();
  }

  #nextStored(): Uint8Array | 'end' {
    const bytes = Math.min(INFLATED_PIECE_BYTES, this.#end - this.#at);
    if (bytes === 0) return this.#finish();
    const piece = readExactly(this.#file, this.#at, bytes);
    this.#at += bytes;
    return this.#account(piece);
  }

  #allAtOnce(): Uint8Array | 'end' {
    const { compressedBytes, inflatedBytes } = this.#entry;
    const compressed = readExactly(this.#file, this.#at, compressedBytes);
    this.#isInflated = true;
    try {
      const inflated = inflateRawSync(compressed, { maxOutputLength: Math.max(1, inflatedBytes) });
      return inflated.length === 0 ? this.#finish() : this.#account(inflated);
    } catch (error) {
      throw this.#broken(error);
    }
  }

  #begin(): InflateRaw {
    const inflate = createInflateRaw({ chunkSize: INFLATED_PIECE_BYTES });
    inflate.on('readable', () => this.#wakeUp());
    inflate.on('drain', () => this.#feed(inflate));
    inflate.on('end', () => {
      this.#isInflated = true;
      this.#wakeUp();
    });
    inflate.on('error', (error) => {
      this.#failure = error;
      this.#wakeUp();
    });
    this.#inflate = inflate;
    this.#feed(inflate);
    return inflate;
  }

  /** Hands on compressed bytes while zlib wants some. Whatever reading them throws reaches who reads the entry. */
  #feed(inflate: InflateRaw): void {
    try {
      while (this.#at < this.#end && !inflate.destroyed && !inflate.writableNeedDrain) {
        const piece = readExactly(this.#file, this.#at, Math.min(COMPRESSED_PIECE_BYTES, this.#end - this.#at));
        this.#at += piece.length;
        inflate.write(piece);
      }
      if (this.#at === this.#end && !inflate.destroyed && !inflate.writableEnded) inflate.end();
    } catch (error) {
      inflate.destroy(error as Error);
    }
  }

  #account<T extends Uint8Array>(piece: T): T {
    this.#inflatedBytes += piece.length;
    this.#count(piece.length);
    if (this.#inflatedBytes - this.#mark.inflatedBytes > RATIO_FREE_BYTES) this.#checkRatio();
    this.#checksum.add(piece);
    return piece;
  }

  /** Stretch by stretch: what is behind a bomb need not be inflated to know it. */
  #checkRatio(): void {
    const { inflatedBytes, at } = this.#mark;
    if (this.#inflatedBytes - inflatedBytes > (this.#at - at) * INFLATION_RATIO_MAX) {
      throw new Failed(
        'FILE_TOO_LARGE',
        `A part of the file inflates to more than ${INFLATION_RATIO_MAX} times its size.`,
      );
    }
    this.#mark = { inflatedBytes: this.#inflatedBytes, at: this.#at };
  }

  #finish(): 'end' {
    const { inflatedBytes, crc32, position } = this.#entry;
    if (this.#inflatedBytes !== inflatedBytes) {
      const found = `an entry inflates to ${this.#inflatedBytes} bytes in place of the ${inflatedBytes} that its list says`;
      throw malformedArchive(found, position);
    }
    if (!this.#checksum.is(crc32)) {
      throw malformedArchive('an entry has changed: it has another checksum than its list says', position);
    }
    return 'end';
  }

  /** What zlib refuses is the fault of the archive. */
  #broken(error: unknown): unknown {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_') && code !== 'ERR_BUFFER_TOO_LARGE') return error;
    // It had more to give than was asked for.
    const { inflatedBytes, position } = this.#entry;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      return malformedArchive(`an entry inflates to more than the ${inflatedBytes} bytes that its list says`, position);
    }
    return notInflatable(this.#start + (this.#inflate?.bytesWritten ?? 0));
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
