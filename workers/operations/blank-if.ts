// The operation `blank_if`: takes away cells that only look like values.
import { Type } from 'typebox';
import { startCellOperator } from './cells/cell-operator.ts';
import { cellTargets, intoParameter } from './cells/cell-targets.ts';
import { wholeCellStep } from './cells/replace-steps.ts';
import { textEdit } from './cells/text-cells.ts';
import { columnSet } from './column-set.ts';
import { defineOperation } from './operation.ts';

export const blankIf = defineOperation({
  name: 'blank_if',
  summary: 'Makes cells null that are one of some texts.',
  parameters: Type.Object({
    columns: columnSet,
    values: Type.Array(Type.String(), { minItems: 1, maxItems: 10_000, description: 'Texts that mean "missing".' }),
    case_sensitive: Type.Optional(Type.Boolean({ default: true, description: '`false` takes any case.' })),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'What exports write for nothing',
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
  ],
  effect({ columns, values, case_sensitive = true, into }, scope) {
    const targets = cellTargets(scope, { columns, into, takes: ['text'], makes: null });
    return { targets, values, anyCase: !case_sensitive };
  },
  start({ targets, values, anyCase }, context) {
    const pairs = values.map((value) => [value, ''] as const);
    const edit = textEdit(context, [wholeCellStep(context.arena.heap, pairs, anyCase)]);
    return startCellOperator(
      context,
      targets,
      targets.map(() => edit),
    );
  },
});
