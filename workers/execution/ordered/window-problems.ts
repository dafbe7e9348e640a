// What is wrong with the settings of a column of `window`, as a sentence for the Template's author.
import type { Column, ColumnType } from '../../batch/schema.ts';
import { type FramedFunctionName, isFramed } from './window-frames.ts';
import type { WindowFunctionName } from './window-functions.ts';

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

/** Null when the settings suit the function. */
export function windowProblem(settings: WindowSettings, column: Column | null, ordered: boolean): string | null {
  const { fn, rows, offset, frame, where } = settings;
  if (NO_COLUMN.includes(fn) && column !== null) return `"${fn}" takes no column.`;
  if (!NO_COLUMN.includes(fn) && !COLUMN_OR_NONE.includes(fn) && column === null) return `"${fn}" needs a column.`;
  if ((fn === 'rank' || fn === 'dense_rank') && !ordered) return `"${fn}" needs order_by.`;
  if ((fn === 'moving_average') !== (rows !== undefined)) {
    return `"rows" says over how many rows "moving_average" goes, and only that.`;
  }
  if (offset !== undefined && fn !== 'previous' && fn !== 'next') {
    return `"offset" says how far "previous" and "next" look, and only they.`;
  }
  if (isFramed(fn) || (frame === undefined && where === undefined)) return null;
  return `"${frame === undefined ? 'where' : 'frame'}" goes with sum, mean, min, max and count.`;
}

/** The same of the type of its column. */
export function windowTypeProblem(fn: AnyWindowFunctionName, column: ColumnType | null): string | null {
  if (column === null) return null;
  if ((fn === 'min' || fn === 'max') && column === 'json')
    return `"${fn}" takes values with an order, and JSON has none.`;
  const isNumeric = column === 'integer' || column === 'decimal' || column === 'number';
  if (isNumeric || !NUMBERS_ONLY.includes(fn)) return null;
  return `"${fn}" takes numbers, and the column is ${column} at this step. Use parse_number or cast.`;
}

/** Whether a function gives cells of its column as they are. */
export function windowMoves(fn: AnyWindowFunctionName): boolean {
  return MOVING.includes(fn);
}

const MOVING: readonly string[] = ['previous', 'next', 'first', 'last', 'min', 'max'];
