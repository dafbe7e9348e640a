// What the functions of `window` compute. Each sees the rows of a group one by one: forward in their order, and some of
// them then backward, where the first row that is seen knows what all of them come to.
import { type ColumnType, columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { addDecimals, Decimal, subtractDecimals } from '../../values/decimal.ts';
import { ExactSum } from '../aggregate/exact-sum.ts';
import { CellFault } from '../cells/value-cells.ts';
import { movingAverage } from './moving-average.ts';
import { rowBefore } from './row-before.ts';
import { percentOfTotal } from './window-shares.ts';
import { decimalOfCell, firstHidden, forwardOnly, type WindowFunction, type WindowStep } from './window-step.ts';

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

/** What other languages call them, for hints in messages. `first` and `last` are metrics of an aggregate, too, and mean those. */
export const WORDS_FOR_FUNCTIONS = {
  ...{ row_number: 'add_index index enumerate', rank: '', dense_rank: '', group_size: '', percent_of_total: 'share' },
  ...{ running_sum: 'cumsum running_total', running_count: 'cumcount', moving_average: 'rolling rolling_mean' },
  ...{ previous: 'lag shift', next: 'lead', difference: 'diff delta' },
} satisfies Partial<Record<WindowFunctionName, string>>;

/**
 * @param stored how the cells of its column are held
 * @param settings `rows` of a moving average, `offset` of the row before or behind
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

/** From the value of the row before; null where one of both is. */
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
