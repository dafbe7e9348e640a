// The functions of `window` that come to one value over rows of the group: over all of them, or over those up to the row.
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { Decimal } from '../../values/decimal.ts';
import type { PlainMetricName } from '../aggregate/accumulators.ts';
import { accumulatedStep, decimalTotal } from './window-shares.ts';
import { firstHidden, forwardOnly, type WindowFunction } from './window-step.ts';

export const FRAMED_FUNCTIONS = ['sum', 'mean', 'min', 'max', 'count'] as const;

export type FramedFunctionName = (typeof FRAMED_FUNCTIONS)[number];

export const FRAMES = ['partition', 'up_to_here'] as const;

export type Frame = (typeof FRAMES)[number];

export function isFramed(name: string): name is FramedFunctionName {
  return (FRAMED_FUNCTIONS as readonly string[]).includes(name);
}

/** @param stored how the cells of its column are held; null: `count` of rows */
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
