// The functions of `window`: their interface, functions of rows, moving averages, and shares of totals.

import { CELL_BYTES_MAX } from '../../batch/batch.ts';
import { NativeText } from '../../batch/native-cell.ts';
import { type ColumnType, columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { Failed } from '../../protocol/failure.ts';
import {
  addDecimals,
  Decimal,
  divideDecimals,
  multiplyDecimals,
  parseDecimal,
  roundDecimal,
  subtractDecimals,
} from '../../values/decimal.ts';
import { type MetricName, type PlainMetricName, plainAccumulator } from '../aggregate/accumulators.ts';
import { ExactSum } from '../aggregate/sums.ts';
import { CellFault, textOfValue } from '../cells/value-cells.ts';

// The interface of `window` functions, and the simplest functions.

/** One direction of a function. */
interface WindowStep {
  /** Called at the beginning of a group. */
  begin(): void;
  /**
   * Processes the next row. `value`: cell of its column. `hidden`: result of the other direction for this row. `tied`:
   * whether the row equals the previous one by `order_by`.
   */
  next(value: unknown, hidden: unknown, tied: boolean): unknown;
}

export interface WindowFunction {
  readonly type: StoredType;
  /** Type of the results of `forward`, which are the final results if there is no `backward`. */
  readonly hiddenType: StoredType | null;
  readonly forward: WindowStep | null;
  readonly backward: WindowStep | null;
}

/** An aggregate of groups. If `shares` is true, rows get their percentage of it. */
export interface WindowTotal {
  readonly fn: MetricName;
  readonly shares: boolean;
}

export interface WindowColumn {
  readonly function: WindowFunction;
  /** Index of its column in the input, or -1. */
  readonly column: number;
  readonly columnType: StoredType;
  /** Index of the boolean column that selects the rows that count, or -1 for all rows. */
  readonly condition: number;
  /** Its aggregate of whole groups, or null if it depends on the order or on single rows. */
  readonly total: WindowTotal | null;
}

export function forwardOnly(type: StoredType, forward: WindowStep): WindowFunction {
  return { type, hiddenType: type, forward, backward: null };
}

/** Reads the total that the other direction stored in the row that is processed first. */
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

/** Converts the cell of an integer or a decimal. */
function decimalOfCell(value: unknown): Decimal {
  return value instanceof Decimal ? value : new Decimal(value as number | bigint, 0);
}

// The cell a number of rows before, for functions of `window`.

/** Maximum number of characters of the held cells if the offset is greater than one: as many as one cell may have. */
const HELD_CHARACTERS_MAX = CELL_BYTES_MAX;

/** null if the group has fewer rows before. */
function rowBefore(offset = 1): WindowStep {
  if (offset === 1) return previousRow();
  /** Ring buffer of the last cells: the oldest one is overwritten next. */
  let cells: unknown[] = [];
  let seen = 0;
  let held = 0;
  return {
    begin: () => {
      cells = [];
      seen = 0;
      held = 0;
    },
    next: (value) => {
      const place = seen++ % offset;
      const given = cells[place] ?? null;
      cells[place] = value;
      held += charactersOf(value) - charactersOf(given);
      if (held > HELD_CHARACTERS_MAX) {
        throw new Failed(
          'RUN_RESOURCE_LIMIT',
          'window: the cells that an "offset" spans have more than 4 MiB of text.',
        );
      }
      return given;
    },
  };
}

/** Same as rowBefore, without a buffer for each group. */
function previousRow(): WindowStep {
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

function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value instanceof NativeText ? value.text.length : 0;
}

// Moving average for `window`. The sum is updated with each row that enters or leaves the range, instead of being
// computed again. Both kinds of sums are exact, so the result does not depend on the order or on removed values.

/** Sum of the values in the range. */
interface MovingSum {
  add(value: unknown): void;
  take(value: unknown): void;
  /** @param last returns all values in the range, the oldest first */
  mean(count: number, last: () => readonly unknown[]): unknown;
}

/** Average over the last `rows` rows, including the current one. null if none of these rows has a value. */
export function movingAverage(column: ColumnType, rows: number): WindowStep {
  /** Ring buffer: the oldest value is overwritten next. */
  let values: unknown[] = [];
  let seen = 0;
  let count = 0;
  let sum: MovingSum = column === 'number' ? new DoubleSum() : new DecimalSum();
  const last = (): readonly unknown[] => {
    const oldest = seen % rows;
    return [...values.slice(oldest), ...values.slice(0, oldest)].filter((value) => value !== null);
  };
  return {
    begin: () => {
      values = [];
      seen = 0;
      count = 0;
      sum = column === 'number' ? new DoubleSum() : new DecimalSum();
    },
    next: (value) => {
      const place = seen++ % rows;
      const gone = values[place] ?? null;
      values[place] = value;
      if (gone !== null) {
        sum.take(gone);
        count--;
      }
      if (value !== null) {
        sum.add(value);
        count++;
      }
      return count === 0 ? null : sum.mean(count, last);
    },
  };
}

class DoubleSum implements MovingSum {
  readonly #sum = new ExactSum();
  /** Infinities and NaN cannot be subtracted, so their occurrences are counted. */
  readonly #special = new Map<string, number>();

  add(value: number): void {
    if (Number.isFinite(value)) this.#sum.add(value);
    else this.#count(value, 1);
  }

  take(value: number): void {
    if (Number.isFinite(value)) this.#sum.add(-value);
    else this.#count(value, -1);
  }

  mean(count: number): number {
    if (this.#special.size === 0) return this.#sum.mean(count);
    return [...this.#special.keys()].reduce((sum, special) => sum + Number(special), 0);
  }

  #count(value: number, change: number): void {
    const key = String(value);
    const there = (this.#special.get(key) ?? 0) + change;
    if (there === 0) this.#special.delete(key);
    else this.#special.set(key, there);
  }
}

/** Limits within which a sum of a thousand values stays far below the 1,000 digits of a decimal. */
const PLAIN_SCALE_MAX = 400;
const PLAIN_LIMIT = 10n ** 400n;

class DecimalSum implements MovingSum {
  #sum = new Decimal(0, 0);
  /** Number of values for each scale. The sum has the largest scale. */
  readonly #scales = new Map<number, number>();
  #scale = 0;
  /**
   * Number of values whose intermediate sums may have too many digits. While there are any, the sum is computed again
   * each time.
   */
  #wide = 0;

  add(value: unknown): void {
    const term = decimalOfCell(value);
    if (isWide(term)) {
      this.#wide++;
      return;
    }
    this.#sum = addDecimals(this.#sum, term)!;
    this.#scales.set(term.scale, (this.#scales.get(term.scale) ?? 0) + 1);
    this.#scale = Math.max(this.#scale, term.scale);
  }

  take(value: unknown): void {
    const term = decimalOfCell(value);
    if (isWide(term)) {
      this.#wide--;
      return;
    }
    this.#sum = subtractDecimals(this.#sum, term)!;
    const left = this.#scales.get(term.scale)! - 1;
    this.#scales.set(term.scale, left);
    if (left > 0) return;
    this.#scales.delete(term.scale);
    if (term.scale < this.#scale) return;
    this.#scale = Math.max(0, ...this.#scales.keys());
    // Only zeros are removed.
    this.#sum = roundDecimal(this.#sum, this.#scale, 'down')!;
  }

  mean(count: number, last: () => readonly unknown[]): Decimal | CellFault {
    const sum = this.#wide === 0 ? this.#sum : sumOf(last());
    const mean = sum && divideDecimals(sum, new Decimal(count, 0));
    return mean ?? new CellFault('OUT_OF_RANGE');
  }
}

function isWide({ digits, scale }: Decimal): boolean {
  return scale > PLAIN_SCALE_MAX || (typeof digits === 'bigint' && (digits >= PLAIN_LIMIT || digits <= -PLAIN_LIMIT));
}

/** Returns null if an intermediate sum has too many digits. */
function sumOf(values: readonly unknown[]): Decimal | null {
  return values.reduce<Decimal | null>(
    (sum, value) => sum && addDecimals(sum, decimalOfCell(value)),
    new Decimal(0, 0),
  );
}

// Totals of a whole group with which its rows are compared. A sum is passed forward through the rows, so that it is
// known at the first row of the backward pass.

/** Marks a total that exceeds a decimal. A later row may bring it back into range. */
const TOO_LARGE = '!';

/** Combines the value of a row with the total of its group. */
export type OfTotal = (value: unknown, total: unknown) => unknown;

function percentOfTotal(column: ColumnType): WindowFunction {
  if (column !== 'number') return { type: 'decimal', ...decimalTotal(accumulatedStep('sum', 'decimal'), percentOf) };
  const forward = accumulatedStep('sum', column);
  return { type: 'number', hiddenType: 'number', forward, backward: firstHidden(percentOfDoubles) };
}

/** Percentage of a sum, if the sum is known. */
export function percentOfSum(column: ColumnType): OfTotal {
  return column === 'number' ? percentOfDoubles : percentOf;
}

/** Aggregate of the rows so far. */
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

/**
 * A decimal total that is temporarily too large does not matter, because only the total of all rows counts. The total
 * is passed forward as a text.
 */
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
  if (!(value instanceof Decimal)) throw new Error('a total is not a decimal');
  return value;
}

/** null if the total is 0. */
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

/** If the total exceeds the range of doubles, the result is an error, because all percentages would be 0. */
function percentOfDoubles(value: unknown, total: unknown): unknown {
  if (value === null || total === null || total === 0) return null;
  const [part, whole] = [value as number, total as number];
  if (Number.isFinite(part) && !Number.isFinite(whole)) return new CellFault('OUT_OF_RANGE');
  return (part / whole) * 100;
}

// The functions of `window`. Each processes the rows of a group one by one: forward in their order, and some then
// backward, where the first row already has the result of all rows.

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

/**
 * Names of these functions in other languages, for hints in messages. `first` and `last` are missing, because they are
 * also metrics of `aggregate`.
 */
export const WORDS_FOR_FUNCTIONS = {
  ...{ row_number: 'add_index index enumerate', rank: '', dense_rank: '', group_size: '', percent_of_total: 'share' },
  ...{ running_sum: 'cumsum running_total', running_count: 'cumcount', moving_average: 'rolling rolling_mean' },
  ...{ previous: 'lag shift', next: 'lead', difference: 'diff delta' },
} satisfies Partial<Record<WindowFunctionName, string>>;

/**
 * @param stored stored type of its column
 * @param settings `rows` of a moving average, `offset` of an earlier or later row
 */
export function windowFunction(
  name: WindowFunctionName,
  stored: StoredType | null,
  { rows = 1, offset = 1 }: { readonly rows?: number | undefined; readonly offset?: number | undefined },
): WindowFunction {
  const column = stored === null ? null : columnTypeOf(stored);
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
      return forwardOnly(stored!, rowBefore(offset));
    case 'first':
      return forwardOnly(stored!, firstOne());
    case 'difference':
      return forwardOnly(column!, difference(column!));
    case 'moving_average':
      return forwardOnly(quotient, movingAverage(column!, rows));
    case 'next':
      return { type: stored!, hiddenType: null, forward: null, backward: rowBefore(offset) };
    case 'last':
      return { type: stored!, hiddenType: null, forward: null, backward: firstOne() };
    case 'group_size':
      return {
        type: 'integer',
        hiddenType: 'integer',
        forward: rowNumber(),
        backward: firstHidden((_, total) => total),
      };
    case 'percent_of_total':
      return percentOfTotal(column!);
  }
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

/** Equal rows have the same rank. The next rank counts all of them, or, if dense, counts them as one. */
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

/** null before the first value. */
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

/** Returns the cell of the first row, even if it is null. */
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

/** Difference from the value of the previous row. null if one of the two is null. */
function difference(column: ColumnType): WindowStep {
  const last = rowBefore();
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

function cellOf(value: Decimal, column: ColumnType): unknown {
  return column === 'integer' ? value.digits : value;
}
