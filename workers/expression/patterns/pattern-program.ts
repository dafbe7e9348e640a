// Sets of characters, and programs of patterns for automata.

// Sets of characters as ranges of code points, for the analysis of patterns.

/** Sorted ranges of code points without overlap: from, to, from, to ... */
export type CharacterSet = readonly number[];

/** \d, \w and \s, which are ASCII in RE2. */
export const DIGIT: CharacterSet = [48, 57];
export const WORD: CharacterSet = [48, 57, 65, 90, 95, 95, 97, 122];
export const BLANK: CharacterSet = [9, 10, 12, 13, 32, 32];

/** True if the sets have a common character. */
export function overlaps(left: CharacterSet, right: CharacterSet): boolean {
  for (let a = 0, b = 0; a < left.length && b < right.length; ) {
    if (left[a]! <= right[b + 1]! && right[b]! <= left[a + 1]!) return true;
    if (left[a + 1]! < right[b + 1]!) a += 2;
    else b += 2;
  }
  return false;
}

/** Union of the sets. */
export function union(...sets: readonly CharacterSet[]): CharacterSet {
  const pairs: [number, number][] = [];
  for (const set of sets) for (let at = 0; at < set.length; at += 2) pairs.push([set[at]!, set[at + 1]!]);
  pairs.sort((a, b) => a[0] - b[0]);
  const merged: number[] = [];
  for (const [from, to] of pairs) {
    if (merged.length > 0 && from <= merged.at(-1)! + 1) merged[merged.length - 1] = Math.max(merged.at(-1)!, to);
    else merged.push(from, to);
  }
  return merged;
}

/** Complement of the set. */
export function complement(set: CharacterSet): CharacterSet {
  const result: number[] = [];
  let next = 0;
  for (let at = 0; at < set.length; at += 2) {
    if (set[at]! > next) result.push(next, set[at]! - 1);
    next = set[at + 1]! + 1;
  }
  if (next <= LAST) result.push(next, LAST);
  return result;
}

/** The set in JavaScript's pattern syntax (flag u). */
export function scriptOfSet(set: CharacterSet): string {
  const point = (code: number) => `\\u{${code.toString(16)}}`;
  if (set.length === 2 && set[0] === set[1]) return point(set[0]!);
  let script = '';
  for (let at = 0; at < set.length; at += 2) script += `${point(set[at]!)}-${point(set[at + 1]!)}`;
  return `[${script}]`;
}

const LAST = 0x10ffff;

// Program of a pattern for automata: steps on characters, and assertions between characters.

/** Bits of assertions, as in RE2. */
export const BEGIN_LINE = 1;
export const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

/** A step. `next` and `other` are indexes of steps. */
export type PatternStep =
  | { readonly kind: 'either'; readonly next: number; readonly other: number }
  | { readonly kind: 'pass'; readonly next: number }
  /** Records the current position: slot 2g is the start of group g, slot 2g + 1 its end. */
  | { readonly kind: 'capture'; readonly slot: number; readonly next: number }
  | { readonly kind: 'assert'; readonly assertions: number; readonly next: number }
  | { readonly kind: 'characters'; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: 'match' }
  | { readonly kind: 'fail' };

export interface PatternProgram {
  readonly steps: readonly PatternStep[];
  readonly start: number;
}

/** Ranges that contain all Unicode letters with case variants. */
export const CASED: CharacterSet = [
  ...[0x41, 0x5ff, 0x10a0, 0x13ff, 0x1c80, 0x21ff, 0x24b6, 0x24e9, 0x2c00, 0x2dff, 0xa640, 0xabff, 0xfb00, 0xfb17],
  ...[0xff21, 0xff5a, 0x10400, 0x10d8f, 0x118a0, 0x118df, 0x16e40, 0x16eff, 0x1e900, 0x1e943],
];

/** Non-ASCII case variants of ASCII letters: the long s and the Kelvin sign. */
const ASCII_CASES: readonly number[] = [0x17f, 0x212a];

/**
 * The characters that a case-insensitive step accepts for one character. `takes` is called for all possible case
 * variants.
 */
export function foldedCharacters(point: number, takes: (point: number) => boolean): CharacterSet {
  const taken: CharacterSet[] = [[point, point]];
  const ask = (other: number): void => {
    if (takes(other)) taken.push([other, other]);
  };
  if (point < 0x80) for (const other of [point ^ 0x20, ...ASCII_CASES]) ask(other);
  else
    for (let at = 0; at < CASED.length; at += 2)
      for (let other = CASED[at]!; other <= CASED[at + 1]!; other++) ask(other);
  return union(...taken);
}
