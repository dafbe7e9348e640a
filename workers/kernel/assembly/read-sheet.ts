// Reads rows of a sheet's XML into views of their cells, in the forms that nearly all programs write. Twin:
// workers/input/xlsx/sheet-reader.ts, which reads all others, tag by tag, and says what is wrong where something is.
import {
  AT,
  CLOSED,
  CLOSED_MAX,
  COLUMNS,
  FIRST_DATA_ROW,
  FIRST_ROW,
  FREE_BYTES_MIN,
  HAS_EMPTY,
  IS_BLANK,
  IS_IN_ROW,
  IS_LEFT_OUT,
  IS_PASSED_OVER,
  IS_WIDE,
  LAST_ROW,
  NEXT_COLUMN,
  PREFIX,
  ROW,
  ROW_BYTES,
  ROW_NUMBER_MAX,
  ROWS,
  ROWS_MAX,
  SHARED_BYTES,
  SHARED_ROW_BYTES,
  SHEET_ROWS,
  SKIPS_HIDDEN,
  STATUS,
  STRIDE,
  TEXTS_AT,
  TEXTS_END,
  VIEWS,
} from '../layout/sheet';
import { STATUS_FULL, STATUS_LEFT, STATUS_MORE } from '../layout/xml';
import { readCell } from './sheet-cells';
import {
  behindPrefix,
  behindSpaces,
  behindTag,
  endsName,
  isEmptyTag,
  LESS,
  nameEnd,
  nameStart,
  nextAttribute,
  SLASH,
  usePrefix,
  valueEnd,
  valueStart,
} from './sheet-tags';

const LETTER_C: u32 = 0x63;
const LETTER_R: u32 = 0x72;

/** `row` in the low three bytes, and `row>`. */
const ROW_NAME: u32 = 0x776f72;
const ROW_CLOSES: u32 = 0x3e776f72;
const THREE_BYTES: u32 = 0xffffff;

const HIDDEN: u64 = 0x6e6564646968;
const TRUE: u32 = 0x65757274;

/** Digits of a row's number that are read here. */
const ROW_DIGITS_MAX: usize = 9;

/** Goes on from AT up to `end`, behind which a fence stands (FENCE_BYTES), as far as STATUS tells. */
export function readSheet(state: usize, end: usize): void {
  usePrefix(state + PREFIX);
  store<u32>(state, 0, CLOSED);
  store<u32>(state, 0, SHARED_BYTES);
  let isInRow = load<u32>(state, IS_IN_ROW) != 0;
  let status = STATUS_MORE;
  let at = <usize>load<u32>(state, AT);
  for (;;) {
    at = behindSpaces(at, end);
    if (at >= end) break;
    let behind: usize = 0;
    if (<u32>load<u8>(at) == LESS) {
      const isClosing = <u32>load<u8>(at, 1) == SLASH;
      const name = behindPrefix(at + 1 + <usize>isClosing);
      if (isInRow) {
        if (isClosing) {
          behind = load<u32>(name) == ROW_CLOSES && load<u32>(state, IS_WIDE) == 0 ? name + 4 : 0;
          if (behind != 0 && behind <= end) {
            isInRow = false;
            at = behind;
            if (!endRow(state)) continue;
            status = STATUS_FULL;
            break;
          }
        } else if (<u32>load<u8>(name) == LETTER_C && endsName(<u32>load<u8>(name, 1))) behind = readCell(name + 1, end, state);
      } else if (!isClosing && (load<u32>(name) & THREE_BYTES) == ROW_NAME && endsName(<u32>load<u8>(name, 3))) {
        behind = beginRow(name + 3, end, state);
        if (behind != 0 && behind <= end) isInRow = !isEmptyTag;
      }
    }
    if (behind > end) break;
    if (behind == 0) {
      status = STATUS_LEFT;
      break;
    }
    at = behind;
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
      if (number == 0) return 0;
      row = max(row, number);
    } else if (nameBytes == 6 && (load<u64>(nameStart) & 0xffffffffffff) == HIDDEN) isHidden = isTrue(valueStart, valueEnd);
  }
  if (<u32>load<u8>(at) == SLASH && <u32>load<u8>(at, 1) != 0x3e) return 0;
  at = behindTag(at, end);
  // The row behind the last one that is wanted is the other reader's.
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

/** True when the batch takes no more rows, or enough of them ended. */
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

/** A blank row's empty texts are no cells of the next. */
function forgetRow(state: usize): void {
  const step = (<usize>load<u32>(state, STRIDE)) << 3;
  let view = <usize>load<u32>(state, VIEWS) + ((<usize>load<u32>(state, ROWS)) << 3);
  for (let column = load<u32>(state, COLUMNS); column > 0; column--) {
    store<u64>(view, 0);
    view += step;
  }
}

/** 0: it is none, or longer than those of rows are. */
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
