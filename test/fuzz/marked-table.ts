// Tables in which every cell is unique and can be found again in the output, written in a random CSV dialect.
import { parse } from 'csv-parse/sync';
import { CANARY } from '../blackbox/multipart.ts';
import type { Chance } from './chance.ts';

const ROWS_MAX = 200;
const COLUMNS_MAX = 12;

export interface Dialect {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly quoting: 'minimal' | 'all';
  readonly mark: string;
  readonly lastLineEnds: boolean;
}

export interface MarkedTable {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function anyDialect(chance: Chance): Dialect {
  return {
    delimiter: chance.of([',', ';', '\t', '|']),
    lineEnd: chance.of(['\n', '\r\n', '\r']),
    quoting: chance.of(['minimal', 'minimal', 'all']),
    mark: chance.of(['', '', '\ufeff']),
    lastLineEnds: !chance.oneIn(4),
  };
}

/** No cell is empty, and no two are the same. */
export function anyMarkedTable(chance: Chance): MarkedTable {
  const columns = 1 + chance.below(COLUMNS_MAX);
  const rows = chance.below(ROWS_MAX);
  const kinds = Array.from({ length: columns }, () => chance.of(KINDS));
  return {
    headers: Array.from({ length: columns }, (_, column) => `column${column}`),
    rows: Array.from({ length: rows }, (_, row) => kinds.map((kind, column) => kind(`${row}x${column}`, row, column))),
  };
}

const KINDS: readonly ((mark: string, row: number, column: number) => string)[] = [
  (mark) => `${CANARY}${mark}`,
  (_, row, column) => `${row + 1},${String(column).padStart(2, '0')}`,
  (_, row, column) => `${row}.${column}5`,
  (mark) => `${CANARY}, ${mark}; and "more"`,
  (mark) => `two\nlines ${mark}`,
  (mark) => ` outer blanks ${mark} `,
  (mark) => `\u00c9t\u00e9 \ud83d\ude00 ${mark}`,
  (mark) => `=1+1 ${mark}`,
];

export function written({ headers, rows }: MarkedTable, dialect: Dialect): Buffer {
  const { delimiter, lineEnd, quoting, mark, lastLineEnds } = dialect;
  const field = (text: string): string =>
    quoting === 'all' || text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = [headers, ...rows].map((row) => row.map(field).join(delimiter));
  return Buffer.from(mark + lines.join(lineEnd) + (lastLineEnds ? lineEnd : ''));
}

/**
 * What was lost on the way from a table to the text of a CSV output without operations, null: nothing. Cells that the
 * answer's report counts as left out may be missing.
 */
export function lostCells({ headers, rows }: MarkedTable, output: string, counted: number): string | null {
  // The guard against formulas puts an apostrophe before a cell.
  const found = new Set(parseRows(output).flatMap((row) => row.map((cell) => cell.replace(/^'=/, '='))));
  const missing = [headers, ...rows].flat().filter((cell) => !found.has(cell)).length;
  if (missing <= counted) return null;
  return `${missing} cells of ${rows.length} rows are neither in the output nor counted (${counted})`;
}

/** Records of a CSV text, the header among them. */
export function parseRows(text: string): string[][] {
  return parse(text, { relax_column_count: true, skip_empty_lines: false }) as string[][];
}
