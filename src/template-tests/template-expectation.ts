// Compares the outcome of a Template's test with its expectation, and describes the differences in lines of text.
import { isDeepStrictEqual } from 'node:util';
import type { Failure } from '../../workers/protocol/failure.ts';
import type { RunReport } from '../../workers/protocol/report.ts';
import { lineDiff } from './line-diff.ts';

export interface Expectation {
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  readonly text?: string;
  /** Content of the expected file. */
  readonly file?: Uint8Array;
  /** Content of the file of rejected rows. */
  readonly rejects?: string;
  /** Failure code. */
  readonly error?: string;
  readonly report?: Readonly<Record<string, unknown>>;
  readonly match: 'exact' | 'subset' | 'bytes';
}

export interface TestOutcome {
  readonly output: Uint8Array | null;
  /** Null if no operation rejects rows, or if the Run failed. */
  readonly rejects: Uint8Array | null;
  readonly failure: Failure | null;
  readonly report: RunReport;
}

/**
 * @param outcome the outcome of the unmodified Template
 * @param rows its rows as JSON (needed only if rows are expected)
 * @returns the differences; empty if the outcome is as expected
 */
export function differences(expected: Expectation, outcome: TestOutcome, rows: readonly unknown[] | null): string[] {
  const code = outcome.failure?.code;
  if (expected.error !== undefined) {
    const found = code === undefined ? 'the Run succeeded' : `${code}: ${outcome.failure?.message}`;
    return expected.error === code
      ? reportDifferences(expected, outcome)
      : [`expected ${expected.error}, but ${found}`];
  }
  if (code !== undefined) return [`the Run failed with ${code}: ${outcome.failure?.message}`];
  const output = outcome.output ?? new Uint8Array();
  return [
    ...(expected.rows === undefined ? [] : rowDifferences(expected.rows, rows ?? [], expected.match)),
    ...(expected.text === undefined ? [] : contentDifferences(Buffer.from(expected.text), output, expected.match)),
    ...(expected.file === undefined ? [] : contentDifferences(expected.file, output, expected.match)),
    ...rejectDifferences(expected, outcome),
    ...reportDifferences(expected, outcome),
  ];
}

/**
 * `exact` compares texts but ignores CRLF and a final line break; `subset` requires the expected lines in this order.
 */
function contentDifferences(expected: Uint8Array, actual: Uint8Array, match: Expectation['match']): string[] {
  if (Buffer.compare(expected, actual) === 0) return [];
  const before = plainText(expected);
  const after = plainText(actual);
  if (match === 'bytes') {
    if (before !== after) return lineDiff(before, after);
    return [`the texts are equal, but their bytes differ (${expected.length} bytes expected, ${actual.length} found)`];
  }
  if (before === after) return [];
  if (match === 'exact') return lineDiff(before, after);
  const missing = missingInOrder(before.split('\n'), after.split('\n'), (a, b) => a === b);
  return missing === null ? [] : [`this line is not in the output, or not in this order: ${missing}`];
}

function rejectDifferences({ rejects, match }: Expectation, outcome: TestOutcome): string[] {
  if (rejects === undefined) return [];
  if (outcome.rejects === null) return ['no operation of the Template has on_error: reject'];
  return contentDifferences(Buffer.from(rejects), outcome.rejects, match).map((line) => `rejects: ${line}`);
}

function plainText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8').replaceAll('\r\n', '\n').replace(/\n$/, '');
}

/**
 * `exact`: the same rows with the same columns; `subset`: the expected rows in this order, compared by the columns
 * that they name.
 */
function rowDifferences(
  expected: readonly object[],
  actual: readonly unknown[],
  match: Expectation['match'],
): string[] {
  const wanted = expected.map(comparable);
  const there = actual.map(comparable);
  const same = (row: number, name: string, cell: unknown): boolean =>
    isDeepStrictEqual(wanted[row]![name], cell) || isValueOf((expected[row] as Cells)[name], cell);
  if (match === 'subset') {
    const holds = (row: Cells, other: Cells) =>
      Object.keys(row).every((key) => same(wanted.indexOf(row), key, other[key]));
    const missing = missingInOrder(wanted, there, holds);
    return missing === null ? [] : [`this row is not in the output, or not in this order: ${JSON.stringify(missing)}`];
  }
  const before = wanted.map((row) => rowText(row, Object.keys(row).sort()));
  // A cell that matches its expectation is shown in the notation of the expectation, so that only the other cells
  // differ.
  const after = there.map((row, index) => {
    const names = Object.keys(row).sort();
    const shown = names.map((name) => [
      name,
      index < wanted.length && same(index, name, row[name]) ? wanted[index]![name] : row[name],
    ]);
    return rowText(Object.fromEntries(shown), names);
  });
  return isDeepStrictEqual(before, after) ? [] : lineDiff(before.join('\n'), after.join('\n'));
}

type Cells = Record<string, unknown>;

/**
 * Converts numbers and booleans to strings, because most cells of outputs are strings: a number, a decimal as text
 * and `true` in a file are equal to their strings.
 */
function comparable(row: unknown): Cells {
  const cells: Cells = Object.create(null);
  for (const [name, value] of Object.entries(row as object)) {
    cells[name] = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  }
  return cells;
}

/** True if a number in a test equals a cell. YAML and JSON drop the trailing zeros of 1.50. */
function isValueOf(written: unknown, cell: unknown): boolean {
  if (typeof written !== 'number' || typeof cell !== 'string') return false;
  return /^-?(?:0|[1-9][0-9]*)\.[0-9]+$/.test(cell) && cell.replace(/\.?0+$/, '') === String(written);
}

function rowText(row: Cells, names: readonly string[]): string {
  return `{${names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(row[name])}`).join(', ')}}`;
}

/** The first expected item that does not follow the previous one in the actual items; null: all found. */
function missingInOrder<T>(
  wanted: readonly T[],
  there: readonly T[],
  holds: (wanted: T, there: T) => boolean,
): T | null {
  let from = 0;
  for (const item of wanted) {
    const at = there.findIndex((other, index) => index >= from && holds(item, other));
    if (at < 0) return item;
    from = at + 1;
  }
  return null;
}

/** Compares only the fields that the test names. */
function reportDifferences({ report }: Expectation, outcome: TestOutcome): string[] {
  return report === undefined ? [] : subsetDifferences(report, outcome.report, 'report');
}

function subsetDifferences(expected: unknown, actual: unknown, path: string): string[] {
  if (typeof expected !== 'object' || expected === null) {
    if (expected === actual) return [];
    return [`${path}: expected ${JSON.stringify(expected)}, is ${JSON.stringify(actual) ?? 'not there'}`];
  }
  if (typeof actual !== 'object' || actual === null) return [`${path} is not there`];
  return Object.entries(expected).flatMap(([key, part]) =>
    subsetDifferences(part, (actual as Readonly<Record<string, unknown>>)[key], `${path}.${key}`),
  );
}
