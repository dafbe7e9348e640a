// How a catalog is read again: rights that are taken away first, what has not changed not at all, and never as the truth
// what has vanished or is no file.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { KEY_SCOPES } from '../../../src/catalog/access.ts';
import { type Account, type ApiKey, Catalog, type Plan } from '../../../src/catalog/catalog.ts';
import { type CatalogEvent, CatalogStore } from '../../../src/catalog/catalog-store.ts';
import { loadCatalog } from '../../../src/catalog/load-catalog.ts';
import { ProblemList, problemText } from '../../../src/catalog/problems.ts';
import type { AccountRecord } from '../../../src/catalog/read-account.ts';
import type { CheckTemplate } from '../../../src/catalog/template-checker.ts';
import { withdrawAccess } from '../../../src/catalog/withdraw-access.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const DIGEST = '0'.repeat(64);
const KEY = { id: '1', sha256: DIGEST, scopes: KEY_SCOPES, created_at: '2026-01-31T00:00:00Z' };
const ACCOUNT = {
  subscription: { plan: 'starter', status: 'active', started_at: '2026-01-31T00:00:00Z' },
  keys: [KEY],
};
const SOUND = {
  'plans.json': { starter: {} },
  'accounts/acme.json': ACCOUNT,
  'accounts/bare.json': {},
  'templates/acme/a.json': 'a',
  'templates/acme/b.json': 'b',
  'tables/acme/t.csv': 'id\n1\n',
};

function write(directory: string, files: Readonly<Record<string, unknown>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

/** Says which texts it was asked for; those with "bad" in them are refused, and "slow" waits until it is let go. */
class Checker {
  readonly asked: string[] = [];
  letGo: () => void = () => {};
  readonly check: CheckTemplate<string> = async (source) => {
    this.asked.push(source);
    if (source.startsWith('slow')) await new Promise<void>((resolve) => (this.letGo = resolve));
    if (source.includes('bad')) return { problems: [{ pointer: '', line: null, column: null, message: 'is bad.' }] };
    return { template: { name: source, description: null, outputFormat: 'csv', checked: source } };
  };

  /** What was asked since the last time. */
  take(): string[] {
    return this.asked.splice(0).sort();
  }
}

async function open(directory: string): Promise<{
  readonly store: CatalogStore<string>;
  readonly checker: Checker;
  readonly events: CatalogEvent[];
}> {
  const checker = new Checker();
  const events: CatalogEvent[] = [];
  const store = await CatalogStore.open(directory, {
    checkTemplate: checker.check,
    log: (event) => events.push(event),
  });
  return { store, checker, events };
}

async function until(holds: () => boolean): Promise<boolean> {
  for (let turn = 0; turn < 2400 && !holds(); turn += 1) await sleep(25);
  return holds();
}

const problemsIn = (event: CatalogEvent | undefined): string =>
  event?.event === 'catalog_refused' ? event.problems.join('\n') : `${event?.event}`;

t.test('a Template is checked when its text or the names that it may refer to are new, and only then', async (t) => {
  const directory = write(t.testdir(), SOUND);
  const { store, checker } = await open(directory);
  t.strictSame(checker.take(), ['a', 'b']);
  write(directory, { 'templates/acme/b.json': 'b2' });
  t.ok(await store.reload());
  t.strictSame(checker.take(), ['b2']);
  write(directory, { 'templates/acme/b.json': 'bad', 'templates/acme/c.json': 'c' });
  t.notOk(await store.reload());
  t.strictSame(checker.take(), ['bad', 'c']);
  write(directory, { 'accounts/bare.json': { name: 'x' }, 'tables/acme/t.csv': 'id\n2\n' });
  t.notOk(await store.reload());
  t.strictSame(
    checker.take(),
    [],
    'the refused one neither, nor what was sound beside it, nor for the cells of a table',
  );
  write(directory, { 'templates/acme/b.json': 'b3' });
  t.ok(await store.reload());
  t.strictSame(checker.take(), ['b3']);
  t.equal(store.current.template('acme', 'c')?.checked, 'c');
  write(directory, { 'tables/acme/more.csv': 'x' });
  t.ok(await store.reload());
  t.strictSame(checker.take(), ['a', 'b3', 'c']);
});

t.test(
  'what takes rights away is in force though a Template is bad, or still being checked; what gives them waits',
  async (t) => {
    const directory = write(t.testdir(), {
      ...SOUND,
      'accounts/second.json': { keys: [{ ...KEY, sha256: '1'.repeat(64) }] },
    });
    const { store, checker, events } = await open(directory);
    const revoked = { ...KEY, revoked_at: '2026-02-01T00:00:00Z' };
    const added = { ...KEY, id: '2', sha256: '2'.repeat(64) };
    write(directory, { 'templates/acme/b.json': 'bad', 'accounts/acme.json': { ...ACCOUNT, keys: [revoked, added] } });
    t.notOk(await store.reload());
    t.equal(store.current.keyByDigest(DIGEST)?.key.revoked, true, 'revoked');
    t.equal(store.current.keyByDigest('2'.repeat(64)), undefined, 'the new key waits');
    t.ok(events.some(({ event }) => event === 'access_withdrawn'));
    write(directory, { 'templates/acme/b.json': 'slow' });
    const reload = store.reload();
    t.ok(await until(() => checker.asked.includes('slow')));
    rmSync(join(directory, 'accounts/second.json'));
    void store.reload();
    t.ok(await until(() => store.current.account('second')?.active === false), 'an account that is gone');
    write(directory, { 'accounts/second.json': '{"keys": [' });
    checker.letGo();
    t.ok(await reload, 'what was there when it began was sound');
    t.equal(store.current.template('acme', 'b')?.checked, 'slow');
    t.equal(store.current.keyByDigest('2'.repeat(64))?.key.id, '2', 'the new key is in force');
    t.equal(store.current.keyByDigest(DIGEST)?.key.revoked, true);
    t.equal(store.current.account('second')?.active, false, 'not given back by the loading that began before');
  },
);

t.test('a bad plans.json or a broken file of one account does not keep the others their rights', async (t) => {
  const directory = write(t.testdir(), {
    ...SOUND,
    'accounts/second.json': { keys: [{ ...KEY, sha256: '1'.repeat(64) }] },
  });
  const { store } = await open(directory);
  write(directory, { 'plans.json': '{', 'accounts/second.json': '{', 'accounts/acme.json': { ...ACCOUNT, keys: [] } });
  t.notOk(await store.reload());
  t.equal(store.current.keyByDigest(DIGEST), undefined, 'the key that was taken out');
  t.ok(store.current.keyByDigest('1'.repeat(64)), 'half a file says nothing');
});

t.test('no right is ever more than what was in force, nor than what a sound file grants', async (t) => {
  const digest = fc.constantFrom(...['0', '1', '2'].map((digit) => digit.repeat(64)));
  const key = fc.record({
    id: fc.constant('1'),
    sha256: digest,
    scopes: fc.subarray([...KEY_SCOPES]).map((scopes) => new Set(scopes)),
    expiresAt: fc.constantFrom(null, 1, 2),
    revoked: fc.boolean(),
  });
  const plan = { id: 'p' } as Plan;
  const subscription = fc.constantFrom(null, ...['active', 'ended'].map((status) => ({ plan, status, startedAt: 0 })));
  const record = fc.record({
    name: fc.constant(null),
    active: fc.boolean(),
    subscription,
    keys: fc.uniqueArray(key, { selector: ({ sha256 }) => sha256 }),
  });
  const rights = ({ active, subscription, keys }: AccountRecord): Set<string> =>
    new Set(
      keys
        .filter((each: ApiKey) => active && !each.revoked)
        .flatMap(({ sha256, scopes, expiresAt }) =>
          [...scopes].flatMap((scope) =>
            [0, 1, 2]
              .filter((now) => (expiresAt ?? 3) > now)
              .flatMap((now) => [
                `${sha256} ${scope} ${now}`,
                ...(subscription?.status === 'active' ? [`${sha256} ${scope} ${now} paid`] : []),
              ]),
          ),
        ),
    );
  fc.assert(
    fc.property(record, fc.option(record), fc.boolean(), fc.boolean(), (held, granted, isSound, isWhole) => {
      const before: Account = {
        id: 'a',
        ...held,
        templates: new Map(),
        tables: new Map(),
        secrets: new Set(),
        secretsDirectory: null,
      };
      const accounts = new Map(granted === null ? [] : [['a', { record: granted, isSound, version: null }]]);
      const access = { plans: new Map(), plansVersion: null, accounts, isWhole, problems: new ProblemList() };
      const catalog = new Catalog('', new Map(), new Map([['a', before]]));
      const after = withdrawAccess(catalog, access);
      const says = granted === null ? isWhole : isSound;
      const allowed = granted === null ? new Set<string>() : rights(granted);
      const expected = [...rights(held)].filter((right) => !says || allowed.has(right)).sort();
      t.strictSame([...rights(after.account('a')!)].sort(), expected);
      t.equal(withdrawAccess(after, access), after, 'once');
    }),
    { numRuns: sweep({ short: 50, long: 200 }) },
  );
});

t.test('what has vanished is a refused catalog; back again, it is read', async (t) => {
  const directory = join(t.testdir(), 'catalog');
  const { store, checker, events } = await open(write(directory, SOUND));
  t.teardown(() => store.close());
  store.watch();
  for (const name of ['templates', 'accounts', 'plans.json', '']) {
    const path = join(directory, name);
    const before = store.current;
    renameSync(path, join(directory, `../away`));
    t.ok(
      await until(() => events.at(-1)?.event === 'catalog_refused'),
      `${name || 'all'}: ${problemsIn(events.at(-1))}`,
    );
    t.notOk(await store.reload(), 'nor is it there when it is read once more');
    t.ok(store.current === before, 'the old one goes on');
    renameSync(join(directory, `../away`), path);
    t.ok(await until(() => events.at(-1)?.event === 'catalog_loaded'), `${name || 'all'} back`);
  }
  renameSync(join(directory, 'templates'), join(directory, '../away'));
  mkdirSync(join(directory, 'templates'));
  t.notOk(await store.reload(), 'the empty place of a volume that is gone');
  mkdirSync(join(directory, 'templates/acme'));
  t.ok(await store.reload(), 'an account without Templates is none');
  t.equal(store.current.account('acme')?.templates.size, 0);
  write(directory, SOUND);
  write(directory, { 'templates/acme/a.json': 'slow 1', 'templates/bare/b.json': 'behind it' });
  const halfway = store.reload();
  t.ok(await until(() => checker.asked.includes('slow 1')));
  renameSync(join(directory, 'templates'), join(directory, '../gone'));
  checker.letGo();
  t.notOk(await halfway, 'a folder that vanishes while it is read');
});

t.test('accounts that are moved away and back while they are read lose nothing', async (t) => {
  const directory = write(join(t.testdir(), 'catalog'), SOUND);
  for (let index = 0; index < 60; index += 1) write(directory, { [`accounts/other${index}.json`]: {} });
  const { store, events } = await open(directory);
  t.teardown(() => store.close());
  const [place, away] = [join(directory, 'accounts'), join(directory, '../away')];
  for (let turn = 0; turn < 60; turn += 1) {
    const reading = store.reload();
    await sleep(turn % 10);
    renameSync(place, away);
    await Promise.all([reading, store.reload()]);
    renameSync(away, place);
  }
  t.notOk(
    events.some(({ event }) => event === 'access_withdrawn'),
    'no right is withdrawn',
  );
  t.ok(await store.reload(), 'and all of it is read in the end');
});

t.test('a catalog that is a link is another one when the link is turned, and again', async (t) => {
  const place = t.testdir();
  for (const release of ['one', 'two', 'three'])
    write(join(place, release), { ...SOUND, 'templates/acme/a.json': release });
  const turn = (release: string): void => {
    symlinkSync(release, join(place, 'next'));
    renameSync(join(place, 'next'), join(place, 'catalog'));
  };
  turn('one');
  const { store } = await open(join(place, 'catalog'));
  t.teardown(() => store.close());
  store.watch();
  for (const release of ['two', 'three']) {
    turn(release);
    t.ok(await until(() => store.current.template('acme', 'a')?.name === release), release);
    write(join(place, release), { 'templates/acme/a.json': `${release} edited` });
    t.ok(await until(() => store.current.template('acme', 'a')?.name === `${release} edited`), 'and is watched');
  }
});

t.test('a folder that is written to without a pause is read all the same', async (t) => {
  const directory = write(t.testdir(), SOUND);
  const { store, events } = await open(directory);
  t.teardown(() => store.close());
  store.watch();
  let turn = 0;
  const writing = setInterval(() => write(directory, { 'templates/bare/w.json': `w${turn++}` }), 60);
  t.teardown(() => clearInterval(writing));
  t.ok(await until(() => turn > 20), 'it is being written to');
  write(directory, { 'accounts/acme.json': { ...ACCOUNT, keys: [] } });
  const from = turn;
  t.ok(await until(() => store.current.keyByDigest(DIGEST) === undefined), 'the key is gone');
  t.ok(turn - from < 300, `${turn - from} writes later`);
  const isLoaded = (): boolean => events.filter(({ event }) => event === 'catalog_loaded').length > 1;
  t.ok(await until(isLoaded), 'whole, not only the key');
  clearInterval(writing);
});

t.test('what is no file, too large, unreadable or linked in a circle is refused and does not hold up', async (t) => {
  const directory = write(t.testdir(), SOUND);
  const templates = join(directory, 'templates/acme');
  execFileSync('mkfifo', [join(templates, 'fifo.json')]);
  symlinkSync('/dev/zero', join(templates, 'device.json'));
  symlinkSync('circle.json', join(templates, 'circle.json'));
  symlinkSync('..', join(templates, 'loop'));
  mkdirSync(join(templates, 'folder.json'));
  execFileSync('truncate', ['-s', '10G', join(templates, 'large.json')]);
  write(directory, { 'templates/acme/locked.json': 'x' });
  chmodSync(join(templates, 'locked.json'), 0);
  const checker = new Checker();
  const loaded = await loadCatalog(directory, checker.check);
  const problems = loaded.ok ? [] : loaded.problems.map(problemText);
  const expected = [
    'templates/acme/circle.json: cannot be read (ELOOP).',
    'templates/acme/device.json: is a link to a place outside the catalog.',
    'templates/acme/fifo.json: is neither a file nor a folder.',
    'templates/acme/large.json: is larger than 1048576 bytes.',
    // Whoever runs the tests as root reads it.
    ...(process.getuid?.() === 0 ? [] : ['templates/acme/locked.json: cannot be read (EACCES).']),
  ];
  t.strictSame([...problems].sort(), expected);
});
