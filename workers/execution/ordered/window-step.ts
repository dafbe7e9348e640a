// The contract of the functions of `window`, and the plainest ones.
import type { StoredType } from '../../batch/schema.ts';
import { Decimal } from '../../values/decimal.ts';
import type { MetricName } from '../aggregate/accumulators.ts';

/** One direction of a function. */
export interface WindowStep {
  /** A group begins. */
  begin(): void;
  /**
   * The next row. `value`: the cell of its column. `hidden`: what the other direction has put into the row. `tied`: it is
   * equal to the row before by `order_by`.
   */
  next(value: unknown, hidden: unknown, tied: boolean): unknown;
}

export interface WindowFunction {
  readonly type: StoredType;
  /** Type of what `forward` makes, which is the result where there is no `backward`. */
  readonly hiddenType: StoredType | null;
  readonly forward: WindowStep | null;
  readonly backward: WindowStep | null;
}

/** What is computed of groups; `shares`: rows get what they are of it. */
export interface WindowTotal {
  readonly fn: MetricName;
  readonly shares: boolean;
}

export interface WindowColumn {
  readonly function: WindowFunction;
  /** Index of its column in the input, -1 for none. */
  readonly column: number;
  readonly columnType: StoredType;
  /** Index of the column of booleans that says which rows count, -1: all do. */
  readonly condition: number;
  /** What it is of whole groups; null where it looks at the order or at single rows. */
  readonly total: WindowTotal | null;
}

export function forwardOnly(type: StoredType, forward: WindowStep): WindowFunction {
  return { type, hiddenType: type, forward, backward: null };
}

/** Of the row that is seen first, what the other direction put there. */
export function firstHidden(result: (value: unknown, total: unknown) => unknown): WindowStep {
  let total: unknown = null;
  let isNew = true;
  return {
    begin: () => {
      isNew = true;
    },
    next: (value, hidden) => {
      if (isNew) total = hidden;
      isNew = false;
      return result(value, total);
    },
  };
}

/** The cell of an integer or a decimal. */
export function decimalOfCell(value: unknown): Decimal {
  return value instanceof Decimal ? value : new Decimal(value as number | bigint, 0);
}
