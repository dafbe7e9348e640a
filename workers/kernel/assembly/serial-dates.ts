// Dates and times as spreadsheets number them: days since 1899-12-30, times as parts of a day. And their texts, as files that
// know types have them (2026-01-31, 2026-01-31T13:05:00.5, 13:05:00), read back.
import { DAY_DIGITS, SERIAL_MAX, SERIAL_MIN, SERIAL_OF_EPOCH } from '../layout/sheet-program';
import { dayNumber, daysInMonth } from './dates';
import { putDigits } from './digits';

const DAY_MICROS: i64 = 86_400_000_000;

/** 10^8 and 10^4: together the digits of DAY_DIGITS. */
const EIGHT: u64 = 100_000_000;
const FOUR: u64 = 10_000;

/** No date, or no text of one. */
export const NO_SERIAL: i64 = i64.MIN_VALUE;

/** Days since 1970-01-01; 0 = it has no serial number that every program reads alike. */
export function putSerialDay(out: usize, days: i64): usize {
  const serial = days + <i64>SERIAL_OF_EPOCH;
  return serial < <i64>SERIAL_MIN || serial > <i64>SERIAL_MAX ? 0 : putDigits(out, <u64>serial, 1);
}

/** Microseconds since 1970-01-01; 0 as above. */
export function putSerialTime(out: usize, microseconds: i64): usize {
  let days = microseconds / DAY_MICROS;
  let rest = microseconds - days * DAY_MICROS;
  if (rest < 0) {
    rest += DAY_MICROS;
    days--;
  }
  const next = putSerialDay(out, days);
  return next == 0 || rest == 0 ? next : putPart(next, <u64>rest);
}

/** Microseconds of a day. */
export function putTimeOfDay(out: usize, microseconds: i64): usize {
  store<u8>(out, 0x30);
  return microseconds == 0 ? out + 1 : putPart(out + 1, <u64>microseconds);
}

/** A point and the part of a day in DAY_DIGITS digits, rounded, without zeros at the end. */
function putPart(out: usize, microseconds: u64): usize {
  const high = microseconds * EIGHT;
  const first = high / <u64>DAY_MICROS;
  const low = (high - first * <u64>DAY_MICROS) * FOUR;
  const digits = first * FOUR + (low + <u64>DAY_MICROS / 2) / <u64>DAY_MICROS;
  store<u8>(out, 0x2e);
  let end = putDigits(out + 1, digits, DAY_DIGITS);
  while (load<u8>(end - 1) == 0x30) end--;
  return end;
}

/** Days since 1970-01-01 of YYYY-MM-DD, or NO_SERIAL. */
export function readDay(start: usize, end: usize): i64 {
  if (end - start != 10 || load<u8>(start, 4) != 0x2d || load<u8>(start, 7) != 0x2d) return NO_SERIAL;
  const year = digitsOf(start, 4), month = digitsOf(start + 5, 2), day = digitsOf(start + 8, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > <i32>daysInMonth(year, month)) return NO_SERIAL;
  return dayNumber(year, month, day);
}

/** Microseconds of hh:mm:ss with up to nine digits behind, or NO_SERIAL. */
export function readTime(start: usize, end: usize): i64 {
  const length = end - start;
  if (length < 8 || load<u8>(start, 2) != 0x3a || load<u8>(start, 5) != 0x3a) return NO_SERIAL;
  const hour = digitsOf(start, 2), minute = digitsOf(start + 3, 2), second = digitsOf(start + 6, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return NO_SERIAL;
  let micros: i64 = 0;
  if (length > 8) {
    if (length < 10 || length > 18 || load<u8>(start, 8) != 0x2e) return NO_SERIAL;
    for (let i: usize = 0; i < 9; i++) {
      const digit = i < length - 9 ? digitsOf(start + 9 + i, 1) : 0;
      if (digit < 0) return NO_SERIAL;
      if (i < 6) micros = micros * 10 + <i64>digit;
    }
  }
  return ((<i64>hour * 60 + <i64>minute) * 60 + <i64>second) * 1_000_000 + micros;
}

/** Microseconds since 1970-01-01 of a day, a T and a time, with a Z or without; or NO_SERIAL. */
export function readDayAndTime(start: usize, end: usize): i64 {
  if (end - start < 19 || load<u8>(start, 10) != 0x54) return NO_SERIAL;
  const days = readDay(start, start + 10);
  const micros = readTime(start + 11, load<u8>(end - 1) == 0x5a ? end - 1 : end);
  return days == NO_SERIAL || micros == NO_SERIAL ? NO_SERIAL : days * DAY_MICROS + micros;
}

/** A number of `count` digits, -1 where a byte is none. */
// @ts-ignore: decorator
@inline
function digitsOf(at: usize, count: u32): i32 {
  let value: i32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const digit = <u32>load<u8>(at + <usize>i) - 0x30;
    if (digit > 9) return -1;
    value = value * 10 + <i32>digit;
  }
  return value;
}
