// The operation `redact`: removes personal data from texts.
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { textEdit } from '../execution/cells/text-chain.ts';
import { emailStep, stringStep } from '../execution/cells/text-steps.ts';
import { columnSet, PARAMETER_LENGTH_MAX } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { BETWEEN_PERSONAL_DATA, findPersonalData, type PersonalKind } from '../values/personal-data.ts';
import { done, type TextWork, textPieces } from '../values/text-edits.ts';

/** Maximum number of pieces of a text held before they are joined. */
const PIECES_MAX = 8_192;

/** Number of candidates checked between two pauses. */
const CANDIDATES_MAX = 1_024;

/** In the order in which they are searched for: the most specific kinds first. */
const KINDS: readonly PersonalKind[] = ['email', 'iban', 'card', 'phone'];

export const redact = defineOperation({
  name: 'redact',
  purpose: 'removes e-mail addresses, IBANs, card and telephone numbers from texts; finds only their usual forms',
  summary:
    'Removes e-mail addresses, IBANs, card and telephone numbers from texts. It finds only their usual forms, so check the result before you share it.',
  knownAs: [{ names: 'remove_pii redact_pii scrub redact_text', form: null }],
  parameters: Type.Object({
    columns: columnSet,
    patterns: Type.Array(Type.Enum(['email', 'iban', 'card', 'phone']), {
      minItems: 1,
      uniqueItems: true,
      description:
        'Kinds to remove: `email`; `iban` and `card`, with valid checksums; `phone`, which must start with `+` or `0`.',
    }),
    replace: Type.Optional(
      Type.String({
        maxLength: PARAMETER_LENGTH_MAX,
        description: 'Replacement; by default the kind in brackets, such as `[email]`.',
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
      const inSlices = (text: string): TextWork => redactedInSlices(text, kind, replacement);
      const step = kind === 'email' ? emailStep(heap, replacement, edit) : stringStep(heap, 'any', edit);
      return { ...step, editInSlices: inSlices };
    });
    const edit = textEdit(context, steps);
    return startCellOperator(
      context,
      targets,
      targets.map(() => edit),
    );
  },
});

/** Returns a text without matches of a kind. */
export function redacted(text: string, kind: PersonalKind, replacement: string): string {
  return done(redactedPiece(text, kind, replacement));
}

/** Same as `redacted`, for a long text. */
export function* redactedInSlices(text: string, kind: PersonalKind, replacement: string): TextWork {
  const made: string[] = [];
  for (const piece of textPieces(text, BETWEEN_PERSONAL_DATA)) {
    made.push(yield* redactedPiece(piece, kind, replacement));
    yield;
  }
  return made.join('');
}

function* redactedPiece(text: string, kind: PersonalKind, replacement: string): TextWork {
  let made: string[] = [];
  let from = 0;
  let candidates = 0;
  for (const found of findPersonalData(kind, text)) {
    if (++candidates % CANDIDATES_MAX === 0) yield;
    if (found === null) continue;
    const [start, end] = found;
    made.push(text.slice(from, start), replacement);
    from = end;
    if (made.length < PIECES_MAX) continue;
    made = [made.join('')];
  }
  made.push(text.slice(from));
  return made.join('');
}
