// Which quotes a file may have.
import type { Samples } from './samples.ts';

const LF = 10;
const SPACE = 0x20;
const SINGLE_QUOTE = 0x27;

/** Bytes before a field, and behind it. */
const FIELD_ENDS: ReadonlySet<number> = new Set([...',;\t|\r\n'].map((mark) => mark.charCodeAt(0)));

/** The double quote is the rule; a single quote is tried only where it stands at the start of a field, or behind spaces. */
export function quoteCandidates(samples: Samples): string[] {
  if (!samples.holds("'") || samples.holds('"')) return ['"'];
  return hasSingleQuotes(samples.bytes) ? ['"', "'"] : ['"'];
}

/** Whether a field of one line stands in single quotes, whatever usual mark cuts it. */
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
