// Writes durations by a pattern (`H:mm:ss`): the largest unit goes on counting, what is below the smallest is cut off.
import { type DatePart, splitPattern } from './date-pattern-parts.ts';
import { type Duration, durationNanos } from './timestamp.ts';

/** A compiled pattern. */
export interface DurationPattern {
  format(duration: Duration): string;
}

/** Units in nanoseconds by their letters, from the largest; S is the fraction of a second. */
const UNITS = new Map([
  ['d', 86_400_000_000_000n],
  ['H', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
  ['s', 1_000_000_000n],
]);
const LETTERS = ['d', 'H', 'm', 's', 'S'];

/** Compiles a pattern of `d`, `H`, `m`, `s`, `S` and texts, or says in a sentence what is wrong with it. */
export function compileDurationPattern(source: string): DurationPattern | { problem: string } {
  const parts = splitPattern(source);
  if (typeof parts === 'string') return { problem: parts };
  const places = parts.filter(({ letter }) => letter !== '').map(({ letter }) => LETTERS.indexOf(letter));
  if (places.length === 0 || places.some((place) => place < 0) || places.every((place) => place === 4))
    return {
      problem: 'write it of d (days), H (hours), m (minutes), s (seconds) and S (their fraction), as in H:mm:ss',
    };
  if (places.some((place, index) => index > 0 && place !== places[index - 1]! + 1))
    return { problem: 'units stand from the largest to the smallest, none left out, as in H:mm:ss' };
  return { format: (duration) => write(parts, duration) };
}

function write(parts: readonly DatePart[], duration: Duration): string {
  const nanos = durationNanos(duration);
  let rest = nanos < 0n ? -nanos : nanos;
  let isZero = true;
  const texts = parts.map(({ letter, count, literal }) => {
    const unit = UNITS.get(letter);
    if (letter === '') return literal;
    if (unit === undefined) {
      const digits = String(rest).padStart(9, '0').slice(0, count);
      isZero &&= /^0*$/.test(digits);
      return digits;
    }
    const number = rest / unit;
    rest %= unit;
    isZero &&= number === 0n;
    return String(number).padStart(count, '0');
  });
  return `${nanos < 0n && !isZero ? '-' : ''}${texts.join('')}`;
}
