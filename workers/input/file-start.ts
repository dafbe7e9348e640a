// The first bytes of a file, decompressed if necessary. Format detection and the detectors of the formats use them.
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { EncodingSetting } from '../template/template.ts';
import { type Encoding, type EncodingTries, encodingOf, NOTHING_TRIED } from './encoding/encoding.ts';
import { charactersOf, utf8OfBytes } from './encoding/single-byte-table.ts';
import { withoutEndMarks } from './end-mark.ts';

/** Bytes used for detection: about 500 rows of usual width, which arrive in the first moments of an upload. */
export const START_BYTES = 65_536;

export class FileStart {
  /**
   * A Buffer, because many detectors look for a byte: `includes` takes 0.4 us for 64 KiB in a Buffer, and 27 us in a
   * Uint8Array. Views of it are Buffers, too.
   */
  readonly bytes: Buffer;
  /** True if the bytes are the whole file. */
  readonly isWhole: boolean;
  /**
   * File name extension in lower case without the dot, or '' if the name has no extension. A hint, used if the bytes do
   * not decide.
   */
  readonly ending: string;
  readonly #tries: EncodingTries;
  #text: { readonly declared: EncodingSetting; readonly encoding: Encoding; bytes: Uint8Array | null } | null = null;

  /**
   * @param bytes START_BYTES bytes, or fewer if the file is shorter
   * @param tries what an earlier attempt learnt about the file
   */
  constructor(bytes: Uint8Array, ending: string, tries: EncodingTries = NOTHING_TRIED) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.isWhole = bytes.length < START_BYTES;
    this.ending = ending;
    this.#tries = tries;
  }

  /** True if an earlier attempt found that spaces before quotes are not part of a field. */
  get quotesAfterSpace(): boolean {
    return this.#tries.quotesAfterSpace === true;
  }

  /** @param declared as for `encodingOf`. Throws Failed. */
  encoding(declared: EncodingSetting): Encoding {
    return this.#read(declared).encoding;
  }

  /**
   * Returns the bytes as UTF-8, without a byte order mark and without end-of-text marks, even if the file is not text.
   * Throws Failed.
   */
  text(declared: EncodingSetting): Uint8Array {
    const read = this.#read(declared);
    if (read.bytes === null) {
      const text = utf8Of(this.bytes, read.encoding);
      read.bytes = this.isWhole ? text.subarray(0, withoutEndMarks(text, 0, text.length)) : text;
    }
    return read.bytes;
  }

  #read(declared: EncodingSetting) {
    if (this.#text?.declared !== declared || this.#text === null) {
      const encoding = encodingOf(this.bytes, this.isWhole, declared, this.#tries);
      this.#text = { declared, encoding, bytes: null };
    }
    return this.#text;
  }
}

/** Returns the bytes as UTF-8 without a byte order mark. Bytes that are invalid in the encoding become U+FFFD. */
export function utf8Of(start: Uint8Array, { name, markBytes }: Encoding): Uint8Array {
  const bytes = markBytes === 0 ? start : start.subarray(markBytes);
  // Avoids TextDecoder if possible: creating one takes as long as everything else for a small file.
  if (name === 'utf-8' && isUtf8(bytes)) return bytes;
  const characters = charactersOf(name);
  if (characters !== null) return utf8OfBytes(bytes, characters);
  if (name === 'utf-16le') return utf8OfUtf16(bytes);
  return Buffer.from(new TextDecoder(name, { ignoreBOM: true }).decode(bytes, { stream: true }));
}

/** Leaves out a character that is cut off at the end, as a streaming decoder does. */
function utf8OfUtf16(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf16le');
  return Buffer.from(/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text);
}
