// Converts the content of a cell to its canonical text and kind: numbers, dates and texts, by the type and the style of
// the cell.

import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../kernel/layout/cells.ts';
import {
  MEANING_DATE as DATE,
  MEANING_DATE_TIME as DATE_TIME,
  MEANING_PLAIN as PLAIN,
  MEANING_TIME as TIME,
} from '../../kernel/layout/sheet.ts';
import { DAY_MAX, dateText, dayNumber } from '../../values/timestamp.ts';
import { CELL_BYTES_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import * as cells from './cell-kinds.ts';
import type { CellReader } from './cell-reader.ts';
import type { CellSink } from './cell-sink.ts';
import { malformedWorkbook } from './limits.ts';
import type { StringStore } from './string-store.ts';

// The canonical text of a number in a workbook. A whole number that the file stores as digits keeps all its digits,
// because it is probably an id. Any other number becomes the shortest text of its value with 15 significant digits, the
// precision of spreadsheet programs, without an exponent up to 21 digits.

const DIGITS_MAX = 15;
const PLAIN_DIGITS_MAX = 21;

/** Maximum number of digits with which any whole number is in the range of doubles. Longer numbers are texts. */
const WHOLE_DIGITS_MAX = 308;

/** True if the text is already canonical, so that nothing has to be computed. */
function isCanonicalNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  if (bytes[at] === 0x2d) at++;
  const first = bytes[at]!;
  let digits = 0;
  const whole = at;
  for (; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) break;
    digits++;
  }
  if (digits === 0 || (first === 0x30 && digits > 1)) return false;
  if (at === end) return digits <= WHOLE_DIGITS_MAX && (first !== 0x30 || whole === start);
  if (bytes[at] !== 0x2e) return false;
  at++;
  if (at === end) return false;
  for (; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return false;
    digits++;
  }
  return digits <= DIGITS_MAX && bytes[end - 1] !== 0x30;
}

/** A whole number in digits, optionally with a fraction of zeros. */
const WHOLE = /^\s*(?:(-)|\+?)0*(\d+)(?:\.0*)?\s*$/;

/** Returns null if the text is not a number. */
function numberText(text: string): string | null {
  if (!/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  const [, minus, wholeDigits] = WHOLE.exec(text) ?? [];
  if (wholeDigits !== undefined) return wholeDigits === '0' ? '0' : (minus ?? '') + wholeDigits;
  const rounded = Number(value.toPrecision(DIGITS_MAX));
  if (rounded === 0) return '0';
  const short = String(rounded);
  if (!short.includes('e')) return short;
  const [, sign, whole, fraction = '', exponentText] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(short)!;
  const exponent = Number(exponentText);
  const digits = whole! + fraction;
  if (exponent > 0 || digits.length - exponent > PLAIN_DIGITS_MAX) return short;
  return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
}

// Numbers that are dates: days since the start of 1900 or 1904, with the time as fraction.

const DAY_MILLISECONDS = 86_400_000;

/** 29 February 1900, a day that never existed but that the 1900 calendar counts (Lotus 1-2-3). */
const FALSE_LEAP_DAY = 60;

export interface SerialText {
  /** MEANING of the text, which may differ from the meaning of the number format. */
  readonly meaning: number;
  readonly text: string;
}

/** Returns null if the number is not a date: before the first day, the false leap day, or after the year 9999. */
function serialText(serial: number, meaning: number, is1904: boolean): SerialText | null {
  if (!(serial >= 0)) return null;
  const milliseconds = Math.round(serial * DAY_MILLISECONDS);
  const day = Math.floor(milliseconds / DAY_MILLISECONDS);
  const time = milliseconds - day * DAY_MILLISECONDS;
  const isTimeOnly = day === 0 && (meaning === TIME || (!is1904 && (meaning === DATE_TIME || time > 0)));
  if (isTimeOnly) return { meaning: TIME, text: timeText(time) };
  if (!is1904 && (day === 0 || day === FALSE_LEAP_DAY)) return null;
  const days = is1904 ? dayNumber(1904, 1, 1) + day : dayNumber(1899, 12, day > FALSE_LEAP_DAY ? 30 : 31) + day;
  if (days > DAY_MAX) return null;
  if (meaning === DATE && time === 0) return { meaning: DATE, text: dateText(days) };
  return { meaning: DATE_TIME, text: `${dateText(days)}T${timeText(time)}` };
}

/** For example `13:05:00`, with a fraction only if it is not zero. */
function timeText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const rest = milliseconds % 1000;
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(3, '0').replace(/0+$/, '')}`;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`;
}

// Converts the content of a cell to its canonical text and kind, by the type and the style of the cell.

const KIND_OF_MEANING: Readonly<Record<number, number>> = {
  [DATE]: KIND_DATE,
  [DATE_TIME]: KIND_DATETIME,
  [TIME]: KIND_TIME,
};

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

/** Dates in ISO 8601, which some programs write into sheets. */
const ISO = /^(\d{4}-\d{2}-\d{2})?(?:T?(\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?Z?)?$/;

/** Maximum number of cached texts of serial numbers, as dates repeat often. The cache is cleared when it is full. */
const KNOWN_SERIALS_MAX = 4_096;

interface KnownSerial {
  readonly kind: number;
  readonly bytes: Buffer;
}

export interface CellValuesParts {
  readonly strings: StringStore | null;
  /** MEANING of numbers, indexed by style. */
  readonly styles: Uint8Array;
  readonly is1904: boolean;
}

/** The part of a sink that receives the cells of a row. */
type CellTaker = Pick<CellSink, 'cell' | 'lost'>;

export class CellValues {
  readonly #strings: StringStore | null;
  readonly #styles: Uint8Array;
  readonly #is1904: boolean;
  /** Cached texts, one map per meaning. */
  readonly #serials: readonly Map<number, KnownSerial | null>[] = [DATE, DATE_TIME, TIME].map(() => new Map());

  constructor({ strings, styles, is1904 }: CellValuesParts) {
    this.#strings = strings;
    this.#styles = styles;
    this.#is1904 = is1904;
  }

  /**
   * Number of bytes of shared strings in the row so far. They are counted because one shared string may occur in a
   * million cells.
   */
  sharedBytes = 0;

  /** Passes a cell to the sink. Throws Failed. */
  give(cell: CellReader, column: number, sink: CellTaker): void {
    const { bytes, start, end, type } = cell;
    if (end - start > CELL_BYTES_MAX) throw malformedWorkbook('a cell is too long');
    switch (type) {
      case cells.TYPE_SHARED:
        if (end > start) this.#shared(cell, column, sink);
        return;
      case cells.TYPE_INLINE:
      case cells.TYPE_FORMULA_TEXT:
        if (cell.hasValue) sink.cell(column, KIND_TEXT, bytes, start, end);
        else if (cell.hasFormula) sink.lost(column, 'NO_CACHED_VALUE', bytes, start, end);
        return;
      case cells.TYPE_ERROR:
        sink.lost(column, 'XLSX_ERROR', bytes, start, end);
        return;
    }
    if (end === start) {
      if (cell.hasFormula) sink.lost(column, 'NO_CACHED_VALUE', bytes, start, end);
    } else if (type === cells.TYPE_BOOLEAN) this.#boolean(cell, column, sink);
    else if (type === cells.TYPE_DATE) this.#isoDate(cell, column, sink);
    else this.#number(cell, column, sink);
  }

  #shared({ bytes, start, end }: CellReader, column: number, sink: CellTaker): void {
    const strings = this.#strings;
    const index = wholeNumber(bytes, start, end);
    if (!strings?.find(index)) throw malformedWorkbook('a cell refers to a shared string that does not exist');
    this.sharedBytes += strings.end - strings.start;
    if (this.sharedBytes > ROW_BYTES_MAX) throw malformedWorkbook('a row is too long');
    sink.cell(column, KIND_TEXT, strings.bytes, strings.start, strings.end, strings.stays);
  }

  #boolean({ bytes, start, end }: CellReader, column: number, sink: CellTaker): void {
    const text = bytes.toString('latin1', start, end).trim().toLowerCase();
    const value = text === '1' || text === 'true' ? TRUE : FALSE;
    sink.cell(column, KIND_BOOLEAN, value, 0, value.length);
  }

  #number(cell: CellReader, column: number, sink: CellTaker): void {
    const { bytes, start, end, style } = cell;
    const meaning = style < this.#styles.length ? this.#styles[style]! : PLAIN;
    if (meaning !== PLAIN && this.#serial(numberOf(bytes, start, end), meaning, column, sink)) return;
    if (isCanonicalNumber(bytes, start, end)) {
      sink.cell(column, KIND_NUMBER, bytes, start, end);
      return;
    }
    const text = numberText(bytes.toString('latin1', start, end));
    if (text === null) sink.cell(column, KIND_TEXT, bytes, start, end);
    else give(text, KIND_NUMBER, column, sink);
  }

  /** Returns false if the number is not a date. */
  #serial(serial: number, meaning: number, column: number, sink: CellTaker): boolean {
    const serials = this.#serials[meaning - DATE]!;
    let known = serials.get(serial);
    if (known === undefined) {
      if (serials.size >= KNOWN_SERIALS_MAX) serials.clear();
      const found = serialText(serial, meaning, this.#is1904);
      known = found === null ? null : { kind: KIND_OF_MEANING[found.meaning]!, bytes: Buffer.from(found.text) };
      serials.set(serial, known);
    }
    if (known === null) return false;
    sink.cell(column, known.kind, known.bytes, 0, known.bytes.length);
    return true;
  }

  #isoDate({ bytes, start, end }: CellReader, column: number, sink: CellTaker): void {
    const [, date, minutes, seconds = ':00'] = ISO.exec(bytes.toString('latin1', start, end).trim()) ?? [];
    const short = seconds.includes('.') ? seconds.replace(/\.?0+$/, '') : seconds;
    const time = minutes === undefined ? null : minutes + short;
    if (date !== undefined && time !== null) give(`${date}T${time}`, KIND_DATETIME, column, sink);
    else if (date !== undefined) give(date, KIND_DATE, column, sink);
    else if (time !== null) give(time, KIND_TIME, column, sink);
    else sink.cell(column, KIND_TEXT, bytes, start, end);
  }
}

function give(text: string, kind: number, column: number, sink: CellTaker): void {
  const bytes = Buffer.from(text, 'latin1');
  sink.cell(column, kind, bytes, 0, bytes.length);
}

/** Parses texts of digits, as of days, without creating a string. */
function numberOf(bytes: Buffer, start: number, end: number): number {
  const whole = end - start < 9 ? wholeNumber(bytes, start, end) : -1;
  return whole >= 0 ? whole : Number(bytes.toString('latin1', start, end));
}

/** Returns -1 if the bytes are not a whole number. */
function wholeNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9 || value > 1e9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
