// Turns text of an encoding with characters of several bytes into UTF-8 before it is scanned (TextDecoder, fatal: what
// cannot be decoded is a failure).
import { TextDecoder } from 'node:util';
import { ConvertedSource } from '../source/converted-source.ts';
import type { ByteSource } from '../source/source.ts';
import { lineBreaks } from './line-breaks.ts';
import { notValid } from './undecodable.ts';

/** Encoded bytes decoded at a time: 64 KiB give at most 192 KiB of UTF-8. */
const ENCODED_PIECE_BYTES = 65_536;

export class MultiByteSource extends ConvertedSource {
  readonly #encoding: string;
  readonly #piece = new Uint8Array(ENCODED_PIECE_BYTES);
  readonly #encoder = new TextEncoder();
  readonly #decoder: TextDecoder;
  #lines = 1;
  #flushed = false;

  /** @param encoding WHATWG name */
  constructor(inner: ByteSource, encoding: string) {
    super(inner);
    this.#encoding = encoding;
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  }

  protected get isConverted(): boolean {
    return this.#flushed;
  }

  protected convert(): Uint8Array {
    let made: Uint8Array = new Uint8Array(0);
    while (made.length === 0 && !this.#flushed) {
      const bytes = this.inner.read(this.#piece);
      if (bytes === 0 && !this.inner.ended) break;
      this.#flushed = bytes === 0;
      made = this.#encoder.encode(this.#text(this.#piece.subarray(0, bytes)));
      this.#lines += lineBreaks(made);
    }
    return made;
  }

  #text(piece: Uint8Array): string {
    try {
      return this.#decoder.decode(piece, { stream: !this.#flushed });
    } catch {
      throw notValid(this.#encoding, this.#lines + this.#linesBefore(piece));
    }
  }

  /** Line breaks of a piece before the line that cannot be decoded; the last one where each can, but for its end. */
  #linesBefore(piece: Uint8Array): number {
    const decoder = new TextDecoder(this.#encoding, { fatal: true });
    // The first line may begin within a character.
    let from = this.#lineEnd(piece, 0);
    for (let lines = 1; from > 0; lines++) {
      const to = this.#lineEnd(piece, from);
      try {
        decoder.decode(piece.subarray(from, to === 0 ? undefined : to), { stream: to === 0 });
      } catch {
        return lines;
      }
      if (to === 0) break;
      from = to;
    }
    return 0;
  }

  /** Behind the line break that follows, 0 where there is none. */
  #lineEnd(piece: Uint8Array, from: number): number {
    return piece.indexOf(0x0a, from) + 1;
  }
}
