// The operation `select`: keeps the named columns, in this order.
import { Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/copied-rows.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const select = defineOperation({
  name: 'select',
  purpose: 'keeps the named columns in the named order; with `keep_rest`, the other columns follow',
  summary: 'Keeps the named columns in the given order and removes the others; with `keep_rest` the others follow.',
  knownAs: [
    {
      names: 'keep keep_columns cut pick choose columns only_columns select_columns retain project',
      form: 'columns: [...]',
    },
  ],
  parameters: Type.Object({
    columns: columnSet,
    keep_rest: Type.Optional(
      Type.Boolean({ default: false, description: 'Keeps the other columns after the named ones.' }),
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
      title: 'Some columns first, then the others',
      operation: { op: 'select', columns: ['amount'], keep_rest: true },
      input: { columns: ['id', 'name', 'amount'], rows: [['7', 'Ada', '12.50']] },
      output: { columns: ['amount', 'id', 'name'], rows: [['12.50', '7', 'Ada']] },
    },
  ],
  effect({ columns, keep_rest = false }, scope) {
    scope.arrange(scope.resolve(columns, '/columns', keep_rest ? 'some' : 'one'), { rest: keep_rest });
    return null;
  },
  start(_plan, { next, layout }) {
    return { push: (batch) => next(arrange(batch, layout)) };
  },
});
