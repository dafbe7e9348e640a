// Writes live rows as rows of a spreadsheet's XML, and texts as content of XML elements.
import { TYPED_BYTES_MAX, maskOf, putDate, putDatetime, putDecimal, putInteger } from './emit-cells';
import { KIND_BOOLEAN, KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TIME, META_BIG, META_NULL } from '../layout/cells';
import {
  BOOLEAN_FORM,
  CELLS_BOOLEAN,
  CELLS_DATE,
  CELLS_DATETIME,
  CELLS_DECIMAL,
  CELLS_INTEGER,
  CELLS_NUMBER,
  CELLS_VIEWS,
  CELL_KIND,
  CELL_SECOND,
  CELL_SOURCE,
  CELL_STEP_BYTES,
  DATETIME_FORM,
  DATE_FORM,
  FORM_BYTES_MAX,
  NUMBER_DIGITS_MAX,
  NUMBER_FORM,
  OPEN_AT,
  OPEN_BYTES_MAX,
  OPEN_LENGTH,
  ROW_NUMBER,
  SHEET_HEAD_BYTES,
  SHEET_OUT_NEXT,
  SHEET_STEPS,
  TEXT_FORM,
  TIME_FORM,
  XML_ESCAPE_BYTES_MAX,
} from '../layout/output-program';
import { putDigits } from './numbers';
import { NO_SERIAL, putSerialDay, putSerialTime, putTimeOfDay, readDay, readDayAndTime, readTime } from './dates';
import { viewOf } from './cell';

// Writes texts as content of XML elements. Characters that XML 1.0 does not allow are written as spreadsheets do,
// _x0000_. Scalar reference implementation: kernel/plain/emit-sheet.ts.

/**
 * Copies and escapes [start, end), which must be valid UTF-8. Control characters except tab and line feed, U+FFFE and
 * U+FFFF become `_xHHHH_`, and so does the first underscore of a text that looks like such an escape. Overwrites up to
 * 16 bytes after the end.
 */
function putXml(out: usize, start: usize, end: usize): usize {
  let at = start;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(out, bytes);
    const left = end - at;
    const mask = maskOf(suspects(bytes), left);
    if (mask == 0) {
      const length: usize = left < 16 ? left : 16;
      at += length;
      out += length;
      continue;
    }
    const clean = <usize>ctz(mask);
    at += clean;
    out += clean;
    const byte = <u32>load<u8>(at);
    if (byte == 0x5f && !readsAsEscape(at, end)) out++;
    else if (byte == 0xef && !isNoCharacter(at)) out++;
    else if (byte == 0x09 || byte == 0x0a) out++;
    else {
      out = putEscape(out, at, byte);
      if (byte == 0xef) at += 2;
    }
    at++;
  }
  return out;
}

/** True if XML readers would drop the first or last character, because it is white space. */
// @ts-ignore: decorator
@inline
function hasEdgeSpace(start: usize, end: usize): bool {
  if (start == end) return false;
  const first = <u32>load<u8>(start), last = <u32>load<u8>(end - 1);
  return isSpace(first) || isSpace(last);
}

// @ts-ignore: decorator
@inline
function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x09 || byte == 0x0a;
}

/** Bit mask of the bytes that may need to be escaped. */
// @ts-ignore: decorator
@inline
function suspects(bytes: v128): u32 {
  const controls = i8x16.eq(i8x16.min_u(bytes, i8x16.splat(0x1f)), bytes);
  // '<' and '>' differ in one bit.
  const angles = i8x16.eq(v128.or(bytes, i8x16.splat(2)), i8x16.splat(0x3e));
  const signs = v128.or(i8x16.eq(bytes, i8x16.splat(0x26)), i8x16.eq(bytes, i8x16.splat(0x5f)));
  const wide = i8x16.eq(bytes, i8x16.splat(<i8>0xef));
  return <u32>i8x16.bitmask(v128.or(v128.or(controls, angles), v128.or(signs, wide)));
}

/** `_xHHHH_` */
function readsAsEscape(at: usize, end: usize): bool {
  if (end - at < 7 || load<u8>(at, 1) != 0x78 || load<u8>(at, 6) != 0x5f) return false;
  for (let i: usize = 2; i < 6; i++) {
    const byte = <u32>load<u8>(at + i);
    const isHex = byte - 0x30 < 10 || (byte | 0x20) - 0x61 < 6;
    if (!isHex) return false;
  }
  return true;
}

/** U+FFFE or U+FFFF. */
function isNoCharacter(at: usize): bool {
  return load<u8>(at, 1) == 0xbf && load<u8>(at, 2) >= 0xbe;
}

function putEscape(out: usize, at: usize, byte: u32): usize {
  if (byte == 0x26) {
    store<u32>(out, 0x706d6126);
    store<u8>(out, 0x3b, 4);
    return out + 5;
  }
  if (byte == 0x3c || byte == 0x3e) {
    store<u32>(out, byte == 0x3c ? 0x3b746c26 : 0x3b746726);
    return out + 4;
  }
  const code: u32 = byte == 0xef ? 0xff40 + <u32>load<u8>(at, 2) : byte;
  store<u16>(out, 0x785f);
  for (let i: usize = 0; i < 4; i++) store<u8>(out + 2 + i, hexDigit((code >> (12 - 4 * <u32>i)) & 15));
  store<u8>(out, 0x5f, 6);
  return out + 7;
}

// @ts-ignore: decorator
@inline
function hexDigit(value: u32): u8 {
  return <u8>(value < 10 ? 0x30 + value : 0x37 + value);
}

// Writes live rows as rows of a spreadsheet's XML. workers/output/xlsx/xlsx-writer.ts builds the program in memory
// (layout/output-program.ts). Each row is written completely or not at all, as in emit-csv.ts. Scalar reference
// implementation: kernel/plain/emit-sheet.ts.

/** Extra bytes of a cell: its opening, row number, form, closing, and what block copies overwrite. */
const CELL_EXTRA_BYTES: usize = OPEN_BYTES_MAX + 8 + FORM_BYTES_MAX + 32 + 32;
/** Extra bytes of a row's tags. */
const ROW_EXTRA_BYTES: usize = 64;

/** The smallest integer with more than NUMBER_DIGITS_MAX digits. */
const DIGITS_LIMIT: i64 = 1_000_000_000_000_000;

/**
 * Maximum length of a number's text that this kernel handles. Without an exponent, a number of at most this length is
 * within the range of doubles.
 */
const NUMBER_BYTES_MAX: usize = 300;

const ROW_OPEN: usize = memory.data<u8>([0x3c, 0x72, 0x6f, 0x77, 0x20, 0x72, 0x3d, 0x22]);
const ROW_END: u64 = 0x3e776f722f3c;
const VALUE_END: u64 = 0x3e632f3c3e762f3c;
/** `</t></is></c>` */
const TEXT_END: usize = memory.data<u8>([0x3c, 0x2f, 0x74, 0x3e, 0x3c, 0x2f, 0x69, 0x73, 0x3e, 0x3c, 0x2f, 0x63, 0x3e, 0, 0, 0]);
const TEXT_END_LENGTH: usize = 13;
/** ` xml:space="preserve">` */
const PRESERVE: usize = memory.data<u8>([
  0x20, 0x78, 0x6d, 0x6c, 0x3a, 0x73, 0x70, 0x61, 0x63, 0x65, 0x3d, 0x22, 0x70, 0x72, 0x65, 0x73, 0x65, 0x72, 0x76, 0x65, 0x22, 0x3e,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);
const PRESERVE_LENGTH: usize = 22;
const MINUS: u32 = 0x2d;
const POINT: u32 = 0x2e;

/** Digits of the current row's number: eight bytes, and how many of them count. */
let rowDigits: u64 = 0;
let rowDigitsLength: usize = 0;
const DIGITS: usize = memory.data(16);

/** Returned for a number that only the scalar implementation can decide. It then writes the whole row. */
const FOR_TWIN: usize = 0;

/**
 * Writes the rows at positions [from, to) of the selection into [out, limit) as long as they fit. Stops before a row
 * for the scalar implementation. Returns the number of rows written. Sets SHEET_OUT_NEXT to the address after them and
 * ROW_NUMBER to the next row's number.
 */
export function emitSheet(program: usize, selection: usize, from: u32, to: u32, out: usize, limit: usize): u32 {
  const steps = program + SHEET_HEAD_BYTES;
  const stepsEnd = steps + <usize>load<u32>(program, SHEET_STEPS) * CELL_STEP_BYTES;
  let number = load<u32>(program, ROW_NUMBER);
  let at = out;
  let position = from;
  for (; position < to; position++, number++) {
    if (at + ROW_EXTRA_BYTES > limit) break;
    const physical = <usize>load<u32>(selection + ((<usize>position) << 2));
    rowDigitsLength = putDigits(DIGITS, number, 1) - DIGITS;
    rowDigits = load<u64>(DIGITS);
    store<u64>(at, load<u64>(ROW_OPEN));
    store<u64>(at + 8, rowDigits);
    let next = at + 8 + rowDigitsLength;
    store<u16>(next, 0x3e22);
    next += 2;
    for (let step = steps; step < stepsEnd; step += CELL_STEP_BYTES) {
      next = cell(step, physical, next, limit);
      if (next == 0) break;
    }
    if (next == 0 || next + ROW_EXTRA_BYTES > limit) break;
    store<u64>(next, ROW_END);
    at = next + 6;
  }
  store<u32>(program, <u32>at, SHEET_OUT_NEXT);
  store<u32>(program, number, ROW_NUMBER);
  return position - from;
}

/** Writes one cell. A null cell is omitted. Returns 0 if the cell does not fit or needs the scalar implementation. */
// @ts-ignore: decorator
@inline
function cell(step: usize, physical: usize, out: usize, limit: usize): usize {
  const kind = load<u32>(step, CELL_KIND);
  const source = <usize>load<u32>(step, CELL_SOURCE);
  if (kind <= CELLS_NUMBER) {
    const view = source + (physical << 3);
    const start = <usize>load<u32>(view);
    if (start == 0) return out;
    const length = <usize>load<u32>(view, 4);
    if (out + length * XML_ESCAPE_BYTES_MAX + CELL_EXTRA_BYTES > limit) return 0;
    if (kind == CELLS_NUMBER) return numberText(step, start, start + length, out);
    const kinds = <usize>load<u32>(step, CELL_SECOND);
    if (kinds == 0) return text(step, start, start + length, out);
    return native(step, <u32>load<u8>(kinds + physical), start, start + length, out);
  }
  return typed(step, kind, source, physical, out, limit);
}

function typed(step: usize, kind: u32, source: usize, physical: usize, out: usize, limit: usize): usize {
  const meta = <u32>load<u8>(<usize>load<u32>(step, CELL_SECOND) + physical);
  if (meta == META_NULL) return out;
  if (out + TYPED_BYTES_MAX + CELL_EXTRA_BYTES > limit) return 0;
  if (kind == CELLS_BOOLEAN) return boolean(step, meta != 0, out);
  const value = load<i64>(source + (physical << 3));
  if (kind == CELLS_INTEGER) {
    if (value < DIGITS_LIMIT && value > -DIGITS_LIMIT) return closeValue(putInteger(open(step, NUMBER_FORM, out), value));
    return closeText(putInteger(openText(step, out), value));
  }
  if (kind == CELLS_DECIMAL) {
    if (meta == META_BIG) return FOR_TWIN;
    if (isShort(value, meta)) return closeValue(putDecimal(open(step, NUMBER_FORM, out), value, meta, POINT));
    return closeText(putDecimal(openText(step, out), value, meta, POINT));
  }
  const isDate = kind == CELLS_DATE;
  const at = open(step, isDate ? DATE_FORM : DATETIME_FORM, out);
  const next = isDate ? putSerialDay(at, value) : putSerialTime(at, value);
  if (next != 0) return closeValue(next);
  const begun = openText(step, out);
  return closeText(isDate ? putDate(begun, value) : putDatetime(begun, value));
}

/** True if a decimal has no more digits than a spreadsheet keeps. Trailing zeros do not count. */
function isShort(unscaled: i64, scale: u32): bool {
  let value = unscaled;
  while (value >= DIGITS_LIMIT || value <= -DIGITS_LIMIT) {
    if (scale == 0 || value % 10 != 0) return false;
    value /= 10;
    scale--;
  }
  return true;
}

/** Writes a text with a native kind. A text that does not have the form of its kind is written as text. */
function native(step: usize, kind: u32, start: usize, end: usize, out: usize): usize {
  if (kind == KIND_NUMBER) return nativeNumber(step, start, end, out);
  if (kind == KIND_BOOLEAN) {
    const length = end - start;
    if (length == 4 && load<u32>(start) == 0x65757274) return boolean(step, true, out);
    if (length == 5 && load<u32>(start) == 0x736c6166) return boolean(step, false, out);
  } else if (kind == KIND_DATE) {
    const days = readDay(start, end);
    const next = days == NO_SERIAL ? 0 : putSerialDay(open(step, DATE_FORM, out), days);
    if (next != 0) return closeValue(next);
  } else if (kind == KIND_DATETIME) {
    const micros = readDayAndTime(start, end);
    const next = micros == NO_SERIAL ? 0 : putSerialTime(open(step, DATETIME_FORM, out), micros);
    if (next != 0) return closeValue(next);
  } else if (kind == KIND_TIME) {
    const micros = readTime(start, end);
    if (micros != NO_SERIAL) return closeValue(putTimeOfDay(open(step, TIME_FORM, out), micros));
  }
  return text(step, start, end, out);
}

/**
 * Writes a number from a typed file. Handles numbers without an exponent of up to NUMBER_DIGITS_MAX digits. All others
 * need the scalar implementation.
 */
function nativeNumber(step: usize, start: usize, end: usize, out: usize): usize {
  if (end - start > NUMBER_BYTES_MAX) return FOR_TWIN;
  let at = start < end && <u32>load<u8>(start) == MINUS ? start + 1 : start;
  let points: u32 = 0, digits: u32 = 0, zeros: u32 = 0;
  const first = at;
  for (; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == POINT && at > first) points++;
    else if (byte - 0x30 > 9) return FOR_TWIN;
    else if (byte != 0x30) {
      digits += zeros + 1;
      zeros = 0;
    } else if (digits != 0) zeros++;
  }
  if (at == first || points > 1 || digits > NUMBER_DIGITS_MAX || <u32>load<u8>(end - 1) == POINT) return FOR_TWIN;
  return closeValue(copyShort(open(step, NUMBER_FORM, out), start, end));
}

/** Writes a formatted double as a number, or as text for NaN and the infinities. */
function numberText(step: usize, start: usize, end: usize, out: usize): usize {
  const first = <u32>load<u8>(start);
  const digit = first == MINUS ? <u32>load<u8>(start, 1) : first;
  if (digit - 0x30 > 9) return text(step, start, end, out);
  return closeValue(copyShort(open(step, NUMBER_FORM, out), start, end));
}

// @ts-ignore: decorator
@inline
function text(step: usize, start: usize, end: usize, out: usize): usize {
  const at = open(step, TEXT_FORM, out);
  if (!hasEdgeSpace(start, end)) {
    store<u8>(at, 0x3e);
    return closeText(putXml(at + 1, start, end));
  }
  v128.store(at, v128.load(PRESERVE));
  v128.store(at, v128.load(PRESERVE, 16), 16);
  return closeText(putXml(at + PRESERVE_LENGTH, start, end));
}

function openText(step: usize, out: usize): usize {
  const at = open(step, TEXT_FORM, out);
  store<u8>(at, 0x3e);
  return at + 1;
}

function boolean(step: usize, value: bool, out: usize): usize {
  const at = open(step, BOOLEAN_FORM, out);
  store<u8>(at, value ? 0x31 : 0x30);
  return closeValue(at + 1);
}

/** Writes the cell's position and type. */
// @ts-ignore: decorator
@inline
function open(step: usize, form: usize, out: usize): usize {
  v128.store(out, v128.load(<usize>load<u32>(step, OPEN_AT)));
  const number = out + <usize>load<u32>(step, OPEN_LENGTH);
  store<u64>(number, rowDigits);
  const at = number + rowDigitsLength;
  const words = <usize>load<u32>(step + form);
  v128.store(at, v128.load(words));
  v128.store(at, v128.load(words, 16), 16);
  v128.store(at, v128.load(words, 32), 32);
  return at + <usize>load<u32>(step + form + 4);
}

// @ts-ignore: decorator
@inline
function closeValue(out: usize): usize {
  store<u64>(out, VALUE_END);
  return out + 8;
}

// @ts-ignore: decorator
@inline
function closeText(out: usize): usize {
  v128.store(out, v128.load(TEXT_END));
  return out + TEXT_END_LENGTH;
}

// @ts-ignore: decorator
@inline
function copyShort(out: usize, start: usize, end: usize): usize {
  let target = out;
  for (let at = start; at < end; at += 16, target += 16) v128.store(target, v128.load(at));
  return out + (end - start);
}

// Finds texts with more UTF-16 units than a file format allows in a cell.

/**
 * Writes the positions (u32 each) of the row list whose text has more than `unitsMax` units to `found`. Returns their
 * number.
 */
export function findLongTexts(views: usize, rows: usize, count: u32, unitsMax: u32, found: usize): u32 {
  let next = found;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    // Each unit takes at least one byte.
    if (load<u32>(view, 4) <= unitsMax || load<u32>(view) == 0) continue;
    const start = <usize>load<u32>(view);
    if (unitsOf(start, start + <usize>load<u32>(view, 4)) <= unitsMax) continue;
    store<u32>(next, i);
    next += 4;
  }
  return <u32>(next - found) >> 2;
}

/** Counts one unit per character, and two for characters of four bytes. */
function unitsOf(start: usize, end: usize): u32 {
  let units: u32 = 0;
  for (let at = start; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}
