// What one metric keeps of the rows of one group. A group is done before the next begins, so there is one of each metric.
import { NativeText } from '../../batch/native-text.ts';
import type { Column, ColumnType } from '../../batch/schema.ts';
import { CalendarDate } from '../../values/calendar.ts';
import { compareDecimals, Decimal, divideDecimals } from '../../values/decimal.ts';
import { Timestamp } from '../../values/timestamp.ts';
import { CELL_BYTES_MAX } from '../cells/cell-limit.ts';
import { textOfValue } from '../cells/text-of-value.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { Accumulator } from './accumulator.ts';
import { ExactSum } from './exact-sum.ts';
import { distinctCount, type HeldBytes, mode, percentile } from './holistic-metrics.ts';
import { variance } from './variance.ts';
import { WideSum } from './wide-sum.ts';

export const METRICS = [
  ...(['count', 'count_values', 'count_distinct', 'sum', 'mean', 'min', 'max', 'first', 'last'] as const),
  ...(['median', 'percentile', 'stdev', 'variance', 'mode', 'join', 'any', 'all'] as const),
] as const;

export type MetricName = (typeof METRICS)[number];

export interface MetricSettings {
  readonly separator: string;
  /** 0 to 100. */
  readonly percent: number;
  readonly held: HeldBytes;
}

/** The type of a metric over a column, null when it does not go together. */
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

/** True for a metric that gives one of the cells of its column: it has the native kind of that cell. */
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

/** Metrics that hold one value at most, and may be asked what they come to after each row. */
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

/** The first value that is not null, replaced by later ones for which `replaces` holds. */
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

/** Integers are decimals of scale 0 here, so that sums beyond 64 bits are noticed instead of wrong. */
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
  /** Of the joined text and a separator behind it. */
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
      // No cell holds it any more: nothing of it is kept.
      if (length - separator.length > CELL_BYTES_MAX) texts = [];
      else texts.push(text);
    },
    end: () => {
      if (length === 0 && texts.length === 0) return null;
      return length - separator.length > CELL_BYTES_MAX ? new CellFault('TOO_LONG') : texts.join(separator);
    },
  };
}

/** Two values of one type; texts by code points, also those of which the file knows more. */
function compareCells(a: unknown, b: unknown): number {
  if (a instanceof NativeText) return compareCells(a.text, b);
  if (b instanceof NativeText) return compareCells(a, b.text);
  if (a instanceof Decimal && b instanceof Decimal) return compareDecimals(a, b);
  if (a instanceof CalendarDate && b instanceof CalendarDate) return a.days - b.days;
  if (a instanceof Timestamp && b instanceof Timestamp) return a.seconds - b.seconds || a.nanos - b.nanos;
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}
