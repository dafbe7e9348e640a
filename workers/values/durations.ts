// Durations and times of day as people and programs write them.

import { compileDatePattern, type DatePart, type DatePattern, splitPattern } from './date-pattern.ts';
import { Decimal, decimalOf, divideDecimals, multiplyDecimals, parseDecimal, trimZeros } from './decimal.ts';
import { type DateFields, type Duration, durationNanos, durationOf } from './timestamp.ts';

// Parses durations as people and programs write them, and converts them to and from units. Months and years are not
// durations, because their length varies.

export const DURATION_UNITS = ['ms', 's', 'min', 'h', 'd'] as const;

export type DurationUnit = (typeof DURATION_UNITS)[number];

/** Options for ambiguous texts. */
export interface DurationReading {
  /** Meaning of `1:30`, which has no third part. */
  readonly clock?: 'hours_minutes' | 'minutes_seconds';
  /** Unit of a number without a unit. If absent, such a number is not a duration. */
  readonly plain?: DurationUnit | undefined;
  /** Decimal mark of numbers. */
  readonly decimal?: '.' | ',' | undefined;
}

const NANOS_PER_SECOND = 1_000_000_000n;
const NANOS_DIGITS = 9;
/** Maximum length of a duration's text, in characters: a few words with their numbers. */
const DURATION_LENGTH_MAX = 100;

const UNIT_NANOS: Readonly<Record<DurationUnit | 'w', bigint>> = {
  ms: 1_000_000n,
  s: NANOS_PER_SECOND,
  min: 60n * NANOS_PER_SECOND,
  h: 3600n * NANOS_PER_SECOND,
  d: 86_400n * NANOS_PER_SECOND,
  w: 604_800n * NANOS_PER_SECOND,
};

/** Unit names in English and German, in lower case and without a trailing dot. */
const UNIT_NAMES: ReadonlyMap<string, DurationUnit | 'w'> = new Map(
  Object.entries({
    ms: 'ms msec msecs millisecond milliseconds millisekunde millisekunden',
    s: 's sec secs second seconds sek sekunde sekunden',
    min: 'm min mins minute minutes minuten',
    h: 'h hr hrs hour hours std stunde stunden',
    d: 'd day days tag tage tagen',
    w: 'w week weeks woche wochen',
  }).flatMap(([unit, names]) => names.split(' ').map((name) => [name, unit as DurationUnit | 'w'] as const)),
);

/** Matches `1:30`, `05:10.5`, `1:30:05.5`, and `2.01:30:00` with days, as .NET writes them. */
const CLOCK =
  /^(?:([0-9]{1,7})\.(?=[0-9]{2}:[0-9]{2}:))?([0-9]{1,7}):([0-5][0-9])(?::([0-5][0-9]))?(?:[.,]([0-9]{1,9}))?$/;
/** Matches ISO 8601 durations without years and months. */
const ISO =
  /^P(?=[0-9T])(?:([0-9.,]+)W)?(?:([0-9.,]+)D)?(?:T(?=[0-9])(?:([0-9.,]+)H)?(?:([0-9.,]+)M)?(?:([0-9.,]+)S)?)?$/i;
const ISO_UNITS = ['w', 'd', 'h', 'min', 's'] as const;
const WORD = /([0-9]+(?:[.,][0-9]+)?)\s*([\p{L}]+)\.?(?:\s*,\s*|\s+|(?=[0-9])|$)/uy;

/** Returns null if the whole text is not a duration, or for more than 10,000 years. */
export function readDuration(text: string, reading: DurationReading = {}): Duration | null {
  const trimmed = text.trim();
  if (trimmed.length === 0 || trimmed.length > DURATION_LENGTH_MAX) return null;
  const sign = /^[+-]/.test(trimmed) ? trimmed[0]! : '';
  const body = trimmed.slice(sign.length);
  const nanos = clockNanos(body, reading) ?? isoNanos(body) ?? wordNanos(body, reading) ?? plainNanos(body, reading);
  return nanos === null ? null : durationOfNanos(sign === '-' ? -nanos : nanos);
}

/**
 * Converts a duration to a unit. Exact if it needs at most ten digits after the point, otherwise rounded half even.
 */
export function durationIn(duration: Duration, unit: DurationUnit): Decimal | null {
  const seconds = decimalOf(durationNanos(duration), NANOS_DIGITS);
  const size = decimalOf(UNIT_NANOS[unit], NANOS_DIGITS);
  if (seconds === null || size === null) return null;
  const exact = unit === 's' ? seconds : divideDecimals(seconds, size);
  return exact === null ? null : trimZeros(exact, 0);
}

/** Maximum number of seconds read by the fast path. Smaller than the maximum of a duration. */
const PLAIN_SECONDS_MAX = 300_000_000_000;

/**
 * Creates a fast path for numbers without a unit, which are most cells of a column. Its results equal those of
 * readDuration and durationIn; it returns null for a text that these must read. Returns null itself if such numbers
 * do not have this unit.
 */
export function plainDurationReader(
  { plain, decimal = '.' }: DurationReading,
  unit: DurationUnit,
): ((text: string) => Decimal | null) | null {
  if (plain === undefined || decimal !== '.' || UNIT_NANOS[plain] % UNIT_NANOS[unit] !== 0n) return null;
  const factor = decimalOf(UNIT_NANOS[plain] / UNIT_NANOS[unit], 0)!;
  const countMax = (PLAIN_SECONDS_MAX * Number(NANOS_PER_SECOND)) / Number(UNIT_NANOS[plain]);
  return (text) => {
    // Six digits after the point of the smallest unit are nanoseconds.
    if (!/^[0-9]{1,8}(?:\.[0-9]{1,6})?$/.test(text) || Number(text) > countMax) return null;
    const product = multiplyDecimals(parseDecimal(text)!, factor);
    return product === null ? null : trimZeros(product, 0);
  };
}

/** The duration of a number of units; fractions of a nanosecond are cut off. Null beyond 10,000 years. */
export function durationOfCount({ digits, scale }: Decimal, unit: DurationUnit): Duration | null {
  return durationOfNanos((BigInt(digits) * UNIT_NANOS[unit]) / 10n ** BigInt(scale));
}

export function isDurationUnit(text: string): text is DurationUnit {
  return (DURATION_UNITS as readonly string[]).includes(text);
}

function durationOfNanos(nanos: bigint): Duration | null {
  const rest = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  return durationOf(Number((nanos - rest) / NANOS_PER_SECOND), Number(rest));
}

function clockNanos(text: string, { clock = 'hours_minutes' }: DurationReading): bigint | null {
  const match = CLOCK.exec(text);
  if (match === null) return null;
  const [, days = '0', first = '0', second = '0', third, fraction = ''] = match;
  const isShort = third === undefined && clock === 'minutes_seconds';
  // Only seconds have a fraction.
  if (third === undefined && !isShort && fraction !== '') return null;
  const [hours, minutes, seconds] = isShort ? ['0', first, second] : [first, second, third ?? '0'];
  const whole = BigInt(days) * 86_400n + BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds);
  return whole * NANOS_PER_SECOND + BigInt(fraction.padEnd(NANOS_DIGITS, '0'));
}

function isoNanos(text: string): bigint | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  let sum = 0n;
  for (const [index, unit] of ISO_UNITS.entries()) {
    const number = match[index + 1];
    if (number === undefined) continue;
    const nanos = countNanos(number.replace(',', '.'), unit);
    if (nanos === null) return null;
    sum += nanos;
  }
  return sum;
}

/** Reads `1h 30m`, `90 min`, `2 days, 3 hours`, with units from the largest to the smallest, and `1h30`. */
function wordNanos(text: string, { decimal = '.' }: DurationReading): bigint | null {
  const french = /^([0-9]{1,7})\s?h\s?([0-5][0-9])$/i.exec(text);
  if (french !== null) return BigInt(french[1]!) * UNIT_NANOS.h + BigInt(french[2]!) * UNIT_NANOS.min;
  let sum = 0n;
  let smallest: bigint | null = null;
  for (let at = 0; at < text.length; at = WORD.lastIndex) {
    WORD.lastIndex = at;
    const match = WORD.exec(text);
    const unit = UNIT_NAMES.get(match?.[2]?.toLowerCase() ?? '');
    if (match === null || unit === undefined) return null;
    const nanos = markedNanos(match[1]!, unit, decimal);
    if (nanos === null || (smallest !== null && UNIT_NANOS[unit] >= smallest)) return null;
    smallest = UNIT_NANOS[unit];
    sum += nanos;
  }
  return sum;
}

function plainNanos(text: string, { plain, decimal = '.' }: DurationReading): bigint | null {
  return plain === undefined ? null : markedNanos(text, plain, decimal);
}

function markedNanos(text: string, unit: DurationUnit | 'w', decimal: '.' | ','): bigint | null {
  if (decimal === '.') return countNanos(text, unit);
  return text.includes('.') ? null : countNanos(text.replace(',', '.'), unit);
}

function countNanos(text: string, unit: DurationUnit | 'w'): bigint | null {
  const match = /^([0-9]{1,15})(?:\.([0-9]{1,9}))?$/.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? '';
  const digits = new Decimal(BigInt(match[1]! + fraction), fraction.length);
  return (BigInt(digits.digits) * UNIT_NANOS[unit]) / 10n ** BigInt(digits.scale);
}

// Formats durations by a pattern (`H:mm:ss`). The largest unit is unlimited; the part below the smallest unit is cut
// off.

/** A compiled pattern. */
export interface DurationPattern {
  format(duration: Duration): string;
}

/** Nanoseconds of the units by their letters, from the largest. S is the fraction of a second. */
const UNITS = new Map([
  ['d', 86_400_000_000_000n],
  ['H', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
  ['s', 1_000_000_000n],
]);
const LETTERS = ['d', 'H', 'm', 's', 'S'];

/** Compiles a pattern of `d`, `H`, `m`, `s`, `S` and literals, or returns a sentence about what is wrong with it. */
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

// Times of day: seconds and nanoseconds since midnight, without a zone, as texts (`14:30:00`) and by patterns.

/** A time of day, from 00:00:00 to before 24:00:00. */
export interface TimeOfDay {
  readonly second: number;
  readonly nanos: number;
}

/** Common notations of times. Each text matches at most one of them. A fraction may have any number of digits. */
export const TIME_FORMATS: readonly string[] = [
  'H:mm',
  'H:mm:ss',
  'H:mm:ss.SSS',
  'h:mm a',
  'h:mma',
  'h:mm:ss a',
  'h a',
  'ha',
];

/** Compiles a pattern that contains only a time, or returns a sentence about what is wrong with it. */
export function compileTimePattern(source: string): DatePattern | { problem: string } {
  const pattern = compileDatePattern(source);
  if ('problem' in pattern) return pattern;
  const isTime = pattern.parts.every(({ letter }) => letter === '' || 'HhmsSa'.includes(letter));
  return pattern.hasTime && isTime
    ? pattern
    : {
        problem:
          'it needs hours and no date or zone, as in HH:mm or h:mm a; for minutes and seconds, use parse_duration',
      };
}

/** Formats a time as `14:30:00`, with a fraction if it is not zero. */
export function timeText({ second, nanos }: TimeOfDay): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}${fraction}`;
}

/** Parses texts of the form `14:30:00.5` only. */
export function parseTimeText(text: string): TimeOfDay | null {
  const match = /^([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9})0*)?$/.exec(text);
  if (match === null) return null;
  const [hours, minutes, seconds] = match.slice(1, 4).map(Number) as [number, number, number];
  return { second: hours * 3600 + minutes * 60 + seconds, nanos: Number((match[4] ?? '').padEnd(9, '0')) };
}

/** Uses the first pattern that matches the whole text. */
export function readTime(text: string, patterns: readonly DatePattern[]): TimeOfDay | null {
  const trimmed = text.trim();
  for (const pattern of patterns) {
    const fields = pattern.parse(trimmed);
    if (fields !== null) return fields;
  }
  return null;
}

/** Converts a time for date patterns. */
export function fieldsOfTime({ second, nanos }: TimeOfDay): DateFields {
  return { days: 0, second, nanos, offsetSeconds: 0 };
}
