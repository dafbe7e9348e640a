// JSON in cells: whether it is sound, and the values at paths inside it, which stay where they stand unless they have escapes.
// Cells that are not sound, or odd, go to `todo` (u32 count, then rows): plain twins are values/json-parts.ts and the reading by
// hand in execution/cells/json-fields.ts.
import { MARKED } from '../layout/json';
import {
  END,
  FIRST,
  FOUND,
  HERE_END,
  ITEM_COUNT,
  ITEMS,
  KEY_BYTES_MAX,
  KEY_COUNT,
  KEY_SCRATCH,
  KEYS,
  ROOT,
  STRIDE,
  TEXT_END,
  TEXT_NEXT,
  WORDS_BYTES,
  WORDS_LENGTH,
  WORDS_NODE,
} from '../layout/json-paths';
import { sameBytes, viewOf } from './cell';
import { unescape } from './json-cells';
import { behindSpace, CLOSE_LIST, CLOSE_OBJECT, COMMA, nestedEnd, OPEN_LIST, OPEN_OBJECT, QUOTE, scalarEnd, stringEnd } from './json-tokens';
import { NULL_LETTER } from './json-values';

/** Narrows each view to the JSON value that the cell is, without the white space around it; null where that is null. */
export function soundCells(json: usize, views: usize, rows: usize, count: u32, todo: usize): void {
  let back: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), end = start + <usize>load<u32>(view, 4);
    if (start == 0) continue;
    const p = behindSpace(start, end, json), close = soundEnd(p, end, json);
    if (close == 0) store<u32>(todo + (++back << 2), load<u32>(rows + ((<usize>i) << 2)));
    else if (<u32>load<u8>(p) == NULL_LETTER) store<u64>(view, 0);
    else store<u64>(view, <u64>p | ((<u64>(close - p)) << 32));
  }
  store<u32>(todo, <u32>back);
}

/** Behind the value that begins here, where it is sound and nothing but white space follows it; else 0. */
export function soundEnd(p: usize, end: usize, json: usize): usize {
  if (p >= end) return 0;
  const close = valueEnd(p, end, json);
  return close != 0 && close <= end && (close == end || behindSpace(close, end, json) >= end) ? close : 0;
}

/** Behind a value; 0 where it is not sound. */
// @ts-ignore: decorator
@inline
export function valueEnd(p: usize, end: usize, json: usize): usize {
  const byte = <u32>load<u8>(p);
  return byte == OPEN_LIST || byte == OPEN_OBJECT ? nestedEnd(p, end, json) & ~MARKED : scalarEnd(p, end, json);
}

/**
 * Puts the values at the paths (layout/json-paths.ts) into views by physical row, which must be null before. False: the texts
 * with escapes had no room.
 */
export function findFields(paths: usize, json: usize, views: usize, rows: usize, count: u32, todo: usize): bool {
  const root = <usize>load<u32>(paths, ROOT);
  let back: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const start = <usize>load<u32>(view), end = start + <usize>load<u32>(view, 4);
    if (start == 0) continue;
    const p = behindSpace(start, end, json);
    if (soundEnd(p, end, json) == 0) store<u32>(todo + (++back << 2), row);
    else if (walk(p, end, json, paths, root, row) == 0) {
      if (load<u32>(paths, TEXT_NEXT) == 0) return false;
      clear(paths, root, row);
      store<u32>(todo + (++back << 2), row);
    }
  }
  store<u32>(todo, <u32>back);
  return true;
}

/** Goes through sound JSON; gives the address behind the value, or 0: a key is too long, or there is no room. */
function walk(start: usize, end: usize, json: usize, paths: usize, node: usize, row: u32): usize {
  const byte = <u32>load<u8>(start);
  let p: usize;
  if (byte == OPEN_OBJECT && load<u32>(node, KEY_COUNT) != 0) p = walkObject(start, end, json, paths, node, row);
  else if (byte == OPEN_LIST && load<u32>(node, ITEM_COUNT) != 0) p = walkList(start, end, json, paths, node, row);
  else p = valueEnd(start, end, json);
  if (p != 0 && load<u32>(node, FIRST) < load<u32>(node, HERE_END)) return putFields(start, p, byte, paths, node, row) ? p : 0;
  return p;
}

function walkObject(start: usize, end: usize, json: usize, paths: usize, node: usize, row: u32): usize {
  const keys = <usize>load<u32>(node, KEYS), keysEnd = keys + <usize>load<u32>(node, KEY_COUNT) * WORDS_BYTES;
  let expected = keys;
  let p = behindSpace(start + 1, end, json);
  let isInside = <u32>load<u8>(p) != CLOSE_OBJECT;
  while (isInside) {
    const close = stringEnd(p + 1, end, json), quote = close & ~MARKED;
    let key = p + 1, bytes = quote - key;
    if (close != quote) {
      if (bytes > KEY_BYTES_MAX) return 0;
      key = <usize>load<u32>(paths, KEY_SCRATCH);
      bytes = unescape(p + 1, quote, key);
    }
    // Keys mostly come in the order of the paths.
    let found = expected;
    for (; found < keysEnd; found += WORDS_BYTES) if (isKey(found, key, bytes)) break;
    if (found == keysEnd) {
      for (found = keys; found < expected; found += WORDS_BYTES) if (isKey(found, key, bytes)) break;
      if (found == expected) found = keysEnd;
    }
    p = behindSpace(behindSpace(quote + 1, end, json) + 1, end, json);
    if (found == keysEnd) p = valueEnd(p, end, json);
    else {
      const child = <usize>load<u32>(found, WORDS_NODE);
      // Of equal keys the last counts, with all that is below it.
      clear(paths, child, row);
      p = walk(p, end, json, paths, child, row);
      if (p == 0) return 0;
      expected = found + WORDS_BYTES;
    }
    p = behindSpace(p, end, json);
    isInside = <u32>load<u8>(p) == COMMA;
    if (isInside) p = behindSpace(p + 1, end, json);
  }
  return p + 1;
}

// @ts-ignore: decorator
@inline
function isKey(words: usize, key: usize, bytes: usize): bool {
  return <usize>load<u32>(words, WORDS_LENGTH) == bytes && sameBytes(key, <usize>load<u32>(words), bytes);
}

function walkList(start: usize, end: usize, json: usize, paths: usize, node: usize, row: u32): usize {
  let items = <usize>load<u32>(node, ITEMS);
  const itemsEnd = items + <usize>load<u32>(node, ITEM_COUNT) * WORDS_BYTES;
  let p = behindSpace(start + 1, end, json);
  let isInside = <u32>load<u8>(p) != CLOSE_LIST;
  for (let number: u32 = 0; isInside; number++) {
    if (items < itemsEnd && load<u32>(items) == number) {
      p = walk(p, end, json, paths, <usize>load<u32>(items, WORDS_NODE), row);
      if (p == 0) return 0;
      items += WORDS_BYTES;
    } else p = valueEnd(p, end, json);
    p = behindSpace(p, end, json);
    isInside = <u32>load<u8>(p) == COMMA;
    if (isInside) p = behindSpace(p + 1, end, json);
  }
  return p + 1;
}

/** Nothing was found at a node and below it. */
// @ts-ignore: decorator
@inline
function clear(paths: usize, node: usize, row: u32): void {
  const stride = <usize>load<u32>(paths, STRIDE), last = <usize>load<u32>(node, END);
  const found = <usize>load<u32>(paths, FOUND) + ((<usize>row) << 3);
  for (let field = <usize>load<u32>(node, FIRST); field < last; field++) store<u64>(found + field * stride, 0);
}

/** The cell of a value, for all fields of a node: null none, strings their text, all else as it is written. */
// @ts-ignore: decorator
@inline
function putFields(start: usize, behind: usize, byte: u32, paths: usize, node: usize, row: u32): bool {
  let s = start, e = behind;
  if (byte == NULL_LETTER) {
    s = 0;
    e = 0;
  } else if (byte == QUOTE) {
    s++;
    e--;
    if (hasEscape(s, e)) {
      const next = <usize>load<u32>(paths, TEXT_NEXT);
      if (next + (e - s) > <usize>load<u32>(paths, TEXT_END)) {
        store<u32>(paths, 0, TEXT_NEXT);
        return false;
      }
      e = next + unescape(s, e, next);
      s = next;
      store<u32>(paths, <u32>e, TEXT_NEXT);
    }
  }
  const stride = <usize>load<u32>(paths, STRIDE), last = <usize>load<u32>(node, HERE_END);
  const found = <usize>load<u32>(paths, FOUND) + ((<usize>row) << 3);
  const view = <u64>s | ((<u64>(e - s)) << 32);
  for (let field = <usize>load<u32>(node, FIRST); field < last; field++) store<u64>(found + field * stride, view);
  return true;
}

/** Whether a backslash stands in [s, e). */
// @ts-ignore: decorator
@inline
function hasEscape(s: usize, e: usize): bool {
  const backslash = i8x16.splat(0x5c);
  for (; s < e; s += 16) {
    const marks = <u32>i8x16.bitmask(i8x16.eq(v128.load(s), backslash));
    const left = e - s;
    if ((left < 16 ? marks & ((1 << <u32>left) - 1) : marks) != 0) return true;
  }
  return false;
}
