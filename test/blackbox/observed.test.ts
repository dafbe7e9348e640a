// Observation of a node by its operator: metrics at the first scrape, `accounts --ops` which reads them, log lines,
// readiness and refused catalogs.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { skipUnlessLong } from '../sweep.ts';
import { ALL_SCOPES, type CatalogDescription, plan } from './catalog-folder.ts';
import { Client, until } from './client.ts';
import { expectError, expectNew } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, checkLogs, type Service, startService } from './service.ts';

const catalog: CatalogDescription = {
  plans: { twelve: plan({ runs_per_period: 12 }) },
  accounts: {
    acme: {
      keys: {
        full: { scopes: ALL_SCOPES },
        reader: { scopes: ['runs:read'] },
        gone: { scopes: ALL_SCOPES, revoked_at: '2026-01-02T00:00:00Z' },
      },
    },
    twelve: { plan: 'twelve' },
  },
};
const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';

/** The line of the request that was sent with this id. */
async function requestLine(service: Service, id: string): Promise<Record<string, unknown> | undefined> {
  return until(
    async () => service.events.find(({ event, request_id }) => event === 'request' && request_id === id),
    (line) => line !== undefined,
  );
}

t.test('the first scrape has the quotas, and so has each of several at once', { skip: skipUnlessLong }, async (t) => {
  const service = await startService(t, catalog);
  const { status, stdout } = spawnSync(process.execPath, [COMMAND, 'accounts', '--ops', service.url], {
    encoding: 'utf8',
  });
  t.equal(status, 0);
  t.match(stdout, /^acme +0 +none$/m);
  t.match(stdout, /^twelve +0 +12$/m, 'asked first of all');
  const scrapes = await Promise.all([1, 2, 3].map(() => new Client(service.port).get('/metrics')));
  for (const { text } of scrapes) {
    t.match(text, /^template_run_quota_used\{account="twelve"\} 0$/m);
    t.match(text, /^template_run_quota_limit\{account="twelve"\} 12$/m);
    t.notMatch(text, /^template_run_quota_limit\{account="acme"\}/m, 'where there is no limit none is shown');
  }
  await checkLogs(t, service);
});

t.test(
  'the line of a request names account, key, operation and Template, and nothing that a client made up',
  { skip: skipUnlessLong },
  async (t) => {
    const service = await startService(t, catalog);
    const client = service.client();
    const as = (id: string) => ({ headers: { 'x-request-id': id } });
    const made = await client.upload('pick', [file(CSV)], as('made'));
    expectNew(t, made);
    const whole = { account: 'acme', key: 'full', template: 'pick', run: made.run.id };
    t.match(await requestLine(service, 'made'), { operation: 'create_run', ...whole, status: 201 });
    for (const [path, operation] of [
      [`/api/v1/runs/${made.run.id}`, 'get_run'],
      [`/api/v1/runs/${made.run.id}/output`, 'get_run_output'],
    ] as const) {
      await client.get(path, { 'x-request-id': operation });
      t.match(await requestLine(service, operation), { operation, ...whole, status: 200 });
    }
    await client.upload('CanaryTemplate', [file(CSV)], as('unknown'));
    t.match(await requestLine(service, 'unknown'), { account: 'acme', key: 'full', template: null, status: 404 });
    expectError(
      t,
      await service.client('acme', 'reader').upload('pick', [file(CSV)], as('may-not')),
      403,
      'INSUFFICIENT_SCOPE',
    );
    t.match(await requestLine(service, 'may-not'), { account: 'acme', key: 'reader', code: 'INSUFFICIENT_SCOPE' });
    expectError(
      t,
      await service.client('acme', 'gone').upload('pick', [file(CSV)], as('revoked')),
      401,
      'API_KEY_INVALID',
    );
    t.match(await requestLine(service, 'revoked'), { account: 'acme', key: 'gone', code: 'API_KEY_INVALID' });
    await client.as('trs_nobody').get('/api/v1/templates', { 'x-request-id': 'stranger' });
    t.match(await requestLine(service, 'stranger'), { account: null, key: null, code: 'API_KEY_INVALID' });
    await checkLogs(
      t,
      service,
      ['full', 'reader', 'gone'].map((name) => service.catalog.key('acme', name)),
    );
  },
);

const hasOwn = skipBehindBalancer('each node has a disk of its own');
const isProbed = skipBehindBalancer('its own checks are such lines too');
t.test('health checks and scrapes are lines of the level debug', { skip: isProbed || skipUnlessLong }, async (t) => {
  for (const [level, lines] of [
    ['info', 0],
    ['debug', 3],
  ] as const) {
    const service = await startService(t, catalog, { 'log-level': level });
    for (const path of ['/livez', '/readyz', '/metrics']) t.equal((await service.client().get(path)).status, 200);
    await service.client().get('/api/v1/templates', { 'x-request-id': 'after' });
    await requestLine(service, 'after');
    const probes = service.events.filter(({ operation }) => /^(livez|readyz|metrics)$/.test(String(operation)));
    t.equal(probes.length, lines, level);
    for (const probe of probes) t.equal(probe['level'], 'debug');
    await checkLogs(t, service);
  }
});

t.test('a change of readiness is logged once, though nobody asks, and is a metric', { skip: hasOwn }, async (t) => {
  const service = await startService(t, catalog, { 'disk-floor': 0 });
  const changes = () => service.events.filter(({ event }) => event === 'ready' || event === 'not_ready');
  const changed = (count: number) =>
    until(
      async () => changes(),
      (found) => found.length >= count,
    );
  t.equal(await service.metric('template_run_ready'), 1);
  const spool = join(service.dataFolder, 'spool');
  rmSync(spool, { recursive: true });
  writeFileSync(spool, 'in its place');
  t.match(await changed(1), [{ event: 'not_ready', level: 'warn', reasons: [/ENOTDIR/] }]);
  t.equal(await service.metric('template_run_ready'), 0);
  rmSync(spool);
  t.match(await changed(2), [{ event: 'not_ready' }, { event: 'ready', level: 'info' }]);
  t.equal(await service.metric('template_run_ready'), 1);
  await checkLogs(t, service);
  t.equal(changes().length, 2, 'the drain is no line of these');
});

t.test('a refused catalog is a metric until a sound one is in force', { skip: skipUnlessLong }, async (t) => {
  const service = await startService(t, catalog);
  const inForce = (wanted: number) =>
    until(
      () => service.metric('template_run_catalog_in_force'),
      (value) => value === wanted,
    );
  const refused = () => service.metric('template_run_catalog_readings_total{result="refused"}');
  t.equal(await inForce(1), 1);
  t.equal(await refused(), 0);
  service.catalog.write('templates/acme/broken.json', '{"format": 1');
  t.equal(await inForce(0), 0);
  t.ok((await refused()) >= 1);
  const isTold = async (): Promise<boolean> => service.events.some(({ event }) => event === 'catalog_refused');
  t.ok(await until(isTold, Boolean));
  expectNew(t, await service.client().upload('pick', [file(CSV)]));
  service.catalog.remove('templates/acme/broken.json');
  t.equal(await inForce(1), 1);
  await checkLogs(t, service);
});
