// Which changes make the tests of a Template run again before a catalog is used; other changes do not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadCatalog } from '../../../src/catalog/load-catalog.ts';
import type { CheckTemplate } from '../../../src/catalog/template-checker.ts';
import { TemplateGate, TestTurns } from '../../../src/catalog/template-gate.ts';

const CHECK: CheckTemplate<string> = async (source) => ({
  template: { name: source, description: null, outputFormat: 'csv', checked: source, tests: { count: 1, files: [] } },
});

t.test('tests run again when a secret, a table or the text changes', async (t) => {
  const folder = t.testdir({
    'plans.json': '{"starter": {}}',
    accounts: { 'acme.json': '{}' },
    templates: { acme: { 'a.json': 'a' } },
    tables: { acme: { 't.csv': 'id\n1\n' } },
    secrets: { acme: { pepper: 'one' } },
  });
  let runs = 0;
  const gate = new TemplateGate(async () => {
    runs++;
    return { tests: [{ name: 'first', differences: 0 }] };
  });
  const turns = new TestTurns(gate);
  const runsAfterLoading = async (): Promise<number> => {
    runs = 0;
    t.match(await loadCatalog(folder, CHECK, { turns }), { ok: true });
    return runs;
  };
  t.equal(await runsAfterLoading(), 1);
  t.equal(await runsAfterLoading(), 0, 'nothing has changed');
  writeFileSync(join(folder, 'secrets/acme/pepper'), 'two');
  t.equal(await runsAfterLoading(), 1, 'of the same name and length');
  t.equal(await runsAfterLoading(), 0);
  mkdirSync(join(folder, 'secrets/other'));
  writeFileSync(join(folder, 'accounts/other.json'), '{}');
  writeFileSync(join(folder, 'secrets/other/pepper'), 'three');
  t.equal(await runsAfterLoading(), 0, 'that of another account');
  writeFileSync(join(folder, 'tables/acme/t.csv'), 'id\n2\n');
  t.equal(await runsAfterLoading(), 1);
  writeFileSync(join(folder, 'templates/acme/a.json'), 'b');
  t.equal(await runsAfterLoading(), 1);
});
