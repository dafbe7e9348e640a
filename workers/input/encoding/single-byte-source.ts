// Turns text of a single-byte encoding into UTF-8 on the way, in the Run's memory: the kernel reads what stands there.
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { FROM, LENGTH_SHIFT, STATE_BYTES, TABLE_BYTES, TO, UTF8_BYTES_MAX } from '../../kernel/layout/single-byte.ts';
import type { Heap } from '../../memory/heap.ts';
import type { DecodeWork } from '../source/decode-work.ts';
import type { ByteSource, FileRest } from '../source/source.ts';
import { charactersIn } from './characters-in.ts';
import { lineBreaks } from './line-breaks.ts';
import { isTotal } from './single-byte-table.ts';
import { notValid } from './undecodable.ts';

/** Characters from here on take three bytes of UTF-8, those before, outside of ASCII, two. */
const THREE_BYTES_MIN = 0x800;

/** Bytes decoded at a time: with what becomes of them they stay in the L2 cache. */
const PIECE_BYTES = 32_768;

export class SingleByteSource implements ByteSource {
  readonly #inner: ByteSource;
  readonly #encoding: string;
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #state: number;
  readonly #table: number;
  readonly #piece: number;
  readonly #text: number;
  /** What was decoded and not read: addresses. */
  #from = 0;
  #to = 0;
  /** Every byte is a character: no invalid one has to be told by its line. */
  readonly #isTotal: boolean;
  #lines = 1;

  /** @param characters as charactersOf gives them */
  constructor(inner: ByteSource, encoding: string, characters: Uint16Array, heap: Heap, kernel: KernelExports) {
    this.#inner = inner;
    this.#encoding = encoding;
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
    return this.#inner.ended && this.#from === this.#to;
  }

  read(target: Uint8Array): number {
    if (this.#from === this.#to) this.#decode();
    const bytes = Math.min(this.#to - this.#from, target.length);
    target.set(this.#heap.u8.subarray(this.#from, this.#from + bytes));
    this.#from += bytes;
    return bytes;
  }

  /** Where an encoding lacks a byte, lines have to be counted from the first one on. */
  rest(): FileRest | null {
    const rest = this.#isTotal ? (this.#inner.rest?.() ?? null) : null;
    if (rest === null) return null;
    return { ...rest, from: rest.from - charactersIn(this.#heap.u8.subarray(this.#from, this.#to)) };
  }

  seek(at: number): void {
    this.#inner.seek!(at);
    this.#from = this.#to;
  }

  passed(at: number): void {
    this.#inner.passed?.(at);
  }

  bytesOf(text: Uint8Array): number {
    return charactersIn(text);
  }

  decode(): DecodeWork {
    const words = this.#heap.u8.slice(this.#table, this.#table + TABLE_BYTES);
    return { state: this.#state, table: this.#table, words, piece: this.#piece, pieceBytes: PIECE_BYTES };
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
    if (stopped < end) throw notValid(this.#encoding, this.#lines);
    this.#from = this.#text;
    this.#to = u32[(this.#state + TO) >>> 2]!;
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
