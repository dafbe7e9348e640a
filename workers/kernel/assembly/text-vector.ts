// Text vectors for expressions: a view for each position of a row list. The view's address is 0 for null, and
// UNKNOWN_TEXT if the compiled closures must decide. Kernels read texts through `views` and `rows`: a column with its
// row list, a vector with the list of its positions, and a constant with a list of zeros. Results are written to the
// arena, by the conventions in cell.ts.
import { NULL, TEXT_BYTES_MAX, TRUE, UNKNOWN, UNKNOWN_TEXT, VECTOR_MARKS } from '../layout/expressions';
import { copy, viewOf } from './cell';
import { charactersOf } from './edit-texts';
import { isSettled } from './states';
import { valueAt } from './number-vectors';

// @ts-ignore: decorator
@inline
function put(texts: usize, i: u32, start: usize, length: usize): void {
  store<u64>(texts + ((<usize>i) << 3), <u64>start | ((<u64>length) << 32));
}

/** Writes a list of positions: 0, 1, 2 with `step` 1, or zeros with `step` 0. */
export function fillRows(list: usize, count: u32, step: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u32>(list + ((<usize>i) << 2), i * step);
}

/**
 * Copies views. Texts that are too long become unknown. Positions that `states` has already decided for `mode` become
 * null.
 */
export function gatherTexts(views: usize, rows: usize, count: u32, states: usize, mode: u32, texts: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    if (isSettled(states, <usize>i, mode)) put(texts, i, 0, 0);
    else if (load<u32>(view, 4) > TEXT_BYTES_MAX) put(texts, i, <usize>UNKNOWN_TEXT, 0);
    else store<u64>(texts + ((<usize>i) << 3), load<u64>(view));
  }
}

/** Lists the positions that have a text. Returns their number. */
export function listTexts(texts: usize, count: u32, list: usize): u32 {
  let at = list;
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(at, i);
    at += (<usize>(load<u32>(texts + ((<usize>i) << 3)) > UNKNOWN_TEXT)) << 2;
  }
  return <u32>((at - list) >> 2);
}

/** Marks texts that became too long as unknown. */
export function dropLongTexts(texts: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (load<u32>(texts + ((<usize>i) << 3), 4) > TEXT_BYTES_MAX) put(texts, i, <usize>UNKNOWN_TEXT, 0);
  }
}

/**
 * Joins the texts of all sources (u32 views and u32 rows each) at each position. The result is null if one of them is
 * null. Returns the next free address, or 0 if the texts do not fit.
 */
export function joinTexts(sources: usize, sourceCount: u32, count: u32, texts: usize, next: usize, limit: usize): usize {
  const last = sources + ((<usize>sourceCount) << 3);
  for (let i: u32 = 0; i < count; i++) {
    let length: usize = 0;
    let isNull = false, isUnknown = false;
    for (let source = sources; source < last; source += 8) {
      const view = viewOf(<usize>load<u32>(source), <usize>load<u32>(source, 4), i);
      const start = load<u32>(view);
      isNull = isNull || start == 0;
      isUnknown = isUnknown || start == UNKNOWN_TEXT;
      length += <usize>load<u32>(view, 4);
    }
    if (isUnknown || isNull || length > <usize>TEXT_BYTES_MAX) {
      put(texts, i, isNull && !isUnknown ? 0 : <usize>UNKNOWN_TEXT, 0);
      continue;
    }
    if (next + length > limit) return 0;
    put(texts, i, next, length);
    for (let source = sources; source < last; source += 8) {
      const view = viewOf(<usize>load<u32>(source), <usize>load<u32>(source, 4), i);
      const start = <usize>load<u32>(view);
      next = copy(next, start, start + <usize>load<u32>(view, 4));
    }
  }
  return next;
}

/** Like joinTexts, but skips null texts and writes a separator between the others. The result is never null. */
export function joinPresent(sources: usize, sourceCount: u32, count: u32, separator: usize, bytes: usize, texts: usize, next: usize, limit: usize): usize {
  const last = sources + ((<usize>sourceCount) << 3);
  for (let i: u32 = 0; i < count; i++) {
    let length: usize = 0;
    let isUnknown = false;
    for (let source = sources; source < last; source += 8) {
      const view = viewOf(<usize>load<u32>(source), <usize>load<u32>(source, 4), i);
      isUnknown = isUnknown || load<u32>(view) == UNKNOWN_TEXT;
      length += <usize>load<u32>(view, 4) + bytes;
    }
    if (isUnknown || length > <usize>TEXT_BYTES_MAX) {
      put(texts, i, <usize>UNKNOWN_TEXT, 0);
      continue;
    }
    if (next + length > limit) return 0;
    const begin = next;
    let isFirst = true;
    for (let source = sources; source < last; source += 8) {
      const view = viewOf(<usize>load<u32>(source), <usize>load<u32>(source, 4), i);
      const start = <usize>load<u32>(view);
      if (start == 0) continue;
      if (!isFirst) next = copy(next, separator, separator + bytes);
      isFirst = false;
      next = copy(next, start, start + <usize>load<u32>(view, 4));
    }
    put(texts, i, begin, next - begin);
  }
  return next;
}

/**
 * Selects the part with this number when texts are split at a separator, counted from 1, or from the end if negative.
 * Null if the part does not exist.
 */
export function splitTexts(views: usize, rows: usize, count: u32, separator: usize, bytes: usize, number: i32, texts: usize): void {
  const first = load<u8>(separator);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    if (s <= <usize>UNKNOWN_TEXT) {
      put(texts, i, s, 0);
      continue;
    }
    // Counts the parts to convert a number counted from the end.
    let wanted = number;
    if (number < 0) {
      wanted += 2;
      for (let p = findSeparator(s, e, separator, bytes, first); p < e; p = findSeparator(p + bytes, e, separator, bytes, first)) wanted++;
    }
    let from = s;
    while (wanted > 1) {
      const place = findSeparator(from, e, separator, bytes, first);
      if (place >= e) break;
      from = place + bytes;
      wanted--;
    }
    if (wanted != 1) put(texts, i, 0, 0);
    else put(texts, i, from, findSeparator(from, e, separator, bytes, first) - from);
  }
}

/** Address of the next separator in [p, e), or e. */
// @ts-ignore: decorator
@inline
export function findSeparator(p: usize, e: usize, separator: usize, bytes: usize, first: u8): usize {
  const wanted = i8x16.splat(<i8>first);
  for (; p < e; p += 16) {
    for (let mask = i8x16.bitmask(i8x16.eq(v128.load(p), wanted)); mask != 0; mask &= mask - 1) {
      const at = p + <usize>ctz(mask);
      if (at + bytes > e) return e;
      if (bytes == 1 || memory.compare(at, separator, bytes) == 0) return at;
    }
  }
  return e;
}

/**
 * Address of the character with this number (from 0) in [s, e). Returns e if the text has exactly `number` characters,
 * and 0 if it has fewer.
 */
// @ts-ignore: decorator
@inline
function characterAt(s: usize, e: usize, number: u32): usize {
  let p = s;
  for (let left = number; left > 0; left--) {
    if (p >= e) return 0;
    p++;
    while (p < e && (load<u8>(p) & 0xc0) == 0x80) p++;
  }
  return p;
}

/** Takes the first (`fromEnd` 0) or last `length` characters. */
export function cutTexts(views: usize, rows: usize, count: u32, length: u32, fromEnd: u32, texts: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), bytes = load<u32>(view, 4), e = s + <usize>bytes;
    if (s <= <usize>UNKNOWN_TEXT || bytes <= length) {
      store<u64>(texts + ((<usize>i) << 3), load<u64>(view));
      continue;
    }
    if (!fromEnd) {
      const end = characterAt(s, e, length);
      put(texts, i, s, (end == 0 ? e : end) - s);
      continue;
    }
    let p = e;
    for (let left = length; left > 0 && p > s; left--) {
      p--;
      while (p > s && (load<u8>(p) & 0xc0) == 0x80) p--;
    }
    put(texts, i, p, e - p);
  }
}

/**
 * Splits each cell at a separator into at most `parts` parts. The view of part n (from 0) is written to `found` + n *
 * `stride`, by physical row. Part `last` extends to the end of the cell. Missing parts are null.
 */
export function splitCells(views: usize, rows: usize, count: u32, separator: usize, bytes: usize, parts: u32, last: u32, found: usize, stride: usize): void {
  const first = load<u8>(separator);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    let made = found + (view - views), from = s, part: u32 = 0;
    for (; s != 0 && part < parts && from <= e; part++, made += stride) {
      const place = part == last ? e : findSeparator(from, e, separator, bytes, first);
      put(made, 0, from, place - from);
      from = place + (place < e ? bytes : 1);
    }
    for (; part < parts; part++, made += stride) store<u64>(made, 0);
  }
}

/** Takes the characters from `from` up to `to` (0xffffffff: to the end). Unknown if the text has fewer characters. */
export function sliceTexts(views: usize, rows: usize, count: u32, from: u32, to: u32, texts: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    if (s <= <usize>UNKNOWN_TEXT) {
      put(texts, i, s, 0);
      continue;
    }
    const start = characterAt(s, e, from);
    const end = start == 0 ? 0 : to == 0xffffffff ? e : characterAt(start, e, to - from);
    if (end == 0) put(texts, i, <usize>UNKNOWN_TEXT, 0);
    else put(texts, i, start, end - start);
  }
}

/** Replaces nulls by the texts of a source. */
export function fillTexts(texts: usize, views: usize, rows: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (load<u32>(texts + ((<usize>i) << 3)) == 0) store<u64>(texts + ((<usize>i) << 3), load<u64>(viewOf(views, rows, i)));
  }
}

/** Takes the text of the first source if the state is true, and of the second if it is false or null. */
export function chooseTexts(states: usize, count: u32, views: usize, rows: usize, otherViews: usize, otherRows: usize, texts: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const state = <u32>load<u8>(states + <usize>i);
    const view = state == TRUE ? viewOf(views, rows, i) : viewOf(otherViews, otherRows, i);
    store<u64>(texts + ((<usize>i) << 3), state == UNKNOWN ? <u64>UNKNOWN_TEXT : load<u64>(view));
  }
}

/**
 * Writes a vector to the views of a column. Rows with an unknown text are listed in `todo`: u32 count, then the rows.
 */
export function storeTexts(texts: usize, rows: usize, count: u32, views: usize, todo: usize): void {
  let left: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const text = load<u64>(texts + ((<usize>i) << 3));
    if (<u32>text == UNKNOWN_TEXT) store<u32>(todo + (++left << 2), load<u32>(rows + ((<usize>i) << 2)));
    else store<u64>(viewOf(views, rows, i), text);
  }
  store<u32>(todo, <u32>left);
}

/** Number of characters of each text, as an integer. */
export function sizeTexts(views: usize, rows: usize, count: u32, vector: usize): void {
  const marks = <usize>load<u32>(vector, VECTOR_MARKS);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view);
    store<u8>(marks + <usize>i, s == 0 ? <u8>NULL : s == <usize>UNKNOWN_TEXT ? <u8>UNKNOWN : 0);
    if (s > <usize>UNKNOWN_TEXT) store<f64>(valueAt(vector, <usize>i), <f64>charactersOf(s, s + <usize>load<u32>(view, 4)));
  }
}
