// Finds the first record behind any byte of a CSV, by its line breaks: one inside a quoted cell may be taken for the end of
// a record.
import type { FileHead } from '../reader.ts';

const LF = 10;

/**
 * Where a record very likely begins: behind a line break from which on two records have as many fields as the header.
 * Without such a place behind the first line break; 0: there is none.
 */
export function recordStart(bytes: Uint8Array, { delimiter, quote, headers }: FileHead): number {
  const dialect = { delimiter: delimiter!.charCodeAt(0), quote: quote === null ? -1 : quote.charCodeAt(0) };
  const first = bytes.indexOf(LF) + 1;
  for (let start = first; start > 0; start = bytes.indexOf(LF, start) + 1) {
    const one = recordAt(bytes, start, dialect);
    const two = one === null ? null : recordAt(bytes, one.end, dialect);
    if (two === null) return first;
    if (one?.fields === headers.length && two.fields === headers.length) return start;
  }
  return first;
}

/** The record that begins at a byte: its fields and the byte behind its line break. Null: it ends behind these bytes. */
function recordAt(
  bytes: Uint8Array,
  start: number,
  { delimiter, quote }: { readonly delimiter: number; readonly quote: number },
): { readonly fields: number; readonly end: number } | null {
  let fields = 1;
  let quoted = bytes[start] === quote;
  for (let at = start + (quoted ? 1 : 0); at < bytes.length; at++) {
    const byte = bytes[at];
    // Of a doubled quote the second opens again what the first has closed.
    if (byte === quote) quoted = quoted ? false : bytes[at - 1] === quote || bytes[at - 1] === delimiter;
    else if (quoted) continue;
    else if (byte === LF) return { fields, end: at + 1 };
    else if (byte === delimiter) fields++;
  }
  return null;
}
