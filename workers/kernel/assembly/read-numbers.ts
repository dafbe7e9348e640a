// Reads cells of text as numbers into a typed column. Only the common spelling is read: an optional minus, up to 15 digits
// in sound groups, a decimal mark. Everything else is handed back to the plain twin, workers/values/number-text.ts and
// decimal.ts. The format (u32): 0 decimal mark, 4 grouping (0 = none), 8 whether a minus may stand before, 12 form (vector.ts),
// 16 digits behind the point (AS_WRITTEN), 20 rounding, 24 whether a double may be minus zero.
import { viewOf } from './cell';
import { DECIMAL, DOUBLE } from './vector';

const AS_WRITTEN: u32 = 0xffffffff;
const HALF_EVEN: u32 = 1;
const HALF_UP: u32 = 2;
const DOWN: u32 = 3;

const META_NULL: u8 = 255;

/** Digits that are exact in a double, and whose decimals are. */
const DIGITS_MAX: u32 = 15;

/** Digits that are raised to a larger scale stay below 64 bits when both together are no more. */
const RAISED_MAX: u32 = 18;

const LOWEST_BITS: u64 = 0x0101010101010101;
const HIGHEST_BITS: u64 = 0x8080808080808080;
const ZEROS: u64 = 0x3030303030303030;
/** Carries a byte above nine into its highest bit. */
const ABOVE_NINE: u64 = 0x7676767676767676;

const TENS: usize = memory.data<i64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/**
 * Reads the cells of a row list into `at` (8 bytes by physical row) and `meta`. Gives how many are not null; the rows that are
 * handed back go to `todo`: u32 count, then the rows.
 */
export function readNumbers(views: usize, rows: usize, count: u32, format: usize, at: usize, meta: usize, todo: usize): u32 {
  const point = load<u32>(format), group = load<u32>(format, 4), signed = load<u32>(format, 8) != 0;
  const form = load<u32>(format, 12), scaleMost = load<u32>(format, 16), rounding = load<u32>(format, 20);
  const minusZero = load<u32>(format, 24) != 0;
  const isCommon = scaleMost == AS_WRITTEN && form != DOUBLE && point != 0;
  let filled: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), row = (view - views) >> 3;
    if (start == 0) {
      store<u8>(meta + row, META_NULL);
      continue;
    }
    const end = start + <usize>load<u32>(view, 4);
    const negative = signed && end > start && load<u8>(start) == 0x2d;
    if (isCommon && readShort(negative ? start + 1 : start, end, negative, point, form, at + (row << 3), meta + row)) {
      filled++;
      continue;
    }
    let digits: u64 = 0, digitCount: u32 = 0, scale: u32 = 0, sinceGroup: u32 = AS_WRITTEN, sound = true;
    let p = negative ? start + 1 : start;
    let whole = true;
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
    if (sinceGroup != AS_WRITTEN && sinceGroup != 3) sound = false;
    let value = <i64>digits, behind = scale;
    if (p == end && digitCount > 0 && sound && scaleMost != AS_WRITTEN) {
      if (behind > scaleMost) {
        value = rounded(digits, behind - scaleMost, rounding);
        sound = value >= 0;
        behind = scaleMost;
      } else if (form != DOUBLE) {
        sound = digitCount + scaleMost - behind <= RAISED_MAX;
        if (sound) value *= load<i64>(TENS + ((<usize>(scaleMost - behind)) << 3));
        behind = scaleMost;
      }
    }
    if (p != end || digitCount == 0 || !sound) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), <u32>row);
      continue;
    }
    filled++;
    const place = at + (row << 3);
    if (form == DOUBLE) {
      const size = <f64>value / <f64>load<i64>(TENS + ((<usize>behind) << 3));
      store<f64>(place, !negative ? size : minusZero ? -size : 0 - size);
    } else store<i64>(place, negative ? -value : value);
    store<u8>(meta + row, form == DECIMAL ? <u8>behind : 0);
  }
  store<u32>(todo, back);
  return filled;
}

/**
 * Writes the number of a text of up to eight bytes that is nothing but digits and at most one decimal mark; false for others.
 * It is read as one word, without a branch for a byte, which a processor would guess wrong where lengths differ.
 */
// @ts-ignore: decorator
@inline
function readShort(start: usize, end: usize, negative: bool, point: u32, form: u32, place: usize, meta: usize): bool {
  const length = <u64>(end - start);
  if (length - 1 >= 8) return false;
  const word = load<u64>(start) << (64 - (length << 3));
  const other = word ^ (LOWEST_BITS * <u64>point);
  const mark = ~(((other & ~HIGHEST_BITS) + ~HIGHEST_BITS) | other | ~HIGHEST_BITS);
  // What stands before the mark, in lower bytes, moves up over it.
  const behind = mark == 0 ? ~(<u64>0) : ~(mark | (mark - 1));
  const before = mark == 0 ? 0 : (mark >> 7) - 1;
  const bytes = length - <u64>(mark != 0);
  const text = ((word & before) << 8) | (word & behind);
  const values = bytes == 8 ? text ^ ZEROS : text ^ (ZEROS << (64 - (bytes << 3)));
  if (((values + ABOVE_NINE) | values) & HIGHEST_BITS) return false;
  if (bytes == 0 || (mark & (mark - 1)) != 0) return false;
  const pairs = (values * 2561) >> 8;
  const fours = ((pairs & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  const digits = <i64>(((fours & 0x0000ffff0000ffff) * 42949672960001) >> 32);
  store<i64>(place, negative ? -digits : digits);
  store<u8>(meta, form == DECIMAL && mark != 0 ? <u8>(7 - (<u32>ctz(mark) >> 3)) : 0);
  return true;
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
