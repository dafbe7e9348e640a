// Looks whether the header row and the rows below it are cut alike by what was detected. A delimiter that the header does
// not hold cannot be the one at which data rows overflow: then the file has one column, another delimiter, or nobody
// can say, and the file is refused rather than its cells dropped.
import { bodyBelow, compareWithBody, isBlank } from './body-comparison.ts';
import { cellKind, isDataKind } from './cell-kind.ts';
import { detectDialect, EVEN_SHARE, USUAL_DELIMITERS } from './dialect.ts';
import { HEADER_RECORDS_MAX } from './header-row.ts';
import type { Cells } from './records.ts';
import type { Dialect, Sample } from './sample.ts';
import type { Samples } from './samples.ts';

/** Rows below the header that are looked at: the detector has seen the others. */
const BODY_RECORDS = 100;

/** Rows that show how data are cut; a single one may be the exception. */
const ROWS_MIN = 2;

export interface FittedDialect extends Dialect {
  /** True: nothing separates fields, whatever stands in the rows. */
  readonly oneColumn: boolean;
  /** The delimiter stands in the rows, but as a mark of texts and numbers. */
  readonly isDenied: boolean;
  /** Rows have one field more than the header: which column lacks a name. */
  readonly nameless?: 'first' | 'last';
}

/** A column of numbers under a name: `1,50` is one cell, whatever a comma is elsewhere. Null where it is none. */
export function numberColumn(samples: Samples): FittedDialect | null {
  const first = samples.firstFilledLine;
  if (USUAL_DELIMITERS.some((delimiter) => first.includes(delimiter)) || isDataKind(cellKind(first))) return null;
  const lines = samples.of({ delimiter: '', quote: '' });
  let isName = true;
  let hasComma = false;
  for (let record = 0; lines.has(record); record++) {
    const [line = ''] = lines.at(record);
    if (isBlank(line)) continue;
    const isCut = !isName && line.includes(',');
    if (isCut && !isDataKind(cellKind(line))) return null;
    hasComma ||= isCut;
    isName = false;
  }
  return hasComma ? ONE_COLUMN : null;
}

const ONE_COLUMN: FittedDialect = { delimiter: '', quote: '"', oneColumn: true, isDenied: true };

/**
 * One word right above lines of words only: it may be the name of one column, whose cells hold a delimiter, as well as a
 * title above a header. Numbers below would tell. The reader is not to take the first row for a header on that ground.
 * @returns its record, null where there is no such word
 */
export function loneName(records: Sample, headerRow: number): number | null {
  const row = firstFilled(records, headerRow);
  if (row !== headerRow - 1 || records.width(row) > 1 || !/^\S+[^\s:]$/.test(records.at(row)[0]!)) return null;
  return compareWithBody(records.at(headerRow), bodyBelow(records, headerRow)).typed === 0 ? row : null;
}

/**
 * @param headerRow 0-based record; null: there is none, and the first record tells how many columns there are
 * @returns null where header and rows do not fit together
 */
export function fitHeader(samples: Samples, dialect: Dialect, headerRow: number | null): FittedDialect | null {
  const cut = new Cut(samples.of(dialect), headerRow);
  const { width } = cut;
  const fitted = { ...dialect, oneColumn: false, isDenied: false };
  if (width === 0) return fitted;
  if (width > 1) {
    if (hasOtherDelimiter(samples, cut, dialect, headerRow)) return null;
    const nameless = headerRow === null ? null : namelessColumn(cut, dialect.delimiter);
    return nameless === null ? fitted : { ...fitted, nameless };
  }
  if (cut.bodyWidths.every((fields) => fields === 1)) return { ...fitted, oneColumn: true };
  const body = cut.bodyTexts();
  const wide = body.filter(isOverflowing);
  if (wide.length === 0) return fitted;
  const name = cut.headerTexts()[0]!;
  const others = USUAL_DELIMITERS.filter((other) => other !== dialect.delimiter && name.includes(other));
  const fitting = others.find((other) => isFitting(new Cut(samples.of(dialectOf(samples, other)), headerRow)));
  if (fitting !== undefined) return { ...fitted, ...dialectOf(samples, fitting) };
  if (others.length > 0) return null;
  const isMark = isMarkOf(wide, dialect);
  const isColumn = isMark || body.length < ROWS_MIN || wide.length * 2 <= body.length;
  return isColumn ? { ...fitted, oneColumn: true, isDenied: isMark } : null;
}

/** The header and the rows below it, of which most are asked for their widths alone. */
class Cut {
  /** Of the header; 0: there is none. */
  readonly width: number;
  /** Of the rows below, without blank ones. */
  readonly bodyWidths: readonly number[];
  readonly #most: number;
  readonly #sample: Sample;
  readonly #header: number;
  readonly #body: readonly number[];

  constructor(sample: Sample, headerRow: number | null) {
    const most = HEADER_RECORDS_MAX + BODY_RECORDS + (headerRow ?? 0);
    const body: number[] = [];
    this.#sample = sample;
    this.#header = headerRow ?? firstFilled(sample, most);
    for (let record = this.#header + 1; record < most && sample.has(record); record++)
      if (sample.isFilled(record)) body.push(record);
    this.#body = body;
    this.width = this.#header >= 0 && sample.has(this.#header) ? sample.width(this.#header) : 0;
    this.bodyWidths = body.map((record) => sample.width(record));
    this.#most = most;
  }

  /** Fields in quotes, of all that is looked at. */
  get quotedFields(): number {
    return this.#sample.quotedFieldsIn(this.#most);
  }

  headerTexts(): Cells {
    return this.#sample.at(this.#header);
  }

  bodyTexts(): readonly Cells[] {
    return this.#body.map((record) => this.#sample.at(record));
  }
}

/** The first of so many records that is more than an empty line; -1: there is none. */
function firstFilled(sample: Sample, most: number): number {
  for (let record = 0; record < most && sample.has(record); record++) if (sample.isFilled(record)) return record;
  return -1;
}

function dialectOf(samples: Samples, delimiter: string): Dialect {
  return detectDialect(samples, { delimiter, quote: null });
}

/** Most rows have as many fields as the header. */
function isFitting({ width, bodyWidths }: Cut): boolean {
  const fitting = bodyWidths.filter((fields) => fields === width);
  return width > 1 && fitting.length * 2 > bodyWidths.length;
}

function isOverflowing(record: Cells): boolean {
  return record.some((cell, column) => column > 0 && cell !== '');
}

/** Rows below a name without a delimiter: the delimiter stands as a mark in their cells, not between fields. */
function isMarkOf(wide: readonly Cells[], { delimiter }: Dialect): boolean {
  if (!USUAL_DELIMITERS.includes(delimiter)) return true;
  const marks = wide.filter((record) => isDataKind(cellKind(record.join(delimiter))) || isSentence(record));
  return delimiter === ',' && marks.length >= wide.length * EVEN_SHARE;
}

/** Blanks follow commas there: "Lovelace, Ada". */
function isSentence([, ...others]: Cells): boolean {
  return others.some((part) => /^\s/.test(part));
}

/** The width that nearly all records have, 0 where they differ. */
function evenWidth(widths: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width, count] = [...counts].reduce((most, other) => (other[1] > most[1] ? other : most), [0, 0]);
  return width > 1 && count >= widths.length * EVEN_SHARE ? width : 0;
}

/**
 * Programs for statistics write the names of rows before them, and none above these. That is known from a file that has its
 * names in quotes, so that each field is one beyond doubt, and no two rows of one name.
 * What is behind the last column and blank, though it is no empty field, is a column without a name, too.
 */
function namelessColumn(cut: Cut, delimiter: string): 'first' | 'last' | null {
  const { width, bodyWidths } = cut;
  if (bodyWidths.length === 0 || bodyWidths.some((fields) => fields !== width + 1)) return null;
  const body = cut.bodyTexts();
  if (body.every((record) => isBlank(record.at(-1)!)))
    return body.every((record) => record.at(-1) !== '') ? 'last' : null;
  const names = new Set(body.map(([first = '']) => first.trim()));
  const areNames = names.size === body.length && !names.has('') && body.length >= ROWS_MIN;
  const isQuoted = cut.quotedFields >= width + body.length;
  // "1,50" of a decimal comma is two whole numbers beside each other.
  const isCut = delimiter === ',' && body.some(hasWholeNeighbours);
  return areNames && isQuoted && !isCut ? 'first' : null;
}

function hasWholeNeighbours(record: Cells): boolean {
  return record.some((cell, column) => /^[-+]?\d+$/.test(cell) && /^\d+$/.test(record[column + 1] ?? ''));
}

/** The header is cut by one delimiter, most rows below it are not, but evenly and into more fields by another one. */
function hasOtherDelimiter(samples: Samples, cut: Cut, dialect: Dialect, headerRow: number | null): boolean {
  const { width, bodyWidths } = cut;
  const short = bodyWidths.filter((fields) => fields < width);
  if (bodyWidths.length < ROWS_MIN || short.length * 2 <= bodyWidths.length) return false;
  const others = USUAL_DELIMITERS.filter((other) => other !== dialect.delimiter && samples.holds(other));
  return others.some((delimiter) => {
    const other = new Cut(samples.of({ ...dialect, delimiter }), headerRow);
    return other.width === 1 && evenWidth(other.bodyWidths) > evenWidth(bodyWidths);
  });
}
