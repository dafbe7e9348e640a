// The operation `reorder`: moves columns to the front or to the end.
import { Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/arrange.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { defineOperation } from './operation.ts';

export const reorder = defineOperation({
  name: 'reorder',
  summary: 'Moves columns to the front or to the end; all others keep their order between them.',
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
      scope.problem('/last', 'COLUMN_TWICE', 'A column stands in "first" and in "last". Name it in one of them.');
      return null;
    }
    const middle = scope.columns.filter(({ id }) => !named.has(id));
    // Columns that are not known yet while a Template is checked belong to the middle: only the named order counts.
    scope.arrange([...front, ...middle, ...end], { rest: true });
    return null;
  },
  start(_plan, { next, layout }) {
    return { push: (batch) => next(arrange(batch, layout)) };
  },
});
