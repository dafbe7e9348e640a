// The input of both CSV readers, their counts, and failures caused by the text of a file.

import type { Kernel } from '../../kernel/bindings/kernel.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { Failed } from '../../protocol/failure.ts';
import { type CodeCounts, REPORT_ROWS_MAX, type RowErrorCode } from '../../protocol/report.ts';
import type { CsvInput } from '../../template/template.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import { notValid } from '../encoding/undecodable.ts';
import type { OpenSettings } from '../format.ts';
import type { MetaSearch } from '../meta-values.ts';
import type { ReadAheadThread } from '../read-ahead/read-ahead-thread.ts';
import type { FileHead, MetaValues } from '../reader.ts';
import type { ByteSource } from '../source/source.ts';

// Failures caused by the text of a CSV. Lines are counted from 1, as in an editor. Messages contain nothing of the
// text.

const MIB = 1024 * 1024;

/**
 * Maximum number of quotes per file that are not closed on their line and read as ordinary characters: the reader goes
 * back at each of them. More quotes fail the file.
 */
export const OPEN_QUOTES_MAX = 1000;

/** Errors of a row. The reader knows their address or line. */
export type CsvDefect =
  | 'nul'
  | 'utf8'
  | 'cell'
  | 'row'
  | 'columns'
  | 'quote'
  | 'ragged'
  | 'stray'
  | 'swallowed'
  | 'escape'
  | 'empty'
  | 'header'
  | 'blankHeader'
  | 'headerDelimiter';

/** Advice if detection is wrong. Reference tables have no such settings. */
export const DIALECT_ADVICE =
  'Declare them in the Template (input.csv.delimiter, input.csv.header_row) or send delimiter and header_row with the file.';

/** Advice if backslashes may be escapes. Reference tables have no such setting. */
export const ESCAPE_ADVICE =
  'Write input.csv.escape: "\\\\" into the Template, or input.csv.escape: "" where a backslash is an ordinary character.';

/** Advice about NUL bytes. Reference tables have no such setting. */
export const NUL_ADVICE = 'Write input.csv.nul_bytes: drop into the Template to leave NUL bytes out.';

/** Advice about a quote that is not closed on its line. Reference tables have no such setting. */
export const OPEN_QUOTE_ADVICE =
  'Correct it, or write input.csv.quote: "" into the Template where quotes are ordinary characters.';

/** The error of a row with too few or too many fields. */
export const RAGGED = 'has a different number of fields than the header.';

/** The error of a field with stray quotes. */
export const STRAY = 'has a quoted field with text after its closing quote.';

const MESSAGES: Record<Exclude<CsvDefect, 'utf8'>, (line: number) => string> = {
  nul: (line) => `Line ${line} contains a NUL byte, so the file is not text. ${NUL_ADVICE}`,
  cell: (line) => `Line ${line} begins a cell of more than ${CELL_BYTES_MAX / MIB} MiB.`,
  row: (line) =>
    `Line ${line} begins a row of more than ${ROW_BYTES_MAX / MIB} MiB; perhaps a quoted field is not closed.`,
  columns: (line) => `Line ${line} has more than ${COLUMNS_MAX} columns.`,
  quote: (line) => `Line ${line} begins a quoted field that is not closed before the end of the file.`,
  ragged: (line) => `Line ${line} ${RAGGED}`,
  stray: (line) => `Line ${line} ${STRAY}`,
  swallowed: (line) =>
    `Line ${line} begins a quoted field that continues over line breaks and has text after its closing quote. Probably its ` +
    `quote is not closed on its line. ${OPEN_QUOTE_ADVICE}`,
  escape: (line) =>
    `Line ${line} begins a row in which backslashes seem to escape quotes, delimiters or line breaks, but no escape character is declared. ${ESCAPE_ADVICE}`,
  empty: () => 'The file is empty or contains only blank lines.',
  header: () => 'The header row is after the end of the file.',
  blankHeader: () => 'The header row is a blank line.',
  headerDelimiter: () =>
    'The header row and the data rows do not contain the same delimiter: the delimiter or the header row cannot be detected. ' +
    DIALECT_ADVICE,
};

/**
 * Most data rows have more non-empty fields than the header has columns, and the delimiter is not declared. Dropping
 * these cells would be a guess.
 */
function tooWide(wideRows: number, rows: number, columns: number): Failed {
  const message =
    `${wideRows} of ${rows} data rows have filled fields beyond the ${columns === 1 ? 'one column' : `${columns} columns`} ` +
    `of the header row: the detected delimiter or header row is wrong. ${DIALECT_ADVICE}`;
  return new Failed('MALFORMED_FILE', message);
}

/**
 * Minimum number of wide rows that fails a file. If only a few rows are wide, they may be exceptions, and are only
 * counted.
 */
export const WIDE_ROWS_MIN = 4;

/** JSON texts with 0x1E before each of them (RFC 7464). */
export const TEXT_SEQUENCE =
  'The file begins with the control character 0x1E, as a JSON text sequence does. Remove this character before each ' +
  'record, and send the file again as NDJSON.';

/** Advice about tables that are drawn with characters. Reference tables have no such setting. */
export const DRAWN_TABLE_ADVICE =
  'Export the table as CSV. To read such lines as rows, declare the delimiter in the Template (input.csv.delimiter).';

/** The table is drawn with characters, and no delimiter is declared. */
export function drawnTable(line: number): Failed {
  const message =
    `Line ${line} consists of dashes between "|" or "+": the file is a table drawn with characters, such as Markdown or ` +
    `the output of psql or mysql, and not CSV. ${DRAWN_TABLE_ADVICE}`;
  return new Failed('MALFORMED_FILE', message);
}

/** The Template declares several columns, but no delimiter was found. */
export function noDelimiter(columns: number): Failed {
  const message =
    `The Template declares ${columns} columns (input.csv.columns), but the first records of the file have one field each ` +
    'with every delimiter that was tried. Declare the delimiter in the Template: input.csv.delimiter.';
  return new Failed('MALFORMED_FILE', message);
}

/** The file seems to have a delimiter of several characters, but its records have different lengths with it. */
export function unsureDelimiter(delimiter: string): Failed {
  const name = JSON.stringify(delimiter);
  const message =
    `The fields seem to be separated by ${name}, but the records would then have different numbers of fields. ` +
    `Declare it in the Template: input.csv.delimiter: ${name}, or the single character if every second column is empty.`;
  return new Failed('MALFORMED_FILE', message);
}

export function malformed(defect: CsvDefect, line: number): Failed {
  return defect === 'utf8' ? notValid('utf-8', line) : new Failed('MALFORMED_FILE', MESSAGES[defect](line));
}

// Input of both CSV readers (fast path and slow path): the source, the dialect, and the settings of the Template.

/** Name of the format. */
export const CSV = 'csv';

export interface CsvDialect {
  /**
   * One or more characters, or '' for a file of one column without a delimiter. The fast path needs a single ASCII
   * character.
   */
  readonly delimiter: string;
  /** One character, or '' for no quote. The fast path needs an ASCII character. */
  readonly quote: string;
  /**
   * 0-based record number of the header (blank records count), or null without a header. Records above it are skipped.
   */
  readonly headerRow: number | null;
  /** Number of columns of a file without a header. If its first record has more fields, that number applies. */
  readonly columns?: number;
  /** The number of columns also applies to a first record with more fields. */
  readonly areColumnsDeclared?: boolean;
  /** Number of header lines, of which `headerRow` is the last; 1 by default. */
  readonly headerLines?: number;
  /**
   * True if the first record is a separator line for Excel (csv-form.ts). In a file with a header it is one of
   * the records above the header.
   */
  readonly hasSeparatorLine?: boolean;
  /** Set if rows have one field more than the header: the position of the column without a name. */
  readonly nameless?: 'first' | 'last';
}

export interface CsvReaderParts {
  readonly heap: Heap;
  readonly arena: Arena;
  readonly kernel: Kernel;
  /** Source of UTF-8 text. */
  readonly source: ByteSource;
  readonly dialect: CsvDialect;
  readonly nullValues: readonly string[];
  readonly ragged: CsvInput['ragged'];
  readonly strayQuotes: CsvInput['strayQuotes'];
  /** Type for FileHead: csv or tsv. `encoding` is the encoding of the file, before decoding. */
  readonly type: string;
  readonly encoding: string;
  /** See FileHead. */
  readonly encodingGuess?: string | undefined;
  readonly largeRow: LargeRowAccess;
  /** For FileHead, in addition to the dialect. */
  readonly found?: Pick<
    FileHead,
    | 'delimiter'
    | 'quote'
    | 'quotesAfterSpace'
    | 'escape'
    | 'recordSeparator'
    | 'isRewritten'
    | 'oneColumn'
    | 'headerLines'
  >;
  /** Counters of comment lines and NUL bytes that the sources leave out. */
  readonly comments?: { readonly lines: number } | undefined;
  readonly nul?: { readonly nulBytes: number } | undefined;
  /**
   * True if it is not declared whether a backslash escapes. A row that is only correct with escapes then fails the
   * file.
   */
  readonly escapesAreOpen?: boolean;
  /** If true, a quoted field after spaces restarts reading of the file (see LateQuote). */
  readonly seeksLateQuotes?: boolean;
  /** Default: OPEN_QUOTES_MAX. */
  readonly openQuotesMax?: number;
  /**
   * Set if the delimiter is not declared: minimum number of wide rows (with non-empty fields beyond the header's) that
   * fails the file if most rows are wide. Otherwise wide rows are only counted.
   */
  readonly wideRowsMin?: number;
  /** If set, this function receives such a failure, which is thrown otherwise. The file is then read as detected. */
  readonly onDoubt?: (failed: Failed) => void;
  /** Receives the records above the header. */
  readonly preamble?: MetaSearch;
  /** Values below the table, and also those above it if the header is known. */
  readonly meta?: MetaValues;
  /** Header texts if they are known; the source then begins with the first data row. Otherwise the header is read. */
  readonly headers?: readonly string[];
  /** Reads ahead if the source is a large file. */
  readonly readAhead?: ReadAheadThread;
  /** Yields the thread from time to time while the records above the header are read. By default it does nothing. */
  readonly giveWay?: () => Promise<void>;
  /** Bytes read at a time; results do not depend on it. WINDOW_BYTES by default; tests use other values. */
  readonly windowBytes?: number;
}

export async function goOnAtOnce(): Promise<void> {}

/** Builds the FileHead for both readers. */
export function headOf(parts: CsvReaderParts, headers: readonly string[]): FileHead {
  const { type, encoding, encodingGuess, dialect, found, preamble, meta } = parts;
  const quote = dialect.quote === '' ? null : dialect.quote;
  const { delimiter, headerRow } = dialect;
  const head: FileHead = { format: CSV, type, encoding, delimiter, quote, headerRow, headers };
  if (encodingGuess !== undefined) return { ...head, encodingGuess, ...found, ...metaOf(preamble, meta) };
  if (found === undefined && preamble === undefined && meta === undefined) return head;
  return { ...head, ...found, ...metaOf(preamble, meta) };
}

function metaOf(preamble: MetaSearch | undefined, meta: MetaValues | undefined): Pick<FileHead, 'meta'> {
  return preamble === undefined && meta === undefined ? {} : { meta: { ...preamble?.values, ...meta } };
}

/** True if the SIMD kernels can read this dialect. Otherwise the slow path reads it. */
export function isFastDialect(dialect: Pick<CsvDialect, 'delimiter' | 'quote'>): boolean {
  return isFast(dialect.delimiter) && isFast(dialect.quote);
}

function isFast(character: string): boolean {
  return character === '' || isAscii(character);
}

/** True if the request or the Template sets the delimiter, which is then used whatever the rows contain. */
export function isDelimiterDeclared({ overrides, input }: Pick<OpenSettings, 'overrides' | 'input'>): boolean {
  return (overrides.delimiter ?? input.csv.delimiter) !== null;
}

function isAscii(character: string): boolean {
  return character.length === 1 && character.charCodeAt(0) < 0x80;
}

// Counts of warnings that a reader found: merges them for the report, and fails the file if they show that its detected
// form is wrong.

export function mergeCounts(into: CodeCounts, from: CodeCounts): void {
  for (const [key, counted] of Object.entries(from)) {
    const code = key as RowErrorCode;
    const known = into[code];
    if (known === undefined) into[code] = { count: counted.count, rows: [...counted.rows] };
    else {
      known.count += counted.count;
      known.rows = [...known.rows, ...counted.rows].slice(0, REPORT_ROWS_MAX);
    }
  }
}

/** Called at the end of the file. Throws Failed if the rows do not fit a dialect that was only detected. */
export function failWideRows(
  counts: CodeCounts,
  rows: number,
  columns: number,
  { wideRowsMin = Number.POSITIVE_INFINITY, onDoubt }: Pick<CsvReaderParts, 'wideRowsMin' | 'onDoubt'>,
): void {
  const wide = counts.RAGGED_ROW?.count ?? 0;
  if (wide < wideRowsMin || wide * 2 <= rows) return;
  const failed = tooWide(wide, rows, columns);
  if (onDoubt === undefined) throw failed;
  onDoubt(failed);
}
