// The reasons for the detected form of a file, collected for `inspect` and never during a Run. A reason contains no text
// of the file.
import type { Failed } from '../protocol/failure.ts';

export interface Choice<T> {
  /** From 0 to 1. At 0.5, the runner-up is equally good, or nothing favours either. */
  readonly confidence: number;
  /** The second-best choice. null if nothing else was possible, or if the second-best header row is "no header". */
  readonly runnerUp: T | null;
  readonly reason: string;
}

/** Contains a choice only if the format makes it. */
export interface FileExplanation {
  readonly delimiter?: Choice<string>;
  /** Sheet number, from 1. */
  readonly sheet?: Choice<number>;
  /** Path of the records in a JSON file. */
  readonly records?: Choice<string>;
  readonly headerRow: Choice<number>;
}

/** A sheet of a workbook: its size, and whether a Run reads it. */
export interface SheetSize {
  /** Position in the workbook, from 1. */
  readonly number: number;
  readonly name: string;
  readonly visibility: 'visible' | 'hidden' | 'veryHidden';
  readonly isRead: boolean;
  /** Rows up to the last row with a non-empty cell; `columns` likewise. */
  readonly rows: number;
  readonly columns: number;
  /** For each column, the number of non-empty cells of each native kind (kernel/layout/cells.ts). */
  readonly kinds: readonly Float64Array[];
  /** The reason why no Run can read the sheet, or null. */
  readonly problem: Failed | null;
}

/** For a choice that the format or the Template prescribes: nothing had to be detected. */
export function certain(reason: string): Choice<never> {
  return { confidence: 1, runnerUp: null, reason };
}

const DECIMALS = 100;

export function rounded(confidence: number): number {
  return Math.round(confidence * DECIMALS) / DECIMALS;
}
