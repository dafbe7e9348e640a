// What the functions of `window` compute. Each sees the rows of a group one by one: forward in their order, and some of
// them then backward, where the first row that is seen knows what all of them come to.
import type { ColumnType } from '../../schema.ts';
import { addDecimals, Decimal, divideDecimals, multiplyDecimals, subtractDecimals } from '../../values/decimal.ts';
import { CellFault } from '../cells/value-cells.ts';
import { ExactSum } from '../rows/exact-sum.ts';

export const WINDOW_FUNCTIONS = [
  ...([
    'row_number',
    'running_sum',
    'running_count',
    'previous',
    'next',
    'first',
    'last',
    'rank',
    'dense_rank',
  ] as const),
  ...(['percent_of_total', 'moving_average', 'difference', 'group_size'] as const),
] as const;

export type WindowFunctionName = (typeof WINDOW_FUNCTIONS)[number];

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
  readonly type: ColumnType;
  /** Type of what `forward` makes, which is the result where there is no `backward`. */
  readonly hiddenType: ColumnType | null;
  readonly forward: WindowStep | null;
  readonly backward: WindowStep | null;
}

const NO_COLUMN: readonly WindowFunctionName[] = ['row_number', 'rank', 'dense_rank', 'group_size'];
const NUMBERS_ONLY: readonly WindowFunctionName[] = ['running_sum', 'percent_of_total', 'moving_average', 'difference'];

/** What a function needs of its settings, as a sentence for the Template's author; null when they suit it. */
export function windowProblem(name: WindowFunctionName, column: ColumnType | null, ordered: boolean): string | null {
  if (NO_COLUMN.includes(name) && column !== null) return `"${name}" takes no column.`;
  if (!NO_COLUMN.includes(name) && name !== 'running_count' && column === null) return `"${name}" needs a column.`;
  if ((name === 'rank' || name === 'dense_rank') && !ordered) return `"${name}" needs order_by.`;
  return null;
}

/** The same of the type of its column. */
export function windowTypeProblem(name: WindowFunctionName, column: ColumnType | null): string | null {
  const isNumeric = column === 'integer' || column === 'decimal' || column === 'number';
  if (column === null || isNumeric || !NUMBERS_ONLY.includes(name)) return null;
  return `"${name}" takes numbers, and the column is ${column} at this step. Use parse_number or cast.`;
}

/** @param rows of a moving average */
export function windowFunction(name: WindowFunctionName, column: ColumnType | null, rows: number): WindowFunction {
  const quotient: ColumnType = column === 'number' ? 'number' : 'decimal';
  switch (name) {
    case 'row_number':
      return forwardOnly('integer', rowNumber());
    case 'rank':
      return forwardOnly('integer', rank(false));
    case 'dense_rank':
      return forwardOnly('integer', rank(true));
    case 'running_count':
      return forwardOnly('integer', runningCount(column !== null));
    case 'running_sum':
      return forwardOnly(column!, runningSum(column!));
    case 'previous':
      return forwardOnly(column!, before());
    case 'first':
      return forwardOnly(column!, firstOne());
    case 'difference':
      return forwardOnly(column!, difference(column!));
    case 'moving_average':
      return forwardOnly(quotient, movingAverage(column!, rows));
    case 'next':
      return { type: column!, hiddenType: null, forward: null, backward: before() };
    case 'last':
      return { type: column!, hiddenType: null, forward: null, backward: firstOne() };
    case 'group_size':
      return {
        type: 'integer',
        hiddenType: 'integer',
        forward: rowNumber(),
        backward: firstHidden((_, total) => total),
      };
    case 'percent_of_total': {
      const backward = firstHidden(column === 'number' ? percentOfDoubles : percentOf);
      return { type: quotient, hiddenType: column!, forward: runningSum(column!), backward };
    }
  }
}

function forwardOnly(type: ColumnType, forward: WindowStep): WindowFunction {
  return { type, hiddenType: type, forward, backward: null };
}

function rowNumber(): WindowStep {
  let count = 0;
  return {
    begin: () => {
      count = 0;
    },
    next: () => ++count,
  };
}

/** Equal rows have the same rank; the next one counts them all, or, dense, as one. */
function rank(dense: boolean): WindowStep {
  let count = 0;
  let last = 0;
  return {
    begin: () => {
      count = 0;
      last = 0;
    },
    next: (_value, _hidden, tied) => {
      count++;
      if (!tied || count === 1) last = dense ? last + 1 : count;
      return last;
    },
  };
}

function runningCount(ofValues: boolean): WindowStep {
  let count = 0;
  return {
    begin: () => {
      count = 0;
    },
    next: (value) => (ofValues && value === null ? count : ++count),
  };
}

/** Null before the first value. */
function runningSum(column: ColumnType): WindowStep {
  if (column === 'number') return runningDoubles();
  let sum: Decimal | CellFault | null = null;
  return {
    begin: () => {
      sum = null;
    },
    next: (value) => {
      if (value !== null && !(sum instanceof CellFault)) {
        const term = decimalOfCell(value);
        sum = sum === null ? term : (addDecimals(sum, term) ?? new CellFault('OUT_OF_RANGE'));
      }
      return sum instanceof Decimal ? cellOf(sum, column) : sum;
    },
  };
}

function runningDoubles(): WindowStep {
  let sum: ExactSum | null = null;
  return {
    begin: () => {
      sum = null;
    },
    next: (value) => {
      if (value === null) return sum?.value ?? null;
      sum ??= new ExactSum();
      sum.add(value as number);
      return sum.value;
    },
  };
}

function before(): WindowStep {
  let last: unknown = null;
  return {
    begin: () => {
      last = null;
    },
    next: (value) => {
      const given = last;
      last = value;
      return given;
    },
  };
}

/** The cell of the first row, also when it is null. */
function firstOne(): WindowStep {
  let first: unknown = null;
  let isNew = true;
  return {
    begin: () => {
      isNew = true;
    },
    next: (value) => {
      if (isNew) first = value;
      isNew = false;
      return first;
    },
  };
}

/** Of the row that is seen first, what the other direction put there. */
function firstHidden(result: (value: unknown, total: unknown) => unknown): WindowStep {
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

/** From the value of the row before; null where one of both is. */
function difference(column: ColumnType): WindowStep {
  const last = before();
  return {
    begin: last.begin,
    next: (value, hidden, tied) => {
      const from = last.next(value, hidden, tied);
      if (value === null || from === null) return null;
      if (column === 'number') return (value as number) - (from as number);
      const made = subtractDecimals(decimalOfCell(value), decimalOfCell(from));
      return made === null ? new CellFault('OUT_OF_RANGE') : cellOf(made, column);
    },
  };
}

/** Of the values of the last rows, this one included; null where none of them has one. */
function movingAverage(column: ColumnType, rows: number): WindowStep {
  let values: unknown[] = [];
  return {
    begin: () => {
      values = [];
    },
    next: (value) => {
      values.push(value);
      if (values.length > rows) values.shift();
      const there = values.filter((one) => one !== null);
      if (there.length === 0) return null;
      if (column === 'number') {
        const sum = new ExactSum();
        for (const one of there) sum.add(one as number);
        return sum.value / there.length;
      }
      const sum = there.reduce<Decimal | null>(
        (all, one) => all && addDecimals(all, decimalOfCell(one)),
        new Decimal(0, 0),
      );
      const mean = sum && divideDecimals(sum, new Decimal(there.length, 0));
      return mean ?? new CellFault('OUT_OF_RANGE');
    },
  };
}

/** Null where the total is 0. */
function percentOf(value: unknown, total: unknown): unknown {
  if (value === null || total === null) return null;
  const whole = decimalOfCell(total);
  if (Number(whole.digits) === 0) return null;
  const hundredfold = multiplyDecimals(decimalOfCell(value), new Decimal(100, 0));
  return (hundredfold && divideDecimals(hundredfold, whole)) ?? new CellFault('OUT_OF_RANGE');
}

function percentOfDoubles(value: unknown, total: unknown): unknown {
  return value === null || total === null || total === 0 ? null : ((value as number) / (total as number)) * 100;
}

function decimalOfCell(value: unknown): Decimal {
  return value instanceof Decimal ? value : new Decimal(value as number | bigint, 0);
}

function cellOf(value: Decimal, column: ColumnType): unknown {
  return column === 'integer' ? value.digits : value;
}
