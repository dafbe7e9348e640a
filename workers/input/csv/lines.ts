// Ends of rows in a range of text. All functions except `lastRowEnd` are for messages, off the fast path.
import { isUtf8 } from 'node:buffer';

const LF = 10;
const CR = 13;

/**
 * Searches the structurals that a scan has found. Returns the address after the last one before `after` that ends a row,
 * or `entries` if no structural does.
 */
export function lastRowEnd(u8: Uint8Array, u32: Uint32Array, entries: number, after: number): number {
  let entry = after;
  for (; entry > entries; entry -= 4) {
    const byte = u8[u32[(entry >>> 2) - 1]!];
    if (byte === LF || byte === CR) break;
  }
  return entry;
}

/** Counts the line breaks (LF, CRLF, lone CR; also quoted ones) in [from, to). The byte at `to` must be readable. */
export function countLineBreaks(u8: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) {
    const byte = u8[at];
    if (byte === LF || (byte === CR && u8[at + 1] !== LF)) count++;
  }
  return count;
}

/**
 * Returns the start of the first line that is not valid UTF-8, or -1. A line break byte never occurs inside a
 * character.
 */
export function invalidLine(u8: Uint8Array, from: number, to: number): number {
  if (isUtf8(u8.subarray(from, to))) return -1;
  let lineStart = from;
  for (let at = from; at < to; at++) {
    if (u8[at] !== LF && u8[at] !== CR && at + 1 < to) continue;
    if (!isUtf8(u8.subarray(lineStart, at + 1))) return lineStart;
    lineStart = at + 1;
  }
  throw new Error('text is invalid as a whole and valid in its parts');
}

/** Returns the start of the quoted field that is still open at `to`. `from` is the first byte of the row. */
export function openQuote(u8: Uint8Array, from: number, to: number, delimiter: number, quote: number): number {
  let fieldStart = from;
  let mode: 'start' | 'unquoted' | 'quoted' | 'closed' = 'start';
  for (let at = from; at < to; at++) {
    const byte = u8[at];
    if (byte === quote) {
      if (mode === 'start') fieldStart = at;
      if (mode !== 'unquoted') mode = mode === 'quoted' ? 'closed' : 'quoted';
    } else if (mode !== 'quoted') {
      mode = byte === delimiter ? 'start' : 'unquoted';
    }
  }
  return fieldStart;
}
