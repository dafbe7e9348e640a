// The bytes of one range of a file as UTF-8, in a slot's memory: as they stand, or decoded by the kernel on their way.
import { readSync } from 'node:fs';
import { FROM, TO, UTF8_BYTES_MAX } from '../../kernel/layout/single-byte.ts';
import { charactersIn } from '../encoding/characters-in.ts';
import type { DecodeWork } from '../source/decode-work.ts';
import type { SlotKernels } from './filled-slot.ts';

/** Of a job: bytes of the file, the window's address and size, and what decodes them. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly base: number;
  readonly windowBytes: number;
  readonly decode: DecodeWork | null;
}

export class DecodedFile {
  /** The next byte of the file. */
  at: number;
  readonly #descriptor: number;
  readonly #job: Range;

  constructor(descriptor: number, job: Range) {
    this.#descriptor = descriptor;
    this.#job = job;
    this.at = job.from;
  }

  get isRead(): boolean {
    return this.at === this.#job.to;
  }

  /** Before the first chunk: what decoding needs in a slot. */
  prepare(u8: Uint8Array): void {
    const { decode } = this.#job;
    if (decode !== null) u8.set(decode.words, decode.table);
  }

  /** Bytes of the file that became this text. */
  bytesOf(text: Uint8Array): number {
    return this.#job.decode === null ? text.length : charactersIn(text);
  }

  /** Reads on behind `from` until a window is full or the range ends. Null: a byte is missing, or no text. */
  fill(u8: Uint8Array, kernels: SlotKernels, from: number): number | null {
    const { base, windowBytes, decode } = this.#job;
    let filled = from;
    while (filled < base + windowBytes && !this.isRead) {
      const bytes = decode === null ? this.#read(u8, filled, base + windowBytes - filled) : this.#readPiece(u8, filled);
      if (bytes === 0) return null;
      filled = decode === null ? filled + bytes : decoded(u8, kernels, decode, bytes, filled);
      if (filled === 0) return null;
    }
    return filled;
  }

  /** As much as surely has room behind `filled` when it is decoded. */
  #readPiece(u8: Uint8Array, filled: number): number {
    const { base, windowBytes, decode } = this.#job;
    const { piece, pieceBytes } = decode!;
    const room = Math.floor((base + 2 * windowBytes - filled) / UTF8_BYTES_MAX);
    return this.#read(u8, piece, Math.min(pieceBytes, room));
  }

  #read(u8: Uint8Array, address: number, bytesMax: number): number {
    const bytes = readSync(this.#descriptor, u8, address, Math.min(bytesMax, this.#job.to - this.at), this.at);
    this.at += bytes;
    return bytes;
  }
}

/** Address behind the text of a piece, 0: a byte of it is none of the encoding. */
function decoded(u8: Uint8Array, kernels: SlotKernels, work: DecodeWork, bytes: number, to: number): number {
  const state = new Uint32Array(u8.buffer, work.state, 2);
  state[FROM >>> 2] = work.piece;
  state[TO >>> 2] = to;
  kernels.decodeSingleBytes(work.state, work.piece + bytes, work.table);
  return state[FROM >>> 2] === work.piece + bytes ? state[TO >>> 2]! : 0;
}
