// Converts text in a single-byte encoding to UTF-8 inside the Run's memory, with a kernel.
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { FROM, LENGTH_SHIFT, STATE_BYTES, TABLE_BYTES, TO, UTF8_BYTES_MAX } from '../../kernel/layout/single-byte.ts';
import type { Heap } from '../../memory/heap.ts';
import type { ByteSource, DecodeWork, FileRest } from '../source/source.ts';
import { lineBreaks } from './non-ascii-lines.ts';
import { isTotal } from './single-byte-table.ts';
import { LateUtf8, notValid } from './undecodable.ts';
import type { Utf8Lines } from './utf8-lines.ts';

// Counts the characters of a UTF-8 text.

const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;

/** @param text valid UTF-8 that does not end inside a character */
export function charactersIn(text: Uint8Array): number {
  let characters = 0;
  for (const byte of text) if ((byte & CONTINUATION_MASK) !== CONTINUATION) characters++;
  return characters;
}

// Converts text in a single-byte encoding to UTF-8 inside the Run's memory, with a kernel.

/** Characters from this code on take three bytes in UTF-8. Smaller non-ASCII ones take two bytes. */
const THREE_BYTES_MIN = 0x800;

/** Bytes decoded at a time. Input and output stay in the L2 cache. */
const PIECE_BYTES = 32_768;

export interface SingleByteEncoding {
  readonly name: string;
  /** Result of charactersOf. */
  readonly characters: Uint16Array;
  /** Searches the bytes for lines of UTF-8, or null if the file is certainly in this encoding. */
  readonly utf8Lines: Utf8Lines | null;
}

export class SingleByteSource implements ByteSource {
  readonly #inner: ByteSource;
  readonly #encoding: string;
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #state: number;
  readonly #table: number;
  readonly #piece: number;
  readonly #text: number;
  /** Start and end address of bytes that are decoded but not yet read. */
  #from = 0;
  #to = 0;
  /** True if the encoding defines every byte, so that no line number of an invalid byte is ever needed. */
  readonly #isTotal: boolean;
  #lines = 1;
  readonly #utf8Lines: Utf8Lines | null;
  /** True if the last line need not be searched for UTF-8 any more. */
  #isEndSearched: boolean;

  constructor(inner: ByteSource, encoding: SingleByteEncoding, heap: Heap, kernel: KernelExports) {
    const { name, characters, utf8Lines } = encoding;
    this.#inner = inner;
    this.#encoding = name;
    this.#utf8Lines = utf8Lines;
    this.#isEndSearched = utf8Lines === null;
    this.#heap = heap;
    this.#kernel = kernel;
    this.#isTotal = isTotal(characters);
    this.#state = heap.allocate(STATE_BYTES);
    this.#table = heap.allocate(TABLE_BYTES);
    this.#piece = heap.allocate(PIECE_BYTES);
    this.#text = heap.allocate(PIECE_BYTES * UTF8_BYTES_MAX);
    heap.u32.set(Uint32Array.from(characters, wordOf), this.#table >>> 2);
  }

  get ended(): boolean {
    return this.#inner.ended && this.#from === this.#to && this.#isEndSearched;
  }

  read(target: Uint8Array): number {
    if (this.#from === this.#to) this.#decode();
    const bytes = Math.min(this.#to - this.#from, target.length);
    target.set(this.#heap.u8.subarray(this.#from, this.#from + bytes));
    this.#from += bytes;
    return bytes;
  }

  /** Returns null if the encoding does not define every byte: lines must then be counted from the start of the file. */
  rest(): FileRest | null {
    const rest = this.#isTotal ? (this.#inner.rest?.() ?? null) : null;
    if (rest === null) return null;
    return { ...rest, from: rest.from - charactersIn(this.#heap.u8.subarray(this.#from, this.#to)) };
  }

  seek(at: number): void {
    this.#inner.seek!(at);
    this.#from = this.#to;
    this.#utf8Lines?.restart();
  }

  passed(at: number): void {
    this.#inner.passed?.(at);
  }

  bytesOf(text: Uint8Array): number {
    return charactersIn(text);
  }

  decode(): DecodeWork {
    const words = this.#heap.u8.slice(this.#table, this.#table + TABLE_BYTES);
    const isMixtureSearched = this.#utf8Lines !== null;
    return {
      state: this.#state,
      table: this.#table,
      words,
      piece: this.#piece,
      pieceBytes: PIECE_BYTES,
      isMixtureSearched,
    };
  }

  async wait(): Promise<void> {
    if (this.#from === this.#to && !this.#inner.ended) await this.#inner.wait();
  }

  close(): void {
    this.#inner.close();
  }

  #decode(): void {
    const { u8, u32 } = this.#heap;
    const bytes = this.#inner.read(u8.subarray(this.#piece, this.#piece + PIECE_BYTES));
    const end = this.#piece + bytes;
    u32[(this.#state + FROM) >>> 2] = this.#piece;
    u32[(this.#state + TO) >>> 2] = this.#text;
    this.#kernel.decodeSingleBytes(this.#state, end, this.#table);
    const stopped = u32[(this.#state + FROM) >>> 2]!;
    if (!this.#isTotal) this.#lines += lineBreaks(u8.subarray(this.#piece, stopped));
    if (this.#utf8Lines !== null) this.#searchUtf8(this.#utf8Lines, u8.subarray(this.#piece, stopped));
    if (stopped < end) throw notValid(this.#encoding, this.#lines);
    this.#from = this.#text;
    this.#to = u32[(this.#state + TO) >>> 2]!;
  }

  #searchUtf8(lines: Utf8Lines, piece: Uint8Array): void {
    this.#isEndSearched = this.#inner.ended;
    if (lines.add(piece) || (this.#isEndSearched && lines.end())) throw new LateUtf8(this.#encoding);
  }
}

/** See layout/single-byte.ts. */
function wordOf(character: number): number {
  if (character === 0) return 0;
  if (character < THREE_BYTES_MIN)
    return (2 << LENGTH_SHIFT) | (0xc0 | (character >>> 6)) | ((0x80 | (character & 0x3f)) << 8);
  const last = (0x80 | (character & 0x3f)) << 16;
  return (3 << LENGTH_SHIFT) | (0xe0 | (character >>> 12)) | ((0x80 | ((character >>> 6) & 0x3f)) << 8) | last;
}
