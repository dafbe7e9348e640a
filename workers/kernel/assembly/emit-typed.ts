// Texts of typed cells: integers, decimals, dates and times, as both emit kernels write them. Up to 16 bytes behind a text are overwritten.
import { civilDay, civilMonth, civilYear, eightDigits, putDigits, putPair, setCivil } from './digits';

/** Longest text of a typed cell: sign, 19 digits, mark and up to 253 zeros of a decimal's scale. */
export const TYPED_BYTES_MAX: usize = 320;

const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

/** Magnitudes below this, of at most so many places, are written at once. */
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
  // The last digit is written whatever it is.
  const unused = ctz(digits | ((<u64>1) << 56)) >> 3;
  store<u64>(start, (digits | ZEROS) >> (unused << 3));
  return start + 8 - <usize>unused;
}

function putLong(out: usize, value: i64): usize {
  if (value >= 0) return putDigits(out, <u64>value, 1);
  store<u8>(out, 0x2d);
  return putDigits(out + 1, 0 - <u64>value, 1);
}

/** An unscaled value with its scale: all its places, the mark before them. */
// @ts-ignore: decorator
@inline
export function putDecimal(out: usize, unscaled: i64, scale: u32, mark: u32): usize {
  const magnitude = <u64>abs(unscaled);
  if (magnitude >= SHORT_LIMIT || scale > SHORT_SCALE_MAX) return putLongDecimal(out, unscaled, scale, mark);
  if (scale == 0) return putInteger(out, unscaled);
  store<u8>(out, 0x2d);
  const start = out + <usize>(unscaled < 0);
  const digits = eightDigits(<u32>magnitude);
  // Zeros before the units are not written.
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
  // Read before it is written, 16 bytes reach over themselves.
  if (scale <= 16) v128.store(point + 1, v128.load(point));
  else memory.copy(point + 1, point, <usize>scale);
  store<u8>(point, <u8>mark);
  return end + 1;
}

/** Days since 1970-01-01 as YYYY-MM-DD; years beyond four digits as ISO 8601's expanded ones (+012345). */
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

/** Microseconds since 1970-01-01Z as YYYY-MM-DDThh:mm:ss[.f]Z, the fraction without zeros at its end. */
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
