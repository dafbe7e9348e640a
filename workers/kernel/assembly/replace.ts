// Literal search and replacement on the bytes of cells.
import { copy, sameBytes, viewOf } from './cell';

/**
 * Replaces the first `times` occurrences of a text (not empty) in each cell. A cell that would grow beyond `cellBytesMax`
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

/** Cells that are exactly `find` get the view (`put`, `putBytes`); `find` 0 means null cells. Gives how many. */
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

/** Address of the first occurrence in [s, e), 0 when there is none. */
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
