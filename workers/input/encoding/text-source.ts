// Converts the bytes of a text from any encoding to UTF-8 without a byte order mark.
import { TextDecoder } from 'node:util';
import type { OpenSettings } from '../format.ts';
import { ConvertedSource } from '../source/converted-source.ts';
import type { ByteSource } from '../source/source.ts';
import type { Encoding } from './encoding.ts';
import { lineBreaks } from './non-ascii-lines.ts';
import { SingleByteSource } from './single-byte-source.ts';
import { charactersOf } from './single-byte-table.ts';
import { notValid, oddUtf16 } from './undecodable.ts';
import { Utf8Lines } from './utf8-lines.ts';

// Converts text in a multi-byte encoding to UTF-8 before it is scanned. Uses TextDecoder in fatal mode: invalid bytes
// are a failure.

/** Encoded bytes decoded at a time. 64 KiB become at most 192 KiB of UTF-8. */
const ENCODED_PIECE_BYTES = 65_536;

export class MultiByteSource extends ConvertedSource {
  readonly #encoding: string;
  readonly #piece = new Uint8Array(ENCODED_PIECE_BYTES);
  readonly #encoder = new TextEncoder();
  readonly #decoder: TextDecoder;
  #lines = 1;
  #flushed = false;
  #bytesRead = 0;

  /** @param encoding WHATWG name */
  constructor(inner: ByteSource, encoding: string) {
    super(inner);
    this.#encoding = encoding;
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  }

  protected get isConverted(): boolean {
    return this.#flushed;
  }

  protected convert(): Uint8Array | null {
    if (this.#flushed) return null;
    const bytes = this.inner.read(this.#piece);
    if (bytes === 0 && !this.inner.ended) return null;
    this.#flushed = bytes === 0;
    this.#bytesRead += bytes;
    const made = this.#encoder.encode(this.#text(this.#piece.subarray(0, bytes)));
    this.#lines += lineBreaks(made);
    return made;
  }

  #text(piece: Uint8Array): string {
    try {
      return this.#decoder.decode(piece, { stream: !this.#flushed });
    } catch {
      if (this.#flushed && this.#encoding.startsWith('utf-16') && this.#bytesRead % 2 === 1)
        throw oddUtf16(this.#encoding);
      throw notValid(this.#encoding, this.#lines + this.#linesBefore(piece));
    }
  }

  /**
   * Returns the number of line breaks before the line of a piece that cannot be decoded. If all later lines can be
   * decoded, the first line is the invalid one, and the result is 0.
   */
  #linesBefore(piece: Uint8Array): number {
    const decoder = new TextDecoder(this.#encoding, { fatal: true });
    // The first line may begin inside a character, so it is not tested.
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

  /** Returns the position after the next line break, or 0 if there is no line break. */
  #lineEnd(piece: Uint8Array, from: number): number {
    return piece.indexOf(0x0a, from) + 1;
  }
}

/**
 * Reading throws Undecodable and LateUtf8.
 * @param source starts at the first byte of the file, including the mark
 */
export function textSource(
  source: ByteSource,
  { name, markBytes, mayBeMixed }: Encoding,
  { arena, kernel }: Pick<OpenSettings, 'arena' | 'kernel'>,
): ByteSource {
  if (markBytes > 0) source.read(new Uint8Array(markBytes));
  if (name === 'utf-8') return source;
  const characters = charactersOf(name);
  const utf8Lines = mayBeMixed === true ? new Utf8Lines() : null;
  return characters === null
    ? new MultiByteSource(source, name)
    : new SingleByteSource(source, { name, characters, utf8Lines }, arena.heap, kernel.exports);
}
