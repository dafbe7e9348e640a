// The operation `generalize`: makes values coarser, so that they identify fewer people.
import { Type } from '../bundled/type-box.ts';
import { editedIds } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { CellFault, startValueOperator } from '../execution/cells/value-cells.ts';
import { columnSet, exactlyOne } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { Decimal, decimalOf, parseDecimal, powerOfTen } from '../values/decimal.ts';
import { CalendarDate, civilDate, dayNumber, Timestamp } from '../values/timestamp.ts';

const DAY_SECONDS = 86_400;

type Unit = 'month' | 'quarter' | 'year';

const MONTHS: Readonly<Record<Unit, number>> = { month: 1, quarter: 3, year: 12 };

export const generalize = defineOperation({
  name: 'generalize',
  purpose: 'makes dates (`month`, `quarter`, `year`) or numbers (`step`) less precise',
  summary:
    'Reduces the precision of dates to the first day of their month, quarter or year (UTC), or of numbers to multiples of a step.',
  knownAs: [{ names: 'bin bucket binning bucketize discretize generalise', form: null }],
  parameters: Type.Object(
    {
      columns: columnSet,
      to: Type.Optional(Type.Enum(['month', 'quarter', 'year'], { description: 'For dates and datetimes.' })),
      step: Type.Optional(
        Type.Union([Type.Number(), Type.String({ minLength: 1 })], {
          description: 'For integers and decimals: rounds down to a multiple of the step, which must be positive.',
        }),
      ),
      into: intoParameter,
    },
    exactlyOne(['to'], ['step']),
  ),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Birthdays by quarter',
      operation: { op: 'generalize', columns: ['born'], to: 'quarter' },
      input: { columns: ['born'], types: ['date'], rows: [['1987-06-30'], ['2000-01-01'], [null]] },
      output: { columns: ['born'], rows: [['1987-04-01'], ['2000-01-01'], [null]] },
    },
    {
      title: 'Incomes in thousands',
      operation: { op: 'generalize', columns: 'income', step: 1000, into: 'band' },
      input: { columns: ['income'], types: ['decimal'], rows: [['1999.99'], ['-0.01'], ['3000']] },
      output: {
        columns: ['income', 'band'],
        rows: [
          ['1999.99', '1000'],
          ['-0.01', '-1000'],
          ['3000', '3000'],
        ],
      },
    },
  ],
  effect({ columns, to = null, step, into }, scope) {
    const takes = to === null ? (['integer', 'decimal'] as const) : (['date', 'datetime'] as const);
    const targets = cellTargets(scope, { columns, into, takes, makes: null });
    const whole = targets.some(({ target }) => target.type === 'integer');
    return { targets, to, step: step === undefined ? null : readStep(step, whole, scope) };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, to, step }, context) {
    const coarser = step === null ? (value: unknown) => startOf(value, to ?? 'year') : stepped(step);
    return startValueOperator(context, targets, () => coarser);
  },
});

function readStep(given: number | string, whole: boolean, scope: Scope): Decimal | null {
  const step = parseDecimal(String(given), true);
  if (step !== null && step.digits > 0 && !(whole && step.scale > 0)) return step;
  scope.problem('/step', 'BAD_VALUE', `Write a number above 0${whole ? ', whole for integers' : ''}, such as 10.`);
  return null;
}

function startOf(value: unknown, unit: Unit): unknown {
  const days = value instanceof Timestamp ? Math.floor(value.seconds / DAY_SECONDS) : (value as CalendarDate).days;
  const { year, month } = civilDate(days);
  const months = MONTHS[unit];
  const first = dayNumber(year, month - ((month - 1) % months), 1);
  return value instanceof Timestamp ? new Timestamp(first * DAY_SECONDS, 0) : new CalendarDate(first);
}

function stepped(step: Decimal): (value: unknown) => unknown {
  return (value) => {
    const exact = value instanceof Decimal ? value : new Decimal(value as number | bigint, 0);
    const scale = Math.max(exact.scale, step.scale);
    const unit = BigInt(step.digits) * powerOfTen(scale - step.scale);
    const digits = BigInt(exact.digits) * powerOfTen(scale - exact.scale);
    const below = digits - (((digits % unit) + unit) % unit);
    if (!(value instanceof Decimal)) return below;
    return decimalOf(below / powerOfTen(scale - step.scale), step.scale) ?? new CellFault('OUT_OF_RANGE');
  };
}
