// Joins the outcomes of the shares of a Run (shared-run.ts), so that the report is that of one thread: rows are numbered in
// the whole file, and counts are added.
import type {
  PartOutcome,
  PipelineResult,
  RunOutcome,
  SortedFiles,
  TaskGroups,
  TaskOutcome,
  TaskRanges,
} from '../../workers/protocol/messages.ts';
import { rangeCount } from '../../workers/protocol/part-turns.ts';
import {
  type CodeCounts,
  type OperationReport,
  REPORT_ROWS_MAX,
  type RowErrorCode,
  type RunReport,
} from '../../workers/protocol/report.ts';

/** The joined outcomes of all shares. */
export interface JoinedShares {
  readonly outcome: RunOutcome;
  /** Null unless the shares have written groups. */
  readonly groups: Pick<TaskGroups, 'names' | 'rowsBefore'> | null;
  /** Names of the files; null unless the shares have written streams. */
  readonly streams: readonly string[] | null;
  /** Null unless the shares have written sorted rows. */
  readonly sorted: Omit<TaskRanges, 'head'> | null;
}

/** Joins the outcomes of all shares. Null if a part is missing. */
export function joined(shares: readonly TaskOutcome[], partCount: number): JoinedShares | null {
  const results = shares.flatMap((share) => share.results!);
  if (results.reduce((count, { parts }) => count + parts.length, 0) < partCount) return null;
  const firstRows = firstRowsOf(results.flatMap(({ parts }) => parts));
  const sorted = results.toSorted((one, other) => one.parts[0]!.number - other.parts[0]!.number);
  // The report of the first part describes how the header was read.
  const [{ report }, ...others] = sorted as [PipelineResult, ...PipelineResult[]];
  for (const result of others) addReport(report, result, firstRows);
  const sum = (of: (result: PipelineResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  // A thread that started late has no part and therefore no output.
  const { output, ...first } = shares.find((share) => share.output !== null)!;
  const outcome = {
    ...first,
    report,
    rowsWritten: sum(({ rowsWritten }) => rowsWritten),
    busyMilliseconds: shares.reduce((total, share) => total + share.busyMilliseconds, 0),
    output: { ...output!, sizeBytes: sum(({ sizeBytes }) => sizeBytes) },
  };
  const hasGroups = results.some(({ groups }) => groups !== undefined);
  const names = results.flatMap(({ groups = [] }) => groups);
  const hasStreams = results.some(({ streams }) => streams !== undefined);
  return {
    outcome,
    groups: hasGroups ? { names, rowsBefore: rowsBefore(results, firstRows) } : null,
    sorted: sortedOf(results),
    streams: hasStreams ? results.flatMap(({ streams = [] }) => streams) : null,
  };
}

function sortedOf(results: readonly PipelineResult[]): Omit<TaskRanges, 'head'> | null {
  if (results.every(({ sorted }) => sorted === undefined)) return null;
  const files = results.flatMap(({ sorted }) => sorted ?? []);
  const sum = (of: (file: SortedFiles) => number): number => files.reduce((total, file) => total + of(file), 0);
  const count = rangeCount(
    sum(({ segments }) => segments),
    sum(({ sizeBytes }) => sizeBytes),
  );
  return { names: files.flatMap(({ names }) => names), count };
}

/** For each part, the number to add to its row numbers in the report of its pipeline. */
function rowsBefore(results: readonly PipelineResult[], firstRows: readonly number[]): number[] {
  const missing: number[] = [];
  for (const { parts } of results) {
    let before = 0;
    for (const { number, rows } of parts) {
      missing[number] = firstRows[number]! - before;
      before += rows;
    }
  }
  return missing;
}

/** Joins the outcome of the shares with that of the task that merged their groups, whose first operation is the merge. */
export function merged({ report, busyMilliseconds }: RunOutcome, last: TaskOutcome): RunOutcome {
  const { reportText, ...outcome } = last;
  const { operations, output } = JSON.parse(reportText) as RunReport;
  const [first, ...others] = operations as [OperationReport, ...OperationReport[]];
  const merging = report.operations.at(-1)!;
  merging.rows_out = first.rows_out;
  merging.cells_changed = first.cells_changed;
  addCounts(merging.errors, first.errors, (row) => row);
  report.operations.push(...others);
  report.output = output;
  report.rows_written = outcome.rowsWritten!;
  return { ...outcome, report, busyMilliseconds: busyMilliseconds + last.busyMilliseconds };
}

/** Number of rows in the file before each part. */
function firstRowsOf(parts: readonly PartOutcome[]): readonly number[] {
  const rows: number[] = [];
  for (const part of parts) rows[part.number] = part.rows;
  let before = 0;
  return rows.map((count) => {
    before += count;
    return before - count;
  });
}

/** Adds the report of a pipeline. Both reports have the operations of the Template. */
function addReport(report: RunReport, { parts, report: more }: PipelineResult, firstRows: readonly number[]): void {
  const rowOf = (row: number): number => {
    let before = 0;
    for (const { number, rows } of parts) {
      if (row <= before + rows) return firstRows[number]! + row - before;
      before += rows;
    }
    throw new Error('a row after the last part');
  };
  addCounts(report.input.errors, more.input.errors, rowOf);
  for (const [index, operation] of report.operations.entries()) {
    const added = more.operations[index]!;
    operation.rows_in += added.rows_in;
    operation.rows_out += added.rows_out;
    operation.cells_changed += added.cells_changed;
    addCounts(operation.errors, added.errors, rowOf);
  }
  report.output.formulas_guarded += more.output.formulas_guarded;
  report.rows_written += more.rows_written;
  report.rows_read += more.rows_read;
}

/** Adds counts, and sorts the codes by their first row. */
function addCounts(into: CodeCounts, from: CodeCounts, rowOf: (row: number) => number): void {
  for (const [key, { count, rows }] of Object.entries(from)) {
    const code = key as RowErrorCode;
    const known = into[code] ?? { count: 0, rows: [] };
    known.count += count;
    known.rows = [...known.rows, ...rows.map(rowOf)].sort((one, other) => one - other).slice(0, REPORT_ROWS_MAX);
    into[code] = known;
  }
  const codes = Object.entries(into) as [RowErrorCode, { count: number; rows: number[] }][];
  codes.sort(([, one], [, other]) => (one.rows[0] ?? 0) - (other.rows[0] ?? 0));
  for (const [code] of codes) delete into[code];
  for (const [code, counts] of codes) into[code] = counts;
}
