// Bounds of a rule: constants of the Template as values that a column's cells can be compared with.
import type { ColumnType } from '../../batch/schema.ts';
import { compareNumbers, compareTexts, isNumeric, type Numeric } from '../../expression/compile/equality.ts';
import type { Value } from '../../expression/compile/value.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { CalendarDate, parseDateText } from '../../values/calendar.ts';
import { parseDecimal } from '../../values/decimal.ts';
import { parseTimestamp, Timestamp } from '../../values/timestamp.ts';
import { type Constant, constantValue } from '../cells/constant-value.ts';
import { CellFault } from '../cells/value-cells.ts';

/** How the cells of a column are read before they are compared. */
export interface Reading {
  readonly type: ColumnType;
  /** The value to compare, or a CellFault. */
  readonly read: (value: unknown) => unknown;
}

/** Numbers; texts are read as plain numbers (12.50). */
export function readNumbers(type: ColumnType): Reading | null {
  if (type === 'text') return { type: 'decimal', read: readerOf(parseDecimal, 'NOT_A_NUMBER') };
  return NUMBERS.has(type) ? { type: type === 'number' ? 'number' : 'decimal', read: (value) => value } : null;
}

/** Dates and datetimes; texts are read as dates (2026-01-31). */
export function readDates(type: ColumnType): Reading | null {
  if (type === 'text') return { type: 'date', read: readerOf(dateOf, 'NOT_A_DATE') };
  return type === 'date' || type === 'datetime' ? { type, read: (value) => value } : null;
}

/** A constant to compare with. A day beside datetimes is its first instant, `endOfDay` the last one before the next. */
export function bound(
  constant: Constant,
  type: ColumnType,
  endOfDay = false,
): { value: unknown } | { problem: string } {
  if (type === 'datetime' && typeof constant === 'string') {
    const days = parseDateText(constant);
    if (days !== null)
      return {
        value: new Timestamp((days + (endOfDay ? 1 : 0)) * 86_400 - (endOfDay ? 1 : 0), endOfDay ? 999_999_999 : 0),
      };
  }
  return constantValue(constant, type);
}

/** Negative, 0 or positive, for two values of the same kind (numbers of any type are one kind). */
export function compare(left: unknown, right: unknown): number {
  if (left instanceof CalendarDate && right instanceof CalendarDate) return left.days - right.days;
  if (left instanceof Timestamp && right instanceof Timestamp) {
    return left.seconds - right.seconds || left.nanos - right.nanos;
  }
  if (isNumeric(left as Value) && isNumeric(right as Value)) return compareNumbers(left as Numeric, right as Numeric);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return compareTexts(String(left), String(right));
}

export function isFault(value: unknown): value is CellFault {
  return value instanceof CellFault;
}

export const dayOf = (startedAt: string): CalendarDate => {
  const days = parseDateText(startedAt.slice(0, 10));
  if (days === null) throw new Error('a Run starts at a time that is none');
  return new CalendarDate(days);
};

export const instantOf = (startedAt: string): Timestamp => {
  const instant = parseTimestamp(startedAt);
  if (instant === null) throw new Error('a Run starts at a time that is none');
  return instant;
};

const NUMBERS: ReadonlySet<ColumnType> = new Set(['integer', 'decimal', 'number']);

function dateOf(text: string): CalendarDate | null {
  const days = parseDateText(text);
  return days === null ? null : new CalendarDate(days);
}

function readerOf(parse: (text: string) => unknown, code: RowErrorCode): (value: unknown) => unknown {
  const fault = new CellFault(code);
  return (value) => parse(value as string) ?? fault;
}
