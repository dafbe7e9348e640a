// Owns sets of characters as ranges of code points, for patterns that are looked into.

/** Ranges of code points, sorted, without overlap: from, to, from, to ... */
export type CharacterSet = readonly number[];

/** \d, \w and \s, which are ASCII in RE2. */
export const DIGIT: CharacterSet = [48, 57];
export const WORD: CharacterSet = [48, 57, 65, 90, 95, 95, 97, 122];
export const BLANK: CharacterSet = [9, 10, 12, 13, 32, 32];

/** Whether a character is in both. */
export function overlaps(left: CharacterSet, right: CharacterSet): boolean {
  for (let a = 0, b = 0; a < left.length && b < right.length; ) {
    if (left[a]! <= right[b + 1]! && right[b]! <= left[a + 1]!) return true;
    if (left[a + 1]! < right[b + 1]!) a += 2;
    else b += 2;
  }
  return false;
}

/** What is in any of the sets. */
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

/** What is not in it. */
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

/** The set in JavaScript's syntax (flag u). */
export function scriptOfSet(set: CharacterSet): string {
  const point = (code: number) => `\\u{${code.toString(16)}}`;
  if (set.length === 2 && set[0] === set[1]) return point(set[0]!);
  let script = '';
  for (let at = 0; at < set.length; at += 2) script += `${point(set[at]!)}-${point(set[at + 1]!)}`;
  return `[${script}]`;
}

const LAST = 0x10ffff;
