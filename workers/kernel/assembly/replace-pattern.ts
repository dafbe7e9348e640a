// Finds and replaces matches of a pattern that never has to give a character back: a sequence of sets of characters, each so many
// times. Cells with bytes above 127 are handed back. Plain twin: patternStep in operations/cells/replace-steps.ts over the
// engines of expression/regular-expression.ts. A program is u32: 0 items, 4 whether it starts at the start, 8 whether it ends
// at the end, 12 pieces, 16 replacements at most, 20 address of the pieces; from 32 on its items of 32 bytes: 16 bytes with a
// bit for each ASCII character, u32 least, u32 most. A piece is 3 u32: 0 and address and length of a text, or 1 and the items
// [from, to) whose text it is.
import { copy, hasHighByte, viewOf } from './cell';

const ITEMS: usize = 32;
const ITEM_BYTES: usize = 32;
const PIECE_BYTES: usize = 12;

/** Starts of the items of the match at hand, and its end: room for 64 items. */
const STARTS: usize = memory.data(65 * 4);

/**
 * Finds the first match in each cell; what the items [from, to) took becomes the view in `found`, null where it is empty. Cells
 * with bytes above 127, and (`missesBack`) those without a match, are handed back to `todo`: u32 count, then the rows.
 */
export function findPattern(views: usize, rows: usize, count: u32, program: usize, from: u32, to: u32, missesBack: u32, found: usize, todo: usize): void {
  const items = <usize>load<u32>(program), fixedStart = load<u32>(program, 4) != 0;
  let back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), made = found + (view - views);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    store<u64>(made, 0);
    if (s == 0) continue;
    const isWide = hasHighByte(s, e);
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
  for (let p = s; p < e; p++) {
    const end = matchAt(program, p, e);
    if (end != 0) return end;
    if (fixedStart) return 0;
  }
  return 0;
}

export function replacePattern(views: usize, rows: usize, count: u32, program: usize, cellBytesMax: u32, next: usize, limit: usize, todo: usize): usize {
  let kept: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = <u32>((view - views) >> 3);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    if (hasHighByte(s, e)) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
      continue;
    }
    store<u32>(rows + ((<usize>(kept++)) << 2), row);
    const o = replaceCell(program, s, e, next, limit, <usize>cellBytesMax);
    if (o == 0) return 0;
    if (o == next) continue;
    // One byte stands behind each cell that changed, so that an empty one differs from one that did not.
    const length = o - next - 1;
    store<u32>(view, <u32>next);
    store<u32>(view, length > <usize>cellBytesMax ? cellBytesMax + 1 : <u32>length, 4);
    next = o;
  }
  store<u32>(todo, back);
  return next;
}

/** The end of the changed cell and one byte; `o` itself when nothing matched; 0 when it does not fit. */
function replaceCell(program: usize, s: usize, e: usize, o: usize, limit: usize, cellBytesMax: usize): usize {
  const fixedStart = load<u32>(program, 4) != 0;
  const items = <usize>load<u32>(program);
  let left = load<u32>(program, 16);
  const start = o;
  let from = s, matched = false;
  for (let p = s; p < e && left != 0; ) {
    const end = matchAt(program, p, e);
    if (end == 0) {
      if (fixedStart) break;
      p++;
      continue;
    }
    matched = true;
    left--;
    if (o + (p - from) + 16 > limit) return 0;
    o = copy(o, from, p);
    store<u32>(STARTS + (items << 2), <u32>end);
    o = putPieces(program, o, limit);
    if (o == 0) return 0;
    from = end;
    p = end;
    if (o - start > cellBytesMax || fixedStart) break;
  }
  if (!matched) return start;
  if (o + (e - from) + 16 > limit) return 0;
  return copy(o, from, e) + 1;
}

/** The end of the match at p, 0 when there is none. A match is never empty. */
// @ts-ignore: decorator
@inline
function matchAt(program: usize, p: usize, e: usize): usize {
  const items = load<u32>(program);
  let item = program + ITEMS;
  for (let k: u32 = 0; k < items; k++, item += ITEM_BYTES) {
    store<u32>(STARTS + ((<usize>k) << 2), <u32>p);
    const least = <usize>load<u32>(item, 16), most = <usize>load<u32>(item, 20);
    const end = e - p > most ? p + most : e;
    let q = p;
    while (q < end) {
      const c = load<u8>(q);
      if (((load<u8>(item + <usize>(c >> 3)) >> (c & 7)) & 1) == 0) break;
      q++;
    }
    if (q - p < least) return 0;
    p = q;
  }
  return load<u32>(program, 8) != 0 && p != e ? 0 : p;
}

function putPieces(program: usize, o: usize, limit: usize): usize {
  const pieces = <usize>load<u32>(program, 12);
  let piece = <usize>load<u32>(program, 20);
  for (let k: usize = 0; k < pieces; k++, piece += PIECE_BYTES) {
    let s = <usize>load<u32>(piece, 4), e = s + <usize>load<u32>(piece, 8);
    if (load<u32>(piece) == 1) {
      e = <usize>load<u32>(STARTS + ((<usize>load<u32>(piece, 8)) << 2));
      s = <usize>load<u32>(STARTS + (s << 2));
    }
    if (o + (e - s) + 16 > limit) return 0;
    o = copy(o, s, e);
  }
  return o;
}
