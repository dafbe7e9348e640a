// The first bytes of a file, inflated where it was compressed: what formats are told apart by, and what their detectors see.
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import type { EncodingSetting } from '../template/template.ts';
import { type Encoding, type EncodingTries, encodingOf, NOTHING_TRIED } from './encoding/encoding.ts';
import { charactersOf } from './encoding/single-byte-table.ts';
import { utf8OfBytes } from './encoding/utf8-of-bytes.ts';
import { withoutEndMarks } from './end-mark.ts';

/** Bytes looked at before the first row: 500 records of usual width, and what arrives in the first moments of an upload. */
export const START_BYTES = 65_536;

export class FileStart {
  readonly bytes: Uint8Array;
  /** There are no more. */
  readonly isWhole: boolean;
  /** Of the file's name: lower case, without the dot, '' for none. A hint, where the bytes are silent. */
  readonly ending: string;
  readonly #tries: EncodingTries;
  #text: { readonly declared: EncodingSetting; readonly encoding: Encoding; bytes: Uint8Array | null } | null = null;

  /**
   * @param bytes as many as START_BYTES, fewer only where the file ends before
   * @param tries what was learnt of the file when it was read before
   */
  constructor(bytes: Uint8Array, ending: string, tries: EncodingTries = NOTHING_TRIED) {
    this.bytes = bytes;
    this.isWhole = bytes.length < START_BYTES;
    this.ending = ending;
    this.#tries = tries;
  }

  /** @param declared as for `encodingOf`. Throws Failed. */
  encoding(declared: EncodingSetting): Encoding {
    return this.#read(declared).encoding;
  }

  /** The bytes as UTF-8 without a byte order mark and marks of the end, as if they were a text. Throws Failed. */
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

/** Bytes as UTF-8 without a byte order mark; what is not valid in the encoding becomes U+FFFD. */
export function utf8Of(start: Uint8Array, { name, markBytes }: Encoding): Uint8Array {
  const bytes = markBytes === 0 ? start : start.subarray(markBytes);
  // A decoder is made in C++, which takes as long as all it does for a small file.
  if (name === 'utf-8' && isUtf8(bytes)) return bytes;
  const characters = charactersOf(name);
  if (characters !== null) return utf8OfBytes(bytes, characters);
  if (name === 'utf-16le') return utf8OfUtf16(bytes);
  return Buffer.from(new TextDecoder(name, { ignoreBOM: true }).decode(bytes, { stream: true }));
}

/** A character that the end cuts off is left out, as a decoder does that waits for more. */
function utf8OfUtf16(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf16le');
  return Buffer.from(/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text);
}
