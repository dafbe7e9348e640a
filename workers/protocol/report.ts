// The report of a Run, and its text as JSON.

// Row numbers of rows that `append_rows` added. They are above the row numbers of every file, so that added rows keep
// their order and differ from each other. These numbers are internal: messages and expressions never contain them.

/** Number of the first added row. Files have fewer rows, and stored row numbers have 48 bits. */
export const ADDED_ROWS_FROM = 2 ** 40;

/** The row's number in the file, or null for a row that an operation added. */
export function rowOfFile(sourceRow: number): number | null {
  return sourceRow < ADDED_ROWS_FROM ? sourceRow : null;
}

/** Describes a row in a message. */
export function rowPhrase(sourceRow: number): string {
  const row = rowOfFile(sourceRow);
  return row === null ? 'a row that an operation added' : `row ${row} of the data`;
}

// The report of a Run, free of cell values: rows and cells by operation, and error codes with counts and first source
// rows.

/** Codes of row errors. */
export type RowErrorCode =
  | 'NOT_A_NUMBER'
  | 'NOT_A_DATE'
  | 'NOT_A_TIME'
  | 'NOT_A_DURATION'
  | 'AMBIGUOUS_DATE'
  | 'AMBIGUOUS_NUMBER'
  | 'AMBIGUOUS_ZONE'
  | 'DATE_IN_DST_GAP'
  | 'DATE_IN_DST_OVERLAP'
  | 'NOT_A_BOOLEAN'
  | 'OUT_OF_RANGE'
  | 'TOO_LONG'
  | 'REQUIRED_EMPTY'
  | 'NOT_IN_SET'
  | 'PATTERN_MISMATCH'
  | 'CHECKSUM'
  | 'NOT_UNIQUE'
  | 'LOOKUP_MISS'
  | 'NUMBERS_AS_TEXT'
  | 'SPLIT_COUNT'
  | 'NO_MATCH'
  | 'BAD_JSON'
  | 'EXPR_TYPE'
  | 'EXPR_DIV_ZERO'
  | 'PRECISION_LOSS'
  | 'TOTAL_MISMATCH'
  | 'CELL_DROPPED'
  | 'RAGGED_ROW'
  | 'SHORT_ROW'
  | 'STRAY_QUOTE'
  | 'DUPLICATE_KEY'
  | 'LONE_SURROGATE'
  | 'XLSX_ERROR'
  | 'NO_CACHED_VALUE';

/**
 * Maximum number of source rows that a report lists for each code: enough to find the cause, and few enough to keep
 * for 30 minutes.
 */
export const REPORT_ROWS_MAX = 20;

export interface CodeCount {
  count: number;
  /** The first REPORT_ROWS_MAX source rows, numbered from the first data row, which is 1. */
  rows: number[];
}

export type CodeCounts = Partial<Record<RowErrorCode, CodeCount>>;

/** Counters of one step. Operations increase them while they run. */
export interface OperationReport {
  readonly operation: string;
  /** The operation's `id` in the Template, or null. */
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
    /**
     * If the encoding was guessed: the interpretation of the bytes beyond ASCII. Absent if the encoding is certain.
     */
    encoding_guess?: string;
    /** Spaces between a delimiter and an opening quote were skipped. Absent if there were no such spaces. */
    quotes_after_space?: true;
    /** Quotes were escaped by backslashes. Absent if there were no such escapes. */
    escape?: '\\';
    /** Text that ends a record. Absent if it is a line break. */
    record_separator?: string;
    /** Number of NUL bytes skipped; absent if 0. */
    nul_bytes?: number;
    /** Number of values NaN and Infinity of JSON that were read as null; absent if 0. */
    nan_values?: number;
    /** Number of header lines whose texts were joined; absent for a single header line. */
    header_lines?: number;
    /** Positions in the workbook of the rows that errors name, by row. Absent if there are no such rows. */
    places?: ReportedPlace[];
    /** Number of lines skipped as comments; absent if 0. */
    comment_lines?: number;
    /** Number of files that were read one after the other; absent for a single file. */
    files?: number;
    /** Number of values beside the list of records of a JSON file, which were not read; absent if 0. */
    values_beside_list?: number;
  };
  operations: OperationReport[];
  output: {
    formulas_guarded: number;
    /** Cells that the output format cannot hold. Absent if all cells fit. */
    errors?: CodeCounts;
  };
  /** Digests of the reference tables that were read, by their name in the Template. */
  tables: Record<string, string>;
  /** The file of rejected rows; absent if the Template rejects no rows. */
  rejects?: { rows: number; size_bytes: number };
}

/** A data row and its position in a spreadsheet program. All numbers start at 1. */
export interface ReportedPlace {
  readonly row: number;
  readonly sheet: number;
  readonly sheet_row: number;
}

/** Maximum number of positions in a report. People rarely correct more rows than this by hand. */
const REPORT_PLACES_MAX = 100;

/** Adds the workbook positions of the rows that the report names. */
export function reportPlaces(
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

/** Adds how the file was read. */
export function reportInput(
  { input }: RunReport,
  head: {
    readonly type: string;
    readonly encoding: string;
    readonly encodingGuess?: string;
    readonly delimiter: string | null;
    readonly headerRow: number | null;
    readonly quotesAfterSpace?: true;
    readonly escape?: '\\';
    readonly recordSeparator?: string;
    readonly headerLines?: number;
  },
): void {
  const { type, encoding, encodingGuess, delimiter, headerRow, quotesAfterSpace, headerLines } = head;
  Object.assign(input, { type, encoding, delimiter, header_row: headerRow });
  if (encodingGuess !== undefined) input.encoding_guess = encodingGuess;
  if (quotesAfterSpace === true) input.quotes_after_space = true;
  if (head.escape !== undefined) input.escape = head.escape;
  if (head.recordSeparator !== undefined) input.record_separator = head.recordSeparator;
  if (headerLines !== undefined) input.header_lines = headerLines;
}

/**
 * Adds how much of the file was skipped: comment lines, NUL bytes, and of JSON values beside the list of records and
 * NaN.
 */
export function reportSkipped(
  { input }: RunReport,
  {
    comments,
    nul,
    nan,
    valuesBeside = 0,
  }: {
    readonly comments?: { readonly lines: number } | undefined;
    readonly nul?: { readonly nulBytes: number } | undefined;
    readonly nan?: { readonly values: number } | undefined;
    readonly valuesBeside?: number;
  },
): void {
  if (comments !== undefined && comments.lines > 0) input.comment_lines = comments.lines;
  if (nul !== undefined && nul.nulBytes > 0) input.nul_bytes = nul.nulBytes;
  if (nan !== undefined && nan.values > 0) input.nan_values = nan.values;
  if (valuesBeside > 0) input.values_beside_list = valuesBeside;
}

/**
 * Removes the counts of the operations. If the Run ended before the last row, they depend on the batches, so on the
 * time at which the bytes arrived.
 */
export function removeCounts({ operations, output }: RunReport): void {
  for (const operation of operations) {
    Object.assign(operation, { rows_in: 0, rows_out: 0, cells_changed: 0, errors: {} });
  }
  delete output.errors;
}

/**
 * Removes the counts of parts of the file that readers left out. When a Run fails, they depend on how many bytes had
 * arrived before the failure.
 */
export function removeSkipped({ input }: RunReport): void {
  delete input.comment_lines;
  delete input.nul_bytes;
  delete input.nan_values;
  delete input.values_beside_list;
}

/**
 * Counts one occurrence of a code, and keeps the first source rows without duplicates. Rows that are not in the file
 * are counted but not listed.
 */
export function countCode(counts: CodeCounts, code: RowErrorCode, sourceRow: number): void {
  let entry = counts[code];
  if (entry === undefined) {
    entry = { count: 0, rows: [] };
    counts[code] = entry;
  }
  entry.count++;
  const row = rowOfFile(sourceRow);
  if (row !== null && entry.rows.length < REPORT_ROWS_MAX && !entry.rows.includes(row)) entry.rows.push(row);
}

/**
 * Same for rows that do not arrive in the order of the file, such as rows that were deferred to files. Keeps the first
 * rows of the file, so that the report does not depend on the memory of the Run.
 */
export function countInAnyOrder(counts: CodeCounts, code: RowErrorCode, sourceRow: number): void {
  const rows = counts[code]?.rows ?? [];
  const row = rowOfFile(sourceRow);
  if (row !== null && rows.length === REPORT_ROWS_MAX && row < rows.at(-1)! && !rows.includes(row)) rows.pop();
  const listed = rows.length;
  countCode(counts, code, sourceRow);
  const entry = counts[code]!;
  if (entry.rows.length > listed) entry.rows.sort((a, b) => a - b);
}

// Writes a report as JSON. Produces exactly the text of JSON.stringify, which takes twice as long for so many short
// fields. Every small Run has a report.

/** The report as JSON. */
export function reportText(report: RunReport): string {
  const { template_sha256, rows_read, rows_written, input, output, tables, rejects } = report;
  const { type, encoding, delimiter, header_row, errors, quotes_after_space, header_lines } = input;
  const { places, comment_lines, encoding_guess, nan_values, nul_bytes, values_beside_list, files } = input;
  const guess = encoding_guess === undefined ? '' : `,"encoding_guess":${JSON.stringify(encoding_guess)}`;
  const spaced = quotes_after_space === true ? ',"quotes_after_space":true' : '';
  const escaped = input.escape === undefined ? '' : `,"escape":${JSON.stringify(input.escape)}`;
  const separated =
    input.record_separator === undefined ? '' : `,"record_separator":${JSON.stringify(input.record_separator)}`;
  const nul = nul_bytes === undefined ? '' : `,"nul_bytes":${nul_bytes}`;
  const nan = nan_values === undefined ? '' : `,"nan_values":${nan_values}`;
  const lines = header_lines === undefined ? '' : `,"header_lines":${header_lines}`;
  const placed = places === undefined ? '' : `,"places":${JSON.stringify(places)}`;
  const comments = comment_lines === undefined ? '' : `,"comment_lines":${comment_lines}`;
  const beside = values_beside_list === undefined ? '' : `,"values_beside_list":${values_beside_list}`;
  const stacked = files === undefined ? '' : `,"files":${files}`;
  const lost = output.errors === undefined ? '' : `,"errors":${objectText(output.errors)}`;
  const apart = rejects === undefined ? '' : `,"rejects":${objectText(rejects)}`;
  let operations = '';
  for (const operation of report.operations) operations += (operations === '' ? '' : ',') + operationText(operation);
  return (
    `{"template_sha256":"${template_sha256}","rows_read":${rows_read},"rows_written":${rows_written},` +
    `"input":{"type":"${type}","encoding":"${encoding}","delimiter":${textOrNull(delimiter)},` +
    `"header_row":${header_row},"errors":${objectText(errors)}${guess}${spaced}${escaped}${separated}${nul}${nan}${lines}${placed}${comments}${beside}${stacked}},` +
    `"operations":[${operations}],` +
    `"output":{"formulas_guarded":${output.formulas_guarded}${lost}},"tables":${objectText(tables)}${apart}}`
  );
}

function operationText({ operation, id, rows_in, rows_out, cells_changed, errors }: OperationReport): string {
  return (
    `{"operation":"${operation}","id":${textOrNull(id)},"rows_in":${rows_in},"rows_out":${rows_out},` +
    `"cells_changed":${cells_changed},"errors":${objectText(errors)}}`
  );
}

/** Strings from a Template or a file may need escapes; names of this program never do. */
function textOrNull(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text);
}

/** Fast path for an empty object, which is by far the most frequent case. */
function objectText(object: object): string {
  for (const _ in object) return JSON.stringify(object);
  return '{}';
}
