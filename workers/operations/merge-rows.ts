// The operation `merge_rows`: joins rows that continue the previous row to it.
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { rowCondition } from '../execution/expressions/row-condition.ts';
import { ContinuedRows } from '../execution/ordered/continued-rows.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import { columnSet, PARAMETER_LENGTH_MAX } from '../template/base-parameters.ts';
import { checkCondition } from '../template/check-expression.ts';
import { defineOperation } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

const parameters = Type.Object({
  when: Type.String({
    minLength: 1,
    description:
      'An expression: a row for which it is true continues the row before, and is removed. The first row of all is always kept.',
  }),
  join: columnSet,
  separator: Type.Optional(
    Type.String({ maxLength: PARAMETER_LENGTH_MAX, default: ' ', description: 'Separator between two texts.' }),
  ),
});

interface Plan {
  /** null after a problem. */
  readonly when: CheckedExpression | null;
  readonly columns: readonly Column[];
  readonly separator: string;
}

export const mergeRows = defineOperation({
  name: 'merge_rows',
  purpose:
    'joins continuation rows to the row before: texts of the `join` columns are concatenated, other cells come from the first row',
  summary:
    'Joins continuation rows to the row before: the texts in the columns of `join` are concatenated, without empty ones. All other cells come from the first of these rows; continuation rows with other cells are counted (CELL_DROPPED).',
  knownAs: [{ names: 'combine_rows merge_lines join_rows continuation', form: "when: '...', join: [...]" }],
  parameters,
  cells: false,
  memory: 'O',
  examples: [
    {
      title: 'A text on several lines',
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
      title: 'Several columns, and a first row that continues no other',
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
    // Without a column to join, rows would only be lost.
    if (when === null || columns.length === 0) return { push: context.next };
    return new ContinuedRows(context, rowCondition(when, context.input, context), columns, separator);
  },
});

function plan({ when, join, separator = ' ' }: Static<typeof parameters>, scope: Scope): Plan {
  const columns = scope.resolve(join, '/join');
  for (const { name, type } of columns) {
    if (type === 'text') continue;
    const message =
      `Only texts can be joined, and the column ${JSON.stringify(name)} is ${type} at this step. Put merge_rows before ` +
      'the operation that parses it.';
    scope.problem('/join', 'WRONG_TYPE', message);
  }
  return { when: checkCondition(scope, when, '/when'), columns, separator };
}
