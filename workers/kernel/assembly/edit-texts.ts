// Kernels that edit text cells by character or at their ends: keeping, padding, truncating, masking, trimming and
// joining. They also compare a column before and after an edit.
import { copy, members, sameBytes, spaceAt, spaceBefore, viewOf } from './cell';
import { KIND_TEXT } from '../layout/cells';
import { LEAVE, KEEP } from '../layout/texts';
import { FALSE, NULL, TEXT_BYTES_MAX, TRUE, UNKNOWN, UNKNOWN_TEXT } from '../layout/expressions';
import { isSettled, putState } from './states';

// Compares a text column before and after an edit.

/**
 * Finishes an edit of text cells. Lists cells longer than `cellBytesMax` in `todo` (u32 count, then rows). With
 * `emptyToNull`, cells that became empty become null. `before` 0: all cells were null. Returns the number of changed
 * cells, without those in `todo`.
 */
export function settleViews(before: usize, after: usize, rows: usize, count: u32, emptyToNull: u32, cellBytesMax: u32, todo: usize): u32 {
  let changed: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const now = viewOf(after, rows, i);
    const views = load<u64>(now), old = before == 0 ? 0 : load<u64>(viewOf(before, rows, i));
    if (old == views) continue;
    const length = load<u32>(now, 4), start = load<u32>(now), oldLength = <u32>(old >> 32), oldStart = <u32>old;
    if (length == 0) {
      if (oldLength == 0 && (emptyToNull || (start == 0) == (oldStart == 0))) {
        store<u64>(now, old);
        continue;
      }
      if (emptyToNull || start == 0) store<u64>(now, 0);
      changed++;
      continue;
    }
    if (length > cellBytesMax) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), load<u32>(rows + ((<usize>i) << 2)));
      continue;
    }
    if (oldStart == 0 || length != oldLength || !sameBytes(<usize>start, <usize>oldStart, <usize>length)) changed++;
  }
  store<u32>(todo, back);
  return changed;
}

// Native kinds of a text column after an edit in place: an unchanged cell keeps its kind, and a changed cell becomes a
// text. Used only for columns of typed files.

/**
 * For each row of a list (u32 physical rows): if the views at `after` and `before` have the same text, copies the kind
 * from `kinds` to `made`. All are indexed by physical row. The kind of a null is undefined, so an empty text that
 * replaces a null becomes a text.
 */
export function keepKinds(before: usize, kinds: usize, after: usize, made: usize, rows: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const old = before + (row << 3);
    const now = after + (row << 3);
    const length = <usize>load<u32>(now, 4);
    const isSame =
      load<u32>(old) != 0 &&
      length == <usize>load<u32>(old, 4) &&
      (load<u32>(now) == load<u32>(old) || sameBytes(<usize>load<u32>(now), <usize>load<u32>(old), length));
    store<u8>(made + row, isSame ? load<u8>(kinds + row) : <u8>KIND_TEXT);
  }
}

// Edits of cells by character: keep some characters, pad, truncate, mask, surround with text, and list the cells that
// need the scalar implementation.

/**
 * Keeps or drops each byte according to its entry in `table` (layout/texts.ts). A cell containing a byte with
 * entry LEAVE is listed in `todo`. Cells that lose nothing keep their view.
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
    // Copies runs of kept ASCII characters at once, and single bytes from the first non-ASCII byte on.
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
    if (seen & LEAVE) {
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

/** One bit per ASCII character, set if its entry in the table of bytes is KEEP. */
function keptSet(table: usize): v128 {
  for (let at: usize = 0; at < 16; at++) {
    let bits: u32 = 0;
    for (let bit: usize = 0; bit < 8; bit++) bits |= <u32>(<u32>load<u8>(table + (at << 3) + bit) == KEEP) << <u32>bit;
    store<u8>(SET + at, <u8>bits);
  }
  return v128.load(SET);
}

/** Lists in `todo` the rows whose cell contains a byte with entry LEAVE in `table`. Changes no cell. */
export function listTodo(views: usize, rows: usize, count: u32, table: usize, todo: usize): void {
  let kept: u32 = 0,
    back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const s = <usize>load<u32>(view),
      e = s + <usize>load<u32>(view, 4);
    let seen: u32 = 0;
    for (let p = s; p < e; p++) seen |= <u32>load<u8>(table + <usize>load<u8>(p));
    if (seen & LEAVE) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
    } else store<u32>(rows + ((<usize>(kept++)) << 2), row);
  }
  store<u32>(todo, back);
}

/** Writes `before` and `after` around each non-null cell. */
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

/** Number of characters (code points) in [s, e): counts all bytes except UTF-8 continuation bytes. */
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

/** Pads each non-null cell to `length` characters, on the left (1) or right (0). `fill`: one character. */
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
 * Replaces each character except the `first` and `last` ones by a sign. If that would hide fewer than `hiddenMin`
 * characters, all are replaced. Returns the next free address, or 0 if the arena is full.
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
    const begin = isWhole ? s : afterCharacters(s, e, first);
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

/** Address after the first `count` characters of [p, e). The bytes after e are arbitrary. */
function afterCharacters(p: usize, e: usize, count: u32): usize {
  for (; count > 0; count--) {
    p++;
    while (p < e && (load<u8>(p) & 0xc0) == 0x80) p++;
  }
  return p;
}

/** Address of the `count`-th character before p. */
function beforeCharacters(p: usize, count: u32): usize {
  for (; count > 0; count--) {
    p--;
    while ((load<u8>(p) & 0xc0) == 0x80) p--;
  }
  return p;
}

// Conditions on the number of characters in texts.

/** True for texts of `least` to `most` characters (code points). */
export function matchLength(views: usize, rows: usize, count: u32, least: u32, most: u32, states: usize, mode: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view);
    if (start <= <usize>UNKNOWN_TEXT) {
      putState(states, <usize>i, mode, start == 0 ? NULL : UNKNOWN);
      continue;
    }
    const characters = <u32>charactersOf(start, start + <usize>load<u32>(view, 4));
    putState(states, <usize>i, mode, characters >= least && characters <= most ? TRUE : FALSE);
  }
}

// White space around and inside cells.

/** Narrows each view to exclude leading and trailing white space. Copies nothing. */
export function trimViews(views: usize, rows: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const length = <usize>load<u32>(view, 4);
    if (length == 0) continue;
    const start = <usize>load<u32>(view);
    let s = start,
      e = start + length;
    if (!mayBeSpace(<u32>load<u8>(s)) && !mayEndSpace(<u32>load<u8>(e - 1))) continue;
    while (s < e) {
      const n = spaceAt(s, e);
      if (n == 0) break;
      s += n;
    }
    while (e > s) {
      const n = spaceBefore(s, e);
      if (n == 0) break;
      e -= n;
    }
    if (e - s != length) {
      store<u32>(view, <u32>s);
      store<u32>(view, <u32>(e - s), 4);
    }
  }
}

/**
 * True if a white-space character can begin with this byte. Has no branches, because non-ASCII letters occur
 * unpredictably.
 */
// @ts-ignore: decorator
@inline
function mayBeSpace(c: u32): bool {
  return (<u32>(c <= 32) | <u32>(c == 0xc2) | <u32>(c - 0xe1 < 3)) != 0;
}

/** True if a white-space character can end with this byte. */
// @ts-ignore: decorator
@inline
function mayEndSpace(c: u32): bool {
  return (<u32>(c <= 32) | <u32>(c - 0x80 < 0x30)) != 0;
}

/** Replaces each run of white space by one space. Cells that need no change keep their view. */
export function collapseSpaces(views: usize, rows: usize, count: u32, next: usize, limit: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view),
      e = s + <usize>load<u32>(view, 4);
    if (isCollapsed(s, e)) continue;
    if (next + (e - s) > limit) return 0;
    let o = next,
      from = s;
    while (from < e) {
      let to = from;
      while (to < e && spaceAt(to, e) == 0) to++;
      o = copy(o, from, to);
      if (to == e) break;
      store<u8>(o++, 32);
      from = to;
      while (from < e) {
        const n = spaceAt(from, e);
        if (n == 0) break;
        from += n;
      }
    }
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

/** True if the text contains no white space except single spaces. */
function isCollapsed(s: usize, e: usize): bool {
  const space = i8x16.splat(32),
    nine = i8x16.splat(9),
    five = i8x16.splat(5);
  let before: u32 = 0, wide: u32 = 0;
  for (let p = s; p < e; p += 16) {
    const v = v128.load(p);
    const left = <u32>(e - p);
    const live: u32 = left < 16 ? (1 << left) - 1 : 0xffff;
    const spaces = <u32>i8x16.bitmask(i8x16.eq(v, space)) & live;
    const controls = <u32>i8x16.bitmask(i8x16.lt_u(v128.sub<i8>(v, nine), five)) & live;
    if (controls || spaces & ((spaces << 1) | before)) return false;
    before = (spaces >> 15) & 1;
    // First bytes of non-ASCII white space: C2, and E1 to E3.
    const first = v128.or(i8x16.eq(v, i8x16.splat(-62)), i8x16.lt_u(v128.sub<i8>(v, i8x16.splat(-31)), i8x16.splat(3)));
    wide |= <u32>i8x16.bitmask(first) & live;
  }
  if (wide == 0) return true;
  for (let p = s; p < e; p++) if (load<u8>(p) >= 0xc2 && spaceAt(p, e) > 1) return false;
  return true;
}

/**
 * Keeps those of `count` rows whose cell is null, empty or white space (the list is compacted). Returns their number.
 */
export function keepBlank(views: usize, rows: usize, count: u32): u32 {
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    let s = <usize>load<u32>(view);
    const e = s + <usize>load<u32>(view, 4);
    while (s < e) {
      const n = spaceAt(s, e);
      if (n == 0) break;
      s += n;
    }
    if (s < e) continue;
    store<u32>(rows + ((<usize>kept) << 2), row);
    kept++;
  }
  return kept;
}

/** Keeps those of `count` rows whose cell is null or empty (the list is compacted). Returns their number. */
export function keepEmpty(views: usize, rows: usize, count: u32): u32 {
  let kept = rows;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = load<u64>(views + ((<usize>row) << 3));
    store<u32>(kept, row);
    kept += (<usize>(<u32>view == 0 || view >> 32 == 0)) << 2;
  }
  return <u32>((kept - rows) >> 2);
}

/** Matches texts that are null, empty or white space. */
export function matchBlank(views: usize, rows: usize, count: u32, states: usize, mode: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    let s = <usize>load<u32>(view);
    const length = load<u32>(view, 4), e = s + <usize>length;
    if (s == <usize>UNKNOWN_TEXT || length > TEXT_BYTES_MAX) {
      putState(states, <usize>i, mode, UNKNOWN);
      continue;
    }
    while (s < e) {
      const n = spaceAt(s, e);
      if (n == 0) break;
      s += n;
    }
    putState(states, <usize>i, mode, s < e ? FALSE : TRUE);
  }
}

// Joins the cells of several columns row by row. Scalar reference implementation: operations/merge-columns.ts.

/**
 * Writes the views of the joined texts to `made`, by physical row, null if empty. `sources`: u32 address of each
 * column's views. With `skipsEmpty`, empty cells and their separators are omitted. Returns the next free address, or 0
 * if the texts do not fit. A text that is too long gets a length above the limit.
 */
export function mergeTexts(sources: usize, sourceCount: u32, rows: usize, count: u32, separator: usize, separatorBytes: usize, skipsEmpty: u32, cellBytesMax: usize, made: usize, next: usize, limit: usize): usize {
  const last = sources + ((<usize>sourceCount) << 2);
  for (let i: u32 = 0; i < count; i++) {
    const to = viewOf(made, rows, i);
    let bytes: usize = 0, parts: usize = 0;
    for (let source = sources; source < last; source += 4) {
      const length = <usize>load<u32>(viewOf(<usize>load<u32>(source), rows, i), 4);
      if (length == 0 && skipsEmpty != 0) continue;
      bytes += length;
      parts++;
    }
    if (parts > 1) bytes += (parts - 1) * separatorBytes;
    if (bytes == 0) {
      store<u64>(to, 0);
      continue;
    }
    if (bytes > cellBytesMax) {
      store<u64>(to, <u64>next | ((<u64>(cellBytesMax + 1)) << 32));
      continue;
    }
    if (next + bytes + 16 > limit) return 0;
    const start = next;
    for (let source = sources; source < last; source += 4) {
      const view = viewOf(<usize>load<u32>(source), rows, i);
      const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
      if (length == 0 && skipsEmpty != 0) continue;
      next = copy(next, s, s + length);
      if (--parts != 0) next = copy(next, separator, separator + separatorBytes);
    }
    store<u64>(to, <u64>start | ((<u64>bytes) << 32));
  }
  return next;
}
