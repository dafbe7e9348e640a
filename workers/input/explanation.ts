// Why a file was read as it was detected, for people who ask: inspect, never a Run. No text of the file is in a reason.
import type { Failed } from '../protocol/failure.ts';

export interface Choice<T> {
  /** From 0 to 1; 0.5: the runner-up is as good, or nothing speaks for either. */
  readonly confidence: number;
  /** The next best; null where nothing else was possible, and of header rows where it is that there is none. */
  readonly runnerUp: T | null;
  readonly reason: string;
}

/** A choice is there where the format has it. */
export interface FileExplanation {
  readonly delimiter?: Choice<string>;
  /** By its number from 1. */
  readonly sheet?: Choice<number>;
  /** Where the records of a JSON file stand. */
  readonly records?: Choice<string>;
  readonly headerRow: Choice<number>;
}

/** A sheet of a workbook: whether it is read or not, and what of it there is. */
export interface SheetSize {
  /** From 1, as the workbook lists it. */
  readonly number: number;
  readonly name: string;
  readonly visibility: 'visible' | 'hidden' | 'veryHidden';
  readonly isRead: boolean;
  /** Down to the last row and the last column with something in a cell. */
  readonly rows: number;
  readonly columns: number;
  /** By column: how many cells with a value it has of each native kind (kernel/layout/native-kinds.ts). */
  readonly kinds: readonly Float64Array[];
  /** Why no Run can read it; null = it can. */
  readonly problem: Failed | null;
}

/** Nothing was to be found out: the format, or the Template, says it. */
export function certain(reason: string): Choice<never> {
  return { confidence: 1, runnerUp: null, reason };
}

const DECIMALS = 100;

export function rounded(confidence: number): number {
  return Math.round(confidence * DECIMALS) / DECIMALS;
}
