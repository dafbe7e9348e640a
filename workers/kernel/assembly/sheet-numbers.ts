// Numbers of a sheet: their canonical texts, and those of numbers that are dates. They are read as decimal numbers: where the
// double that a spreadsheet program makes of one might round otherwise, it is left to a reader that makes it too.
import { KIND_DATE, KIND_DATETIME, KIND_TIME } from '../layout/native-kinds';
import { MEANING_DATE, MEANING_DATE_TIME, MEANING_TIME } from '../layout/sheet';
import { dayNumber } from './dates';
import { civilDay, civilMonth, civilYear, putDigits, putPair, setCivil } from './digits';
import { LESS } from './sheet-tags';

/** Significant digits that spreadsheet programs compute with, and those that they write to tell a double from all others. */
const DIGITS_MAX: u32 = 15;
const WRITTEN_DIGITS_MAX: u32 = 17;

/** Digits with zeros before and behind that are written without an exponent. */
const PLAIN_DIGITS_MAX: i32 = 21;

/** More digits, with zeros before, do not fit 64 bits; exponents beyond it come near to the ends of the range of doubles. */
const READ_DIGITS_MAX: u32 = 19;
const EXPONENT_MAX: i32 = 280;

/** The last day of the year 9999 since 1970-01-01, and the day that 1900 never had. */
const DAY_MAX: i64 = 2_932_896;
const FALSE_LEAP_DAY: i64 = 60;

const DAY_MILLISECONDS: i64 = 86_400_000;

/** 10 to this is a number of 64 bits; a number with more digits behind its point is below 1. */
const UNIT_SCALE_MAX: i32 = 19;
const SERIAL_SCALE_MAX: i32 = 30;

/** Of a millisecond: as much a double of a day may be off, with room. */
const DOUBT: f64 = 0.05;

/** The number that was read: digits of it as a whole number, of which `scale` are behind the point. */
let magnitude: u64 = 0;
let scale: i32 = 0;
let isNegative: bool = false;
/** It stands as it would be written. */
export let isCanonical: bool = false;

/** Kind of the text that `putSerial` wrote. */
export let serialKind: u32 = 0;

/** Reads the number at `at` up to the `<`, of which the address is given; 0: it is none, or is left to another reader. */
export function readNumber(at: usize): usize {
  isNegative = <u32>load<u8>(at) == 0x2d;
  if (isNegative) at++;
  const start = at;
  const isZeroFirst = <u32>load<u8>(at) == 0x30;
  let value: u64 = 0;
  let digit = <u32>load<u8>(at) - 0x30;
  for (; digit < 10; digit = <u32>load<u8>(at) - 0x30) {
    value = value * 10 + <u64>digit;
    at++;
  }
  let digits = <u32>(at - start);
  if (digits == 0) return 0;
  let canonical = !isZeroFirst || digits == 1;
  let behindPoint: u32 = 0;
  if (<u32>load<u8>(at) == 0x2e) {
    at++;
    const point = at;
    for (digit = <u32>load<u8>(at) - 0x30; digit < 10; digit = <u32>load<u8>(at) - 0x30) {
      value = value * 10 + <u64>digit;
      at++;
    }
    behindPoint = <u32>(at - point);
    digits += behindPoint;
    canonical = canonical && <u32>load<u8>(at - 1) != 0x30 && behindPoint > 0;
  } else canonical = canonical && !(isZeroFirst && isNegative);
  if (digits > READ_DIGITS_MAX) return 0;
  magnitude = value;
  scale = <i32>behindPoint;
  isCanonical = canonical && digits <= DIGITS_MAX;
  if ((<u32>load<u8>(at) | 0x20) == 0x65) {
    isCanonical = false;
    return behindExponent(at + 1);
  }
  return <u32>load<u8>(at) == LESS ? at : 0;
}

function behindExponent(at: usize): usize {
  const sign = <u32>load<u8>(at);
  if (sign == 0x2d || sign == 0x2b) at++;
  const start = at;
  let exponent: i32 = 0;
  for (let digit = <u32>load<u8>(at) - 0x30; digit < 10; digit = <u32>load<u8>(at) - 0x30) {
    if (at - start == 3) return 0;
    exponent = exponent * 10 + <i32>digit;
    at++;
  }
  if (at == start || exponent > EXPONENT_MAX || <u32>load<u8>(at) != LESS) return 0;
  scale -= sign == 0x2d ? -exponent : exponent;
  return at;
}

/**
 * Writes the canonical text of the number that was read; gives the address behind it, 0 where it is left to another reader. Writes 48
 * bytes at most.
 */
export function putNumber(out: usize): usize {
  let value = magnitude;
  let places = scale;
  if (value == 0) {
    store<u8>(out, 0x30);
    return out + 1;
  }
  while (value % 10 == 0) {
    value /= 10;
    places--;
  }
  let count = digitsOf(value);
  while (count > DIGITS_MAX) {
    if (count > WRITTEN_DIGITS_MAX) return 0;
    // The double is off by less than 1.12 in the 16th digit, or 11.2 in the last two of 17.
    const unit: u64 = count == WRITTEN_DIGITS_MAX ? 100 : 10;
    const last = value % unit;
    const low: u64 = unit == 100 ? 38 : 3;
    if (last > low && last < unit - low) return 0;
    value = value / unit + (last > low ? 1 : 0);
    places -= unit == 100 ? 2 : 1;
    while (value % 10 == 0) {
      value /= 10;
      places--;
    }
    count = digitsOf(value);
  }
  const exponent = <i32>count - 1 - places;
  if (exponent >= PLAIN_DIGITS_MAX || exponent < -EXPONENT_MAX) return 0;
  // Without an exponent it is written from 1e-6 on, below with as many digits as others.
  if (exponent < -6 && <i32>count - exponent > PLAIN_DIGITS_MAX) return 0;
  if (isNegative) store<u8>(out++, 0x2d);
  return putPlaces(out, value, <i32>count, places);
}

/** A number of `count` digits, of which `places` are behind the point. */
function putPlaces(out: usize, value: u64, count: i32, places: i32): usize {
  if (places <= 0) {
    out = putDigits(out, value, 1);
    for (; places < 0; places++) store<u8>(out++, 0x30);
    return out;
  }
  if (places >= count) {
    store<u16>(out, 0x2e30);
    return putDigits(out + 2, value, <u32>places);
  }
  const unit = powerOfTen(places);
  const whole = value / unit;
  out = putDigits(out, whole, 1);
  store<u8>(out, 0x2e);
  return putDigits(out + 1, value - whole * unit, <u32>places);
}

/**
 * Writes the date, the time or both that the number which was read is, by the meaning of its style, and sets serialKind; gives
 * the address behind it. 0: it is none, or is left to another reader.
 */
export function putSerial(out: usize, meaning: u32, is1904: bool): usize {
  if (isNegative || scale > SERIAL_SCALE_MAX || scale < -6) return 0;
  let day: u64 = 0;
  let time: i64 = 0;
  if (scale <= 0) {
    if (magnitude > 10_000_000) return 0;
    day = magnitude * powerOfTen(-scale);
  } else {
    let rest = magnitude;
    let part: f64 = 0;
    if (scale <= UNIT_SCALE_MAX) {
      const unit = powerOfTen(scale);
      day = magnitude / unit;
      if (day > 10_000_000) return 0;
      rest -= day * unit;
      part = <f64>rest / <f64>unit;
    } else part = <f64>rest / <f64>powerOfTen(UNIT_SCALE_MAX) / <f64>powerOfTen(scale - UNIT_SCALE_MAX);
    const exact = part * <f64>DAY_MILLISECONDS;
    const below = floor<f64>(exact);
    if (abs<f64>(exact - below - 0.5) < DOUBT) return 0;
    time = <i64>below + (exact - below > 0.5 ? 1 : 0);
    if (time == DAY_MILLISECONDS) {
      time = 0;
      day++;
    }
  }
  const isDate = meaning == MEANING_DATE;
  const isTimeOnly = day == 0 && (meaning == MEANING_TIME || (!is1904 && (meaning == MEANING_DATE_TIME || time > 0)));
  if (isTimeOnly) {
    serialKind = KIND_TIME;
    return putTime(out, <u32>time);
  }
  if (!is1904 && (day == 0 || <i64>day == FALSE_LEAP_DAY)) return 0;
  const first = is1904 ? dayNumber(1904, 1, 1) : dayNumber(1899, 12, <i64>day > FALSE_LEAP_DAY ? 30 : 31);
  const days = first + <i64>day;
  if (days > DAY_MAX) return 0;
  setCivil(days);
  out = putDigits(out, <u64>civilYear, 4);
  store<u8>(out, 0x2d);
  putPair(out + 1, civilMonth);
  store<u8>(out, 0x2d, 3);
  putPair(out + 4, civilDay);
  serialKind = isDate && time == 0 ? KIND_DATE : KIND_DATETIME;
  if (serialKind == KIND_DATE) return out + 6;
  store<u8>(out, 0x54, 6);
  return putTime(out + 7, <u32>time);
}

/** `13:05:00`, with a fraction only where there is one. */
function putTime(out: usize, milliseconds: u32): usize {
  const seconds = milliseconds / 1000;
  const minutes = seconds / 60;
  putPair(out, minutes / 60);
  store<u8>(out, 0x3a, 2);
  putPair(out + 3, minutes % 60);
  store<u8>(out, 0x3a, 5);
  putPair(out + 6, seconds % 60);
  const rest = milliseconds - seconds * 1000;
  if (rest == 0) return out + 8;
  store<u8>(out, 0x2e, 8);
  let end = putDigits(out + 9, <u64>rest, 3);
  while (<u32>load<u8>(end - 1) == 0x30) end--;
  return end;
}

/** Of a number that is not 0. */
function digitsOf(value: u64): u32 {
  let count: u32 = 1;
  while (value >= 10_000) {
    value /= 10_000;
    count += 4;
  }
  for (; value >= 10; value /= 10) count++;
  return count;
}

/** 10 to the 0 up to the 19. */
function powerOfTen(exponent: i32): u64 {
  let power: u64 = 1;
  for (; exponent > 0; exponent--) power *= 10;
  return power;
}
