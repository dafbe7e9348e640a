// Repairs texts that were encoded twice: UTF-8 that a program read as windows-1252 or ISO 8859-1, and encoded again
// (`CafÃ©` is Café). A text is repaired only if all its characters beyond ASCII are such sequences, all of them make
// plausible characters, and at least one of them cannot be the end of a correct word (`PERÚ…` is a correct text).

import { done, type TextWork } from './text-edits.ts';

/** Bytes of the characters that windows-1252 has at 0x80 to 0x9F. */
const BYTES: ReadonlyMap<string, number> = new Map(
  [...'€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'].map((character, index) => [character, 0x80 + index]),
);

/**
 * Characters that follow a word or a number in correct texts, although UTF-8 continues with their bytes. A sequence of
 * a letter and such characters proves nothing.
 */
const FOLLOWERS: ReadonlySet<string> = new Set('€…†‡‰‹‘’“”•–—™›\u00a0¢£¥§©«\u00ad®°±²³¶·¹»¼½¾');

/** The followers that are punctuation. */
const PUNCTUATION: ReadonlySet<string> = new Set('…‹‘’“”–—›«»');
const NO_BREAK_SPACE = '\u00a0';

const CAPITAL = /\p{Lu}/u;
const SMALL_LETTER = /\p{Ll}/u;
const LETTER = /\p{L}/u;

/**
 * Ranges of plausible characters of two bytes: signs and letters of Latin-1 Supplement, Latin Extended-A, Greek and
 * Cyrillic, Hebrew letters, and signs, letters, vowel signs and digits of Arabic.
 */
const PLAUSIBLE_RANGES = [
  ...([
    [0xa0, 0x17f],
    [0x370, 0x52f],
    [0x5d0, 0x5ea],
  ] as const),
  ...([
    [0x60c, 0x60c],
    [0x61b, 0x61b],
    [0x61f, 0x652],
    [0x660, 0x6d5],
    [0x6f0, 0x6f9],
  ] as const),
];

/** Maximum number of repairs of a text. A text that was encoded more often is repaired only in part. */
const ROUNDS_MAX = 3;

/** Number of repaired characters after which the work may pause. */
const PAUSE_CHARACTERS = 16_384;

export function repairEncoding(text: string): string {
  return done(repairEncodingInSlices(text));
}

/** Same for long texts. Yields `undefined` wherever the caller may pause. */
export function* repairEncodingInSlices(text: string): TextWork {
  let repaired = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const made: string | null = yield* decodedOnce(repaired);
    if (made === null) break;
    repaired = made;
  }
  return repaired;
}

/** Returns null if the text contains no evidence, or a character beyond ASCII that is not of a plausible sequence. */
function* decodedOnce(text: string): Generator<undefined, string | null, undefined> {
  const pieces: string[] = [];
  let copied = 0;
  let hasEvidence = false;
  let nextPause = PAUSE_CHARACTERS;
  for (let at = 0; at < text.length; at++) {
    if (at >= nextPause) {
      nextPause += PAUSE_CHARACTERS;
      yield;
    }
    if (text.charCodeAt(at) < 0x80) continue;
    const length = sequenceLength(byteAt(text, at));
    const point = length === 0 ? -1 : decodedPoint(text, at, length);
    if (point < 0 || !isPlausible(point, text[at + 1]!)) return null;
    const followsSequence = at === copied && at > 0;
    hasEvidence ||= followsSequence || isEvidence(text, at, length);
    pieces.push(text.slice(copied, at), String.fromCodePoint(point));
    copied = at + length;
    at = copied - 1;
  }
  return hasEvidence ? pieces.join('') + text.slice(copied) : null;
}

/** True if the character may come from a text that was misread. */
function isPlausible(point: number, second: string): boolean {
  if (point >= 0x800) return true;
  // A correct text contains no control characters of this range: the text was misread twice.
  if (point < 0xa0) return second.charCodeAt(0) === point;
  // A text that was misread again contains all characters of windows-1252, such as ƒ.
  if (BYTES.has(String.fromCodePoint(point))) return true;
  return PLAUSIBLE_RANGES.some(([first, last]) => point >= first && point <= last);
}

/** True if the sequence proves a misread text, because it cannot be the last letter of a word with a sign after it. */
function isEvidence(text: string, at: number, length: number): boolean {
  const lead = text[at]!;
  if ((lead === 'Â' || lead === 'Ã') && endsWord(text, at)) return false;
  if (lead === 'Â' || lead === 'Ã' || (lead === 'â' && text[at + 1] === '€')) return true;
  for (let index = 1; index < length; index++) if (!FOLLOWERS.has(text[at + index]!)) return true;
  // The leads of two bytes are capitals, and in a correct word none follows a small letter.
  return length === 2 && /[a-z]/.test(text[at - 1] ?? '');
}

/**
 * True if a word in capitals may end at the position, before punctuation (`IRMÃ…`) or a no-break space. In a misread
 * text, a letter follows (`KÃ–LN`), or the sign never follows a word (`CITTÃ€`).
 */
function endsWord(text: string, at: number): boolean {
  if (!CAPITAL.test(text[at - 1] ?? '')) return false;
  const [sign, next = ''] = [text[at + 1]!, text[at + 2]];
  if (sign === NO_BREAK_SPACE) return CAPITAL.test(text[at - 2] ?? '') || !SMALL_LETTER.test(next);
  return PUNCTUATION.has(sign) && !LETTER.test(next);
}

/** Number of bytes that a lead byte of UTF-8 announces, or 0. */
function sequenceLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/** Returns the code point of the sequence at a position, or -1 if it is not valid UTF-8. */
function decodedPoint(text: string, at: number, length: number): number {
  let point = byteAt(text, at) & (0xff >> (length + 1));
  for (let index = 1; index < length; index++) {
    const byte = byteAt(text, at + index);
    if (byte < 0x80 || byte > 0xbf) return -1;
    point = point * 64 + (byte & 63);
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][length]!;
  const isSurrogate = point >= 0xd800 && point <= 0xdfff;
  return point < least || point > 0x10ffff || isSurrogate ? -1 : point;
}

/** Returns the byte that a character was read from, or -1. */
function byteAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x100) return code;
  return BYTES.get(text[at]!) ?? -1;
}
