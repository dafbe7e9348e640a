// A small table of short keys that come again and again, which tells their numbers without composing, hashing and comparing
// them byte by byte as hash.ts and hash-table.ts do. A key is of one or several columns of text, as composeKeys would write
// it (length + 1, 0 for null, and the bytes), in 16 bytes at most: longer ones are not for this table. Plain twin:
// plain/key-cache.ts. The table: layout/key-cache.ts. Nothing is ever taken out.
import { HELD, HELD_MAX, SHORT_KEY_BYTES_MAX, SLOT_BITS, SLOT_BYTES, SLOT_NUMBER, SLOTS, SLOTS_AT } from '../layout/key-cache';

/** How far a hash of 64 bits is moved down to number a slot. */
const HASH_SHIFT: u64 = 64 - SLOT_BITS;
const SLOTS_MASK: usize = SLOTS - 1;

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;

/** No key of texts: the bytes behind a first length of 255 would not have found room. */
// @ts-ignore: decorator
@inline
function tooLong(): v128 {
  return i8x16.splat(-1);
}

/** Columns: u32 addresses of their views. */
// @ts-ignore: decorator
@inline
function shortKey(columns: usize, end: usize, row: usize): v128 {
  const places = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  let key = i8x16.splat(0);
  let used: u32 = 0;
  for (; columns < end; columns += 4) {
    const view = <usize>load<u32>(columns) + (row << 3);
    const s = <usize>load<u32>(view), length = s == 0 ? 0 : load<u32>(view, 4);
    // Where each byte is in the text: -1 of its length, less and more of what lies around.
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

/** The slot that holds the key, or the free one where it belongs. One is always free. */
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
 * Writes the numbers of the keys that the table holds to `numbers`, by position; of the other positions there go the rows to
 * `missedRows` and the positions to `missedAt`. Gives how many those are.
 */
export function findCachedKeys(table: usize, columns: usize, columnCount: u32, rows: usize, count: u32, numbers: usize, missedRows: usize, missedAt: usize): u32 {
  const end = columns + ((<usize>columnCount) << 2);
  let missed: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    // What is too long is not in the table.
    const number = load<u32>(slotOf(table, shortKey(columns, end, <usize>row)), SLOT_NUMBER);
    store<u32>(numbers + (i << 2), number - 1);
    store<u32>(missedRows + missed, row);
    store<u32>(missedAt + missed, <u32>i);
    missed += number == 0 ? 4 : 0;
  }
  return <u32>(missed >> 2);
}

/** Adds the keys of a row list with their numbers, as long as there is room. */
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

/** Writes `values` to the places of `at` in `out`. */
export function scatter(values: usize, at: usize, count: u32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u32>(out + ((<usize>load<u32>(at + (i << 2))) << 2), load<u32>(values + (i << 2)));
  }
}
