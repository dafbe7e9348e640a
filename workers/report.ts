// The value-free report of a Run: rows and cells by operation, error codes with counts and the first source rows.

/** Codes of row errors (templates.md, "Errors in rows"). */
export type RowErrorCode =
  | 'NOT_A_NUMBER'
  | 'NOT_A_DATE'
  | 'AMBIGUOUS_DATE'
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
  | 'RAGGED_ROW'
  | 'STRAY_QUOTE';

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
  input: { type: string; encoding: string; delimiter: string | null; header_row: number | null; errors: CodeCounts };
  operations: OperationReport[];
  output: { formulas_guarded: number };
  /** Reference tables read, by their name in the Template. */
  tables: Record<string, string>;
}

/** Counts one occurrence, keeping the first source rows. */
export function countCode(counts: CodeCounts, code: RowErrorCode, sourceRow: number): void {
  let entry = counts[code];
  if (entry === undefined) {
    entry = { count: 0, rows: [] };
    counts[code] = entry;
  }
  entry.count++;
  if (entry.rows.length < REPORT_ROWS_MAX) entry.rows.push(sourceRow);
}
