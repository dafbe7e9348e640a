// Keys whose byte order is the order of rows, from the columns to sort by. Plain twin: operations/rows/sort-key.ts, which also
// tells what the bytes mean. Terms: layout/sort-keys.ts.
import { META_NULL } from '../layout/cells';
import { DECIMAL, EXPONENT_BIAS, INTEGER, NULL_FIRST, NULL_LAST, NUMBER, TERM_BYTES, TERM_FALLS, TERM_KIND, TERM_META, TERM_NULLS_FIRST, TERM_VALUES, TEXT, VALUE, ZERO } from '../layout/sort-keys';
import { viewOf } from './cell';


/** Bytes that a key of anything but text takes at most. */
const FIXED_BYTES: usize = 24;

/** Writes the key of each row of the list to [next, limit) and its view to `keys`. Gives the next free address, 0 when it is full. */
export function sortKeys(terms: usize, termCount: u32, rows: usize, count: u32, keys: usize, next: usize, limit: usize): usize {
  const end = terms + <usize>termCount * TERM_BYTES;
  for (let i: u32 = 0; i < count; i++) {
    const key = viewOf(keys, rows, i), row = (key - keys) >> 3;
    let o = next;
    for (let term = terms; term < end; term += TERM_BYTES) {
      o = putTerm(term, row, o, limit);
      if (o == 0) return 0;
    }
    store<u32>(key, <u32>next);
    store<u32>(key, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

// @ts-ignore: decorator
@inline
function putTerm(term: usize, row: usize, o: usize, limit: usize): usize {
  const kind = load<u32>(term, TERM_KIND), place = <usize>load<u32>(term, TERM_VALUES) + (row << 3);
  const meta = kind == TEXT ? 0 : load<u8>(<usize>load<u32>(term, TERM_META) + row);
  if (o + FIXED_BYTES > limit) return 0;
  if (kind == TEXT ? load<u32>(place) == 0 : meta == META_NULL) {
    store<u8>(o, load<u32>(term, TERM_NULLS_FIRST) != 0 ? NULL_FIRST : NULL_LAST);
    return o + 1;
  }
  store<u8>(o, VALUE);
  const start = o + 1;
  if (kind == TEXT) o = putText(<usize>load<u32>(place), <usize>load<u32>(place, 4), start, limit);
  else if (kind == INTEGER) o = putInteger(load<i64>(place), start);
  else if (kind == DECIMAL) o = putDecimal(load<i64>(place), <i32>meta, start);
  else if (kind == NUMBER) o = putDouble(load<f64>(place), start);
  else {
    store<u8>(start, meta);
    o = start + 1;
  }
  if (load<u32>(term, TERM_FALLS) != 0) for (let p = start; p < o; p++) store<u8>(p, ~load<u8>(p));
  return o;
}

/** The bytes, a 0 among them as 0 255, and 0 0. */
function putText(s: usize, length: usize, o: usize, limit: usize): usize {
  if (o + length * 2 + 2 > limit) return 0;
  for (let p = s; p < s + length; p++) {
    const c = load<u8>(p);
    store<u8>(o++, c);
    if (c == 0) store<u8>(o++, 255);
  }
  store<u16>(o, 0);
  return o + 2;
}

/** How many bytes the value needs, with its sign, and these bytes. */
// @ts-ignore: decorator
@inline
function putInteger(value: i64, o: usize): usize {
  const magnitude = <u64>(value < 0 ? ~value : value);
  const bytes = <usize>(8 - (clz(magnitude | 1) >> 3));
  store<u8>(o, <u8>(value < 0 ? 0x80 - bytes : 0x80 + bytes));
  store<u64>(o + 1, bswap<u64>(<u64>value << ((8 - <u64>bytes) << 3)));
  return o + 1 + bytes;
}

/** Sign and exponent, digits without zeros at their end two in a byte, 0; below zero all is inverted. */
function putDecimal(value: i64, scale: i32, o: usize): usize {
  if (value == 0) {
    store<u16>(o, bswap<u16>(<u16>ZERO));
    return o + 2;
  }
  let left = value < 0 ? 0 - <u64>value : <u64>value;
  let digits: i32 = 0;
  for (let rest = left; rest != 0; rest /= 10) digits++;
  const exponent = digits - scale + EXPONENT_BIAS;
  store<u16>(o, bswap<u16>(<u16>(value < 0 ? ZERO - exponent : ZERO + exponent)));
  o += 2;
  const start = o;
  let pairs = (digits + 1) >> 1;
  if (digits & 1) {
    // The last digit is the first of its pair.
    store<u8>(o + <usize>pairs - 1, <u8>((left % 10) * 10 + 1));
    left /= 10;
  } else {
    store<u8>(o + <usize>pairs - 1, <u8>(left % 100 + 1));
    left /= 100;
  }
  for (let p = pairs - 2; p >= 0; p--) {
    store<u8>(o + <usize>p, <u8>(left % 100 + 1));
    left /= 100;
  }
  while (load<u8>(o + <usize>pairs - 1) == 1) pairs--;
  o += <usize>pairs;
  store<u8>(o++, 0);
  if (value < 0) for (let p = start; p < o; p++) store<u8>(p, ~load<u8>(p));
  return o;
}

/** Big-endian; the sign is turned, and below zero all is. */
// @ts-ignore: decorator
@inline
function putDouble(value: f64, o: usize): usize {
  // One zero, and one NaN, whatever its sign is.
  let bits = reinterpret<u64>(value == 0 ? 0 : value != value ? f64.NaN : value);
  bits = bits >> 63 ? ~bits : bits | 0x8000000000000000;
  store<u64>(o, bswap<u64>(bits));
  return o + 8;
}
