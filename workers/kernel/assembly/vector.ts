// Vectors of numbers over the rows of a list, for expressions. How they lie: layout/expressions.ts. What a kernel
// cannot compute exactly is unknown (see states.ts).
import { META_BIG, META_NULL } from '../layout/cells';
import { DECIMAL, INTEGER, NULL, UNKNOWN, UNKNOWN_TEXT, VECTOR_MARKS, VECTOR_SCALES, VECTOR_STEP_BYTES, VECTOR_VALUES } from '../layout/expressions';
import { isSettled } from './states';
import { viewOf } from './cell';

/** Digits that are exact in a double, and whose decimals are. */
const DIGITS_MAX: u32 = 15;

/** Integers up to this size are exact in a double. */
export const SAFE_MAX: f64 = 9007199254740991;

// @ts-ignore: decorator
@inline
export function valueAt(vector: usize, i: usize): usize {
  return <usize>load<u32>(vector, VECTOR_VALUES) + i * <usize>load<u32>(vector, VECTOR_STEP_BYTES);
}

// @ts-ignore: decorator
@inline
export function markAt(vector: usize, i: usize): u32 {
  return <u32>load<u8>(<usize>load<u32>(vector, VECTOR_MARKS) + (load<u32>(vector, VECTOR_STEP_BYTES) == 0 ? 0 : i));
}

// @ts-ignore: decorator
@inline
export function scaleAt(vector: usize, i: usize): u32 {
  return <u32>load<u8>(<usize>load<u32>(vector, VECTOR_SCALES) + (load<u32>(vector, VECTOR_STEP_BYTES) == 0 ? 0 : i));
}

const POWERS: usize = memory.data<f64>([1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]);

/**
 * Reads cells of text as numbers: an optional minus, up to 15 digits, with a point unless they are integers. Other
 * spellings are unknown, and so are rows that `states` has settled for `mode`.
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
    const behind: u32 = scale < 0 ? 0 : <u32>scale;
    const place = values + ((<usize>i) << 3);
    if (form == DECIMAL) {
      store<i64>(place, negative ? -<i64>digits : <i64>digits);
      store<u8>(scales + <usize>i, <u8>behind);
    } else {
      const size = <f64>digits / load<f64>(POWERS + ((<usize>behind) << 3));
      // An integer has no negative zero.
      store<f64>(place, form == INTEGER ? (negative ? 0 - size : size) : negative ? -size : size);
    }
    store<u8>(marks + <usize>i, 0);
  }
}

/** Reads a typed column. Integers beyond those that are exact in a double and decimals beyond 64 bits are unknown. */
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
 * Writes a vector into a typed column. Gives how many cells are not
 * null; the rows that are unknown go to `todo`: u32 count, then the rows.
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
