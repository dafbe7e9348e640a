// The operation `drop`: removes columns.
import { Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/copied-rows.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const drop = defineOperation({
  name: 'drop',
  purpose: 'removes columns',
  summary: 'Removes columns. A pattern, type or `except` that matches no column removes none.',
  knownAs: [
    {
      names: 'remove delete drop_columns remove_columns exclude except omit drop_column remove_column delete_column',
      form: 'columns: [...]',
    },
  ],
  parameters: Type.Object({ columns: columnSet }),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'Two columns by name',
      operation: { op: 'drop', columns: ['fax', 'telex'] },
      input: { columns: ['name', 'fax', 'telex'], rows: [['Ada', '1', '2']] },
      output: { columns: ['name'], rows: [['Ada']] },
    },
    {
      title: 'All except some',
      operation: { op: 'drop', columns: { except: ['name'] } },
      input: { columns: ['id', 'name', 'fax'], rows: [['7', 'Ada', null]] },
      output: { columns: ['name'], rows: [['Ada']] },
    },
  ],
  effect({ columns }, scope) {
    for (const column of scope.resolve(columns, '/columns', 'any')) scope.remove(column);
    return null;
  },
  start(_plan, { next, layout }) {
    return { push: (batch) => next(arrange(batch, layout)) };
  },
});
