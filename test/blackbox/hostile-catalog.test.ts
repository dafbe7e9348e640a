// A hostile catalog, or one that changes without a pause, while the service runs: the service continues to respond,
// revoked access takes effect first, and a vanished catalog is not treated as empty.
// With all tests only: faults that only time limits detect.
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { processorClock } from '../processor-clock.ts';
import { ALL_SCOPES, PICK, template } from './catalog-folder.ts';
import { type Client, pause, until } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount\n001,1.50\n';
const accounts = {
  acme: {},
  author: {},
  leaver: { keys: { full: { scopes: ALL_SCOPES }, second: { scopes: ALL_SCOPES } } },
};
const service = await startService(t, { accounts });
const acme = service.client();
const texts = (name: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${name}${index}`);

/** Between two questions: the node is to check Templates, and not to answer all the time. */
const BETWEEN_MILLISECONDS = 5;

/** Each took the event loop a second or more. */
const HOSTILE: Readonly<Record<string, object | string>> = {
  patterns: template(
    texts('x', 700).map((name) => ({
      op: 'replace',
      columns: 'a',
      mode: 'regex',
      find: `^${name}(?:${'a{1,10}b?|'.repeat(110)}z)$`,
      replace: '',
    })),
  ),
  columns: template(
    texts('c', 900).map((name) => ({ op: 'reorder', first: [name] })),
    { input: { columns: texts('c', 16_000).map((name) => ({ name })) } },
  ),
  brackets: '['.repeat(290_000),
  mistakes: template([{ op: 'text', columns: 'a', steps: texts('trimm', 60_000) }]),
};

const catalogEvents = (): Record<string, unknown>[] =>
  service.events.filter(({ event }) => /^catalog_/.test(String(event)));

/** The first event of the catalog after `from` of them that looks like this: what is written in several steps is read in between. */
const decided = async (from: number, like: RegExp): Promise<Record<string, unknown> | undefined> => {
  const find = async () =>
    catalogEvents()
      .slice(from)
      .find((event) => like.test(JSON.stringify(event)));
  return until(find, (found) => found !== undefined);
};

const ids = async (client: Client): Promise<string[]> =>
  ((await client.get('/api/v1/templates')).json['data'] as { id: string }[]).map(({ id }) => id);

t.test('no Template holds up the others while it is checked', async (t) => {
  const now = processorClock(service);
  for (const [name, content] of Object.entries(HOSTILE)) {
    const from = catalogEvents().length;
    const [began, beganWork] = [performance.now(), now()];
    service.catalog.writeTemplate('author', name, content);
    let longest = 0;
    let answers = 0;
    while (catalogEvents().length === from && performance.now() - began < 240_000) {
      const asked = now();
      const { status } = await acme.get('/livez');
      if (status !== 200) t.fail(`${name}: /livez answers ${status}`);
      answers += 1;
      longest = Math.max(longest, now() - asked);
      await pause(BETWEEN_MILLISECONDS);
    }
    const event = await decided(from, new RegExp(`templates/author/${name}\\.(?:json|yaml)`));
    const whole = now() - beganWork;
    t.equal(event?.['event'], 'catalog_refused', `${name}, after ${answers} answers`);
    t.ok(longest < Math.max(whole / 4, 100), `${name}: waited ${longest} of ${whole} ms of work`);
    service.catalog.remove(`templates/author/${name}.${typeof content === 'string' ? 'yaml' : 'json'}`);
    t.ok(await decided(from + 1, /catalog_loaded/), 'mended');
  }
});

t.test('a key is revoked beside a bad Template and while somebody writes each 60 ms', async (t) => {
  service.catalog.writeTemplate('author', 'bad', { format: 2 });
  let count = 0;
  const writing = setInterval(
    () => service.catalog.writeTemplate('author', 'busy', template([], { name: `${count++}` })),
    60,
  );
  t.teardown(() => clearInterval(writing));
  await until(
    async () => count,
    (written) => written > 10,
  );
  const keys = { full: { scopes: ALL_SCOPES, revoked_at: '2026-02-01T00:00:00Z' }, second: { scopes: ALL_SCOPES } };
  service.catalog.writeAccount('leaver', { keys });
  const answer = await service.untilEverywhere(
    'leaver',
    (client) => client.get('/api/v1/templates'),
    ({ status }) => status === 401,
  );
  expectError(t, answer, 401, 'API_KEY_INVALID');
  t.equal((await service.client('leaver', 'second').get('/api/v1/templates')).status, 200, 'the other key goes on');
  t.strictSame(await ids(service.client('author')), ['pick'], 'nothing of the rest is taken');
  service.catalog.removeTemplate('author', 'bad');
  t.ok(
    (await service.untilEverywhere('author', ids, (list) => list.includes('busy'))).includes('busy'),
    'mended, it is',
  );
});

t.test('a folder that has vanished takes nothing away; a catalog that is another link is another one', async (t) => {
  const { folder } = service.catalog;
  const aside = `${folder}.aside`;
  for (const name of ['templates', 'accounts']) {
    const from = catalogEvents().length;
    renameSync(join(folder, name), aside);
    t.ok(await decided(from, new RegExp(`${name}: is missing`)), name);
    const refused = catalogEvents().length;
    expectRun(t, await acme.upload('pick', [file(CSV)]), 201, 'succeeded');
    renameSync(aside, join(folder, name));
    t.ok(await decided(refused, /catalog_loaded/), 'back');
  }
  const from = catalogEvents().length;
  renameSync(folder, aside);
  t.ok(await decided(from, /catalog_refused/));
  const refused = catalogEvents().length;
  expectRun(t, await acme.upload('pick', [file(CSV)]), 201, 'succeeded');
  symlinkSync(aside, folder);
  t.ok(await decided(refused, /catalog_loaded/), 'after a link');
  service.catalog.writeTemplate('acme', 'after', PICK);
  t.ok(
    (await service.untilEverywhere('acme', ids, (list) => list.includes('after'))).includes('after'),
    'what lies after it is watched',
  );
  rmSync(folder);
  renameSync(aside, folder);
  mkdirSync(join(folder, 'templates/.hidden'));
  expectRun(t, await acme.upload('after', [file(CSV)]), 201, 'succeeded');
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('leaver')]));
