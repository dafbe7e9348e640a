// Cells by their characters: keep some, pad, cut, put text around, hand back those that need more than bytes.
import { BACK, KEEP } from '../layout/byte-table';
import { copy, members, viewOf } from './cell';

/**
 * Keeps or drops each byte as its entry in `table` says (layout/byte-table.ts). A cell with a byte whose entry is BACK is
 * handed back. Cells that lose nothing keep their view.
 */
export function keepBytes(
  views: usize,
  rows: usize,
  count: u32,
  table: usize,
  next: usize,
  limit: usize,
  todo: usize,
): usize {
  const kept128 = keptSet(table);
  let kept: u32 = 0,
    back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const s = <usize>load<u32>(view),
      length = <usize>load<u32>(view, 4),
      e = s + length;
    if (next + length > limit) return 0;
    let o = next, p = s, seen: u32 = 0;
    // Runs of kept ASCII; from the first other byte on one by one.
    while (p < e) {
      const v = v128.load(p);
      const left = <u32>(e - p), live: u32 = left < 16 ? (1 << left) - 1 : 0xffff;
      if (<u32>i8x16.bitmask(v) & live) break;
      const others = (members(kept128, v) ^ 0xffff) & live;
      v128.store(o, v);
      const run: usize = others == 0 ? (left < 16 ? <usize>left : 16) : <usize>ctz(others);
      o += run;
      p += run;
      if (others == 0) continue;
      seen |= <u32>load<u8>(table + <usize>load<u8>(p));
      p++;
    }
    for (; p < e; p++) {
      const c = load<u8>(p);
      const what = <u32>load<u8>(table + <usize>c);
      seen |= what;
      store<u8>(o, c);
      o += <usize>(what & KEEP);
    }
    if (seen & BACK) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
      continue;
    }
    store<u32>(rows + ((<usize>(kept++)) << 2), row);
    if (o - next == length) continue;
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(o - next), 4);
    next = o;
  }
  store<u32>(todo, back);
  return next;
}

const SET: usize = memory.data(16);

/** A bit for each ASCII character whose entry in a table of bytes is KEEP. */
function keptSet(table: usize): v128 {
  for (let at: usize = 0; at < 16; at++) {
    let bits: u32 = 0;
    for (let bit: usize = 0; bit < 8; bit++) bits |= <u32>(<u32>load<u8>(table + (at << 3) + bit) == KEEP) << <u32>bit;
    store<u8>(SET + at, <u8>bits);
  }
  return v128.load(SET);
}

/** Hands back the rows whose cell holds a byte with entry BACK in `table`; touches nothing. */
export function handBack(views: usize, rows: usize, count: u32, table: usize, todo: usize): void {
  let kept: u32 = 0,
    back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const s = <usize>load<u32>(view),
      e = s + <usize>load<u32>(view, 4);
    let seen: u32 = 0;
    for (let p = s; p < e; p++) seen |= <u32>load<u8>(table + <usize>load<u8>(p));
    if (seen & BACK) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
    } else store<u32>(rows + ((<usize>(kept++)) << 2), row);
  }
  store<u32>(todo, back);
}

/** Puts `before` and `after` around each cell that is not null. */
export function putAround(
  views: usize,
  rows: usize,
  count: u32,
  before: usize,
  beforeBytes: usize,
  after: usize,
  afterBytes: usize,
  next: usize,
  limit: usize,
): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view),
      length = <usize>load<u32>(view, 4);
    if (s == 0) continue;
    if (next + beforeBytes + length + afterBytes > limit) return 0;
    let o = copy(next, before, before + beforeBytes);
    o = copy(o, s, s + length);
    o = copy(o, after, after + afterBytes);
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

/** Characters (code points) of [s, e): bytes that do not continue one. */
export function charactersOf(s: usize, e: usize): usize {
  let n: usize = 0;
  const bound = i8x16.splat(-65);
  for (; s < e; s += 16) {
    const left = <u32>(e - s);
    const live: u32 = left < 16 ? (1 << left) - 1 : 0xffff;
    n += <usize>popcnt(<u32>i8x16.bitmask(i8x16.gt_s(v128.load(s), bound)) & live);
  }
  return n;
}

/** Fills each cell that is not null up to `length` characters, on the left (1) or right (0). `fill`: one character. */
export function padCells(
  views: usize,
  rows: usize,
  count: u32,
  length: usize,
  fill: usize,
  fillBytes: usize,
  left: i32,
  next: usize,
  limit: usize,
): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view),
      e = s + <usize>load<u32>(view, 4);
    if (s == 0) continue;
    const has = charactersOf(s, e);
    if (has >= length) continue;
    const missing = length - has;
    if (next + missing * fillBytes + (e - s) > limit) return 0;
    let o = next;
    if (!left) o = copy(o, s, e);
    for (let n: usize = 0; n < missing; n++) {
      store<u32>(o, load<u32>(fill));
      o += fillBytes;
    }
    if (left) o = copy(o, s, e);
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

/** Narrows each view to its first `length` characters. */
export function truncateCells(views: usize, rows: usize, count: u32, length: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view),
      bytes = <usize>load<u32>(view, 4),
      e = s + bytes;
    if (bytes <= length) continue;
    let p = s,
      n: usize = 0;
    for (; p < e; p++) {
      if ((load<u8>(p) & 0xc0) == 0x80) continue;
      if (n == length) break;
      n++;
    }
    store<u32>(view, <u32>(p - s), 4);
  }
}

/**
 * Puts a sign in the place of each character but the `first` and the `last`; of all, where fewer than `hiddenMin` would be hidden.
 * Gives the next free address, 0: there was no room.
 */
export function maskCells(
  views: usize,
  rows: usize,
  count: u32,
  first: u32,
  last: u32,
  hiddenMin: u32,
  sign: usize,
  signBytes: usize,
  next: usize,
  limit: usize,
): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view),
      e = s + <usize>load<u32>(view, 4);
    if (s == e) continue;
    const characters = charactersOf(s, e);
    const isWhole = characters < <usize>first + <usize>last + <usize>hiddenMin;
    const begin = isWhole ? s : behindCharacters(s, first);
    const end = isWhole ? e : beforeCharacters(e, last);
    const hidden = isWhole ? characters : characters - <usize>first - <usize>last;
    if (next + (begin - s) + hidden * signBytes + (e - end) > limit) return 0;
    let o = copy(next, s, begin);
    if (signBytes == 1) {
      memory.fill(o, load<u8>(sign), hidden);
      o += hidden;
    } else for (let n = hidden; n > 0; n--) o = copy(o, sign, sign + signBytes);
    o = copy(o, end, e);
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

/** Behind so many characters from here on. */
function behindCharacters(p: usize, count: u32): usize {
  for (; count > 0; count--) {
    p++;
    while ((load<u8>(p) & 0xc0) == 0x80) p++;
  }
  return p;
}

/** Before so many characters that end here. */
function beforeCharacters(p: usize, count: u32): usize {
  for (; count > 0; count--) {
    p--;
    while ((load<u8>(p) & 0xc0) == 0x80) p--;
  }
  return p;
}
