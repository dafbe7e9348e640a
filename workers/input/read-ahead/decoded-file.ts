// Reads a range of a file into the memory of a slot as UTF-8.

import { readSync } from 'node:fs';
import type { ReadAheadExports } from '../../kernel/bindings/exports.ts';
import { FROM, TO, UTF8_BYTES_MAX } from '../../kernel/layout/single-byte.ts';
import { charactersIn } from '../encoding/single-byte-source.ts';
import { Utf8Lines } from '../encoding/utf8-lines.ts';
import type { DecodeWork } from '../source/source.ts';
import type { Chunk } from './read-ahead-memory.ts';

// A slot filled with text, and the rows that a format finds in it.

/** The kernels that work on the memory of one slot. */
export type SlotKernels = Pick<ReadAheadExports, 'scan' | 'readJson' | 'decodeSingleBytes'>;

export interface FilledSlot {
  readonly u8: Uint8Array;
  readonly u32: Uint32Array;
  readonly kernels: SlotKernels;
  /** Address range of the text, which begins at the first byte of a row. */
  readonly base: number;
  readonly filled: number;
  /** True if the file ends with this text. The text then ends with a line feed. */
  readonly isAtEnd: boolean;
}

/** Complete and valid rows in a text: the address after them, and the counts that the format adds. */
export type FoundRows = Pick<Chunk, 'entries' | 'rowEnds' | 'lines' | 'literal'> & { readonly end: number };

/** Returns null if no row is complete, or if a row is invalid. */
export type FindRows = (slot: FilledSlot) => FoundRows | null;

// Reads a range of a file into the memory of a slot as UTF-8, unchanged or decoded by the kernel.

/** Properties of a job: range of the file, address and size of the window, decoding. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly ends: boolean;
  readonly base: number;
  readonly windowBytes: number;
  readonly decode: DecodeWork | null;
}

export class DecodedFile {
  /** Offset of the next byte in the file. */
  at: number;
  readonly #descriptor: number;
  readonly #job: Range;
  readonly #utf8Lines: Utf8Lines | null;

  constructor(descriptor: number, job: Range) {
    this.#descriptor = descriptor;
    this.#job = job;
    this.at = job.from;
    this.#utf8Lines = job.decode?.isMixtureSearched === true ? new Utf8Lines() : null;
  }

  get isRead(): boolean {
    return this.at === this.#job.to;
  }

  /** Called before the first chunk: writes the decoding table into a slot. */
  prepare(u8: Uint8Array): void {
    const { decode } = this.#job;
    if (decode !== null) u8.set(decode.words, decode.table);
  }

  /** Returns the number of file bytes from which this text was decoded. */
  bytesOf(text: Uint8Array): number {
    return this.#job.decode === null ? text.length : charactersIn(text);
  }

  /**
   * Reads from `from` on until a window is full or the range ends. Returns null if a byte is missing or invalid, and at
   * a line of UTF-8 where another encoding was guessed.
   */
  fill(u8: Uint8Array, kernels: SlotKernels, from: number): number | null {
    const { base, windowBytes, decode } = this.#job;
    let filled = from;
    while (filled < base + windowBytes && !this.isRead) {
      const bytes = decode === null ? this.#read(u8, filled, base + windowBytes - filled) : this.#readPiece(u8, filled);
      if (bytes === 0 || (decode !== null && this.#isMixed(u8.subarray(decode.piece, decode.piece + bytes))))
        return null;
      filled = decode === null ? filled + bytes : decoded(u8, kernels, decode, bytes, filled);
      if (filled === 0) return null;
    }
    return filled;
  }

  #isMixed(piece: Uint8Array): boolean {
    const lines = this.#utf8Lines;
    return lines !== null && (lines.add(piece) || (this.isRead && this.#job.ends && lines.end()));
  }

  /** Reads as much as certainly fits after `filled` once it is decoded. */
  #readPiece(u8: Uint8Array, filled: number): number {
    const { base, windowBytes, decode } = this.#job;
    const { piece, pieceBytes } = decode!;
    const freeBytes = Math.floor((base + 2 * windowBytes - filled) / UTF8_BYTES_MAX);
    return this.#read(u8, piece, Math.min(pieceBytes, freeBytes));
  }

  #read(u8: Uint8Array, address: number, bytesMax: number): number {
    const bytes = readSync(this.#descriptor, u8, address, Math.min(bytesMax, this.#job.to - this.at), this.at);
    this.at += bytes;
    return bytes;
  }
}

/** Returns the address after the decoded text, or 0 if a byte is invalid in the encoding. */
function decoded(u8: Uint8Array, kernels: SlotKernels, work: DecodeWork, bytes: number, to: number): number {
  const state = new Uint32Array(u8.buffer, work.state, 2);
  state[FROM >>> 2] = work.piece;
  state[TO >>> 2] = to;
  kernels.decodeSingleBytes(work.state, work.piece + bytes, work.table);
  return state[FROM >>> 2] === work.piece + bytes ? state[TO >>> 2]! : 0;
}
