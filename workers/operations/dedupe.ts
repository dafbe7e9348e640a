// The operation `dedupe`: one row of each key.
import { Type } from 'typebox';
import { columnIndex } from './cells/cell-operator.ts';
import { columnSet } from './column-set.ts';
import { DistinctRows } from './keys/distinct-rows.ts';
import { matchParameter } from './keys/match-level.ts';
import { RowKeys } from './keys/row-keys.ts';
import { defineOperation } from './operation.ts';

export const dedupe = defineOperation({
  name: 'dedupe',
  summary: 'Keeps the first row of each key and drops the others; the order stays.',
  parameters: Type.Object({
    by: Type.Optional(columnSet),
    keep: Type.Optional(Type.Enum(['first'], { default: 'first', description: 'Which row of equal ones stays.' })),
    match: matchParameter,
    nulls: Type.Optional(
      Type.Enum(['equal', 'distinct'], {
        default: 'equal',
        description: '`equal`: null is a key like others; `distinct`: rows with a null in their key all stay.',
      }),
    ),
  }),
  cells: false,
  memory: 'K',
  examples: [
    {
      title: 'One row for each address',
      operation: { op: 'dedupe', by: 'email', match: 'case_insensitive' },
      input: {
        columns: ['id', 'email'],
        rows: [
          ['1', 'a@x.org'],
          ['2', 'A@X.org'],
          ['3', null],
          ['4', 'b@x.org'],
          ['5', null],
        ],
      },
      output: {
        columns: ['id', 'email'],
        rows: [
          ['1', 'a@x.org'],
          ['3', null],
          ['4', 'b@x.org'],
        ],
      },
    },
    {
      title: 'Whole rows',
      operation: { op: 'dedupe' },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['1', 'x'],
          ['1', 'y'],
          ['1', 'x'],
          [null, '1'],
          ['1', null],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          ['1', 'x'],
          ['1', 'y'],
          [null, '1'],
          ['1', null],
        ],
      },
    },
    {
      title: 'Rows without a key stay',
      operation: { op: 'dedupe', by: ['k'], nulls: 'distinct' },
      input: {
        columns: ['k', 'n'],
        rows: [
          [null, '1'],
          ['a', '2'],
          [null, '3'],
          ['a', '4'],
        ],
      },
      output: {
        columns: ['k', 'n'],
        rows: [
          [null, '1'],
          ['a', '2'],
          [null, '3'],
        ],
      },
    },
  ],
  effect({ by = '*', match = 'exact', nulls = 'equal' }, scope) {
    return { columns: scope.resolve(by, '/by'), match, nulls };
  },
  start({ columns, match, nulls }, context) {
    if (columns.length === 0) return { push: context.next };
    const indexes = columns.map((column) => columnIndex(context.input, column));
    return new DistinctRows(context, new RowKeys(context, indexes, match, nulls === 'distinct'));
  },
});
