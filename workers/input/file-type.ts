// Tells a file's type by its first bytes. What the name says is only a hint, and only where the bytes are silent.
import { Failed } from '../failure.ts';

/** What the first bytes are; `text` still has to be told apart into CSV and JSON after decoding. */
export type ContentType = 'gzip' | 'zip' | 'text';

/** First bytes of formats that are refused with 415, with the name that the message uses. */
const REFUSED: readonly (readonly [name: string, magic: readonly number[], offset?: number])[] = [
  ['an OLE2 file (such as .xls, or an encrypted workbook)', [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]],
  ['a PDF', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['a PNG image', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['a JPEG image', [0xff, 0xd8, 0xff]],
  ['a GIF image', [0x47, 0x49, 0x46, 0x38]],
  ['a TIFF image', [0x49, 0x49, 0x2a, 0x00]],
  ['a TIFF image', [0x4d, 0x4d, 0x00, 0x2a]],
  ['a WebP image', [0x57, 0x45, 0x42, 0x50], 8],
  ['a bzip2 archive', [0x42, 0x5a, 0x68, 0x39]],
  ['an xz archive', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['a Zstandard archive', [0x28, 0xb5, 0x2f, 0xfd]],
  ['a 7z archive', [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]],
  ['a RAR archive', [0x52, 0x61, 0x72, 0x21, 0x1a, 0x07]],
  ['a Parquet file', [0x50, 0x41, 0x52, 0x31]],
  ['an SQLite database', [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66, 0x6f, 0x72, 0x6d, 0x61, 0x74, 0x20, 0x33, 0]],
  ['an executable', [0x7f, 0x45, 0x4c, 0x46]],
  ['an MP4 file', [0x66, 0x74, 0x79, 0x70], 4],
];

/** Throws Failed UNSUPPORTED_FILE_TYPE for a format that is known and refused. */
export function contentTypeOf(head: Uint8Array): ContentType {
  if (startsWith(head, [0x1f, 0x8b])) return 'gzip';
  if (startsWith(head, [0x50, 0x4b, 0x03, 0x04]) || startsWith(head, [0x50, 0x4b, 0x05, 0x06])) return 'zip';
  for (const [name, magic, offset] of REFUSED) {
    if (startsWith(head, magic, offset)) {
      throw new Failed('UNSUPPORTED_FILE_TYPE', `The file is ${name}; send CSV (also gzip-compressed).`);
    }
  }
  return 'text';
}

/**
 * True when a text begins as an array of objects, as an object, or as lines of objects. A CSV whose first header is in
 * brackets does not: behind its bracket stands a name, not `{`, `[`, `]`, `"` or `}`.
 */
export function looksLikeJson(text: string): boolean {
  return /^\s*(?:\[\s*(?:[{[\]]|$)|\{\s*(?:"[^"]*"\s*:|\}|$))/.test(text);
}

/** True when a text begins as HTML or XML: 415, since it is no table of ours. */
export function looksLikeMarkup(text: string): boolean {
  return /^\s*<(?:!doctype|\?xml|html|table)\b/i.test(text);
}

function startsWith(head: Uint8Array, magic: readonly number[], offset = 0): boolean {
  for (let index = 0; index < magic.length; index++) if (head[offset + index] !== magic[index]) return false;
  return true;
}
