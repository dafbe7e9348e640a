// Parses, rounds and writes numbers: integers, decimals and doubles.
import { META_NULL } from '../layout/cells';
import { DECIMAL, DOUBLE } from '../layout/expressions';
import {
  AS_WRITTEN,
  DOUBLE_PLACES_MAX,
  DOWN,
  HALF_EVEN,
  HALF_UP,
  READ_ARE_WRITTEN,
  READ_FORM,
  READ_GROUPING,
  READ_MARK,
  READ_MINUS_ZERO,
  READ_ROUNDING,
  READ_SCALE,
  READ_SIGNED,
  ROUNDING_GIVEN_UP,
  SCALE_MAX,
  WRITE_BEFORE_NEGATIVE,
  WRITE_BEHIND_NEGATIVE,
  WRITE_GROUPING,
  WRITE_MARK,
  WRITE_PREFIX,
  WRITE_ROUNDING,
  WRITE_SCALE,
  WRITE_SUFFIX,
  WRITING_GIVEN_UP,
} from '../layout/numbers';
import { copy, viewOf } from './cell';

// Writes decimal digits of integers two at a time, and converts day numbers to civil dates. Used by every kernel that
// formats values.

/** The digit pairs "00" to "99". */
const PAIRS: usize = memory.data<u8>([
  48, 48, 48, 49, 48, 50, 48, 51, 48, 52, 48, 53, 48, 54, 48, 55, 48, 56, 48, 57, 49, 48, 49, 49, 49, 50, 49, 51, 49, 52,
  49, 53, 49, 54, 49, 55, 49, 56, 49, 57, 50, 48, 50, 49, 50, 50, 50, 51, 50, 52, 50, 53, 50, 54, 50, 55, 50, 56, 50, 57,
  51, 48, 51, 49, 51, 50, 51, 51, 51, 52, 51, 53, 51, 54, 51, 55, 51, 56, 51, 57, 52, 48, 52, 49, 52, 50, 52, 51, 52, 52,
  52, 53, 52, 54, 52, 55, 52, 56, 52, 57, 53, 48, 53, 49, 53, 50, 53, 51, 53, 52, 53, 53, 53, 54, 53, 55, 53, 56, 53, 57,
  54, 48, 54, 49, 54, 50, 54, 51, 54, 52, 54, 53, 54, 54, 54, 55, 54, 56, 54, 57, 55, 48, 55, 49, 55, 50, 55, 51, 55, 52,
  55, 53, 55, 54, 55, 55, 55, 56, 55, 57, 56, 48, 56, 49, 56, 50, 56, 51, 56, 52, 56, 53, 56, 54, 56, 55, 56, 56, 56, 57,
  57, 48, 57, 49, 57, 50, 57, 51, 57, 52, 57, 53, 57, 54, 57, 55, 57, 56, 57, 57,
]);

const UNITS: usize = memory.data<u32>([0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000]);

const EIGHT_DIGITS: u64 = 100_000_000;

/** Days from 0000-03-01, where the shifted calendar begins, to 1970-01-01. */
const EPOCH_SHIFT: i64 = 719_468;

/** Maximum number of days that the 32-bit algorithm handles, far beyond the year 9999. */
const SHORT_DAYS_MAX: u64 = 0x3fffffff;

/** Number of digits of a number. 0 has one digit. */
// @ts-ignore: decorator
@inline
export function digitCount(value: u32): u32 {
  // 1233 / 4096 approximates log10(2).
  const guess = ((32 - <u32>clz(value | 1)) * 1233) >> 12;
  return guess + <u32>(value >= load<u32>(UNITS + ((<usize>guess) << 2)) || value == 0 ? 1 : 0);
}

/** The two digits of a number below 100, as two bytes in memory order. */
// @ts-ignore: decorator
@inline
export function twoDigits(value: u32): u32 {
  return <u32>load<u16>(PAIRS + ((<usize>value) << 1));
}

// @ts-ignore: decorator
@inline
export function putPair(out: usize, value: u32): void {
  store<u16>(out, load<u16>(PAIRS + ((<usize>value) << 1)));
}

/** Writes the digits of a number up to `end`, filled with leading zeros from `out` on. */
// @ts-ignore: decorator
@inline
function fillDigits(out: usize, end: usize, value: u32): void {
  let at = end;
  while (at >= out + 2) {
    const next = value / 100;
    at -= 2;
    putPair(at, value - next * 100);
    value = next;
  }
  if (at > out) store<u8>(at - 1, <u8>(48 + value));
}

/** Writes the digits of a magnitude with leading zeros up to `width`. Returns the address after them. */
export function putDigits(out: usize, magnitude: u64, width: u32): usize {
  if (magnitude >> 32 == 0) {
    const value = <u32>magnitude;
    const end = out + <usize>max(digitCount(value), width);
    fillDigits(out, end, value);
    return end;
  }
  const high = magnitude / EIGHT_DIGITS;
  const middle = putDigits(out, high, width > 8 ? width - 8 : 1);
  fillDigits(middle, middle + 8, <u32>(magnitude - high * EIGHT_DIGITS));
  return middle + 8;
}

/** The eight digits of a number below 10^8 as values 0 to 9, the first in the lowest byte. Has no branches. */
// @ts-ignore: decorator
@inline
export function eightDigits(value: u32): u64 {
  const high = value / 10_000;
  const fours = <u64>high | ((<u64>(value - high * 10_000)) << 32);
  // Divides by 100, and below by 10, with a multiplication and a shift. The result is exact for numbers of four and two
  // digits.
  const hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
  const twos = hundreds + ((fours - hundreds * 100) << 16);
  const tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
  return tens + ((twos - tens * 10) << 8);
}

/** Results of `setCivil`. */
export let civilYear: i32 = 0;
export let civilMonth: u32 = 0;
export let civilDay: u32 = 0;

/**
 * Sets the civil date of a day. For days within 32 bits: Neri and Schneider (Euclidean affine functions and their
 * application to calendar algorithms, 2023, figure 12), whose method relies on the months of a year beginning with
 * March being nearly linear.
 */
export function setCivil(days: i64): void {
  const shifted = days + EPOCH_SHIFT;
  if (<u64>shifted > SHORT_DAYS_MAX) {
    setFarCivil(shifted);
    return;
  }
  const quarters = 4 * <u32>shifted + 3;
  const century = quarters / 146_097;
  const ofCentury = (quarters - century * 146_097) | 3;
  const product = 2_939_745 * <u64>ofCentury;
  const dayOfYear = <u32>product / 2_939_745 / 4;
  const line = 2141 * dayOfYear + 197_913;
  const isNextYear = <u32>(dayOfYear >= 306);
  civilDay = (line & 0xffff) / 2141 + 1;
  civilMonth = (line >> 16) - 12 * isNextYear;
  civilYear = <i32>(100 * century + <u32>(product >> 32) + isNextYear);
}

/** Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days. */
function setFarCivil(shifted: i64): void {
  const era = <i32>((shifted >= 0 ? shifted : shifted - 146_096) / 146_097);
  const dayOfEra = <u32>(shifted - <i64>era * 146_097);
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const shiftedMonth = (5 * dayOfYear + 2) / 153;
  civilDay = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1;
  civilMonth = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  civilYear = <i32>yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0);
}

// Converts the digits of decimals to a larger scale.

export const POWERS_OF_TEN: usize = memory.data<i64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/** True if the digits fit 64 bits when the scale increases by `by`. */
// @ts-ignore: decorator
@inline
export function fits(digits: i64, by: u32): bool {
  if (by == 0) return true;
  if (by > 18) return digits == 0;
  const most = i64.MAX_VALUE / load<i64>(POWERS_OF_TEN + ((<usize>by) << 3));
  return digits <= most && digits >= -most;
}

// @ts-ignore: decorator
@inline
export function raised(digits: i64, by: u32): i64 {
  return digits == 0 ? 0 : digits * load<i64>(POWERS_OF_TEN + ((<usize>by) << 3));
}

// Parses text cells as numbers into a typed column. Handles only the common form: an optional minus, up to 15 digits in
// valid groups, and a decimal mark. All other cells are left to the scalar implementation,
// workers/values/number-text.ts and decimal.ts. Format: layout/numbers.ts.

/** Maximum number of digits for which integers and decimals are exact as doubles. */
const DIGITS_MAX: u32 = 15;

/** If the number of digits plus the increase of the scale is at most this, the result fits 64 bits. */
const RAISED_MAX: u32 = 18;

/** Number of characters in one word. */
const WORD_BYTES: u32 = 8;

/**
 * Maximum distance of the first digit from '1' for a number to be in canonical form. Other numbers are checked
 * separately.
 */
const DIGITS_WRITTEN: u32 = 8;

/** Not a possible byte value, so it matches no byte of a text. */
const NO_BYTE: u32 = 0x100;

/** Masks of the 0 to 8 highest bytes of a word. The last mask occurs twice. */
const HIGHEST_BYTES: usize = memory.data<u64>([
  0, 0xff00000000000000, 0xffff000000000000, 0xffffff0000000000, 0xffffffff00000000, 0xffffffffff000000,
  0xffffffffffff0000, 0xffffffffffffff00, 0xffffffffffffffff, 0xffffffffffffffff,
]);

const LOWEST_BITS: u64 = 0x0101010101010101;
const HIGHEST_BITS: u64 = 0x8080808080808080;
const ZEROS: u64 = 0x3030303030303030;
/** Added to a word, it sets the highest bit of each byte above nine. */
const ABOVE_NINE: u64 = 0x7676767676767676;

const TENS: usize = memory.data<i64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/**
 * Results of `readLong`: the digits, their number, the number after the decimal point, and whether groups occurred
 * before it.
 */
let longDigits: u64 = 0;
let longCount: u32 = 0;
let longScale: u32 = 0;
let longGroups: bool = false;

/**
 * Parses the cells of a row list into `at` (8 bytes by physical row) and `meta`. Returns the number of non-null cells.
 * The other rows are listed in `todo`: u32 count, then the rows.
 */
export function readNumbers(views: usize, rows: usize, count: u32, format: usize, at: usize, meta: usize, todo: usize): u32 {
  const point = load<u32>(format, READ_MARK), group = load<u32>(format, READ_GROUPING), signed = load<u32>(format, READ_SIGNED) != 0;
  const form = load<u32>(format, READ_FORM), scaleMost = load<u32>(format, READ_SCALE), rounding = load<u32>(format, READ_ROUNDING);
  const minusZero = load<u32>(format, READ_MINUS_ZERO) != 0;
  const points = LOWEST_BITS * <u64>(point ^ 0x30), minus: u32 = signed ? 0x2d : NO_BYTE;
  const scaleBound: u32 = scaleMost == AS_WRITTEN ? 0 : AS_WRITTEN, scaleKept: u32 = form == DECIMAL ? 7 : 0;
  let filled: u32 = 0, back: u32 = 0, others: u32 = 0;
  let isShort = true;
  for (let i: u32 = 0; ; i++) {
    if (isShort && form != DOUBLE) {
      const from = i;
      i = readWords(views, rows, from, count, at, meta, points, minus, scaleMost, scaleBound, scaleKept, others == 0 ? DIGITS_WRITTEN : AS_WRITTEN);
      filled += i - from;
    }
    if (i >= count) break;
    const view = viewOf(views, rows, i), row = (view - views) >> 3;
    const cell = load<u64>(view);
    let start = <usize>cell;
    if (start == 0) {
      store<u8>(meta + row, <u8>META_NULL);
      continue;
    }
    isShort = <u32>(cell >> 32) <= WORD_BYTES;
    const end = start + <usize>(cell >> 32), place = at + (row << 3);
    const negative = signed && load<u8>(start) == 0x2d && end > start;
    start += <usize>negative;
    let sound = readLong(start, end, point, group), value = <i64>longDigits, scale = longScale;
    others |= <u32>longGroups | <u32>(<u32>load<u8>(end - 1) == point);
    others |= <u32>(<u32>load<u8>(start) == 0x30 && (!isLoneZero(start, end, point) || (negative && value == 0))) | (<u32>load<u8>(start) == point);
    if (sound && scale != scaleMost && scaleMost != AS_WRITTEN) {
      others = 1;
      if (scale > scaleMost) {
        value = rounded(longDigits, scale - scaleMost, rounding);
        sound = value >= 0;
        scale = scaleMost;
      } else if (form != DOUBLE) {
        sound = longCount + scaleMost - scale <= RAISED_MAX;
        if (sound) value *= load<i64>(TENS + ((<usize>(scaleMost - scale)) << 3));
        scale = scaleMost;
      }
    }
    if (!sound) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), <u32>row);
      continue;
    }
    filled++;
    if (form == DOUBLE) {
      const size = <f64>value / <f64>load<i64>(TENS + ((<usize>scale) << 3));
      store<f64>(place, !negative ? size : minusZero ? -size : 0 - size);
    } else store<i64>(place, negative ? -value : value);
    store<u8>(meta + row, form == DECIMAL ? <u8>scale : 0);
  }
  store<u32>(todo, back);
  store<u32>(format, <u32>(others == 0), READ_ARE_WRITTEN);
  return filled;
}

/**
 * Parses cells of up to eight characters after an optional minus, each as one word. A separate loop, because it needs
 * few registers. Returns the position of the first other cell, or `count`. If `firstMost` is DIGITS_WRITTEN, it also
 * stops at cells that are not in canonical form. A scale must equal `scaleMost` in the bits of `scaleBound`.
 */
function readWords(views: usize, rows: usize, from: u32, count: u32, at: usize, meta: usize, points: u64, minus: u32, scaleMost: u32, scaleBound: u32, scaleKept: u32, firstMost: u32): u32 {
  let i = from;
  for (; i < count; i++) {
    const view = viewOf(views, rows, i), row = (view - views) >> 3;
    const cell = load<u64>(view), end = <usize>cell + <usize>(cell >> 32);
    if (<usize>cell == 0) break;
    const negative = <u32>(<u32>load<u8>(<usize>cell) == minus), length = <u32>(cell >> 32) - negative;
    if (length - 1 >= WORD_BYTES) break;
    // Has no branches on single bytes, because the processor would mispredict them when lengths vary. The last
    // character is in the highest byte. Bytes before the text become zeros.
    const values = (load<u64>(end - 8) ^ ZEROS) & load<u64>(HIGHEST_BYTES + ((<usize>length) << 3));
    const mark = ((values + ABOVE_NINE) | values) & HIGHEST_BITS;
    // At most one byte may be a non-digit: the decimal point, and not at the end. The digits before it, in lower bytes,
    // are shifted up over it.
    const bitsBehind = <usize>clz(mark), after = load<u64>(HIGHEST_BYTES + bitsBehind), from = load<u64>(HIGHEST_BYTES + bitsBehind, 8);
    if ((((values ^ points) & (after ^ from)) | (mark & (mark - 1)) | (mark >> 63)) != 0) break;
    const scale = (<u32>bitsBehind >> 3) & 7;
    if (((scale ^ scaleMost) & scaleBound) != 0) break;
    const digits = <i64>numberOf((values & after) | ((values & ~from) << 8));
    const start = end - <usize>length;
    if (<u32>load<u8>(start) - 0x31 > firstMost) {
      if (!isLoneZero(start, end, (<u32>points & 0xff) ^ 0x30) || (negative != 0 && digits == 0)) break;
    }
    const sign = -(<i64>negative);
    store<i64>(at + (row << 3), (digits ^ sign) - sign);
    store<u8>(meta + row, scale & scaleKept);
  }
  return i;
}

/** The number formed by eight values from 0 to 9, the first in the lowest byte. */
// @ts-ignore: decorator
@inline
function numberOf(values: u64): u64 {
  const pairs = (values * 2561) >> 8;
  const fours = ((pairs & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  return ((fours & 0x0000ffff0000ffff) * 42949672960001) >> 32;
}

/** Parses byte by byte. Returns false if the text is not a number in the common form. */
function readLong(start: usize, end: usize, point: u32, group: u32): bool {
  let digits: u64 = 0, digitCount: u32 = 0, scale: u32 = 0, sinceGroup: u32 = AS_WRITTEN, whole = true;
  let p = start;
  for (; p < end; p++) {
    const c = <u32>load<u8>(p);
    if (c - 0x30 <= 9) {
      digits = digits * 10 + <u64>(c - 0x30);
      if (++digitCount > DIGITS_MAX) break;
      if (!whole) scale++;
      else if (sinceGroup != AS_WRITTEN) sinceGroup++;
    } else if (c == point && whole) whole = false;
    else if (c == group && whole) {
      if (sinceGroup == AS_WRITTEN ? digitCount == 0 || digitCount > 3 : sinceGroup != 3) break;
      sinceGroup = 0;
    } else break;
  }
  longDigits = digits;
  longCount = digitCount;
  longScale = scale;
  longGroups = sinceGroup != AS_WRITTEN;
  return p == end && digitCount > 0 && (sinceGroup == AS_WRITTEN || sinceGroup == 3);
}

/** True if the leading zero is the only digit before the decimal point. */
function isLoneZero(start: usize, end: usize, point: u32): bool {
  return <u32>load<u8>(start) == 0x30 && (end - start == 1 || <u32>load<u8>(start, 1) == point);
}

/** Drops the last `dropped` digits. Returns -1 if the rounding mode refuses. */
function rounded(digits: u64, dropped: u32, rounding: u32): i64 {
  const unit = load<u64>(TENS + ((<usize>dropped) << 3));
  const quotient = digits / unit, rest = digits % unit;
  if (rest == 0 || rounding == DOWN) return <i64>quotient;
  if (rounding != HALF_EVEN && rounding != HALF_UP) return -1;
  const away = rest * 2 > unit || (rest * 2 == unit && (rounding == HALF_UP || (quotient & 1) != 0));
  return <i64>(away ? quotient + 1 : quotient);
}

// Rounds 64-bit decimals, and formats decimals and integers as texts. Scalar reference implementations: roundDecimal in
// workers/values/decimal.ts and numberText in operations/format-number.ts. If a number does not fit 64 bits, or the
// rounding mode refuses it, these kernels give up on the whole list. Format of the texts: layout/numbers.ts.

/**
 * Bound on results, estimated with doubles. It is far enough below the limit of 64 bits to cover the rounding of these
 * doubles.
 */
const RESULT_LIMIT: f64 = 9e18;

const INTEGER_TENS: usize = memory.data<u64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/** Digits of the current number: up to 19 for 64 bits, or a zero before SCALE_MAX places. */
const DIGITS: usize = memory.data(64);

/** Returned by `rescaled` if the rounding mode refuses the number or the result does not fit 64 bits. */
export const REFUSED: u64 = u64.MAX_VALUE;

/** Changes the scale of a magnitude from `from` to `to` digits after the decimal point. */
export function rescaled(magnitude: u64, from: u32, to: u32, rounding: u32): u64 {
  if (from <= to) {
    const unit = load<u64>(INTEGER_TENS + ((<usize>(to - from)) << 3));
    return <f64>magnitude * <f64>unit > RESULT_LIMIT ? REFUSED : magnitude * unit;
  }
  // `rounded` returns -1 to refuse, which becomes REFUSED when converted to u64.
  return <u64>rounded(magnitude, from - to, rounding);
}

/**
 * Rounds the cells of a row list to `scale` places. Writes to `made` and `madeMeta`, which may be the same memory as
 * the input. Returns the number of changed cells (`changes` 1) or of non-null cells (0).
 */
export function roundDecimals(at: usize, meta: usize, rows: usize, count: u32, scale: u32, rounding: u32, made: usize, madeMeta: usize, changes: u32): u32 {
  let changed: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const from = <u32>load<u8>(meta + row);
    if (from == META_NULL) {
      store<u8>(madeMeta + row, <u8>META_NULL);
      continue;
    }
    if (from > SCALE_MAX) return ROUNDING_GIVEN_UP;
    const digits = load<i64>(at + (row << 3));
    const magnitude = rescaled(digits < 0 ? 0 - <u64>digits : <u64>digits, from, scale, rounding);
    if (magnitude == REFUSED) return ROUNDING_GIVEN_UP;
    const value = digits < 0 ? -<i64>magnitude : <i64>magnitude;
    if (!changes || from != scale || value != digits) changed++;
    store<i64>(made + (row << 3), value);
    store<u8>(madeMeta + row, <u8>scale);
  }
  return changed;
}

/**
 * Formats the cells of a row list as texts, whose views go to `views`. A meta byte is null or a scale (with `integers`
 * 1 it is not a scale). Returns the next free address, 0 if the texts do not fit, or WRITING_GIVEN_UP.
 */
export function writeNumbers(at: usize, meta: usize, rows: usize, count: u32, integers: u32, program: usize, views: usize, next: usize, limit: usize): usize {
  const asked = load<u32>(program, WRITE_SCALE), rounding = load<u32>(program, WRITE_ROUNDING);
  const bytesMost = around(program) + 64 + 7 * <usize>load<u32>(program, WRITE_GROUPING + 4);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = (view - views) >> 3;
    const mark = <u32>load<u8>(meta + row);
    if (mark == META_NULL) {
      store<u64>(view, 0);
      continue;
    }
    const from: u32 = integers ? 0 : mark, scale = asked == AS_WRITTEN ? from : asked;
    if (from > SCALE_MAX) return WRITING_GIVEN_UP;
    if (next + bytesMost > limit) return 0;
    const digits = load<i64>(at + (row << 3));
    const magnitude = rescaled(digits < 0 ? 0 - <u64>digits : <u64>digits, from, scale, rounding);
    if (magnitude == REFUSED) return WRITING_GIVEN_UP;
    const negative = digits < 0 && magnitude != 0;
    let o = negative ? put(next, program + WRITE_BEFORE_NEGATIVE) : next;
    o = put(o, program + WRITE_PREFIX);
    o = putNumber(o, magnitude, scale, program);
    o = put(o, program + WRITE_SUFFIX);
    if (negative) o = put(o, program + WRITE_BEHIND_NEGATIVE);
    store<u64>(view, <u64>next | ((<u64>(o - next)) << 32));
    next = o;
  }
  return next;
}

/** Total length of the texts around a number, and of the decimal mark. */
function around(program: usize): usize {
  let bytes = <usize>load<u32>(program, WRITE_MARK + 4);
  for (let text = program + WRITE_PREFIX + 4; text <= program + WRITE_BEHIND_NEGATIVE + 4; text += 8) bytes += <usize>load<u32>(text);
  return bytes;
}

// @ts-ignore: decorator
@inline
function put(o: usize, text: usize): usize {
  const start = <usize>load<u32>(text);
  return copy(o, start, start + <usize>load<u32>(text, 4));
}

function putNumber(o: usize, magnitude: u64, scale: u32, program: usize): usize {
  const end = putDigits(DIGITS, magnitude, scale + 1), point = end - <usize>scale;
  const grouped = load<u32>(program, WRITE_GROUPING + 4) != 0;
  let from = DIGITS;
  while (grouped && point - from > 3) {
    const length = (point - from) % 3;
    const to = from + (length == 0 ? 3 : length);
    o = put(copy(o, from, to), program + WRITE_GROUPING);
    from = to;
  }
  o = copy(o, from, point);
  return scale == 0 ? o : copy(put(o, program + WRITE_MARK), point, end);
}

// Rounds doubles as the decimals of their shortest texts. Scalar reference implementation: roundNumber in
// workers/operations/round.ts.

/** Below this limit (15 digits), decimals and their nearest doubles correspond one-to-one. */
const DOUBLE_DIGITS_LIMIT: f64 = 1e15;

const POWERS: usize = memory.data<f64>([1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]);

/**
 * Rounds the cells of a row list to `scale` places (0 to 15). Writes to `made` and `madeMeta`, which may be the same
 * memory as the input. Returns the number of changed cells (`changes` 1) or of non-null cells (0). Cells of more than
 * 15 digits and cells that the rounding mode refuses are listed in `todo` (u32 count, then the rows) and not counted.
 */
export function roundDoubles(at: usize, meta: usize, rows: usize, count: u32, scale: u32, rounding: u32, made: usize, madeMeta: usize, changes: u32, todo: usize): u32 {
  let changed: u32 = 0, left: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const mark = load<u8>(meta + row);
    store<u8>(madeMeta + row, mark);
    if (<u32>mark == META_NULL) continue;
    const value = load<f64>(at + (row << 3)), size = abs(value);
    const places = placesOf(size);
    const digits = places > DOUBLE_PLACES_MAX ? -1 : <i64>nearest(size * load<f64>(POWERS + ((<usize>places) << 3)));
    let result = size;
    if (places > scale && digits >= 0) {
      const kept = rounded(<u64>digits, places - scale, rounding);
      result = kept < 0 ? NaN : <f64>kept / load<f64>(POWERS + ((<usize>scale) << 3));
    }
    if (digits < 0 || result != result) {
      store<u32>(todo + (++left << 2), <u32>row);
      continue;
    }
    // The result is never negative zero.
    if (result != 0) result = copysign(result, value);
    if (!changes || reinterpret<u64>(result) != reinterpret<u64>(value)) changed++;
    store<f64>(made + (row << 3), result);
  }
  store<u32>(todo, <u32>left);
  return changed;
}

/**
 * Number of digits after the decimal point in the double's shortest text, or more than DOUBLE_PLACES_MAX if 15 digits
 * do not suffice.
 */
// @ts-ignore: decorator
@inline
function placesOf(size: f64): u32 {
  for (let places: u32 = 0; places <= DOUBLE_PLACES_MAX; places++) {
    const power = load<f64>(POWERS + ((<usize>places) << 3));
    const digits = nearest(size * power);
    if (!(digits < DOUBLE_DIGITS_LIMIT)) break;
    if (digits / power == size) return places;
  }
  return DOUBLE_PLACES_MAX + 1;
}
