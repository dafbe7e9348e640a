// Metrics over the rows of one group at a time: the interface of an accumulator, and the accumulators of all metrics.

import { CELL_BYTES_MAX } from '../../batch/batch.ts';
import { NativeText } from '../../batch/native-cell.ts';
import type { Column, ColumnType } from '../../batch/schema.ts';
import type { BudgetShare } from '../../memory/budget.ts';
import {
  addDecimals,
  compareDecimals,
  Decimal,
  decimalFromNumber,
  divideDecimals,
  multiplyDecimals,
  powerOfTen,
  roundDecimal,
  subtractDecimals,
} from '../../values/decimal.ts';
import { CalendarDate, Timestamp } from '../../values/timestamp.ts';
import { CellFault, textOfValue } from '../cells/value-cells.ts';
import { ExactSum, WideSum } from './sums.ts';

// The interface of a metric over the rows of one group.

/** Groups follow one another. Within a group, values are added in source order. */
export interface Accumulator {
  begin(): void;
  /** Adds the value of a cell, or null. Values must be in source order. */
  add(value: unknown): void;
  /** Returns the value of the metric, null, or a CellFault. */
  end(): unknown;
  /** Set for a metric that holds the values of a group and can also work on sorted values. */
  readonly holding?: Holding;
}

/** A held value, and its number of occurrences. */
interface HeldValue {
  readonly value: unknown;
  readonly count: number;
}

/**
 * For a metric that can also process the values of a group in sorted order, so that it need not hold them in memory.
 */
export interface Holding {
  /** Type of a column that can contain the values. */
  readonly type: ColumnType;
  readonly sorted: SortedMetric;
}

/**
 * A metric over the values of a group in ascending order, equal ones in order of arrival. It holds only a few values.
 */
interface SortedMetric {
  /** @param count number of values that follow, including duplicates */
  begin(count: number): void;
  /**
   * @param isNew whether the value differs from the previous one
   * @param place ascends with the order of arrival
   */
  add(held: HeldValue, isNew: boolean, place: number): void;
  /** Same as in Accumulator. */
  end(): unknown;
}

// Variance and standard deviation: exact for integers and decimals, Welford's method for doubles.

/** Sample variance (n - 1), null for fewer than two values. Integers and decimals are summed exactly. */
function variance(column: ColumnType, root: boolean): Accumulator {
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

/** Welford's method, in source order. */
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

/** Quotient of non-negative whole numbers as a double, from at least the first 70 bits. */
function ratio(above: bigint, below: bigint): number {
  const shift = Math.max(0, 70 + below.toString(2).length - above.toString(2).length);
  const quotient = Number((above << BigInt(shift)) / below);
  return shift < 1000 ? quotient / 2 ** shift : quotient / 2 ** 1000 / 2 ** (shift - 1000);
}

// Metrics that need all values of a group: median, percentile, mode, count_distinct. They hold the values while memory
// allows, and otherwise process them sorted (late-values.ts).

/**
 * Maximum memory that the metrics of one operation may hold for one group, so that no group can exhaust the thread's
 * heap.
 */
const HELD_BYTES_MAX = 128 * 1024 * 1024;

/** Memory that is taken even if the budget refuses it, so that ordinary groups do not depend on other Runs. */
const HELD_BYTES_FORCED = 2 * 1024 * 1024;

/** Memory of a value in an array or map of the runtime, without its text. */
const VALUE_BYTES = 64;

/** Memory is charged in steps, so that the budget is not asked for each value. */
const CHARGE_BYTES = 1024 * 1024;

/** Counts the memory held for the current group. */
export class HeldBytes {
  readonly #budget: BudgetShare;
  #heldBytes = 0;
  #chargedBytes = 0;
  #isOver = false;

  constructor(budget: BudgetShare) {
    this.#budget = budget;
  }

  /** True if the limit is exceeded: the metrics must give up their values before the next row. */
  get isOver(): boolean {
    return this.#isOver;
  }

  hold(textLength = 0): void {
    this.#heldBytes += VALUE_BYTES + textLength * 2;
    if (this.#heldBytes > HELD_BYTES_MAX) this.#isOver = true;
    if (this.#heldBytes <= this.#chargedBytes) return;
    if (this.#heldBytes > HELD_BYTES_FORCED && !this.#budget.take(CHARGE_BYTES)) {
      this.#isOver = true;
      return;
    }
    if (this.#heldBytes <= HELD_BYTES_FORCED) this.#budget.force(CHARGE_BYTES);
    this.#chargedBytes += CHARGE_BYTES;
  }

  release(): void {
    this.#isOver = false;
    this.#heldBytes = 0;
    if (this.#chargedBytes > 0) this.#budget.release(this.#chargedBytes);
    this.#chargedBytes = 0;
  }
}

function distinctCount(column: ColumnType, held: HeldBytes): Accumulator {
  const counts = countedValues(held);
  let different = 0;
  const sorted: SortedMetric = {
    begin: () => {
      different = 0;
    },
    add: (_value, isNew) => {
      if (isNew) different++;
    },
    end: () => different,
  };
  return {
    begin: counts.begin,
    add: counts.add,
    end: () => counts.entries.size,
    holding: { type: column, sorted },
  };
}

/** The most frequent value. If values are equally frequent, the one that occurred first. */
function mode(column: ColumnType, held: HeldBytes): Accumulator {
  const counts = countedValues(held);
  return {
    begin: counts.begin,
    add: counts.add,
    end: () => {
      let most: HeldValue | null = null;
      for (const entry of counts.entries.values()) if (most === null || entry.count > most.count) most = entry;
      return most?.value ?? null;
    },
    holding: { type: column, sorted: sortedMode() },
  };
}

/** The longest sequence of equal values. If sequences are equally long, the one whose first value occurred first. */
function sortedMode(): SortedMetric {
  const none = { value: null as unknown, count: 0, place: 0 };
  let most = none;
  let run = none;
  const close = (): void => {
    if (run.count > most.count || (run.count === most.count && run.place < most.place)) most = run;
  };
  return {
    begin: () => {
      most = none;
      run = none;
    },
    add: ({ value, count }, isNew, place) => {
      if (!isNew) {
        run.count += count;
        return;
      }
      close();
      run = { value, count, place };
    },
    end: () => {
      close();
      return most.value;
    },
  };
}

function countedValues(held: HeldBytes) {
  const entries = new Map<string, { readonly value: unknown; count: number }>();
  return {
    get entries() {
      return entries;
    },
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

/** Equal values get equal texts, for example 1.5 and 1.50. */
function canonicalText(value: unknown): string {
  if (typeof value === 'number' && value === 0) return '0';
  const text = textOfValue(value);
  return value instanceof Decimal && value.scale > 0 ? text.replace(/\.?0+$/, '') : text;
}

/** Interpolates linearly between two values, as spreadsheets do (PERCENTILE.INC). Decimals stay exact. */
function percentile(column: ColumnType, percent: number, held: HeldBytes): Accumulator {
  const part = decimalFromNumber(percent);
  if (part === null) throw new Error('a percentage is a finite number');
  const type = column === 'number' ? 'number' : 'decimal';
  let values: unknown[] = [];
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
      const place = placeAmong(values.length, part);
      if (place === null) return new CellFault('OUT_OF_RANGE');
      if (type === 'number') (values as number[]).sort((a, b) => a - b);
      else (values as Decimal[]).sort(compareDecimals);
      return between(values[place.at], values[place.at + 1], place.rest);
    },
    holding: {
      type,
      sorted: sortedPercentile(part),
    },
  };
}

function sortedPercentile(part: Decimal): SortedMetric {
  let place: SortedPlace | null = null;
  let taken = 0;
  let low: unknown = null;
  let high: unknown = null;
  return {
    begin: (count) => {
      place = placeAmong(count, part);
      taken = 0;
    },
    add: ({ value }) => {
      if (taken === place?.at) low = value;
      else if (taken - 1 === place?.at) high = value;
      taken++;
    },
    end: () => {
      if (taken === 0) return null;
      return place === null ? new CellFault('OUT_OF_RANGE') : between(low, high, place.rest);
    },
  };
}

/** A position after the sorted value at `at`, by the fraction `rest` of the distance to the next value. */
interface SortedPlace {
  readonly at: number;
  readonly rest: Decimal;
}

/** Returns null if the result would have too many digits. */
function placeAmong(count: number, part: Decimal): SortedPlace | null {
  const place = multiplyDecimals(part, new Decimal(count - 1, 2));
  const whole = place === null ? null : roundDecimal(place, 0, 'down');
  return place === null || whole === null ? null : { at: Number(whole.digits), rest: subtractDecimals(place, whole)! };
}

function between(low: unknown, high: unknown, rest: Decimal): unknown {
  if (typeof low !== 'number') {
    return betweenDecimals(low as Decimal, high as Decimal, rest) ?? new CellFault('OUT_OF_RANGE');
  }
  const way = Number(rest);
  return way === 0 ? low : low + ((high as number) - low) * way;
}

function betweenDecimals(low: Decimal, high: Decimal, rest: Decimal): Decimal | null {
  if (Number(rest.digits) === 0) return low;
  const step = subtractDecimals(high, low);
  const way = step === null ? null : multiplyDecimals(step, rest);
  const value = way === null ? null : addDecimals(low, way);
  if (value === null) return null;
  let { scale } = value;
  let digits = BigInt(value.digits);
  for (; scale > Math.max(low.scale, high.scale) && digits % 10n === 0n; scale--) digits /= 10n;
  return roundDecimal(value, scale, 'down');
}

// Accumulators of all metrics. A group is finished before the next begins, so one accumulator per metric is enough.

export const METRICS = [
  ...(['count', 'count_values', 'count_distinct', 'sum', 'mean', 'min', 'max', 'first', 'last'] as const),
  ...(['median', 'percentile', 'stdev', 'variance', 'mode', 'join', 'any', 'all'] as const),
] as const;

export type MetricName = (typeof METRICS)[number];

export interface MetricSettings {
  readonly separator: string;
  /** From 0 to 100. */
  readonly percent: number;
  readonly held: HeldBytes;
}

/** Returns the type of a metric over a column, or null if the metric does not apply to it. */
export function metricType(name: MetricName, column: ColumnType | null): ColumnType | null {
  if (name === 'count' || name === 'count_values') return name === 'count' || column !== null ? 'integer' : null;
  if (column === null) return null;
  const isNumeric = column === 'integer' || column === 'decimal' || column === 'number';
  if (name === 'sum') return isNumeric ? column : null;
  if (name === 'mean' || name === 'median' || name === 'percentile') {
    return isNumeric ? (column === 'number' ? 'number' : 'decimal') : null;
  }
  if (name === 'stdev' || name === 'variance') return isNumeric ? 'number' : null;
  if (name === 'count_distinct') return column === 'json' ? null : 'integer';
  if (name === 'any' || name === 'all') return column === 'boolean' ? 'boolean' : null;
  if (name === 'join') return 'text';
  return name === 'first' || name === 'last' || column !== 'json' ? column : null;
}

/** True for a metric that returns a cell of its column, which keeps its native kind. */
export function movesCell(name: MetricName, column: Column | null): boolean {
  return column?.hasKinds === true && (name === 'first' || name === 'last' || name === 'min' || name === 'max');
}

export function makeAccumulator(
  name: MetricName,
  column: ColumnType | null,
  { separator, percent, held }: MetricSettings,
): Accumulator {
  switch (name) {
    case 'count_distinct':
      return distinctCount(column!, held);
    case 'mode':
      return mode(column!, held);
    case 'median':
    case 'percentile':
      return percentile(column!, name === 'median' ? 50 : percent, held);
    case 'stdev':
    case 'variance':
      return variance(column!, name === 'stdev');
    case 'count':
    case 'count_values':
    case 'sum':
    case 'mean':
    case 'min':
    case 'max':
      return plainAccumulator(name, column);
    case 'first':
      return chosen(() => false);
    case 'last':
      return chosen(() => true);
    case 'any':
      return chosen((value, kept) => value === true && kept === false);
    case 'all':
      return chosen((value, kept) => value === false && kept === true);
    case 'join':
      return joined(separator);
  }
}

/** Metrics that hold at most one value, and whose result can be requested after each row. */
export type PlainMetricName = 'count' | 'count_values' | 'sum' | 'mean' | 'min' | 'max';

export function plainAccumulator(name: PlainMetricName, column: ColumnType | null): Accumulator {
  switch (name) {
    case 'count':
      return counter(() => true);
    case 'count_values':
      return counter((value) => value !== null);
    case 'sum':
      return column === 'number' ? doubleSum(false) : decimalSum(column === 'integer' ? 'integer' : 'sum');
    case 'mean':
      return column === 'number' ? doubleSum(true) : decimalSum('mean');
    case 'min':
      return chosen((value, kept) => compareCells(value, kept) < 0);
    case 'max':
      return chosen((value, kept) => compareCells(value, kept) > 0);
  }
}

function counter(counts: (value: unknown) => boolean): Accumulator {
  let count = 0;
  return {
    begin: () => {
      count = 0;
    },
    add: (value) => {
      if (counts(value)) count++;
    },
    end: () => count,
  };
}

/** The first non-null value, replaced by later ones for which `replaces` returns true. */
function chosen(replaces: (value: unknown, kept: unknown) => boolean): Accumulator {
  let kept: unknown = null;
  return {
    begin: () => {
      kept = null;
    },
    add: (value) => {
      if (value !== null && (kept === null || replaces(value, kept))) kept = value;
    },
    end: () => kept,
  };
}

function doubleSum(mean: boolean): Accumulator {
  let sum = new ExactSum();
  let count = 0;
  return {
    begin: () => {
      sum = new ExactSum();
      count = 0;
    },
    add: (value) => {
      if (value === null) return;
      sum.add(value as number);
      count++;
    },
    end: () => (count === 0 ? null : mean ? sum.mean(count) : sum.value),
  };
}

/** Integers are treated as decimals with scale 0, so that sums beyond 64 bits are detected. */
function decimalSum(gives: 'sum' | 'integer' | 'mean'): Accumulator {
  let sum = new WideSum();
  let count = 0;
  return {
    begin: () => {
      sum = new WideSum();
      count = 0;
    },
    add: (value) => {
      if (value === null) return;
      sum.add(value instanceof Decimal ? value : new Decimal(value as number | bigint, 0));
      count++;
    },
    end: () => {
      if (count === 0) return null;
      const { value } = sum;
      if (value === null) return new CellFault('OUT_OF_RANGE');
      if (gives === 'mean') return divideDecimals(value, new Decimal(count, 0)) ?? new CellFault('OUT_OF_RANGE');
      return gives === 'integer' ? value.digits : value;
    },
  };
}

function joined(separator: string): Accumulator {
  let texts: string[] = [];
  /** Length of the joined text and a separator after it. */
  let length = 0;
  return {
    begin: () => {
      texts = [];
      length = 0;
    },
    add: (value) => {
      if (value === null) return;
      const text = textOfValue(value);
      length += text.length + separator.length;
      // The text is already too long for a cell, so its parts are dropped.
      if (length - separator.length > CELL_BYTES_MAX) texts = [];
      else texts.push(text);
    },
    end: () => {
      if (length === 0 && texts.length === 0) return null;
      return length - separator.length > CELL_BYTES_MAX ? new CellFault('TOO_LONG') : texts.join(separator);
    },
  };
}

/** Compares two values of the same type. Texts, including those with a native kind, are compared by code points. */
function compareCells(a: unknown, b: unknown): number {
  if (a instanceof NativeText) return compareCells(a.text, b);
  if (b instanceof NativeText) return compareCells(a, b.text);
  if (a instanceof Decimal && b instanceof Decimal) return compareDecimals(a, b);
  if (a instanceof CalendarDate && b instanceof CalendarDate) return a.days - b.days;
  if (a instanceof Timestamp && b instanceof Timestamp) return a.seconds - b.seconds || a.nanos - b.nanos;
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}
