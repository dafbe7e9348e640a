// Appends cells to pages of Parquet columns, in the plain encoding (layout/output-program.ts describes a page).
import { META_NULL } from '../layout/cells';
import {
  PAGE_FULL,
  PAGE_LIMIT,
  PAGE_NEXT,
  PAGE_NULLS,
  PAGE_PRESENT,
  PAGE_ROWS,
  PAGE_ROWS_MAX,
} from '../layout/output-program';
import { copy, viewOf } from './cell';
import { POWERS_OF_TEN } from './numbers';

/** Size of a text's length. */
const LENGTH_BYTES: usize = 4;

/**
 * Appends the texts of `count` rows until the page is full or the next text does not fit into its memory. Returns the
 * number of rows appended.
 */
export function packTexts(views: usize, rows: usize, count: u32, page: usize): u32 {
  const limit = <usize>load<u32>(page, PAGE_LIMIT), full = <usize>load<u32>(page, PAGE_FULL);
  const present = <usize>load<u32>(page, PAGE_PRESENT);
  const first = load<u32>(page, PAGE_ROWS);
  const end = min(count, load<u32>(page, PAGE_ROWS_MAX) - first);
  let next = <usize>load<u32>(page, PAGE_NEXT);
  let nulls: u32 = 0;
  let i: u32 = 0;
  for (; i < end && next < full; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
    if (start == 0) {
      nulls++;
      continue;
    }
    if (next + LENGTH_BYTES + length > limit) break;
    store<u32>(next, <u32>length);
    next = copy(next + LENGTH_BYTES, start, start + length);
    const bits = present + <usize>((first + i) >>> 3);
    store<u8>(bits, load<u8>(bits) | <u8>((<u32>1) << ((first + i) & 7)));
  }
  store<u32>(page, <u32>next, PAGE_NEXT);
  store<u32>(page, first + i, PAGE_ROWS);
  store<u32>(page, load<u32>(page, PAGE_NULLS) + nulls, PAGE_NULLS);
  return i;
}

/** Size of a decimal, and the largest power of ten within 64 bits. */
const DECIMAL_BYTES: usize = 16;
const POWER_MAX: i32 = 18;

/**
 * Appends typed cells of `width` bytes until the page is full, or the next cell does not fit into its memory or is a
 * decimal that needs more than 64-bit steps. Returns the number of rows appended.
 * @param scale scale of the decimals in the file
 */
export function packValues(at: usize, meta: usize, rows: usize, count: u32, page: usize, width: usize, scale: i32): u32 {
  const limit = <usize>load<u32>(page, PAGE_LIMIT), full = <usize>load<u32>(page, PAGE_FULL);
  const present = <usize>load<u32>(page, PAGE_PRESENT);
  const first = load<u32>(page, PAGE_ROWS);
  const end = min(count, load<u32>(page, PAGE_ROWS_MAX) - first);
  let next = <usize>load<u32>(page, PAGE_NEXT);
  let nulls: u32 = 0;
  let i: u32 = 0;
  for (; i < end && next < full; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const form = <u32>load<u8>(meta + row);
    if (form == META_NULL) {
      nulls++;
      continue;
    }
    if (next + width > limit) break;
    const value = load<i64>(at + (row << 3));
    if (width == 8) store<i64>(next, value);
    else if (width != DECIMAL_BYTES) store<i32>(next, <i32>value);
    else if (!putDecimal(next, value, scale - <i32>form)) break;
    next += width;
    const bits = present + <usize>((first + i) >>> 3);
    store<u8>(bits, load<u8>(bits) | <u8>((<u32>1) << ((first + i) & 7)));
  }
  store<u32>(page, <u32>next, PAGE_NEXT);
  store<u32>(page, first + i, PAGE_ROWS);
  store<u32>(page, load<u32>(page, PAGE_NULLS) + nulls, PAGE_NULLS);
  return i;
}

/**
 * Writes `value` with `more` further decimal places in 128 bits, high byte first. Returns false if the power of ten
 * exceeds 64 bits (also for META_BIG), or if digits would be lost.
 */
// @ts-ignore: decorator
@inline
function putDecimal(to: usize, value: i64, more: i32): bool {
  if (more > POWER_MAX || more < -POWER_MAX) return false;
  if (more <= 0) {
    const divisor = load<i64>(POWERS_OF_TEN + ((<usize>-more) << 3));
    if (value % divisor != 0) return false;
    const quotient = value / divisor;
    store<u64>(to, <u64>(quotient >> 63));
    store<u64>(to, bswap<u64>(<u64>quotient), 8);
    return true;
  }
  const size = value < 0 ? <u64>0 - <u64>value : <u64>value;
  const factor = load<u64>(POWERS_OF_TEN + ((<usize>more) << 3));
  const low = size * factor, high = highBits(size, factor);
  // Negative in two's complement: all bits inverted, plus one, which carries if the lower half is zero.
  store<u64>(to, bswap<u64>(value < 0 ? ~high + <u64>(low == 0) : high));
  store<u64>(to, bswap<u64>(value < 0 ? <u64>0 - low : low), 8);
  return true;
}

/** Upper 64 bits of a product. */
// @ts-ignore: decorator
@inline
function highBits(a: u64, b: u64): u64 {
  const half: u64 = 0xffffffff;
  const middle = (a >>> 32) * (b & half) + (((a & half) * (b & half)) >>> 32);
  return (a >>> 32) * (b >>> 32) + (middle >>> 32) + (((a & half) * (b >>> 32) + (middle & half)) >>> 32);
}

/** Size of the texts of `count` rows in pages, at most 2^31 - 1 bytes. Nulls count as empty texts. */
export function packedTextBytes(views: usize, rows: usize, count: u32): u32 {
  let bytes = <u64>count * <u64>LENGTH_BYTES;
  for (let i: u32 = 0; i < count; i++) bytes += <u64>load<u32>(viewOf(views, rows, i), 4);
  return <u32>min<u64>(bytes, <u64>i32.MAX_VALUE);
}
