// Functions of `window` that aggregate the rows of a group, and the checks of the settings of all functions.
import { type Column, type ColumnType, columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { Decimal } from '../../values/decimal.ts';
import type { PlainMetricName } from '../aggregate/accumulators.ts';
import {
  accumulatedStep,
  decimalTotal,
  firstHidden,
  forwardOnly,
  type WindowFunction,
  type WindowFunctionName,
} from './window-functions.ts';

// Functions of `window` that aggregate the rows of a group: all rows, or the rows up to the current one.

export const FRAMED_FUNCTIONS = ['sum', 'mean', 'min', 'max', 'count'] as const;

type FramedFunctionName = (typeof FRAMED_FUNCTIONS)[number];

export const FRAMES = ['partition', 'up_to_here'] as const;

export type Frame = (typeof FRAMES)[number];

export function isFramed(name: string): name is FramedFunctionName {
  return (FRAMED_FUNCTIONS as readonly string[]).includes(name);
}

/** @param stored stored type of its column, or null for `count` of rows */
export function framedFunction(name: FramedFunctionName, stored: StoredType | null, frame: Frame): WindowFunction {
  const column = stored === null ? null : columnTypeOf(stored);
  const metric: PlainMetricName = name === 'count' ? 'count_values' : name;
  const type = typeOf(name, stored);
  const forward = accumulatedStep(metric, column);
  if (frame === 'up_to_here') return forwardOnly(type, forward);
  const isDecimal = (name === 'sum' || name === 'mean') && column !== 'number';
  if (!isDecimal) return { type, hiddenType: type, forward, backward: firstHidden((_, total) => total) };
  const isWhole = type === 'integer';
  return { type, ...decimalTotal(forward, (_, total) => (isWhole && total instanceof Decimal ? total.digits : total)) };
}

function typeOf(name: FramedFunctionName, stored: StoredType | null): StoredType {
  if (name === 'count') return 'integer';
  return name === 'mean' && stored !== 'number' ? 'decimal' : stored!;
}

// Checks the settings of a column of `window`, and describes a problem for the author of the Template.

export type AnyWindowFunctionName = WindowFunctionName | FramedFunctionName;

export interface WindowSettings {
  readonly fn: AnyWindowFunctionName;
  readonly rows?: number;
  readonly offset?: number;
  readonly frame?: string;
  readonly where?: string;
}

const NO_COLUMN: readonly string[] = ['row_number', 'rank', 'dense_rank', 'group_size'];
const COLUMN_OR_NONE: readonly string[] = ['running_count', 'count'];
const NUMBERS_ONLY: readonly string[] = [
  ...['running_sum', 'percent_of_total', 'moving_average', 'difference'],
  ...['sum', 'mean'],
];

/** Returns null if the settings are valid for the function. */
export function windowProblem(settings: WindowSettings, column: Column | null, ordered: boolean): string | null {
  const { fn, rows, offset, frame, where } = settings;
  if (NO_COLUMN.includes(fn) && column !== null) return `"${fn}" takes no column.`;
  if (!NO_COLUMN.includes(fn) && !COLUMN_OR_NONE.includes(fn) && column === null) return `"${fn}" needs a column.`;
  if ((fn === 'rank' || fn === 'dense_rank') && !ordered) return `"${fn}" needs order_by.`;
  if ((fn === 'moving_average') !== (rows !== undefined)) {
    return `"moving_average", and no other function, needs "rows": the number of rows to average.`;
  }
  if (offset !== undefined && fn !== 'previous' && fn !== 'next') {
    return `"offset" is only for "previous" and "next": the distance in rows.`;
  }
  if (isFramed(fn) || (frame === undefined && where === undefined)) return null;
  return `"${frame === undefined ? 'where' : 'frame'}" is only for sum, mean, min, max and count.`;
}

/** Same check for the type of its column. */
export function windowTypeProblem(fn: AnyWindowFunctionName, column: ColumnType | null): string | null {
  if (column === null) return null;
  if ((fn === 'min' || fn === 'max') && column === 'json')
    return `"${fn}" needs values with an order, and JSON values have no order.`;
  const isNumeric = column === 'integer' || column === 'decimal' || column === 'number';
  if (isNumeric || !NUMBERS_ONLY.includes(fn)) return null;
  return `"${fn}" takes numbers, and the column is ${column} at this step. Use parse_number or cast.`;
}

/** True if the function returns unchanged cells of its column. */
export function windowMoves(fn: AnyWindowFunctionName): boolean {
  return MOVING.includes(fn);
}

const MOVING: readonly string[] = ['previous', 'next', 'first', 'last', 'min', 'max'];
