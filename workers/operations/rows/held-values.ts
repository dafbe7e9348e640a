// Metrics that must hold the values of a group until its end: median, percentile, mode, count_distinct; and the two that
// need exact squares, variance and stdev. What all of one operation hold is counted, charged to the budget and bounded.
import type { BudgetShare } from '../../budget.ts';
import { Failed } from '../../failure.ts';
import type { ColumnType } from '../../schema.ts';
import {
  addDecimals,
  compareDecimals,
  Decimal,
  decimalFromNumber,
  multiplyDecimals,
  powerOfTen,
  roundDecimal,
  subtractDecimals,
} from '../../values/decimal.ts';
import { textOfValue } from '../cells/text-of-value.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { Accumulator } from './accumulators.ts';

/** What the metrics of one operation hold of one group at most, so that no group can end the thread. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;

/** Taken whatever the budget says, so that ordinary groups do not depend on what other Runs hold. */
const HELD_BYTES_FORCED = 2 * 1024 * 1024;

const HELD_METRICS = 'aggregate: the values that count_distinct, median, percentile and mode hold of one group take';

/** A value in an array or map of the runtime, its text not counted. */
const VALUE_BYTES = 64;

/** Charged in steps, so that the budget is not asked for each value. */
const CHARGE_BYTES = 1024 * 1024;

/** Counts what is held of the group at hand. */
export class HeldBytes {
  readonly #budget: BudgetShare;
  #heldBytes = 0;
  #chargedBytes = 0;

  constructor(budget: BudgetShare) {
    this.#budget = budget;
  }

  hold(textLength = 0): void {
    this.#heldBytes += VALUE_BYTES + textLength * 2;
    if (this.#heldBytes > HELD_BYTES_MAX) throw new Failed('RUN_RESOURCE_LIMIT', `${HELD_METRICS} more than 128 MiB.`);
    if (this.#heldBytes <= this.#chargedBytes) return;
    if (this.#heldBytes <= HELD_BYTES_FORCED) this.#budget.force(CHARGE_BYTES);
    else if (!this.#budget.take(CHARGE_BYTES))
      throw new Failed('RUN_RESOURCE_LIMIT', `${HELD_METRICS} more than the memory budget has left.`);
    this.#chargedBytes += CHARGE_BYTES;
  }

  release(): void {
    this.#heldBytes = 0;
    if (this.#chargedBytes > 0) this.#budget.give(this.#chargedBytes);
    this.#chargedBytes = 0;
  }
}

export function distinctCount(held: HeldBytes): Accumulator {
  const counts = countedValues(held);
  return { begin: counts.begin, add: counts.add, end: () => counts.entries.size };
}

/** The most frequent value; of equally frequent ones that which came first. */
export function mode(held: HeldBytes): Accumulator {
  const counts = countedValues(held);
  return {
    begin: counts.begin,
    add: counts.add,
    end: () => {
      let most: { readonly value: unknown; readonly count: number } | null = null;
      for (const entry of counts.entries.values()) if (most === null || entry.count > most.count) most = entry;
      return most?.value ?? null;
    },
  };
}

function countedValues(held: HeldBytes) {
  const entries = new Map<string, { readonly value: unknown; count: number }>();
  return {
    entries,
    begin: () => entries.clear(),
    add: (value: unknown) => {
      if (value === null) return;
      const key = canonicalText(value);
      const known = entries.get(key);
      if (known !== undefined) {
        known.count++;
        return;
      }
      held.hold(key.length * 2);
      entries.set(key, { value, count: 1 });
    },
  };
}

/** Equal values have equal texts: 1.5 and 1.50. */
function canonicalText(value: unknown): string {
  if (typeof value === 'number' && value === 0) return '0';
  const text = textOfValue(value);
  return value instanceof Decimal && value.scale > 0 ? text.replace(/\.?0+$/, '') : text;
}

/** Between two values the part of the way that is left, as in spreadsheets (PERCENTILE.INC); decimals stay exact. */
export function percentile(column: ColumnType, percent: number, held: HeldBytes): Accumulator {
  let values: unknown[] = [];
  const part = decimalFromNumber(percent);
  if (part === null) throw new Error('a percentage is a finite number');
  return {
    begin: () => {
      values = [];
    },
    add: (value) => {
      if (value === null) return;
      held.hold();
      values.push(column === 'integer' ? new Decimal(value as number | bigint, 0) : value);
    },
    end: () => {
      if (values.length === 0) return null;
      // The place among the sorted values is `whole` and `rest` / 100 of a step.
      const place = multiplyDecimals(part, new Decimal(values.length - 1, 2));
      const whole = place === null ? null : roundDecimal(place, 0, 'down');
      if (place === null || whole === null) return new CellFault('OUT_OF_RANGE');
      const rest = subtractDecimals(place, whole)!;
      if (column === 'number') return between(values as number[], Number(whole.digits), Number(rest));
      return betweenDecimals(values as Decimal[], Number(whole.digits), rest) ?? new CellFault('OUT_OF_RANGE');
    },
  };
}

function between(values: number[], at: number, rest: number): number {
  values.sort((a, b) => a - b);
  const low = values[at]!;
  return rest === 0 ? low : low + (values[at + 1]! - low) * rest;
}

function betweenDecimals(values: Decimal[], at: number, rest: Decimal): Decimal | null {
  values.sort(compareDecimals);
  const low = values[at]!;
  if (Number(rest.digits) === 0) return low;
  const step = subtractDecimals(values[at + 1]!, low);
  const way = step === null ? null : multiplyDecimals(step, rest);
  const value = way === null ? null : addDecimals(low, way);
  if (value === null) return null;
  let { scale } = value;
  let digits = BigInt(value.digits);
  for (; scale > Math.max(low.scale, values[at + 1]!.scale) && digits % 10n === 0n; scale--) digits /= 10n;
  return roundDecimal(value, scale, 'down');
}

/** Of a sample (n - 1); null for less than two values. Integers and decimals are summed exactly. */
export function variance(column: ColumnType, root: boolean): Accumulator {
  const inner = column === 'number' ? doubleVariance() : exactVariance();
  return {
    begin: inner.begin,
    add: inner.add,
    end: () => {
      const value = inner.end();
      return typeof value === 'number' && root ? Math.sqrt(value) : value;
    },
  };
}

/** Welford's method, in the order of the source. */
function doubleVariance(): Accumulator {
  let [count, mean, squares] = [0, 0, 0];
  return {
    begin: () => {
      [count, mean, squares] = [0, 0, 0];
    },
    add: (value) => {
      if (value === null) return;
      const x = value as number;
      const distance = x - mean;
      count++;
      mean += distance / count;
      squares += distance * (x - mean);
    },
    end: () => (count < 2 ? null : squares / (count - 1)),
  };
}

function exactVariance(): Accumulator {
  const zero = new Decimal(0, 0);
  let count = 0;
  let sum: Decimal | null = zero;
  let squares: Decimal | null = zero;
  return {
    begin: () => {
      count = 0;
      sum = zero;
      squares = zero;
    },
    add: (value) => {
      if (value === null || sum === null || squares === null) return;
      const x = value instanceof Decimal ? value : new Decimal(value as number | bigint, 0);
      const square = multiplyDecimals(x, x);
      sum = addDecimals(sum, x);
      squares = square === null ? null : addDecimals(squares, square);
      count++;
    },
    end: () => {
      if (sum === null || squares === null) return new CellFault('OUT_OF_RANGE');
      if (count < 2) return null;
      const scale = Math.max(squares.scale, sum.scale * 2);
      const squared = BigInt(sum.digits) ** 2n * powerOfTen(scale - sum.scale * 2);
      const above = BigInt(count) * BigInt(squares.digits) * powerOfTen(scale - squares.scale) - squared;
      return ratio(above, BigInt(count) * BigInt(count - 1) * powerOfTen(scale));
    },
  };
}

/** A quotient of whole numbers that are not negative as a double, from its first 70 bits or more. */
function ratio(above: bigint, below: bigint): number {
  const shift = Math.max(0, 70 + below.toString(2).length - above.toString(2).length);
  const quotient = Number((above << BigInt(shift)) / below);
  return shift < 1000 ? quotient / 2 ** shift : quotient / 2 ** 1000 / 2 ** (shift - 1000);
}
