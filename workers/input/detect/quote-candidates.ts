// Finds the quote characters that a file may use.
import type { Samples } from './samples.ts';

const LF = 10;
const SPACE = 0x20;
const SINGLE_QUOTE = 0x27;

/** Bytes that may precede or follow a field. */
const FIELD_ENDS: ReadonlySet<number> = new Set([...',;\t|\r\n'].map((mark) => mark.charCodeAt(0)));

/**
 * Always includes the double quote. The single quote is a candidate only if it occurs at the start of a field, possibly
 * after spaces.
 */
export function quoteCandidates(samples: Samples): string[] {
  if (!samples.holds("'") || samples.holds('"')) return ['"'];
  return hasSingleQuotes(samples.bytes) ? ['"', "'"] : ['"'];
}

/** True if a field within one line is in single quotes, with any usual delimiter. */
export function hasSingleQuotes(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(SINGLE_QUOTE); at >= 0; at = bytes.indexOf(SINGLE_QUOTE, at + 1)) {
    let before = at - 1;
    while (bytes[before] === SPACE) before--;
    if (before >= 0 && !FIELD_ENDS.has(bytes[before]!)) continue;
    let end = at + 1;
    while (end < bytes.length && bytes[end] !== SINGLE_QUOTE && bytes[end] !== LF) end++;
    if (bytes[end] === SINGLE_QUOTE && (end + 1 === bytes.length || FIELD_ENDS.has(bytes[end + 1]!))) return true;
  }
  return false;
}
