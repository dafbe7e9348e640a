// A column that somebody wants, as far as a target tells of it, and the same of a column of a sample.
import type { ColumnProfile } from '../column-profile.ts';

export type ColumnKind = 'number' | 'date' | 'text';

export interface TargetColumn {
  readonly name: string;
  /** Other names by which files have it. */
  readonly aliases: readonly string[];
  /** Null: the target does not tell. */
  readonly kind: ColumnKind | null;
  /** Cells, or the values that are allowed; null where there are none to compare. */
  readonly values: ReadonlySet<string> | null;
  /** Least and most of its numbers. */
  readonly range: readonly [number, number] | null;
}

/** Cells of which most must read as one kind. */
const KIND_SHARE = 0.8;

/** Null: the column is blank. */
export function kindOf({ valueCells, numbers, dates, nativeNumbers }: ColumnProfile): ColumnKind | null {
  if (valueCells === 0) return null;
  const [date] = dates.readings;
  const reads = Math.max(numbers.marks['.'].reads, numbers.marks[','].reads);
  // Eight digits are a number like others.
  if (date !== undefined && date.form.guess !== 'digits' && date.reads >= valueCells * KIND_SHARE) return 'date';
  if (nativeNumbers + reads >= valueCells * KIND_SHARE && numbers.leadingZeros === 0) return 'number';
  return 'text';
}

export function isDigits({ dates, valueCells }: ColumnProfile): boolean {
  return dates.readings.some(({ form, reads }) => form.guess === 'digits' && reads === valueCells);
}
