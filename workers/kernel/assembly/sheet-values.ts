// Values of a sheet's cells: numbers, dates and texts, by the type and style of the cell.
import { KIND_BOOLEAN, KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TEXT, KIND_TIME } from '../layout/cells';
import {
  IS_1904,
  MEANING_DATE,
  MEANING_DATE_TIME,
  MEANING_PLAIN,
  MEANING_TIME,
  SHARED_COUNT,
  SHARED_PAGES,
  STYLES,
  STYLES_COUNT,
  TEXTS_AT,
  TEXTS_END,
} from '../layout/sheet';
import { dayNumber } from './dates';
import { civilDay, civilMonth, civilYear, putDigits, putPair, setCivil } from './numbers';
import { IS_CLOSES, LESS, copiedEnd, copyText, readRichText } from './sheet-texts';
import { PAGE_SHIFT } from '../layout/shared-strings';

// Numbers of a sheet: writes their canonical texts (rule in workers/input/xlsx/cell-values.ts), or dates for date
// styles. Numbers are parsed as decimals. If a double could round differently, the cell is left to the TypeScript
// reader.

/**
 * Number of significant digits that spreadsheet programs compute with, and that they write to identify a double
 * uniquely.
 */
const DIGITS_MAX: u32 = 15;
const WRITTEN_DIGITS_MAX: u32 = 17;

/** Maximum number of digits, including leading and trailing zeros, of a number written without an exponent. */
const PLAIN_DIGITS_MAX: i32 = 21;

/**
 * Maximum number of digits, because more may not fit 64 bits. Maximum exponent, because larger ones approach the limits
 * of doubles.
 */
const READ_DIGITS_MAX: u32 = 19;
const EXPONENT_MAX: i32 = 280;

/** 9999-12-31 as days since 1970-01-01, and the serial number of 1900-02-29, which never existed. */
const DAY_MAX: i64 = 2_932_896;
const FALSE_LEAP_DAY: i64 = 60;

const DAY_MILLISECONDS: i64 = 86_400_000;

/** Largest power of ten that fits 64 bits. A number with a larger scale is below 1. */
const UNIT_SCALE_MAX: i32 = 19;
const SERIAL_SCALE_MAX: i32 = 30;

/** Maximum error of a day stored as a double, in milliseconds, with a safety margin. */
const DOUBT: f64 = 0.05;

/** The parsed number: its digits as an integer, of which `scale` are after the decimal point. */
let magnitude: u64 = 0;
let scale: i32 = 0;
let isNegative: bool = false;
let hasExponent: bool = false;
/** True if the number's text is already canonical. */
let isCanonical: bool = false;

/** Kind of the text written by `putSerial`. */
let serialKind: u32 = 0;

/**
 * Parses the number at `at` up to the `<`. Returns the address of the `<`, or 0 if the number is invalid or left to the
 * fallback reader.
 */
function readNumber(at: usize): usize {
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
  let afterPoint: u32 = 0;
  if (<u32>load<u8>(at) == 0x2e) {
    at++;
    const point = at;
    for (digit = <u32>load<u8>(at) - 0x30; digit < 10; digit = <u32>load<u8>(at) - 0x30) {
      value = value * 10 + <u64>digit;
      at++;
    }
    afterPoint = <u32>(at - point);
    digits += afterPoint;
    canonical = canonical && <u32>load<u8>(at - 1) != 0x30 && afterPoint > 0;
  } else canonical = canonical && !(isZeroFirst && isNegative);
  if (digits > READ_DIGITS_MAX) return 0;
  magnitude = value;
  scale = <i32>afterPoint;
  isCanonical = canonical && (digits <= DIGITS_MAX || afterPoint == 0);
  hasExponent = false;
  if ((<u32>load<u8>(at) | 0x20) == 0x65) {
    isCanonical = false;
    hasExponent = true;
    return afterExponent(at + 1);
  }
  return <u32>load<u8>(at) == LESS ? at : 0;
}

function afterExponent(at: usize): usize {
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
 * Writes the canonical text of the parsed number, at most 48 bytes. Returns the address after it, or 0 to leave it to
 * the fallback reader.
 */
function putNumber(out: usize): usize {
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
  // An integer stored as plain digits keeps all of them.
  const digitsMax = places <= 0 && !hasExponent ? READ_DIGITS_MAX : DIGITS_MAX;
  while (count > digitsMax) {
    if (count > WRITTEN_DIGITS_MAX) return 0;
    // The double differs by less than 1.12 units of the 16th digit, or 11.2 units of the last two of 17 digits.
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
  // Numbers from 1e-6 on are written without an exponent, and smaller ones only if that takes at most PLAIN_DIGITS_MAX
  // digits.
  if (exponent < -6 && <i32>count - exponent > PLAIN_DIGITS_MAX) return 0;
  if (isNegative) store<u8>(out++, 0x2d);
  return putPlaces(out, value, <i32>count, places);
}

/** Writes a number of `count` digits, of which `places` are after the decimal point. */
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
 * Writes the parsed number as the date, time or both that the style's meaning selects, and sets serialKind. Returns the
 * address after the text, or 0 if it is not a date or is left to the fallback reader.
 */
function putSerial(out: usize, meaning: u32, is1904: bool): usize {
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

/** Writes `13:05:00`, with a fraction unless it is zero. */
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

/** Number of digits of a number other than 0. */
function digitsOf(value: u64): u32 {
  let count: u32 = 1;
  while (value >= 10_000) {
    value /= 10_000;
    count += 4;
  }
  for (; value >= 10; value /= 10) count++;
  return count;
}

/** Powers of ten from 10^0 to 10^19. */
function powerOfTen(exponent: i32): u64 {
  let power: u64 = 1;
  for (; exponent > 0; exponent--) power *= 10;
  return power;
}

// Reads the value of a sheet's cell according to its type and style. Its canonical text is written after the texts of
// the batch, or is one of the shared strings. The state is not changed.

export const TYPE_NUMBER: u32 = 0;
export const TYPE_SHARED: u32 = 1;
export const TYPE_BOOLEAN: u32 = 2;
export const TYPE_TEXT: u32 = 3;
export const TYPE_INLINE: u32 = 4;

const TRUE_TEXT: u32 = 0x65757274;
const FALSE_TEXT: u64 = 0x65736c6166;
const TRUE_BYTES: u32 = 4;
const FALSE_BYTES: u32 = 5;

/** Maximum number of digits of a shared string's index. Longer ones are left to the fallback reader. */
const INDEX_DIGITS_MAX: usize = 9;

/** Bytes written at once for a number or a date. Each memory region has at least this much spare space at its end. */
const NUMBER_BYTES_MAX: usize = 48;

/** The result: kind, address (0 while there is no value) and length of its text. */
export let valueKind: u32 = 0;
export let valueAt: usize = 0;
export let valueBytes: u32 = 0;
export let isSharedValue: bool = false;

// @ts-ignore: decorator
@inline
export function forgetValue(): void {
  valueAt = 0;
  valueBytes = 0;
  isSharedValue = false;
}

/** Sets the value to an empty text. */
export function setEmptyText(state: usize): void {
  valueKind = KIND_TEXT;
  valueAt = <usize>load<u32>(state, TEXTS_AT);
}

/**
 * Reads the value from `at` up to the next `<`. Returns the address of the `<`, 0 to leave the cell to the other
 * reader, or an address after `end` if more bytes are needed.
 */
export function readValue(at: usize, end: usize, state: usize, type: u32, style: u32): usize {
  if (type == TYPE_SHARED) return readShared(at, state);
  const out = <usize>load<u32>(state, TEXTS_AT);
  if (type == TYPE_TEXT) {
    const after = copyText(at, end, out, <usize>load<u32>(state, TEXTS_END));
    return setText(after, end, out);
  }
  if (<u32>load<u8>(at) == LESS) return at;
  if (out + NUMBER_BYTES_MAX > <usize>load<u32>(state, TEXTS_END)) return 0;
  if (type == TYPE_BOOLEAN) return readBoolean(at, out);
  const after = readNumber(at);
  if (after == 0) return 0;
  const meaning = style < load<u32>(state, STYLES_COUNT) ? <u32>load<u8>(<usize>load<u32>(state, STYLES) + <usize>style) : MEANING_PLAIN;
  let textEnd: usize = 0;
  valueKind = KIND_NUMBER;
  if (meaning != MEANING_PLAIN) {
    textEnd = putSerial(out, meaning, load<u32>(state, IS_1904) != 0);
    valueKind = serialKind;
  } else if (isCanonical) {
    v128.store(out, v128.load(at));
    v128.store(out, v128.load(at, 16), 16);
    textEnd = out + (after - at);
  } else textEnd = putNumber(out);
  if (textEnd == 0) return 0;
  valueAt = out;
  valueBytes = <u32>(textEnd - out);
  return after;
}

/** Like readValue, for the content of `<is>`. Returns the address after its closing tag. */
export function readInline(at: usize, end: usize, state: usize): usize {
  const out = <usize>load<u32>(state, TEXTS_AT);
  return setText(readRichText(at, end, out, <usize>load<u32>(state, TEXTS_END), IS_CLOSES), end, out);
}

// @ts-ignore: decorator
@inline
function setText(after: usize, end: usize, out: usize): usize {
  if (after == 0 || after > end) return after;
  valueKind = KIND_TEXT;
  valueAt = out;
  valueBytes = <u32>(copiedEnd - out);
  return after;
}

function readShared(at: usize, state: usize): usize {
  const from = at;
  let index: u32 = 0;
  for (let digit = <u32>load<u8>(at) - 0x30; digit < 10; digit = <u32>load<u8>(at) - 0x30) {
    index = index * 10 + digit;
    at++;
  }
  if (<u32>load<u8>(at) != LESS || at - from > INDEX_DIGITS_MAX) return 0;
  if (at == from) return at;
  if (index >= load<u32>(state, SHARED_COUNT)) return 0;
  const page = <usize>load<u32>(<usize>load<u32>(state, SHARED_PAGES) + ((<usize>index >> PAGE_SHIFT) << 2));
  const entry = page + ((<usize>index & ((1 << PAGE_SHIFT) - 1)) << 3);
  valueKind = KIND_TEXT;
  valueAt = <usize>load<u32>(entry);
  valueBytes = load<u32>(entry, 4);
  isSharedValue = true;
  return at;
}

function readBoolean(at: usize, out: usize): usize {
  const byte = <u32>load<u8>(at);
  if ((byte != 0x30 && byte != 0x31) || <u32>load<u8>(at, 1) != LESS) return 0;
  if (byte == 0x31) store<u32>(out, TRUE_TEXT);
  else store<u64>(out, FALSE_TEXT);
  valueKind = KIND_BOOLEAN;
  valueAt = out;
  valueBytes = byte == 0x31 ? TRUE_BYTES : FALSE_BYTES;
  return at + 1;
}
