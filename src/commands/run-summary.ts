// What `run` says of each file on standard error: counts by operation and code, never a value.
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import type { CodeCounts, ReportedPlace } from '../../workers/run/report.ts';

export interface LocalResult {
  readonly input: string;
  readonly outcome: RunOutcome;
  /** In how many parts it was done; 1: as a whole. */
  readonly parts: number;
  /** Where the output is when it is not in `outcome.output.bytes`. */
  readonly outputPath: string;
  readonly milliseconds: number;
}

export interface Summary {
  readonly json: boolean;
  /** Rejected rows go to a file, whose name the author has just written. */
  readonly keepsRejects: boolean;
}

/** One JSON line, or a few lines to read. */
export function summaryOf(result: LocalResult, { json, keepsRejects }: Summary): string {
  const { input, outcome, milliseconds } = result;
  const { report, rowsWritten, truncated, failure } = outcome;
  if (json) {
    const status = failure === null ? 'succeeded' : 'failed';
    const error = failure && { code: failure.code, message: failure.message };
    return JSON.stringify({
      file: input,
      status,
      rows_written: rowsWritten,
      truncated,
      milliseconds: Math.round(milliseconds),
      error,
      report,
    });
  }
  if (failure !== null) return `${input}: failed after ${counted(report.rows_read, 'row')}`;
  const head = `${input}: ${counted(report.rows_read, 'row')} read, ${rowsWritten} written in ${Math.round(milliseconds)} ms`;
  return [
    head + (truncated ? ', cut at the cap' : ''),
    ...codeLines('input', report.input.errors, report.input.places),
    ...operationLines(result),
    ...(report.rejects === undefined ? [] : [rejectedLine(report.rejects.rows, keepsRejects)]),
  ].join('\n');
}

function rejectedLine(rows: number, isKept: boolean): string {
  return `  ${counted(rows, 'row')} rejected${isKept || rows === 0 ? '' : ' and left out: --rejects FILE keeps them'}`;
}

function operationLines({ outcome }: LocalResult): string[] {
  return outcome.report.operations.flatMap(({ operation, id, rows_in, rows_out, cells_changed, errors }, index) => {
    const parts = [];
    if (rows_in !== rows_out) parts.push(`${counted(rows_in, 'row')} in, ${rows_out} out`);
    if (cells_changed > 0) parts.push(`${counted(cells_changed, 'cell')} changed`);
    const name = `${index + 1} ${operation}${id === null ? '' : ` (${id})`}`;
    return [
      ...(parts.length > 0 ? [`  ${name}: ${parts.join(', ')}`] : []),
      ...codeLines(name, errors, outcome.report.input.places),
    ];
  });
}

function codeLines(place: string, counts: CodeCounts, places: readonly ReportedPlace[] = []): string[] {
  return Object.entries(counts).map(
    ([code, { count, rows }]) => `  ${place}: ${code} ${counted(count, 'time')}, first in ${rowsText(rows, places)}`,
  );
}

/** Of a workbook as a spreadsheet program counts them, else as the data does. */
function rowsText(rows: readonly number[], places: readonly ReportedPlace[]): string {
  const found = places.filter(({ row }) => rows.includes(row));
  if (found.length === 0) return `rows ${rows.join(' ')}`;
  return [...new Set(found.map(({ sheet }) => sheet))]
    .map((sheet) => {
      const sheetRows = found.filter((place) => place.sheet === sheet).map(({ sheet_row }) => sheet_row);
      return `sheet ${sheet} rows ${sheetRows.join(' ')}`;
    })
    .join(', ');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
