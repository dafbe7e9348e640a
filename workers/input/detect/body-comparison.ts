// Compares a record with the rows below it: a header has words above numbers, a data row has numbers above numbers.
import { type CellKind, cellKind, isDataKind } from './cell-kind.ts';
import { isSpace } from './cell-units.ts';
import { type Cells, type Records, recordsFrom } from './records.ts';

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

export function bodyBelow(records: Records, line: number): readonly Cells[] {
  return recordsFrom(records, line + 1, line + 1 + BODY_RECORDS);
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

export function compareWithBody(record: Cells, body: readonly Cells[]): Comparison {
  let typed = 0;
  let alike = 0;
  let named = 0;
  for (const [column, text] of record.entries()) {
    const below = filledBelow(body, column);
    if (!isMostly(below, (cell) => isDataKind(cellKind(cell)))) continue;
    typed++;
    const kind = cellKind(text);
    if (isDataKind(kind) && !isPeriodAboveOthers(text.trim(), kind, below)) alike++;
    else if (kind !== '' && kind !== 'code') named++;
  }
  return { typed, alike, named };
}

function filledBelow(body: readonly Cells[], column: number): readonly string[] {
  const cells: string[] = [];
  for (const row of body) {
    const cell = row[column];
    if (cell !== undefined && !isBlank(cell)) cells.push(cell);
  }
  return cells;
}

/** True when a record has numbers, dates or addresses in it where the rows below have them in the same columns. */
export function looksLikeData(record: Cells, body: readonly Cells[]): boolean {
  const { alike, typed } = compareWithBody(record, body);
  if (typed === 0) return record.length > 0 && record.every((cell) => isDataKind(cellKind(cell)));
  return alike * 2 > typed;
}

function isPeriodAboveOthers(cell: string, kind: CellKind, below: readonly string[]): boolean {
  if (isYear(cell)) return !isMostly(below, (text) => isYear(text.trim()));
  return PERIODS.includes(kind) && !isMostly(below, (text) => PERIODS.includes(cellKind(text)));
}

function isMostly(cells: readonly string[], is: (cell: string) => boolean): boolean {
  let count = 0;
  for (const cell of cells) if (is(cell)) count++;
  return count * 2 > cells.length;
}
