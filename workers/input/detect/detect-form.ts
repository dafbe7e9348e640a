// What the detectors make of the first part of a CSV: how it is to be read, where nothing was declared.
import { isAscii } from 'node:buffer';
import type { Sliced } from '../../run/time-slices.ts';
import type { ExpectedHeaders } from '../expected-headers.ts';
import { detectDialect } from './dialect.ts';
import { type FittedDialect, fitHeader, loneName, numberColumn } from './fit-header.ts';
import { detectHeaderRow, headerStart } from './header-row.ts';
import { bestNamed } from './named-records.ts';
import { namedTable } from './named-table.ts';
import { obviousForm } from './obvious-form.ts';
import type { Dialect } from './sample.ts';
import { Samples } from './samples.ts';
import { SampleScanner, type ScanTools } from './scan-text.ts';
import { ScannedSample } from './scanned-sample.ts';

/** What the request or the Template has already fixed. */
export interface KnownForm {
  readonly delimiter: string | null;
  readonly quote: string | null;
  /** 0-based record. */
  readonly headerRow: number | 'none' | null;
  /** The headers that the Template looks for; null = none known. */
  readonly expected: ExpectedHeaders | null;
}

const QUOTE = '"';

export interface DetectedForm {
  /** One character; null where the file has one column although its cells hold delimiters. */
  readonly delimiter: string | null;
  /** One character, or '' for none. */
  readonly quote: string;
  /** Spaces between a delimiter and an opening quote are no part of the field. */
  readonly spaced?: true;
  /** The header holds no delimiter: nothing separates fields, here and further down. */
  readonly oneColumn?: true;
  /** The header and the rows below it do not fit together: who drops no cells refuses such a file. */
  readonly isDoubtful?: true;
  /** 0-based record, null when the file has no header; of a header of several lines the last one. */
  readonly headerRow: number | null;
  /** Where the header has several lines: so many, which are joined (see joinHeaderLines). */
  readonly headerLines?: number;
  /** Rows have one field more than the header: which column lacks a name. */
  readonly nameless?: 'first' | 'last';
}

interface FoundHeader {
  readonly headerRow: number | null;
  readonly headerLines?: number;
}

/**
 * @param bytes the first part of the file, valid UTF-8 without a byte order mark
 * @param ended true when it is the whole file
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
  if (known.delimiter !== null || column !== null) return formOf(column ?? unfitted(dialect), header);
  return fittedForm(samples, dialect, header);
}

function fittedForm(samples: Samples, dialect: Dialect, header: FoundHeader): DetectedForm {
  const fitted = fitHeader(samples, dialect, header.headerRow);
  return fitted === null ? { ...formOf(unfitted(dialect), header), isDoubtful: true } : formOf(fitted, header);
}

/** Of a file that leaves no doubt. */
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

/** The text of the first part of a file. */
export function sampleText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}
