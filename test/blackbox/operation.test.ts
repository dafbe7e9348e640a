// Operation of a node: drain, budget, disk floor, flags, and refused clients that continue to send.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { skipBehindBalancer, skipOnRedis } from '../fixtures/test-stores.ts';
import { skipUnlessLong } from '../sweep.ts';
import { type CatalogDescription, PICK, plan } from './catalog-folder.ts';
import { Client, pause, rawExchange, until } from './client.ts';
import { expectError, expectNew, expectReplay, expectRun } from './expect.ts';
import { file, form } from './multipart.ts';
import { checkLogs, type Flags, Service, startService } from './service.ts';
import { SLOW, slowUpload } from './slow-run.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
/** The longest that the flag takes: longer than any test. */
const DRAIN_MILLISECONDS_MAX = 24 * 3600 * 1000;
const templates = { pick: PICK, slow: SLOW };
const catalog: CatalogDescription = {
  plans: {
    single: plan({ runs_in_flight_max: 1 }),
    none: plan({ runs_per_period: 0 }),
    small: plan({ upload_bytes_max: 50_000 }),
  },
  accounts: {
    acme: { templates },
    single: { plan: 'single', templates },
    none: { plan: 'none', templates },
    small: { plan: 'small', templates },
  },
};

const isTakenOut = skipBehindBalancer('a node that is not ready gets no request');

t.test('drain: readiness goes, uploads and reading go on, new Runs get 503', { skip: isTakenOut }, async (t) => {
  const service = await startService(t, catalog, { 'drain-ms': DRAIN_MILLISECONDS_MAX });
  const client = service.client();
  const done = await client.upload('pick', [file(CSV)], { key: 'before' });
  const finishing = await service.letIn(() => client.hold('pick', [file(CSV)], 200));
  const single = service.client('single');
  const last = await service.letIn(() => single.hold('pick', [file(CSV)], 200), { account: 'single' });
  service.signal('SIGTERM');
  const ready = await until(
    () => client.get('/readyz'),
    ({ status }) => status === 503,
  );
  t.equal(ready.status, 503);
  t.equal((await client.get('/livez')).status, 200);
  expectError(t, await client.upload('pick', [file(CSV)]), 503, 'SERVER_BUSY');
  expectError(t, await client.upload('pick', [file('')]), 503, 'SERVER_BUSY');
  expectError(t, await service.client('single').upload('pick', [file(CSV)]), 429, 'CONCURRENCY_LIMIT_REACHED');
  expectError(t, await service.client('none').upload('pick', [file(CSV)]), 402, 'EXPORT_LIMIT_REACHED');
  expectReplay(t, await client.upload('pick', [file(CSV)], { key: 'before' }), done);
  t.equal((await client.get('/api/v1/templates')).status, 200);
  t.equal((await client.get(`/api/v1/runs/${done.run.id}/output`)).status, 200);
  expectNew(t, await finishing.finish());
  expectNew(t, await last.finish());
  await checkLogs(t, service, [service.catalog.key('acme')]);
});

t.test(
  'the end of the drain: uploads that have not arrived get 503, Runs are interrupted, and their repeats told',
  { skip: isTakenOut },
  async (t) => {
    const service = await startService(t, catalog, { 'drain-ms': 3_000 });
    const client = service.client();
    const single = service.client('single');
    const hanging = await service.letIn(() => single.hold('pick', [file(CSV)], 200), { account: 'single' });
    const held = await service.letIn(() => client.hold('slow', slowUpload(200_000), -1, { key: 'interrupted' }));
    const joined = client.upload('slow', slowUpload(200_000), { key: 'interrupted' });
    await service.joined();
    const slow = held.finish();
    // Its last byte has arrived, and it is at work for 200 ms. With Redis the count says so from the first byte on.
    await until(
      () => service.metric('template_run_runs_kept'),
      (runs) => runs > 0,
    );
    service.signal('SIGTERM');
    expectError(t, await hanging.answer, 503, 'SERVER_BUSY');
    const interrupted = await slow;
    expectRun(t, interrupted, 201, 'failed');
    t.equal(interrupted.run.error?.code, 'RUN_INTERRUPTED');
    const other = await joined;
    t.strictSame([other.status, other.run.id, other.run.error?.code], [200, interrupted.run.id, 'RUN_INTERRUPTED']);
    await checkLogs(t, service, [service.catalog.key('acme')]);
  },
);

/** More than the system keeps on its way to a client that does not read. */
const LONG_CSV = `id,amount\n${`1,${'x'.repeat(1000)}\n`.repeat(40_000)}`;
const LONG_OUTPUT_BYTES = 'id,total\n'.length + 40_000 * '1,\n'.length + 40_000_000;

t.test('a download that runs has the time of the drain, and not more', { skip: skipUnlessLong }, async (t) => {
  for (const [drain, waits] of [
    [120_000, true],
    [300, false],
  ] as const) {
    const service = await startService(t, catalog, { 'drain-ms': drain });
    const client = service.client();
    const { run } = await client.upload('pick', [file(LONG_CSV)]);
    const headers = { authorization: `Bearer ${client.key}` };
    const download = http.get(`${service.url}/api/v1/runs/${run.id}/output`, { headers, agent: false });
    const [response] = (await once(download, 'response')) as [http.IncomingMessage];
    t.equal(Number(response.headers['content-length']), LONG_OUTPUT_BYTES);
    await pause(300);
    service.signal('SIGTERM');
    // A client that reads only when the node has ended gets what the system had taken for it.
    if (waits) await pause(1500);
    else t.equal(await service.exited(), 0);
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await new Promise<void>((resolve) => response.on('error', () => resolve()).on('end', resolve));
    if (waits) t.equal(bytes, LONG_OUTPUT_BYTES, 'the whole output');
    else t.ok(bytes < LONG_OUTPUT_BYTES, 'cut at the deadline');
    t.equal(await service.exited(), 0);
  }
});

t.test('SIGTERM with nothing to do ends at once with status 0', async (t) => {
  // Without end: a node that waited for its drain would be ended by the time limit of the file.
  const service = await startService(t, catalog, { 'drain-ms': DRAIN_MILLISECONDS_MAX });
  expectNew(t, await service.client().upload('pick', [file(CSV)]));
  service.signal('SIGTERM');
  t.equal(await service.exited(), 0);
});

t.test('below the floor of free disk: create_run 503, not ready, reading goes on', { skip: isTakenOut }, async (t) => {
  const service = await startService(t, catalog, { 'disk-floor': '900000GiB' });
  const client = service.client();
  expectError(t, await client.upload('pick', [file(CSV)]), 503, 'SERVER_BUSY');
  expectError(t, await service.client('none').upload('pick', [file(CSV)]), 402, 'EXPORT_LIMIT_REACHED');
  t.equal((await client.get('/readyz')).status, 503);
  t.equal((await client.get('/livez')).status, 200);
  t.equal((await client.get('/api/v1/templates')).status, 200);
});

const hasOwn = skipBehindBalancer('each node has a budget of its own');
t.test(
  'the memory budget: 503 when the reservation does not fit, replays pass, all of it comes back',
  { skip: hasOwn || skipUnlessLong },
  async (t) => {
    const service = await startService(t, catalog, { 'memory-budget': '256MiB' });
    const client = service.client();
    const first = await client.upload('pick', [file(CSV)], { key: 'budget' });
    expectNew(t, first);
    const held = Array.from({ length: 600 }, () => client.hold('pick', [file(CSV)], 200));
    for (const one of held) one.answer.catch(() => {});
    const refused = held.map(async (one) => ({ one, answer: await one.answer }));
    const { answer } = await Promise.any(
      refused.map(async (each) => ((await each).answer.status === 503 ? each : Promise.reject())),
    );
    expectError(t, answer, 503, 'SERVER_BUSY');
    await pause(200);
    expectError(t, await client.upload('pick', [file(CSV)]), 503, 'SERVER_BUSY');
    expectError(t, await service.client('none').upload('pick', [file(CSV)]), 402, 'EXPORT_LIMIT_REACHED');
    expectReplay(t, await client.upload('pick', [file(CSV)], { key: 'budget' }), first);
    for (const one of held) one.vanish();
    const next = await until(
      () => client.upload('pick', [file(CSV)]),
      ({ status }) => status === 201,
    );
    expectNew(t, next);
  },
);

t.test('a refused client that goes on sending gets its answer and no reset', { skip: skipUnlessLong }, async (t) => {
  const service = await startService(t, catalog);
  const client = service.client();
  const length = 12_000_000;
  const type = form([]).contentType;
  const cases: [string, string, string, string][] = [
    ['acme', 'pick', 'Authorization: Bearer nobody', '401'],
    ['acme', 'unknown', `Authorization: Bearer ${client.key}`, '404'],
    ['small', 'pick', `Authorization: Bearer ${service.client('small').key}`, '413'],
    ['none', 'pick', `Authorization: Bearer ${service.client('none').key}`, '402'],
    ['acme', 'pick', `Authorization: Bearer ${client.key}\r\nIdempotency-Key: `, '422'],
  ];
  for (const [, template, header, status] of cases) {
    let answeredAt = -1;
    const head = `POST /api/v1/templates/${template}/runs HTTP/1.1\r\nHost: x\r\n${header}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
    let sent = 0;
    const sending = rawExchange(
      service.port,
      (socket) => {
        socket.write(head);
        const piece = Buffer.alloc(400_000, 'x');
        socket.once('data', () => {
          answeredAt = sent;
        });
        const more = (): void => {
          if (sent >= length) {
            setTimeout(() => socket.end(), 200);
            return;
          }
          // However long a busy machine takes for the answer, the test sends half of the body after it.
          if (sent >= length / 2 && answeredAt < 0) {
            socket.once('data', more);
            return;
          }
          sent += piece.length;
          socket.write(piece, () => setTimeout(more, 10));
        };
        more();
      },
      () => false,
    );
    const { text, error } = await sending;
    t.match(text, new RegExp(`^HTTP/1.1 ${status} `), `${status} is answered`);
    t.equal(error, null, 'no reset');
    t.ok(sent >= length, 'everything that was sent is taken');
    t.ok(answeredAt >= 0 && answeredAt < length, 'the answer came while it was sending');
  }
  expectNew(t, await client.upload('pick', [file(CSV)]));
});

const isOne = skipBehindBalancer('the port is that of one node');
t.test('--ops-port: health and metrics apart from the API', { skip: isOne }, async (t) => {
  const port = await freePort();
  const service = await startService(t, catalog, { 'ops-port': port, 'metrics-on-api-port': 'no' });
  const operator = new Client(port);
  for (const path of ['/livez', '/readyz', '/metrics']) {
    t.equal((await operator.get(path)).status, 200);
    if (path !== '/readyz') expectError(t, await service.client().get(path), 404, 'NOT_FOUND');
  }
  t.equal((await service.client().get('/readyz')).status, 200, 'a balancer asks the port that is to take requests');
  t.equal((await new Client(port, service.client().key).get('/api/v1/templates')).status, 404);
});

t.test('without --ops-port health is on the API port, and metrics are only when that is asked for', async (t) => {
  const service = await startService(t, catalog, { 'metrics-on-api-port': 'no' });
  for (const path of ['/livez', '/readyz']) t.equal((await service.client().get(path)).status, 200);
  expectError(t, await service.client().get('/metrics'), 404, 'NOT_FOUND');
});

t.test(
  'a second process on the same data folder exits 2 and names it; the first goes on',
  { skip: skipUnlessLong },
  async (t) => {
    const service = await startService(t, catalog);
    const second = service.beside();
    const [status, output] = await finish(second);
    t.equal(status, 2);
    t.ok(output.includes(service.dataFolder), 'names the folder');
    expectNew(t, await service.client().upload('pick', [file(CSV)]));
  },
);

t.test('SIGHUP while the node starts does not end it', { skip: skipUnlessLong }, async (t) => {
  const service = new Service(catalog);
  t.teardown(() => service.remove());
  const started = service.start();
  await until(
    async () => service.events.length > 0,
    (loading) => loading,
  );
  service.signal('SIGHUP');
  await started;
  t.equal((await service.client().get('/livez')).status, 200);
});

t.test(
  'a port or a data folder that cannot be had: status 1, one line that says what, no stack',
  { skip: skipUnlessLong },
  async (t) => {
    const service = await startService(t, catalog);
    const taken = new Service(catalog, { port: service.port });
    t.teardown(() => taken.remove());
    const broken = new Service(catalog);
    t.teardown(() => broken.remove());
    mkdirSync(join(broken.dataFolder, 'ledger/LOCK'), { recursive: true });
    for (const [other, place, reason] of [
      [taken, `127.0.0.1:${service.port}`, /the port is in use/],
      [broken, join(broken.dataFolder, 'ledger'), /Is a directory/],
    ] as const) {
      const [status, output] = await finish(other.beside());
      t.equal(status, 1);
      const lines = output.split('\n').filter((line) => line !== '' && !line.includes('"event":"catalog_loaded"'));
      t.equal(lines.length, 1, output);
      t.match(lines[0], /^template-run serve: /);
      t.ok(lines[0]?.includes(place), output);
      t.match(lines[0], reason);
    }
  },
);

for (const [what, flags] of Object.entries<Flags>({
  'a budget below one reservation': { 'memory-budget': 1000 },
  'a public host without a base URL': { host: '0.0.0.0' },
  'an unknown flag': { 'no-such-flag': 1 },
  'a word instead of a number': { 'wait-ms': 'soon' },
})) {
  const isGiven = what.includes('base URL') && skipOnRedis;
  t.test(`${what} is refused at start`, { skip: isGiven }, async (t) => {
    const service = new Service(catalog, flags);
    t.teardown(() => service.remove());
    await t.rejects(service.start(), /did not start/);
    t.not(await service.exited(), 0);
  });
}

t.test('a broken catalog is refused at start and its problems are named', async (t) => {
  const service = new Service(catalog);
  t.teardown(() => service.remove());
  service.catalog.write('templates/acme/pick.json', '{"format": 1');
  await t.rejects(service.start(), /did not start[\s\S]*pick\.json/);
});

t.test('flags are also environment variables', { skip: skipUnlessLong }, async (t) => {
  const service = new Service(catalog, {}, { TEMPLATE_RUN_BASE_URL: 'https://env.example.test' });
  t.teardown(() => service.remove());
  await service.start();
  const { run } = await service.client().upload('pick', [file(CSV)]);
  t.match(run.output?.download_url, /^https:\/\/env\.example\.test\/api\/v1\/runs\//);
});

async function finish(child: ReturnType<Service['beside']>): Promise<[number | null, string]> {
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    output += text;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return [status, output];
}
