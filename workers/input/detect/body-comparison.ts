// Compares a record with the rows below it. A header has words above numbers; a data row has numbers above numbers.
import { type CellKind, cellKind, isDataKind, isSpace } from './cell-kind.ts';
import type { Cells, Records } from './records.ts';

/** Number of records below a line that are compared with it. */
const BODY_RECORDS = 20;

/** Years and ranges of years, which name columns in tables over time. Spreadsheets export years with a decimal. */
const YEAR = /^(?:19|20)\d{2}(?:\.0|[-/–](?:\d{2}|(?:19|20)\d{2}))?$/;

/** Kinds of cells that name a period if numbers are below them. */
const PERIODS: readonly CellKind[] = ['date', 'datetime'];

export interface Comparison {
  /** Number of columns with mostly numbers, dates or addresses below the record. */
  readonly typed: number;
  /** Number of these columns in which the record also has such a cell. */
  readonly alike: number;
  /**
   * Number of these columns in which the record has a text, or a year or date above cells that are not years or dates.
   */
  readonly named: number;
}

export function isYear(cell: string): boolean {
  return YEAR.test(cell);
}

/** The records [start, end), all of which exist. */
export interface Body {
  readonly records: Records;
  readonly start: number;
  readonly end: number;
}

export function bodyBelow(records: Records, line: number): Body {
  const start = line + 1;
  let end = start;
  while (end < start + BODY_RECORDS && records.has(end)) end++;
  return { records, start, end };
}

export function filledCells(record: Cells): number {
  let filled = 0;
  for (const cell of record) if (!isBlank(cell)) filled++;
  return filled;
}

/** True if the cell is empty or has only spaces. */
export function isBlank(cell: string): boolean {
  for (let at = 0; at < cell.length; at++) if (!isSpace(cell.charCodeAt(at))) return false;
  return true;
}

export function compareWithBody(record: Cells, body: Body): Comparison {
  let typed = 0;
  let alike = 0;
  let named = 0;
  for (const [column, text] of record.entries()) {
    if (!isMostly(body, column, (row) => isDataKind(body.records.kind(row, column)))) continue;
    typed++;
    const kind = cellKind(text);
    if (isDataKind(kind) && !isPeriodAboveOthers(text.trim(), kind, body, column)) alike++;
    else if (kind !== '' && kind !== 'code') named++;
  }
  return { typed, alike, named };
}

/** True if most rows have a non-empty cell in the column. Rows that are too short count as empty. */
export function isFilledBelow(body: Body, column: number): boolean {
  const { records, start, end } = body;
  let filled = 0;
  for (let row = start; row < end; row++) if (isFilled(records, row, column)) filled++;
  return filled * 2 > end - start;
}

function isFilled(records: Records, row: number, column: number): boolean {
  return column < records.width(row) && records.kind(row, column) !== '';
}

/** True if the record has numbers, dates or addresses in the same columns as the rows below. */
export function looksLikeData(record: Cells, body: Body): boolean {
  const { alike, typed } = compareWithBody(record, body);
  if (typed === 0) return record.length > 0 && record.every((cell) => isDataKind(cellKind(cell)));
  return alike * 2 > typed;
}

function isPeriodAboveOthers(cell: string, kind: CellKind, body: Body, column: number): boolean {
  const { records } = body;
  if (isYear(cell)) return !isMostly(body, column, (row) => isYear(records.cell(row, column).trim()));
  return PERIODS.includes(kind) && !isMostly(body, column, (row) => PERIODS.includes(records.kind(row, column)));
}

/** True if a condition holds for most rows that have a non-empty cell in the column. */
function isMostly({ records, start, end }: Body, column: number, is: (row: number) => boolean): boolean {
  let filled = 0;
  let count = 0;
  for (let row = start; row < end; row++) {
    if (!isFilled(records, row, column)) continue;
    filled++;
    if (is(row)) count++;
  }
  return count * 2 > filled;
}
