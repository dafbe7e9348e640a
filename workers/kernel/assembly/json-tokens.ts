// Tokens and values of JSON text (RFC 8259).
import {
  CELL_BYTES_MAX,
  CELL_TOO_LONG,
  DEPTH_MAX,
  EMPTY_IS_NULL,
  EXPECTED_COLON,
  EXPECTED_COMMA_OR_BRACE,
  EXPECTED_COMMA_OR_BRACKET,
  EXPECTED_DIGIT,
  EXPECTED_ESCAPE,
  EXPECTED_KEY,
  EXPECTED_QUOTE,
  EXPECTED_VALUE,
  KINDS,
  KIND_UNSETTLED,
  LINES,
  LINE_START,
  MARKED,
  REPLACED,
  STACK,
  STRIDE,
  TOO_DEEP,
  ERROR,
  ERROR_AT,
  UNSETTLED,
  VIEWS,
} from '../layout/json';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER, KIND_TEXT } from '../layout/cells';

// Tokens of JSON (RFC 8259). Each function takes the address of a token's first byte. It returns the address after the
// token, or 0 with the error in the state. Only the bytes before `end` are text. The functions may read arbitrary bytes
// after `end`, so a returned address after `end` means nothing.

export const QUOTE: u32 = 0x22;
export const BACKSLASH: u32 = 0x5c;
export const COMMA: u32 = 0x2c;
export const COLON: u32 = 0x3a;
export const OPEN_LIST: u32 = 0x5b;
export const CLOSE_LIST: u32 = 0x5d;
export const OPEN_OBJECT: u32 = 0x7b;
export const CLOSE_OBJECT: u32 = 0x7d;

/** In ASCII, a closing bracket's code is the opening bracket's plus 2. */
export const TO_CLOSE: u32 = 2;

const SPACE: u32 = 0x20;
const LF: u32 = 0x0a;
const CR: u32 = 0x0d;
const TAB: u32 = 0x09;

/** `null`, `true` and `alse` as 32-bit words. */
const NULL_WORD: u32 = 0x6c6c756e;
const TRUE_WORD: u32 = 0x65757274;
const ALSE_WORD: u32 = 0x65736c61;

/** Shorter numbers are not checked against the maximum cell length. */
const SHORT_NUMBER_BYTES: usize = 64;

export function fail(state: usize, at: usize, code: u32): usize {
  store<u32>(state, <u32>at, ERROR_AT);
  store<u32>(state, code, ERROR);
  return 0;
}

// @ts-ignore: decorator
@inline
export function afterSpace(p: usize, end: usize, state: usize): usize {
  return <u32>load<u8>(p) > SPACE ? p : skipSpace(p, end, state);
}

/** Line feeds occur only between tokens, so they are counted here. */
function skipSpace(p: usize, end: usize, state: usize): usize {
  const spaces = i8x16.splat(<i8>SPACE);
  while (p < end) {
    const byte = <u32>load<u8>(p);
    if (byte == SPACE) {
      const others = <u32>i8x16.bitmask(i8x16.ne(v128.load(p), spaces));
      p += others == 0 ? 16 : <usize>ctz(others);
    } else if (byte == LF) {
      p++;
      store<u32>(state, load<u32>(state, LINES) + 1, LINES);
      store<u32>(state, <u32>p, LINE_START);
    } else if (byte == CR || byte == TAB) p++;
    else return p;
  }
  return end;
}

/** Bit mask of the bytes at which a string's fast path stops. */
// @ts-ignore: decorator
@inline
function stops(p: usize): u32 {
  const bytes = v128.load(p);
  const marks = v128.or(i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)), i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH)));
  return <u32>i8x16.bitmask(v128.or(marks, i8x16.lt_u(bytes, i8x16.splat(<i8>SPACE))));
}

/**
 * Goes from the byte after a string's opening quote to its closing quote. The result is MARKED if the string contains
 * escapes.
 */
// @ts-ignore: decorator
@inline
export function stringEnd(p: usize, end: usize, state: usize): usize {
  const found = stops(p);
  if (found != 0) {
    const at = p + <usize>ctz(found);
    if (<u32>load<u8>(at) == QUOTE) return at;
  }
  return anyStringEnd(p, end, state);
}

function anyStringEnd(p: usize, end: usize, state: usize): usize {
  const start = p;
  let escapes: usize = 0;
  while (p < end) {
    const found = stops(p);
    if (found == 0) {
      p += 16;
      continue;
    }
    p += <usize>ctz(found);
    const byte = <u32>load<u8>(p);
    if (byte == QUOTE) {
      if (p - start > <usize>load<u32>(state, CELL_BYTES_MAX)) return fail(state, start - 1, CELL_TOO_LONG);
      return p | escapes;
    }
    if (byte != BACKSLASH) return fail(state, p, EXPECTED_QUOTE);
    const bytes = escapeBytes(p);
    if (bytes == 0) return fail(state, p, EXPECTED_ESCAPE);
    p += bytes;
    escapes = MARKED;
  }
  return fail(state, end, EXPECTED_QUOTE);
}

/** Length of the escape sequence at p, or 0 if it is invalid. */
function escapeBytes(p: usize): usize {
  const letter = <u32>load<u8>(p, 1);
  if (letter == 0x75) return hexValue(p + 2) >= 0 ? 6 : 0;
  const isKnown =
    letter == QUOTE || letter == BACKSLASH || letter == 0x2f || letter == 0x62 || letter == 0x66 || letter == 0x6e;
  return isKnown || letter == 0x72 || letter == 0x74 ? 2 : 0;
}

/** Value of four hexadecimal digits, or a negative number if one of them is not a digit. */
export function hexValue(p: usize): i32 {
  let value: i32 = 0;
  for (let index: usize = 0; index < 4; index++) {
    const byte = <u32>load<u8>(p + index);
    const digit = byte - 0x30;
    const letter = (byte | 0x20) - 0x61;
    if (digit <= 9) value = (value << 4) | digit;
    else if (letter <= 5) value = (value << 4) | (letter + 10);
    else return -1;
  }
  return value;
}

function digitsEnd(p: usize, end: usize): usize {
  while (p < end && <u32>load<u8>(p) - 0x30 <= 9) p++;
  return p;
}

function numberEnd(start: usize, end: usize, state: usize): usize {
  let p = start;
  if (<u32>load<u8>(p) == 0x2d) p++;
  const first = <u32>load<u8>(p) - 0x30;
  if (first > 9) return fail(state, p, p == start ? EXPECTED_VALUE : EXPECTED_DIGIT);
  p = first == 0 ? p + 1 : digitsEnd(p + 1, end);
  if (<u32>load<u8>(p) == 0x2e) {
    const fraction = p + 1;
    p = digitsEnd(fraction, end);
    if (p == fraction) return fail(state, p, EXPECTED_DIGIT);
  }
  if ((<u32>load<u8>(p) | 0x20) == 0x65) {
    p++;
    const sign = <u32>load<u8>(p);
    if (sign == 0x2b || sign == 0x2d) p++;
    const exponent = p;
    p = digitsEnd(p, end);
    if (p == exponent) return fail(state, p, EXPECTED_DIGIT);
  }
  const bytes = p - start;
  if (bytes > SHORT_NUMBER_BYTES && bytes > <usize>load<u32>(state, CELL_BYTES_MAX)) {
    return fail(state, start, CELL_TOO_LONG);
  }
  return p;
}

/** Length of `true`, `false` or `null` at p, or 0. */
// @ts-ignore: decorator
@inline
function literalBytes(p: usize): usize {
  const word = load<u32>(p);
  if (word == NULL_WORD || word == TRUE_WORD) return 4;
  return <u32>load<u8>(p) == 0x66 && load<u32>(p, 1) == ALSE_WORD ? 5 : 0;
}

/** Reads a string, number, true, false or null. */
export function scalarEnd(p: usize, end: usize, state: usize): usize {
  if (<u32>load<u8>(p) == QUOTE) {
    const close = stringEnd(p + 1, end, state);
    return close == 0 ? 0 : (close & ~MARKED) + 1;
  }
  const bytes = literalBytes(p);
  return bytes != 0 ? p + bytes : numberEnd(p, end, state);
}

/** Reads a key, its colon and the white space after both. */
function keyEnd(p: usize, end: usize, state: usize): usize {
  if (<u32>load<u8>(p) != QUOTE) return fail(state, p, EXPECTED_KEY);
  const close = stringEnd(p + 1, end, state);
  if (close == 0) return 0;
  p = afterSpace((close & ~MARKED) + 1, end, state);
  if (<u32>load<u8>(p) != COLON) return fail(state, p, EXPECTED_COLON);
  return afterSpace(p + 1, end, state);
}

/** Error code for a value inside this bracket that is followed by neither a comma nor the closing bracket. */
export function expectedIn(bracket: u32): u32 {
  return bracket == OPEN_OBJECT ? EXPECTED_COMMA_OR_BRACE : EXPECTED_COMMA_OR_BRACKET;
}

/** Reads a complete object or list. The result is MARKED if it contains white space between tokens. */
export function nestedEnd(p: usize, end: usize, state: usize): usize {
  const stack = <usize>load<u32>(state, STACK);
  const start = p;
  let depth: usize = 0;
  let spaces: usize = 0;
  while (p < end) {
    // Expects a value.
    const byte = <u32>load<u8>(p);
    if (byte == OPEN_OBJECT || byte == OPEN_LIST) {
      if (depth == <usize>DEPTH_MAX) return fail(state, p, TOO_DEEP);
      store<u8>(stack + depth, <u8>byte);
      depth++;
      const first = afterSpace(p + 1, end, state);
      if (first != p + 1) spaces = MARKED;
      p = first;
      if (<u32>load<u8>(p) != byte + TO_CLOSE) {
        if (byte == OPEN_LIST) continue;
        const value = keyEnd(p, end, state);
        if (value == 0) return 0;
        if (hasSpaceBehindKey(value)) spaces = MARKED;
        p = value;
        continue;
      }
    } else {
      p = scalarEnd(p, end, state);
      if (p == 0) return 0;
    }
    // Expects what follows a value, or the end of an empty object or list.
    let isBehind = true;
    while (isBehind) {
      const sign = afterSpace(p, end, state);
      if (sign != p) spaces = MARKED;
      p = sign;
      if (p >= end) return fail(state, end, EXPECTED_VALUE);
      const bracket = <u32>load<u8>(stack + depth - 1);
      const byte = <u32>load<u8>(p);
      if (byte == bracket + TO_CLOSE) {
        p++;
        depth--;
        if (depth > 0) continue;
        if (p - start > <usize>load<u32>(state, CELL_BYTES_MAX)) return fail(state, start, CELL_TOO_LONG);
        return p | spaces;
      }
      if (byte != COMMA) return fail(state, p, expectedIn(bracket));
      const next = afterSpace(p + 1, end, state);
      if (next != p + 1) spaces = MARKED;
      p = next;
      if (bracket == OPEN_OBJECT) {
        const value = keyEnd(p, end, state);
        if (value == 0) return 0;
        if (hasSpaceBehindKey(value)) spaces = MARKED;
        p = value;
      }
      isBehind = false;
    }
  }
  return fail(state, end, EXPECTED_VALUE);
}

/** True if a key's value does not directly follow `":`. */
// @ts-ignore: decorator
@inline
function hasSpaceBehindKey(value: usize): bool {
  return <u32>load<u8>(value - 1) != COLON || <u32>load<u8>(value - 2) != QUOTE;
}

// Reads one value of a record: its type, its end, and its cell, which is a view into the file's text.

/** First letter of null. */
export const NULL_LETTER: u32 = 0x6e;

/**
 * Reads one value, and stores it in its column unless the column is negative. Returns the address after the value, or
 * 0.
 */
// @ts-ignore: decorator
@inline
export function readCell(p: usize, byte: u32, end: usize, state: usize, column: i32, row: u32): usize {
  if (byte == QUOTE) {
    const close = stringEnd(p + 1, end, state);
    const after = close & ~MARKED;
    if (close == 0) return 0;
    if (column >= 0) {
      if (close != after) putUnsettled(state, column, row, p + 1, after, KIND_TEXT);
      else if (after != p + 1 || load<u32>(state, EMPTY_IS_NULL) == 0) {
        putCell(state, column, row, p + 1, after, KIND_TEXT);
      } else putNull(state, column, row);
    }
    return after + 1;
  }
  if (byte == OPEN_OBJECT || byte == OPEN_LIST) {
    const found = nestedEnd(p, end, state);
    const after = found & ~MARKED;
    if (found == 0) return 0;
    if (column >= 0) {
      if (found != after) putUnsettled(state, column, row, p, after, KIND_JSON);
      else putCell(state, column, row, p, after, KIND_JSON);
    }
    return after;
  }
  const bytes = literalBytes(p);
  if (bytes != 0) {
    if (column >= 0) {
      if (byte == NULL_LETTER) putNull(state, column, row);
      else putCell(state, column, row, p, p + bytes, KIND_BOOLEAN);
    }
    return p + bytes;
  }
  const after = numberEnd(p, end, state);
  if (after != 0 && column >= 0) putCell(state, column, row, p, after, KIND_NUMBER);
  return after;
}

// @ts-ignore: decorator
@inline
function putCell(state: usize, column: i32, row: u32, start: usize, end: usize, kind: u32): void {
  const cell = <usize>((<u32>column) * load<u32>(state, STRIDE) + row);
  const view = <usize>load<u32>(state, VIEWS) + (cell << 3);
  if (load<u32>(view) != 0) noteReplaced(state);
  store<u64>(view, <u64>start | ((<u64>(end - start)) << 32));
  store<u8>(<usize>load<u32>(state, KINDS) + cell, <u8>kind);
}

function putUnsettled(state: usize, column: i32, row: u32, start: usize, end: usize, kind: u32): void {
  putCell(state, column, row, start, end, kind | KIND_UNSETTLED);
  store<u8>(<usize>load<u32>(state, UNSETTLED) + <usize>column, 1);
}

/** Clears the cell, because the last among equal keys wins. */
// @ts-ignore: decorator
@inline
function putNull(state: usize, column: i32, row: u32): void {
  const cell = <usize>((<u32>column) * load<u32>(state, STRIDE) + row);
  const view = <usize>load<u32>(state, VIEWS) + (cell << 3);
  if (load<u32>(view) != 0) noteReplaced(state);
  store<u64>(view, 0);
}

/** Counts a filled cell that is replaced, because its record has its key twice. */
function noteReplaced(state: usize): void {
  store<u32>(state, load<u32>(state, REPLACED) + 1, REPLACED);
}
