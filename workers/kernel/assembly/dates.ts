// Parses and formats dates and local times by patterns of digits and ASCII characters. Scalar reference implementation:
// workers/values/date-pattern.ts. Compiled patterns: layout/numbers.ts.
// Dates in texts, by patterns and as serial dates of spreadsheets.
import { META_NULL } from '../layout/cells';
import {
  DAY,
  DIGITS_AT,
  FRACTION,
  HOUR,
  LITERAL,
  LITERALS_AT,
  LONG_YEAR,
  MINUTE,
  MONTH,
  PARTS,
  PART_BYTES,
  PART_EXTRA,
  PART_KIND,
  PART_LEAST,
  PART_MOST,
  PATTERN_BYTES,
  PIVOT,
  PLACES_AT,
  PROGRAM_HEAD_BYTES,
  SECOND,
  SHORT_YEAR,
  TEXT_AT,
  WIDTH,
  YEAR,
} from '../layout/numbers';
import { viewOf } from './cell';
import { civilDay, civilMonth, civilYear, putDigits, setCivil, twoDigits } from './numbers';
import { DAY_DIGITS, SERIAL_MAX, SERIAL_MIN, SERIAL_OF_EPOCH } from '../layout/output-program';

const DAY_MICROS: i64 = 86400000000;
const SECOND_MICROS: i64 = 1000000;

/** Microseconds per unit of a fraction's last digit, indexed by the number of digits. Only six digits count. */
const FRACTION_UNITS: usize = memory.data<u32>([0, 100000, 10000, 1000, 100, 10, 1]);

/** Minimum of each pair of digits of CCYYMMDDhhmmss, and number of its valid values. */
// @ts-ignore: decorator
@inline
function leastPairs(): v128 {
  return i16x8(0, 0, 1, 1, 0, 0, 0, 0);
}
// @ts-ignore: decorator
@inline
function pairSpans(): v128 {
  return i16x8(100, 100, 12, 31, 24, 60, 60, 100);
}

/** Days before each month in a year that begins with March. */
const DAYS_BEFORE: usize = memory.data<u16>([0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275]);

/** Days of each month in a non-leap year. */
const MONTH_DAYS: usize = memory.data<u8>([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);

/** Returned instead of days or microseconds if the text does not match. */
export const NO_DATE: i64 = i64.MIN_VALUE;

/**
 * Parses the cells of a row list by the first matching pattern, ignoring spaces at both ends. Writes days (`withTime`
 * 0) or microseconds. Returns the number of non-null cells. Rows that no pattern matches are listed in `todo`: u32
 * count, then the rows.
 */
export function readDates(views: usize, rows: usize, count: u32, program: usize, withTime: u32, at: usize, meta: usize, todo: usize): u32 {
  const first = program + PROGRAM_HEAD_BYTES, width = load<u32>(first, WIDTH);
  let filled: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = (view - views) >> 3;
    let s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    // Fast path: almost all cells match the first pattern at its fixed width. The width is 0 if the pattern has no
    // fixed width.
    let read = width != 0 && <u32>(e - s) == width ? readFixed(first, s, withTime) : NO_DATE;
    if (read == NO_DATE) {
      if (s == 0) {
        store<u8>(meta + row, <u8>META_NULL);
        continue;
      }
      while (s < e && load<u8>(s) == 0x20) s++;
      while (s < e && load<u8>(e - 1) == 0x20) e--;
      read = readCell(program, s, e, withTime);
      if (read == NO_DATE) {
        back++;
        store<u32>(todo + ((<usize>back) << 2), <u32>row);
        continue;
      }
    }
    filled++;
    store<i64>(at + (row << 3), read);
    store<u8>(meta + row, 0);
  }
  store<u32>(todo, back);
  return filled;
}

function readCell(program: usize, s: usize, e: usize, withTime: u32): i64 {
  const patterns = load<u32>(program);
  let pattern = program + PROGRAM_HEAD_BYTES;
  for (let k: u32 = 0; k < patterns; k++) {
    const parts = load<u32>(pattern, PARTS);
    const width = <usize>load<u32>(pattern, WIDTH);
    let read = NO_DATE;
    if (width == 0) read = readPattern(pattern + PATTERN_BYTES, parts, s, e, withTime);
    else if (e - s == width) read = readFixed(pattern, s, withTime);
    if (read != NO_DATE) return read;
    pattern += PATTERN_BYTES + <usize>parts * PART_BYTES;
  }
  return NO_DATE;
}

function readPattern(part: usize, parts: u32, p: usize, e: usize, withTime: u32): i64 {
  let year: u32 = 1970, month: u32 = 1, day: u32 = 1, hour: u32 = 0, minute: u32 = 0, second: u32 = 0, fraction: u32 = 0;
  const end = part + <usize>parts * PART_BYTES;
  for (; part < end; part += PART_BYTES) {
    const kind = load<u32>(part, PART_KIND), extra = load<u32>(part, PART_EXTRA);
    if (kind == LITERAL) {
      if (p >= e || <u32>load<u8>(p) != extra) return NO_DATE;
      p++;
      continue;
    }
    const least = <usize>load<u32>(part, PART_LEAST), most = <usize>load<u32>(part, PART_MOST), from = p;
    let value: u32 = 0;
    for (; p < e && p - from < most; p++) {
      const digit = <u32>load<u8>(p) - 0x30;
      if (digit > 9) break;
      // A fraction has at most nine digits. Times finer than a microsecond are left to the scalar implementation, which
      // reports them.
      if (kind != FRACTION || p - from < 6) value = value * 10 + digit;
      else if (withTime && digit != 0) return NO_DATE;
    }
    const length = p - from;
    if (length < least) return NO_DATE;
    if (kind == YEAR) year = value;
    else if (kind == SHORT_YEAR) year = value + (value > extra ? 1900 : 2000);
    else if (kind == MONTH) month = value;
    else if (kind == DAY) day = value;
    else if (kind == HOUR) hour = value;
    else if (kind == MINUTE) minute = value;
    else if (kind == SECOND) second = value;
    else fraction = value * load<u32>(FRACTION_UNITS + ((length < 6 ? length : 6) << 2));
  }
  return p == e ? checkedDate(year, month, day, hour, minute, second, fraction, withTime) : NO_DATE;
}

/** Parses a text of the pattern's fixed width, all positions at once. */
// @ts-ignore: decorator
@inline
function readFixed(pattern: usize, s: usize, withTime: u32): i64 {
  const bytes = v128.load(s), digits = v128.load(pattern, DIGITS_AT);
  const values = v128.sub<i8>(bytes, i8x16.splat(0x30));
  const others = v128.and(v128.xor(bytes, v128.load(pattern, TEXT_AT)), v128.load(pattern, LITERALS_AT));
  if (v128.any_true(v128.or(v128.and(i8x16.ge_u(values, i8x16.splat(10)), digits), others))) return NO_DATE;
  const places = i8x16.swizzle(v128.and(values, digits), v128.load(pattern, PLACES_AT));
  const tens = v128.and(places, i16x8.splat(0xff));
  const pairs = v128.add<i16>(v128.mul<i16>(tens, i16x8.splat(10)), i16x8.shr_u(places, 8));
  if (v128.any_true(i16x8.ge_u(v128.sub<i16>(pairs, leastPairs()), pairSpans()))) return NO_DATE;
  const pivot = load<u32>(pattern, PIVOT), low = <u32>v128.extract_lane<u16>(pairs, 1);
  const year = pivot == LONG_YEAR ? <u32>v128.extract_lane<u16>(pairs, 0) * 100 + low : low + (low > pivot ? 1900 : 2000);
  const month = <u32>v128.extract_lane<u16>(pairs, 2), day = <u32>v128.extract_lane<u16>(pairs, 3);
  if (year == 0 || (day > 28 && day > daysInMonth(year, month))) return NO_DATE;
  const days = dayNumber(year, month, day);
  if (!withTime) return days;
  const seconds = i32x4.dot_i16x8_s(i16x8.shuffle(pairs, i16x8.splat(0), 4, 5, 6, 8, 8, 8, 8, 8), i16x8(3600, 60, 1, 0, 0, 0, 0, 0));
  return days * DAY_MICROS + <i64>(i32x4.extract_lane(seconds, 0) + i32x4.extract_lane(seconds, 1)) * SECOND_MICROS;
}

// @ts-ignore: decorator
@inline
export function checkedDate(year: u32, month: u32, day: u32, hour: u32, minute: u32, second: u32, fraction: u32, withTime: u32): i64 {
  if (hour > 23 || minute > 59 || second > 59) return NO_DATE;
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || (day > 28 && day > daysInMonth(year, month))) return NO_DATE;
  const days = dayNumber(year, month, day);
  return withTime ? days * DAY_MICROS + (<i64>hour * 3600 + <i64>minute * 60 + <i64>second) * SECOND_MICROS + <i64>fraction : days;
}

// @ts-ignore: decorator
@inline
function daysInMonth(year: u32, month: u32): u32 {
  const leap = (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : <u32>load<u8>(MONTH_DAYS + <usize>month - 1);
}

/** Howard Hinnant, chrono-Compatible Low-Level Date Algorithms. Years from 1 on need no eras. */
// @ts-ignore: decorator
@inline
export function dayNumber(year: u32, month: u32, day: u32): i64 {
  const shifted = month <= 2 ? year - 1 : year;
  const century = shifted / 100;
  const dayOfYear = <u32>load<u16>(DAYS_BEFORE + ((<usize>month) << 1)) + day - 1;
  return <i64>(shifted * 365 + shifted / 4 - century + century / 4 + dayOfYear) - 719468;
}

/**
 * Formats days or (`withTime`) microseconds since 1970 by the program's first pattern as text cells, whose views go to
 * `views`. No value is before 0001-01-01. Returns the next free address, or 0 if the texts do not fit.
 */
export function writeDates(at: usize, meta: usize, rows: usize, count: u32, withTime: u32, program: usize, views: usize, next: usize, limit: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = (view - views) >> 3;
    if (load<u8>(meta + row) == META_NULL) store<u64>(view, 0);
    else {
      next = writeMoment(load<i64>(at + (row << 3)), withTime, program, view, next, limit);
      if (next == 0) return 0;
    }
  }
  return next;
}

/** Time of day of the moment split last. */
let hourOfDay: u32 = 0;
let minuteOfHour: u32 = 0;
let secondOfMinute: u32 = 0;

/** Formats a day or (`withTime`) microseconds, and writes the view of the text. Returns the next free address, or 0. */
// @ts-ignore: decorator
@inline
export function writeMoment(value: i64, withTime: u32, program: usize, view: usize, next: usize, limit: usize): usize {
  const pattern = program + PROGRAM_HEAD_BYTES;
  const parts = load<u32>(pattern, PARTS), width = <usize>load<u32>(pattern, WIDTH);
  // No part of a pattern writes more than nine bytes.
  if (next + (width == 0 ? <usize>parts * 9 : width) > limit) return 0;
  setCivil(withTime ? splitMoment(value) : value);
  const year = <u32>civilYear;
  let end = next + width;
  if (width != 0) writeFixed(pattern, year, withTime, next);
  else end = writeParts(pattern, parts, year, withTime, next);
  store<u64>(view, <u64>next | ((<u64>(end - next)) << 32));
  return end;
}

/** Sets the time of day of microseconds since 1970, and returns the day. */
function splitMoment(micros: i64): i64 {
  const days = (micros >= 0 ? micros : micros - (DAY_MICROS - 1)) / DAY_MICROS;
  const second = <u32>((micros - days * DAY_MICROS) / SECOND_MICROS);
  const minute = second / 60;
  secondOfMinute = second % 60;
  hourOfDay = minute / 60;
  minuteOfHour = minute % 60;
  return days;
}

/** Writes a text whose width varies. */
function writeParts(pattern: usize, parts: u32, year: u32, withTime: u32, o: usize): usize {
  const first = pattern + PATTERN_BYTES, end = first + <usize>parts * PART_BYTES;
  for (let part = first; part < end; part += PART_BYTES) {
    const kind = load<u32>(part, PART_KIND);
    if (kind == LITERAL) store<u8>(o++, <u8>load<u32>(part, PART_EXTRA));
    else o = putPaddedDigits(o, partOfMoment(kind, year, withTime), load<u32>(part, PART_LEAST));
  }
  return o;
}

/** The value of a part of the moment set last. Hours, minutes and seconds of a day are 0, and so are fractions. */
function partOfMoment(kind: u32, year: u32, withTime: u32): u32 {
  if (kind == YEAR) return year;
  if (kind == SHORT_YEAR) return year % 100;
  if (kind == MONTH) return civilMonth;
  if (kind == DAY) return civilDay;
  if (!withTime || kind == FRACTION) return 0;
  return kind == HOUR ? hourOfDay : kind == MINUTE ? minuteOfHour : secondOfMinute;
}

/** Writes the moment set last: 16 bytes, of which only those up to the width are meaningful. */
// @ts-ignore: decorator
@inline
function writeFixed(pattern: usize, year: u32, withTime: u32, o: usize): void {
  const century = year / 100;
  const upper = twoDigits(century) | (twoDigits(year - century * 100) << 16);
  const lower = twoDigits(civilMonth) | (twoDigits(civilDay) << 16);
  let digits = v128.replace_lane<u64>(i8x16.splat(0x30), 0, <u64>upper | ((<u64>lower) << 32));
  if (withTime) {
    const time = twoDigits(hourOfDay) | (twoDigits(minuteOfHour) << 16);
    digits = v128.replace_lane<u32>(v128.replace_lane<u32>(digits, 2, time), 3, twoDigits(secondOfMinute) | 0x30300000);
  }
  v128.store(o, v128.or(i8x16.swizzle(digits, v128.load(pattern, PLACES_AT)), v128.load(pattern, TEXT_AT)));
}

/** Writes a value with at least `least` digits. */
// @ts-ignore: decorator
@inline
function putPaddedDigits(o: usize, value: u32, least: u32): usize {
  let length = least;
  if (length == 1 && value >= 10) length = 2;
  for (let k = length; k > 0; k--) {
    store<u8>(o + <usize>k - 1, <u8>(0x30 + value % 10));
    value /= 10;
  }
  return o + <usize>length;
}

// Serial dates of spreadsheets: days since 1899-12-30, with times as fractions of a day. Also parses the texts of dates
// and times in typed files (2026-01-31, 2026-01-31T13:05:00.5, 13:05:00).

const SERIAL_DAY_MICROS: i64 = 86_400_000_000;

/** 10^8 and 10^4: together they cover the DAY_DIGITS digits. */
const EIGHT: u64 = 100_000_000;
const FOUR: u64 = 10_000;

/** Returned if the text is not a date or time. */
export const NO_SERIAL: i64 = i64.MIN_VALUE;

/**
 * Writes a day, given as days since 1970-01-01. Returns 0 if programs would interpret its serial number differently.
 */
export function putSerialDay(out: usize, days: i64): usize {
  const serial = days + <i64>SERIAL_OF_EPOCH;
  return serial < <i64>SERIAL_MIN || serial > <i64>SERIAL_MAX ? 0 : putDigits(out, <u64>serial, 1);
}

/** Writes a time, given as microseconds since 1970-01-01. Returns 0 as above. */
export function putSerialTime(out: usize, microseconds: i64): usize {
  let days = microseconds / SERIAL_DAY_MICROS;
  let rest = microseconds - days * SERIAL_DAY_MICROS;
  if (rest < 0) {
    rest += SERIAL_DAY_MICROS;
    days--;
  }
  const next = putSerialDay(out, days);
  return next == 0 || rest == 0 ? next : putPart(next, <u64>rest);
}

/** Writes a time of day, given as microseconds since midnight. */
export function putTimeOfDay(out: usize, microseconds: i64): usize {
  store<u8>(out, 0x30);
  return microseconds == 0 ? out + 1 : putPart(out + 1, <u64>microseconds);
}

/** Writes a decimal point and the fraction of the day, rounded to DAY_DIGITS digits, without trailing zeros. */
function putPart(out: usize, microseconds: u64): usize {
  const high = microseconds * EIGHT;
  const first = high / <u64>SERIAL_DAY_MICROS;
  const low = (high - first * <u64>SERIAL_DAY_MICROS) * FOUR;
  const digits = first * FOUR + (low + <u64>SERIAL_DAY_MICROS / 2) / <u64>SERIAL_DAY_MICROS;
  store<u8>(out, 0x2e);
  let end = putDigits(out + 1, digits, DAY_DIGITS);
  while (load<u8>(end - 1) == 0x30) end--;
  return end;
}

/** Days since 1970-01-01 for YYYY-MM-DD, or NO_SERIAL. */
export function readDay(start: usize, end: usize): i64 {
  if (end - start != 10 || load<u8>(start, 4) != 0x2d || load<u8>(start, 7) != 0x2d) return NO_SERIAL;
  const year = digitsOf(start, 4), month = digitsOf(start + 5, 2), day = digitsOf(start + 8, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > <i32>daysInMonth(year, month)) return NO_SERIAL;
  return dayNumber(year, month, day);
}

/**
 * Microseconds for hh:mm:ss with a fraction of up to nine digits. NO_SERIAL for other texts and for times finer than a
 * microsecond.
 */
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
      else if (digit > 0) return NO_SERIAL;
    }
  }
  return ((<i64>hour * 60 + <i64>minute) * 60 + <i64>second) * 1_000_000 + micros;
}

/** Microseconds since 1970-01-01 for a date, a T and a time, with an optional Z, or NO_SERIAL. */
export function readDayAndTime(start: usize, end: usize): i64 {
  if (end - start < 19 || load<u8>(start, 10) != 0x54) return NO_SERIAL;
  const days = readDay(start, start + 10);
  const micros = readTime(start + 11, load<u8>(end - 1) == 0x5a ? end - 1 : end);
  return days == NO_SERIAL || micros == NO_SERIAL ? NO_SERIAL : days * SERIAL_DAY_MICROS + micros;
}

/** Value of `count` digits, or -1 if a byte is not a digit. */
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
