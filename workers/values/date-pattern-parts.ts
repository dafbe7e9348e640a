// Cuts a date pattern into its pieces: letters with their counts, and what stands for itself.
import { letterHint, NO_PERCENT } from './date-pattern-hint.ts';

/** Longest pattern in characters: far above any real one, so that a pattern costs nothing to compile. */
const DATE_PATTERN_LENGTH_MAX = 100;

/** One piece of a pattern: a literal (`letter` empty) or `count` times the same letter. */
export interface DatePart {
  readonly letter: string;
  readonly count: number;
  readonly literal: string;
}

const COUNTS: Readonly<Record<string, readonly number[]>> = {
  y: [1, 2, 4],
  M: [1, 2, 3, 4],
  d: [1, 2],
  E: [1, 2, 3, 4],
  H: [1, 2],
  h: [1, 2],
  m: [1, 2],
  s: [1, 2],
  S: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  a: [1],
  X: [1, 2, 3],
  Z: [1, 5],
  z: [1],
  Q: [1, 3],
  Y: [4],
  w: [1, 2],
  e: [1],
};

/** The pieces, or what is wrong with them. */
export function splitPattern(source: string): DatePart[] | string {
  if (source.length === 0 || source.length > DATE_PATTERN_LENGTH_MAX) {
    return `a date pattern has 1 to ${DATE_PATTERN_LENGTH_MAX} characters`;
  }
  const parts: DatePart[] = [];
  for (const [piece, quoted, run] of source.matchAll(/'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z]/g)) {
    if (quoted !== undefined) {
      parts.push({ letter: '', count: 0, literal: quoted === '' ? "'" : quoted.replaceAll("''", "'") });
    } else if (run === undefined) {
      if (piece === "'") return "a quote ' is not closed";
      parts.push({ letter: '', count: 0, literal: piece });
    } else {
      const allowed = Object.hasOwn(COUNTS, run) ? COUNTS[run] : undefined;
      const isKnown = allowed?.includes(piece.length) === true && run !== 'Y';
      if (!isKnown && source.includes('%')) return NO_PERCENT;
      if (allowed === undefined)
        return `the letter ${run} means nothing in a date pattern (put text in '...')${letterHint(run)}`;
      if (run === 'Y' && piece.length !== 4) return `the letter Y means nothing in a date pattern${letterHint('Y')}`;
      if (!allowed.includes(piece.length)) return `${run} is written ${allowed.map((n) => run.repeat(n)).join(' or ')}`;
      if (parts.some((part) => part.letter === run)) return `${run} comes twice`;
      parts.push({ letter: run, count: piece.length, literal: '' });
    }
  }
  return parts;
}
