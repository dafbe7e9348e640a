// Writes live rows as rows of a spreadsheet's XML, by a program that workers/output/xlsx/sheet-program.ts lays out in memory
// (layout/sheet-program.ts). As in emit-csv.ts a row is written whole or not at all. Twin: kernel/plain/emit-sheet.ts.
import { META_BIG, META_NULL } from '../layout/cells';
import { KIND_BOOLEAN, KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TIME } from '../layout/native-kinds';
import {
  BOOLEAN_FORM,
  CELL_KIND,
  CELL_SECOND,
  CELL_SOURCE,
  CELL_STEP_BYTES,
  CELLS_BOOLEAN,
  CELLS_DATE,
  CELLS_DATETIME,
  CELLS_DECIMAL,
  CELLS_INTEGER,
  CELLS_NUMBER,
  CELLS_VIEWS,
  DATE_FORM,
  DATETIME_FORM,
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
} from '../layout/sheet-program';
import { putDigits } from './digits';
import { TYPED_BYTES_MAX, putDate, putDatetime, putDecimal, putInteger } from './emit-typed';
import { NO_SERIAL, putSerialDay, putSerialTime, putTimeOfDay, readDay, readDayAndTime, readTime } from './serial-dates';
import { hasEdgeSpace, putXml } from './xml-text';

/** Room of a cell beside its content: its opening, its row's number, its form, its end, and what stores overwrite. */
const CELL_EXTRA_BYTES: usize = OPEN_BYTES_MAX + 8 + FORM_BYTES_MAX + 32 + 32;
/** Room of a row's own tags. */
const ROW_EXTRA_BYTES: usize = 64;

/** Integers of more than NUMBER_DIGITS_MAX digits begin here. */
const DIGITS_LIMIT: i64 = 1_000_000_000_000_000;

/** Of a number's text: none so short is beyond the range of doubles, unless it has an exponent. */
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

/** The number of the row at hand: eight bytes and how many of them count. */
let rowDigits: u64 = 0;
let rowDigitsLength: usize = 0;
const DIGITS: usize = memory.data(16);

/** A number's text that only its twin can judge: the row is for the plain twin. */
const FOR_TWIN: usize = 0;

/**
 * Writes the rows at positions [from, to) of the selection into [out, limit) as far as they fit, and stops before a row that is
 * for the plain twin. Gives how many; SHEET_OUT_NEXT is the address behind them, ROW_NUMBER the number of the next.
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

/** One cell; null is none. 0 = no room, or for the twin. */
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

/** Whether a decimal has no more digits than a spreadsheet keeps; zeros at its end do not count. */
function isShort(unscaled: i64, scale: u32): bool {
  let value = unscaled;
  while (value >= DIGITS_LIMIT || value <= -DIGITS_LIMIT) {
    if (scale == 0 || value % 10 != 0) return false;
    value /= 10;
    scale--;
  }
  return true;
}

/** A text whose file says what it is. What does not read as that is a text. */
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

/** A number as its file writes it: plain ones of up to NUMBER_DIGITS_MAX digits here, all others by the twin. */
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

/** Texts of doubles are numbers, but for NaN and the infinities. */
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

/** Where the cell stands, and what it is. */
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
