// Sorts records by keys: builds the keys, sorts, and marks the boundaries of groups in sorted rows.
import { META_NULL } from '../layout/cells';
import {
  DECIMAL,
  EXPONENT_BIAS,
  INTEGER,
  LONG,
  NULL_FIRST,
  NULL_LAST,
  NUMBER,
  TERM_BYTES,
  TERM_DESCENDING,
  TERM_KIND,
  TERM_META,
  TERM_NULLS_FIRST,
  TERM_VALUES,
  TEXT,
  VALUE,
  ZERO,
} from '../layout/keys';
import { copy, viewOf } from './cell';
import { DIGITS, ENTRY_BYTES, ENTRY_RECORD } from '../layout/records';
import { HEAD, lengthAt } from './rows';

// Builds keys whose byte order is the order of the rows, from the columns to sort by. Scalar reference implementation:
// workers/execution/sort/sort-keys.ts, which also documents the encoding. Terms: layout/keys.ts.

/** Maximum length of a key for all types except text. */
const FIXED_BYTES: usize = 24;

/**
 * Writes the key of each row of the list to [next, limit) and its view to `keys`. Returns the next free address, or 0
 * if the keys do not fit.
 */
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
  if (load<u32>(term, TERM_DESCENDING) != 0) for (let p = start; p < o; p++) store<u8>(p, ~load<u8>(p));
  return o;
}

/** Writes the bytes of a text, with each 0 as 0 255, and then 0 0. */
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

/** Writes the number of bytes that the value needs, combined with its sign, and then these bytes. */
// @ts-ignore: decorator
@inline
function putInteger(value: i64, o: usize): usize {
  const magnitude = <u64>(value < 0 ? ~value : value);
  const bytes = <usize>(8 - (clz(magnitude | 1) >> 3));
  store<u8>(o, <u8>(value < 0 ? 0x80 - bytes : 0x80 + bytes));
  store<u64>(o + 1, bswap<u64>(<u64>value << ((8 - <u64>bytes) << 3)));
  return o + 1 + bytes;
}

/**
 * Writes sign and exponent, the digits without trailing zeros (two per byte), and 0. For negative numbers all bytes are
 * inverted.
 */
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
    // For an odd number of digits, the last digit is the first of its pair.
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

/** Writes big-endian bytes with the sign bit inverted. For negative numbers all bits are inverted. */
// @ts-ignore: decorator
@inline
function putDouble(value: f64, o: usize): usize {
  // Positive and negative zero have the same key, and so do all NaNs.
  let bits = reinterpret<u64>(value == 0 ? 0 : value != value ? f64.NaN : value);
  bits = bits >> 63 ? ~bits : bits | 0x8000000000000000;
  store<u64>(o, bswap<u64>(bits));
  return o + 8;
}

/**
 * Concatenates two keys of each row of the list (views by physical row) in [next, limit), and writes views of the
 * results to `keys`. Returns the next free address, or 0 if they do not fit.
 */
export function joinKeys(left: usize, right: usize, rows: usize, count: u32, keys: usize, next: usize, limit: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    const a = viewOf(left, rows, i), key = keys + (a - left), b = right + (a - left);
    const start = <usize>load<u32>(a), length = <usize>load<u32>(a, 4);
    const other = <usize>load<u32>(b), otherLength = <usize>load<u32>(b, 4);
    if (next + length + otherLength > limit) return 0;
    copy(next, start, start + length);
    copy(next + length, other, other + otherLength);
    store<u64>(key, <u64>next | ((<u64>(length + otherLength)) << 32));
    next += length + otherLength;
  }
  return next;
}

// Marks group boundaries and ties among rows sorted by group key and then order key (groupOrder in
// execution/aggregate/group-order.ts).

/**
 * Writes a byte for each of `count` rows: to `starts` 1 if the row begins a group, and to `ties` 1 if its whole key
 * equals that of the preceding row in its group. `keys`: views by physical row. `last`: key of the row before the first
 * one, or 0.
 */
export function markGroups(keys: usize, rows: usize, count: u32, columns: u32, last: usize, lastBytes: usize, starts: usize, ties: usize): void {
  let before = last, beforeBytes = lastBytes;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(keys, rows, i);
    const key = <usize>load<u32>(view), bytes = <usize>load<u32>(view, 4);
    const group = groupBytes(key, columns);
    const isSame = before != 0 && group <= beforeBytes && memory.compare(key, before, group) == 0;
    store<u8>(starts + <usize>i, isSame ? 0 : 1);
    store<u8>(ties + <usize>i, isSame && bytes == beforeBytes && memory.compare(key + group, before + group, bytes - group) == 0 ? 1 : 0);
    before = key;
    beforeBytes = bytes;
  }
}

/**
 * Number of bytes of a key that belong to its group. Each column is preceded by its length + 1 (0 for null), or by LONG
 * and its length.
 */
function groupBytes(key: usize, columns: u32): usize {
  let at = key;
  for (let column: u32 = 0; column < columns; column++) {
    const first = <usize>load<u8>(at++);
    if (first == LONG) at += 4 + <usize>load<u32>(at);
    else if (first != 0) at += first - 1;
  }
  return at - key;
}

// Sorts records (assembly/rows.ts) stably by the bytes of their first column, the key. Entries: layout/records.ts.

/**
 * Bits per digit of the radix sort: 11 bits give six passes over 8 bytes. Passes in which all digits are equal are
 * skipped.
 */
const DIGIT_BITS: u64 = 11;

/** Writes an entry for each record of [from, end). Returns their number. */
export function listRecords(from: usize, end: usize, entries: usize): u32 {
  let n: u32 = 0;
  for (; from < end; from += <usize>load<u32>(from)) {
    const entry = entries + <usize>(n++) * ENTRY_BYTES;
    store<u64>(entry, keyWord(from, 0));
    store<u32>(entry, <u32>from, ENTRY_RECORD);
    store<u32>(entry, 0, 12);
  }
  return n;
}

/** Bytes `offset` to `offset` + 8 of a record's key as a big-endian number. Missing bytes are 0. */
// @ts-ignore: decorator
@inline
function keyWord(record: usize, offset: usize): u64 {
  const header = lengthAt(record + HEAD);
  const length = <usize>(<u32>header) - 1;
  if (length <= offset) return 0;
  const word = bswap<u64>(load<u64>(record + HEAD + <usize>(header >> 32) + offset));
  const has = length - offset;
  return has >= 8 ? word : word & ~((<u64>0xffffffffffffffff) >> ((<u64>has) << 3));
}

// @ts-ignore: decorator
@inline
function keyLength(record: usize): usize {
  return <usize>(<u32>lengthAt(record + HEAD)) - 1;
}

/**
 * Sorts `count` entries with a spare array of the same size. Returns the address of the sorted array. `counts`:
 * SORT_COUNTS_BYTES.
 */
export function sortEntries(entries: usize, spare: usize, count: u32, counts: usize): usize {
  const sorted = radixSort(entries, spare, <usize>count, counts);
  const other = sorted == entries ? spare : entries;
  let from: u32 = 0;
  while (from < count) {
    const word = load<u64>(sorted + (<usize>from) * ENTRY_BYTES);
    let to = from + 1;
    while (to < count && load<u64>(sorted + (<usize>to) * ENTRY_BYTES) == word) to++;
    if (to - from > 1) sortTies(sorted + (<usize>from) * ENTRY_BYTES, other + (<usize>from) * ENTRY_BYTES, to - from, 8, 0, counts);
    from = to;
  }
  return sorted;
}

function radixSort(a: usize, b: usize, n: usize, counts: usize): usize {
  for (let shift: u64 = 0; shift < 64; shift += DIGIT_BITS) {
    memory.fill(counts, 0, DIGITS << 2);
    for (let i: usize = 0; i < n; i++) {
      const at = counts + ((<usize>((load<u64>(a + i * ENTRY_BYTES) >> shift) & (DIGITS - 1))) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
    const first = n == 0 ? 0 : <usize>((load<u64>(a) >> shift) & (DIGITS - 1));
    if (<usize>load<u32>(counts + (first << 2)) == n) continue;
    let sum: u32 = 0;
    for (let d: usize = 0; d < DIGITS; d++) {
      const here = load<u32>(counts + (d << 2));
      store<u32>(counts + (d << 2), sum);
      sum += here;
    }
    for (let i: usize = 0; i < n; i++) {
      const entry = v128.load(a + i * ENTRY_BYTES);
      const at = counts + ((<usize>((v128.extract_lane<u64>(entry, 0) >> shift) & (DIGITS - 1))) << 2);
      const to = load<u32>(at);
      store<u32>(at, to + 1);
      v128.store(b + (<usize>to) * ENTRY_BYTES, entry);
    }
    const t = a;
    a = b;
    b = t;
  }
  return a;
}

/**
 * Up to this many ties are sorted by comparison. More are sorted by their next 8 bytes, so that memory is read
 * sequentially.
 */
const COMPARED_MAX: u32 = 8;

/** Minimum number of entries for which the radix sort is worth initialising its counters. */
const RADIX_MIN: u32 = 8192;

/** Maximum depth of ties within ties, so that no file can exhaust the stack. Deeper ties are sorted by comparison. */
const DEPTH_MAX: u32 = 64;

/** Sorts entries whose keys are equal up to `offset` by the following bytes. Stable, in place. */
function sortTies(entries: usize, spare: usize, count: u32, offset: usize, depth: u32, counts: usize): void {
  for (; ; offset += 8) {
    if (count <= COMPARED_MAX || depth > DEPTH_MAX) {
      sortByComparison(entries, spare, count, offset);
      return;
    }
    const isOver = loadWords(entries, count, offset);
    sortWords(entries, spare, count, counts);
    if (isOver) return;
    if (load<u64>(entries) != load<u64>(entries + (<usize>count - 1) * ENTRY_BYTES)) break;
  }
  let from: u32 = 0;
  while (from < count) {
    const word = load<u64>(entries + (<usize>from) * ENTRY_BYTES);
    let to = from + 1;
    while (to < count && load<u64>(entries + (<usize>to) * ENTRY_BYTES) == word) to++;
    if (to - from > 1) sortTies(entries + (<usize>from) * ENTRY_BYTES, spare + (<usize>from) * ENTRY_BYTES, to - from, offset + 8, depth + 1, counts);
    from = to;
  }
}

/**
 * Restores the first 8 bytes of each key in its entry, as after listRecords. Sorting overwrites them with later bytes.
 */
export function reloadEntries(entries: usize, count: u32): void {
  loadWords(entries, count, 0);
}

/**
 * Loads the next 8 bytes of each key into its entry. If no key has more bytes, loads their lengths instead and returns
 * true.
 */
function loadWords(entries: usize, count: u32, offset: usize): bool {
  let isOver = true;
  for (let i: usize = 0; i < <usize>count; i++) {
    const entry = entries + i * ENTRY_BYTES, record = <usize>load<u32>(entry, ENTRY_RECORD);
    store<u64>(entry, keyWord(record, offset));
    if (keyLength(record) > offset) isOver = false;
  }
  if (!isOver) return false;
  for (let i: usize = 0; i < <usize>count; i++) {
    const entry = entries + i * ENTRY_BYTES;
    store<u64>(entry, <u64>keyLength(<usize>load<u32>(entry, ENTRY_RECORD)));
  }
  return true;
}

/** Sorts entries by their words. Stable, in place. */
function sortWords(entries: usize, spare: usize, count: u32, counts: usize): void {
  let isSorted = true;
  for (let i: usize = 1; i < <usize>count && isSorted; i++) {
    isSorted = load<u64>(entries + (i - 1) * ENTRY_BYTES) <= load<u64>(entries + i * ENTRY_BYTES);
  }
  if (isSorted) return;
  let from = entries, to = spare;
  if (count >= RADIX_MIN) from = radixSort(entries, spare, <usize>count, counts);
  else {
    for (let width: u32 = 1; width < count; width <<= 1) {
      for (let start: u32 = 0; start < count; start += width << 1) mergeWords(from, to, start, width, count);
      const t = from;
      from = to;
      to = t;
    }
  }
  if (from != entries) memory.copy(entries, from, (<usize>count) * ENTRY_BYTES);
}

function mergeWords(from: usize, to: usize, start: u32, width: u32, count: u32): void {
  const middle = min(start + width, count), end = min(start + width + width, count);
  let a = from + (<usize>start) * ENTRY_BYTES, b = from + (<usize>middle) * ENTRY_BYTES, o = to + (<usize>start) * ENTRY_BYTES;
  const aEnd = b, bEnd = from + (<usize>end) * ENTRY_BYTES;
  while (a < aEnd && b < bEnd) {
    const left = load<u64>(a) <= load<u64>(b);
    v128.store(o, v128.load(left ? a : b));
    o += ENTRY_BYTES;
    a += left ? ENTRY_BYTES : 0;
    b += left ? 0 : ENTRY_BYTES;
  }
  for (; a < aEnd; a += ENTRY_BYTES, o += ENTRY_BYTES) v128.store(o, v128.load(a));
  for (; b < bEnd; b += ENTRY_BYTES, o += ENTRY_BYTES) v128.store(o, v128.load(b));
}

/** Merge sort by the bytes of the keys from `offset` on. Stable, in place. */
function sortByComparison(entries: usize, spare: usize, count: u32, offset: usize): void {
  if (alreadySorted(entries, count, offset)) return;
  let from = entries, to = spare;
  for (let width: u32 = 1; width < count; width <<= 1) {
    for (let start: u32 = 0; start < count; start += width << 1) mergeHalves(from, to, start, width, count, offset);
    const t = from;
    from = to;
    to = t;
  }
  if (from != entries) memory.copy(entries, from, (<usize>count) * ENTRY_BYTES);
}

function alreadySorted(entries: usize, count: u32, offset: usize): bool {
  for (let i: u32 = 1; i < count; i++) {
    const entry = entries + (<usize>i) * ENTRY_BYTES;
    if (compareRest(<usize>load<u32>(entry - ENTRY_BYTES, ENTRY_RECORD), <usize>load<u32>(entry, ENTRY_RECORD), offset) > 0) return false;
  }
  return true;
}

function mergeHalves(from: usize, to: usize, start: u32, width: u32, count: u32, offset: usize): void {
  let i = start, middle = start + width;
  if (middle > count) middle = count;
  let j = middle, end = middle + width;
  if (end > count) end = count;
  for (let k = start; k < end; k++) {
    const a = from + (<usize>i) * ENTRY_BYTES, b = from + (<usize>j) * ENTRY_BYTES;
    const left = i < middle && (j >= end || compareRest(<usize>load<u32>(a, ENTRY_RECORD), <usize>load<u32>(b, ENTRY_RECORD), offset) <= 0);
    v128.store(to + (<usize>k) * ENTRY_BYTES, v128.load(left ? a : b));
    if (left) i++;
    else j++;
  }
}

/** Compares the keys of two records from byte `offset` on. */
function compareRest(a: usize, b: usize, offset: usize): i32 {
  const aLength = keyLength(a), bLength = keyLength(b);
  const most = aLength < bLength ? aLength : bLength;
  for (; offset < most; offset += 8) {
    const x = keyWord(a, offset), y = keyWord(b, offset);
    if (x != y) return x < y ? -1 : 1;
  }
  return aLength == bLength ? 0 : aLength < bLength ? -1 : 1;
}

/**
 * Copies the records of entries `from` to `count` consecutively as long as they fit, and stores the position reached in
 * `reached`.
 */
export function gatherRecords(entries: usize, from: u32, count: u32, next: usize, limit: usize, reached: usize): usize {
  let i = from;
  for (; i < count; i++) {
    const record = <usize>load<u32>(entries + (<usize>i) * ENTRY_BYTES, ENTRY_RECORD);
    const bytes = <usize>load<u32>(record);
    if (next + bytes > limit) break;
    next = copy(next, record, record + bytes);
  }
  store<u32>(reached, i);
  return next;
}

/**
 * Keeps the `first` entries of each group and moves them to the front. The entries must be sorted, and their keys must
 * begin with `columns` group columns. Returns the number of entries kept.
 */
export function keepOfGroups(entries: usize, count: u32, columns: u32, first: u32): u32 {
  let before: usize = 0, beforeBytes: usize = 0;
  let kept: u32 = 0, inGroup: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const entry = entries + (<usize>i) * ENTRY_BYTES;
    const record = <usize>load<u32>(entry, ENTRY_RECORD);
    const key = record + HEAD + <usize>(lengthAt(record + HEAD) >> 32);
    const bytes = groupBytes(key, columns);
    if (before == 0 || bytes != beforeBytes || memory.compare(key, before, bytes) != 0) inGroup = 0;
    before = key;
    beforeBytes = bytes;
    if (inGroup++ >= first) continue;
    v128.store(entries + (<usize>kept) * ENTRY_BYTES, v128.load(entry));
    kept++;
  }
  return kept;
}

/**
 * Writes to `kept` the rows of a list whose key (views by physical row) is less than that of the record `last`. Returns
 * their number.
 */
export function keepBefore(keys: usize, rows: usize, count: u32, last: usize, kept: usize): u32 {
  const header = lengthAt(last + HEAD);
  const start = last + HEAD + <usize>(header >> 32), length = <usize>(<u32>header) - 1;
  const word = keyWord(last, 0);
  let n: u32 = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2)), key = keys + ((<usize>row) << 3);
    const s = <usize>load<u32>(key), has = <usize>load<u32>(key, 4);
    let own = bswap<u64>(load<u64>(s));
    if (has < 8) own = has == 0 ? 0 : own & ~((<u64>0xffffffffffffffff) >> ((<u64>has) << 3));
    if (own > word || (own == word && !isBefore(s, has, start, length))) continue;
    store<u32>(kept + ((<usize>n) << 2), row);
    n++;
  }
  return n;
}

function isBefore(a: usize, aLength: usize, b: usize, bLength: usize): bool {
  const order = memory.compare(a, b, aLength < bLength ? aLength : bLength);
  return order < 0 || (order == 0 && aLength < bLength);
}
