// A catalog whose folders move, are replaced by links, change without a pause, or contain things that are not files:
// it is never loaded in such a state, and blocks nothing.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { loadCatalog } from '../../../src/catalog/load-catalog.ts';
import { problemText } from '../../../src/catalog/problems.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { ACCOUNT, Checker, DIGEST, open, problemsIn, SOUND, until, write } from './catalog-at-work.ts';

/** Longer than the resolution of any file system's times (src/catalog/catalog-folder.ts). */
const TIMES_TRUSTED_MILLISECONDS = 2_100;

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
  write(directory, { 'templates/acme/a.json': 'slow 1', 'templates/bare/b.json': 'after it' });
  const halfway = store.reload();
  t.ok(await until(() => checker.asked.includes('slow 1')));
  renameSync(join(directory, 'templates'), join(directory, '../gone'));
  checker.letGo();
  t.notOk(await halfway, 'a folder that vanishes while it is read');
});

t.test(
  'accounts that are moved away and back while they are read lose nothing',
  { skip: skipUnlessLong },
  async (t) => {
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
  },
);

t.test('plans that are changed while the accounts are away count when these are back', async (t) => {
  const directory = join(t.testdir(), 'catalog');
  const { store } = await open(write(directory, { ...SOUND, 'plans.json': { starter: { rows_max: 1000 } } }));
  t.teardown(() => store.close());
  // Files that are as old as this are known by their times, and not read again.
  await sleep(TIMES_TRUSTED_MILLISECONDS);
  t.ok(await store.reload());
  renameSync(join(directory, 'accounts'), join(directory, '../away'));
  write(directory, { 'plans.json': { starter: { rows_max: 5 } } });
  await sleep(TIMES_TRUSTED_MILLISECONDS);
  t.notOk(await store.reload());
  renameSync(join(directory, '../away'), join(directory, 'accounts'));
  t.ok(await store.reload());
  t.equal(store.current.account('acme')?.subscription?.plan.rowsMax, 5);
});

t.test('what is wrong beside a link that leads nowhere is told once', async (t) => {
  const directory = write(t.testdir(), SOUND);
  symlinkSync('/etc/passwd', join(directory, 'accounts/aa.json'));
  symlinkSync('nowhere', join(directory, 'accounts/zz.json'));
  const loaded = await loadCatalog(directory, new Checker().check);
  const problems = loaded.ok ? [] : loaded.problems.map(problemText);
  t.equal(
    problems.filter((problem) => problem.startsWith('accounts/aa.json: is a link')).length,
    1,
    problems.join('\n'),
  );
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
    // root can read this file.
    ...(process.getuid?.() === 0 ? [] : ['templates/acme/locked.json: cannot be read (EACCES).']),
  ];
  t.strictSame([...problems].sort(), expected);
});
