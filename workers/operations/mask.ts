// The operation `mask`: masks the characters of texts except for a few at their ends.
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { textEdit } from '../execution/cells/text-chain.ts';
import { maskStep } from '../execution/cells/text-steps.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

/** Minimum number of masked characters. If fewer were masked, the visible ones would almost reveal the text. */
const HIDDEN_MIN = 4;

export const mask = defineOperation({
  name: 'mask',
  purpose: 'hides all characters except a few at the ends',
  summary: 'Replaces each character except a few at the ends. The length remains visible.',
  knownAs: [{ names: 'obfuscate redact_part hide mask_values', form: null }],
  parameters: Type.Object({
    columns: columnSet,
    keep_first: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        default: 0,
        description: 'Number of visible characters at the start.',
      }),
    ),
    keep_last: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        default: 0,
        description:
          'Number of visible characters at the end. A text with fewer than four characters to hide is hidden completely.',
      }),
    ),
    char: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2, default: '*', description: 'The replacement: one character.' }),
    ),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'The last four characters remain visible',
      operation: { op: 'mask', columns: ['card'], keep_last: 4 },
      input: { columns: ['card'], rows: [['4111111111111111'], ['12345678'], ['1234567'], [null], ['Müller😀']] },
      output: { columns: ['card'], rows: [['************1111'], ['****5678'], ['*******'], [null], ['*******']] },
    },
    {
      title: 'Both ends visible, another replacement, a new column',
      operation: { op: 'mask', columns: 'iban', keep_first: 2, keep_last: 3, char: '•', into: 'shown' },
      input: { columns: ['iban'], rows: [['DE89370400440532013000']] },
      output: { columns: ['iban', 'shown'], rows: [['DE89370400440532013000', 'DE•••••••••••••••••000']] },
    },
  ],
  effect({ columns, keep_first = 0, keep_last = 0, char = '*', into }, scope) {
    if ([...char].length !== 1) scope.problem('/char', 'BAD_VALUE', 'Write one character.');
    const targets = cellTargets(scope, { columns, into, takes: ['text'], makes: null });
    return { targets, first: keep_first, last: keep_last, char };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, first, last, char }, context) {
    const edit = textEdit(context, [maskStep(context.arena.heap, { first, last, hiddenMin: HIDDEN_MIN, sign: char })]);
    return startCellOperator(
      context,
      targets,
      targets.map(() => edit),
    );
  },
});
