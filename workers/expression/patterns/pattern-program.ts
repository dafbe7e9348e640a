// Owns the program of a pattern as an automaton takes it: steps on characters, and what may hold between two of them.
import { type CharacterSet, union } from './character-set.ts';

/** Assertions, bit by bit, as RE2 has them. */
export const BEGIN_LINE = 1;
export const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

/** A step; `next` and `other` are indices of steps. */
export type PatternStep =
  | { readonly kind: 'either'; readonly next: number; readonly other: number }
  | { readonly kind: 'pass'; readonly next: number }
  /** Notes where it stands: slot 2g is where group g begins, 2g + 1 where it ends. */
  | { readonly kind: 'capture'; readonly slot: number; readonly next: number }
  | { readonly kind: 'assert'; readonly assertions: number; readonly next: number }
  | { readonly kind: 'characters'; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: 'match' }
  | { readonly kind: 'fail' };

export interface PatternProgram {
  readonly steps: readonly PatternStep[];
  readonly start: number;
}

/** Where Unicode has letters with a case; all that differ in case alone lie there. */
export const CASED: CharacterSet = [
  ...[0x41, 0x5ff, 0x10a0, 0x13ff, 0x1c80, 0x21ff, 0x24b6, 0x24e9, 0x2c00, 0x2dff, 0xa640, 0xabff, 0xfb00, 0xfb17],
  ...[0xff21, 0xff5a, 0x10400, 0x10d8f, 0x118a0, 0x118df, 0x16e40, 0x16eff, 0x1e900, 0x1e943],
];

/** What differs from a letter of ASCII in case alone: besides the other one of its pair the long s and the sign of Kelvin. */
const ASCII_CASES: readonly number[] = [0x17f, 0x212a];

/** The characters that a pattern takes for one, as `takes` says, which is asked for all that may differ in case alone. */
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
