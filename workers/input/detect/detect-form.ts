// Detects the form of a CSV from its first part: delimiter, quote and header row, as far as they are not declared.

import { isAscii } from 'node:buffer';
import type { Sliced } from '../../scheduling/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { bodyBelow, compareWithBody, isBlank } from './body-comparison.ts';
import { cellKind, isDataKind } from './cell-kind.ts';
import { detectDialect, EVEN_SHARE, quoteCandidates, USUAL_DELIMITERS } from './dialect.ts';
import { detectHeaderRow, HEADER_RECORDS_MAX, headerStart } from './header-row.ts';
import { bestNamed } from './named-records.ts';
import { obviousForm } from './obvious-form.ts';
import type { Cells } from './records.ts';
import type { Dialect, Sample } from './sample.ts';
import { Samples } from './samples.ts';
import { SampleScanner, type ScanTools } from './scan-text.ts';
import { ScannedSample } from './scanned-sample.ts';

// Recognises a table by the names that a Template looks for: if one record contains all of them with some delimiter,
// that delimiter is right, and other dialects need not be scored. This keeps files with a preamble or a short row fast.

/** Minimum number of names: a single name may be in a record with any delimiter. */
const NAMES_MIN = 2;

export interface NamedTable {
  readonly dialect: Dialect;
  /** 0-based record number of the header. */
  readonly row: number;
}

/** @returns null if a name is missing or the quotes are doubtful */
function* namedTable(samples: Samples, expected: ExpectedHeaders): Sliced<NamedTable | null> {
  if (expected.columns < NAMES_MIN) return null;
  for (const delimiter of USUAL_DELIMITERS) {
    if (!samples.holds(delimiter)) continue;
    const dialect = { delimiter, quote: '"' };
    const sample = samples.of(dialect);
    if (!(sample instanceof ScannedSample)) continue;
    const best = yield* bestNamed(sample, expected, delimiter);
    if (best === null || best.hits < expected.columns) continue;
    // Spaces before quotes, or single quotes, may be meant.
    const isSpaced = sample.strayQuotes > 0 && samples.holds(`${delimiter} "`);
    return isSpaced || quoteCandidates(samples).length > 1 ? null : { dialect, row: best.row };
  }
  return null;
}

// Checks whether the detected dialect fits both the header row and the rows below it. If the header does not contain
// the delimiter, but the rows do, then the file has one column, or another delimiter, or the case is undecidable. An
// undecidable file is refused, so that no cells are dropped.

/** Number of rows below the header that are examined in addition to the records that the detector has seen. */
const BODY_RECORDS = 100;

/** Minimum number of rows that show the form of the data. A single row may be an exception. */
const ROWS_MIN = 2;

interface FittedDialect extends Dialect {
  /** True if no separator splits the fields, whatever the rows contain. */
  readonly oneColumn: boolean;
  /** True if the delimiter occurs in the rows, but as part of texts and numbers. */
  readonly isDenied: boolean;
  /** Set if rows have one field more than the header: the position of the column without a name. */
  readonly nameless?: 'first' | 'last';
}

/**
 * Recognises a single column of numbers under a name: `1,50` is then one cell, even though a comma is usually a
 * delimiter. Returns null for any other file.
 */
function numberColumn(samples: Samples): FittedDialect | null {
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
 * Recognises a single word directly above lines of words. It may be the name of a column whose cells contain a
 * delimiter, or a title above a header. Without numbers below the word, both are possible, so this word alone must not
 * make the first row the header.
 * @returns the record of the word, or null
 */
function loneName(records: Sample, headerRow: number): number | null {
  const row = firstFilled(records, headerRow);
  if (row !== headerRow - 1 || records.width(row) > 1 || !/^\S+[^\s:]$/.test(records.at(row)[0]!)) return null;
  return compareWithBody(records.at(headerRow), bodyBelow(records, headerRow)).typed === 0 ? row : null;
}

/**
 * @param headerRow 0-based record number, or null without a header. The first record then gives the number of columns.
 * @returns null if header and rows do not fit together
 */
function fitHeader(samples: Samples, dialect: Dialect, headerRow: number | null): FittedDialect | null {
  const cut = new Cut(samples.of(dialect), headerRow);
  const { width } = cut;
  const fitted = { ...dialect, oneColumn: false, isDenied: false };
  if (width === 0) return fitted;
  if (width > 1) {
    if (hasOtherDelimiter(samples, cut, dialect, headerRow)) return null;
    const nameless = headerRow === null ? null : namelessColumn(cut);
    // A decimal comma would be split here: "1,50" becomes two whole numbers side by side.
    if (nameless === 'first' && dialect.delimiter === ',' && haveCents(cut.bodyTexts())) return null;
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
  // All rows are split evenly, but the line above is not. It may be a title, or the name of a column of texts.
  if (!isMark && body.length >= ROWS_MIN && cut.bodyWidths.every((fields) => fields === cut.bodyWidths[0])) return null;
  const isColumn = isMark || body.length < ROWS_MIN || wide.length * 2 <= body.length;
  return isColumn ? { ...fitted, oneColumn: true, isDenied: isMark } : null;
}

/** The header and the rows below it. For most rows, only the number of fields is needed. */
class Cut {
  /** Number of fields of the header, 0 without a header. */
  readonly width: number;
  /** Number of fields of each row below, without blank rows. */
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

  /** Number of quoted fields in all records examined. */
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

/** Returns the first of the `most` records that is not an empty line, or -1. */
function firstFilled(sample: Sample, most: number): number {
  for (let record = 0; record < most && sample.has(record); record++) if (sample.isFilled(record)) return record;
  return -1;
}

function dialectOf(samples: Samples, delimiter: string): Dialect {
  return detectDialect(samples, { delimiter, quote: null });
}

/** True if most rows have as many fields as the header. */
function isFitting({ width, bodyWidths }: Cut): boolean {
  const fitting = bodyWidths.filter((fields) => fields === width);
  return width > 1 && fitting.length * 2 > bodyWidths.length;
}

function isOverflowing(record: Cells): boolean {
  return record.some((cell, column) => column > 0 && cell !== '');
}

/** True if the delimiter is part of the cells' texts in rows below a name without a delimiter. */
function isMarkOf(wide: readonly Cells[], { delimiter }: Dialect): boolean {
  if (!USUAL_DELIMITERS.includes(delimiter)) return true;
  const marks = wide.filter((record) => isDataKind(cellKind(record.join(delimiter))) || isSentence(record));
  return delimiter === ',' && marks.length >= wide.length * EVEN_SHARE;
}

/** In sentences and names, a space follows the comma: "Lovelace, Ada". */
function isSentence([, ...others]: Cells): boolean {
  return others.some((part) => /^\s/.test(part));
}

/** Width that nearly all records have, or 0 if they differ. */
function evenWidth(widths: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width, count] = [...counts].reduce((most, other) => (other[1] > most[1] ? other : most), [0, 0]);
  return width > 1 && count >= widths.length * EVEN_SHARE ? width : 0;
}

/**
 * Recognises a column without a name. Statistics programs write row names as a first column without a header. To be
 * certain, all row names must be quoted, so that each is one field, and all must differ. A blank but not empty field
 * after the last column also counts as a column without a name.
 */
function namelessColumn(cut: Cut): 'first' | 'last' | null {
  const { width, bodyWidths } = cut;
  if (bodyWidths.length === 0 || bodyWidths.some((fields) => fields !== width + 1)) return null;
  const body = cut.bodyTexts();
  if (body.every((record) => isBlank(record.at(-1)!)))
    return body.every((record) => record.at(-1) !== '') ? 'last' : null;
  const names = new Set(body.map(([first = '']) => first.trim()));
  const areNames = names.size === body.length && !names.has('');
  const isQuoted = cut.quotedFields >= width + body.length;
  return areNames && isQuoted ? 'first' : null;
}

/** True if each row has a whole number followed by a number of two digits, in the same two columns. */
function haveCents(body: readonly Cells[]): boolean {
  return body[0]!.some((_, column) =>
    body.every((record) => /^[-+]?\d+$/.test(record[column] ?? '') && /^\d{2}$/.test(record[column + 1] ?? '')),
  );
}

/**
 * For a file whose delimiter is declared: finds a column without a name, if rows have one field more than the header.
 */
function withNameless(samples: Samples, dialect: FittedDialect, headerRow: number | null): FittedDialect {
  const nameless = headerRow === null ? null : namelessColumn(new Cut(samples.of(dialect), headerRow));
  return nameless === null ? dialect : { ...dialect, nameless };
}

/**
 * True if one delimiter splits the header, but most rows have fewer fields with it, while another delimiter splits the
 * rows evenly into more fields.
 */
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

/** Settings that the request or the Template prescribes. */
export interface KnownForm {
  readonly delimiter: string | null;
  /** True if the delimiter is probable but not declared, so that header and rows must fit it. */
  readonly isGuessed?: true;
  readonly quote: string | null;
  /** 0-based record number. */
  readonly headerRow: number | 'none' | null;
  /** The headers that the Template looks for, or null if unknown. */
  readonly expected: ExpectedHeaders | null;
}

const QUOTE = '"';

export interface DetectedForm {
  /** One or more characters, or null if the file has one column although its cells contain delimiters. */
  readonly delimiter: string | null;
  /** One character, or '' for no quote. */
  readonly quote: string;
  /** Spaces between a delimiter and an opening quote are not part of the field. */
  readonly spaced?: true;
  /** The header does not contain the delimiter, so no separator splits the fields of any row. */
  readonly oneColumn?: true;
  /** The header does not fit the rows below it. A caller that must not drop cells refuses such a file. */
  readonly isDoubtful?: true;
  /** 0-based record number, or null if the file has no header. If the header has several lines, the last line. */
  readonly headerRow: number | null;
  /** Number of header lines if there are several. Their texts are joined (see joinHeaderLines). */
  readonly headerLines?: number;
  /** Set if rows have one field more than the header: the position of the column without a name. */
  readonly nameless?: 'first' | 'last';
}

interface FoundHeader {
  readonly headerRow: number | null;
  readonly headerLines?: number;
}

/**
 * @param bytes first part of the file, valid UTF-8 without a byte order mark
 * @param ended true if the bytes are the whole file
 */
export function* detectForm(
  bytes: Uint8Array,
  ended: boolean,
  known: KnownForm,
  tools: ScanTools,
): Sliced<DetectedForm> {
  const expected = known.headerRow === null ? known.expected : null;
  const isOpen = known.delimiter === null && known.quote === null;
  const scanner = new SampleScanner(bytes, ended, tools);
  const plain = isOpen ? yield* obviousForm(scanner, expected) : null;
  const headerRow = known.headerRow ?? plain?.headerRow ?? null;
  if (plain !== null && headerRow !== null) return plainTable(plain.delimiter, { headerRow: rowOf(headerRow) });
  const samples = new Samples(bytes, ended, scanner);
  if (plain !== null) {
    const dialect = { delimiter: plain.delimiter, quote: QUOTE };
    return plainTable(plain.delimiter, yield* headerOf(samples, dialect, expected));
  }
  const named = isOpen && expected !== null ? yield* namedTable(samples, expected) : null;
  if (named !== null) return fittedForm(samples, named.dialect, { headerRow: named.row });
  const column = isOpen ? numberColumn(samples) : null;
  const dialect = column ?? detectDialect(samples, known);
  const header = headerRow === null ? yield* headerOf(samples, dialect, expected) : { headerRow: rowOf(headerRow) };
  if ((known.delimiter !== null && known.isGuessed !== true) || column !== null)
    return formOf(column ?? withNameless(samples, unfitted(dialect), header.headerRow), header);
  return fittedForm(samples, dialect, header);
}

function fittedForm(samples: Samples, dialect: Dialect, header: FoundHeader): DetectedForm {
  const fitted = fitHeader(samples, dialect, header.headerRow);
  return fitted === null ? { ...formOf(unfitted(dialect), header), isDoubtful: true } : formOf(fitted, header);
}

/** Form of a file that leaves no doubt. */
function plainTable(delimiter: string, header: FoundHeader): DetectedForm {
  return { delimiter, quote: QUOTE, ...header };
}

function unfitted(dialect: Dialect): FittedDialect {
  return { ...dialect, oneColumn: false, isDenied: false };
}

function formOf(dialect: FittedDialect, header: FoundHeader): DetectedForm {
  const { quote, spaced, oneColumn, isDenied, nameless } = dialect;
  const delimiter = isDenied ? null : dialect.delimiter;
  const form = { delimiter, quote, ...header, ...(nameless === undefined ? {} : { nameless }) };
  if (oneColumn) return { ...form, oneColumn };
  return spaced === true ? { ...form, spaced } : form;
}

function* headerOf(samples: Samples, dialect: Dialect, expected: ExpectedHeaders | null): Sliced<FoundHeader> {
  const isExpected = expected === null ? null : (cell: string) => expected.has(cell);
  const records = samples.of(dialect);
  const isScanned = expected !== null && dialect.quote === QUOTE && records instanceof ScannedSample;
  const best = isScanned ? bestNamed(records, expected, dialect.delimiter) : null;
  const headerRow = yield* detectHeaderRow(records, isExpected, best);
  if (headerRow === null || headerRow === 0) return { headerRow };
  const name = isExpected === null ? loneName(records, headerRow) : null;
  if (name !== null) return { headerRow: name };
  const first = yield* headerStart(records, headerRow, isExpected);
  return first === headerRow ? { headerRow } : { headerRow, headerLines: headerRow - first + 1 };
}

function rowOf(headerRow: number | 'none'): number | null {
  return headerRow === 'none' ? null : headerRow;
}

/** Decodes the first part of a file. */
export function sampleText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}
