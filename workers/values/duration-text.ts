// Owns durations as people and programs write them: reading a text as a whole, and the units in which they are counted.
// Months and years have no fixed length and are no durations.
import { Decimal, decimalOf, divideDecimals, multiplyDecimals, parseDecimal, trimZeros } from './decimal.ts';
import { type Duration, durationNanos, durationOf } from './timestamp.ts';

export const DURATION_UNITS = ['ms', 's', 'min', 'h', 'd'] as const;

export type DurationUnit = (typeof DURATION_UNITS)[number];

/** What a text may leave open. */
export interface DurationReading {
  /** What `1:30` is, with no third part. */
  readonly clock?: 'hours_minutes' | 'minutes_seconds';
  /** Of a number alone; without it that is no duration. */
  readonly plain?: DurationUnit | undefined;
  /** The decimal mark of numbers. */
  readonly decimal?: '.' | ',' | undefined;
}

const NANOS_PER_SECOND = 1_000_000_000n;
const NANOS_DIGITS = 9;
/** Longest text that may be a duration: a few words with their numbers. */
const DURATION_LENGTH_MAX = 100;

const UNIT_NANOS: Readonly<Record<DurationUnit | 'w', bigint>> = {
  ms: 1_000_000n,
  s: NANOS_PER_SECOND,
  min: 60n * NANOS_PER_SECOND,
  h: 3600n * NANOS_PER_SECOND,
  d: 86_400n * NANOS_PER_SECOND,
  w: 604_800n * NANOS_PER_SECOND,
};

/** English and German, in lower case and without a dot behind them. */
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

/** `1:30`, `1:30:05.5`, and `2.01:30:00` with days, as .NET writes them. */
const CLOCK =
  /^(?:([0-9]{1,7})\.(?=[0-9]{2}:[0-9]{2}:))?([0-9]{1,7}):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]{1,9}))?)?$/;
/** ISO 8601, without years and months. */
const ISO =
  /^P(?=[0-9T])(?:([0-9.,]+)W)?(?:([0-9.,]+)D)?(?:T(?=[0-9])(?:([0-9.,]+)H)?(?:([0-9.,]+)M)?(?:([0-9.,]+)S)?)?$/i;
const ISO_UNITS = ['w', 'd', 'h', 'min', 's'] as const;
const WORD = /([0-9]+(?:[.,][0-9]+)?)\s*([\p{L}]+)\.?(?:\s*,\s*|\s+|(?=[0-9])|$)/uy;

/** Null for anything that is no duration as a whole, and beyond 10,000 years. */
export function readDuration(text: string, reading: DurationReading = {}): Duration | null {
  const trimmed = text.trim();
  if (trimmed.length === 0 || trimmed.length > DURATION_LENGTH_MAX) return null;
  const sign = /^[+-]/.test(trimmed) ? trimmed[0]! : '';
  const body = trimmed.slice(sign.length);
  const nanos = clockNanos(body, reading) ?? isoNanos(body) ?? wordNanos(body, reading) ?? plainNanos(body, reading);
  return nanos === null ? null : durationOfNanos(sign === '-' ? -nanos : nanos);
}

/** In a unit: exact where its digits end within ten behind the point, else half even. */
export function durationIn(duration: Duration, unit: DurationUnit): Decimal | null {
  const seconds = decimalOf(durationNanos(duration), NANOS_DIGITS);
  const size = decimalOf(UNIT_NANOS[unit], NANOS_DIGITS);
  if (seconds === null || size === null) return null;
  const exact = unit === 's' ? seconds : divideDecimals(seconds, size);
  return exact === null ? null : trimZeros(exact, 0);
}

/** In seconds: below the most that a duration has, and all that is read in one step. */
const PLAIN_SECONDS_MAX = 300_000_000_000;

/**
 * Reads numbers alone, which most cells of a column are, in one step: what readDuration and durationIn give for them, null where
 * those are to say. Null where numbers are none of this unit.
 */
export function plainDurationReader(
  { plain, decimal = '.' }: DurationReading,
  unit: DurationUnit,
): ((text: string) => Decimal | null) | null {
  if (plain === undefined || decimal !== '.' || UNIT_NANOS[plain] % UNIT_NANOS[unit] !== 0n) return null;
  const factor = decimalOf(UNIT_NANOS[plain] / UNIT_NANOS[unit], 0)!;
  const countMax = (PLAIN_SECONDS_MAX * Number(NANOS_PER_SECOND)) / Number(UNIT_NANOS[plain]);
  return (text) => {
    // Six digits of the smallest unit are nanoseconds.
    if (!/^[0-9]{1,8}(?:\.[0-9]{1,6})?$/.test(text) || Number(text) > countMax) return null;
    const product = multiplyDecimals(parseDecimal(text)!, factor);
    return product === null ? null : trimZeros(product, 0);
  };
}

/** So many of a unit; what is below a nanosecond is cut off. Null beyond 10,000 years. */
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

/** `1h 30m`, `90 min`, `2 days, 3 hours`; units from the largest to the smallest, and `1h30`. */
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
