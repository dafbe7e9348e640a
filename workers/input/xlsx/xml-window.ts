// A stretch of an XML part as UTF-8 bytes that moves on over it. UTF-16 and other declared encodings are decoded on the way.
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { PieceSource } from '../zip/entry-reader.ts';
import { WINDOW_BYTES, WINDOW_BYTES_MAX } from './limits.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import type { WindowRoom } from './window-room.ts';

/** Bytes in which an XML declaration stands. */
const DECLARATION_BYTES = 256;

export class XmlWindow {
  readonly #source: PieceSource;
  readonly #room: WindowRoom | null;
  bytes: Buffer;
  /** The bytes before it are there, and whole characters. */
  end = 0;
  /** Nothing follows `end`. */
  isLast = false;
  /** How often it moved on. */
  fills = 0;
  #filled = 0;
  #rest: Uint8Array | null = null;
  #decoder: TextDecoder | null = null;
  #isBegun = false;

  /** @param room of windows that may grow; null: this one does not */
  constructor(source: PieceSource, room: WindowRoom | null, windowBytes = WINDOW_BYTES) {
    this.#source = source;
    this.#room = room;
    this.bytes = Buffer.allocUnsafe(windowBytes);
  }

  /**
   * Moves the bytes from `from` on to the start and adds what follows them and is there; false when that is nothing, or little
   * beside what stays: then await `wait`, and again, from 0. Throws Failed.
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
      // Others inflate the next piece meanwhile. A cell that is longer than a piece is not looked at piece by piece.
      isEnough = before < bytes;
    }
    this.#check(before);
    return true;
  }

  wait(): Promise<void> {
    return this.#room?.wait() ?? this.#source.wait();
  }

  close(): void {
    this.#source.close();
  }

  /** False where there is no room yet. */
  #grow(): boolean {
    const bytes = this.bytes.length * 2;
    if (bytes > WINDOW_BYTES_MAX) throw malformedWorkbook('a cell is too long');
    if (this.#room?.has(bytes) === false) return false;
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

  /** Takes in the characters that are whole by now. */
  #check(before: number): void {
    let end = this.#filled;
    if (!this.isLast) {
      const limit = Math.max(before, end - 4);
      while (end > limit && (this.bytes[end - 1]! & 0xc0) === 0x80) end--;
      if (end > before && this.bytes[end - 1]! >= 0xc0) end--;
    }
    if (!isUtf8(this.bytes.subarray(before, end))) throw malformedWorkbook('a part is no valid UTF-8');
    this.end = end;
  }
}

/** Null for UTF-8. Throws Failed for an encoding that nobody knows. */
function decoderOf(head: Uint8Array): TextDecoder | null {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder('utf-16le');
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder('utf-16be');
  if (head[0] === 0x3c && head[1] === 0) return new TextDecoder('utf-16le');
  if (head[0] === 0 && head[1] === 0x3c) return new TextDecoder('utf-16be');
  const text = Buffer.from(head.subarray(0, DECLARATION_BYTES)).toString('latin1');
  const label = /^(?:\xef\xbb\xbf)?<\?xml[^>]*\bencoding\s*=\s*["']([^"']+)["']/.exec(text)?.[1]?.toLowerCase();
  if (label === undefined || label === 'utf-8' || label === 'utf8' || label === 'us-ascii') return null;
  try {
    // Declared as UTF-16 in single bytes: whoever wrote that meant the bytes as they stand.
    return label.startsWith('utf-16') ? null : new TextDecoder(label);
  } catch {
    throw malformedWorkbook('a part has an unknown encoding');
  }
}
