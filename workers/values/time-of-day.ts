// Owns times of a day: seconds and nanoseconds since midnight, in no zone, as texts (`14:30:00`) and by patterns.
import type { DateFields } from './date-fields.ts';
import { compileDatePattern, type DatePattern } from './date-pattern.ts';

/** A time of the day, from 00:00:00 to before 24:00:00. */
export interface TimeOfDay {
  readonly second: number;
  readonly nanos: number;
}

/** What a time is commonly written as; each text fits one of them at most. */
export const TIME_FORMATS: readonly string[] = [
  'H:mm',
  'H:mm:ss',
  ...[1, 2, 3, 6, 9].map((digits) => `H:mm:ss.${'S'.repeat(digits)}`),
  'h:mm a',
  'h:mma',
  'h:mm:ss a',
  'h a',
  'ha',
];

/** Compiles a pattern that tells a time and nothing else, or says in a sentence what is wrong with it. */
export function compileTimePattern(source: string): DatePattern | { problem: string } {
  const pattern = compileDatePattern(source);
  if ('problem' in pattern) return pattern;
  const isTime = pattern.parts.every(({ letter }) => letter === '' || 'HhmsSa'.includes(letter));
  return pattern.hasTime && isTime ? pattern : { problem: 'it needs hours and no date or zone, as in HH:mm or h:mm a' };
}

/** `14:30:00`, with a fraction where there is one. */
export function timeText({ second, nanos }: TimeOfDay): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}${fraction}`;
}

/** Reads `14:30:00.5` and nothing else. */
export function parseTimeText(text: string): TimeOfDay | null {
  const match = /^([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,18}))?$/.exec(text);
  if (match === null) return null;
  const [hours, minutes, seconds] = match.slice(1, 4).map(Number) as [number, number, number];
  return { second: hours * 3600 + minutes * 60 + seconds, nanos: Number((match[4] ?? '').slice(0, 9).padEnd(9, '0')) };
}

/** The first pattern that the whole text matches counts. */
export function readTime(text: string, patterns: readonly DatePattern[]): TimeOfDay | null {
  const trimmed = text.trim();
  for (const pattern of patterns) {
    const fields = pattern.parse(trimmed);
    if (fields !== null) return fields;
  }
  return null;
}

/** As date patterns take it. */
export function fieldsOfTime({ second, nanos }: TimeOfDay): DateFields {
  return { days: 0, second, nanos, offsetSeconds: 0 };
}
