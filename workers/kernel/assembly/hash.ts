// Hashes of cells, and keys made of several columns.
import { LONG } from '../layout/keys';
import { copy, viewOf } from './cell';

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;


/** A 64-bit hash per position of the row list, at `hashes`. Null and the empty text differ. */
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
 * One key per row from several columns, unambiguous: for each column its length + 1 (0 = null) in one byte, or above 253 as 255
 * and u32, and the bytes. Keys are what a large table's memory goes to.
 * `columns`: u32 addresses of their views. The keys' views go to `keys`, by physical row.
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
