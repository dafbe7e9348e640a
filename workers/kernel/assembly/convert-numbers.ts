// Vectors of numbers (vector.ts) made of others: in another form, the least and greatest, rounded, and as texts.
import { DECIMAL, NULL, UNKNOWN, UNKNOWN_TEXT, VECTOR_MARKS, VECTOR_SCALES } from '../layout/expressions';
import { orderNumbers } from './calculate';
import { NOT_HERE, rescaled } from './decimals';
import { civilDay, civilMonth, civilYear, putDigits, setCivil } from './digits';
import { markAt, scaleAt, valueAt } from './vector';

/** Digits behind the point beyond which powers of ten leave 64 bits. */
const PLACES_MAX: u32 = 18;

/** Bytes of the longest number: a sign, 20 digits, a point, and the zeros of 253 places. */
const NUMBER_BYTES_MAX: usize = 288;

/** Whole numbers as decimals. */
export function toDecimals(vector: usize, result: usize, count: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u8>(<usize>load<u32>(result, VECTOR_MARKS) + i, <u8>markAt(vector, i));
    store<u8>(<usize>load<u32>(result, VECTOR_SCALES) + i, 0);
    store<i64>(valueAt(result, i), <i64>load<f64>(valueAt(vector, i)));
  }
}

/** The least (`greatest` 0) or greatest of two; the first where they are equal. */
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

/** What orderNumbers gives where it cannot tell. */
export const UNORDERED: i32 = 2;

/** Decimals with `scale` digits behind the point. */
export function roundVector(vector: usize, scale: u32, rounding: u32, result: usize, count: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    let mark = markAt(vector, i);
    if (mark == 0) {
      const digits = load<i64>(valueAt(vector, i)), from = scaleAt(vector, i);
      const isFar = (from > scale ? from - scale : scale - from) > PLACES_MAX;
      const magnitude = isFar ? NOT_HERE : rescaled(digits < 0 ? 0 - <u64>digits : <u64>digits, from, scale, rounding);
      if (magnitude == NOT_HERE) mark = UNKNOWN;
      store<i64>(valueAt(result, i), digits < 0 ? 0 - <i64>magnitude : <i64>magnitude);
      store<u8>(<usize>load<u32>(result, VECTOR_SCALES) + i, <u8>scale);
    }
    store<u8>(<usize>load<u32>(result, VECTOR_MARKS) + i, <u8>mark);
  }
}

/** Writes whole numbers, decimals or (`isDate`) dates as texts. Gives the next free address, 0 when they do not fit. */
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
