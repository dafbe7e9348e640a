// Reads one entry of an archive piece by piece, and checks its checksum.
import * as zlib from 'node:zlib';
import { createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { Failed } from '../../protocol/failure.ts';
import type { ZipEntry } from './central-directory.ts';
import {
  AT_ONCE_BYTES_MAX,
  COMPRESSED_PIECE_BYTES,
  INFLATED_PIECE_BYTES,
  INFLATION_RATIO_MAX,
  malformedArchive,
  notInflatable,
  RATIO_FREE_BYTES,
} from './limits.ts';
import { type RandomAccess, readExactly } from './random-access.ts';

// CRC-32 of a ZIP entry, calculated by zlib.

class Crc32 {
  #value = 0;

  add(bytes: Uint8Array): void {
    this.#value = zlib.crc32?.(bytes, this.#value) ?? 0;
  }

  /** Node before 20.15 lacks zlib.crc32. There, the size and the checks of zlib must be enough. */
  is(expected: number): boolean {
    return zlib.crc32 === undefined || this.#value === expected;
  }
}

// Reads one entry piece by piece: stored entries from the file, deflated ones through zlib in its thread pool, which
// decompresses the next piece while the current one is processed.

/** A source of bytes in pieces. */
export interface PieceSource {
  /**
   * Returns the next piece, which stays unchanged, or 'wait' if no piece is available (then await `wait`). Throws
   * Failed.
   */
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
  /** Offsets in the file: first compressed byte, next one, and end. */
  readonly #start: number;
  #at: number;
  readonly #end: number;
  #inflatedBytes = 0;
  /** Start of the section whose ratio is checked next. */
  #mark: { readonly inflatedBytes: number; readonly at: number };
  #inflate: InflateRaw | null = null;
  #isInflated = false;
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  /** @param count receives the number of decompressed bytes; throws Failed if there are too many */
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
      // The promise must not resolve at once, because the event loop, and thus other Runs, could then not continue.
      return new Promise((resolve) => setImmediate(resolve));
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

  /** Writes compressed bytes while zlib accepts them. An error of reading them reaches the reader of the entry. */
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

  /** The ratio is checked for each section, so that a bomb is detected before all of it is decompressed. */
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
      const found = `an entry inflates to ${this.#inflatedBytes} bytes instead of the ${inflatedBytes} in the list of entries`;
      throw malformedArchive(found, position);
    }
    if (!this.#checksum.is(crc32)) {
      throw malformedArchive('an entry is damaged: its checksum differs from the list of entries', position);
    }
    return 'end';
  }

  /** An error of zlib means that the archive is damaged. */
  #broken(error: unknown): unknown {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_') && code !== 'ERR_BUFFER_TOO_LARGE') return error;
    // The entry contains more bytes than the central directory declares.
    const { inflatedBytes, position } = this.#entry;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      return malformedArchive(
        `an entry inflates to more than the ${inflatedBytes} bytes in the list of entries`,
        position,
      );
    }
    return notInflatable(this.#start + (this.#inflate?.bytesWritten ?? 0));
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
