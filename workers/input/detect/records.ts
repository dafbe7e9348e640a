// Records of a sample as header detectors access them: one by one, cell by cell, and only as far as needed.
import { type CellKind, cellKind } from './cell-kind.ts';

export type Cells = readonly string[];

/** Numbered from 0, including blank records. All methods except `has` require that the record exists. */
export interface Records {
  has(record: number): boolean;
  /** Number of fields. */
  width(record: number): number;
  /** Texts of all fields. */
  at(record: number): Cells;
  /** Text of one field. */
  cell(record: number, column: number): string;
  /** Kind of one cell, see cellKind. */
  kind(record: number, column: number): CellKind;
  /** Number of fields up to the last one that is not blank. */
  filledWidth(record: number): number;
}

/** Wraps texts that are already split. */
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

/** Limits the records to the first `most`. */
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

/** Returns the existing records of [start, end). */
export function recordsFrom(records: Records, start: number, end: number): readonly Cells[] {
  const found: Cells[] = [];
  for (let record = start; record < end && records.has(record); record++) found.push(records.at(record));
  return found;
}

/** Returns the first record from `start` on that is not blank, or -1. */
export function nextFilled(records: Records, start: number): number {
  for (let record = start; records.has(record); record++) if (records.filledWidth(record) > 0) return record;
  return -1;
}
