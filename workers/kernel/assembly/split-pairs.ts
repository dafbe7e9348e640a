// Values of pairs in a text by their keys. Plain twin: pairValue of operations/split-pairs.ts, which gets the cells with keys, or
// ends of values, beyond ASCII.
import { viewOf } from './cell';
import { findSeparator } from './text-vector';

/**
 * Puts the value of each key (u32 address and length of its small letters) into views by physical row, column n at `found` + n *
 * `stride`, which must be null before. Pairs are parted by one text, keys end with another one. The last of equal keys counts.
 * `todo`: u32 count, then rows that were left.
 */
export function splitPairs(views: usize, rows: usize, count: u32, pair: usize, pairBytes: usize, colon: usize, colonBytes: usize, keys: usize, keyCount: u32, found: usize, stride: usize, todo: usize): void {
  const pairFirst = load<u8>(pair), colonFirst = load<u8>(colon);
  let back: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), end = start + <usize>load<u32>(view, 4);
    const made = found + (view - views);
    if (start == 0) continue;
    let isOdd = false;
    for (let from = start; from <= end && !isOdd; ) {
      const to = findSeparator(from, end, pair, pairBytes, pairFirst);
      const place = findSeparator(from, to, colon, colonBytes, colonFirst);
      if (place < to) {
        const s = behindSpaces(from, place), e = beforeSpaces(s, place);
        const value = behindSpaces(place + colonBytes, to), valueEnd = beforeSpaces(value, to);
        isOdd = hasWide(s, e) || (value < valueEnd && ((load<u8>(value) | load<u8>(valueEnd - 1)) & 0x80) != 0);
        const key = isOdd ? keyCount : keyOf(keys, keyCount, s, e);
        if (key < keyCount) {
          store<u64>(made + <usize>key * stride, value < valueEnd ? <u64>value | ((<u64>(valueEnd - value)) << 32) : 0);
        }
      }
      from = to < end ? to + pairBytes : end + 1;
    }
    if (!isOdd) continue;
    for (let key: u32 = 0; key < keyCount; key++) store<u64>(made + <usize>key * stride, 0);
    store<u32>(todo + (++back << 2), load<u32>(rows + ((<usize>i) << 2)));
  }
  store<u32>(todo, <u32>back);
}

// @ts-ignore: decorator
@inline
function isSpace(byte: u32): bool {
  return byte == 32 || byte - 9 < 5;
}

// @ts-ignore: decorator
@inline
function behindSpaces(p: usize, end: usize): usize {
  while (p < end && isSpace(<u32>load<u8>(p))) p++;
  return p;
}

// @ts-ignore: decorator
@inline
function beforeSpaces(start: usize, p: usize): usize {
  while (p > start && isSpace(<u32>load<u8>(p - 1))) p--;
  return p;
}

/** Whether a byte above ASCII stands in [p, end). */
// @ts-ignore: decorator
@inline
function hasWide(p: usize, end: usize): bool {
  let bits: u32 = 0;
  for (; p < end; p++) bits |= <u32>load<u8>(p);
  return (bits & 0x80) != 0;
}

/** Number of the key that is [s, e) in small letters; `keyCount`: none is. */
// @ts-ignore: decorator
@inline
function keyOf(keys: usize, keyCount: u32, s: usize, e: usize): u32 {
  for (let key: u32 = 0; key < keyCount; key++, keys += 8) {
    if (<usize>load<u32>(keys, 4) == e - s && isSame(<usize>load<u32>(keys), s, e)) return key;
  }
  return keyCount;
}

function isSame(key: usize, s: usize, e: usize): bool {
  for (; s < e; s++, key++) {
    const byte = <u32>load<u8>(s);
    if (<u32>load<u8>(key) != (byte - 0x41 < 26 ? byte | 0x20 : byte)) return false;
  }
  return true;
}
