// The operation `redact`: takes personal data out of texts.
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { emailStep } from '../execution/cells/email-step.ts';
import { textEdit } from '../execution/cells/text-cells.ts';
import { stringStep } from '../execution/cells/text-steps.ts';
import { PARAMETER_LENGTH_MAX } from '../execution/parameters/base-parameters.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { findPersonalData, type PersonalKind } from '../values/personal-data.ts';
import { defineOperation } from './operation.ts';

/** In the order in which they are looked for: the surer ones first. */
const KINDS: readonly PersonalKind[] = ['email', 'iban', 'card', 'phone'];

export const redact = defineOperation({
  name: 'redact',
  summary:
    'Takes e-mail addresses, IBANs, card and telephone numbers out of texts. It knows their usual shapes only: look at ' +
    'the result before it goes to others.',
  knownAs: [{ names: 'remove_pii redact_pii scrub redact_text', form: null }],
  parameters: Type.Object({
    columns: columnSet,
    patterns: Type.Array(Type.Enum(['email', 'iban', 'card', 'phone']), {
      minItems: 1,
      uniqueItems: true,
      description:
        'What is taken out: `email`; `iban` and `card`, whose checksums must be right; `phone`, which must begin with `+` ' +
        'or `0`.',
    }),
    replace: Type.Optional(
      Type.String({
        maxLength: PARAMETER_LENGTH_MAX,
        description: 'What stands there instead; without it the kind in brackets, such as `[email]`.',
      }),
    ),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Notes without contacts',
      operation: { op: 'redact', columns: ['note'], patterns: ['email', 'iban', 'card', 'phone'] },
      input: {
        columns: ['note'],
        rows: [
          ['Ask ada@example.org, or +49 30 123456.'],
          ['Paid to DE89 3704 0044 0532 0130 00 on 01.02.2026'],
          ['Card 4111-1111-1111-1111, order 1234567890123456'],
          [null],
        ],
      },
      output: {
        columns: ['note'],
        rows: [
          ['Ask [email], or [phone].'],
          ['Paid to [iban] on 01.02.2026'],
          ['Card [card], order 1234567890123456'],
          [null],
        ],
      },
    },
  ],
  effect({ columns, patterns, replace = null, into }, scope) {
    const kinds = KINDS.filter((kind) => patterns.includes(kind));
    return { targets: cellTargets(scope, { columns, into, takes: ['text'], makes: null }), kinds, replace };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, kinds, replace }, context) {
    const { heap } = context.arena;
    const steps = kinds.map((kind) => {
      const replacement = replace ?? `[${kind}]`;
      const edit = (text: string): string => redacted(text, kind, replacement);
      return kind === 'email' ? emailStep(heap, replacement, edit) : stringStep(heap, 'any', edit);
    });
    const edit = textEdit(context, steps);
    return startCellOperator(
      context,
      targets,
      targets.map(() => edit),
    );
  },
});

/** A text without what is found of a kind. */
export function redacted(text: string, kind: PersonalKind, replacement: string): string {
  let made = '';
  let from = 0;
  for (const [start, end] of findPersonalData(kind, text)) {
    made += text.slice(from, start) + replacement;
    from = end;
  }
  return made + text.slice(from);
}
