// Compares a record with the rows below it: a header has words above numbers, a data row has numbers above numbers.
import { type CellKind, cellKind, isDataKind } from './cell-kind.ts';
import { isSpace } from './cell-units.ts';
import type { Cells, Records } from './records.ts';

/** Records below a line whose cells are compared with it. */
const BODY_RECORDS = 20;

/** Years and spans of years name columns of tables over time; spreadsheets export years with a decimal. */
const YEAR = /^(?:19|20)\d{2}(?:\.0|[-/–](?:\d{2}|(?:19|20)\d{2}))?$/;

/** Kinds of cells that name a period where numbers stand below. */
const PERIODS: readonly CellKind[] = ['date', 'datetime'];

export interface Comparison {
  /** Columns that hold mostly numbers, dates or addresses below the record. */
  readonly typed: number;
  /** Of these, columns where the record has such a cell too. */
  readonly alike: number;
  /** Of these, columns where the record has a text, or a year or date above cells that are none. */
  readonly named: number;
}

export function isYear(cell: string): boolean {
  return YEAR.test(cell);
}

/** The records [start, end), which are there. */
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

/** Nothing stands there but spaces, if these. */
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

/** Whether something stands in the column in most of the rows, short ones included. */
export function isFilledBelow(body: Body, column: number): boolean {
  const { records, start, end } = body;
  let filled = 0;
  for (let row = start; row < end; row++) if (isFilled(records, row, column)) filled++;
  return filled * 2 > end - start;
}

function isFilled(records: Records, row: number, column: number): boolean {
  return column < records.width(row) && records.kind(row, column) !== '';
}

/** True when a record has numbers, dates or addresses in it where the rows below have them in the same columns. */
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

/** Of the rows in which something stands in the column. */
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
