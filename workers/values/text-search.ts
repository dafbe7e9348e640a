// Text search in linear time. The runtime's search takes the product of both lengths in the worst case, which is
// hours for long repetitive texts; for short texts it is faster. Searches in long texts can pause.
import { done, PIECE_UNITS, type TextWork } from './text-edits.ts';

/** Maximum length of a search text for which the runtime's search is used. It limits the work for each character. */
const SHORT_LENGTH_MAX = 32;

/** Matches that are found between two pauses: about a millisecond of work. */
const PLACES_MAX = 32_768;

/** Work on a long text that yields `undefined` wherever the caller may pause. */
type Search<T> = Generator<undefined, T, undefined>;

/** True if one search takes so long that the forms with pauses are used. */
export function isLongSearch(text: string, part: string): boolean {
  return part.length > SHORT_LENGTH_MAX && text.length > PIECE_UNITS;
}

/**
 * Like String.prototype.indexOf. Preprocesses a long search text at each call; continuing after each match is still
 * linear.
 */
export function indexOfText(text: string, part: string, from = 0): number {
  return part.length <= SHORT_LENGTH_MAX ? text.indexOf(part, from) : done(longIndexOf(text, part, from));
}

/** Like indexOfText, for long texts. */
export function* indexOfInSlices(text: string, part: string, from = 0): Search<number> {
  return part.length <= SHORT_LENGTH_MAX ? text.indexOf(part, from) : yield* longIndexOf(text, part, from);
}

/** Like String.prototype.lastIndexOf. */
export function lastIndexOfText(text: string, part: string, from = text.length): number {
  return part.length <= SHORT_LENGTH_MAX ? text.lastIndexOf(part, from) : done(lastIndexOfInSlices(text, part, from));
}

/** Like lastIndexOfText, for a long search text. */
export function* lastIndexOfInSlices(text: string, part: string, from = text.length): Search<number> {
  const end = Math.min(from + part.length, text.length);
  const found = yield* longIndexOf(reversed(text.slice(0, end)), reversed(part), 0);
  return found < 0 ? -1 : end - found - part.length;
}

/** Number of occurrences of a non-empty text, which do not overlap. */
export function* countInSlices(text: string, part: string): Search<number> {
  const isShort = part.length <= SHORT_LENGTH_MAX;
  let count = 0;
  for (let from = 0; ; count++) {
    const at = isShort ? text.indexOf(part, from) : yield* longIndexOf(text, part, from);
    if (at < 0) return count;
    from = at + part.length;
    if (count % PLACES_MAX === PLACES_MAX - 1) yield;
  }
}

/** The part of a split text with a number from 0, or null if it does not exist. */
export function* partInSlices(text: string, separator: string, number: number): Search<string | null> {
  const isShort = separator.length <= SHORT_LENGTH_MAX;
  let from = 0;
  for (let count = 0; ; count++) {
    const at = isShort ? text.indexOf(separator, from) : yield* longIndexOf(text, separator, from);
    if (count === number) return text.slice(from, at < 0 ? text.length : at);
    if (at < 0) return null;
    from = at + separator.length;
    if (count % PLACES_MAX === PLACES_MAX - 1) yield;
  }
}

/** Like String.prototype.split with a non-empty separator; returns at most `limit` pieces. */
export function splitText(text: string, separator: string, limit?: number): string[] {
  return separator.length <= SHORT_LENGTH_MAX
    ? text.split(separator, limit)
    : done(splitInSlices(text, separator, limit));
}

/** Like splitText, for a long separator. */
export function* splitInSlices(text: string, separator: string, limit?: number): Search<string[]> {
  const pieces: string[] = [];
  for (let from = 0; pieces.length !== limit; ) {
    const at = yield* longIndexOf(text, separator, from);
    pieces.push(text.slice(from, at < 0 ? text.length : at));
    if (at < 0) break;
    from = at + separator.length;
  }
  return pieces;
}

/** Like String.prototype.replaceAll with a non-empty search text; `by` is inserted literally. */
export function replaceAllText(text: string, part: string, by: string): string {
  if (part.length <= SHORT_LENGTH_MAX) return text.replace(literalPattern(part), by.replaceAll('$', '$$$$'));
  return splitText(text, part).join(by);
}

/** Like replaceAllText, for long texts. */
export function* replaceAllInSlices(text: string, part: string, by: string): TextWork {
  if (part.length > SHORT_LENGTH_MAX) return (yield* splitInSlices(text, part)).join(by);
  const made: string[] = [];
  let from = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    if (at - from < PIECE_UNITS) continue;
    made.push(replaceAllText(text.slice(from, at), part, by));
    from = at;
    yield;
  }
  made.push(replaceAllText(text.slice(from), part, by));
  return made.join('');
}

/** Replaces the first `count` occurrences. The text has at least as many. */
export function* replaceFirstInSlices(text: string, part: string, by: string, count: number): TextWork {
  const isShort = part.length <= SHORT_LENGTH_MAX;
  let end = 0;
  for (let replaced = 0; replaced < count; replaced++) {
    const at = isShort ? text.indexOf(part, end) : yield* longIndexOf(text, part, end);
    end = at + part.length;
    if (replaced % PLACES_MAX === PLACES_MAX - 1) yield;
  }
  return (yield* replaceAllInSlices(text.slice(0, end), part, by)) + text.slice(end);
}

/**
 * String.replaceAll creates a node of 32 bytes for each match, 130 MB for a long cell. A pattern writes the result at
 * once.
 */
function literalPattern(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'g');
}

/** Knuth, Morris, Pratt: Fast Pattern Matching in Strings (1977). */
function* longIndexOf(text: string, part: string, from: number): Search<number> {
  if (part.length > text.length - from) return -1;
  const borders = yield* bordersOf(part);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === unit) matched++;
    if (matched === part.length) return at - part.length + 1;
    if (at % PIECE_UNITS === PIECE_UNITS - 1) yield;
  }
  return -1;
}

/** For each prefix of the text, the length of the longest shorter prefix that is also its suffix. */
function* bordersOf(part: string): Search<Int32Array> {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at++) {
    const unit = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (part.charCodeAt(length) === unit) length++;
    borders[at] = length;
    if (at % PIECE_UNITS === PIECE_UNITS - 1) yield;
  }
  return borders;
}

/** Reverses UTF-16 units, not characters: the result is used for searching only. */
function reversed(text: string): string {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[text.length - 1 - at] = text.charCodeAt(at);
  return Buffer.from(units.buffer).toString('utf16le');
}
