// One cell of a sheet: its tag, its value, and where that goes. Nothing of the state has changed where a cell is left.
import {
  COLUMNS,
  COLUMNS_MAP,
  COLUMNS_MAX,
  EMPTY_IS_NULL,
  HAS_EMPTY,
  IS_BLANK,
  IS_COUNTING,
  IS_LEFT_OUT,
  IS_PASSED_OVER,
  IS_WIDE,
  KINDS,
  NEXT_COLUMN,
  NULL_TEXTS,
  RAGGED_FAILS,
  ROW_BYTES,
  ROW_BYTES_MAX,
  ROWS,
  SHARED_ROW_BYTES,
  STRIDE,
  TEXTS_AT,
  VIEWS,
} from '../layout/sheet';
import { isNullText, mayBeNullText } from './null-texts';
import {
  behindClosing,
  behindPrefix,
  behindSpaces,
  behindTag,
  endsName,
  GREATER,
  isEmptyTag,
  LESS,
  nameEnd,
  nameStart,
  nextAttribute,
  QUOTE,
  SLASH,
  SPACE,
} from './sheet-tags';
import { textEnd } from './sheet-texts';
import {
  forgetValue,
  isSharedValue,
  readInline,
  readValue,
  setEmptyText,
  TYPE_BOOLEAN,
  TYPE_INLINE,
  TYPE_NUMBER,
  TYPE_SHARED,
  TYPE_TEXT,
  valueAt,
  valueBytes,
  valueKind,
} from './sheet-values';

const LETTER_C: u32 = 0x63;
const LETTER_F: u32 = 0x66;
const LETTER_R: u32 = 0x72;
const LETTER_S: u32 = 0x73;
const LETTER_T: u32 = 0x74;
const LETTER_V: u32 = 0x76;

/** `="` */
const VALUE_OPENS: u32 = 0x223d;
/** `</v></c>` */
const VALUE_AND_CELL_CLOSE: u64 = 0x3e632f3c3e762f3c;
/** `is` in the low two bytes. */
const IS: u32 = 0x7369;

// What the tag says.
let column: u32 = 0;
let type: u32 = 0;
let style: u32 = 0;

/** Reads the cell whose name ends at `at`; gives the address behind it. 0: it is left; behind `end`: more bytes are wanted. */
export function readCell(at: usize, end: usize, state: usize): usize {
  column = load<u32>(state, NEXT_COLUMN);
  type = TYPE_NUMBER;
  style = 0;
  at = readTag(at, end);
  if (at == 0 || at > end) return at;
  if (column >= load<u32>(state, COLUMNS_MAX)) return 0;
  if (!isEmptyTag) {
    forgetValue();
    at = readContent(at, end, state);
    if (at == 0 || at > end) return at;
    if (valueAt != 0 && load<u32>(state, IS_LEFT_OUT) == 0 && !keep(state)) return 0;
  }
  store<u32>(state, column + 1, NEXT_COLUMN);
  return at;
}

/** Behind the cell's opening tag. */
function readTag(at: usize, end: usize): usize {
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (byte == GREATER || byte == SLASH) return byte == SLASH && <u32>load<u8>(at, 1) != GREATER ? 0 : behindTag(at, end);
    if (byte == SPACE && <u32>load<u16>(at, 2) == VALUE_OPENS) {
      const name = <u32>load<u8>(at, 1);
      at += 4;
      if (name == LETTER_R) at = readReference(at);
      else if (name == LETTER_S) at = readStyle(at);
      else if (name == LETTER_T) at = readType(at);
      else while (at < end && <u32>load<u8>(at) != QUOTE) at++;
      if (at == 0) return 0;
      if (<u32>load<u8>(at) != QUOTE) return at >= end ? end + 1 : 0;
      at++;
    } else {
      at = nextAttribute(at, end);
      if (at == 0 || at > end) return at;
      // Those of one letter that count stand as above, or are left.
      if (nameEnd - nameStart == 1 && isOwn(<u32>load<u8>(nameStart))) return 0;
    }
  }
  return end + 1;
}

// @ts-ignore: decorator
@inline
function isOwn(letter: u32): bool {
  return letter == LETTER_R || letter == LETTER_S || letter == LETTER_T;
}

/** Letters and digits; 0: what is written otherwise. */
function readReference(at: usize): usize {
  let letter = <u32>load<u8>(at) - 0x41;
  if (letter > 25) return 0;
  let place = letter;
  at++;
  for (letter = <u32>load<u8>(at) - 0x41; letter < 26; letter = <u32>load<u8>(at) - 0x41) {
    place = (place + 1) * 26 + letter;
    at++;
    if (place > 0xffff) return 0;
  }
  while (<u32>load<u8>(at) - 0x30 < 10) at++;
  column = place;
  return at;
}

function readStyle(at: usize): usize {
  let value: u32 = 0;
  for (let digit = <u32>load<u8>(at) - 0x30; digit < 10; digit = <u32>load<u8>(at) - 0x30) {
    value = value * 10 + digit;
    at++;
    if (value > 0xfffff) return 0;
  }
  style = value;
  return at;
}

/** Errors, dates as texts and what nobody knows are left. */
function readType(at: usize): usize {
  const word = load<u32>(at);
  const short = word & 0xffff;
  if (word == 0x22727473) {
    type = TYPE_TEXT;
    return at + 3;
  }
  // inlineStr
  if (load<u64>(at) == 0x7453656e696c6e69 && <u32>load<u16>(at, 8) == 0x2272) {
    type = TYPE_INLINE;
    return at + 9;
  }
  if (short == 0x2273) type = TYPE_SHARED;
  else if (short == 0x226e) type = TYPE_NUMBER;
  else if (short == 0x2262) type = TYPE_BOOLEAN;
  else return 0;
  return at + 1;
}

/** What stands between the cell's tags: perhaps a formula, perhaps a value. Gives the address behind the cell. */
function readContent(at: usize, end: usize, state: usize): usize {
  let hasFormula = false;
  at = behindSpaces(at, end);
  let name = behindPrefix(at + 1);
  if (<u32>load<u8>(at) == LESS && <u32>load<u8>(name) == LETTER_F && endsName(<u32>load<u8>(name, 1))) {
    hasFormula = true;
    at = behindFormula(name + 1, end);
    if (at == 0 || at > end) return at;
    at = behindSpaces(at, end);
    name = behindPrefix(at + 1);
  }
  if (<u32>load<u8>(at) != LESS) return at >= end ? end + 1 : 0;
  const letter = <u32>load<u8>(name);
  if (letter == LETTER_V && endsName(<u32>load<u8>(name, 1))) {
    if (type == TYPE_INLINE) return 0;
    at = behindTag(name + 1, end);
    if (at > end) return at;
    if (!isEmptyTag) {
      at = readValue(at, end, state, type, style);
      if (at == 0 || at > end) return at;
    } else if (type == TYPE_TEXT) setEmptyText(state);
    // A formula whose value is missing is told.
    if (valueAt == 0 && hasFormula) return 0;
    if (!isEmptyTag) {
      if (load<u64>(at) == VALUE_AND_CELL_CLOSE) return at + 8;
      at = behindClosing(at, end, LETTER_V);
      if (at == 0) return 0;
    }
  } else if (<u32>load<u16>(name) == IS && endsName(<u32>load<u8>(name, 2)) && type == TYPE_INLINE) {
    at = behindTag(name + 2, end);
    if (at > end) return at;
    if (isEmptyTag) setEmptyText(state);
    else {
      at = readInline(at, end, state);
      if (at == 0 || at > end) return at;
    }
  } else if (hasFormula) return 0;
  return behindClosing(at, end, LETTER_C);
}

/** Behind the formula whose name ends at `at`. */
function behindFormula(at: usize, end: usize): usize {
  at = behindTag(at, end);
  if (at > end || isEmptyTag) return at;
  at = textEnd(at, end);
  return at >= end ? end + 1 : behindClosing(at, end, LETTER_F);
}

/** Puts the value where it belongs; false: it is left. */
function keep(state: usize): bool {
  const map = <usize>load<u32>(state, COLUMNS_MAP);
  const place = map == 0 ? <i32>column : load<i32>(map + ((<usize>column) << 2));
  if (place < 0) return true;
  const isWide = <u32>place >= load<u32>(state, COLUMNS) && valueBytes > 0;
  const sharedBytes = load<u32>(state, SHARED_ROW_BYTES) + (isSharedValue ? valueBytes : 0);
  const rowBytes = load<u32>(state, ROW_BYTES) + valueBytes;
  const bytesMax = load<u32>(state, ROW_BYTES_MAX);
  const isPassedOver = load<u32>(state, IS_PASSED_OVER) != 0;
  if (sharedBytes > bytesMax) return false;
  if (!isPassedOver) {
    if (rowBytes > bytesMax || (isWide && load<u32>(state, RAGGED_FAILS) != 0)) return false;
    if (valueBytes > 0) store<u32>(state, 0, IS_BLANK);
    if (isWide) store<u32>(state, 1, IS_WIDE);
    if (<u32>place < load<u32>(state, COLUMNS)) {
      store<u32>(state, rowBytes, ROW_BYTES);
      if (load<u32>(state, IS_COUNTING) == 0) putView(state, <usize>place);
    }
  }
  store<u32>(state, sharedBytes, SHARED_ROW_BYTES);
  return true;
}

// @ts-ignore: decorator
@inline
function putView(state: usize, place: usize): void {
  const cell = place * <usize>load<u32>(state, STRIDE) + <usize>load<u32>(state, ROWS);
  const view = <usize>load<u32>(state, VIEWS) + (cell << 3);
  store<u8>(<usize>load<u32>(state, KINDS) + cell, <u8>valueKind);
  const texts = <usize>load<u32>(state, NULL_TEXTS);
  const isNull =
    valueBytes == 0
      ? load<u32>(state, EMPTY_IS_NULL) != 0
      : texts != 0 && mayBeNullText(texts, valueBytes) && isNullText(texts, valueAt, valueBytes);
  if (isNull) {
    store<u64>(view, 0);
    return;
  }
  if (valueBytes == 0) store<u32>(state, 1, HAS_EMPTY);
  store<u32>(view, <u32>valueAt);
  store<u32>(view, valueBytes, 4);
  if (!isSharedValue) store<u32>(state, <u32>valueAt + valueBytes, TEXTS_AT);
}
