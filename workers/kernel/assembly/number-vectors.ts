// Number and date vectors for expressions: loading and storing, arithmetic, comparison, conversion, choice, and parts
// of dates.
import { META_BIG, META_NULL } from '../layout/cells';
import {
  ADD,
  DATE_DAY,
  DATE_MONTH,
  DATE_YEAR,
  DECIMAL,
  DIVIDE,
  EQUAL,
  FALSE,
  GREATER,
  GREATER_OR_EQUAL,
  INTEGER,
  LESS,
  LESS_OR_EQUAL,
  MULTIPLY,
  NULL,
  SUBTRACT,
  TRUE,
  UNKNOWN,
  UNKNOWN_TEXT,
  VECTOR_MARKS,
  VECTOR_SCALES,
  VECTOR_STEP_BYTES,
  VECTOR_VALUES,
} from '../layout/expressions';
import { isSettled, putState } from './states';
import { viewOf } from './cell';
import { REFUSED, civilDay, civilMonth, civilYear, putDigits, rescaled, setCivil } from './numbers';
import { NO_DATE, checkedDate, writeMoment } from './dates';

// Number vectors over the rows of a list, for expressions. Layout: layout/expressions.ts. A result that a kernel cannot
// compute exactly is unknown (see states.ts).

/** Maximum number of digits for which integers and decimals are exact as doubles. */
const DIGITS_MAX: u32 = 15;

/** Integers up to this magnitude are exact as doubles. */
const SAFE_MAX: f64 = 9007199254740991;

// @ts-ignore: decorator
@inline
export function valueAt(vector: usize, i: usize): usize {
  return <usize>load<u32>(vector, VECTOR_VALUES) + i * <usize>load<u32>(vector, VECTOR_STEP_BYTES);
}

// @ts-ignore: decorator
@inline
function markAt(vector: usize, i: usize): u32 {
  return <u32>load<u8>(<usize>load<u32>(vector, VECTOR_MARKS) + (load<u32>(vector, VECTOR_STEP_BYTES) == 0 ? 0 : i));
}

// @ts-ignore: decorator
@inline
function scaleAt(vector: usize, i: usize): u32 {
  return <u32>load<u8>(<usize>load<u32>(vector, VECTOR_SCALES) + (load<u32>(vector, VECTOR_STEP_BYTES) == 0 ? 0 : i));
}

const POWERS: usize = memory.data<f64>([1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]);

/**
 * Parses text cells as numbers: an optional minus and up to 15 digits, with a decimal point unless they are integers.
 * Other forms are unknown, and so are rows that `states` has already decided for `mode`.
 */
export function parseNumbers(views: usize, rows: usize, count: u32, form: u32, vector: usize, states: usize, mode: u32): void {
  const values = <usize>load<u32>(vector, VECTOR_VALUES), marks = <usize>load<u32>(vector, VECTOR_MARKS), scales = <usize>load<u32>(vector, VECTOR_SCALES);
  for (let i: u32 = 0; i < count; i++) {
    store<u8>(marks + <usize>i, <u8>UNKNOWN);
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view);
    if (start <= <usize>UNKNOWN_TEXT) {
      if (start == 0) store<u8>(marks + <usize>i, <u8>NULL);
      continue;
    }
    const end = start + <usize>load<u32>(view, 4);
    const negative = end > start && load<u8>(start) == 0x2d;
    let p = negative ? start + 1 : start;
    let digits: u64 = 0, count: u32 = 0, scale: i32 = -1;
    for (; p < end; p++) {
      const code = <u32>load<u8>(p) - 0x30;
      if (code <= 9) {
        digits = digits * 10 + <u64>code;
        if (++count > DIGITS_MAX) break;
        if (scale >= 0) scale++;
      } else if (code == <u32>-2 && scale < 0 && form != INTEGER) scale = 0;
      else break;
    }
    if (p != end || count == 0) continue;
    const after: u32 = scale < 0 ? 0 : <u32>scale;
    const place = values + ((<usize>i) << 3);
    if (form == DECIMAL) {
      store<i64>(place, negative ? -<i64>digits : <i64>digits);
      store<u8>(scales + <usize>i, <u8>after);
    } else {
      const size = <f64>digits / load<f64>(POWERS + ((<usize>after) << 3));
      // Subtracting from 0 avoids negative zero, which integers do not have.
      store<f64>(place, form == INTEGER ? (negative ? 0 - size : size) : negative ? -size : size);
    }
    store<u8>(marks + <usize>i, 0);
  }
}

/** Loads a typed column. Integers that are not exact as doubles and decimals beyond 64 bits are unknown. */
export function loadNumbers(at: usize, meta: usize, rows: usize, count: u32, form: u32, vector: usize): void {
  const values = <usize>load<u32>(vector, VECTOR_VALUES), marks = <usize>load<u32>(vector, VECTOR_MARKS), scales = <usize>load<u32>(vector, VECTOR_SCALES);
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    const kind = <u32>load<u8>(meta + row);
    let mark: u32 = kind == META_NULL ? NULL : 0;
    const bits = load<u64>(at + (row << 3));
    if (form == INTEGER) {
      const value = <f64><i64>bits;
      if (abs(value) > SAFE_MAX) mark = mark == 0 ? UNKNOWN : mark;
      store<f64>(values + (i << 3), value);
    } else store<u64>(values + (i << 3), bits);
    if (form == DECIMAL) {
      if (kind == META_BIG) mark = UNKNOWN;
      store<u8>(scales + i, <u8>kind);
    }
    store<u8>(marks + i, <u8>mark);
  }
}

/**
 * Writes a vector to a typed column. Returns the number of non-null cells. Unknown rows are listed in `todo`: u32
 * count, then the rows.
 */
export function storeNumbers(vector: usize, rows: usize, count: u32, form: u32, at: usize, meta: usize, todo: usize): u32 {
  let filled: u32 = 0, back: u32 = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    const mark = markAt(vector, i);
    if (mark == UNKNOWN) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), <u32>row);
      continue;
    }
    if (mark == NULL) {
      store<u8>(meta + row, <u8>META_NULL);
      continue;
    }
    filled++;
    const place = valueAt(vector, i);
    if (form == INTEGER) store<i64>(at + (row << 3), <i64>load<f64>(place));
    else store<u64>(at + (row << 3), load<u64>(place));
    store<u8>(meta + row, form == DECIMAL ? <u8>scaleAt(vector, i) : 0);
  }
  store<u32>(todo, back);
  return filled;
}

// Arithmetic and comparison of number vectors. Doubles follow IEEE 754. Integers and decimals are exact: a result that
// could overflow is marked unknown.

/**
 * Bound on results, estimated with doubles. It is far enough below the limit of 64 bits to cover the rounding of these
 * doubles.
 */
const DIGITS_LIMIT: f64 = 9e18;

/** Maximum scale of a product. A meta byte holds at most 253. */
const SCALE_MAX: u32 = 200;

const TENS: usize = memory.data<i64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/** Adds, subtracts, multiplies or (doubles only) divides the values at each position. */
export function calculate(form: u32, operator: u32, left: usize, right: usize, result: usize, count: u32): void {
  const marks = <usize>load<u32>(result, VECTOR_MARKS);
  for (let i: usize = 0; i < <usize>count; i++) {
    let mark = jointMark(left, right, i);
    if (mark == 0) {
      if (form == DECIMAL) mark = calculateDecimal(operator, left, right, result, i);
      else {
        const value = ofDoubles(operator, load<f64>(valueAt(left, i)), load<f64>(valueAt(right, i)));
        if (form == INTEGER && abs(value) > SAFE_MAX) mark = UNKNOWN;
        // Adding 0 turns negative zero into zero, because integers have no negative zero.
        store<f64>(valueAt(result, i), form == INTEGER ? value + 0 : value);
      }
    }
    store<u8>(marks + i, <u8>mark);
  }
}

/** Compares the values at each position. If one side is null, an order comparison is null and equality is false. */
export function compareNumbers(form: u32, operator: u32, left: usize, right: usize, count: u32, negate: u32, states: usize, mode: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (isSettled(states, i, mode)) continue;
    let state = jointMark(left, right, i);
    if (state == 0) {
      state = form == DECIMAL
        ? compareDecimals(operator, left, right, i)
        : ofOrder(operator, load<f64>(valueAt(left, i)), load<f64>(valueAt(right, i)));
    } else if (state == NULL && operator == EQUAL) state = markAt(left, i) == markAt(right, i) ? TRUE : FALSE;
    putState(states, i, mode, state > TRUE ? state : state ^ negate);
  }
}

// @ts-ignore: decorator
@inline
function jointMark(left: usize, right: usize, i: usize): u32 {
  return max(markAt(left, i), markAt(right, i));
}

// @ts-ignore: decorator
@inline
function ofDoubles(operator: u32, a: f64, b: f64): f64 {
  if (operator == ADD) return a + b;
  if (operator == SUBTRACT) return a - b;
  return operator == MULTIPLY ? a * b : a / b;
}

// @ts-ignore: decorator
@inline
function ofOrder<T>(operator: u32, a: T, b: T): u32 {
  if (operator == LESS) return <u32>(a < b);
  if (operator == LESS_OR_EQUAL) return <u32>(a <= b);
  if (operator == GREATER) return <u32>(a > b);
  return operator == GREATER_OR_EQUAL ? <u32>(a >= b) : <u32>(a == b);
}

/** Digits at a larger scale. The caller must have checked the overflow with `tooLarge`. */
// @ts-ignore: decorator
@inline
function raised(digits: i64, by: u32): i64 {
  return digits * load<i64>(TENS + ((<usize>by) << 3));
}

// @ts-ignore: decorator
@inline
function tooLarge(digits: i64, by: u32): bool {
  return by > 18 || abs(<f64>digits) * <f64>load<i64>(TENS + ((<usize>by) << 3)) > DIGITS_LIMIT;
}

function calculateDecimal(operator: u32, left: usize, right: usize, result: usize, i: usize): u32 {
  const a = load<i64>(valueAt(left, i)), b = load<i64>(valueAt(right, i));
  const aScale = scaleAt(left, i), bScale = scaleAt(right, i);
  const scales = <usize>load<u32>(result, VECTOR_SCALES);
  if (operator == MULTIPLY) {
    if (abs(<f64>a) * abs(<f64>b) > DIGITS_LIMIT || aScale + bScale > SCALE_MAX) return UNKNOWN;
    store<i64>(valueAt(result, i), a * b);
    store<u8>(scales + i, <u8>(aScale + bScale));
    return 0;
  }
  const scale = max(aScale, bScale);
  if (operator == DIVIDE || tooLarge(a, scale - aScale) || tooLarge(b, scale - bScale)) return UNKNOWN;
  const x = raised(a, scale - aScale), y = raised(b, scale - bScale);
  if (abs(<f64>x) + abs(<f64>y) > DIGITS_LIMIT) return UNKNOWN;
  store<i64>(valueAt(result, i), operator == ADD ? x + y : x - y);
  store<u8>(scales + i, <u8>scale);
  return 0;
}

function compareDecimals(operator: u32, left: usize, right: usize, i: usize): u32 {
  const a = load<i64>(valueAt(left, i)), b = load<i64>(valueAt(right, i));
  const aScale = scaleAt(left, i), bScale = scaleAt(right, i);
  const scale = max(aScale, bScale);
  if (tooLarge(a, scale - aScale) || tooLarge(b, scale - bScale)) return UNKNOWN;
  return ofOrder(operator, raised(a, scale - aScale), raised(b, scale - bScale));
}

/**
 * Compares two known numbers: returns -1, 0 or 1. Returns 2 if they have no order (NaN), or if 64 bits do not suffice
 * to decide.
 */
function orderNumbers(form: u32, left: usize, right: usize, i: usize): i32 {
  if (form != DECIMAL) {
    const a = load<f64>(valueAt(left, i)), b = load<f64>(valueAt(right, i));
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
  }
  const less = compareDecimals(LESS, left, right, i);
  if (less == UNKNOWN) return 2;
  return less == TRUE ? -1 : <i32>compareDecimals(GREATER, left, right, i);
}

// Converts number vectors: to another type, minimum and maximum, rounding, and formatting as texts.

/** Maximum change of the scale: larger powers of ten exceed 64 bits. */
const PLACES_MAX: u32 = 18;

/** Length of the longest number in bytes: a sign, 20 digits, a decimal point, and the zeros of a scale of 253. */
const NUMBER_BYTES_MAX: usize = 288;

/** Converts integers to decimals. */
export function toDecimals(vector: usize, result: usize, count: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u8>(<usize>load<u32>(result, VECTOR_MARKS) + i, <u8>markAt(vector, i));
    store<u8>(<usize>load<u32>(result, VECTOR_SCALES) + i, 0);
    store<i64>(valueAt(result, i), <i64>load<f64>(valueAt(vector, i)));
  }
}

/** Minimum (`greatest` 0) or maximum of two numbers. If they are equal, the first one. */
export function extremeNumbers(form: u32, greatest: u32, left: usize, right: usize, result: usize, count: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    let mark = max(markAt(left, i), markAt(right, i));
    let from = left;
    if (mark == 0) {
      const order = orderNumbers(form, left, right, i);
      if (order == UNORDERED) mark = UNKNOWN;
      else if (greatest ? order < 0 : order > 0) from = right;
    }
    store<u8>(<usize>load<u32>(result, VECTOR_MARKS) + i, <u8>mark);
    store<u8>(<usize>load<u32>(result, VECTOR_SCALES) + i, <u8>scaleAt(from, i));
    store<u64>(valueAt(result, i), load<u64>(valueAt(from, i)));
  }
}

/** Result of orderNumbers if the order cannot be determined. */
export const UNORDERED: i32 = 2;

/** Rounds decimals to `scale` digits after the decimal point. */
export function roundVector(vector: usize, scale: u32, rounding: u32, result: usize, count: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    let mark = markAt(vector, i);
    if (mark == 0) {
      const digits = load<i64>(valueAt(vector, i)), from = scaleAt(vector, i);
      const isFar = (from > scale ? from - scale : scale - from) > PLACES_MAX;
      const magnitude = isFar ? REFUSED : rescaled(digits < 0 ? 0 - <u64>digits : <u64>digits, from, scale, rounding);
      if (magnitude == REFUSED) mark = UNKNOWN;
      store<i64>(valueAt(result, i), digits < 0 ? 0 - <i64>magnitude : <i64>magnitude);
      store<u8>(<usize>load<u32>(result, VECTOR_SCALES) + i, <u8>scale);
    }
    store<u8>(<usize>load<u32>(result, VECTOR_MARKS) + i, <u8>mark);
  }
}

/** Formats integers, decimals or (`isDate`) dates as texts. Returns the next free address, or 0 if they do not fit. */
export function writeVector(form: u32, isDate: u32, vector: usize, count: u32, texts: usize, next: usize, limit: usize): usize {
  for (let i: usize = 0; i < <usize>count; i++) {
    const mark = markAt(vector, i), place = texts + (i << 3);
    if (mark != 0) {
      store<u64>(place, mark == NULL ? 0 : <u64>UNKNOWN_TEXT);
      continue;
    }
    if (next + NUMBER_BYTES_MAX > limit) return 0;
    const value = valueAt(vector, i);
    const digits = form == DECIMAL ? load<i64>(value) : <i64>load<f64>(value);
    const end = isDate ? putDate(next, digits) : putNumber(next, digits, form == DECIMAL ? scaleAt(vector, i) : 0);
    store<u64>(place, <u64>next | ((<u64>(end - next)) << 32));
    next = end;
  }
  return next;
}

function putNumber(out: usize, digits: i64, scale: u32): usize {
  if (digits < 0) store<u8>(out++, 0x2d);
  const end = putDigits(out, digits < 0 ? 0 - <u64>digits : <u64>digits, scale + 1);
  if (scale == 0) return end;
  const point = end - <usize>scale;
  memory.copy(point + 1, point, <usize>scale);
  store<u8>(point, 0x2e);
  return end + 1;
}

function putDate(out: usize, days: i64): usize {
  setCivil(days);
  let at = putDigits(out, <u64>civilYear, 4);
  store<u8>(at++, 0x2d);
  at = putDigits(at, <u64>civilMonth, 2);
  store<u8>(at++, 0x2d);
  return putDigits(at, <u64>civilDay, 2);
}

// Builds number vectors from several others: by a condition, or as defaults for nulls.

// @ts-ignore: decorator
@inline
function copyNumber(from: usize, to: usize, i: usize): void {
  store<u64>(valueAt(to, i), load<u64>(valueAt(from, i)));
  store<u8>(<usize>load<u32>(to, VECTOR_MARKS) + i, <u8>markAt(from, i));
  store<u8>(<usize>load<u32>(to, VECTOR_SCALES) + i, <u8>scaleAt(from, i));
}

/** Takes the number of the first vector if the state is true, and of the second if it is false or null. */
export function chooseNumbers(states: usize, count: u32, then: usize, otherwise: usize, result: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const state = <u32>load<u8>(states + i);
    copyNumber(state == TRUE ? then : otherwise, result, i);
    if (state == UNKNOWN) store<u8>(<usize>load<u32>(result, VECTOR_MARKS) + i, <u8>UNKNOWN);
  }
}

/** Replaces nulls by the numbers of another vector. With `all`, replaces every number. */
export function fillNumbers(vector: usize, others: usize, count: u32, all: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) if (all || markAt(vector, i) == NULL) copyNumber(others, vector, i);
}

// Dates in expression vectors: the number of the day as an integer.

/** Length of a date such as 2024-02-29. */
const DATE_BYTES: u32 = 10;

/** Parses texts that are ISO 8601 dates. Other texts are marked unknown. */
export function parseDays(views: usize, rows: usize, count: u32, vector: usize): void {
  const marks = <usize>load<u32>(vector, VECTOR_MARKS);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view);
    let mark: u32 = s == 0 ? NULL : UNKNOWN;
    if (s > <usize>UNKNOWN_TEXT && load<u32>(view, 4) == DATE_BYTES) {
      const days = daysOf(s);
      if (days != NO_DATE) {
        store<f64>(valueAt(vector, <usize>i), <f64>days);
        mark = 0;
      }
    }
    store<u8>(marks + <usize>i, <u8>mark);
  }
}

/** Day number of the ten bytes at s. */
// @ts-ignore: decorator
@inline
function daysOf(s: usize): i64 {
  const ends = v128.and(v128.load(s), v128(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0));
  const digits = v128.sub<i8>(ends, i8x16.splat(48));
  // Only the two hyphens may be non-digits. After subtracting 48 they are -3, which is above 9 as an unsigned byte.
  const wrong = <u32>i8x16.bitmask(i8x16.gt_u(digits, i8x16.splat(9))) & 0x3ff;
  if (wrong != 0x90 || load<u8>(s, 4) != 0x2d || load<u8>(s, 7) != 0x2d) return NO_DATE;
  const year = digit(s, 0) * 1000 + digit(s, 1) * 100 + digit(s, 2) * 10 + digit(s, 3);
  return checkedDate(year, digit(s, 5) * 10 + digit(s, 6), digit(s, 8) * 10 + digit(s, 9), 0, 0, 0, 0, 0);
}

// @ts-ignore: decorator
@inline
function digit(s: usize, at: usize): u32 {
  return <u32>load<u8>(s + at) - 48;
}

/** Year, month, day of the month, or weekday (1 for Monday) of dates. */
export function dateParts(dates: usize, part: u32, result: usize, count: u32): void {
  const marks = <usize>load<u32>(result, VECTOR_MARKS);
  for (let i: usize = 0; i < <usize>count; i++) {
    const mark = markAt(dates, i);
    store<u8>(marks + i, <u8>mark);
    if (mark != 0) continue;
    const days = <i64>load<f64>(valueAt(dates, i));
    let value: i32;
    if (part <= DATE_DAY) {
      setCivil(days);
      value = part == DATE_YEAR ? civilYear : part == DATE_MONTH ? <i32>civilMonth : <i32>civilDay;
    } else value = <i32>((((days + 3) % 7) + 7) % 7) + 1;
    store<f64>(valueAt(result, i), <f64>value);
  }
}

/** Formats dates by the first pattern of a program (dates.ts). Returns the next free address, or 0 if they do not fit. */
export function formatDates(dates: usize, count: u32, program: usize, texts: usize, next: usize, limit: usize): usize {
  for (let i: usize = 0; i < <usize>count; i++) {
    const mark = markAt(dates, i), place = texts + (i << 3);
    if (mark != 0) store<u64>(place, mark == NULL ? 0 : <u64>UNKNOWN_TEXT);
    else {
      next = writeMoment(<i64>load<f64>(valueAt(dates, i)), 0, program, place, next, limit);
      if (next == 0) return 0;
    }
  }
  return next;
}
