// The operation `reorder`: moves columns to the front or to the end.
import { Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/copied-rows.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const reorder = defineOperation({
  name: 'reorder',
  purpose: 'moves columns `first` or `last`',
  summary: 'Moves columns to the start or to the end. The others keep their order.',
  knownAs: [
    {
      names: 'relocate move move_column move_columns order_columns reorder_columns sort_columns column_order',
      form: 'first: [...]',
    },
  ],
  parameters: Type.Object(
    { first: Type.Optional(columnSet), last: Type.Optional(columnSet) },
    { anyOf: [{ required: ['first'] }, { required: ['last'] }] },
  ),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'To the front and to the end',
      operation: { op: 'reorder', first: ['date', 'amount'], last: 'note' },
      input: { columns: ['note', 'id', 'amount', 'date'], rows: [['x', '7', '1.00', '2026-01-31']] },
      output: { columns: ['date', 'amount', 'id', 'note'], rows: [['2026-01-31', '1.00', '7', 'x']] },
    },
  ],
  effect({ first, last }, scope) {
    const front = first === undefined ? [] : scope.resolve(first, '/first');
    const end = last === undefined ? [] : scope.resolve(last, '/last');
    const named = new Set([...front, ...end].map(({ id }) => id));
    if (named.size < front.length + end.length) {
      scope.problem('/last', 'COLUMN_TWICE', 'A column is in "first" and in "last". Name it in only one of them.');
      return null;
    }
    const middle = scope.columns.filter(({ id }) => !named.has(id));
    // While a Template is checked, columns that are not known yet belong to the middle, so only the order of the named
    // ones counts.
    scope.arrange([...front, ...middle, ...end], { rest: true });
    return null;
  },
  start(_plan, { next, layout }) {
    return { push: (batch) => next(arrange(batch, layout)) };
  },
});
