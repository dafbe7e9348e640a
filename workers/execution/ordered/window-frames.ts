// The functions of `window` that come to one value over rows of the group: over all of them, or over those up to the row.
import { type ColumnType, columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { Decimal, parseDecimal } from '../../values/decimal.ts';
import { type PlainMetricName, plainAccumulator } from '../aggregate/accumulators.ts';
import { textOfValue } from '../cells/text-of-value.ts';
import { CellFault } from '../cells/value-cells.ts';
import { firstHidden, forwardOnly } from './window-functions.ts';
import type { WindowFunction, WindowStep } from './window-step.ts';

export const FRAMED_FUNCTIONS = ['sum', 'mean', 'min', 'max', 'count'] as const;

export type FramedFunctionName = (typeof FRAMED_FUNCTIONS)[number];

export const FRAMES = ['partition', 'up_to_here'] as const;

export type Frame = (typeof FRAMES)[number];

/** In place of a total that no decimal holds: another row may bring it back. */
const TOO_LARGE = '!';

export function isFramed(name: string): name is FramedFunctionName {
  return (FRAMED_FUNCTIONS as readonly string[]).includes(name);
}

/** @param stored how the cells of its column are held; null: `count` of rows */
export function framedFunction(name: FramedFunctionName, stored: StoredType | null, frame: Frame): WindowFunction {
  const column = stored === null ? null : columnTypeOf(stored);
  const metric: PlainMetricName = name === 'count' ? 'count_values' : name;
  const type = typeOf(name, stored);
  const forward = accumulated(metric, column);
  if (frame === 'up_to_here') return forwardOnly(type, forward);
  const isDecimal = (name === 'sum' || name === 'mean') && column !== 'number';
  if (!isDecimal) return { type, hiddenType: type, forward, backward: firstHidden((_, total) => total) };
  return { type, hiddenType: 'text', forward: asText(forward), backward: fromText(type === 'integer') };
}

function typeOf(name: FramedFunctionName, stored: StoredType | null): StoredType {
  if (name === 'count') return 'integer';
  return name === 'mean' && stored !== 'number' ? 'decimal' : stored!;
}

/** What the rows seen so far come to. */
function accumulated(metric: PlainMetricName, column: ColumnType | null): WindowStep {
  const accumulator = plainAccumulator(metric, column);
  return {
    begin: () => accumulator.begin(),
    next: (value) => {
      accumulator.add(value);
      return accumulator.end();
    },
  };
}

/** A total that is too large on the way is none yet: only that of all rows counts. */
function asText(step: WindowStep): WindowStep {
  return {
    begin: step.begin,
    next: (value, hidden, tied) => {
      const total = step.next(value, hidden, tied);
      return total === null ? null : total instanceof CellFault ? TOO_LARGE : textOfValue(total);
    },
  };
}

function fromText(isWhole: boolean): WindowStep {
  let total: unknown = null;
  let isNew = true;
  return {
    begin: () => {
      isNew = true;
    },
    next: (_value, hidden) => {
      if (isNew) total = totalOf(hidden as string | null, isWhole);
      isNew = false;
      return total;
    },
  };
}

function totalOf(text: string | null, isWhole: boolean): unknown {
  if (text === null) return null;
  if (text === TOO_LARGE) return new CellFault('OUT_OF_RANGE');
  const value = parseDecimal(text, true);
  if (!(value instanceof Decimal)) throw new Error('a total is no decimal');
  return isWhole ? value.digits : value;
}
