// A window over the UTF-8 bytes of an XML part, and the memory that it holds.

import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { Heap } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import { COMPRESSED_PIECE_BYTES, INFLATED_PIECE_BYTES } from '../zip/limits.ts';
import { malformedWorkbook, SMALL_WINDOW_BYTES_MAX, WINDOW_BYTES, WINDOW_BYTES_MAX } from './limits.ts';

// Accounts for the memory of XML windows. They are outside the Run's memory, so the same amount of the Run's memory is
// left unused. A window that grows for a large cell must first pass the large-row gate.

/** Memory for decompressed pieces that are ready or in progress, and for their input. */
const PIECES_BYTES = 2 * INFLATED_PIECE_BYTES + COMPRESSED_PIECE_BYTES;

export class WindowMemory {
  readonly #heap: Heap;
  readonly #largeRow: LargeRowAccess;
  /** Size of the largest window for which memory is reserved, in bytes. */
  #windowBytes = WINDOW_BYTES;
  #wantedBytes = 0;
  #large: { readonly at: number; readonly bytes: number } | null = null;

  /** Throws MemoryWanted. */
  constructor(heap: Heap, largeRow: LargeRowAccess) {
    this.#heap = heap;
    this.#largeRow = largeRow;
    heap.allocate(WINDOW_BYTES + PIECES_BYTES);
  }

  /** Returns false if the caller must await `wait` and ask again. */
  has(bytes: number): boolean {
    this.#wantedBytes = bytes <= this.#windowBytes ? 0 : bytes;
    return this.#wantedBytes === 0;
  }

  /** Returns null if no request is pending. */
  wait(): Promise<void> | null {
    return this.#wantedBytes === 0 ? null : this.#acquire(this.#wantedBytes);
  }

  async #acquire(bytes: number): Promise<void> {
    // The size is doubled, because the text that is decoded from the window needs memory, too.
    const withTextBytes = bytes * 2;
    await this.#largeRow.acquire(this.#heap, bytes);
    if (this.#large !== null) this.#heap.release(this.#large.at, this.#large.bytes);
    this.#large = { at: this.#heap.allocate(withTextBytes), bytes: withTextBytes };
    this.#windowBytes = bytes;
    this.#wantedBytes = 0;
  }
}

// A window over the UTF-8 bytes of an XML part. UTF-16 and other declared encodings are decoded first.

/** Number of bytes that are searched for an XML declaration. */
const DECLARATION_BYTES = 256;

export class XmlWindow {
  readonly #source: PieceSource;
  readonly #memory: WindowMemory | null;
  bytes: Buffer;
  /** The bytes before it are available and are complete characters. */
  end = 0;
  /** True if nothing follows `end`. */
  isLast = false;
  /** Number of times the window has moved. */
  fills = 0;
  #filled = 0;
  #rest: Uint8Array | null = null;
  #decoder: TextDecoder | null = null;
  #isBegun = false;

  /**
   * @param memory accounts for the memory of a window that grows. null: it grows to SMALL_WINDOW_BYTES_MAX without
   * accounting.
   */
  constructor(source: PieceSource, memory: WindowMemory | null, windowBytes = WINDOW_BYTES) {
    this.#source = source;
    this.#memory = memory;
    this.bytes = Buffer.allocUnsafe(windowBytes);
  }

  /**
   * Moves the bytes from `from` on to the start of the window and appends available bytes. Returns false if no bytes
   * are available, or only few compared with the kept bytes. The caller then awaits `wait` and calls `refill(0)`.
   * Throws Failed.
   */
  refill(from: number): boolean {
    this.fills++;
    this.bytes.copyWithin(0, from, this.#filled);
    this.#filled -= from;
    this.end -= from;
    if (this.end > this.bytes.length / 2 && !this.#grow()) return false;
    const before = this.end;
    let isEnough = false;
    while (!this.isLast && this.#filled < this.bytes.length) {
      const piece = this.#rest ?? this.#nextPiece();
      if (piece === 'wait' && isEnough) break;
      if (piece === 'wait') return false;
      if (piece === 'end') {
        this.isLast = true;
        break;
      }
      const bytes = Math.min(piece.length, this.bytes.length - this.#filled);
      this.bytes.set(piece.subarray(0, bytes), this.#filled);
      this.#filled += bytes;
      this.#rest = bytes === piece.length ? null : piece.subarray(bytes);
      // Stops here, so that this window is parsed while zlib decompresses the next piece. For a cell that is longer
      // than a piece, it continues, so that the cell is not parsed again after each piece.
      isEnough = before < bytes;
    }
    this.#check(before);
    return true;
  }

  wait(): Promise<void> {
    return this.#memory?.wait() ?? this.#source.wait();
  }

  close(): void {
    this.#source.close();
  }

  /** Returns false if the memory is not available yet. */
  #grow(): boolean {
    const bytes = this.bytes.length * 2;
    if (this.#memory === null && bytes > SMALL_WINDOW_BYTES_MAX)
      throw malformedWorkbook('a part that describes it has a tag or a text that is too long');
    if (bytes > WINDOW_BYTES_MAX) throw malformedWorkbook('a cell is too long');
    if (this.#memory?.has(bytes) === false) return false;
    const larger = Buffer.allocUnsafe(bytes);
    larger.set(this.bytes.subarray(0, this.#filled));
    this.bytes = larger;
    return true;
  }

  #nextPiece(): Uint8Array | 'wait' | 'end' {
    const piece = this.#source.next();
    if (piece === 'wait') return piece;
    if (piece === 'end') {
      const last = this.#decoder === null ? '' : this.#decoder.decode();
      this.#decoder = null;
      return last === '' ? 'end' : Buffer.from(last);
    }
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#decoder = decoderOf(piece);
    }
    return this.#decoder === null ? piece : Buffer.from(this.#decoder.decode(piece, { stream: true }));
  }

  /** Validates the new bytes up to the last complete character. */
  #check(before: number): void {
    let end = this.#filled;
    if (!this.isLast) {
      const limit = Math.max(before, end - 4);
      while (end > limit && (this.bytes[end - 1]! & 0xc0) === 0x80) end--;
      if (end > before && this.bytes[end - 1]! >= 0xc0) end--;
    }
    if (!isUtf8(this.bytes.subarray(before, end))) throw malformedWorkbook('a part is not valid UTF-8');
    this.end = end;
  }
}

/** Returns null for UTF-8. Throws Failed for an unknown encoding. */
function decoderOf(head: Uint8Array): TextDecoder | null {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder('utf-16le');
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder('utf-16be');
  if (head[0] === 0x3c && head[1] === 0) return new TextDecoder('utf-16le');
  if (head[0] === 0 && head[1] === 0x3c) return new TextDecoder('utf-16be');
  const text = Buffer.from(head.subarray(0, DECLARATION_BYTES)).toString('latin1');
  const label = /^(?:\xef\xbb\xbf)?<\?xml[^>]*\bencoding\s*=\s*["']([^"']+)["']/.exec(text)?.[1]?.toLowerCase();
  if (label === undefined || label === 'utf-8' || label === 'utf8' || label === 'us-ascii') return null;
  try {
    // The text is declared as UTF-16 but consists of single bytes, so the declaration is ignored.
    return label.startsWith('utf-16') ? null : new TextDecoder(label);
  } catch {
    throw malformedWorkbook('a part has an unknown encoding');
  }
}
