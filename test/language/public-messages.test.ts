// Messages without headers of the file: columns that a Template addresses by pattern or "*" are reported by position, and columns
// that it names are reported by name. With `showsHeaders`, as on the command line, all are reported by name.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';

const FILE = 'id,CanaryHeader\n1,x\n';

const CASES: readonly (readonly [operations: readonly object[], message: RegExp])[] = [
  [[{ parse_number: { columns: { pattern: '^Canary' } } }], /, column 2 of the file: NOT_A_NUMBER in row 1/],
  [[{ parse_number: { columns: '*' } }], /, column 2 of the file: NOT_A_NUMBER in row 1/],
  [[{ drop: { columns: 'id' } }, { parse_number: { columns: '*' } }], /, column 2 of the file: NOT_A_NUMBER/],
  [
    [{ rename: { pattern: '^(.*)$', replace: '$1_2' } }, { parse_number: { columns: '*' } }],
    /, column 2 of the file: /,
  ],
  [[{ rename: { pattern: '^.*$', replace: 'CanaryHeader' } }], /two would be called|two would have the same name/],
];

for (const [operations, message] of CASES) {
  test(JSON.stringify(operations), async (t) => {
    const { outcome } = await applyTemplate({ operations }, FILE);
    t.match(outcome.failure?.message, message);
    if (!JSON.stringify(operations).includes('CanaryHeader')) t.notMatch(JSON.stringify(outcome), /Canary/);
  });
}

test('a name of the Template is shown', async (t) => {
  const { outcome } = await applyTemplate({ operations: [{ parse_number: { columns: 'CanaryHeader' } }] }, FILE);
  t.match(outcome.failure?.message, /, column "CanaryHeader": NOT_A_NUMBER in row 1/);
});
