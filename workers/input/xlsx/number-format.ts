// Which numbers are dates: told by the letters of a style's number format (ECMA-376 part 1, 18.8.30 and 18.8.31).
import {
  MEANING_DATE as DATE,
  MEANING_DATE_TIME as DATE_TIME,
  MEANING_PLAIN as PLAIN,
  MEANING_TIME as TIME,
} from '../../kernel/layout/sheet.ts';

/** The formats that every workbook has, also those of East Asian programs. 46 is a duration. */
const BUILT_IN: readonly (readonly [from: number, to: number, meaning: number])[] = [
  [14, 17, DATE],
  [18, 21, TIME],
  [22, 22, DATE_TIME],
  [27, 31, DATE],
  [32, 33, TIME],
  [34, 36, DATE],
  [45, 45, TIME],
  [47, 47, TIME],
  [50, 58, DATE],
];

/** MEANING of a format that the workbook does not define itself. */
export function builtInMeaning(id: number): number {
  return BUILT_IN.find(([from, to]) => id >= from && id <= to)?.[2] ?? PLAIN;
}

/** MEANING of a format in words, by its first section: that of numbers above zero. */
export function meaningOfFormat(format: string): number {
  let hasDate = false;
  let hasTime = false;
  let previous = '';
  let undecided = false;
  for (const [part] of format.matchAll(/"[^"]*"?|\\.?|[_*].?|\[[^\]]*\]?|General|AM\/PM|A\/P|E[+-]|([a-z])\1*|;/gi)) {
    if (part === ';') break;
    if (/^\[(?:h+|m+|s+)\]$/i.test(part)) return PLAIN;
    if (/^(?:am\/pm|a\/p)$/i.test(part)) hasTime = true;
    if (!/^([a-z])\1*$/i.test(part)) continue;
    const letter = part[0]!.toLowerCase();
    if (letter === 'h' || letter === 's') {
      hasTime = true;
      // Minutes stand before seconds or behind hours, months elsewhere.
      if (letter === 's') undecided = false;
    } else if (letter === 'm') {
      if (undecided) hasDate = true;
      undecided = previous !== 'h' && previous !== 's';
    } else if ('dyegb'.includes(letter)) hasDate = true;
    else continue;
    if (letter !== 'm' && letter !== 's' && undecided) {
      hasDate = true;
      undecided = false;
    }
    previous = letter;
  }
  if (undecided) hasDate = true;
  if (hasDate) return hasTime ? DATE_TIME : DATE;
  return hasTime ? TIME : PLAIN;
}
