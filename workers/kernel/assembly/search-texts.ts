// Kernels that compare text cells with literal texts, replace literal texts, and replace e-mail addresses.
import {
  FALSE,
  NULL,
  SET,
  TEXT_BYTES_MAX,
  TEXT_CONTAINS,
  TEXT_ENDS,
  TEXT_IS_ANY,
  TEXT_IS_NULL,
  TEXT_LESS,
  TEXT_LESS_OR_EQUAL,
  TEXT_STARTS,
  TRUE,
  UNKNOWN,
  UNKNOWN_TEXT,
} from '../layout/expressions';
import { copy, sameBytes, viewOf } from './cell';
import { isSettled, putState } from './states';

// Conditions on text cells: comparison with texts of the Template, and the test for null.

/**
 * `texts`: u32 address and length of each of `textCount` texts. Only TEXT_IS_ANY (equal to one of the texts) takes
 * several. TEXT_LESS and TEXT_LESS_OR_EQUAL compare by code points. A null cell yields false for TEXT_IS_ANY, true for
 * TEXT_IS_NULL, and null for the others. `negate` swaps true and false.
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

/**
 * Equality with one text of up to 16 bytes. Has no branches, because the processor would mispredict the rarer outcome.
 */
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

/** Byte order in UTF-8 is the order of code points. */
function order(a: usize, aBytes: usize, b: usize, bBytes: usize): i32 {
  const difference = memory.compare(a, b, min(aBytes, bBytes));
  return difference != 0 ? difference : aBytes < bBytes ? -1 : aBytes > bBytes ? 1 : 0;
}

/** Searches for the text's first and last byte at sixteen positions at a time. */
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

/** Compares texts with others at each position, by TEXT_IS_ANY for equality, TEXT_LESS or TEXT_LESS_OR_EQUAL. */
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

// Literal search and replacement on the bytes of cells.

/**
 * Replaces the first `times` occurrences of a non-empty text in each cell. A cell that would grow beyond `cellBytesMax`
 * is given a length above it and unspecified bytes: the caller reports it.
 */
export function replaceText(
  views: usize,
  rows: usize,
  count: u32,
  find: usize,
  findBytes: usize,
  put: usize,
  putBytes: usize,
  times: u32,
  cellBytesMax: usize,
  next: usize,
  limit: usize,
): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view),
      e = s + <usize>load<u32>(view, 4);
    let hit = findText(s, e, find, findBytes);
    if (hit == 0) continue;
    let from = s,
      o = next,
      left = times,
      tooLong = false;
    while (hit != 0 && left != 0) {
      if (o + (hit - from) + putBytes > limit) return 0;
      o = copy(o, from, hit);
      o = copy(o, put, put + putBytes);
      from = hit + findBytes;
      left--;
      if (o - next > cellBytesMax) {
        tooLong = true;
        break;
      }
      hit = findText(from, e, find, findBytes);
    }
    if (!tooLong) {
      if (o + (e - from) > limit) return 0;
      o = copy(o, from, e);
    }
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

/**
 * Replaces cells that are exactly `find` by the view (`put`, `putBytes`). `find` 0 means null cells. Returns the number
 * of replaced cells.
 */
export function replaceWhole(
  views: usize,
  rows: usize,
  count: u32,
  find: usize,
  findBytes: usize,
  put: usize,
  putBytes: usize,
): u32 {
  let hits: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view);
    if (find == 0 ? s != 0 : s == 0 || <usize>load<u32>(view, 4) != findBytes || !sameBytes(s, find, findBytes))
      continue;
    store<u32>(view, <u32>put);
    store<u32>(view, <u32>putBytes, 4);
    hits++;
  }
  return hits;
}

/** Address of the first occurrence in [s, e), or 0. */
function findText(s: usize, e: usize, find: usize, findBytes: usize): usize {
  if (e - s < findBytes) return 0;
  const first = i8x16.splat(load<i8>(find)),
    last = i8x16.splat(load<i8>(find + findBytes - 1));
  const starts = e - findBytes + 1;
  for (let p = s; p < starts; p += 16) {
    let hits = <u32>(
      i8x16.bitmask(v128.and(i8x16.eq(v128.load(p), first), i8x16.eq(v128.load(p + findBytes - 1), last)))
    );
    while (hits) {
      const at = p + <usize>ctz(hits);
      if (at >= starts) return 0;
      if (sameBytes(at, find, findBytes)) return at;
      hits &= hits - 1;
    }
  }
  return 0;
}

// Replaces e-mail addresses by a text. Scalar reference implementation: findPersonalData in values/personal-data.ts,
// which handles cells in which an address may continue with a byte above 127.

/** Maximum number of characters before the at sign, of characters per domain label, and of labels after the first. */
const NAME_MAX: usize = 64;
const LABEL_MAX: usize = 63;
const LABELS_MAX: u32 = 8;

const AT: u32 = 64;
const DOT: u32 = 46;

/** Set if a search ended at a non-ASCII character, which may be a letter. */
let isWide: bool = false;

/**
 * Returns the next free address, or 0 if the texts do not fit. A cell that is too long gets a length above the limit.
 */
export function redactEmails(views: usize, rows: usize, count: u32, put: usize, putBytes: usize, cellBytesMax: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = <u32>((view - views) >> 3);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    let o = next, from = s;
    isWide = false;
    for (let at = nextAt(s, e); at < e; at = nextAt(max(from, at + 1), e)) {
      const start = nameStart(from, at), end = start == at ? 0 : domainEnd(at + 1, e);
      if (isWide) break;
      if (end == 0) continue;
      if (o + (start - from) + putBytes + 32 > limit) return 0;
      if (o - next <= cellBytesMax) o = copy(copy(o, from, start), put, put + putBytes);
      from = end;
    }
    if (isWide) {
      store<u32>(todo + ((<usize>(++back)) << 2), row);
      continue;
    }
    store<u32>(rows + ((<usize>(kept++)) << 2), row);
    if (from == s) continue;
    if (o + (e - from) + 16 > limit) return 0;
    o = copy(o, from, e);
    const length = o - next;
    store<u64>(view, <u64>next | ((<u64>(length > cellBytesMax ? cellBytesMax + 1 : length)) << 32));
    // A spare byte follows each cell, so that a cell that became empty differs from an unchanged one.
    next = o + 1;
  }
  store<u32>(todo, back);
  return next;
}

/** Address of the first at sign from p on, or e. */
// @ts-ignore: decorator
@inline
function nextAt(p: usize, e: usize): usize {
  const wanted = i8x16.splat(<i8>AT);
  for (; p < e; p += 16) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(p), wanted));
    if (mask != 0) return min(p + <usize>ctz(mask), e);
  }
  return e;
}

// @ts-ignore: decorator
@inline
function isLabel(c: u32): bool {
  return (c | 0x20) - 97 < 26 || c - 48 < 10 || c == 45;
}

/** Start of the name before the at sign. */
function nameStart(from: usize, at: usize): usize {
  const least = at - from > NAME_MAX ? at - NAME_MAX : from;
  let p = at;
  for (; p > least; p--) {
    const c = <u32>load<u8>(p - 1);
    // Names may also contain . _ % and +.
    if (!isLabel(c) && c != DOT && c != 95 && c != 37 && c != 43) break;
  }
  if (p > least && <u32>load<u8>(p - 1) >= 0x80) isWide = true;
  return p;
}

/** End of the domain at p, or 0 if it is invalid. */
function domainEnd(p: usize, e: usize): usize {
  let end = labelEnd(p, e), labels: u32 = 0;
  if (end == p) return 0;
  for (; labels < LABELS_MAX && end < e && <u32>load<u8>(end) == DOT; labels++) {
    const next = labelEnd(end + 1, e);
    if (next == end + 1) break;
    end = next;
  }
  return labels == 0 ? 0 : end;
}

function labelEnd(p: usize, e: usize): usize {
  const most = e - p > LABEL_MAX ? p + LABEL_MAX : e;
  while (p < most && isLabel(<u32>load<u8>(p))) p++;
  if (p < most && <u32>load<u8>(p) >= 0x80) isWide = true;
  return p;
}
