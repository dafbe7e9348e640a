// Makes one row per value of a cell: lists the rows to copy, and views of the values, which stay in the original cell.
// A kernel continues where the previous call stopped. Its state is in layout/cells.ts. Scalar reference
// implementation: execution/cells/copied-rows.ts, which receives cells that have too many values or invalid JSON.
import {
  CELL_KINDS,
  COPIES,
  COPIES_MAX,
  DONE_BYTES,
  DONE_ITEMS,
  FREE_END,
  ITEMS_MAX,
  KIND_TEXT,
  LIST_KINDS,
  LIST_META,
  LIST_NUMBERS,
  LIST_ROWS,
  LIST_VIEWS,
  META_NULL,
  NEXT_FREE,
  POSITION,
  STOPPED_AT_CELL,
  STOPPED_AT_END,
  STOPPED_FULL,
  STOPPED_NO_SPACE,
} from '../layout/cells';
import { MARKED } from '../layout/json';
import { spaceAt, spaceBefore } from './cell';
import { validEnd, unescape, valueEnd } from './json-cells';
import { CLOSE_LIST, COMMA, NULL_LETTER, OPEN_LIST, QUOTE, afterSpace, stringEnd } from './json-tokens';
import { findSeparator } from './text-vector';

/**
 * Splits cells at a separator of at most 32 bytes. `trims`: remove white space around the values. Empty values are
 * null.
 */
export function explodeTexts(state: usize, views: usize, rows: usize, count: u32, separator: usize, bytes: usize, trims: u32): u32 {
  const first = load<u8>(separator);
  const itemsMax = load<u32>(state, ITEMS_MAX);
  for (let i = load<u32>(state, POSITION); i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const start = <usize>load<u32>(view), length = <usize>load<u32>(view, 4), end = start + length;
    if (length == 0) {
      if (!putCopy(state, row, 0, 0, 0, false)) return stopAt(state, i, 0, 0, STOPPED_FULL);
      continue;
    }
    let from = start + <usize>load<u32>(state, DONE_BYTES), item = load<u32>(state, DONE_ITEMS);
    if (item == 0 && length >= <usize>itemsMax && hasMore(start, end, separator, bytes, first, itemsMax)) {
      return stopAt(state, i, 0, 0, STOPPED_AT_CELL);
    }
    for (; from <= end; item++) {
      const place = findSeparator(from, end, separator, bytes, first);
      let s = from, e = place;
      if (trims) {
        for (let n: usize = 0; s < e && (n = spaceAt(s, e)) != 0; ) s += n;
        for (let n: usize = 0; e > s && (n = spaceBefore(s, e)) != 0; ) e -= n;
      }
      const size = e - s;
      if (!putCopy(state, row, size == 0 ? 0 : s, size, item + 1, size == length)) {
        return stopAt(state, i, from - start, item, STOPPED_FULL);
      }
      from = place < end ? place + bytes : end + 1;
    }
    stopAt(state, i + 1, 0, 0, 0);
  }
  return stopAt(state, count, 0, 0, STOPPED_AT_END);
}

/** True if there are more than `itemsMax` values. */
function hasMore(from: usize, end: usize, separator: usize, bytes: usize, first: u8, itemsMax: u32): bool {
  for (let items: u32 = 1; items <= itemsMax; items++) {
    const place = findSeparator(from, end, separator, bytes, first);
    if (place == end) return false;
    from = place + bytes;
  }
  return true;
}

/**
 * Lists the items of JSON arrays as JSON. With `texts`, strings become their text. null and the empty text are null.
 * `json`: a state of layout/json.ts, for the stack of brackets.
 */
export function explodeLists(state: usize, json: usize, views: usize, rows: usize, count: u32, texts: u32): u32 {
  const itemsMax = load<u32>(state, ITEMS_MAX);
  for (let i = load<u32>(state, POSITION); i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const start = <usize>load<u32>(view), length = <usize>load<u32>(view, 4), end = start + length;
    let item = load<u32>(state, DONE_ITEMS);
    if (length == 0) {
      if (!putCopy(state, row, 0, 0, 0, false)) return stopAt(state, i, 0, 0, STOPPED_FULL);
      continue;
    }
    let p = start + <usize>load<u32>(state, DONE_BYTES);
    if (item == 0) {
      p = afterSpace(start, end, json);
      if (<u32>load<u8>(p) != OPEN_LIST || validEnd(p, end, json) == 0) return stopAt(state, i, 0, 0, STOPPED_AT_CELL);
      p = afterSpace(p + 1, end, json);
      if (<u32>load<u8>(p) == CLOSE_LIST) {
        if (!putCopy(state, row, 0, 0, 0, false)) return stopAt(state, i, 0, 0, STOPPED_FULL);
        continue;
      }
      if (length > <usize>itemsMax && hasMoreItems(p, end, json, itemsMax)) return stopAt(state, i, 0, 0, STOPPED_AT_CELL);
    }
    for (; ; item++) {
      const value = p;
      const next = <usize>load<u32>(state, NEXT_FREE);
      let s = p;
      const byte = <u32>load<u8>(p);
      if (byte == QUOTE) {
        const close = stringEnd(p + 1, end, json), quote = close & ~MARKED;
        p = quote + 1;
        let e = p;
        if (quote == value + 1) s = 0;
        else if (texts) {
          s = value + 1;
          e = quote;
          if (close != quote) {
            if (next + (e - s) > <usize>load<u32>(state, FREE_END)) return stopAt(state, i, value - start, item, STOPPED_NO_SPACE);
            e = next + (unescape(s, e, next) & ~MARKED);
            s = next;
            store<u32>(state, <u32>e, NEXT_FREE);
          }
        }
        if (!putCopy(state, row, s, s == 0 ? 0 : e - s, item + 1, false)) return stopAt(state, i, value - start, item, STOPPED_FULL);
      } else {
        p = valueEnd(p, end, json);
        if (byte == NULL_LETTER) s = 0;
        if (!putCopy(state, row, s, s == 0 ? 0 : p - s, item + 1, false)) return stopAt(state, i, value - start, item, STOPPED_FULL);
      }
      p = afterSpace(p, end, json);
      if (<u32>load<u8>(p) != COMMA) break;
      p = afterSpace(p + 1, end, json);
    }
    stopAt(state, i + 1, 0, 0, 0);
  }
  return stopAt(state, count, 0, 0, STOPPED_AT_END);
}

/** True if a valid list has more than `itemsMax` items, starting from its first item at p. */
function hasMoreItems(p: usize, end: usize, json: usize, itemsMax: u32): bool {
  for (let items: u32 = 1; items <= itemsMax; items++) {
    p = afterSpace(valueEnd(p, end, json), end, json);
    if (<u32>load<u8>(p) != COMMA) return false;
    p = afterSpace(p + 1, end, json);
  }
  return true;
}

/** Adds one copy. `number` 0: the cell has no value. Returns false if the lists are full. */
// @ts-ignore: decorator
@inline
function putCopy(state: usize, row: u32, at: usize, bytes: usize, number: u32, isWhole: bool): bool {
  const copy = <usize>load<u32>(state, COPIES);
  if (copy >= <usize>load<u32>(state, COPIES_MAX)) return false;
  store<u32>(<usize>load<u32>(state, LIST_ROWS) + (copy << 2), row);
  store<u64>(<usize>load<u32>(state, LIST_VIEWS) + (copy << 3), <u64>at | ((<u64>bytes) << 32));
  const kinds = <usize>load<u32>(state, LIST_KINDS);
  if (kinds != 0) {
    const from = <usize>load<u32>(state, CELL_KINDS);
    store<u8>(kinds + copy, isWhole && from != 0 ? load<u8>(from + <usize>row) : <u8>KIND_TEXT);
  }
  const numbers = <usize>load<u32>(state, LIST_NUMBERS);
  if (numbers != 0) {
    store<u64>(numbers + (copy << 3), <u64>number);
    store<u8>(<usize>load<u32>(state, LIST_META) + copy, number == 0 ? <u8>META_NULL : 0);
  }
  store<u32>(state, <u32>(copy + 1), COPIES);
  return true;
}

// @ts-ignore: decorator
@inline
function stopAt(state: usize, position: u32, bytes: usize, items: u32, why: u32): u32 {
  store<u32>(state, position, POSITION);
  store<u32>(state, <u32>bytes, DONE_BYTES);
  store<u32>(state, items, DONE_ITEMS);
  return why;
}
