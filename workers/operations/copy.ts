// The operation `copy`: a second column with the same cells.
import { Type } from '../bundled/type-box.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import { defineOperation } from './operation.ts';

export const copy = defineOperation({
  name: 'copy',
  summary: 'Makes a new column at the end with the cells of another.',
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
      title: 'Keep the original beside what is edited later',
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
    return { source, made: scope.add(to, source.type, '/to', undefined, source.hasKinds) };
  },
  start(plan, { indexOf, output, layout, next }) {
    if (plan === null) return { push: next };
    const from = indexOf(plan.source);
    const order = output.map(({ id }, index) => (id === plan.made.id ? from : layout[index]!));
    return { push: (batch) => next(batch.withColumns(order.map((index) => batch.columns[index]!))) };
  },
});
