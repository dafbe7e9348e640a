// The value-free report of a Run: rows and cells by operation, error codes with counts and the first source rows.

/** Codes of row errors. */
export type RowErrorCode =
  | 'NOT_A_NUMBER'
  | 'NOT_A_DATE'
  | 'NOT_A_TIME'
  | 'NOT_A_DURATION'
  | 'AMBIGUOUS_DATE'
  | 'AMBIGUOUS_NUMBER'
  | 'DATE_IN_DST_GAP'
  | 'NOT_A_BOOLEAN'
  | 'OUT_OF_RANGE'
  | 'TOO_LONG'
  | 'REQUIRED_EMPTY'
  | 'NOT_IN_SET'
  | 'PATTERN_MISMATCH'
  | 'CHECKSUM'
  | 'NOT_UNIQUE'
  | 'LOOKUP_MISS'
  | 'SPLIT_COUNT'
  | 'NO_MATCH'
  | 'BAD_JSON'
  | 'EXPR_TYPE'
  | 'EXPR_DIV_ZERO'
  | 'PRECISION_LOSS'
  | 'TOTAL_MISMATCH'
  | 'CELL_DROPPED'
  | 'RAGGED_ROW'
  | 'STRAY_QUOTE'
  | 'XLSX_ERROR'
  | 'NO_CACHED_VALUE';

/** Source rows that a report names for each code: enough to find the cause, little enough to keep for 30 minutes. */
export const REPORT_ROWS_MAX = 20;

export interface CodeCount {
  count: number;
  /** Source rows (1 = first data row), the first REPORT_ROWS_MAX of them. */
  rows: number[];
}

export type CodeCounts = Partial<Record<RowErrorCode, CodeCount>>;

/** One step's counters; operations add to them while they run. */
export interface OperationReport {
  readonly operation: string;
  /** The Template's own `id` of the operation, else null. */
  readonly id: string | null;
  rows_in: number;
  rows_out: number;
  cells_changed: number;
  errors: CodeCounts;
}

export interface RunReport {
  template_sha256: string;
  rows_read: number;
  rows_written: number;
  input: {
    type: string;
    encoding: string;
    delimiter: string | null;
    header_row: number | null;
    errors: CodeCounts;
    /** Spaces between a delimiter and an opening quote were left out; absent where there were none. */
    quotes_after_space?: true;
    /** Of a header of several lines, whose texts were joined; absent for one. */
    header_lines?: number;
    /** Of a workbook, where the rows stand that errors name, by row; absent where there are none. */
    places?: ReportedPlace[];
    /** Lines left out as comments; absent where there were none. */
    comment_lines?: number;
  };
  operations: OperationReport[];
  output: {
    formulas_guarded: number;
    /** Cells that the file cannot hold; absent where there were none. */
    errors?: CodeCounts;
  };
  /** Reference tables read, by their name in the Template. */
  tables: Record<string, string>;
  /** The second file of a Template that rejects rows; absent where it does not. */
  rejects?: { rows: number; size_bytes: number };
}

/** A row of the data, and where a spreadsheet program shows it: all from 1. */
export interface ReportedPlace {
  readonly row: number;
  readonly sheet: number;
  readonly sheet_row: number;
}

/** So many places are told: what is wrong in more rows is seldom mended by hand. */
const REPORT_PLACES_MAX = 100;

/** Notes where the rows stand that the report names. */
export function tellPlaces(
  report: RunReport,
  placeOf: (row: number) => Pick<ReportedPlace, 'sheet' | 'row'> | null,
): void {
  const counts = [report.input.errors, ...report.operations.map(({ errors }) => errors), report.output.errors ?? {}];
  const named = new Set(counts.flatMap((codes) => Object.values(codes).flatMap(({ rows }) => rows)));
  const places = [...named]
    .sort((left, right) => left - right)
    .flatMap((row): ReportedPlace[] => {
      const place = placeOf(row);
      return place === null ? [] : [{ row, sheet: place.sheet, sheet_row: place.row }];
    });
  if (places.length > 0) report.input.places = places.slice(0, REPORT_PLACES_MAX);
}

/** Notes how a file was read. */
export function tellInput(
  { input }: RunReport,
  head: {
    readonly type: string;
    readonly encoding: string;
    readonly delimiter: string | null;
    readonly headerRow: number | null;
    readonly quotesAfterSpace?: true;
    readonly headerLines?: number;
  },
): void {
  const { type, encoding, delimiter, headerRow, quotesAfterSpace, headerLines } = head;
  Object.assign(input, { type, encoding, delimiter, header_row: headerRow });
  if (quotesAfterSpace === true) input.quotes_after_space = true;
  if (headerLines !== undefined) input.header_lines = headerLines;
}

/** Notes how many lines were left out as comments. */
export function tellComments({ input }: RunReport, comments: { readonly lines: number } | undefined): void {
  if (comments !== undefined && comments.lines > 0) input.comment_lines = comments.lines;
}

/** Counts one occurrence, keeping the first source rows, each once. */
export function countCode(counts: CodeCounts, code: RowErrorCode, sourceRow: number): void {
  let entry = counts[code];
  if (entry === undefined) {
    entry = { count: 0, rows: [] };
    counts[code] = entry;
  }
  entry.count++;
  if (entry.rows.length < REPORT_ROWS_MAX && !entry.rows.includes(sourceRow)) entry.rows.push(sourceRow);
}
