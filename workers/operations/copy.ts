// The operation `copy`: adds a column with the cells of another one.
import { Type } from '../bundled/type-box.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const copy = defineOperation({
  name: 'copy',
  purpose: 'copies the column `from` to a new column `to`',
  summary: 'Adds a new last column with the cells of another column.',
  knownAs: [{ names: 'duplicate duplicate_column clone copy_column', form: null }],
  parameters: Type.Object({
    from: columnName,
    to: Type.String({ minLength: 1, description: 'Name of the new column.' }),
  }),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'Keep the original of a column that is edited later',
      operation: { op: 'copy', from: 'amount', to: 'amount_as_sent' },
      input: {
        columns: ['amount', 'id'],
        rows: [
          ['1.234,50', '7'],
          [null, '8'],
        ],
      },
      output: {
        columns: ['amount', 'id', 'amount_as_sent'],
        rows: [
          ['1.234,50', '7', '1.234,50'],
          [null, '8', null],
        ],
      },
    },
  ],
  effect({ from, to }, scope) {
    const source = scope.read(from, '/from');
    if (source === null) return null;
    const made = scope.add(to, source.type, '/to', undefined, source.hasKinds);
    scope.setClock(made, source.clock);
    return { source, made };
  },
  start(plan, { indexOf, output, layout, next }) {
    if (plan === null) return { push: next };
    const from = indexOf(plan.source);
    const order = output.map(({ id }, index) => (id === plan.made.id ? from : layout[index]!));
    return { push: (batch) => next(batch.withColumns(order.map((index) => batch.columns[index]!))) };
  },
});
