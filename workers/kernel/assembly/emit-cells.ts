// Functions that all emit kernels share: copying bytes, and formatting typed cells.
import { civilDay, civilMonth, civilYear, eightDigits, putDigits, putPair, setCivil } from './numbers';

// Copy functions of the emit kernels. They copy in steps of 16 bytes and so overwrite up to 15 bytes after the target's
// end, or up to 63 bytes where documented.

/** Bytes besides the delimiter that require quotes: a quote and line ends. */
export const SPECIAL: usize = memory.data<u8>([0x22, 0x0a, 0x0d]);

/** Copies [start, end) to `out` and returns the address after the copy. */
export function copyOver(out: usize, start: usize, end: usize): usize {
  let target = out;
  let source = start;
  do {
    v128.store(target, v128.load(source));
    target += 16;
    source += 16;
  } while (source < end);
  return out + (end - start);
}

/** Like copyOver, in steps of 64 bytes. This avoids most mispredicted branches on the length. */
// @ts-ignore: decorator
@inline
export function copyWide(out: usize, start: usize, end: usize): usize {
  const target = out - start;
  for (let at = start; at < end; at += 64) {
    v128.store(target + at, v128.load(at));
    v128.store(target + at, v128.load(at, 16), 16);
    v128.store(target + at, v128.load(at, 32), 32);
    v128.store(target + at, v128.load(at, 48), 48);
  }
  return target + end;
}

/** Like copyWide, but always copies 64 bytes first. For most ranges this avoids a mispredicted branch on the length. */
// @ts-ignore: decorator
@inline
export function copyRange(out: usize, start: usize, end: usize): usize {
  v128.store(out, v128.load(start));
  v128.store(out, v128.load(start, 16), 16);
  v128.store(out, v128.load(start, 32), 32);
  v128.store(out, v128.load(start, 48), 48);
  for (let i: usize = 64; i < end - start; i += 32) {
    v128.store(out + i, v128.load(start + i));
    v128.store(out + i, v128.load(start + i, 16), 16);
  }
  return out + (end - start);
}

/**
 * Copies 32 bytes. Returns a bit mask of the special ones among them: the delimiter's first byte, a quote or a line
 * end.
 */
// @ts-ignore: decorator
@inline
export function copyShort(out: usize, start: usize, delimiters: v128, quotes: v128, feeds: v128, returns: v128): u32 {
  const low = v128.load(start), high = v128.load(start, 16);
  v128.store(out, low);
  v128.store(out, high, 16);
  const lowMarks = v128.or(i8x16.eq(low, delimiters), i8x16.eq(low, quotes));
  const lowLines = v128.or(i8x16.eq(low, feeds), i8x16.eq(low, returns));
  const highMarks = v128.or(i8x16.eq(high, delimiters), i8x16.eq(high, quotes));
  const highLines = v128.or(i8x16.eq(high, feeds), i8x16.eq(high, returns));
  return <u32>i8x16.bitmask(v128.or(lowMarks, lowLines)) | (<u32>i8x16.bitmask(v128.or(highMarks, highLines)) << 16);
}

/** Limits a 16-bit mask to the `left` bytes that remain. */
export function maskOf(mask: u32, left: usize): u32 {
  return left < 16 ? mask & ((1 << (<u32>left)) - 1) : mask;
}

// Formats typed cells for both emit kernels: integers, decimals, dates and times. Overwrites up to 16 bytes after a
// text.

/** Length of the longest typed cell: sign, 19 digits, decimal mark and up to 253 zeros of a decimal's scale. */
export const TYPED_BYTES_MAX: usize = 320;

const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

/** Smaller magnitudes, with at most SHORT_SCALE_MAX decimal places, are written in one step. */
const SHORT_LIMIT: u64 = 100_000_000;
const SHORT_SCALE_MAX: u32 = 7;

const ZEROS: u64 = 0x3030303030303030;

// @ts-ignore: decorator
@inline
export function putInteger(out: usize, value: i64): usize {
  const magnitude = <u64>abs(value);
  if (magnitude >= SHORT_LIMIT) return putLong(out, value);
  store<u8>(out, 0x2d);
  const start = out + <usize>(value < 0);
  const digits = eightDigits(<u32>magnitude);
  // The last digit is always written, even a zero.
  const unused = ctz(digits | ((<u64>1) << 56)) >> 3;
  store<u64>(start, (digits | ZEROS) >> (unused << 3));
  return start + 8 - <usize>unused;
}

function putLong(out: usize, value: i64): usize {
  if (value >= 0) return putDigits(out, <u64>value, 1);
  store<u8>(out, 0x2d);
  return putDigits(out + 1, 0 - <u64>value, 1);
}

/** Writes an unscaled value with its scale: all decimal places, after the decimal mark. */
// @ts-ignore: decorator
@inline
export function putDecimal(out: usize, unscaled: i64, scale: u32, mark: u32): usize {
  const magnitude = <u64>abs(unscaled);
  if (magnitude >= SHORT_LIMIT || scale > SHORT_SCALE_MAX) return putLongDecimal(out, unscaled, scale, mark);
  if (scale == 0) return putInteger(out, unscaled);
  store<u8>(out, 0x2d);
  const start = out + <usize>(unscaled < 0);
  const digits = eightDigits(<u32>magnitude);
  // Zeros before the units digit are not written.
  const unused = min(<u32>(ctz(digits | ((<u64>1) << 56)) >> 3), 7 - scale);
  const text = (digits | ZEROS) >> (<u64>unused << 3), whole = 8 - unused - scale;
  store<u64>(start, text);
  store<u64>(start + <usize>whole, text >> (<u64>whole << 3), 1);
  store<u8>(start + <usize>whole, <u8>mark);
  return start + 9 - <usize>unused;
}

function putLongDecimal(out: usize, unscaled: i64, scale: u32, mark: u32): usize {
  if (scale == 0) return putLong(out, unscaled);
  let start = out;
  let magnitude = <u64>unscaled;
  if (unscaled < 0) {
    store<u8>(start++, 0x2d);
    magnitude = 0 - magnitude;
  }
  const end = putDigits(start, magnitude, scale + 1);
  const point = end - <usize>scale;
  // The 16 bytes overlap their target, which is safe because they are loaded before they are stored.
  if (scale <= 16) v128.store(point + 1, v128.load(point));
  else memory.copy(point + 1, point, <usize>scale);
  store<u8>(point, <u8>mark);
  return end + 1;
}

/**
 * Writes days since 1970-01-01 as YYYY-MM-DD. Years outside four digits use the expanded form of ISO 8601 (+012345).
 */
export function putDate(out: usize, days: i64): usize {
  setCivil(days);
  let at = out;
  const year = civilYear;
  if (<u32>year <= 9999) {
    const century = <u32>year / 100;
    putPair(at, century);
    putPair(at + 2, <u32>year - century * 100);
    at += 4;
  } else {
    store<u8>(at++, year < 0 ? 0x2d : 0x2b);
    at = putDigits(at, <u64>(<u32>abs(year)), 6);
  }
  store<u8>(at, 0x2d);
  putPair(at + 1, civilMonth);
  store<u8>(at, 0x2d, 3);
  putPair(at + 4, civilDay);
  return at + 6;
}

/** Writes microseconds since 1970-01-01Z as YYYY-MM-DDThh:mm:ss[.f]Z. The fraction has no trailing zeros. */
export function putDatetime(out: usize, microseconds: i64): usize {
  let days = microseconds / MICROSECONDS_PER_DAY;
  let rest = microseconds - days * MICROSECONDS_PER_DAY;
  if (rest < 0) {
    rest += MICROSECONDS_PER_DAY;
    days--;
  }
  let at = putDate(out, days);
  const seconds = <u32>(<u64>rest / 1_000_000);
  const fraction = <u32>(<u64>rest - <u64>seconds * 1_000_000);
  const minutes = seconds / 60;
  const hours = minutes / 60;
  store<u8>(at, 0x54);
  putPair(at + 1, hours);
  store<u8>(at, 0x3a, 3);
  putPair(at + 4, minutes - hours * 60);
  store<u8>(at, 0x3a, 6);
  putPair(at + 7, seconds - minutes * 60);
  at += 9;
  if (fraction != 0) {
    store<u8>(at++, 0x2e);
    at = putDigits(at, fraction, 6);
    while (load<u8>(at - 1) == 0x30) at--;
  }
  store<u8>(at++, 0x5a);
  return at;
}
