// Sorts records (assembly/rows.ts) by the bytes of their first column, the key; equal keys keep their order.
// Entries: layout/records.ts.
import { DIGITS, ENTRY_BYTES, ENTRY_RECORD } from '../layout/records';
import { copy } from './cell';
import { groupBytes } from './mark-groups';
import { HEAD, lengthAt } from './rows';

/** Digits of the radix sort: 11 bits each, six passes over 8 bytes; passes in which all digits are equal are left out. */
const DIGIT_BITS: u64 = 11;

/** Writes an entry for each record of [from, end). Gives how many. */
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

/** Bytes `offset` to `offset` + 8 of a record's key as a number in their order; what is missing is 0. */
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

/** Sorts `count` entries with a spare array of the same size; gives the address of the sorted one. `counts`: SORT_COUNTS_BYTES. */
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

/** Up to here ties are compared, above they are sorted by their next 8 bytes, so that memory is read in order. */
const COMPARED_MAX: u32 = 8;

/** From here on the radix sort is worth its counters. */
const RADIX_MIN: u32 = 8192;

/** Levels of ties within ties, so that no file can use up the stack: deeper ones are compared. */
const DEPTH_MAX: u32 = 64;

/** Sorts entries whose keys are equal up to `offset` by what follows; stable, in place. */
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

/** The first 8 bytes of the keys go to their entries again, as after listRecords: sorting leaves later ones there. */
export function reloadEntries(entries: usize, count: u32): void {
  loadWords(entries, count, 0);
}

/** The next 8 bytes of the keys go to their entries; where all keys are over, their lengths do, and it gives true. */
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

/** Sorts entries by their words; stable, in place. */
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

/** Merge sort by what the keys are from `offset` on; stable, in place. */
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

/** Copies the records of entries `from` to `count` one behind the other as long as they fit; the position goes to `reached`. */
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
 * Of sorted entries whose keys begin with so many columns of a group, the `first` ones of each group: they go to the front.
 * Gives how many they are.
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
 * The rows of a list whose key (views by physical row) comes before that of the record `last`: they go to `kept`. Gives how
 * many.
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
