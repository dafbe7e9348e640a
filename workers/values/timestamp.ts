// Days, dates and instants: the Gregorian calendar, instants and durations with nanoseconds, epochs, and day numbers of
// workbooks.

// Arithmetic of the proleptic Gregorian calendar on day numbers (0 is 1970-01-01). Independent of time zones,
// patterns and locales.

/** Day number of 0001-01-01, the first valid day of dates and datetimes. */
export const DAY_MIN = -719162;
/** Day number of 9999-12-31, the last valid day of dates and datetimes. */
export const DAY_MAX = 2932896;

/** A year (1 to 9999), a month (1 to 12) and a day of the month (1 to 31). */
export interface CivilDate {
  year: number;
  month: number;
  day: number;
}

/** A date without a time: `days` since 1970-01-01. */
export class CalendarDate {
  readonly days: number;

  constructor(days: number) {
    this.days = days;
  }

  toString(): string {
    return dateText(this.days);
  }
}

/** Day number of an existing date. Source: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms. */
export function dayNumber(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

/** The date of a day number. */
export function civilDate(days: number): CivilDate {
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** True if the three numbers are a date from 0001-01-01 to 9999-12-31. */
export function isDate(year: number, month: number, day: number): boolean {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Years divisible by 4, except those divisible by 100 but not by 400. */
function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Adds months to a date (subtracts them if negative). If the resulting month is too short, returns its last day. */
export function addMonths(days: number, months: number): number {
  const { year, month, day } = civilDate(days);
  const index = year * 12 + (month - 1) + months;
  const newYear = Math.floor(index / 12);
  const newMonth = index - newYear * 12 + 1;
  return dayNumber(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
}

/**
 * Number of whole months from one day to another; negative if `to` is earlier. addMonths(from, result) never passes
 * `to`.
 */
export function monthsBetween(from: number, to: number): number {
  const a = civilDate(from);
  const b = civilDate(to);
  let months = (b.year - a.year) * 12 + (b.month - a.month);
  if (months > 0 && addMonths(from, months) > to) months--;
  if (months < 0 && addMonths(from, months) < to) months++;
  return months;
}

/** 1 (Monday) to 7 (Sunday), numbered as in ISO 8601. */
export function isoWeekday(days: number): number {
  return ((((days + 3) % 7) + 7) % 7) + 1;
}

/** 1 for the first of January. */
export function dayOfYear(days: number): number {
  return days - dayNumber(civilDate(days).year, 1, 1) + 1;
}

/** Year and week of ISO 8601. A week belongs to the year of its Thursday. */
export function isoWeek(days: number): { year: number; week: number } {
  const thursday = days + 4 - isoWeekday(days);
  const { year } = civilDate(thursday);
  return { year, week: Math.floor((thursday - dayNumber(year, 1, 1)) / 7) + 1 };
}

/**
 * Day number of an ISO 8601 week and weekday (1 is Monday). Null if the year does not have that week, or if the day
 * is out of range.
 */
export function dayOfIsoWeek(year: number, week: number, weekday: number): number | null {
  if (!(year >= 1 && year <= 9999 && week >= 1 && week <= 53 && weekday >= 1 && weekday <= 7)) return null;
  const fourth = dayNumber(year, 1, 4);
  const monday = fourth - isoWeekday(fourth) + 1 + (week - 1) * 7;
  if (week === 53 && isoWeek(monday).week !== 53) return null;
  const day = monday + weekday - 1;
  return day < DAY_MIN || day > DAY_MAX ? null : day;
}

/** First day of the month. */
export function startOfMonth(days: number): number {
  return days - civilDate(days).day + 1;
}

/** Last day of the month. */
export function endOfMonth(days: number): number {
  const { year, month } = civilDate(days);
  return dayNumber(year, month, daysInMonth(year, month));
}

/** Formats a date as `2024-02-29`. */
export function dateText(days: number): string {
  const { year, month, day } = civilDate(days);
  return `${String(year).padStart(4, '0')}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
}

/** Day number of a text exactly of the form `2024-02-29`, or null. */
export function parseDateText(text: string): number | null {
  if (text.length !== 10 || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return null;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8));
  return isDate(year, month, day) ? dayNumber(year, month, day) : null;
}

// Instants and durations with nanoseconds: their ranges, arithmetic and RFC 3339 texts. For named zones see
// time-zone.ts, for patterns date-pattern.ts.

/** Seconds of 0001-01-01T00:00:00Z, the start of the range of instants (protobuf Timestamp). */
const SECOND_MIN = -62135596800;
/** Seconds of 9999-12-31T23:59:59Z, the end of the range of instants. */
const SECOND_MAX = 253402300799;

/** Maximum duration in seconds: 10,000 years, as in protobuf Duration. */
const DURATION_SECOND_MAX = 315576000000;

const NANOS_PER_SECOND = 1_000_000_000;

/**
 * An instant: `seconds` since 1970-01-01T00:00:00Z (an integer, negative before that date) and `nanos` 0 to
 * 999,999,999. `offsetSeconds` is used only for display; instants are compared regardless of their offsets.
 */
export class Timestamp {
  readonly seconds: number;
  readonly nanos: number;
  readonly offsetSeconds: number;

  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }

  toString(): string {
    return timestampText(this);
  }
}

/** A duration: the sum of `seconds` and `nanos`, with `nanos` 0 to 999,999,999 (-0.5 s is -1 and 500,000,000). */
export class Duration {
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    this.seconds = seconds;
    this.nanos = nanos;
  }

  toString(): string {
    return durationText(this);
  }
}

/** An instant with nanos carried over to seconds; null if out of range. */
export function timestampOf(seconds: number, nanos: number, offsetSeconds = 0): Timestamp | null {
  const carried = seconds + Math.floor(nanos / NANOS_PER_SECOND);
  const rest = nanos - Math.floor(nanos / NANOS_PER_SECOND) * NANOS_PER_SECOND;
  return carried < SECOND_MIN || carried > SECOND_MAX ? null : new Timestamp(carried, rest, offsetSeconds);
}

/** A duration with nanos carried over to seconds; null if out of range. */
export function durationOf(seconds: number, nanos: number): Duration | null {
  const carried = seconds + Math.floor(nanos / NANOS_PER_SECOND);
  const rest = nanos - Math.floor(nanos / NANOS_PER_SECOND) * NANOS_PER_SECOND;
  if (carried > DURATION_SECOND_MAX || (carried === DURATION_SECOND_MAX && rest > 0)) return null;
  return carried < -DURATION_SECOND_MAX ? null : new Duration(carried, rest);
}

/** Compares two instants or two durations: -1, 0 or 1. */
export function compareInstants(left: Timestamp | Duration, right: Timestamp | Duration): number {
  if (left.seconds !== right.seconds) return left.seconds < right.seconds ? -1 : 1;
  return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;
}

/**
 * Parses RFC 3339: `2024-02-29T12:00:00.5+01:00`. Null for other texts, for instants out of range, and for fractions
 * of a nanosecond.
 */
export function parseTimestamp(text: string): Timestamp | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (!isDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return null;
  const nanos = Number((match[7] ?? '').padEnd(9, '0'));
  const offset = match[8] === 'Z' || match[8] === 'z' ? 0 : parseOffset(match[8]!);
  if (offset === null) return null;
  return timestampOf(dayNumber(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset, nanos);
}

/** The instant of a `datetime` cell, which has microseconds, or the code of the error. */
export function readDatetime(text: string): Timestamp | 'NOT_A_DATE' | 'PRECISION_LOSS' {
  if (!FINER_THAN_MICROSECOND.test(text)) return parseTimestamp(text) ?? 'NOT_A_DATE';
  const cut = text.replace(/(\.[0-9]{6})[0-9]+/, '$1');
  return parseTimestamp(cut) === null ? 'NOT_A_DATE' : 'PRECISION_LOSS';
}

/** Parses `+02:00`, `-09:30` or `02:00`. Returns seconds, or null for other texts. */
export function parseOffset(text: string): number | null {
  const match = /^([+-]?)([0-9]{2}):([0-9]{2})$/.exec(text);
  if (match === null) return null;
  const hours = Number(match[2]);
  const minutes = Number(match[3]);
  if (hours > 23 || minutes > 59) return null;
  const seconds = hours * 3600 + minutes * 60;
  return match[1] === '-' ? -seconds : seconds;
}

/** Formats RFC 3339 in the instant's offset. The fraction has no trailing zeros. */
export function timestampText(value: Timestamp): string {
  const local = value.seconds + value.offsetSeconds;
  const days = Math.floor(local / 86400);
  const { year, month, day } = civilDate(days);
  const second = local - days * 86400;
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  const time = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
  return `${date}T${time}${fractionText(value.nanos)}${offsetText(value.offsetSeconds)}`;
}

/** `Z`, or `+01:00`. */
export function offsetText(offsetSeconds: number): string {
  if (offsetSeconds === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  return `${offsetSeconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Formats a duration in seconds, with a fraction if it is not zero: `-1.5s`. */
export function durationText(value: Duration): string {
  if (value.seconds >= 0) return `${value.seconds}${fractionText(value.nanos)}s`;
  const whole = value.nanos === 0 ? -value.seconds : -value.seconds - 1;
  return `-${whole}${fractionText(value.nanos === 0 ? 0 : NANOS_PER_SECOND - value.nanos)}s`;
}

/** Parses Go durations, which CEL uses: `1h45m47s`, `-1.5s`, `300ms`, `0`. Null for other texts and out of range. */
export function parseDuration(text: string): Duration | null {
  const sign = /^[+-]/.test(text) ? text[0] : '';
  const body = text.slice(sign!.length);
  if (body === '0') return new Duration(0, 0);
  if (body.length > 100 || !/^(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return null;
  let nanos = 0n;
  for (const [, whole, fraction, unit] of body.matchAll(/([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const size = UNIT_NANOS[unit!]!;
    const digits = (fraction ?? '').slice(0, 18);
    nanos += BigInt(whole || '0') * size + (BigInt(digits || '0') * size) / 10n ** BigInt(digits.length);
  }
  if (sign === '-') nanos = -nanos;
  const billion = BigInt(NANOS_PER_SECOND);
  const rest = ((nanos % billion) + billion) % billion;
  const seconds = (nanos - rest) / billion;
  return seconds > DURATION_SECOND_MAX || seconds < -DURATION_SECOND_MAX
    ? null
    : durationOf(Number(seconds), Number(rest));
}

/** A duration in nanoseconds. */
export function durationNanos(value: Duration): bigint {
  return BigInt(value.seconds) * BigInt(NANOS_PER_SECOND) + BigInt(value.nanos);
}

const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9})0*)?([Zz]|[+-][0-9]{2}:[0-9]{2})$/;

const FINER_THAN_MICROSECOND = /\.[0-9]{6}0*[1-9]/;

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

function fractionText(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}

// The date and time of day that a date pattern reads or writes.

/** Content of a text: a day and a time of that day. `offsetSeconds` is null if the text contains no offset. */
export interface DateFields {
  days: number;
  second: number;
  nanos: number;
  offsetSeconds: number | null;
  /** Named zone in the text. Absent if the text has an offset. */
  zone?: { readonly name: string; offsetAt(seconds: number): number };
}

/** The fields of an instant in the instant's offset. */
export function fieldsOfTimestamp(value: Timestamp): DateFields {
  const local = value.seconds + value.offsetSeconds;
  const days = Math.floor(local / 86400);
  return { days, second: local - days * 86400, nanos: value.nanos, offsetSeconds: value.offsetSeconds };
}

/** The instant of fields, with the fields' offset or, if absent, the given one. Null if out of range. */
export function timestampOfFields(fields: DateFields, offsetSeconds: number): Timestamp | null {
  const offset = fields.offsetSeconds ?? offsetSeconds;
  return timestampOf(fields.days * 86400 + fields.second - offset, fields.nanos, offset);
}

// Instants as seconds or smaller units since 1970-01-01T00:00:00Z, as written in logs and APIs.

/** Counted unit: seconds, milliseconds, microseconds or nanoseconds. */
export type EpochUnit = 's' | 'ms' | 'us' | 'ns';

/** Digits of a whole number of units that are a fraction of a second. */
const FRACTION_DIGITS: Readonly<Record<EpochUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 };

const SECONDS_PER_DAY = 86_400;
const NANOS_PER_MILLISECOND = 1_000_000;
const NANOS_DIGITS = 9;
/** Allows as many digits as any valid instant has before its point: the year 9999 ends at 253402300799999999999 ns. */
const EPOCH_TEXT = /^(-?)([0-9]{1,21})(?:\.([0-9]{1,9}))?$/;

/**
 * The day and time (UTC) of a number such as `1767225600` or `-0.5`. Null for other texts, for instants out of range,
 * and for fractions of a nanosecond.
 */
export function epochFields(text: string, unit: EpochUnit): DateFields | null {
  const match = EPOCH_TEXT.exec(text);
  if (match === null) return null;
  const instant = instantOf(match[2]!, match[3] ?? '', match[1] === '-' ? -1 : 1, unit);
  if (instant === null) return null;
  const days = Math.floor(instant.seconds / SECONDS_PER_DAY);
  return { days, second: instant.seconds - days * SECONDS_PER_DAY, nanos: instant.nanos, offsetSeconds: 0 };
}

/** Number of whole units up to an instant. A fraction is rounded towards the past. */
export function epochOf({ seconds, nanos }: Timestamp, unit: 's' | 'ms'): number {
  return unit === 's' ? seconds : seconds * 1000 + Math.floor(nanos / NANOS_PER_MILLISECOND);
}

function instantOf(whole: string, fraction: string, sign: 1 | -1, unit: EpochUnit): Timestamp | null {
  const part = FRACTION_DIGITS[unit];
  const digits = whole.padStart(part + 1, '0');
  const seconds = Number(digits.slice(0, digits.length - part));
  const parts = (digits.slice(digits.length - part) + fraction).padEnd(NANOS_DIGITS, '0');
  if (!/^0*$/.test(parts.slice(NANOS_DIGITS)) || !Number.isSafeInteger(seconds)) return null;
  return timestampOf(sign * seconds, sign * Number(parts.slice(0, NANOS_DIGITS)));
}

// Day numbers of workbooks.

const DAY_SECONDS = 86_400;

/** Day number of serial 0. In the 1900 date system, days count from 1, and 1900 is treated as a leap year. */
const EXCEL_1900_ZERO = -25_569;
const EXCEL_1904_ZERO = -24_107;

/** In the 1900 date system, smaller serials are one day behind, and serial 60 is a day that does not exist. */
const EXCEL_LEAP_SERIAL = 60;

/** From this many digits after the point on, a serial number holds milliseconds. */
const MILLISECOND_DIGITS_MIN = 9;

/**
 * The day and time of a serial number such as `45000.5`. The time is rounded to milliseconds, or to seconds if the number
 * has too few digits for milliseconds. A time that rounds up to midnight is that of the next day. Null for other texts, and for serial 60 of the 1900 system,
 * which does not exist.
 */
export function excelFields(text: string, system: '1900' | '1904'): DateFields | null {
  if (!/^[0-9]{1,7}(?:\.[0-9]{1,12})?$/.test(text)) return null;
  const serial = Number(text);
  const digits = text.split('.')[1]?.length ?? 0;
  const stepsPerSecond = digits < MILLISECOND_DIGITS_MIN ? 1 : 1000;
  const dayNumber = Math.floor(serial);
  const stepsPerDay = DAY_SECONDS * stepsPerSecond;
  const steps = Math.round((serial - dayNumber) * stepsPerDay);
  const day = steps === stepsPerDay ? dayNumber + 1 : dayNumber;
  const second = Math.floor((steps % stepsPerDay) / stepsPerSecond);
  if (system === '1900' && (day === EXCEL_LEAP_SERIAL || day === 0)) return null;
  const early = system === '1900' && day < EXCEL_LEAP_SERIAL ? 1 : 0;
  const days = day + early + (system === '1900' ? EXCEL_1900_ZERO : EXCEL_1904_ZERO);
  if (days < DAY_MIN || days > DAY_MAX) return null;
  return {
    days,
    second,
    nanos: (steps % stepsPerSecond) * (NANOS_PER_SECOND / stepsPerSecond),
    offsetSeconds: null,
  };
}
