// Conditions on cells of text: comparison with texts of the Template, and whether there is one at all.
import { sameBytes, viewOf } from './cell';
import { FALSE, isSettled, NULL, putState, SET, TRUE, UNKNOWN } from './states';

const IS_ANY: u32 = 0;
const STARTS: u32 = 1;
const ENDS: u32 = 2;
const CONTAINS: u32 = 3;
const LESS: u32 = 4;
const LESS_OR_EQUAL: u32 = 5;
const IS_NULL: u32 = 6;

/** Longer cells are left to the closures, which count what they cost. */
const CELL_BYTES_MAX: u32 = 65_536;

/**
 * `texts`: u32 address and length of each of `textCount` texts, one but for IS_ANY (equal to one of them). LESS and
 * LESS_OR_EQUAL compare by code points. Null: false for IS_ANY, true for IS_NULL, else null. `negate` turns true and
 * false round.
 */
export function matchText(views: usize, rows: usize, count: u32, test: u32, texts: usize, textCount: u32, negate: u32, states: usize, mode: u32): void {
  const at = <usize>load<u32>(texts), bytes = <usize>load<u32>(texts, 4);
  if (test == IS_ANY && textCount == 1 && bytes <= 16 && mode == SET) {
    matchShort(views, rows, count, at, bytes, negate, states);
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), length = load<u32>(view, 4);
    let state: u32;
    if (test == IS_NULL) state = start == 0 ? TRUE : FALSE;
    else if (start == 0) state = test == IS_ANY ? FALSE : NULL;
    else if (length > CELL_BYTES_MAX) state = UNKNOWN;
    else if (test == IS_ANY) state = isAny(start, <usize>length, texts, textCount) ? TRUE : FALSE;
    else state = holds(test, start, <usize>length, at, bytes) ? TRUE : FALSE;
    putState(states, <usize>i, mode, state > TRUE ? state : state ^ negate);
  }
}

/** Equality with one text of up to 16 bytes: without branches, which a processor would guess wrong for the rarer outcome. */
function matchShort(views: usize, rows: usize, count: u32, text: usize, bytes: usize, negate: u32, states: usize): void {
  const places = v128(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const counted = i8x16.lt_u(places, i8x16.splat(<i8>bytes));
  const wanted = v128.and(v128.load(text), counted);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), length = load<u32>(view, 4);
    const differs = v128.any_true(v128.xor(v128.and(v128.load(start), counted), wanted));
    const equal = <u32>(start != 0) & <u32>(<usize>length == bytes) & <u32>!differs;
    store<u8>(states + <usize>i, length > CELL_BYTES_MAX ? <u8>UNKNOWN : <u8>(equal ^ negate));
  }
}

// @ts-ignore: decorator
@inline
function isAny(start: usize, length: usize, texts: usize, textCount: u32): bool {
  for (let left = textCount; left > 0; left--, texts += 8) {
    if (<usize>load<u32>(texts, 4) == length && sameBytes(start, <usize>load<u32>(texts), length)) return true;
  }
  return false;
}

function holds(test: u32, start: usize, length: usize, at: usize, bytes: usize): bool {
  if (test == LESS) return order(start, length, at, bytes) < 0;
  if (test == LESS_OR_EQUAL) return order(start, length, at, bytes) <= 0;
  if (length < bytes) return false;
  if (test == STARTS) return sameBytes(start, at, bytes);
  if (test == ENDS) return sameBytes(start + length - bytes, at, bytes);
  return test == CONTAINS && contains(start, start + length, at, bytes);
}

/** Bytes of UTF-8 are in the order of code points. */
function order(a: usize, aBytes: usize, b: usize, bBytes: usize): i32 {
  const difference = memory.compare(a, b, min(aBytes, bBytes));
  return difference != 0 ? difference : aBytes < bBytes ? -1 : aBytes > bBytes ? 1 : 0;
}

/** Looks for the first and the last byte of the text side by side, sixteen places at a time. */
function contains(start: usize, end: usize, at: usize, bytes: usize): bool {
  if (bytes == 0) return true;
  const first = i8x16.splat(load<i8>(at)), last = i8x16.splat(load<i8>(at + bytes - 1));
  for (let p = start; p + bytes <= end; p += 16) {
    const marks = v128.and(i8x16.eq(v128.load(p), first), i8x16.eq(v128.load(p + bytes - 1), last));
    for (let mask = i8x16.bitmask(marks); mask != 0; mask &= mask - 1) {
      const q = p + <usize>ctz(mask);
      if (q + bytes > end) break;
      if (sameBytes(q, at, bytes)) return true;
    }
  }
  return false;
}
