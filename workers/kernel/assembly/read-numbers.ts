// Reads cells of text as numbers into a typed column. Only the common spelling is read: an optional minus, up to 15 digits
// in sound groups, a decimal mark. Everything else is handed back to the plain twin, workers/values/number-text.ts and
// decimal.ts. The format: layout/numbers.ts.
import { META_NULL } from '../layout/cells';
import { DECIMAL, DOUBLE } from '../layout/expressions';
import { AS_WRITTEN, DOWN, HALF_EVEN, HALF_UP, READ_ARE_WRITTEN, READ_FORM, READ_GROUPING, READ_MARK, READ_MINUS_ZERO, READ_ROUNDING, READ_SCALE, READ_SIGNED } from '../layout/numbers';
import { viewOf } from './cell';

/** Digits that are exact in a double, and whose decimals are. */
const DIGITS_MAX: u32 = 15;

/** Digits that are raised to a larger scale stay below 64 bits when both together are no more. */
const RAISED_MAX: u32 = 18;

/** Characters that one word holds. */
const WORD_BYTES: u32 = 8;

/** How far behind '1' the first digit of a number may be that begins as numbers are written: other ones are looked at. */
const DIGITS_WRITTEN: u32 = 8;

/** Stands for a byte that no text holds. */
const NO_BYTE: u32 = 0x100;

/** The 0 to 8 highest bytes of a word, and once more all of them. */
const HIGHEST_BYTES: usize = memory.data<u64>([
  0, 0xff00000000000000, 0xffff000000000000, 0xffffff0000000000, 0xffffffff00000000, 0xffffffffff000000,
  0xffffffffffff0000, 0xffffffffffffff00, 0xffffffffffffffff, 0xffffffffffffffff,
]);

const LOWEST_BITS: u64 = 0x0101010101010101;
const HIGHEST_BITS: u64 = 0x8080808080808080;
const ZEROS: u64 = 0x3030303030303030;
/** Carries a byte above nine into its highest bit. */
const ABOVE_NINE: u64 = 0x7676767676767676;

const TENS: usize = memory.data<i64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/** What `readLong` read: the digits, how many, how many behind the point, and whether groups stand before it. */
let longDigits: u64 = 0;
let longCount: u32 = 0;
let longScale: u32 = 0;
let longGroups: bool = false;

/**
 * Reads the cells of a row list into `at` (8 bytes by physical row) and `meta`. Gives how many are not null; the rows that are
 * handed back go to `todo`: u32 count, then the rows.
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
 * Reads cells of up to eight characters behind a minus, each as one word, in a loop of its own that needs few registers.
 * Gives the position of the first cell that is another one, or `count`. With DIGITS_WRITTEN for `firstMost` those that do not
 * stand there as they would be written are others too. A scale and `scaleMost` are the same in the bits of `scaleBound`.
 */
function readWords(views: usize, rows: usize, from: u32, count: u32, at: usize, meta: usize, points: u64, minus: u32, scaleMost: u32, scaleBound: u32, scaleKept: u32, firstMost: u32): u32 {
  let i = from;
  for (; i < count; i++) {
    const view = viewOf(views, rows, i), row = (view - views) >> 3;
    const cell = load<u64>(view), end = <usize>cell + <usize>(cell >> 32);
    if (<usize>cell == 0) break;
    const negative = <u32>(<u32>load<u8>(<usize>cell) == minus), length = <u32>(cell >> 32) - negative;
    if (length - 1 >= WORD_BYTES) break;
    // Without a branch for a byte, which a processor would guess wrong where lengths differ. The last character is in the
    // highest byte; what is not of the text becomes zeros before it.
    const values = (load<u64>(end - 8) ^ ZEROS) & load<u64>(HIGHEST_BYTES + ((<usize>length) << 3));
    const mark = ((values + ABOVE_NINE) | values) & HIGHEST_BITS;
    // At most one byte is no digit, and that is the point, not at the end. What stands before it, in lower bytes, moves up over it.
    const bitsBehind = <usize>clz(mark), behind = load<u64>(HIGHEST_BYTES + bitsBehind), from = load<u64>(HIGHEST_BYTES + bitsBehind, 8);
    if ((((values ^ points) & (behind ^ from)) | (mark & (mark - 1)) | (mark >> 63)) != 0) break;
    const scale = (<u32>bitsBehind >> 3) & 7;
    if (((scale ^ scaleMost) & scaleBound) != 0) break;
    const digits = <i64>numberOf((values & behind) | ((values & ~from) << 8));
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

/** The number that eight values from 0 to 9 are, the first in the lowest byte. */
// @ts-ignore: decorator
@inline
function numberOf(values: u64): u64 {
  const pairs = (values * 2561) >> 8;
  const fours = ((pairs & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  return ((fours & 0x0000ffff0000ffff) * 42949672960001) >> 32;
}

/** Byte by byte; false when the text is no number in the common spelling. */
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

/** No other digit stands behind the zero that the text begins with. */
function isLoneZero(start: usize, end: usize, point: u32): bool {
  return <u32>load<u8>(start) == 0x30 && (end - start == 1 || <u32>load<u8>(start, 1) == point);
}

/** Digits without the last `dropped`; -1 when the rounding refuses. */
export function rounded(digits: u64, dropped: u32, rounding: u32): i64 {
  const unit = load<u64>(TENS + ((<usize>dropped) << 3));
  const quotient = digits / unit, rest = digits % unit;
  if (rest == 0 || rounding == DOWN) return <i64>quotient;
  if (rounding != HALF_EVEN && rounding != HALF_UP) return -1;
  const away = rest * 2 > unit || (rest * 2 == unit && (rounding == HALF_UP || (quotient & 1) != 0));
  return <i64>(away ? quotient + 1 : quotient);
}
