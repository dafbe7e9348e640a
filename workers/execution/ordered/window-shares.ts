// Totals of a whole group that its rows are measured by: a sum is carried forward through the rows, and known to the first one
// that is seen on the way back.
import type { ColumnType } from '../../batch/schema.ts';
import { Decimal, divideDecimals, multiplyDecimals, parseDecimal } from '../../values/decimal.ts';
import { type PlainMetricName, plainAccumulator } from '../aggregate/accumulators.ts';
import { textOfValue } from '../cells/text-of-value.ts';
import { CellFault } from '../cells/value-cells.ts';
import { firstHidden, type WindowFunction, type WindowStep } from './window-step.ts';

/** In place of a total that no decimal holds: another row may bring it back. */
const TOO_LARGE = '!';

/** What comes of a row's value and the total of its group. */
export type OfTotal = (value: unknown, total: unknown) => unknown;

export function percentOfTotal(column: ColumnType): WindowFunction {
  if (column !== 'number') return { type: 'decimal', ...decimalTotal(accumulatedStep('sum', 'decimal'), percentOf) };
  const forward = accumulatedStep('sum', column);
  return { type: 'number', hiddenType: 'number', forward, backward: firstHidden(percentOfDoubles) };
}

/** How a percentage comes of the sum, where that is known. */
export function percentOfSum(column: ColumnType): OfTotal {
  return column === 'number' ? percentOfDoubles : percentOf;
}

/** What the rows seen so far come to. */
export function accumulatedStep(metric: PlainMetricName, column: ColumnType | null): WindowStep {
  const accumulator = plainAccumulator(metric, column);
  return {
    begin: () => accumulator.begin(),
    next: (value) => {
      accumulator.add(value);
      return accumulator.end();
    },
  };
}

/** A decimal total that is too large on the way is none yet, only that of all rows counts: it goes forward as a text. */
export function decimalTotal(
  step: WindowStep,
  result: OfTotal,
): Pick<WindowFunction, 'hiddenType' | 'forward' | 'backward'> {
  return { hiddenType: 'text', forward: asText(step), backward: fromText(result) };
}

function asText(step: WindowStep): WindowStep {
  return {
    begin: step.begin,
    next: (value, hidden, tied) => {
      const total = step.next(value, hidden, tied);
      return total === null ? null : total instanceof CellFault ? TOO_LARGE : textOfValue(total);
    },
  };
}

function fromText(result: OfTotal): WindowStep {
  let total: unknown = null;
  let isNew = true;
  return {
    begin: () => {
      isNew = true;
    },
    next: (value, hidden) => {
      if (isNew) total = totalOf(hidden as string | null);
      isNew = false;
      return total instanceof CellFault ? total : result(value, total);
    },
  };
}

function totalOf(text: string | null): unknown {
  if (text === null) return null;
  if (text === TOO_LARGE) return new CellFault('OUT_OF_RANGE');
  const value = parseDecimal(text, true);
  if (!(value instanceof Decimal)) throw new Error('a total is no decimal');
  return value;
}

/** Null where the total is 0. */
function percentOf(value: unknown, total: unknown): unknown {
  if (value === null || total === null) return null;
  const whole = total as Decimal;
  if (Number(whole.digits) === 0) return null;
  const hundredfold = multiplyDecimals(
    value instanceof Decimal ? value : new Decimal(value as number | bigint, 0),
    new Decimal(100, 0),
  );
  return (hundredfold && divideDecimals(hundredfold, whole)) ?? new CellFault('OUT_OF_RANGE');
}

/** A total that is too large for a double has no shares: they would all be 0. */
function percentOfDoubles(value: unknown, total: unknown): unknown {
  if (value === null || total === null || total === 0) return null;
  const [part, whole] = [value as number, total as number];
  if (Number.isFinite(part) && !Number.isFinite(whole)) return new CellFault('OUT_OF_RANGE');
  return (part / whole) * 100;
}
