// The operation `blank_if`: clears cells that only look like values.
import type { ColumnType } from '../batch/schema.ts';
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { wholeCellStep } from '../execution/cells/replace-steps.ts';
import { textEdit } from '../execution/cells/text-chain.ts';
import { valueEdit } from '../execution/cells/value-cells.ts';
import { COLUMN_TYPES, columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const blankIf = defineOperation({
  name: 'blank_if',
  purpose: 'sets cells to null that are one of `values`, or whose rows match `where`',
  summary: 'Sets cells to null that contain one of the given texts, or whose rows match a condition.',
  knownAs: [
    {
      names: 'nullif null_if na_values replace_with_null to_null',
      form: "columns: ..., values: ['-', 'n/a']",
    },
  ],
  parameters: Type.Object(
    {
      columns: columnSet,
      values: Type.Optional(
        Type.Array(Type.String(), {
          minItems: 1,
          maxItems: 10_000,
          description: 'Texts that mean "missing"; without them, all cells in the rows of `where` become null.',
        }),
      ),
      case_sensitive: Type.Optional(Type.Boolean({ default: true, description: '`false` ignores case.' })),
      into: intoParameter,
    },
    { anyOf: [{ required: ['values'] }, { required: ['where'] }] },
  ),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Texts that exports write for missing values',
      operation: { op: 'blank_if', columns: '*', values: ['-', 'n/a'], case_sensitive: false },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['-', 'N/A'],
          ['--', 'x'],
          [null, '-'],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          [null, null],
          ['--', 'x'],
          [null, null],
        ],
      },
    },
    {
      title: 'All cells of rows that match a condition',
      operation: { op: 'blank_if', columns: ['price', 'note'], where: 'status == "void"' },
      input: {
        columns: ['status', 'price', 'note'],
        rows: [
          ['void', '5', 'x'],
          ['paid', '6', 'y'],
        ],
      },
      output: {
        columns: ['status', 'price', 'note'],
        rows: [
          ['void', null, null],
          ['paid', '6', 'y'],
        ],
      },
    },
  ],
  effect({ columns, values = null, case_sensitive = true, into }, scope) {
    const takes = values === null ? COLUMN_TYPES : (['text'] as const);
    const targets = cellTargets(scope, { columns, into, takes, makes: null });
    return { targets, values, anyCase: !case_sensitive };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, values, anyCase }, context) {
    if (values === null) {
      const blank = (type: ColumnType) => valueEdit(context, { type, bind: () => undefined, compute: () => null });
      return startCellOperator(
        context,
        targets,
        targets.map(({ target }) => blank(target.type)),
      );
    }
    const pairs = values.map((value) => [value, ''] as const);
    const edit = textEdit(context, [wholeCellStep(context.arena.heap, pairs, anyCase)]);
    return startCellOperator(
      context,
      targets,
      targets.map(() => edit),
    );
  },
});
