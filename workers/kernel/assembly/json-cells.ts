// JSON in cells: normalises and validates it, extracts values by paths, and writes objects.
import { KIND_UNSETTLED, MARKED } from '../layout/json';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER, META_NULL } from '../layout/cells';
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  NULL_LETTER,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  afterSpace,
  hexValue,
  nestedEnd,
  scalarEnd,
  stringEnd,
} from './json-tokens';
import { isNullText, mayBeNullText, sameBytes, viewOf } from './cell';
import {
  END,
  FIRST,
  FOUND,
  HERE_END,
  ITEMS,
  ITEM_COUNT,
  KEYS,
  KEY_BYTES_MAX,
  KEY_COUNT,
  KEY_SCRATCH,
  MEMBER_AT,
  MEMBER_BOOLEAN,
  MEMBER_BYTES,
  MEMBER_CELL_BYTES_MAX,
  MEMBER_DATE,
  MEMBER_DATETIME,
  MEMBER_DECIMAL,
  MEMBER_INTEGER,
  MEMBER_JSON,
  MEMBER_KEY,
  MEMBER_KEY_BYTES,
  MEMBER_KIND,
  MEMBER_META,
  MEMBER_NATIVE,
  ROOT,
  STRIDE,
  TEXT_END,
  TEXT_NEXT,
  WORDS_BYTES,
  WORDS_LENGTH,
  WORDS_NODE,
} from '../layout/json-objects';
import { TYPED_BYTES_MAX, copyOver, putDate, putDatetime, putDecimal, putInteger } from './emit-cells';
import { ESCAPE_BYTES_MAX, putCommon } from './emit-json';

// Normalises cells that were copied unchanged from the file: resolves escapes in strings, and removes white space
// between the tokens of JSON. The result is never longer than the original and overwrites it.

const HIGH_SURROGATE: u32 = 0xd800;
const LOW_SURROGATE: u32 = 0xdc00;
const BEHIND_SURROGATES: u32 = 0xe000;

/** Replaces a lone surrogate, which UTF-8 cannot encode. */
const REPLACEMENT: u32 = 0xfffd;

/**
 * Normalises the cells of one column. Returns the number of cells in which a lone surrogate was replaced.
 * @param texts list of the texts that mean "missing", 0 = no list
 * @param replaced receives the rows of these cells (u32), in ascending order
 */
export function settleCells(views: usize, kinds: usize, rows: u32, texts: usize, replaced: usize): u32 {
  let found: u32 = 0;
  for (let row: usize = 0; row < <usize>rows; row++) {
    const view = views + (row << 3);
    const start = <usize>load<u32>(view);
    if (start == 0) continue;
    const kind = <u32>load<u8>(kinds + row);
    let bytes = <usize>load<u32>(view, 4);
    if ((kind & KIND_UNSETTLED) != 0) {
      const clean = kind & ~KIND_UNSETTLED;
      const end = start + bytes;
      const made = clean == KIND_JSON ? withoutSpaces(start, end) : unescape(start, end, start);
      bytes = made & ~MARKED;
      if (bytes != made) {
        store<u32>(replaced + ((<usize>found) << 2), <u32>row);
        found++;
      }
      store<u32>(view, <u32>bytes, 4);
      store<u8>(kinds + row, <u8>clean);
    }
    if (texts != 0 && mayBeNullText(texts, <u32>bytes) && isNullText(texts, start, <u32>bytes)) store<u64>(view, 0);
  }
  return found;
}

/**
 * Unescapes the inside [from, to) of a valid string to `target`, which may equal `from`. Returns the length in bytes,
 * MARKED if a lone surrogate was replaced.
 */
export function unescape(from: usize, to: usize, target: usize): usize {
  let out = target;
  let mark: usize = 0;
  while (from < to) {
    const byte = <u32>load<u8>(from);
    if (byte != BACKSLASH) {
      store<u8>(out++, <u8>byte);
      from++;
      continue;
    }
    const letter = <u32>load<u8>(from, 1);
    if (letter != 0x75) {
      store<u8>(out++, <u8>escaped(letter));
      from += 2;
      continue;
    }
    let code = <u32>hexValue(from + 2);
    from += 6;
    if (code >= HIGH_SURROGATE && code < BEHIND_SURROGATES) {
      const low = code < LOW_SURROGATE ? lowSurrogate(from, to) : 0;
      if (low != 0) {
        code = 0x10000 + ((code - HIGH_SURROGATE) << 10) + (low - LOW_SURROGATE);
        from += 6;
      } else {
        code = REPLACEMENT;
        mark = MARKED;
      }
    }
    out = putCharacter(out, code);
  }
  return (out - target) | mark;
}

/** The low surrogate escaped at p, or 0. */
function lowSurrogate(p: usize, to: usize): u32 {
  if (p + 6 > to || <u32>load<u8>(p) != BACKSLASH || <u32>load<u8>(p, 1) != 0x75) return 0;
  const code = <u32>hexValue(p + 2);
  return code >= LOW_SURROGATE && code < BEHIND_SURROGATES ? code : 0;
}

/** b, f, n, r and t are escapes of control characters. All other letters represent themselves. */
function escaped(letter: u32): u32 {
  if (letter == 0x6e) return 0x0a;
  if (letter == 0x74) return 0x09;
  if (letter == 0x72) return 0x0d;
  if (letter == 0x62) return 0x08;
  return letter == 0x66 ? 0x0c : letter;
}

/** Writes a character as UTF-8. Returns the address after it. */
export function putCharacter(out: usize, code: u32): usize {
  if (code < 0x80) {
    store<u8>(out, <u8>code);
    return out + 1;
  }
  if (code < 0x800) {
    store<u8>(out, <u8>(0xc0 | (code >> 6)));
    store<u8>(out, <u8>(0x80 | (code & 0x3f)), 1);
    return out + 2;
  }
  if (code < 0x10000) {
    store<u8>(out, <u8>(0xe0 | (code >> 12)));
    store<u8>(out, <u8>(0x80 | ((code >> 6) & 0x3f)), 1);
    store<u8>(out, <u8>(0x80 | (code & 0x3f)), 2);
    return out + 3;
  }
  store<u8>(out, <u8>(0xf0 | (code >> 18)));
  store<u8>(out, <u8>(0x80 | ((code >> 12) & 0x3f)), 1);
  store<u8>(out, <u8>(0x80 | ((code >> 6) & 0x3f)), 2);
  store<u8>(out, <u8>(0x80 | (code & 0x3f)), 3);
  return out + 4;
}

/** Removes the white space between the tokens of valid JSON. Returns the remaining length in bytes. */
function withoutSpaces(from: usize, to: usize): usize {
  let out = from;
  let inString = false;
  for (let p = from; p < to; p++) {
    const byte = <u32>load<u8>(p);
    if (inString) {
      if (byte == BACKSLASH) {
        store<u8>(out++, <u8>byte);
        p++;
      } else if (byte == QUOTE) inString = false;
    } else if (byte <= 0x20) continue;
    else if (byte == QUOTE) inString = true;
    store<u8>(out++, load<u8>(p));
  }
  return out - from;
}

// JSON in cells: checks whether it is valid, and extracts the values at given paths. Values without escapes are views
// into the original cell. Cells with invalid or unusual JSON are listed in `todo` (u32 count, then rows). Scalar
// reference implementations: values/json-text.ts and execution/cells/json.ts.

/** Narrows each view to the cell's JSON value, without surrounding white space. The JSON value null becomes null. */
export function soundCells(json: usize, views: usize, rows: usize, count: u32, todo: usize): void {
  let back: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), end = start + <usize>load<u32>(view, 4);
    if (start == 0) continue;
    const p = afterSpace(start, end, json), close = validEnd(p, end, json);
    if (close == 0) store<u32>(todo + (++back << 2), load<u32>(rows + ((<usize>i) << 2)));
    else if (<u32>load<u8>(p) == NULL_LETTER) store<u64>(view, 0);
    else store<u64>(view, <u64>p | ((<u64>(close - p)) << 32));
  }
  store<u32>(todo, <u32>back);
}

/** Returns the address after the value at p if the value is valid and only white space follows, otherwise 0. */
export function validEnd(p: usize, end: usize, json: usize): usize {
  if (p >= end) return 0;
  const close = valueEnd(p, end, json);
  return close != 0 && close <= end && (close == end || afterSpace(close, end, json) >= end) ? close : 0;
}

/** Returns the address after the value at p, or 0 if it is invalid. */
// @ts-ignore: decorator
@inline
export function valueEnd(p: usize, end: usize, json: usize): usize {
  const byte = <u32>load<u8>(p);
  return byte == OPEN_LIST || byte == OPEN_OBJECT ? nestedEnd(p, end, json) & ~MARKED : scalarEnd(p, end, json);
}

/**
 * Writes the values at the paths (layout/json-objects.ts) to views by physical row, which must be null before. Returns
 * false if the unescaped texts do not fit.
 */
export function findFields(paths: usize, json: usize, views: usize, rows: usize, count: u32, todo: usize): bool {
  const root = <usize>load<u32>(paths, ROOT);
  let back: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const start = <usize>load<u32>(view), end = start + <usize>load<u32>(view, 4);
    if (start == 0) continue;
    const p = afterSpace(start, end, json);
    if (validEnd(p, end, json) == 0) store<u32>(todo + (++back << 2), row);
    else if (traverse(p, end, json, paths, root, row) == 0) {
      if (load<u32>(paths, TEXT_NEXT) == 0) return false;
      clear(paths, root, row);
      store<u32>(todo + (++back << 2), row);
    }
  }
  store<u32>(todo, <u32>back);
  return true;
}

/** Traverses valid JSON. Returns the address after the value, or 0 if a key is too long, a string has a lone surrogate or the arena is full. */
function traverse(start: usize, end: usize, json: usize, paths: usize, node: usize, row: u32): usize {
  const byte = <u32>load<u8>(start);
  let p: usize;
  if (byte == OPEN_OBJECT && load<u32>(node, KEY_COUNT) != 0) p = traverseObject(start, end, json, paths, node, row);
  else if (byte == OPEN_LIST && load<u32>(node, ITEM_COUNT) != 0) p = traverseList(start, end, json, paths, node, row);
  else p = valueEnd(start, end, json);
  if (p != 0 && load<u32>(node, FIRST) < load<u32>(node, HERE_END)) return putFields(start, p, byte, paths, node, row) ? p : 0;
  return p;
}

function traverseObject(start: usize, end: usize, json: usize, paths: usize, node: usize, row: u32): usize {
  const keys = <usize>load<u32>(node, KEYS), keysEnd = keys + <usize>load<u32>(node, KEY_COUNT) * WORDS_BYTES;
  let expected = keys;
  let p = afterSpace(start + 1, end, json);
  let isInside = <u32>load<u8>(p) != CLOSE_OBJECT;
  while (isInside) {
    const close = stringEnd(p + 1, end, json), quote = close & ~MARKED;
    let key = p + 1, bytes = quote - key;
    if (close != quote) {
      if (bytes > KEY_BYTES_MAX) return 0;
      key = <usize>load<u32>(paths, KEY_SCRATCH);
      bytes = unescape(p + 1, quote, key) & ~MARKED;
    }
    // Keys usually have the same order as the paths.
    let found = expected;
    for (; found < keysEnd; found += WORDS_BYTES) if (isKey(found, key, bytes)) break;
    if (found == keysEnd) {
      for (found = keys; found < expected; found += WORDS_BYTES) if (isKey(found, key, bytes)) break;
      if (found == expected) found = keysEnd;
    }
    p = afterSpace(afterSpace(quote + 1, end, json) + 1, end, json);
    if (found == keysEnd) p = valueEnd(p, end, json);
    else {
      const child = <usize>load<u32>(found, WORDS_NODE);
      // The last among equal keys wins, so all results of the previous one are cleared.
      clear(paths, child, row);
      p = traverse(p, end, json, paths, child, row);
      if (p == 0) return 0;
      expected = found + WORDS_BYTES;
    }
    p = afterSpace(p, end, json);
    isInside = <u32>load<u8>(p) == COMMA;
    if (isInside) p = afterSpace(p + 1, end, json);
  }
  return p + 1;
}

// @ts-ignore: decorator
@inline
function isKey(words: usize, key: usize, bytes: usize): bool {
  return <usize>load<u32>(words, WORDS_LENGTH) == bytes && sameBytes(key, <usize>load<u32>(words), bytes);
}

function traverseList(start: usize, end: usize, json: usize, paths: usize, node: usize, row: u32): usize {
  let items = <usize>load<u32>(node, ITEMS);
  const itemsEnd = items + <usize>load<u32>(node, ITEM_COUNT) * WORDS_BYTES;
  let p = afterSpace(start + 1, end, json);
  let isInside = <u32>load<u8>(p) != CLOSE_LIST;
  for (let number: u32 = 0; isInside; number++) {
    if (items < itemsEnd && load<u32>(items) == number) {
      p = traverse(p, end, json, paths, <usize>load<u32>(items, WORDS_NODE), row);
      if (p == 0) return 0;
      items += WORDS_BYTES;
    } else p = valueEnd(p, end, json);
    p = afterSpace(p, end, json);
    isInside = <u32>load<u8>(p) == COMMA;
    if (isInside) p = afterSpace(p + 1, end, json);
  }
  return p + 1;
}

/** Clears the results of a node and its descendants. */
// @ts-ignore: decorator
@inline
function clear(paths: usize, node: usize, row: u32): void {
  const stride = <usize>load<u32>(paths, STRIDE), last = <usize>load<u32>(node, END);
  const found = <usize>load<u32>(paths, FOUND) + ((<usize>row) << 3);
  for (let field = <usize>load<u32>(node, FIRST); field < last; field++) store<u64>(found + field * stride, 0);
}

/**
 * Writes the cell of a value to all fields of a node: null for null, the text of a string, and JSON for all other
 * values. Returns false for a string with a lone surrogate, or if the arena is full.
 */
// @ts-ignore: decorator
@inline
function putFields(start: usize, after: usize, byte: u32, paths: usize, node: usize, row: u32): bool {
  let s = start, e = after;
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
      const made = unescape(s, e, next);
      // A replaced character is counted, so such cells are handled one by one.
      if ((made & MARKED) != 0) return false;
      e = next + made;
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

/** True if [s, e) contains a backslash. */
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

// Writes cells of a row as a JSON object into the arena. Scalar reference implementation:
// execution/cells/json.ts, which receives the rows with long cells (`todo`: u32 count, then rows).

/** Extra bytes of a value besides its own and its key: two quotes, and what block copies overwrite. */
const VALUE_EXTRA_BYTES: usize = 64;

const BRACE: u8 = 0x7b;
const CLOSING_BRACE: u8 = 0x7d;
const POINT: u32 = 0x2e;
const QUOTE_BYTE: u8 = 0x22;
const NULL_TEXT: u32 = 0x6c6c756e;
const TRUE_TEXT: u32 = 0x65757274;
const FALSE_TEXT: u64 = 0x65736c6166;

/**
 * Writes one object per row, with its view at `made` by physical row. Returns the next free address, or 0 if the arena
 * is full.
 */
export function writeObjects(columns: usize, columnCount: u32, rows: usize, count: u32, omitsNulls: u32, made: usize, next: usize, limit: usize, todo: usize): usize {
  const columnsEnd = columns + <usize>columnCount * MEMBER_BYTES;
  let back: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    if (isLong(columns, columnsEnd, row)) {
      store<u32>(todo + (++back << 2), <u32>row);
      continue;
    }
    if (next + VALUE_EXTRA_BYTES > limit) return 0;
    // The first member's comma is overwritten by the brace.
    let at = next;
    for (let column = columns; column < columnsEnd; column += MEMBER_BYTES) {
      at = putMember(column, row, omitsNulls, at, limit);
      if (at == 0) return 0;
    }
    if (at == next) at++;
    store<u8>(next, BRACE);
    store<u8>(at++, CLOSING_BRACE);
    store<u64>(made + (row << 3), <u64>next | ((<u64>(at - next)) << 32));
    next = at;
  }
  store<u32>(todo, <u32>back);
  return next;
}

function isLong(columns: usize, columnsEnd: usize, row: usize): bool {
  let isAny = false;
  for (let column = columns; column < columnsEnd; column += MEMBER_BYTES) {
    const isText = load<u32>(column) <= MEMBER_NATIVE;
    if (isText && load<u32>(<usize>load<u32>(column, MEMBER_AT) + (row << 3), 4) > MEMBER_CELL_BYTES_MAX) isAny = true;
  }
  return isAny;
}

/** Returns the address after the member, or 0 if it does not fit. */
// @ts-ignore: decorator
@inline
function putMember(column: usize, row: usize, omitsNulls: u32, out: usize, limit: usize): usize {
  const kind = load<u32>(column, MEMBER_KIND);
  const source = <usize>load<u32>(column, MEMBER_AT) + (row << 3);
  const key = <usize>load<u32>(column, MEMBER_KEY), keyBytes = <usize>load<u32>(column, MEMBER_KEY_BYTES);
  const isView = kind <= MEMBER_NATIVE;
  const meta = isView ? 0 : <u32>load<u8>(<usize>load<u32>(column, MEMBER_META) + row);
  const start = isView ? <usize>load<u32>(source) : 1;
  const bytes = isView ? <usize>load<u32>(source, 4) : 0;
  const isNull = start == 0 || (!isView && meta == META_NULL);
  if (isNull && omitsNulls) return out;
  const bytesMax = isView ? bytes * ESCAPE_BYTES_MAX : TYPED_BYTES_MAX;
  if (out + keyBytes + bytesMax + VALUE_EXTRA_BYTES > limit) return 0;
  const at = copyOver(out, key, key + keyBytes);
  if (isNull) {
    store<u32>(at, NULL_TEXT);
    return at + 4;
  }
  if (isView) {
    if (kind == MEMBER_JSON || (kind == MEMBER_NATIVE && isBare(<u32>load<u8>(<usize>load<u32>(column, MEMBER_META) + row)))) {
      return copyOver(at, start, start + bytes);
    }
    store<u8>(at, QUOTE_BYTE);
    const end = putCommon(at + 1, start, start + bytes, false);
    store<u8>(end, QUOTE_BYTE);
    return end + 1;
  }
  if (kind == MEMBER_BOOLEAN) {
    if (meta != 0) store<u32>(at, TRUE_TEXT);
    else store<u64>(at, FALSE_TEXT);
    return at + (meta != 0 ? 4 : 5);
  }
  const value = load<i64>(source);
  if (kind == MEMBER_INTEGER) return putInteger(at, value);
  if (kind == MEMBER_DECIMAL) return putDecimal(at, value, meta, POINT);
  store<u8>(at, QUOTE_BYTE);
  const end = kind == MEMBER_DATE ? putDate(at + 1, value) : putDatetime(at + 1, value);
  store<u8>(end, QUOTE_BYTE);
  return end + 1;
}

/** True if the canonical text of this native kind is valid JSON. */
// @ts-ignore: decorator
@inline
function isBare(kind: u32): bool {
  return kind == KIND_NUMBER || kind == KIND_BOOLEAN || kind == KIND_JSON;
}
