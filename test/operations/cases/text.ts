// Cases of the operation `text` for tests of all operations.
import { operationTable } from '../../../workers/operations/index.ts';
import { mappingSchema } from '../../../workers/template/json-schema.ts';
import { onCells } from '../lost-cells.ts';
import { CANONICAL, CELLS, expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { TEXT_FILES, worstCases } from '../worst-cases.ts';

const TEXT_STEPS = [
  ...[
    'trim',
    'collapse_spaces',
    'upper',
    'lower',
    'title',
    'sentence',
    'nfc',
    'nfkc',
    'strip_accents',
    'remove_control',
  ],
  ...['remove_invisible', 'straighten_quotes', 'remove_tags', 'unescape_html', 'digits_only', 'letters_only'],
  { prefix: '>'.repeat(1000) },
  { suffix: '<'.repeat(1000) },
  { pad_left: { length: 1000 } },
  { truncate: 1_000_000 },
  { remove_chars: 'x' },
  { keep_chars: 'Abcß' },
  'fix_encoding',
];

export const cases: OperationCases = {
  nativeKinds: [
    expected('text', { columns: 'v', steps: ['trim', 'collapse_spaces'] }, KEPT),
    expected(
      'text',
      { columns: 'v', steps: [{ prefix: '#' }] },
      CELLS.map((cell) => `text:#${cell![1]}`),
    ),
    expected('text', { columns: 'v', steps: ['trim'], into: 'w' }, CANONICAL, 'w'),
    expected('text', { columns: 'v', steps: [{ suffix: '!' }], where: 'id == "1"' }, KEPT.with(1, 'text:1.234!')),
  ],
  lostCells: [
    ...onCells({ steps: ['upper', { suffix: '!' }] }),
    { parameters: { columns: ['v', 'w'], steps: ['digits_only'] }, edits: ['v', 'w'] },
  ],
  worstCases: [
    ...TEXT_STEPS.flatMap((step) => worstCases(TEXT_FILES, 'text', { columns: '*', steps: [step] })),
    ...worstCases([...TEXT_FILES, 'wide', 'wideLong'], 'text', { columns: '*', steps: TEXT_STEPS }),
  ],
  linearTime: textSteps().map((step) => ({ columns: 'a', steps: [step] })),
};

function textSteps(): unknown[] {
  const { steps } = mappingSchema(operationTable.get('text')!.parameters).properties;
  const { anyOf } = steps!['items'] as { anyOf: readonly { enum?: readonly string[]; properties?: object }[] };
  const plain = anyOf.flatMap((form) => form.enum ?? []);
  const named = anyOf.flatMap(({ properties: form }) => Object.keys(form ?? {}));
  const values: Readonly<Record<string, unknown>> = {
    pad_left: { length: 100_000 },
    pad_right: { length: 100_000, char: 'é' },
    truncate: 5000,
    prefix: 'é',
    suffix: 'x',
    remove_chars: 'é9',
    keep_chars: 'é9 ',
  };
  return [...plain, ...named.map((name) => ({ [name]: values[name] ?? name }))];
}
