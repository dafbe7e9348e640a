// Templates with extremely long or deeply nested texts: a problem of the Template or of a row, never an internal fault.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';

test('a path deeper than JSON can be is a problem of the Template', async (t) => {
  const withPath = (parts: number) =>
    applyTemplate(
      { operations: [{ flatten_json: { column: 'a', fields: { [new Array(parts).fill('a').join('.')]: 'b' } } }] },
      'a\n"{""a"":1}"\n',
    );
  await t.rejects(withPath(20_000), { message: /BAD_PATH A path has at most 200 parts/ });
  await t.rejects(withPath(201), { message: /BAD_PATH/ });
  t.equal((await withPath(200)).outcome.failure, null);
});

test('separators count for the length of a joined cell', async (t) => {
  const separator = 'x'.repeat(1000);
  const operations = [{ merge_rows: { when: 'b == null', join: ['a'], separator } }];
  // Together, the texts are longer than the maximum of a JavaScript string.
  const { outcome } = await applyTemplate({ operations }, `a,b\nx,1\n${'y,\n'.repeat(600_000)}`);
  t.match(outcome.failure?.message, /column "a": TOO_LONG in row 1 of the data/);
});
