// Conditions on cells of text: comparison with texts of the Template, and whether there is one at all.
import { FALSE, NULL, SET, TEXT_BYTES_MAX, TEXT_CONTAINS, TEXT_ENDS, TEXT_IS_ANY, TEXT_IS_NULL, TEXT_LESS, TEXT_LESS_OR_EQUAL, TEXT_STARTS, TRUE, UNKNOWN, UNKNOWN_TEXT } from '../layout/expressions';
import { sameBytes, viewOf } from './cell';
import { isSettled, putState } from './states';

/**
 * `texts`: u32 address and length of each of `textCount` texts, one but for TEXT_IS_ANY (equal to one of them). TEXT_LESS and
 * TEXT_LESS_OR_EQUAL compare by code points. Null: false for TEXT_IS_ANY, true for TEXT_IS_NULL, else null. `negate` turns true and
 * false round.
 */
export function matchText(views: usize, rows: usize, count: u32, test: u32, texts: usize, textCount: u32, negate: u32, states: usize, mode: u32): void {
  const at = <usize>load<u32>(texts), bytes = <usize>load<u32>(texts, 4);
  if (test == TEXT_IS_ANY && textCount == 1 && bytes <= 16 && mode == SET) {
    matchShort(views, rows, count, at, bytes, negate, states);
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), length = load<u32>(view, 4);
    let state: u32;
    if (start == <usize>UNKNOWN_TEXT) state = UNKNOWN;
    else if (test == TEXT_IS_NULL) state = start == 0 ? TRUE : FALSE;
    else if (start == 0) state = test == TEXT_IS_ANY ? FALSE : NULL;
    else if (length > TEXT_BYTES_MAX) state = UNKNOWN;
    else if (test == TEXT_IS_ANY) state = isAny(start, <usize>length, texts, textCount) ? TRUE : FALSE;
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
    if (start == <usize>UNKNOWN_TEXT) {
      store<u8>(states + <usize>i, <u8>UNKNOWN);
      continue;
    }
    const differs = v128.any_true(v128.xor(v128.and(v128.load(start), counted), wanted));
    const equal = <u32>(start != 0) & <u32>(<usize>length == bytes) & <u32>!differs;
    store<u8>(states + <usize>i, length > TEXT_BYTES_MAX ? <u8>UNKNOWN : <u8>(equal ^ negate));
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
  if (test == TEXT_LESS) return order(start, length, at, bytes) < 0;
  if (test == TEXT_LESS_OR_EQUAL) return order(start, length, at, bytes) <= 0;
  if (length < bytes) return false;
  if (test == TEXT_STARTS) return sameBytes(start, at, bytes);
  if (test == TEXT_ENDS) return sameBytes(start + length - bytes, at, bytes);
  return test == TEXT_CONTAINS && contains(start, start + length, at, bytes);
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

/** Compares texts with others, position by position: TEXT_IS_ANY for equality, TEXT_LESS and TEXT_LESS_OR_EQUAL. */
export function compareTexts(views: usize, rows: usize, others: usize, otherRows: usize, count: u32, test: u32, negate: u32, states: usize, mode: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i), other = viewOf(others, otherRows, i);
    const a = <usize>load<u32>(view), aBytes = load<u32>(view, 4), b = <usize>load<u32>(other), bBytes = load<u32>(other, 4);
    let state: u32;
    if (a == <usize>UNKNOWN_TEXT || b == <usize>UNKNOWN_TEXT || aBytes > TEXT_BYTES_MAX || bBytes > TEXT_BYTES_MAX) state = UNKNOWN;
    else if (a == 0 || b == 0) state = test != TEXT_IS_ANY ? NULL : a == b ? TRUE : FALSE;
    else if (test == TEXT_IS_ANY) state = aBytes == bBytes && sameBytes(a, b, <usize>aBytes) ? TRUE : FALSE;
    else {
      const difference = order(a, <usize>aBytes, b, <usize>bBytes);
      state = difference < 0 || (difference == 0 && test == TEXT_LESS_OR_EQUAL) ? TRUE : FALSE;
    }
    putState(states, <usize>i, mode, state > TRUE ? state : state ^ negate);
  }
}
