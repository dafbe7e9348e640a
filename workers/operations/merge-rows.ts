// The operation `merge_rows`: rows that continue the one before are joined to it.
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { checkCondition } from '../execution/expressions/check-expression.ts';
import { rowCondition } from '../execution/expressions/row-condition.ts';
import { ContinuedRows } from '../execution/ordered/continued-rows.ts';
import { PARAMETER_LENGTH_MAX } from '../execution/parameters/base-parameters.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import type { Scope } from '../template/scope.ts';
import { defineOperation } from './operation.ts';

const parameters = Type.Object({
  when: Type.String({
    minLength: 1,
    description:
      'An expression: a row for which it is true continues the row before, and goes. The first row of all stays, whatever ' +
      'it is.',
  }),
  join: columnSet,
  separator: Type.Optional(
    Type.String({ maxLength: PARAMETER_LENGTH_MAX, default: ' ', description: 'What stands between two texts.' }),
  ),
});

interface Plan {
  /** Null after a problem. */
  readonly when: CheckedExpression | null;
  readonly columns: readonly Column[];
  readonly separator: string;
}

export const mergeRows = defineOperation({
  name: 'merge_rows',
  summary:
    'Joins rows that continue the one before to it: their texts in the columns of `join`, empty ones left out. All other ' +
    'cells are those of the first of these rows; rows that have others there are counted (CELL_DROPPED).',
  knownAs: [{ names: 'combine_rows merge_lines join_rows continuation', form: "when: '...', join: [...]" }],
  parameters,
  cells: false,
  memory: 'O',
  examples: [
    {
      title: 'A purpose on several lines',
      operation: { op: 'merge_rows', when: 'date == null', join: ['purpose'] },
      input: {
        columns: ['date', 'purpose', 'amount'],
        rows: [
          ['2026-01-30', 'Rent', '-700.00'],
          [null, 'January', null],
          [null, 'flat 7', null],
          ['2026-01-31', 'Salary', '2500.00'],
        ],
      },
      output: {
        columns: ['date', 'purpose', 'amount'],
        rows: [
          ['2026-01-30', 'Rent January flat 7', '-700.00'],
          ['2026-01-31', 'Salary', '2500.00'],
        ],
      },
    },
    {
      title: 'Several columns, and a first row that continues nothing',
      operation: { op: 'merge_rows', when: 'no == null', join: ['a', 'b'], separator: '/' },
      input: {
        columns: ['no', 'a', 'b'],
        rows: [
          [null, 'x', null],
          [null, 'y', '1'],
          ['1', null, '2'],
          [null, 'z', null],
        ],
      },
      output: {
        columns: ['no', 'a', 'b'],
        rows: [
          [null, 'x/y', '1'],
          ['1', 'z', '2'],
        ],
      },
    },
  ],
  effect: plan,
  start({ when, columns, separator }, context) {
    // Without a column to join the rows would only be lost.
    if (when === null || columns.length === 0) return { push: context.next };
    return new ContinuedRows(context, rowCondition(when, context.input, context), columns, separator);
  },
});

function plan({ when, join, separator = ' ' }: Static<typeof parameters>, scope: Scope): Plan {
  const columns = scope.resolve(join, '/join');
  for (const { name, type } of columns) {
    if (type === 'text') continue;
    const message = `Texts are joined, and the column ${JSON.stringify(name)} is ${type} at this step. Put merge_rows before it is read.`;
    scope.problem('/join', 'WRONG_TYPE', message);
  }
  return { when: checkCondition(scope, when, '/when'), columns, separator };
}
