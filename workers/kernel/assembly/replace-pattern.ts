// Finds and replaces matches of a pattern that never has to give a character back: a sequence of sets of characters, each so many
// times. Cells with bytes above 127 are handed back, unless all sets are of ASCII: then such bytes are just in none of them.
// Plain twin: patternStep in operations/cells/replace-steps.ts over the engines of expression/regular-expression.ts. Programs:
// layout/patterns.ts.
import {
  FROM_START,
  HEAD_BYTES,
  IS_ASCII,
  ITEM_BYTES,
  ITEM_LEAST,
  ITEM_MOST,
  ITEMS,
  ITEMS_MAX,
  LITERALS,
  LITERALS_OFFSET,
  MASK_OFFSET,
  PIECE_BYTES,
  PIECE_FROM,
  PIECE_GROUP,
  PIECE_TO,
  PIECES,
  PIECES_AT,
  REPLACEMENTS_MAX,
  TO_END,
} from '../layout/patterns';
import { copy, hasHighByte, members, viewOf } from './cell';

/** Starts of the items of the match at hand, and its end. */
const STARTS: usize = memory.data((<i32>ITEMS_MAX + 1) * 4);

/**
 * Finds the first match in each cell; what the items [from, to) took becomes the view in `found`, null where it is empty. Cells
 * that only an engine can search, and (`missesBack`) those without a match, are handed back to `todo`: u32 count, then the rows.
 */
export function findPattern(views: usize, rows: usize, count: u32, program: usize, from: u32, to: u32, missesBack: u32, found: usize, todo: usize): void {
  const items = <usize>load<u32>(program, ITEMS), fixedStart = load<u32>(program, FROM_START) != 0, bytesDo = load<u32>(program, IS_ASCII) != 0;
  let back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), made = found + (view - views);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    store<u64>(made, 0);
    if (s == 0) continue;
    const isWide = !bytesDo && hasHighByte(s, e);
    const end = isWide ? 0 : firstMatch(program, s, e, fixedStart);
    if (end == 0) {
      if (!isWide && !missesBack) continue;
      back++;
      store<u32>(todo + ((<usize>back) << 2), <u32>((view - views) >> 3));
      continue;
    }
    store<u32>(STARTS + (items << 2), <u32>end);
    const start = load<u32>(STARTS + ((<usize>from) << 2)), length = load<u32>(STARTS + ((<usize>to) << 2)) - start;
    if (length == 0) continue;
    store<u32>(made, start);
    store<u32>(made, length, 4);
  }
  store<u32>(todo, back);
}

// @ts-ignore: decorator
@inline
function firstMatch(program: usize, s: usize, e: usize, fixedStart: bool): usize {
  if (fixedStart) return matchAt(program, s, e);
  for (let p = firstMember(program + HEAD_BYTES, s, e); p < e; p = firstMember(program + HEAD_BYTES, p + 1, e)) {
    const end = matchAt(program, p, e);
    if (end != 0) return end;
  }
  return 0;
}

export function replacePattern(views: usize, rows: usize, count: u32, program: usize, cellBytesMax: u32, next: usize, limit: usize, todo: usize): usize {
  const bytesDo = load<u32>(program, IS_ASCII) != 0, fixedStart = load<u32>(program, FROM_START) != 0;
  let kept: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = <u32>((view - views) >> 3);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    if (!bytesDo && hasHighByte(s, e)) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
      continue;
    }
    store<u32>(rows + ((<usize>(kept++)) << 2), row);
    const o = fixedStart ? replaceStart(program, s, e, next, limit) : replaceAll(program, s, e, next, limit, <usize>cellBytesMax);
    if (o == 0) return 0;
    if (o == next) continue;
    // One byte stands behind each cell that changed, so that an empty one differs from one that did not.
    const length = o - next - 1;
    store<u64>(view, <u64>next | ((<u64>(length > <usize>cellBytesMax ? <usize>cellBytesMax + 1 : length)) << 32));
    next = o;
  }
  store<u32>(todo, back);
  return next;
}

/** The end of the changed cell and one byte; `o` itself when nothing matched; 0 when it does not fit. */
// @ts-ignore: decorator
@inline
function replaceStart(program: usize, s: usize, e: usize, o: usize, limit: usize): usize {
  const end = matchAt(program, s, e);
  return end == 0 ? o : endCell(putPieces(program, end, o, limit), end, e, limit);
}

/** As replaceStart, wherever the pattern matches. */
function replaceAll(program: usize, s: usize, e: usize, o: usize, limit: usize, cellBytesMax: usize): usize {
  let left = load<u32>(program, REPLACEMENTS_MAX);
  const start = o;
  let from = s;
  for (let p = firstMember(program + HEAD_BYTES, s, e); p < e && left != 0; ) {
    const end = matchAt(program, p, e);
    if (end == 0) {
      p = firstMember(program + HEAD_BYTES, p + 1, e);
      continue;
    }
    left--;
    if (o + (p - from) + 16 > limit) return 0;
    o = putPieces(program, end, copy(o, from, p), limit);
    if (o == 0) return 0;
    from = end;
    if (o - start > cellBytesMax) break;
    p = firstMember(program + HEAD_BYTES, end, e);
  }
  return from == s ? start : endCell(o, from, e, limit);
}

/** Copies what stands behind the last match. */
// @ts-ignore: decorator
@inline
function endCell(o: usize, from: usize, e: usize, limit: usize): usize {
  return o == 0 || o + (e - from) + 16 > limit ? 0 : copy(o, from, e) + 1;
}

/** The end of the match at p, 0 when there is none. A match is never empty. */
function matchAt(program: usize, p: usize, e: usize): usize {
  const literals = <usize>load<u32>(program, LITERALS);
  let item = program + HEAD_BYTES, start = STARTS;
  const itemsEnd = item + <usize>load<u32>(program, ITEMS) * ITEM_BYTES;
  if (literals != 0) {
    if (e - p < literals || ((load<u64>(p) ^ load<u64>(program, LITERALS_OFFSET)) & load<u64>(program, MASK_OFFSET)) != 0) return 0;
    v128.store(start, i32x4.add(i32x4.splat(<i32>p), i32x4(0, 1, 2, 3)));
    v128.store(start, i32x4.add(i32x4.splat(<i32>p), i32x4(4, 5, 6, 7)), 16);
    p += literals;
    item += literals * ITEM_BYTES;
    start += literals << 2;
  }
  for (; item < itemsEnd; item += ITEM_BYTES, start += 4) {
    store<u32>(start, <u32>p);
    const least = <usize>load<u32>(item, ITEM_LEAST), most = <usize>load<u32>(item, ITEM_MOST);
    if (most == 1) {
      if (p < e && holds(item, <u32>load<u8>(p))) p++;
      else if (least != 0) return 0;
      continue;
    }
    const end = e - p > most ? p + most : e;
    const set = v128.load(item);
    let q = p;
    for (; q < end; q += 16) {
      const others = members(set, v128.load(q)) ^ 0xffff;
      if (others == 0) continue;
      q += <usize>ctz(others);
      break;
    }
    if (q > end) q = end;
    if (q - p < least) return 0;
    p = q;
  }
  return load<u32>(program, TO_END) != 0 && p != e ? 0 : p;
}

/** Whether a character is in an item's set, which is of ASCII. */
// @ts-ignore: decorator
@inline
function holds(item: usize, c: u32): bool {
  return c < 0x80 && ((<u32>load<u8>(item + <usize>(c >> 3)) >> (c & 7)) & 1) != 0;
}

/** Where from p on a match may begin: the first character that is in the set of an item that must not be empty; e if none is. */
// @ts-ignore: decorator
@inline
function firstMember(item: usize, p: usize, e: usize): usize {
  if (load<u32>(item, ITEM_LEAST) == 0) return p;
  const set = v128.load(item);
  for (; p < e; p += 16) {
    const found = members(set, v128.load(p));
    if (found != 0) return min(p + <usize>ctz(found), e);
  }
  return e;
}

/** Puts what the match that ends at `end` is replaced by; 0 when it does not fit. */
function putPieces(program: usize, end: usize, o: usize, limit: usize): usize {
  store<u32>(STARTS + (<usize>load<u32>(program, ITEMS) << 2), <u32>end);
  let piece = <usize>load<u32>(program, PIECES_AT);
  const piecesEnd = piece + <usize>load<u32>(program, PIECES) * PIECE_BYTES;
  for (; piece < piecesEnd; piece += PIECE_BYTES) {
    let s = <usize>load<u32>(piece, PIECE_FROM), length = <usize>load<u32>(piece, PIECE_TO);
    if (load<u32>(piece) == PIECE_GROUP) {
      length = <usize>load<u32>(STARTS + (length << 2));
      s = <usize>load<u32>(STARTS + (s << 2));
      length -= s;
    }
    if (o + length + 16 > limit) return 0;
    o = copy(o, s, s + length);
  }
  return o;
}
