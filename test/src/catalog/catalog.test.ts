// The catalog's folder: contents of a snapshot, refusals and their messages, reloading while it changes.
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { digestOf } from '../../../src/admission/authenticate.ts';
import { type CatalogEvent, CatalogRefusedError, CatalogStore } from '../../../src/catalog/catalog-store.ts';
import { parseTime } from '../../../src/catalog/field-reader.ts';
import { loadCatalog } from '../../../src/catalog/load-catalog.ts';
import { problemText } from '../../../src/catalog/problems.ts';
import type { CheckTemplate } from '../../../src/catalog/template-checker.ts';
import { skipUnlessLong } from '../../sweep.ts';

const PLANS = { starter: { upload_bytes_max: 1000, runs_in_flight_max: 2, runs_per_period: 3, period: 'day' } };
const ACCOUNT = {
  name: 'Acme',
  active: true,
  subscription: { plan: 'starter', status: 'active', started_at: '2026-01-31T00:00:00Z' },
  keys: [{ id: '1', sha256: digestOf('one'), scopes: ['runs:read'], created_at: '2026-01-31T00:00:00Z' }],
};

/** Takes JSON with a name; says what it was given. Only the seam is tested here, the real checker has its own tests. */
const checkTemplate: CheckTemplate<string> = (source, format, context) => {
  if (source.includes('bad')) {
    return { problems: [{ pointer: '/operations/0', line: 2, column: 3, message: 'is bad.' }] };
  }
  const checked = [format, context.account, context.templateId, ...context.tables.keys(), ...context.secrets].join(' ');
  return { template: { name: source.trim(), description: null, outputFormat: 'csv', checked } };
};

type Files = Readonly<Record<string, unknown>>;

function write(directory: string, files: Files): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    const isText = typeof content === 'string' || Buffer.isBuffer(content);
    writeFileSync(join(directory, path), isText ? content : JSON.stringify(content));
  }
  return directory;
}

const SOUND: Files = {
  'plans.json': PLANS,
  'accounts/acme.json': ACCOUNT,
  'accounts/bare.json': {},
  'templates/acme/b.yaml': 'name b',
  'templates/acme/a.json': '{"a": 1}',
  'templates/acme/a.input.csv': 'of a test',
  'templates/acme/tests/a.json': 'of a test',
  'templates/acme/.a.json.swp': 'left by an editor',
  'templates/acme/a.json~': 'left by an editor',
  'tables/acme/suppliers.csv': 'id,name\n1,x\n',
  'secrets/acme/pepper': 'do not tell',
};

async function problemsOf(directory: string): Promise<string[]> {
  const loaded = await loadCatalog(directory, checkTemplate);
  return loaded.ok ? [] : loaded.problems.map(problemText);
}

t.test('a snapshot holds what the folder says, defaults filled in', async (t) => {
  const loaded = await loadCatalog(write(t.testdir(), SOUND), checkTemplate);
  if (!loaded.ok) return t.fail('refused', { problems: loaded.problems });
  const { catalog } = loaded;
  const found = catalog.keyByDigest(digestOf('one'));
  t.equal(found?.account, catalog.account('acme'));
  t.equal(found?.key.id, '1');
  t.equal(catalog.keyByDigest(digestOf('two')), undefined);
  const acme = catalog.account('acme')!;
  t.strictSame([...acme.templates.keys()], ['a', 'b']);
  t.match(catalog.template('acme', 'b'), { name: 'name b', format: 'yaml', checked: 'yaml acme b suppliers pepper' });
  t.equal(catalog.template('bare', 'b'), undefined, 'of another account');
  t.match(acme.tables.get('suppliers'), { sha256: digestOf('id,name\n1,x\n'), sizeBytes: 12, path: /suppliers\.csv$/ });
  t.match(acme.secretsDirectory, /secrets\/acme$/);
  t.notMatch(JSON.stringify([...acme.secrets, acme]), /do not tell/);
  const plan = acme.subscription!.plan;
  t.match(plan, { uploadBytesMax: 1000, inflatedBytesMax: 20_000, outputBytesMax: 20_000, rowsMax: 1_000_000 });
  t.match(plan, { outputRowsMax: null, runsInFlightMax: 2, runsPerPeriod: 3, period: 'day' });
  t.match(plan.rateLimits.create_run, { requests: 600, windowSeconds: 60 });
  t.match(catalog.account('bare'), { name: null, active: true, subscription: null, secretsDirectory: null });
  return undefined;
});

t.test('limits: null is none, absent is the default', async (t) => {
  const plan = {
    upload_bytes_max: null,
    inflated_bytes_max: null,
    rows_max: null,
    runs_in_flight_max: null,
    runs_per_period: null,
    rate_limits: { create_run: { requests: 1, window_seconds: 2 }, get_run: null },
  };
  const plans = { none: plan, large: { upload_bytes_max: 2 ** 40 }, free: { rate_limits: null } };
  const loaded = await loadCatalog(write(t.testdir(), { 'plans.json': plans }), checkTemplate);
  if (!loaded.ok) return t.fail('refused', { problems: loaded.problems });
  const none = loaded.catalog.plans.get('none')!;
  t.match(none, { uploadBytesMax: null, inflatedBytesMax: null, outputBytesMax: 20 * 1024 ** 3, runsPerPeriod: null });
  t.strictSame(none.rateLimits.create_run, { requests: 1, windowSeconds: 2 });
  t.equal(none.rateLimits.get_run, null);
  t.strictSame(none.rateLimits.get_run_output, { requests: 600, windowSeconds: 60 });
  t.equal(loaded.catalog.plans.get('large')!.inflatedBytesMax, 20 * 1024 ** 3, 'at most 20 GiB');
  const free = Object.values(loaded.catalog.plans.get('free')!.rateLimits);
  t.ok(
    free.every((limit) => limit === null),
    'null is none for every operation',
  );
  return undefined;
});

t.test('everything that is wrong is said at once, with what to write', async (t) => {
  const directory = write(t.testdir(), {
    'plans.json': {
      starter: { upload_byte_max: 1, rows_max: -1, period: 'moth', rate_limits: { create_run: { requests: 1.5 } } },
      'a b': {},
      list: [],
    },
    'accounts/acme.json': {
      ...ACCOUNT,
      name: 'Ac\u0007me',
      actve: true,
      subscription: { plan: 'startr', status: 'very active', started_at: '2026-02-30T00:00:00Z' },
      keys: [
        { id: '1', sha256: digestOf('one'), scopes: ['run:read'], expires_at: 'soon' },
        { id: '1', sha256: 'abc', scopes: 'all' },
        7,
      ],
    },
    'accounts/twin.json': { keys: [{ id: '9', sha256: digestOf('one').toUpperCase(), scopes: [] }] },
    'accounts/broken.json': '{"name": "x",\n "keys": [}',
    'accounts/latin.json': Buffer.from([0x7b, 0xe4, 0x7d]),
    'accounts/b c.json': {},
    'accounts/notes.txt': 'x',
    'templates/acme/x.json': 'bad',
    'templates/acme/y.json': '{}',
    'templates/acme/y.yaml': 'y',
    'templates/acme/z.jsn': '',
    'templates/acne/x.json': '{}',
    'templates/stray.json': '{}',
    'tables/acme/t.xlsx': '',
    'secrets/acme/empty': '',
    'secrets/acme/long': 'x'.repeat(5000),
    'template/acme/x.json': '{}',
  });
  symlinkSync('/etc/hostname', join(directory, 'templates/acme/host.json'));
  symlinkSync('y.json', join(directory, 'templates/acme/inside.json'));
  const problems = await problemsOf(directory);
  const expected = [
    'template: is not read. Did you mean "templates"?',
    'plans.json /a b: is not a valid name for a plan: write 1 to 64 of A-Z, a-z, 0-9, "_" and "-".',
    'plans.json /starter/upload_byte_max: is not a known setting. Did you mean "upload_bytes_max"?',
    `plans.json /starter/rows_max: must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, or null for no limit.`,
    'plans.json /starter/period: must be "day" or "month". Did you mean "month"?',
    'plans.json /starter/rate_limits/create_run/requests: must be a whole number from 1 to 1000000000, or null for no limit.',
    'plans.json /starter/rate_limits/create_run/window_seconds: is missing: write a whole number.',
    'plans.json /list: must be an object: write {...}.',
    'accounts/acme.json /name: must not contain control characters.',
    'accounts/acme.json /actve: is not a known setting. Did you mean "active"?',
    'accounts/acme.json /subscription/plan: must be the name of a plan in plans.json. Did you mean "starter"?',
    'accounts/acme.json /subscription/status: must be a word such as "active" or "cancelled".',
    'accounts/acme.json /subscription/started_at: must be a date and time such as "2026-01-31T00:00:00Z".',
    'accounts/acme.json /keys/0/scopes: item 0 must be one of templates:read, runs:write, runs:read. Did you mean "runs:read"?',
    'accounts/acme.json /keys/0/expires_at: must be a date and time such as "2026-01-31T00:00:00Z".',
    'accounts/acme.json /keys/1/id: is the id of an earlier key of this account.',
    "accounts/acme.json /keys/1/sha256: must be the key's SHA-256, 64 hexadecimal digits.",
    'accounts/acme.json /keys/2: must be an object: write {...}.',
    'accounts/twin.json /keys/0/sha256: is also the digest of a key in accounts/acme.json.',
    'accounts/broken.json:2:11: is not valid JSON.',
    'accounts/latin.json: is not UTF-8: save it as UTF-8.',
    'accounts/b c.json: does not have a valid account id as its name: write 1 to 64 of A-Z, a-z, 0-9, "_" and "-".',
    'accounts/notes.txt: is not an account: accounts are .json files.',
    'templates/acme/x.json:2:3 /operations/0: is bad.',
    'templates/acme/y.yaml: has the same id as y.json.',
    'templates/acme/z.jsn: is not a Template: its name must end in .json or .yaml.',
    'templates/acme/host.json: is a link to a place outside the catalog.',
    'templates/acne: belongs to no account in accounts/. Did you mean "acme"?',
    'templates/stray.json: must be in the folder of an account: templates/<account>/.',
    'tables/acme/t.xlsx: is not a table: tables are .csv files.',
    'secrets/acme/empty: is empty.',
    'secrets/acme/long: is larger than 4096 bytes.',
  ];
  for (const line of expected) t.ok(problems.includes(line), line);
  const unexpected = problems.filter((line) => !expected.includes(line));
  t.strictSame(unexpected, ['accounts/acme.json /keys/1/scopes: must be a list: write [...].']);
});

t.test('a path that is not a folder, and files that are too large', async (t) => {
  const directory = t.testdir();
  t.match(
    await problemsOf(join(directory, 'none')),
    ["the catalog's folder does not exist."].map((x) => `.: ${x}`),
  );
  t.match(await problemsOf(directory), [/^plans\.json: is missing/]);
  write(directory, { 'plans.json': {}, 'accounts/a.json': {}, 'templates/a/t.json': ' '.repeat(1024 ** 2 + 1) });
  t.strictSame(await problemsOf(directory), ['templates/a/t.json: is larger than 1048576 bytes.']);
});

t.test('times', async (t) => {
  t.equal(parseTime('2026-01-31'), Date.UTC(2026, 0, 31));
  t.equal(parseTime('2026-01-31T01:00:00+01:00'), Date.UTC(2026, 0, 31));
  t.equal(parseTime('2026-01-31T00:00:00.5z'), Date.UTC(2026, 0, 31) + 500);
  for (const text of ['2026-02-29', '2026-13-01', '2026-01-31T25:00:00Z', 'tomorrow', '2026-1-1', '1769817600']) {
    t.equal(parseTime(text), null, text);
  }
});

t.test('a store reloads what changed, and keeps the old snapshot while the new one is bad', async (t) => {
  const directory = write(t.testdir(), SOUND);
  const events: CatalogEvent[] = [];
  await t.rejects(CatalogStore.open(join(directory, 'none'), { checkTemplate, log: () => {} }), CatalogRefusedError);
  const checkedIds: string[] = [];
  const counted: typeof checkTemplate = (source, format, context) => {
    checkedIds.push(context.templateId);
    return checkTemplate(source, format, context);
  };
  const store = await CatalogStore.open(directory, {
    checkTemplate: counted,
    log: (event) => events.push(event),
  });
  t.teardown(() => store.close());
  const first = store.current;
  write(directory, { 'templates/acme/b.yaml': 'bad' });
  t.notOk(await store.reload());
  t.equal(store.current, first);
  t.match(events.at(-1), { event: 'catalog_refused', problems: ['templates/acme/b.yaml:2:3 /operations/0: is bad.'] });
  write(directory, { 'templates/acme/b.yaml': 'better' });
  const reloads = await Promise.all([store.reload(), store.reload(), store.reload()]);
  t.strictSame(reloads, [true, true, true]);
  t.equal(events.filter(({ event }) => event === 'catalog_loaded').length, 3, 'one at start, two for three at once');
  t.equal(store.current.template('acme', 'b')?.name, 'better');
  t.equal(checkedIds.filter((id) => id === 'a').length, 1, 'a Template that has not changed is not checked again');
  write(directory, { 'tables/acme/more.csv': 'x' });
  await store.reload();
  t.match(store.current.template('acme', 'a')?.checked, /more/, 'but not when what it may refer to changed');
  const broken = await CatalogStore.open(directory, {
    checkTemplate: (source) => {
      if (source === 'fault') throw new Error('ours');
      return checkTemplate('x', 'json', { account: '', templateId: '', tables: new Map(), secrets: new Set() });
    },
    log: (event) => events.push(event),
  });
  write(directory, { 'templates/acme/b.yaml': 'fault' });
  t.notOk(await broken.reload());
  t.match(events.at(-1), { event: 'catalog_fault', fault: { message: 'ours' } });
});

t.test('the folder is watched: edits, renames, new folders, links that are swapped', async (t) => {
  const directory = write(t.testdir(), SOUND);
  const events: CatalogEvent[] = [];
  const store = await CatalogStore.open(directory, { checkTemplate, log: (event) => events.push(event) });
  t.teardown(() => store.close());
  store.watch();
  const until = async (name: string, holds: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 9600 && !holds(); turn += 1) await sleep(25);
    t.ok(holds(), name);
  };
  // This watch began first: it has looked at its folder when one that began later has seen a change.
  const other = write(mkdtempSync(join(tmpdir(), 'template-run-catalog-')), SOUND);
  t.teardown(() => rmSync(other, { recursive: true }));
  const witness = await CatalogStore.open(other, { checkTemplate, log: () => undefined });
  t.teardown(() => witness.close());
  witness.watch();
  write(other, { 'templates/acme/b.yaml': 'seen' });
  await until('change of another folder', () => witness.current.template('acme', 'b')?.name === 'seen');
  t.equal(events.length, 1, 'nothing changed, nothing is read again');
  write(directory, { 'templates/acme/b.yaml': 'edited' });
  await until('edit', () => store.current.template('acme', 'b')?.name === 'edited');
  write(directory, { 'templates/acme/.new': 'renamed' });
  renameSync(join(directory, 'templates/acme/.new'), join(directory, 'templates/acme/b.yaml'));
  await until('rename', () => store.current.template('acme', 'b')?.name === 'renamed');
  write(directory, { 'plans.json': '{' });
  await until('refusal', () => events.at(-1)?.event === 'catalog_refused');
  t.equal(store.current.template('acme', 'b')?.name, 'renamed', 'the old one goes on');
  write(directory, { 'plans.json': PLANS, 'templates/bare/n.json': 'new' });
  await until('new folder', () => store.current.template('bare', 'n')?.name === 'new');
  write(directory, { 'templates/bare/n.json': 'again' });
  await until('edit in it', () => store.current.template('bare', 'n')?.name === 'again');
  rmSync(join(directory, 'templates/bare'), { recursive: true });
  await until('removal', () => store.current.template('bare', 'n') === undefined);
  write(directory, { '.data1/x.json': 'one', '.data2/x.json': 'two' });
  symlinkSync('../../.data1/x.json', join(directory, 'templates/acme/link.json'));
  await until('link', () => store.current.template('acme', 'link')?.name === 'one');
  symlinkSync('../../.data2/x.json', join(directory, 'templates/acme/.link'));
  renameSync(join(directory, 'templates/acme/.link'), join(directory, 'templates/acme/link.json'));
  await until('swapped link', () => store.current.template('acme', 'link')?.name === 'two');
  chmodSync(join(directory, 'plans.json'), 0o644);
});

t.test('thousands of templates do not hold up the loop', { skip: skipUnlessLong }, async (t) => {
  const files: Record<string, unknown> = { ...SOUND };
  for (let number = 0; number < 3000; number += 1) files[`templates/acme/t${number}.json`] = `{"n": ${number}}`;
  const directory = write(t.testdir(), files);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const loaded = await loadCatalog(directory, checkTemplate);
  delay.disable();
  t.equal(loaded.ok && loaded.catalog.account('acme')?.templates.size, 3002);
  t.comment(`longest turn ${(delay.max / 1e6).toFixed(1)} ms`);
});
