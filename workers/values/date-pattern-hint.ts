// What to write instead of the letters of other date patterns: Excel's, German ones, strptime's.

const DAY = 'd is the day, M the month, y the year, as in dd.MM.yyyy';
const YEAR = 'y is the year, M the month, d the day, as in dd.MM.yyyy';
/** For patterns of strptime. */
export const NO_PERCENT = 'it has no percent signs: write dd.MM.yyyy for %d.%m.%Y, HH:mm:ss for %H:%M:%S';

/** What a letter of other pattern languages probably means, with `: ` before it, or nothing. */
export function letterHint(letter: string): string {
  const meant: Readonly<Record<string, string>> = {
    D: DAY,
    T: DAY,
    t: DAY,
    j: DAY,
    Y: YEAR,
    J: YEAR,
    A: YEAR,
    u: YEAR,
    k: 'H is the hour',
  };
  return Object.hasOwn(meant, letter) ? `: ${meant[letter]}` : '';
}
