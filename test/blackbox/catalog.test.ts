// The list of Templates, and a catalog that changes while the service runs: read again when it changes and on SIGHUP,
// refused whole when it is bad.
import t from 'tap';
import { ALL_SCOPES, PICK, plan, step, template } from './catalog-folder.ts';
import { type Answer, type Client, until } from './client.ts';
import { expectError, expectNew, expectReplay, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const YAML = `format: 1
name: From YAML
description: Written by hand
operations:
  - ${JSON.stringify(step('drop', { columns: ['amount', 'CanaryColumn'] }))}
output: {format: tsv}
`;
const named = (name: string, format: string): object => template([], { name, output: { format } });
const service = await startService(
  t,
  {
    plans: { second: plan() },
    accounts: {
      acme: {
        templates: {
          pick: PICK,
          yaml: YAML,
          tsv: named('Tabs', 'tsv'),
          json: named('Objects', 'json'),
          ndjson: named('Lines', 'ndjson'),
          plain: { format: 1, operations: [] },
        },
      },
      other: { templates: { 'their-own': named('Theirs', 'csv') } },
      bare: { templates: {} },
      leaver: { keys: { full: { scopes: ALL_SCOPES }, second: { scopes: ALL_SCOPES } } },
      payer: {},
      mover: {},
    },
  },
  { 'base-url': 'https://runs.example.test' },
);
const acme = service.client();

interface Item {
  id: string;
  name?: string | null;
  description?: string | null;
  output_format?: string | null;
}
const items = (answer: Answer): Item[] => answer.json['data'] as Item[];
const ids = async (client: Client): Promise<string[]> =>
  items(await client.get('/api/v1/templates')).map(({ id }) => id);

t.test('the list holds all Templates of the account and no other', async (t) => {
  const answer = await acme.get('/api/v1/templates');
  t.equal(answer.status, 200);
  t.match(answer.headers['content-type'], /^application\/json/);
  t.strictSame(
    items(answer)
      .map(({ id }) => id)
      .sort(),
    ['json', 'ndjson', 'pick', 'plain', 'tsv', 'yaml'],
  );
  t.strictSame(await ids(service.client('other')), ['their-own']);
});

t.test('an account without Templates has an empty list', async (t) => {
  t.strictSame(items(await service.client('bare').get('/api/v1/templates')), []);
});

t.test('an item has id, name, description and output_format', async (t) => {
  const list = items(await acme.get('/api/v1/templates'));
  const find = (id: string): Item | undefined => list.find((item) => item.id === id);
  t.match(find('yaml'), { name: 'From YAML', description: 'Written by hand', output_format: 'tsv' });
  t.match(find('pick'), { name: 'Black box', output_format: 'csv' });
  t.match([find('json'), find('ndjson')], [{ output_format: 'json' }, { output_format: 'ndjson' }]);
  t.equal(find('plain')?.name ?? null, null);
  t.equal(find('pick')?.description ?? null, null);
});

t.test('the list shows nothing of the operations', async (t) => {
  const { text } = await acme.get('/api/v1/templates');
  t.match(text, /From YAML/);
  t.notMatch(text, /operations|select|amount/);
});

t.test('a Template written in YAML runs', async (t) => {
  const answer = await acme.upload('yaml', [file(CSV)]);
  expectRun(t, answer, 201, 'succeeded');
  t.equal((await acme.get(`/api/v1/runs/${answer.run.id}/output`)).text, 'id\n001\n');
});

t.test('an unknown Template, a badly shaped id and one of another account are the same 404', async (t) => {
  const unknown = await acme.upload('unknown', [file(CSV)]);
  expectError(t, unknown, 404, 'TEMPLATE_NOT_FOUND');
  for (const id of ['their-own', '%20', 'a%2Fb', 'pick.json', '..%2f..%2fplans', 'a'.repeat(65), '__proto__', 'PICK']) {
    const answer = await acme.upload(id, [file(CSV)]);
    expectError(t, answer, 404, 'TEMPLATE_NOT_FOUND');
    t.equal(answer.json['message'], unknown.json['message']);
  }
});

t.test('download_url is made from the configured base URL, never from Host', async (t) => {
  const answer = await acme.upload('pick', [file(CSV)], { headers: { host: 'evil.example' } });
  t.equal(answer.run.output?.download_url, `https://runs.example.test/api/v1/runs/${answer.run.id}/output`);
});

t.test('a Template that is added is served without a restart', async (t) => {
  service.catalog.writeTemplate('bare', 'added', PICK);
  t.strictSame(await service.untilEverywhere('bare', ids, (list) => list.length === 1), ['added']);
  expectRun(t, await service.client('bare').upload('added', [file(CSV)]), 201, 'succeeded');
});

t.test('a Template that is changed works anew, a replay does not look at it', async (t) => {
  const client = service.client('mover');
  const first = await client.upload('pick', [file(CSV)], { key: 'pinned' });
  expectNew(t, first);
  service.catalog.writeTemplate('mover', 'pick', template([step('select', { columns: ['id'] })], { name: 'Changed' }));
  await service.untilEverywhere(
    'mover',
    (client) => client.get('/api/v1/templates'),
    (answer) => /Changed/.test(answer.text),
  );
  expectReplay(t, await client.upload('pick', [file(CSV)], { key: 'pinned' }), first);
  const second = await client.upload('pick', [file(CSV)]);
  t.equal((await client.get(`/api/v1/runs/${second.run.id}/output`)).text, 'id\n001\n');
});

t.test('a Template that is removed is gone from the list and answers 404', async (t) => {
  service.catalog.writeTemplate('mover', 'brief', PICK);
  await service.untilEverywhere('mover', ids, (list) => list.includes('brief'));
  service.catalog.removeTemplate('mover', 'brief');
  const list = await service.untilEverywhere('mover', ids, (list) => !list.includes('brief'));
  t.strictSame(list, ['pick']);
  expectError(t, await service.client('mover').upload('brief', [file(CSV)]), 404, 'TEMPLATE_NOT_FOUND');
});

t.test('SIGHUP reads the catalog again', async (t) => {
  service.catalog.writeTemplate('mover', 'hup', PICK);
  service.signal('SIGHUP');
  t.ok((await service.untilEverywhere('mover', ids, (list) => list.includes('hup'))).includes('hup'));
  t.equal((await acme.get('/livez')).status, 200, 'SIGHUP does not end it');
});

t.test('a key that is revoked stops working without a restart, the other key goes on', async (t) => {
  const client = service.client('leaver');
  t.equal((await client.get('/api/v1/templates')).status, 200);
  const keys = { full: { scopes: ALL_SCOPES, revoked_at: '2026-02-01T00:00:00Z' }, second: { scopes: ALL_SCOPES } };
  service.catalog.writeAccount('leaver', { keys });
  expectError(
    t,
    await service.untilEverywhere(
      'leaver',
      (client) => client.get('/api/v1/templates'),
      ({ status }) => status === 401,
    ),
    401,
    'API_KEY_INVALID',
  );
  t.equal((await service.client('leaver', 'second').get('/api/v1/templates')).status, 200);
});

t.test('a subscription that ends: NO_SUBSCRIPTION', async (t) => {
  service.catalog.writeAccount('payer', { plan: null });
  const answer = await service.untilEverywhere(
    'payer',
    (client) => client.get('/api/v1/templates'),
    ({ status }) => status === 403,
  );
  expectError(t, answer, 403, 'NO_SUBSCRIPTION');
});

t.test('an account that is made inactive: API_KEY_INVALID', async (t) => {
  service.catalog.writeAccount('payer', { active: false });
  const answer = await service.untilEverywhere(
    'payer',
    (client) => client.get('/api/v1/templates'),
    ({ status }) => status === 401,
  );
  expectError(t, answer, 401, 'API_KEY_INVALID');
});

for (const [what, path, content] of [
  ['broken JSON', 'templates/bare/broken.json', '{"format": 1, '],
  ['an unknown operation', 'templates/bare/broken.json', { format: 1, operations: [step('no_such_operation')] }],
  [
    'an account with an unknown plan',
    'accounts/broken.json',
    {
      name: 'x',
      active: true,
      subscription: { plan: 'none', status: 'active', started_at: '2026-01-01T00:00:00Z' },
      keys: [],
    },
  ],
] as const) {
  t.test(`a catalog with ${what} is refused whole and the old one goes on`, async (t) => {
    const expectRefusal = async (): Promise<void> => {
      const before = service.events.length;
      service.signal('SIGHUP');
      const logged = await until(
        async () => JSON.stringify(service.events.slice(before)),
        (events) => events.includes('broken'),
      );
      t.match(logged, /broken/, 'the log names the file at fault');
    };
    // A load that began before the first file was written could take the second one, so that is written later.
    service.catalog.write(path, content);
    await expectRefusal();
    service.catalog.writeTemplate('bare', 'beside', PICK);
    await expectRefusal();
    t.strictSame(await ids(service.client('bare')), ['added'], 'nothing of the new catalog is taken');
    expectRun(t, await acme.upload('pick', [file(CSV)]), 201, 'succeeded');
    service.catalog.remove(path);
    const mended = await service.untilEverywhere('bare', ids, (list) => list.includes('beside'));
    t.strictSame(mended.sort(), ['added', 'beside'], 'mended, it is taken');
    service.catalog.removeTemplate('bare', 'beside');
    await service.untilEverywhere('bare', ids, (list) => list.length === 1);
  });
}

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('leaver')]));
