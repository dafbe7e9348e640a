// The operation `text`: edits texts step by step.

import { CELL_BYTES_MAX } from '../batch/batch.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { type TextStep, textEdit } from '../execution/cells/text-chain.ts';
import * as steps from '../execution/cells/text-steps.ts';
import type { Heap } from '../memory/heap.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { valuesOf } from '../template/operation-hint.ts';
import { repairEncoding, repairEncodingInSlices } from '../values/double-encoding.ts';
import { removeTags, removeTagsInSlices, unescapeHtml, unescapeHtmlInSlices } from '../values/html.ts';
import { normalise, normaliseInSlices } from '../values/normalise.ts';
import * as edits from '../values/text-edits.ts';
import { removeInvisibles, removeInvisiblesInSlices } from '../values/text-edits.ts';

/** Maximum length of texts that are added to or removed from cells. */
const AFFIX_CHARACTERS_MAX = 65_536;

const length = Type.Integer({ minimum: 0, maximum: CELL_BYTES_MAX, description: 'Length in characters.' });
const affix = Type.String({ maxLength: AFFIX_CHARACTERS_MAX });
const pad = Type.Object(
  {
    length,
    char: Type.Optional(Type.String({ minLength: 1, maxLength: 2, default: ' ', description: 'One character.' })),
  },
  { additionalProperties: false },
);

const PLAIN_STEPS = [
  ...(['trim', 'collapse_spaces', 'upper', 'lower', 'title', 'sentence', 'nfc', 'nfkc', 'strip_accents'] as const),
  ...(['remove_control', 'remove_invisible', 'straighten_quotes', 'remove_tags', 'unescape_html'] as const),
  ...(['digits_only', 'letters_only', 'fix_encoding'] as const),
] as const;

const plainStep = Type.Enum([...PLAIN_STEPS]);

const step = Type.Union([
  plainStep,
  Type.Object({ pad_left: pad }, { additionalProperties: false }),
  Type.Object({ pad_right: pad }, { additionalProperties: false }),
  Type.Object({ truncate: length }, { additionalProperties: false }),
  Type.Object({ prefix: affix }, { additionalProperties: false }),
  Type.Object({ suffix: affix }, { additionalProperties: false }),
  Type.Object({ remove_chars: affix }, { additionalProperties: false }),
  Type.Object({ keep_chars: affix }, { additionalProperties: false }),
]);

type Step = Static<typeof step>;

/** Names in other languages of steps with a text. */
const AFFIXES = { prefix: 'add_prefix', suffix: 'add_suffix', remove_chars: '', keep_chars: '' };

/** Names in other languages of steps without parameters. */
const OTHER_NAMES = {
  ...{ trim: 'strip clean trim_whitespace', collapse_spaces: 'squish', sentence: '', title: 'capitalize proper' },
  ...{ upper: 'uppercase to_upper toupper', lower: 'lowercase to_lower tolower', nfc: '', nfkc: '' },
  ...{ strip_accents: 'unaccent remove_accents', remove_tags: 'strip_html strip_tags', unescape_html: '' },
  ...{ remove_control: '', remove_invisible: '', straighten_quotes: '', digits_only: '', letters_only: '' },
  ...{ fix_encoding: 'fix_mojibake ftfy fix_text repair_encoding' },
} satisfies Record<(typeof PLAIN_STEPS)[number], string>;

export const text = defineOperation({
  name: 'text',
  purpose: 'edits texts by `steps`: `trim`, `collapse_spaces`, `upper`, `strip_accents`, `{pad_left}` and others',
  summary: 'Edits texts in steps, one after the other. Cells that become empty become null; null remains null.',
  knownAs: [
    { names: 'normalize normalise', form: 'columns: ..., steps: [trim, collapse_spaces, nfc]' },
    { names: 'pad_left pad lpad zfill', form: 'columns: ..., steps: [{pad_left: {length: 10, char: "0"}}]' },
    { names: 'pad_right rpad', form: 'columns: ..., steps: [{pad_right: {length: 10}}]' },
    { names: 'truncate', form: 'columns: ..., steps: [{truncate: 20}]' },
    ...valuesOf(AFFIXES, (step) => `columns: ..., steps: [{${step}: "..."}]`),
    ...valuesOf(OTHER_NAMES, (step) => `columns: ..., steps: [${step}]`),
  ],
  parameters: Type.Object({
    columns: columnSet,
    steps: Type.Array(step, {
      minItems: 1,
      description:
        '`trim` (removes white space at both ends, including no-break spaces), `collapse_spaces` (replaces runs of white space by one space), `upper`, `lower`, `title`, `sentence`, `nfc`, `nfkc` (Unicode normal forms), `strip_accents` (é becomes e, ø becomes o, ß becomes ss; Latin, Greek and Cyrillic letters), `remove_control` (also line breaks and tabs; between other characters they become a space), `remove_invisible` (zero-width characters and soft hyphens, but not inside emoji and joined words), `straighten_quotes`, `remove_tags` (HTML tags, comments, scripts and styles; tags that separate lines or blocks become a space), `unescape_html` (`&amp;` becomes &, `&#39;` an apostrophe; use it after `remove_tags`), `digits_only` (0 to 9), `letters_only`, `fix_encoding` (`CafÃ©` becomes Café: UTF-8 that was read as windows-1252 or ISO 8859-1, up to three times; only in texts whose characters beyond ASCII are all of this kind and give plausible letters and signs; `PERÚ…` remains, as it can be a correct text), `{pad_left: {length, char}}`, `{pad_right: {length, char}}`, `{truncate: n}`, `{prefix: "x"}`, `{suffix: "x"}`, `{remove_chars: "xyz"}`, `{keep_chars: "xyz"}`.',
    }),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Tidy names',
      operation: { op: 'text', columns: 'name', steps: ['trim', 'collapse_spaces', 'title'] },
      input: {
        columns: ['id', 'name'],
        rows: [
          ['1', '  ada   LOVELACE\u00a0'],
          ['2', null],
          ['3', ' \t '],
          ['4', "éric o'neil"],
        ],
      },
      output: {
        columns: ['id', 'name'],
        rows: [
          ['1', 'Ada Lovelace'],
          ['2', null],
          ['3', null],
          ['4', "Éric O'neil"],
        ],
      },
    },
    {
      title: 'Account numbers of ten digits',
      operation: {
        op: 'text',
        columns: ['account'],
        steps: ['digits_only', { pad_left: { length: 10, char: '0' } }],
        into: 'iban_part',
      },
      input: { columns: ['account'], rows: [['12 345-6'], ['1234567890123']] },
      output: {
        columns: ['account', 'iban_part'],
        rows: [
          ['12 345-6', '0000123456'],
          ['1234567890123', '1234567890123'],
        ],
      },
    },
    {
      title: 'Texts that were encoded twice',
      operation: { op: 'text', columns: 'name', steps: ['fix_encoding'] },
      input: { columns: ['name'], rows: [['MÃ¼ller'], ['Ã–zil â€“ â‚¬'], ['Café'], ['Café Ã©']] },
      output: { columns: ['name'], rows: [['Müller'], ['Özil – €'], ['Café'], ['Café Ã©']] },
    },
    {
      title: 'Upper case is independent of the locale',
      operation: { op: 'text', columns: '*', steps: ['upper', { prefix: '<' }, { suffix: '>' }] },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['straße', 'iı'],
          ['σίγμας', 'ǆ漢字'],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          ['<STRASSE>', '<II>'],
          ['<ΣΊΓΜΑΣ>', '<Ǆ漢字>'],
        ],
      },
    },
  ],
  effect({ columns, steps, into }, scope) {
    for (const [index, step] of steps.entries()) {
      const character = typeof step === 'string' ? undefined : padOf(step)?.char;
      if (character !== undefined && edits.characterCount(character) !== 1)
        scope.problem(`/steps/${index}`, 'ONE_CHARACTER', '"char" is one character, such as "0".');
    }
    return { targets: cellTargets(scope, { columns, into, takes: ['text'], makes: null }), steps };
  },
  edits: ({ targets }) => editedIds(targets),
  start(plan, context) {
    const { heap } = context.arena;
    const edit = textEdit(
      context,
      plan.steps.map((step) => textStep(heap, step)),
    );
    return startCellOperator(
      context,
      plan.targets,
      plan.targets.map(() => edit),
    );
  },
});

function textStep(heap: Heap, step: Step): TextStep {
  if (typeof step === 'string') return plainTextStep(heap, step);
  if ('pad_left' in step) return steps.padStep(heap, step.pad_left.length, step.pad_left.char ?? ' ', 'left');
  if ('pad_right' in step) return steps.padStep(heap, step.pad_right.length, step.pad_right.char ?? ' ', 'right');
  if ('truncate' in step) return steps.truncateStep(step.truncate);
  if ('prefix' in step) return steps.aroundStep(heap, step.prefix, '');
  if ('suffix' in step) return steps.aroundStep(heap, '', step.suffix);
  if ('remove_chars' in step) return steps.characterStep(heap, step.remove_chars, 'remove');
  return steps.characterStep(heap, step.keep_chars, 'keep');
}

function plainTextStep(heap: Heap, step: Static<typeof plainStep>): TextStep {
  const made: Readonly<Record<typeof step, () => TextStep>> = {
    trim: () => steps.trimStep(),
    collapse_spaces: () => steps.collapseStep(),
    upper: () => steps.caseStep(heap, 'upper'),
    lower: () => steps.caseStep(heap, 'lower'),
    title: () => steps.capitaliseStep('word'),
    sentence: () => steps.capitaliseStep('sentence'),
    nfc: () =>
      steps.stringStep(
        heap,
        'not_ascii',
        (text) => normalise(text, 'NFC'),
        (text) => normaliseInSlices(text, 'NFC'),
      ),
    nfkc: () =>
      steps.stringStep(
        heap,
        'not_ascii',
        (text) => normalise(text, 'NFKC'),
        (text) => normaliseInSlices(text, 'NFKC'),
      ),
    strip_accents: () => steps.accentStep(heap),
    remove_control: () => steps.controlStep(heap),
    remove_invisible: () => steps.stringStep(heap, 'not_ascii', removeInvisibles, removeInvisiblesInSlices),
    straighten_quotes: () =>
      steps.stringStep(heap, 'not_ascii', edits.straightenQuotes, edits.straightenQuotesInSlices),
    remove_tags: () => steps.stringStep(heap, '<', removeTags, removeTagsInSlices),
    unescape_html: () => steps.stringStep(heap, '&', unescapeHtml, unescapeHtmlInSlices),
    digits_only: () => steps.digitStep(heap),
    letters_only: () => steps.letterStep(heap),
    fix_encoding: () => steps.stringStep(heap, 'not_ascii', repairEncoding, repairEncodingInSlices),
  };
  return made[step]();
}

function padOf(step: Exclude<Step, string>): { char?: string } | undefined {
  if ('pad_left' in step) return step.pad_left;
  return 'pad_right' in step ? step.pad_right : undefined;
}
