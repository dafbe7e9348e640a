// Decides how the bytes of a text are encoded: a byte order mark wins, then the Template's word, then UTF-8.
import { Failed } from '../failure.ts';

export interface Encoding {
  /** WHATWG name in lower case, such as utf-8, utf-16le, windows-1252. */
  readonly name: string;
  /** Bytes of the byte order mark to skip. */
  readonly markBytes: number;
}

/** @param declared the Template's `input.csv.encoding`, checked with the Template (see isKnownEncoding) */
export function encodingOf(head: Uint8Array, declared: string | null): Encoding {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { name: 'utf-8', markBytes: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) {
    if (head[2] === 0 && head[3] === 0 && head.length >= 4)
      throw new Failed('MALFORMED_FILE', 'The file is UTF-32; send UTF-8.');
    return { name: 'utf-16le', markBytes: 2 };
  }
  if (head[0] === 0xfe && head[1] === 0xff) return { name: 'utf-16be', markBytes: 2 };
  if (declared === null) return { name: 'utf-8', markBytes: 0 };
  return { name: new TextDecoder(declared).encoding, markBytes: 0 };
}

/** For the Template's check. */
export function isKnownEncoding(name: string): boolean {
  try {
    return new TextDecoder(name, { fatal: true }).fatal;
  } catch {
    return false;
  }
}
