// Looks whether the header row and the rows below it are cut alike by what was detected. A delimiter that the header does
// not hold cannot be the one at which data rows overflow: then the file has one column, another delimiter, or nobody
// can say, and the file is refused rather than its cells dropped.
import { bodyBelow, compareWithBody } from './body-comparison.ts';
import { cellKind, isDataKind } from './cell-kind.ts';
import { detectDialect, EVEN_SHARE, USUAL_DELIMITERS } from './dialect.ts';
import { HEADER_RECORDS_MAX } from './header-row.ts';
import { type Dialect, splitSample } from './sample.ts';

/** Rows below the header that are looked at: the detector has seen the others. */
const BODY_RECORDS = 100;

/** Rows that show how data are cut; a single one may be the exception. */
const ROWS_MIN = 2;

type Record = readonly string[];

export interface FittedDialect extends Dialect {
  /** True: nothing separates fields, whatever stands in the rows. */
  readonly oneColumn: boolean;
  /** The delimiter stands in the rows, but as a mark of texts and numbers. */
  readonly isDenied: boolean;
  /** Rows have one field more than the header: which column lacks a name. */
  readonly nameless?: 'first' | 'last';
}

/** A column of numbers under a name: `1,50` is one cell, whatever a comma is elsewhere. Null where it is none. */
export function numberColumn(text: string, ended: boolean): FittedDialect | null {
  const first = /[^\s][^\r\n]*/.exec(text)?.[0].trim() ?? '';
  if (USUAL_DELIMITERS.some((delimiter) => first.includes(delimiter)) || isDataKind(cellKind(first))) return null;
  const { records } = splitSample(text, { delimiter: '', quote: '' }, ended);
  const [, ...others] = records.map(([line = '']) => line.trim()).filter((line) => line !== '');
  const cut = others.filter((line) => line.includes(','));
  return cut.length > 0 && cut.every((line) => isDataKind(cellKind(line))) ? ONE_COLUMN : null;
}

const ONE_COLUMN: FittedDialect = { delimiter: '', quote: '"', oneColumn: true, isDenied: true };

/**
 * One word right above lines of words only: it may be the name of one column, whose cells hold a delimiter, as well as a
 * title above a header. Numbers below would tell. The reader is not to take the first row for a header on that ground.
 * @returns its record, null where there is no such word
 */
export function loneName(records: readonly Record[], headerRow: number): number | null {
  const row = records.findIndex(isFilled);
  const [name = ''] = records[row] ?? [];
  if (row !== headerRow - 1 || records[row]!.length > 1 || !/^\S+[^\s:]$/.test(name)) return null;
  return compareWithBody(records[headerRow]!, bodyBelow(records, headerRow)).typed === 0 ? row : null;
}

/**
 * @param headerRow 0-based record; null: there is none, and the first record tells how many columns there are
 * @returns null where header and rows do not fit together
 */
export function fitHeader(
  text: string,
  ended: boolean,
  dialect: Dialect,
  headerRow: number | null,
): FittedDialect | null {
  const cut = recordsOf(text, ended, dialect, headerRow);
  const { header, body } = cut;
  const fitted = { ...dialect, oneColumn: false, isDenied: false };
  if (header === undefined) return fitted;
  if (header.length > 1) {
    if (hasOtherDelimiter(text, ended, { ...cut, dialect, headerRow })) return null;
    const nameless = headerRow === null ? null : namelessColumn(cut, dialect.delimiter);
    return nameless === null ? fitted : { ...fitted, nameless };
  }
  if (body.every((record) => record.length === 1)) return { ...fitted, oneColumn: true };
  const wide = body.filter(isOverflowing);
  if (wide.length === 0) return fitted;
  const others = USUAL_DELIMITERS.filter((other) => other !== dialect.delimiter && header[0]!.includes(other));
  const fitting = others.find((other) => isFitting(recordsOf(text, ended, dialectOf(text, ended, other), headerRow)));
  if (fitting !== undefined) return { ...fitted, ...dialectOf(text, ended, fitting) };
  if (others.length > 0) return null;
  const isMark = isMarkOf(wide, dialect);
  const isColumn = isMark || body.length < ROWS_MIN || wide.length * 2 <= body.length;
  return isColumn ? { ...fitted, oneColumn: true, isDenied: isMark } : null;
}

interface Cut {
  readonly header: Record | undefined;
  /** Below the header, without blank ones. */
  readonly body: readonly Record[];
  /** In quotes, of the whole sample. */
  readonly quotedFields: number;
}

function recordsOf(text: string, ended: boolean, dialect: Dialect, headerRow: number | null): Cut {
  const most = HEADER_RECORDS_MAX + BODY_RECORDS + (headerRow ?? 0);
  const { records, quotedFields } = splitSample(text, dialect, ended, most);
  const first = headerRow ?? records.findIndex(isFilled);
  return { header: records[first], body: records.slice(first + 1).filter(isFilled), quotedFields };
}

function isFilled(record: Record): boolean {
  return record.length > 1 || record[0] !== '';
}

function dialectOf(text: string, ended: boolean, delimiter: string): Dialect {
  return detectDialect(text, ended, { delimiter, quote: null });
}

/** Most rows have as many fields as the header. */
function isFitting({ header, body }: Cut): boolean {
  const fitting = body.filter(({ length }) => length === header?.length);
  return header !== undefined && header.length > 1 && fitting.length * 2 > body.length;
}

function isOverflowing(record: Record): boolean {
  return record.some((cell, column) => column > 0 && cell !== '');
}

/** Rows below a name without a delimiter: the delimiter stands as a mark in their cells, not between fields. */
function isMarkOf(wide: readonly Record[], { delimiter }: Dialect): boolean {
  if (!USUAL_DELIMITERS.includes(delimiter)) return true;
  const marks = wide.filter((record) => isDataKind(cellKind(record.join(delimiter).trim())) || isSentence(record));
  return delimiter === ',' && marks.length >= wide.length * EVEN_SHARE;
}

/** Blanks follow commas there: "Lovelace, Ada". */
function isSentence([, ...others]: Record): boolean {
  return others.some((part) => /^\s/.test(part));
}

/** The fields that nearly all records have, 0 where they differ. */
function evenWidth(records: readonly Record[]): number {
  const counts = new Map<number, number>();
  for (const { length } of records) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [length, count] = [...counts].reduce((most, other) => (other[1] > most[1] ? other : most), [0, 0]);
  return length > 1 && count >= records.length * EVEN_SHARE ? length : 0;
}

/**
 * Programs for statistics write the names of rows before them, and none above these. That is known from a file that has its
 * names in quotes, so that each field is one beyond doubt, and no two rows of one name.
 * What is behind the last column and blank, though it is no empty field, is a column without a name, too.
 */
function namelessColumn({ header, body, quotedFields }: Cut, delimiter: string): 'first' | 'last' | null {
  const columns = header!.length + 1;
  if (body.length === 0 || body.some(({ length }) => length !== columns)) return null;
  if (body.every((record) => record.at(-1)!.trim() === ''))
    return body.every((record) => record.at(-1) !== '') ? 'last' : null;
  const names = new Set(body.map(([first = '']) => first.trim()));
  const areNames = names.size === body.length && !names.has('') && body.length >= ROWS_MIN;
  const isQuoted = quotedFields >= header!.length + body.length;
  // "1,50" of a decimal comma is two whole numbers beside each other.
  const isCut = delimiter === ',' && body.some(hasWholeNeighbours);
  return areNames && isQuoted && !isCut ? 'first' : null;
}

function hasWholeNeighbours(record: Record): boolean {
  return record.some((cell, column) => /^[-+]?\d+$/.test(cell) && /^\d+$/.test(record[column + 1] ?? ''));
}

/** The header is cut by one delimiter, most rows below it are not, but evenly and into more fields by another one. */
function hasOtherDelimiter(
  text: string,
  ended: boolean,
  { dialect, headerRow, header, body }: Cut & { readonly dialect: Dialect; readonly headerRow: number | null },
): boolean {
  const short = body.filter(({ length }) => length < header!.length);
  if (body.length < ROWS_MIN || short.length * 2 <= body.length) return false;
  const others = USUAL_DELIMITERS.filter((other) => other !== dialect.delimiter && text.includes(other));
  return others.some((delimiter) => {
    const cut = recordsOf(text, ended, { ...dialect, delimiter }, headerRow);
    return cut.header?.length === 1 && evenWidth(cut.body) > evenWidth(body);
  });
}
