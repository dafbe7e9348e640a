// Compares a record with the rows below it: a header has words above numbers, a data row has numbers above numbers.
import { cellKind, isDataKind } from './cell-kind.ts';

export type Cells = readonly string[];

/** Records below a line whose cells are compared with it. */
const BODY_RECORDS = 20;

/** Years and spans of years name columns of tables over time; spreadsheets export years with a decimal. */
const YEAR = /^(?:19|20)\d{2}(?:\.0|[-/–](?:\d{2}|(?:19|20)\d{2}))?$/;

/** Kinds of cells that name a period where numbers stand below. */
const PERIODS: readonly (string | null)[] = ['date', 'datetime'];

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

export function bodyBelow(records: readonly Cells[], line: number): readonly Cells[] {
  return records.slice(line + 1, line + 1 + BODY_RECORDS);
}

export function filledCells(record: Cells): number {
  return record.filter((cell) => cell.trim() !== '').length;
}

export function compareWithBody(record: Cells, body: readonly Cells[]): Comparison {
  let typed = 0;
  let alike = 0;
  let named = 0;
  for (const [column, text] of record.entries()) {
    const below = body.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '');
    if (!isMostly(below, (cell) => isDataKind(cellKind(cell)))) continue;
    typed++;
    const cell = text.trim();
    const kind = cellKind(cell);
    if (isDataKind(kind) && !isPeriodAboveOthers(cell, kind, below)) alike++;
    else if (kind !== '' && kind !== 'code') named++;
  }
  return { typed, alike, named };
}

/** True when a record has numbers, dates or addresses in it where the rows below have them in the same columns. */
export function looksLikeData(record: Cells, body: readonly Cells[]): boolean {
  const { alike, typed } = compareWithBody(record, body);
  if (typed === 0) return record.length > 0 && record.every((cell) => isDataKind(cellKind(cell.trim())));
  return alike * 2 > typed;
}

function isPeriodAboveOthers(cell: string, kind: string | null, below: readonly string[]): boolean {
  if (isYear(cell)) return !isMostly(below, isYear);
  return PERIODS.includes(kind) && !isMostly(below, (text) => PERIODS.includes(cellKind(text)));
}

function isMostly(cells: readonly string[], is: (cell: string) => boolean): boolean {
  return cells.filter(is).length * 2 > cells.length;
}
