// The operation `round`: rounds numbers.
import { Type } from '../bundled/type-box.ts';
import { type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { roundDoublesEdit, roundEdit } from '../execution/cells/numbers.ts';
import { CellFault } from '../execution/cells/value-cells.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { Decimal, decimalFromNumber, decimalToNumber, type Rounding, roundDecimal } from '../values/decimal.ts';

/** Maximum number of decimal places. */
const SCALE_MAX = 100;

export const round = defineOperation({
  name: 'round',
  purpose: 'rounds to `scale` decimal places, half even by default (`mode`)',
  summary: 'Rounds decimals and numbers to a number of decimal places. Zero has no sign.',
  knownAs: [{ names: 'rounding round_to round_number round_half_up', form: 'columns: ..., scale: 2' }],
  parameters: Type.Object({
    columns: columnSet,
    scale: Type.Optional(
      Type.Integer({
        minimum: -30,
        maximum: SCALE_MAX,
        default: 0,
        description: 'Number of decimal places; -3 rounds to thousands.',
      }),
    ),
    mode: Type.Optional(
      Type.Enum(['half_even', 'half_up', 'down', 'error'], {
        default: 'half_even',
        description:
          "`half_even` (banker's rounding), `half_up` (halves away from zero), `down` (truncates), `error` (PRECISION_LOSS).",
      }),
    ),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Money to cents',
      operation: { op: 'round', columns: ['amount'], scale: 2, mode: 'half_up' },
      input: { columns: ['amount'], types: ['decimal'], rows: [['1.005'], ['-0.004'], ['7'], [null]] },
      output: { columns: ['amount'], rows: [['1.01'], ['0.00'], ['7.00'], [null]] },
    },
    {
      title: 'To thousands',
      operation: { op: 'round', columns: '*', scale: -3 },
      input: { columns: ['a', 'b'], types: ['integer', 'number'], rows: [['1500', '2500.5']] },
      output: { columns: ['a', 'b'], rows: [['2000', '3000']] },
    },
  ],
  effect({ columns, scale = 0, mode = 'half_even', into }, scope) {
    const targets = cellTargets(scope, { columns, into, takes: ['decimal', 'number', 'integer'], makes: null });
    return { targets, scale, mode };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, scale, mode }, context) {
    const edits = targets.map((target) => {
      const edit = target.target.type === 'number' ? roundDoublesEdit : roundEdit;
      return edit(context, target, scale, mode, rounderOf(target, scale, mode));
    });
    return startCellOperator(context, targets, edits);
  },
});

function rounderOf({ target }: CellTarget, scale: number, mode: Rounding): (value: unknown) => unknown {
  if (target.type === 'number') return (value) => roundNumber(value as number, scale, mode);
  if (target.type === 'integer') return (value) => roundInteger(value as number | bigint, scale, mode);
  return (value) => roundDecimal(value as Decimal, scale, mode) ?? new CellFault('PRECISION_LOSS');
}

function roundNumber(value: number, scale: number, mode: Rounding): unknown {
  const exact = decimalFromNumber(value);
  if (exact === null) return value;
  const rounded = roundDecimal(exact, scale, mode);
  return rounded === null ? new CellFault('PRECISION_LOSS') : decimalToNumber(rounded);
}

function roundInteger(value: number | bigint, scale: number, mode: Rounding): unknown {
  if (scale >= 0) return value;
  const rounded = roundDecimal(new Decimal(value, 0), scale, mode);
  return rounded === null ? new CellFault('PRECISION_LOSS') : rounded.digits;
}
