// The summary that `run` prints for each file on standard error: counts by operation and code, never a value.
import type { RunOutcome } from '../../workers/protocol/messages.ts';
import type { CodeCounts, ReportedPlace, RunReport } from '../../workers/protocol/report.ts';

export interface LocalResult {
  readonly input: string;
  /** Inputs whose rows follow those of `input` in the same output. */
  readonly more: readonly string[];
  readonly outcome: RunOutcome;
  /** Number of parts in which the file was processed; 1: as a whole. */
  readonly parts: number;
  /** Path of the output if it is not in `outcome.output.bytes`. */
  readonly outputPath: string;
  /** Number of bytes that another program added to the file meanwhile, which were not read. */
  readonly grownBytes: number;
  readonly milliseconds: number;
}

export interface Summary {
  readonly json: boolean;
  /** Rejected rows are written to a file, so the summary need not suggest that. */
  readonly keepsRejects: boolean;
}

/** One JSON line, or a few lines for people. */
export function summaryOf(result: LocalResult, { json, keepsRejects }: Summary): string {
  const { input: file, more, outcome, grownBytes, milliseconds } = result;
  const input = more.length === 0 ? file : `${file} and ${counted(more.length, 'more file')}`;
  const { report, rowsWritten, truncated, failure } = outcome;
  if (json) {
    const status = failure === null ? 'succeeded' : 'failed';
    const error = failure && { code: failure.code, message: failure.message };
    return JSON.stringify({
      file,
      ...(more.length > 0 && { files: [file, ...more] }),
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
    head + (truncated ? ', truncated at the row or size limit' : ''),
    ...(grownBytes === 0
      ? []
      : [`  input: the file grew meanwhile: its last ${counted(grownBytes, 'byte')} were not read`]),
    ...guessLines(report.input),
    ...readingLines(report.input),
    ...codeLines('input', report.input.errors, report.input.places),
    ...operationLines(result),
    ...outputLines(report),
    ...(report.rejects === undefined ? [] : [rejectedLine(report.rejects.rows, keepsRejects)]),
  ].join('\n');
}

function outputLines({ output, input }: RunReport): string[] {
  const { formulas_guarded: guarded, errors = {} } = output;
  const guard = `  output: ${counted(guarded, 'cell')} got a ' in front, because a spreadsheet could run the text as a formula (output.formula_guard)`;
  return [...(guarded > 0 ? [guard] : []), ...codeLines('output', errors, input.places)];
}

/** Lines about how the file was read, if that was guessed, and about what was left out. */
function readingLines(input: RunReport['input']): string[] {
  const { delimiter, quotes_after_space, nul_bytes = 0, comment_lines = 0, header_lines = 1 } = input;
  const { values_beside_list: beside = 0, nan_values: nan = 0 } = input;
  const { files = 1 } = input;
  const above = (input.header_row ?? 0) + 1 - header_lines;
  return [
    ...(files > 1 ? [`  input: ${files} files, one after the other`] : []),
    ...(above > 0
      ? [`  input: ${counted(above, 'record')} above the header left out (header_row: ${input.header_row})`]
      : []),
    ...((delimiter?.length ?? 0) > 1 ? [`  input: read with the delimiter ${JSON.stringify(delimiter)}`] : []),
    ...(input.record_separator === undefined
      ? []
      : [`  input: read with the record separator ${JSON.stringify(input.record_separator)}`]),
    ...(input.escape === undefined ? [] : ['  input: read with backslash escapes']),
    ...(quotes_after_space === true ? ['  input: read with quotes after spaces'] : []),
    ...(nul_bytes > 0 ? [`  input: ${counted(nul_bytes, 'NUL byte')} left out`] : []),
    ...(nan > 0 ? [`  input: ${counted(nan, 'value')} NaN or Infinity read as null`] : []),
    ...(comment_lines > 0 ? [`  input: ${counted(comment_lines, 'comment line')} left out`] : []),
    ...(beside > 0
      ? [
          `  input: ${counted(beside, 'value')} beside the list of records left out (input.json.records: "" reads them too)`,
        ]
      : []),
  ];
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

function guessLines({ encoding, encoding_guess }: RunReport['input']): string[] {
  if (encoding_guess === undefined) return [];
  return [
    `  input: read as ${encoding} because it shows ${encoding_guess}; input.csv.encoding: ${encoding} makes it certain`,
  ];
}

/** Explanations of codes that are counted although the values were used. */
const HINTS: Readonly<Record<string, string>> = {
  NUMBERS_AS_TEXT: ' (numbers, dates or times were compared as texts, so that 10 is before 9: parse the column before)',
  AMBIGUOUS_ZONE: ' (abbreviations of zones that have several meanings: replace them with offsets such as +05:30)',
  DATE_IN_DST_GAP: ' (local times that do not exist because the clock changed; "dst" sets how they are read)',
  DATE_IN_DST_OVERLAP:
    ' (local times that exist twice because the clock changed; the earlier one is used unless "dst" is set)',
};

function codeLines(place: string, counts: CodeCounts, places: readonly ReportedPlace[] = []): string[] {
  return Object.entries(counts).map(
    ([code, { count, rows }]) =>
      `  ${place}: ${code} ${counted(count, 'time')}, ${rowsText(rows, places)}${HINTS[code] ?? ''}`,
  );
}

/**
 * Row numbers as a spreadsheet program shows them for a workbook, otherwise as row numbers of the data. Rows that
 * operations added have no number.
 */
function rowsText(rows: readonly number[], places: readonly ReportedPlace[]): string {
  return rows.length === 0 ? 'in rows that operations added' : `first in ${numbersOf(rows, places)}`;
}

function numbersOf(rows: readonly number[], places: readonly ReportedPlace[]): string {
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
