// Turns text of another encoding into UTF-8 before it is scanned (TextDecoder, fatal: what cannot be decoded is a failure).
import { TextDecoder } from 'node:util';
import { Failed } from '../failure.ts';
import type { ByteSource } from './reader.ts';

/** Encoded bytes decoded at a time: 64 KiB give at most 192 KiB of UTF-8. */
const ENCODED_PIECE_BYTES = 65_536;

export class DecodingSource implements ByteSource {
  readonly #inner: ByteSource;
  readonly #encoding: string;
  readonly #piece = new Uint8Array(ENCODED_PIECE_BYTES);
  readonly #encoder = new TextEncoder();
  readonly #decoder: TextDecoder;
  #ready: Uint8Array = new Uint8Array(0);
  #encodedBytes = 0;
  #flushed = false;

  /** @param encoding WHATWG name */
  constructor(inner: ByteSource, encoding: string) {
    this.#inner = inner;
    this.#encoding = encoding;
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  }

  get ended(): boolean {
    return this.#flushed && this.#ready.length === 0;
  }

  read(target: Uint8Array): number {
    if (this.#ready.length === 0) this.#decode();
    const bytes = Math.min(this.#ready.length, target.length);
    target.set(this.#ready.subarray(0, bytes));
    this.#ready = this.#ready.subarray(bytes);
    return bytes;
  }

  async wait(): Promise<void> {
    if (this.#ready.length === 0 && !this.#inner.ended) await this.#inner.wait();
  }

  close(): void {
    this.#inner.close();
  }

  #decode(): void {
    while (this.#ready.length === 0 && !this.#flushed) {
      const bytes = this.#inner.read(this.#piece);
      if (bytes === 0 && !this.#inner.ended) return;
      this.#flushed = bytes === 0;
      this.#ready = this.#encoder.encode(this.#text(this.#piece.subarray(0, bytes)));
      this.#encodedBytes += bytes;
    }
  }

  #text(piece: Uint8Array): string {
    try {
      return this.#decoder.decode(piece, { stream: !this.#flushed });
    } catch {
      const from = this.#encodedBytes;
      throw new Failed('MALFORMED_FILE', `The file is not valid ${this.#encoding}: near byte ${from} of the text.`);
    }
  }
}
