// What a reader counted: for the report of its Run, and whether a file can be right of which so much was counted.
import { type CodeCounts, REPORT_ROWS_MAX, type RowErrorCode } from '../../run/report.ts';
import type { CsvReaderParts } from './csv-input.ts';
import { tooWide } from './malformed.ts';

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

/** At the end of the file. Throws Failed where its rows do not fit a dialect that was only detected. */
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
