// The operation `select`: the columns that stay, in this order.
import { Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/arrange.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { defineOperation } from './operation.ts';

export const select = defineOperation({
  name: 'select',
  summary: 'Keeps the named columns, in the order named; the others go away, or follow with `keep_rest`.',
  knownAs: [
    {
      names: 'keep keep_columns cut pick choose columns only_columns select_columns retain project',
      form: 'columns: [...]',
    },
  ],
  parameters: Type.Object({
    columns: columnSet,
    keep_rest: Type.Optional(
      Type.Boolean({ default: false, description: 'Keeps the other columns behind the named ones.' }),
    ),
  }),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'Three columns in a new order',
      operation: { op: 'select', columns: ['amount', 'id'] },
      input: { columns: ['id', 'name', 'amount'], rows: [['007', 'Ada', '1E5']] },
      output: { columns: ['amount', 'id'], rows: [['1E5', '007']] },
    },
    {
      title: 'Some columns first',
      operation: { op: 'select', columns: ['amount'], keep_rest: true },
      input: { columns: ['id', 'name', 'amount'], rows: [['7', 'Ada', '12.50']] },
      output: { columns: ['amount', 'id', 'name'], rows: [['12.50', '7', 'Ada']] },
    },
  ],
  effect({ columns, keep_rest = false }, scope) {
    scope.arrange(scope.resolve(columns, '/columns'), { rest: keep_rest });
    return null;
  },
  start(_plan, { next, layout }) {
    return { push: (batch) => next(arrange(batch, layout)) };
  },
});
