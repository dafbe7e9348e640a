// Extracts the values of key-value pairs in a text by their keys. Scalar reference implementation: pairValues in
// operations/split-pairs.ts, which handles cells in which a key, or the start or end of a value, is not ASCII.
import {
  COLON,
  COLON_BYTES,
  KEYS,
  KEY_BYTES_MAX,
  KEY_COUNT,
  KEY_SLOTS,
  NEXT_PAIR,
  PAIR,
  PAIR_BYTES,
  PORTION_BYTES,
  POSITION,
  SLOTS,
} from '../layout/texts';
import { viewOf } from './cell';
import { findSeparator } from './text-vector';

/** Inserts the keys of the state into its hash table. */
export function indexPairKeys(state: usize): void {
  const keyCount = load<u32>(state, KEY_COUNT), slots = <usize>load<u32>(state, SLOTS);
  let keyBytesMax: u32 = 0;
  memory.fill(slots, 0, (<usize>KEY_SLOTS) << 2);
  for (let key: u32 = 0; key < keyCount; key++) {
    const entry = <usize>load<u32>(state, KEYS) + ((<usize>key) << 3);
    const at = <usize>load<u32>(entry), bytes = load<u32>(entry, 4);
    let slot = hashOf(at, at + <usize>bytes);
    while (load<u32>(slots + (<usize>slot << 2)) != 0) slot = (slot + 1) & (KEY_SLOTS - 1);
    store<u32>(slots + (<usize>slot << 2), key + 1);
    keyBytesMax = max(keyBytesMax, bytes);
  }
  store<u32>(state, keyBytesMax, KEY_BYTES_MAX);
}

/**
 * Writes the value of each key of the state (layout/texts.ts) to views by physical row, column n at `found` + n *
 * `stride`. The views must be null before. One separator divides pairs, another one divides key and value. The last
 * among equal keys wins. `todo`: u32 count (initially 0), then the rows left to the scalar implementation. Returns 0 if
 * it stopped after PORTION_BYTES, and must then be called again to continue.
 */
export function splitPairs(state: usize, views: usize, rows: usize, count: u32, found: usize, stride: usize, todo: usize): u32 {
  const pair = <usize>load<u32>(state, PAIR), pairBytes = <usize>load<u32>(state, PAIR_BYTES), pairFirst = load<u8>(pair);
  const colon = <usize>load<u32>(state, COLON), colonBytes = <usize>load<u32>(state, COLON_BYTES), colonFirst = load<u8>(colon);
  const keyCount = load<u32>(state, KEY_COUNT);
  let back = load<u32>(todo), left = <isize>PORTION_BYTES, from = <usize>load<u32>(state, NEXT_PAIR);
  for (let i = load<u32>(state, POSITION); i < count; i++, from = 0) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), end = start + <usize>load<u32>(view, 4);
    const made = found + (view - views);
    if (start == 0) continue;
    if (from == 0) from = start;
    let isOdd = false;
    while (from <= end && !isOdd) {
      if (left <= 0) {
        store<u32>(state, i, POSITION);
        store<u32>(state, <u32>from, NEXT_PAIR);
        store<u32>(todo, back);
        return 0;
      }
      const to = findSeparator(from, end, pair, pairBytes, pairFirst);
      const place = findSeparator(from, to, colon, colonBytes, colonFirst);
      if (place < to) {
        const s = afterSpaces(from, place), e = beforeSpaces(s, place);
        const value = afterSpaces(place + colonBytes, to), valueEnd = beforeSpaces(value, to);
        isOdd = hasWide(s, e) || (value < valueEnd && ((load<u8>(value) | load<u8>(valueEnd - 1)) & 0x80) != 0);
        const key = isOdd ? keyCount : keyOf(state, s, e);
        if (key < keyCount) {
          store<u64>(made + <usize>key * stride, value < valueEnd ? <u64>value | ((<u64>(valueEnd - value)) << 32) : 0);
        }
      }
      const next = to < end ? to + pairBytes : end + 1;
      left -= <isize>(next - from);
      from = next;
    }
    if (!isOdd) continue;
    for (let key: u32 = 0; key < keyCount; key++) store<u64>(made + <usize>key * stride, 0);
    store<u32>(todo + (<usize>++back << 2), load<u32>(rows + ((<usize>i) << 2)));
  }
  store<u32>(todo, back);
  store<u32>(state, 0, POSITION);
  store<u32>(state, 0, NEXT_PAIR);
  return 1;
}

// @ts-ignore: decorator
@inline
function isSpace(byte: u32): bool {
  return byte == 32 || byte - 9 < 5;
}

// @ts-ignore: decorator
@inline
function afterSpaces(p: usize, end: usize): usize {
  while (p < end && isSpace(<u32>load<u8>(p))) p++;
  return p;
}

// @ts-ignore: decorator
@inline
function beforeSpaces(start: usize, p: usize): usize {
  while (p > start && isSpace(<u32>load<u8>(p - 1))) p--;
  return p;
}

/** True if [p, end) contains a non-ASCII byte. */
// @ts-ignore: decorator
@inline
function hasWide(p: usize, end: usize): bool {
  let bits: u32 = 0;
  for (; p < end; p++) bits |= <u32>load<u8>(p);
  return (bits & 0x80) != 0;
}

/** Number of the key that equals [s, e) in lower case, or the number of keys if none does. */
// @ts-ignore: decorator
@inline
function keyOf(state: usize, s: usize, e: usize): u32 {
  if (e - s <= <usize>load<u32>(state, KEY_BYTES_MAX)) {
    const keys = <usize>load<u32>(state, KEYS), slots = <usize>load<u32>(state, SLOTS);
    for (let slot = hashOf(s, e); ; slot = (slot + 1) & (KEY_SLOTS - 1)) {
      const key = load<u32>(slots + (<usize>slot << 2));
      if (key == 0) break;
      const entry = keys + ((<usize>(key - 1)) << 3);
      if (<usize>load<u32>(entry, 4) == e - s && isSame(<usize>load<u32>(entry), s, e)) return key - 1;
    }
  }
  return load<u32>(state, KEY_COUNT);
}

/** Slot of [s, e) in lower case (FNV-1a, with the upper half folded in). */
// @ts-ignore: decorator
@inline
function hashOf(s: usize, e: usize): u32 {
  let hash: u32 = 0x811c9dc5;
  for (; s < e; s++) hash = (hash ^ lowered(<u32>load<u8>(s))) * 0x01000193;
  return (hash ^ (hash >> 16) ^ (hash >> 8)) & (KEY_SLOTS - 1);
}

// @ts-ignore: decorator
@inline
function lowered(byte: u32): u32 {
  return byte - 0x41 < 26 ? byte | 0x20 : byte;
}

function isSame(key: usize, s: usize, e: usize): bool {
  for (; s < e; s++, key++) if (<u32>load<u8>(key) != lowered(<u32>load<u8>(s))) return false;
  return true;
}
