// Records of a sample as the detectors of headers look at them: one by one, cell by cell, as far as they have to.
import { type CellKind, cellKind } from './cell-kind.ts';

export type Cells = readonly string[];

/** Blank ones included; counted from 0. */
export interface Records {
  has(record: number): boolean;
  /** Fields of a record that is there. */
  width(record: number): number;
  /** Of a record that is there. */
  at(record: number): Cells;
  /** The text of a cell that is there. */
  cell(record: number, column: number): string;
  /** What a cell that is there looks like. */
  kind(record: number, column: number): CellKind;
  /** One more than the last field of a record that is there in which something stands. */
  filledWidth(record: number): number;
}

/** Of texts that are there already. */
export function listed(rows: readonly Cells[]): Records {
  return {
    has: (record) => record < rows.length,
    width: (record) => rows[record]!.length,
    at: (record) => rows[record]!,
    cell: (record, column) => rows[record]![column]!,
    kind: (record, column) => cellKind(rows[record]![column]!),
    filledWidth: (record) => rows[record]!.findLastIndex((cell) => cell.trim() !== '') + 1,
  };
}

/** The first ones, at most so many. */
export function upTo(records: Records, most: number): Records {
  return {
    has: (record) => record < most && records.has(record),
    width: (record) => records.width(record),
    at: (record) => records.at(record),
    cell: (record, column) => records.cell(record, column),
    kind: (record, column) => records.kind(record, column),
    filledWidth: (record) => records.filledWidth(record),
  };
}

/** The records [start, end), as far as there are such. */
export function recordsFrom(records: Records, start: number, end: number): readonly Cells[] {
  const found: Cells[] = [];
  for (let record = start; record < end && records.has(record); record++) found.push(records.at(record));
  return found;
}

/** The first record from `start` on in which something stands; -1: there is none. */
export function nextFilled(records: Records, start: number): number {
  for (let record = start; records.has(record); record++) if (records.filledWidth(record) > 0) return record;
  return -1;
}
