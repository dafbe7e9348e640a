// Texts of Parquet's dates, times, timestamps, intervals and UUIDs, in the canonical forms of native kinds; fractions of a second
// only where there are some.
import { civilDate, DAY_MAX, DAY_MIN, dateText } from '../../values/calendar.ts';
import type { TimeUnit } from './schema.ts';

const PER_SECOND: Readonly<Record<TimeUnit, bigint>> = { millis: 1000n, micros: 1_000_000n, nanos: 1_000_000_000n };
const FRACTION_DIGITS: Readonly<Record<TimeUnit, number>> = { millis: 3, micros: 6, nanos: 9 };
const SECONDS_PER_DAY = 86_400;
const MILLIS_PER_SECOND = 1000;

/** Years beyond four digits, and those before 1, are written with a sign and six digits (ISO 8601, expanded). */
export function dateTextOf(days: number): string {
  if (days >= DAY_MIN && days <= DAY_MAX) return dateText(days);
  const { year, month, day } = civilDate(days);
  const digits = String(Math.abs(year)).padStart(6, '0');
  return `${year < 0 ? '-' : '+'}${digits}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** @param value since midnight; beyond a day it has more hours than 23 */
export function timeText(value: bigint, unit: TimeUnit): string {
  if (value < 0n) return `-${timeText(-value, unit)}`;
  const perSecond = PER_SECOND[unit];
  return clockText(Number(value / perSecond), Number(value % perSecond), unit);
}

/** @param value since 1970-01-01T00:00:00; `isUtc`: it is an instant, and says so with a Z */
export function instantText(value: bigint, unit: TimeUnit, isUtc: boolean): string {
  const perSecond = PER_SECOND[unit];
  const rest = ((value % perSecond) + perSecond) % perSecond;
  const seconds = Number((value - rest) / perSecond);
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  const clock = clockText(seconds - days * SECONDS_PER_DAY, Number(rest), unit);
  return `${dateTextOf(days)}T${clock}${isUtc ? 'Z' : ''}`;
}

/** Months, days and milliseconds as a duration of ISO 8601. */
export function intervalText(view: DataView, at: number): string {
  const months = view.getUint32(at, true);
  const days = view.getUint32(at + 4, true);
  const millis = view.getUint32(at + 8, true);
  const date = `${months > 0 ? `${months}M` : ''}${days > 0 ? `${days}D` : ''}`;
  const time = millis > 0 ? `T${millis / MILLIS_PER_SECOND}S` : '';
  return date === '' && time === '' ? 'PT0S' : `P${date}${time}`;
}

export function uuidText(view: DataView, at: number): string {
  const hex = Buffer.from(view.buffer, at, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function clockText(seconds: number, fraction: number, unit: TimeUnit): string {
  const minutes = Math.floor(seconds / 60);
  const whole = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`;
  if (fraction === 0) return whole;
  return `${whole}.${String(fraction).padStart(FRACTION_DIGITS[unit], '0').replace(/0+$/, '')}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
