// Reloading of a catalog: revoked access takes effect first, and unchanged parts are not read again.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Account, type ApiKey, Catalog, KEY_SCOPES, type Plan } from '../../../src/catalog/catalog.ts';
import { ProblemList } from '../../../src/catalog/problems.ts';
import { type AccountRecord, withdrawAccess } from '../../../src/catalog/read-access.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { ACCOUNT, DIGEST, KEY, open, SOUND, until, write } from './catalog-at-work.ts';

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
    t.equal(store.current.account('second')?.active, false, 'not restored by the load that began before');
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
    fc.property(record, fc.option(record), fc.boolean(), fc.boolean(), (held, granted, isValid, isWhole) => {
      const before: Account = {
        id: 'a',
        ...held,
        templates: new Map(),
        tables: new Map(),
        secrets: new Set(),
        secretsDirectory: null,
      };
      const accounts = new Map(granted === null ? [] : [['a', { record: granted, isValid, version: null }]]);
      const access = { plans: new Map(), plansVersion: null, accounts, isWhole, problems: new ProblemList() };
      const catalog = new Catalog('', new Map(), new Map([['a', before]]));
      const after = withdrawAccess(catalog, access);
      const says = granted === null ? isWhole : isValid;
      const allowed = granted === null ? new Set<string>() : rights(granted);
      const expected = [...rights(held)].filter((right) => !says || allowed.has(right)).sort();
      t.strictSame([...rights(after.account('a')!)].sort(), expected);
      t.equal(withdrawAccess(after, access), after, 'once');
    }),
    { numRuns: sweep({ short: 13, long: 200 }) },
  );
});
