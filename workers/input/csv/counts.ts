// Adds what a reader counted to the report of its Run.
import { type CodeCounts, REPORT_ROWS_MAX, type RowErrorCode } from '../../report.ts';

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
