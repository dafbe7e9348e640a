// Keys of typed values: the same bytes for equal values. Integers, dates and doubles are their own 8 bytes, booleans one;
// decimals are written anew, without zeros at their end: i64 digits and u8 scale. Plain twin: bigKey in
// operations/keys/row-keys.ts, which also writes decimals beyond 64 bits.
import { META_BIG, META_NULL } from '../layout/cells';
import { DECIMAL_KEY_BYTES, KEY_BOOLEAN, KEY_DOUBLE, KEY_WORD } from '../layout/keys';
import { viewOf } from './cell';

/** Zero has no sign in a key. */
const ZERO: usize = memory.data<f64>([0]);

/** Nor has NaN, which division leaves with one and reading without. */
const NOT_A_NUMBER: usize = memory.data<f64>([NaN]);

/**
 * Makes the views of the keys of a row list. Gives the next free address, 0 when they do not fit; rows with decimals beyond 64
 * bits go to `todo`: u32 count, then the rows.
 */
export function typedKeys(at: usize, meta: usize, rows: usize, count: u32, kind: u32, views: usize, next: usize, limit: usize, todo: usize): usize {
  let back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = (view - views) >> 3;
    const cellMeta = <u32>load<u8>(meta + row);
    if (cellMeta == META_NULL) {
      store<u64>(view, 0);
      continue;
    }
    const value = at + (row << 3);
    let start = value, length: u32 = 8;
    if (kind == KEY_BOOLEAN) {
      start = meta + row;
      length = 1;
    } else if (kind == KEY_DOUBLE) {
      const double = load<f64>(value);
      if (double == 0) start = ZERO;
      else if (double != double) start = NOT_A_NUMBER;
    } else if (kind != KEY_WORD) {
      if (cellMeta == META_BIG) {
        back++;
        store<u32>(todo + ((<usize>back) << 2), <u32>row);
        continue;
      }
      if (next + DECIMAL_KEY_BYTES > limit) return 0;
      putDecimal(next, load<i64>(value), cellMeta);
      start = next;
      length = <u32>DECIMAL_KEY_BYTES;
      next += DECIMAL_KEY_BYTES;
    }
    store<u32>(view, <u32>start);
    store<u32>(view, length, 4);
  }
  store<u32>(todo, back);
  return next;
}

// @ts-ignore: decorator
@inline
function putDecimal(o: usize, digits: i64, scale: u32): void {
  while (scale > 0) {
    const quotient = digits / 10;
    if (quotient * 10 != digits) break;
    digits = quotient;
    scale--;
  }
  store<i64>(o, digits);
  store<u8>(o, <u8>scale, 8);
}
