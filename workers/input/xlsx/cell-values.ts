// From what stands in a cell to its canonical text and kind, by its type and its style.
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../kernel/layout/native-kinds.ts';
import {
  MEANING_DATE as DATE,
  MEANING_DATE_TIME as DATE_TIME,
  MEANING_PLAIN as PLAIN,
  MEANING_TIME as TIME,
} from '../../kernel/layout/sheet.ts';
import { CELL_BYTES_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import * as cells from './cell-kinds.ts';
import type { CellReader } from './cell-reader.ts';
import type { CellSink } from './cell-sink.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import { isCanonicalNumber, numberText } from './number-text.ts';
import { serialText } from './serial-date.ts';
import type { StringStore } from './string-store.ts';

const KIND_OF_MEANING: Readonly<Record<number, number>> = {
  [DATE]: KIND_DATE,
  [DATE_TIME]: KIND_DATETIME,
  [TIME]: KIND_TIME,
};

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

/** Dates of sheets that write them as ISO 8601, as they may stand there. */
const ISO = /^(\d{4}-\d{2}-\d{2})?(?:T?(\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?Z?)?$/;

/** Texts of serials that come again and again, as dates do; emptied at so many. */
const KNOWN_SERIALS_MAX = 4_096;

interface KnownSerial {
  readonly kind: number;
  readonly bytes: Buffer;
}

export interface CellValuesParts {
  readonly strings: StringStore | null;
  /** MEANING of numbers by style. */
  readonly styles: Uint8Array;
  readonly is1904: boolean;
}

export class CellValues {
  readonly #strings: StringStore | null;
  readonly #styles: Uint8Array;
  readonly #is1904: boolean;
  /** By meaning. */
  readonly #serials: readonly Map<number, KnownSerial | null>[] = [DATE, DATE_TIME, TIME].map(() => new Map());

  constructor({ strings, styles, is1904 }: CellValuesParts) {
    this.#strings = strings;
    this.#styles = styles;
    this.#is1904 = is1904;
  }

  /** Bytes of texts of the row so far that stand elsewhere: one shared string may be in a million cells. */
  sharedBytes = 0;

  /** Throws Failed. */
  give(cell: CellReader, column: number, sink: CellSink): void {
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

  #shared({ bytes, start, end }: CellReader, column: number, sink: CellSink): void {
    const strings = this.#strings;
    const index = wholeNumber(bytes, start, end);
    if (!strings?.find(index)) throw malformedWorkbook('a cell names a shared string that is not there');
    this.sharedBytes += strings.end - strings.start;
    if (this.sharedBytes > ROW_BYTES_MAX) throw malformedWorkbook('a row is too long');
    sink.cell(column, KIND_TEXT, strings.bytes, strings.start, strings.end, strings.stays);
  }

  #boolean({ bytes, start, end }: CellReader, column: number, sink: CellSink): void {
    const text = bytes.toString('latin1', start, end).trim().toLowerCase();
    const value = text === '1' || text === 'true' ? TRUE : FALSE;
    sink.cell(column, KIND_BOOLEAN, value, 0, value.length);
  }

  #number(cell: CellReader, column: number, sink: CellSink): void {
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

  /** False for a number that is no date. */
  #serial(serial: number, meaning: number, column: number, sink: CellSink): boolean {
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

  #isoDate({ bytes, start, end }: CellReader, column: number, sink: CellSink): void {
    const [, date, minutes, seconds = ':00'] = ISO.exec(bytes.toString('latin1', start, end).trim()) ?? [];
    const short = seconds.includes('.') ? seconds.replace(/\.?0+$/, '') : seconds;
    const time = minutes === undefined ? null : minutes + short;
    if (date !== undefined && time !== null) give(`${date}T${time}`, KIND_DATETIME, column, sink);
    else if (date !== undefined) give(date, KIND_DATE, column, sink);
    else if (time !== null) give(time, KIND_TIME, column, sink);
    else sink.cell(column, KIND_TEXT, bytes, start, end);
  }
}

function give(text: string, kind: number, column: number, sink: CellSink): void {
  const bytes = Buffer.from(text, 'latin1');
  sink.cell(column, kind, bytes, 0, bytes.length);
}

/** Of digits alone, as days are, without a text for them. */
function numberOf(bytes: Buffer, start: number, end: number): number {
  const whole = end - start < 9 ? wholeNumber(bytes, start, end) : -1;
  return whole >= 0 ? whole : Number(bytes.toString('latin1', start, end));
}

/** -1 for what is none. */
function wholeNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9 || value > 1e9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
