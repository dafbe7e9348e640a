// Reads rows of a sheet's XML into views of their cells, for the forms that nearly all programs write.
import {
  AT,
  CLOSED,
  CLOSED_MAX,
  COLUMNS,
  COLUMNS_MAP,
  COLUMNS_MAX,
  EMPTY_IS_NULL,
  FIRST_DATA_ROW,
  FIRST_ROW,
  FREE_BYTES_MIN,
  HAS_EMPTY,
  IS_BLANK,
  IS_COUNTING,
  IS_IN_ROW,
  IS_LEFT_OUT,
  IS_PASSED_OVER,
  IS_WIDE,
  KINDS,
  LAST_ROW,
  LEAVES_WIDE,
  NEXT_COLUMN,
  NULL_TEXTS,
  PREFIX,
  ROW,
  ROWS,
  ROWS_MAX,
  ROW_BYTES,
  ROW_BYTES_MAX,
  ROW_NUMBER_MAX,
  SHARED_BYTES,
  SHARED_ROW_BYTES,
  SHEET_ROWS,
  SKIPS_HIDDEN,
  STATUS,
  STATUS_FULL,
  STATUS_LEFT,
  STATUS_MORE,
  STRIDE,
  TEXTS_AT,
  TEXTS_END,
  VIEWS,
} from '../layout/sheet';
import { isNullText, mayBeNullText } from './cell';
import {
  GREATER,
  LESS,
  QUOTE,
  SLASH,
  SPACE,
  afterClosing,
  afterPrefix,
  afterSpaces,
  afterTag,
  endsName,
  isEmptyTag,
  nameEnd,
  nameStart,
  nextAttribute,
  textEnd,
  usePrefix,
  valueEnd,
  valueStart,
} from './sheet-texts';
import {
  TYPE_BOOLEAN,
  TYPE_INLINE,
  TYPE_NUMBER,
  TYPE_SHARED,
  TYPE_TEXT,
  forgetValue,
  isSharedValue,
  readInline,
  readValue,
  setEmptyText,
  valueAt,
  valueBytes,
  valueKind,
} from './sheet-values';

// Reads one cell of a sheet: its tag, its value, and its destination. If a cell is left to the fallback reader, the
// state is unchanged.

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

// Contents of the cell's tag.
let column: u32 = 0;
let type: u32 = 0;
let style: u32 = 0;

/**
 * Reads the cell whose name ends at `at`. Returns the address after the cell, 0 to leave it to the fallback reader, or
 * an address after `end` if more bytes are needed.
 */
function readCell(at: usize, end: usize, state: usize): usize {
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

/** Returns the address after the cell's opening tag. */
function readTag(at: usize, end: usize): usize {
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (byte == GREATER || byte == SLASH) return byte == SLASH && <u32>load<u8>(at, 1) != GREATER ? 0 : afterTag(at, end);
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
      // Relevant one-letter attributes have the form above. Cells in any other form are left to the fallback reader.
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

/** Reads upper-case letters and digits. Returns 0 for other forms. */
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

/** Leaves errors, dates as texts and unknown types to the fallback reader. */
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

/** Reads the content of a cell: an optional formula and an optional value. Returns the address after the cell. */
function readContent(at: usize, end: usize, state: usize): usize {
  let hasFormula = false;
  at = afterSpaces(at, end);
  let name = afterPrefix(at + 1);
  if (<u32>load<u8>(at) == LESS && <u32>load<u8>(name) == LETTER_F && endsName(<u32>load<u8>(name, 1))) {
    hasFormula = true;
    at = afterFormula(name + 1, end);
    if (at == 0 || at > end) return at;
    at = afterSpaces(at, end);
    name = afterPrefix(at + 1);
  }
  if (<u32>load<u8>(at) != LESS) return at >= end ? end + 1 : 0;
  const letter = <u32>load<u8>(name);
  if (letter == LETTER_V && endsName(<u32>load<u8>(name, 1))) {
    if (type == TYPE_INLINE) return 0;
    at = afterTag(name + 1, end);
    if (at > end) return at;
    if (!isEmptyTag) {
      at = readValue(at, end, state, type, style);
      if (at == 0 || at > end) return at;
    } else if (type == TYPE_TEXT) setEmptyText(state);
    // The fallback reader reports a formula without a value.
    if (valueAt == 0 && hasFormula) return 0;
    if (!isEmptyTag) {
      if (load<u64>(at) == VALUE_AND_CELL_CLOSE) return at + 8;
      at = afterClosing(at, end, LETTER_V);
      if (at == 0) return 0;
    }
  } else if (<u32>load<u16>(name) == IS && endsName(<u32>load<u8>(name, 2)) && type == TYPE_INLINE) {
    at = afterTag(name + 2, end);
    if (at > end) return at;
    if (isEmptyTag) setEmptyText(state);
    else {
      at = readInline(at, end, state);
      if (at == 0 || at > end) return at;
    }
  } else if (hasFormula) return 0;
  return afterClosing(at, end, LETTER_C);
}

/** Skips the formula whose name ends at `at`. */
function afterFormula(at: usize, end: usize): usize {
  at = afterTag(at, end);
  if (at > end || isEmptyTag) return at;
  at = textEnd(at, end);
  return at >= end ? end + 1 : afterClosing(at, end, LETTER_F);
}

/** Stores the value in its column. Returns false to leave the cell to the fallback reader. */
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
    if (rowBytes > bytesMax || (isWide && load<u32>(state, LEAVES_WIDE) != 0)) return false;
    if (valueBytes > 0) store<u32>(state, 0, IS_BLANK);
    if (isWide) store<u32>(state, 1, IS_WIDE);
    if (<u32>place < load<u32>(state, COLUMNS)) {
      if (load<u32>(state, IS_COUNTING) == 0 && !putView(state, <usize>place)) return false;
      store<u32>(state, rowBytes, ROW_BYTES);
    }
  }
  store<u32>(state, sharedBytes, SHARED_ROW_BYTES);
  return true;
}

/** Returns false if the row already has a filled cell in this column. The fallback reader counts it. */
// @ts-ignore: decorator
@inline
function putView(state: usize, place: usize): bool {
  const cell = place * <usize>load<u32>(state, STRIDE) + <usize>load<u32>(state, ROWS);
  const view = <usize>load<u32>(state, VIEWS) + (cell << 3);
  if (load<u32>(view) != 0) return false;
  store<u8>(<usize>load<u32>(state, KINDS) + cell, <u8>valueKind);
  const texts = <usize>load<u32>(state, NULL_TEXTS);
  const isNull =
    valueBytes == 0
      ? load<u32>(state, EMPTY_IS_NULL) != 0
      : texts != 0 && mayBeNullText(texts, valueBytes) && isNullText(texts, valueAt, valueBytes);
  if (isNull) {
    store<u64>(view, 0);
    return true;
  }
  if (valueBytes == 0) store<u32>(state, 1, HAS_EMPTY);
  store<u32>(view, <u32>valueAt);
  store<u32>(view, valueBytes, 4);
  if (!isSharedValue) store<u32>(state, <u32>valueAt + valueBytes, TEXTS_AT);
  return true;
}

// Reads rows of a sheet's XML into views of their cells, for the forms that nearly all programs write. Scalar reference
// implementation: workers/input/xlsx/sheet-reader.ts, which reads all other forms tag by tag and reports errors.

/** `row` in the low three bytes, and `row>` as a word. */
const ROW_NAME: u32 = 0x776f72;
const ROW_CLOSES: u32 = 0x3e776f72;
const THREE_BYTES: u32 = 0xffffff;

const HIDDEN: u64 = 0x6e6564646968;
const TRUE: u32 = 0x65757274;

/** Maximum number of digits of a row number that this kernel handles. */
const ROW_DIGITS_MAX: usize = 9;

/** Continues from AT up to `end`, which must be followed by a fence (FENCE_BYTES). STATUS reports why it stopped. */
export function readSheet(state: usize, end: usize): void {
  usePrefix(state + PREFIX);
  store<u32>(state, 0, CLOSED);
  store<u32>(state, 0, SHARED_BYTES);
  let isInRow = load<u32>(state, IS_IN_ROW) != 0;
  let status = STATUS_MORE;
  let at = <usize>load<u32>(state, AT);
  for (;;) {
    at = afterSpaces(at, end);
    if (at >= end) break;
    let after: usize = 0;
    if (<u32>load<u8>(at) == LESS) {
      const isClosing = <u32>load<u8>(at, 1) == SLASH;
      const name = afterPrefix(at + 1 + <usize>isClosing);
      if (isInRow) {
        if (isClosing) {
          after = load<u32>(name) == ROW_CLOSES && load<u32>(state, IS_WIDE) == 0 ? name + 4 : 0;
          if (after != 0 && after <= end) {
            isInRow = false;
            at = after;
            if (!endRow(state)) continue;
            status = STATUS_FULL;
            break;
          }
        } else if (<u32>load<u8>(name) == LETTER_C && endsName(<u32>load<u8>(name, 1))) after = readCell(name + 1, end, state);
      } else if (!isClosing && (load<u32>(name) & THREE_BYTES) == ROW_NAME && endsName(<u32>load<u8>(name, 3))) {
        after = beginRow(name + 3, end, state);
        if (after != 0 && after <= end) isInRow = !isEmptyTag;
      }
    }
    if (after > end) break;
    if (after == 0) {
      status = STATUS_LEFT;
      break;
    }
    at = after;
  }
  store<u32>(state, <u32>at, AT);
  store<u32>(state, <u32>isInRow, IS_IN_ROW);
  store<u32>(state, status, STATUS);
}

/** Reads the attributes of a row's tag, whose name ends at `at`. */
function beginRow(at: usize, end: usize, state: usize): usize {
  let row = load<u32>(state, ROW) + 1;
  let isHidden = false;
  for (;;) {
    at = nextAttribute(at, end);
    if (at == 0 || at > end) return at;
    const nameBytes = nameEnd - nameStart;
    if (nameBytes == 0) break;
    if (nameBytes == 1 && <u32>load<u8>(nameStart) == LETTER_R) {
      const number = numberOf(valueStart, valueEnd);
      // The fallback reader decides about numbers that do not ascend.
      if (number < row) return 0;
      row = number;
    } else if (nameBytes == 6 && (load<u64>(nameStart) & 0xffffffffffff) == HIDDEN) isHidden = isTrue(valueStart, valueEnd);
  }
  if (<u32>load<u8>(at) == SLASH && <u32>load<u8>(at, 1) != 0x3e) return 0;
  at = afterTag(at, end);
  // The first row after the requested ones is left to the fallback reader.
  if (at > end || row > ROW_NUMBER_MAX || row > load<u32>(state, LAST_ROW)) return at > end ? at : 0;
  store<u32>(state, row, ROW);
  store<u32>(state, 0, NEXT_COLUMN);
  store<u32>(state, <u32>(row < load<u32>(state, FIRST_ROW) || (isHidden && load<u32>(state, SKIPS_HIDDEN) != 0)), IS_LEFT_OUT);
  store<u32>(state, <u32>(row < load<u32>(state, FIRST_DATA_ROW)), IS_PASSED_OVER);
  store<u32>(state, 1, IS_BLANK);
  store<u32>(state, 0, IS_WIDE);
  store<u32>(state, 0, ROW_BYTES);
  store<u32>(state, 0, HAS_EMPTY);
  return at;
}

/** Returns true if the batch is full or enough rows were completed. */
function endRow(state: usize): bool {
  if (load<u32>(state, IS_LEFT_OUT) != 0) return false;
  store<u32>(state, load<u32>(state, SHARED_BYTES) + load<u32>(state, SHARED_ROW_BYTES), SHARED_BYTES);
  store<u32>(state, 0, SHARED_ROW_BYTES);
  const closed = load<u32>(state, CLOSED) + 1;
  store<u32>(state, closed, CLOSED);
  const isEnough = closed >= load<u32>(state, CLOSED_MAX);
  if (load<u32>(state, IS_PASSED_OVER) != 0) return isEnough;
  if (load<u32>(state, IS_BLANK) != 0) {
    if (load<u32>(state, HAS_EMPTY) != 0) forgetRow(state);
    return isEnough;
  }
  const rows = load<u32>(state, ROWS) + 1;
  store<u32>((<usize>load<u32>(state, SHEET_ROWS)) + ((<usize>rows - 1) << 2), load<u32>(state, ROW));
  store<u32>(state, rows, ROWS);
  const free = load<u32>(state, TEXTS_END) - load<u32>(state, TEXTS_AT);
  return isEnough || rows >= load<u32>(state, ROWS_MAX) || free < load<u32>(state, FREE_BYTES_MIN);
}

/** Clears the empty texts of a blank row, so that they do not become cells of the next row. */
function forgetRow(state: usize): void {
  const step = (<usize>load<u32>(state, STRIDE)) << 3;
  let view = <usize>load<u32>(state, VIEWS) + ((<usize>load<u32>(state, ROWS)) << 3);
  for (let column = load<u32>(state, COLUMNS); column > 0; column--) {
    store<u64>(view, 0);
    view += step;
  }
}

/** Parses a row number. Returns 0 if it is invalid or too long. */
function numberOf(at: usize, end: usize): u32 {
  if (end - at > ROW_DIGITS_MAX) return 0;
  let value: u32 = 0;
  for (; at < end; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) return 0;
    value = value * 10 + digit;
  }
  return value;
}

function isTrue(at: usize, end: usize): bool {
  return (end - at == 1 && <u32>load<u8>(at) == 0x31) || (end - at == 4 && load<u32>(at) == TRUE);
}
