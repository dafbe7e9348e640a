// Rounds decimals of 64 bits and writes them, and integers, as texts. Plain twins: roundDecimal in workers/values/decimal.ts and
// numberText in operations/format-number.ts. What does not fit 64 bits, or what a rounding refuses, is not for these kernels: they
// give up on the whole list. The program of texts: layout/numbers.ts.
import { META_NULL } from '../layout/cells';
import { AS_WRITTEN, ROUNDING_GIVEN_UP, SCALE_MAX, WRITE_BEFORE_NEGATIVE, WRITE_BEHIND_NEGATIVE, WRITE_GROUPING, WRITE_MARK, WRITE_PREFIX, WRITE_ROUNDING, WRITE_SCALE, WRITE_SUFFIX, WRITING_GIVEN_UP } from '../layout/numbers';
import { copy, viewOf } from './cell';
import { putDigits } from './digits';
import { rounded } from './read-numbers';

/** Results below this size are far from the ends of 64 bits, whatever the doubles that judge them have rounded away. */
const DIGITS_LIMIT: f64 = 9e18;

const TENS: usize = memory.data<u64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/** Digits of the number at hand: 19 of 64 bits, or a zero before SCALE_MAX places. */
const DIGITS: usize = memory.data(64);

export const NOT_HERE: u64 = u64.MAX_VALUE;

/** A magnitude with `to` digits behind the point instead of `from`. */
export function rescaled(magnitude: u64, from: u32, to: u32, rounding: u32): u64 {
  if (from <= to) {
    const unit = load<u64>(TENS + ((<usize>(to - from)) << 3));
    return <f64>magnitude * <f64>unit > DIGITS_LIMIT ? NOT_HERE : magnitude * unit;
  }
  // -1, which refuses, is all bits.
  return <u64>rounded(magnitude, from - to, rounding);
}

/**
 * Rounds the cells of a row list to `scale` places, into `made` and `madeMeta`, which may hold the cells before (`changes` 1:
 * count those that differ from them, else those that are not null).
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
    if (magnitude == NOT_HERE) return ROUNDING_GIVEN_UP;
    const value = digits < 0 ? -<i64>magnitude : <i64>magnitude;
    if (!changes || from != scale || value != digits) changed++;
    store<i64>(made + (row << 3), value);
    store<u8>(madeMeta + row, <u8>scale);
  }
  return changed;
}

/**
 * Writes the cells of a row list as texts, whose views go to `views`. A meta byte is null or a scale, `integers` 1: it is no scale.
 * Gives the next free address, 0 when the texts do not fit, or WRITING_GIVEN_UP.
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
    if (magnitude == NOT_HERE) return WRITING_GIVEN_UP;
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

/** Bytes of all that stands around a number, and of its mark. */
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
