// Slow tests of one account's Templates do not delay the catalog changes of other accounts.
import t from 'tap';
import { type CatalogEvent, CatalogStore } from '../../../src/catalog/catalog-store.ts';
import { CheckThread } from '../../../src/catalog/check-thread.ts';
import type { CheckTemplate } from '../../../src/catalog/template-checker.ts';
import { TemplateGate, type TestVerdict } from '../../../src/catalog/template-gate.ts';
import { until, write } from './catalog-at-work.ts';

/** Texts with "tested" in them have a test. */
const CHECK: CheckTemplate<string> = async (source) => ({
  template: {
    name: source,
    description: null,
    outputFormat: 'csv',
    checked: source,
    tests: { count: source.includes('tested') ? 1 : 0, files: [] },
  },
});

const PASSED: TestVerdict = { tests: [{ name: 'first', differences: 0 }] };
const POSTPONED: TestVerdict = { problem: 'were postponed', isTemporary: true };

t.test('a change of one account is live while the tests of another account run', async (t) => {
  const folder = write(t.testdir({}), {
    'plans.json': {},
    'accounts/plain.json': {},
    'accounts/quick.json': {},
    'accounts/slow.json': {},
    'templates/plain/a.json': 'one',
    'templates/quick/a.json': 'one',
    'templates/slow/a.json': 'one',
  });
  const ran: string[] = [];
  const waiting = new Map<string, (verdict: TestVerdict) => void>();
  const gate = new TemplateGate(({ source }) => {
    ran.push(source);
    return new Promise((resolve) => waiting.set(source, resolve));
  });
  const end = async (source: string, verdict: TestVerdict): Promise<void> => {
    t.ok(await until(() => waiting.has(source)), `${source} is being tested`);
    waiting.get(source)!(verdict);
    waiting.delete(source);
  };
  const events: CatalogEvent[] = [];
  const store = await CatalogStore.open(folder, {
    checkTemplate: CHECK,
    gate,
    postponeTests: () => void end('slow tested', POSTPONED),
    log: (event) => events.push(event),
  });
  t.teardown(() => store.close());
  const texts = (): (string | undefined)[] =>
    ['plain', 'quick', 'slow'].map((account) => store.current.template(account, 'a')?.source);

  write(folder, { 'templates/plain/a.json': 'two', 'templates/slow/a.json': 'slow tested' });
  const first = store.reload();
  t.ok(await until(() => waiting.has('slow tested')));
  t.strictSame(texts(), ['two', 'one', 'one']);
  t.match(events.at(-1), { event: 'catalog_loaded_in_part', accounts: 3, waiting: 1 });

  write(folder, { 'templates/plain/a.json': 'three', 'templates/quick/a.json': 'quick tested' });
  const second = store.reload();
  t.ok(await until(() => waiting.has('quick tested')), 'the account whose tests took less time is next');
  t.strictSame(texts(), ['three', 'one', 'one']);
  await end('quick tested', PASSED);
  t.ok(await until(() => waiting.has('slow tested')));
  t.strictSame(texts(), ['three', 'quick tested', 'one'], 'live as soon as its own tests have passed');
  await end('slow tested', PASSED);
  t.strictSame(await Promise.all([first, second]), [true, true], 'neither reload ends before its content is live');
  t.strictSame(texts(), ['three', 'quick tested', 'slow tested']);
  t.strictSame(ran, ['slow tested', 'quick tested', 'slow tested']);
  t.notOk(
    events.some(({ event }) => event === 'catalog_refused'),
    'postponed tests are no problem of the catalog',
  );
});

t.test('tests in progress are postponed when the catalog changes again', async (t) => {
  const checks = new CheckThread({ entry: new URL('../../fixtures/odd-checks.js', import.meta.url) });
  t.teardown(() => checks.close());
  const job = { format: 'json', files: new Map(), tables: new Map(), secrets: new Set<string>() } as const;
  const endless = checks.test({ ...job, source: 'wait', secretsDirectory: null });
  checks.postponeTests();
  t.match(await endless, { problem: /postponed/, isTemporary: true });
});
