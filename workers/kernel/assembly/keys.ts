// Keys of rows: composite keys and keys of typed values, their hashes and fingerprints, and the tables and caches that
// find them. The tables are in the Run's memory.
import {
  ABSENT,
  DECIMAL_KEY_BYTES,
  HELD,
  HELD_MAX,
  KEY_BOOLEAN,
  KEY_DOUBLE,
  KEY_SLOT_BYTES,
  KEY_WORD,
  KNOWN,
  LONG,
  PRINT_BYTES,
  PRINT_SLOT_BYTES,
  REST_BYTES,
  SHORT_KEY_BYTES_MAX,
  SLOTS,
  SLOTS_AT,
  SLOT_BITS,
  SLOT_BYTES,
  SLOT_NUMBER,
  TABLE_HELD,
  TABLE_HELD_MAX,
  TABLE_LIMIT,
  TABLE_MASK,
  TABLE_NEXT,
  TABLE_SLOTS,
} from '../layout/keys';
import { copy, sameBytes, viewOf } from './cell';
import { META_BIG, META_NULL } from '../layout/cells';

// Hashes of cells, and composite keys of several columns.

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;

/** Writes a 64-bit hash per position of the row list to `hashes`. Null and the empty text have different hashes. */
export function hashViews(views: usize, rows: usize, count: u32, seed: u32, hashes: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
    store<u64>(hashes + ((<usize>i) << 3), s == 0 ? mixed(<u64>seed + P1) : hashBytes(s, length, <u64>seed));
  }
}

// @ts-ignore: decorator
@inline
function hashBytes(s: usize, length: usize, seed: u64): u64 {
  let h: u64 = (<u64>length ^ seed) * P1;
  let p = s;
  const e = s + length;
  for (; p + 8 <= e; p += 8) {
    h = (h ^ load<u64>(p)) * P1;
    h ^= h >> 29;
  }
  const left = <u64>(e - p);
  if (left) h = (h ^ (load<u64>(p) & (((<u64>1) << (left << 3)) - 1))) * P2;
  return mixed(h);
}

// @ts-ignore: decorator
@inline
function mixed(h: u64): u64 {
  h ^= h >> 32;
  h *= P2;
  return h ^ (h >> 29);
}

/**
 * Writes one unambiguous key per row from several columns. For each column: its length + 1 (0 = null) in one byte, or
 * 255 and a u32 for lengths above 253, followed by its bytes. The encoding is compact because keys take most of the
 * memory of a large table. `columns`: u32 addresses of their views. The views of the keys go to `keys`, by physical
 * row.
 */
export function composeKeys(columns: usize, columnCount: u32, rows: usize, count: u32, keys: usize, next: usize, limit: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    const key = viewOf(keys, rows, i);
    let o = next;
    for (let c: u32 = 0; c < columnCount; c++) {
      const view = viewOf(<usize>load<u32>(columns + ((<usize>c) << 2)), rows, i);
      const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
      if (o + 5 + length > limit) return 0;
      if (length < LONG - 1) store<u8>(o++, s == 0 ? 0 : <u8>(length + 1));
      else {
        store<u8>(o, <u8>LONG);
        store<u32>(o, <u32>length, 1);
        o += 5;
      }
      o = copy(o, s, s + length);
    }
    store<u32>(key, <u32>next);
    store<u32>(key, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

// Keys of typed values: equal values have equal bytes. Integers, dates and doubles keep their own 8 bytes, and booleans
// use one byte. Decimals are encoded without trailing zeros: i64 digits and u8 scale. Scalar reference implementation:
// bigKey in workers/execution/keys/row-keys.ts, which also encodes decimals beyond 64 bits.

/** Key of zero: negative zero has the same key. */
const ZERO: usize = memory.data<f64>([0]);

/** Key of all NaNs: division produces a NaN with a sign, and reading one without. */
const NOT_A_NUMBER: usize = memory.data<f64>([NaN]);

/**
 * Writes the keys of a row list and their views. Returns the next free address, or 0 if they do not fit. Rows with
 * decimals beyond 64 bits are listed in `todo`: u32 count, then the rows.
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

// Fingerprints of keys: 128 bits of SipHash (Aumasson and Bernstein 2012, with 128 bits of output as in their reference
// implementation), with a key of 128 random bits. Without that key it is infeasible to construct two texts with the
// same fingerprint. Scalar reference implementation: test/workers/kernel/scalar/fingerprint.ts.

/**
 * Writes one fingerprint per position of the row list to `prints`. `key`: address of 16 bytes. The fingerprint of null
 * is 0.
 */
export function fingerprintViews(views: usize, rows: usize, count: u32, key: usize, prints: usize): void {
  const low = load<u64>(key), high = load<u64>(key, 8);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
    const print = prints + (<usize>i) * PRINT_BYTES;
    if (s == 0) v128.store(print, i64x2.splat(0));
    else fingerprint(s, length, low, high, print);
  }
}

/**
 * Reads up to 7 bytes after the text. The rounds are unrolled: two for each 8 bytes, and four for each half of the
 * result.
 */
// @ts-ignore: decorator
@inline
function fingerprint(s: usize, length: usize, low: u64, high: u64, print: usize): void {
  let v0 = low ^ 0x736f6d6570736575, v1 = high ^ 0x646f72616e646f6d ^ 0xee;
  let v2 = low ^ 0x6c7967656e657261, v3 = high ^ 0x7465646279746573;
  const left = (<u64>length & 7) << 3, tail = s + (length & ~7);
  const last = (<u64>length << 56) | (load<u64>(tail) & (((<u64>1) << left) - 1));
  for (; s <= tail; s += 8) {
    const word = s == tail ? last : load<u64>(s);
    v3 ^= word;
    v0 += v1;
    v2 += v3;
    v1 = rotl<u64>(v1, 13) ^ v0;
    v3 = rotl<u64>(v3, 16) ^ v2;
    v0 = rotl<u64>(v0, 32) + v3;
    v2 += v1;
    v1 = rotl<u64>(v1, 17) ^ v2;
    v3 = rotl<u64>(v3, 21) ^ v0;
    v2 = rotl<u64>(v2, 32);
    v0 += v1;
    v2 += v3;
    v1 = rotl<u64>(v1, 13) ^ v0;
    v3 = rotl<u64>(v3, 16) ^ v2;
    v0 = rotl<u64>(v0, 32) + v3;
    v2 += v1;
    v1 = rotl<u64>(v1, 17) ^ v2;
    v3 = rotl<u64>(v3, 21) ^ v0;
    v2 = rotl<u64>(v2, 32);
    v0 ^= word;
  }
  v2 ^= 0xee;
  for (let half: usize = 0; half < PRINT_BYTES; half += 8) {
    for (let round = 0; round < 4; round++) {
      v0 += v1;
      v2 += v3;
      v1 = rotl<u64>(v1, 13) ^ v0;
      v3 = rotl<u64>(v3, 16) ^ v2;
      v0 = rotl<u64>(v0, 32) + v3;
      v2 += v1;
      v1 = rotl<u64>(v1, 17) ^ v2;
      v3 = rotl<u64>(v3, 21) ^ v0;
      v2 = rotl<u64>(v2, 32);
    }
    store<u64>(print + half, v0 ^ v1 ^ v2 ^ v3);
    v1 ^= 0xdd;
  }
}

// Hash table of keys in the Run's memory, with open addressing. Ids are in the order of insertion. It never allocates:
// a kernel stops when the table is full, and the owner enlarges the table. Layout of head and slots: layout/keys.ts.

const NULL_KEY: u32 = 1;
const NULL_LENGTH: u32 = 0xffffffff;

/** Prefetches the slots that the hashes will need, so that their cache misses overlap. The result is meaningless. */
export function touchSlots(table: usize, hashes: usize, count: u32): u32 {
  const slots = <usize>load<u32>(table, TABLE_SLOTS), mask = load<u32>(table, TABLE_MASK);
  let sink: u32 = 0;
  for (let i: u32 = 0; i < count; i++) sink ^= load<u32>(slots + ((<usize>(load<u32>(hashes + ((<usize>i) << 3)) & mask)) * KEY_SLOT_BYTES));
  return sink;
}

/**
 * Inserts the keys of positions `from` to `count`, and writes the id of each to `ids`. Returns the position reached.
 */
export function insertKeys(table: usize, views: usize, rows: usize, from: u32, count: u32, hashes: usize, ids: usize): u32 {
  const slots = <usize>load<u32>(table, TABLE_SLOTS), mask = load<u32>(table, TABLE_MASK), most = load<u32>(table, TABLE_HELD_MAX), limit = <usize>load<u32>(table, TABLE_LIMIT);
  let held = load<u32>(table, TABLE_HELD), next = <usize>load<u32>(table, TABLE_NEXT), i = from;
  for (; i < count; i++) {
    const view = viewOf(views, rows, i);
    const hash = load<u32>(hashes + ((<usize>i) << 3));
    const s = load<u32>(view), length = s == 0 ? NULL_LENGTH : load<u32>(view, 4);
    const slot = findSlot(slots, mask, hash, s, length);
    let id = load<u32>(slot, 12);
    if (load<u32>(slot, 4) == 0) {
      const bytes: usize = s == 0 ? 0 : <usize>length;
      if (held >= most || next + bytes > limit) break;
      id = held++;
      store<u32>(slot, hash);
      store<u32>(slot, s == 0 ? NULL_KEY : <u32>next, 4);
      store<u32>(slot, length, 8);
      store<u32>(slot, id, 12);
      next = copy(next, <usize>s, <usize>s + bytes);
    }
    store<u32>(ids + ((<usize>i) << 2), id);
  }
  store<u32>(table, held, TABLE_HELD);
  store<u32>(table, <u32>next, TABLE_NEXT);
  return i;
}

/** Writes the ids of the keys, or ABSENT for keys that are not in the table. */
export function findKeys(table: usize, views: usize, rows: usize, from: u32, count: u32, hashes: usize, ids: usize): void {
  const slots = <usize>load<u32>(table, TABLE_SLOTS), mask = load<u32>(table, TABLE_MASK);
  for (let i = from; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = load<u32>(view), length = s == 0 ? NULL_LENGTH : load<u32>(view, 4);
    const slot = findSlot(slots, mask, load<u32>(hashes + ((<usize>i) << 3)), s, length);
    store<u32>(ids + ((<usize>i) << 2), load<u32>(slot, 4) == 0 ? ABSENT : load<u32>(slot, 12));
  }
}

// @ts-ignore: decorator
@inline
function findSlot(slots: usize, mask: u32, hash: u32, s: u32, length: u32): usize {
  let j = hash & mask;
  let slot = slots + (<usize>j) * KEY_SLOT_BYTES;
  for (let at = load<u32>(slot, 4); at != 0; at = load<u32>(slot, 4)) {
    if (load<u32>(slot) == hash && load<u32>(slot, 8) == length && (s == 0 || sameBytes(<usize>at, <usize>s, <usize>length))) break;
    j = (j + 1) & mask;
    slot = slots + (<usize>j) * KEY_SLOT_BYTES;
  }
  return slot;
}

/** Moves all keys to a larger array of `slotCount` slots (a power of two) at `slots`. */
export function moveSlots(table: usize, slots: usize, slotCount: u32): void {
  const old = <usize>load<u32>(table, TABLE_SLOTS), oldCount = load<u32>(table, TABLE_MASK) + 1, mask = slotCount - 1;
  memory.fill(slots, 0, (<usize>slotCount) * KEY_SLOT_BYTES);
  for (let i: u32 = 0; i < oldCount; i++) {
    const from = old + (<usize>i) * KEY_SLOT_BYTES;
    if (load<u32>(from, 4) == 0) continue;
    let j = load<u32>(from) & mask;
    while (load<u32>(slots + (<usize>j) * KEY_SLOT_BYTES, 4)) j = (j + 1) & mask;
    v128.store(slots + (<usize>j) * KEY_SLOT_BYTES, v128.load(from));
  }
  store<u32>(table, <u32>slots, TABLE_SLOTS);
  store<u32>(table, mask, TABLE_MASK);
}

/**
 * Splits a row list by ids: rows with a new id (at least `known`, in ascending order) go to `fresh`, and the others to
 * `seen` (0: do not list them). Returns the number of rows with a new id.
 */
export function splitByNew(rows: usize, from: u32, count: u32, ids: usize, known: u32, fresh: usize, seen: usize): u32 {
  let n: u32 = 0, m: u32 = 0, highest = known;
  for (let i = from; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    if (load<u32>(ids + ((<usize>i) << 2)) == highest) {
      store<u32>(fresh + (<usize>(n++) << 2), row);
      highest++;
    } else if (seen) store<u32>(seen + (<usize>(m++) << 2), row);
  }
  return n;
}

// Set of fingerprints in the Run's memory, with open addressing. It never allocates: a kernel stops when the set is
// full, and the owner enlarges the set. Layout of head and slots: layout/keys.ts.

/**
 * Prefetches the slots that the fingerprints will need, so that their cache misses overlap. The result is meaningless.
 */
export function touchPrints(set: usize, prints: usize, count: u32): u32 {
  const slots = <usize>load<u32>(set, TABLE_SLOTS), mask = load<u32>(set, TABLE_MASK);
  let sink: u32 = 0;
  for (let i: u32 = 0; i < count; i++) sink ^= load<u32>(slots + ((<usize>(load<u32>(prints + (<usize>i) * PRINT_BYTES) & mask)) * PRINT_SLOT_BYTES));
  return sink;
}

/**
 * Adds the fingerprints of positions `from` to `count`. `ids` receives each one's number in the order of insertion, or
 * KNOWN. Returns the position reached.
 */
export function addPrints(set: usize, prints: usize, from: u32, count: u32, ids: usize): u32 {
  const slots = <usize>load<u32>(set, TABLE_SLOTS), mask = load<u32>(set, TABLE_MASK), most = load<u32>(set, TABLE_HELD_MAX), limit = <usize>load<u32>(set, TABLE_LIMIT);
  let held = load<u32>(set, TABLE_HELD), next = <usize>load<u32>(set, TABLE_NEXT), i = from;
  for (; i < count; i++) {
    const print = prints + (<usize>i) * PRINT_BYTES;
    const slot = findPrint(slots, mask, print);
    let id = KNOWN;
    if (load<u32>(slot, 4) == 0) {
      if (held >= most || next + REST_BYTES > limit) break;
      id = held++;
      store<u32>(slot, load<u32>(print));
      store<u32>(slot, <u32>next, 4);
      store<u32>(next, load<u32>(print, 4));
      store<u64>(next, load<u64>(print, 8), 4);
      next += REST_BYTES;
    }
    store<u32>(ids + ((<usize>i) << 2), id);
  }
  store<u32>(set, held, TABLE_HELD);
  store<u32>(set, <u32>next, TABLE_NEXT);
  return i;
}

/** Writes KNOWN or ABSENT for each fingerprint. */
export function findPrints(set: usize, prints: usize, from: u32, count: u32, ids: usize): void {
  const slots = <usize>load<u32>(set, TABLE_SLOTS), mask = load<u32>(set, TABLE_MASK);
  for (let i = from; i < count; i++) {
    const slot = findPrint(slots, mask, prints + (<usize>i) * PRINT_BYTES);
    store<u32>(ids + ((<usize>i) << 2), load<u32>(slot, 4) == 0 ? ABSENT : KNOWN);
  }
}

// @ts-ignore: decorator
@inline
function findPrint(slots: usize, mask: u32, print: usize): usize {
  const word = load<u32>(print);
  let j = word & mask;
  let slot = slots + (<usize>j) * PRINT_SLOT_BYTES;
  for (let at = <usize>load<u32>(slot, 4); at != 0; at = <usize>load<u32>(slot, 4)) {
    if (load<u32>(slot) == word && load<u32>(at) == load<u32>(print, 4) && load<u64>(at, 4) == load<u64>(print, 8)) break;
    j = (j + 1) & mask;
    slot = slots + (<usize>j) * PRINT_SLOT_BYTES;
  }
  return slot;
}

/** Moves all entries to a larger array of `slotCount` slots (a power of two) at `slots`. */
export function movePrints(set: usize, slots: usize, slotCount: u32): void {
  const old = <usize>load<u32>(set, TABLE_SLOTS), oldCount = load<u32>(set, TABLE_MASK) + 1, mask = slotCount - 1;
  memory.fill(slots, 0, (<usize>slotCount) * PRINT_SLOT_BYTES);
  for (let i: u32 = 0; i < oldCount; i++) {
    const from = old + (<usize>i) * PRINT_SLOT_BYTES;
    if (load<u32>(from, 4) == 0) continue;
    let j = load<u32>(from) & mask;
    while (load<u32>(slots + (<usize>j) * PRINT_SLOT_BYTES, 4)) j = (j + 1) & mask;
    store<u64>(slots + (<usize>j) * PRINT_SLOT_BYTES, load<u64>(from));
  }
  store<u32>(set, <u32>slots, TABLE_SLOTS);
  store<u32>(set, mask, TABLE_MASK);
}

// Small cache of frequent short keys. It finds a key's number faster than the hash table above, for which keys are
// composed, hashed and compared byte by byte. A key consists of one or several text columns, encoded as in composeKeys
// (length + 1, 0 for null, and the bytes), in at most 16 bytes. Entries are never removed. Layout: layout/keys.ts.
// Scalar reference implementation: test/workers/kernel/scalar/key-cache.ts.

/** Right shift that reduces a 64-bit hash to a slot number. */
const HASH_SHIFT: u64 = 64 - SLOT_BITS;
const SLOTS_MASK: usize = SLOTS - 1;

/** Marker that cannot be a real key: its first length would be 255, which exceeds 16 bytes. */
// @ts-ignore: decorator
@inline
function tooLong(): v128 {
  return i8x16.splat(-1);
}

/** The key of a row, or tooLong(). Columns: u32 addresses of their views. */
// @ts-ignore: decorator
@inline
function shortKey(columns: usize, end: usize, row: usize): v128 {
  const places = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  let key = i8x16.splat(0);
  let used: u32 = 0;
  for (; columns < end; columns += 4) {
    const view = <usize>load<u32>(columns) + (row << 3);
    const s = <usize>load<u32>(view), length = s == 0 ? 0 : load<u32>(view, 4);
    // Position of each byte within this text: -1 is its length byte, and smaller or larger positions belong to the
    // neighbouring texts.
    const inText = i8x16.sub(places, i8x16.splat(<i8>(used + 1)));
    if (<u32>length >= SHORT_KEY_BYTES_MAX) return tooLong();
    used += length + 1;
    if (used > SHORT_KEY_BYTES_MAX) return tooLong();
    const text = v128.and(i8x16.swizzle(v128.load(s), inText), i8x16.lt_u(inText, i8x16.splat(<i8>length)));
    const lengths = v128.and(i8x16.splat(s == 0 ? 0 : <i8>(length + 1)), i8x16.eq(inText, i8x16.splat(-1)));
    key = v128.or(key, v128.or(text, lengths));
  }
  return key;
}

/** The slot that holds the key, or the free slot where it would be inserted. At least one slot is always free. */
// @ts-ignore: decorator
@inline
function slotOf(table: usize, key: v128): usize {
  const low = i64x2.extract_lane(key, 0), high = i64x2.extract_lane(key, 1);
  const mixed = <u64>high * P2;
  let j = <usize>(((<u64>low ^ mixed ^ (mixed >> 32)) * P1) >> HASH_SHIFT);
  let slot = table + SLOTS_AT + j * SLOT_BYTES;
  while (load<u32>(slot, SLOT_NUMBER) != 0 && v128.any_true(v128.xor(v128.load(slot), key))) {
    j = (j + 1) & SLOTS_MASK;
    slot = table + SLOTS_AT + j * SLOT_BYTES;
  }
  return slot;
}

/**
 * Writes the numbers of cached keys to `numbers`, by position. For all other keys, writes their rows to `missedRows`
 * and their positions to `missedAt`. Returns the number of missing keys.
 */
export function findCachedKeys(table: usize, columns: usize, columnCount: u32, rows: usize, count: u32, numbers: usize, missedRows: usize, missedAt: usize): u32 {
  const end = columns + ((<usize>columnCount) << 2);
  let missed: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    // Keys that are too long are never in the table.
    const number = load<u32>(slotOf(table, shortKey(columns, end, <usize>row)), SLOT_NUMBER);
    store<u32>(numbers + (i << 2), number - 1);
    store<u32>(missedRows + missed, row);
    store<u32>(missedAt + missed, <u32>i);
    missed += number == 0 ? 4 : 0;
  }
  return <u32>(missed >> 2);
}

/** Adds the keys of a row list with their numbers until the table is full. */
export function addCachedKeys(table: usize, columns: usize, columnCount: u32, rows: usize, count: u32, numbers: usize): void {
  const end = columns + ((<usize>columnCount) << 2), most = load<u32>(table, HELD_MAX);
  let held = load<u32>(table, HELD);
  for (let i: usize = 0; i < <usize>count && held < most; i++) {
    const key = shortKey(columns, end, <usize>load<u32>(rows + (i << 2)));
    if (!v128.any_true(v128.xor(key, tooLong()))) continue;
    const slot = slotOf(table, key);
    if (load<u32>(slot, SLOT_NUMBER) != 0) continue;
    v128.store(slot, key);
    store<u32>(slot, load<u32>(numbers + (i << 2)) + 1, SLOT_NUMBER);
    held++;
  }
  store<u32>(table, held, HELD);
}

/** Writes each of `values` to `out` at the index given by `at`. */
export function scatter(values: usize, at: usize, count: u32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u32>(out + ((<usize>load<u32>(at + (i << 2))) << 2), load<u32>(values + (i << 2)));
  }
}
