// Quota with its durable ledger, request rates, Runs in flight.
import t from 'tap';
import { skipOnRedis } from '../fixtures/test-stores.ts';
import { skipUnlessLong } from '../sweep.ts';
import { ALL_SCOPES, PICK, plan, template } from './catalog-folder.ts';
import { type Answer, type Client, pause, until } from './client.ts';
import { expectError, expectNew, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const HALF = 200;
const quota = (runs: number, period = 'month'): object => plan({ runs_per_period: runs, period });
const two = { scopes: ALL_SCOPES };
const service = await startService(t, {
  plans: {
    two: quota(2),
    none: quota(0),
    daily: quota(0, 'day'),
    single: plan({ runs_in_flight_max: 1 }),
    pair: plan({ runs_in_flight_max: 2, runs_per_period: 3 }),
    rated: plan({
      rate_limits: {
        list_templates: { requests: 2, window_seconds: 4 },
        get_run: { requests: 3, window_seconds: 60 },
        get_run_output: { requests: 1, window_seconds: 60 },
      },
    }),
    hourly: plan({ rate_limits: { create_run: { requests: 2, window_seconds: 7200 } } }),
  },
  accounts: {
    ledger: { plan: 'two', keys: { full: two, second: two } },
    fresh: { plan: 'two' },
    reserve: { plan: 'two' },
    'first-of-month': { plan: 'none', startedAt: '2026-01-01T00:00:00Z' },
    'last-of-month': { plan: 'none', startedAt: '2026-01-31T00:00:00Z' },
    daily: { plan: 'daily', startedAt: '2026-01-31T00:00:00Z' },
    single: { plan: 'single', keys: { full: two, second: two } },
    pair: { plan: 'pair', templates: { pick: PICK, all: template([]) } },
    free: {},
    rated: { plan: 'rated', keys: { full: two, second: two } },
    rated2: { plan: 'rated' },
    hourly: { plan: 'hourly' },
  },
});
const upload = (client: Client, key?: string): Promise<Answer> =>
  client.upload('pick', [file(CSV)], key === undefined ? {} : { key });

function hold(client: Client, key?: string): ReturnType<Client['hold']> {
  const held = client.hold('pick', [file(CSV)], HALF, key === undefined ? {} : { key });
  held.answer.catch(() => {});
  return held;
}

/** Start of the next month's period that begins on `day`, or on the month's last day where it is shorter. */
function nextPeriod(day: number): string {
  const now = new Date();
  for (let months = 0; ; months++) {
    const year = now.getUTCFullYear();
    const month = now.getUTCMonth() + months;
    const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const start = new Date(Date.UTC(year, month, Math.min(day, last)));
    if (start > now) return start.toISOString();
  }
}

t.test('402 carries quota: used, limit, resets_at', async (t) => {
  const client = service.client('fresh');
  for (let count = 0; count < 2; count++) expectNew(t, await upload(client));
  const answer = await upload(client);
  expectError(t, answer, 402, 'EXPORT_LIMIT_REACHED');
  const body = answer.json['quota'] as { used: number; limit: number; resets_at: string };
  t.strictSame([body.used, body.limit], [2, 2]);
  t.equal(new Date(body.resets_at).toISOString(), nextPeriod(31));
  t.equal(answer.headers['retry-after'], undefined);
});

for (const [account, day] of [
  ['first-of-month', 1],
  ['last-of-month', 31],
] as const) {
  t.test(`a period that started on the ${day}. ends there, or on the last day of a shorter month`, async (t) => {
    const answer = await upload(service.client(account));
    expectError(t, answer, 402, 'EXPORT_LIMIT_REACHED');
    const { resets_at: resetsAt } = answer.json['quota'] as { resets_at: string };
    t.equal(new Date(resetsAt).toISOString(), nextPeriod(day));
  });
}

t.test('a period of a day ends at the next midnight UTC', async (t) => {
  const answer = await upload(service.client('daily'));
  const { resets_at: resetsAt } = answer.json['quota'] as { resets_at: string };
  const midnight = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString();
  t.equal(new Date(resetsAt).toISOString(), midnight);
});

t.test('an exhausted quota leaves every other operation', async (t) => {
  const client = service.client('ledger');
  const first = await upload(client, 'kept');
  expectNew(t, first);
  expectNew(t, await upload(client));
  expectError(t, await upload(client), 402, 'EXPORT_LIMIT_REACHED');
  expectError(t, await upload(service.client('ledger', 'second')), 402, 'EXPORT_LIMIT_REACHED');
  for (const path of ['/api/v1/templates', `/api/v1/runs/${first.run.id}`, `/api/v1/runs/${first.run.id}/output`]) {
    t.equal((await client.get(path)).status, 200);
  }
});

t.test('a Run that is being uploaded is reserved, and released when its client vanishes', async (t) => {
  const client = service.client('reserve');
  expectNew(t, await upload(client));
  const held = await service.letIn(() => hold(client), { account: 'reserve' });
  const answer = await upload(client);
  expectError(t, answer, 402, 'EXPORT_LIMIT_REACHED');
  t.match(answer.json, { quota: { used: 2, limit: 2 } });
  held.vanish();
  expectNew(
    t,
    await until(
      () => upload(client),
      ({ status }) => status === 201,
    ),
  );
});

t.test('CONCURRENCY_LIMIT_REACHED: an upload counts, every key of the account, create_run alone', async (t) => {
  const client = service.client('single');
  const done = await upload(client);
  const held = await service.letIn(() => hold(client), { account: 'single' });
  expectError(t, await upload(client), 429, 'CONCURRENCY_LIMIT_REACHED');
  expectError(t, await upload(service.client('single', 'second')), 429, 'CONCURRENCY_LIMIT_REACHED');
  expectNew(t, await upload(service.client('free')));
  for (const path of ['/api/v1/templates', `/api/v1/runs/${done.run.id}`, `/api/v1/runs/${done.run.id}/output`]) {
    t.equal((await client.get(path)).status, 200);
  }
  expectNew(t, await held.finish());
  expectNew(t, await upload(client));
});

t.test('a slot comes back from a refusal and from a client that vanishes', async (t) => {
  const client = service.client('single');
  for (const text of ['', 'x,y\n1,2\n', '%PDF-1.7\n']) {
    t.ok((await client.upload('pick', [file(text)])).status >= 400);
    expectNew(t, await upload(client));
  }
  const held = await service.letIn(() => hold(client), { account: 'single' });
  held.vanish();
  expectNew(
    t,
    await until(
      () => upload(client),
      ({ status }) => status === 201,
    ),
  );
});

t.test('order: 402 before 429 in flight, 429 in flight before the body', async (t) => {
  const client = service.client('pair');
  const held = await service.letIn(() => [hold(client), hold(client)], { account: 'pair', uploads: 2 });
  expectError(t, await client.upload('pick', [file('')]), 429, 'CONCURRENCY_LIMIT_REACHED');
  for (const one of held) expectNew(t, await one.finish());
  const last = await service.letIn(() => hold(client), { account: 'pair' });
  expectError(t, await upload(client), 402, 'EXPORT_LIMIT_REACHED');
  expectNew(t, await last.finish());
});

t.test('RATE_LIMITED: as many as the window holds pass at once, the next one is told when', async (t) => {
  const client = service.client('hourly');
  for (let count = 0; count < 2; count++) expectNew(t, await upload(client));
  const answer = await upload(client);
  expectError(t, answer, 429, 'RATE_LIMITED');
  const seconds = Number(answer.headers['retry-after']);
  t.ok(seconds > 3500 && seconds <= 3600, `one of two in 7200 s comes back after 3600 s: ${seconds}`);
});

t.test('what is refused by the rate uses no rate: the time to wait grows no longer', async (t) => {
  const client = service.client('hourly');
  for (let count = 0; count < 5; count++) await upload(client);
  const answer = await upload(client);
  t.ok(Number(answer.headers['retry-after']) <= 3600);
});

t.test('the bucket fills one by one: after Retry-After one passes, the next does not', async (t) => {
  const client = service.client('rated');
  const list = (): Promise<Answer> => client.get('/api/v1/templates');
  t.strictSame([(await list()).status, (await list()).status], [200, 200]);
  /** Statuses of two requests after Retry-After; null on a busy machine, where another one may pass meanwhile. */
  const afterWait = async (): Promise<number[] | null> => {
    const [refused, begun] = await until(
      async () => [await list(), performance.now()] as const,
      ([{ status }]) => status === 429,
    );
    expectError(t, refused, 429, 'RATE_LIMITED');
    const milliseconds = Number(refused.headers['retry-after']) * 1000;
    await pause(milliseconds);
    const statuses = [(await list()).status, (await list()).status];
    // Retry-After is rounded up to a second, and one more passes every two seconds.
    return performance.now() - begun < milliseconds + 900 ? statuses : null;
  };
  t.strictSame(await until(afterWait, (statuses) => statuses !== null), [200, 429]);
});

t.test('the rate is counted per operation and per account, over all keys', async (t) => {
  const client = service.client('rated');
  const { run } = await upload(client);
  const output = `/api/v1/runs/${run.id}/output`;
  t.equal((await client.get(output)).status, 200);
  expectError(t, await client.get(output), 429, 'RATE_LIMITED');
  expectError(t, await service.client('rated', 'second').get(output), 429, 'RATE_LIMITED');
  t.equal((await client.get(`/api/v1/runs/${run.id}`)).status, 200, 'another operation');
  t.equal((await service.client('rated2').get('/api/v1/templates')).status, 200, 'another account');
});

t.test('429 of get_run comes before its 404, HEAD counts', async (t) => {
  const client = service.client('rated2');
  for (let count = 0; count < 3; count++) t.equal((await client.request('HEAD', '/api/v1/runs/unknown')).status, 404);
  expectError(t, await client.get('/api/v1/runs/unknown'), 429, 'RATE_LIMITED');
});

t.test(
  'kill -9: committed charges stay, reserved ones go, Runs are lost',
  { skip: skipOnRedis || skipUnlessLong },
  async (t) => {
    const client = service.client('ledger');
    const lost = await upload(service.client('free'));
    const free = service.client('free');
    const held = await service.letIn(() => [hold(free, 'a'), hold(free, 'b')], { account: 'free', uploads: 2 });
    await service.crash();
    for (const one of held) one.vanish();
    expectError(t, await service.client('free').get(`/api/v1/runs/${lost.run.id}`), 404, 'RUN_NOT_FOUND');
    expectError(t, await service.client('free').get(`/api/v1/runs/${lost.run.id}/output`), 404, 'RUN_NOT_FOUND');
    const refused = await upload(service.client('ledger'));
    expectError(t, refused, 402, 'EXPORT_LIMIT_REACHED');
    t.match(refused.json, { quota: { used: 2, limit: 2 } });
    t.not(client.port, service.client('ledger').port, 'is another start');
  },
);

t.test(
  'kill -9 in an upload: the reservation is gone after the start',
  { skip: skipOnRedis || skipUnlessLong },
  async (t) => {
    service.catalog.writeAccount('half', { plan: 'two' });
    service.catalog.writeTemplate('half', 'pick', PICK);
    service.signal('SIGHUP');
    await until(
      () => upload(service.client('half'), 'one'),
      ({ status }) => status === 201,
    );
    const held = await service.letIn(() => hold(service.client('half'), 'two'), { account: 'half' });
    await service.crash();
    held.vanish();
    expectNew(t, await upload(service.client('half')));
    const refused = await upload(service.client('half'));
    t.match(refused.json, { error: 'EXPORT_LIMIT_REACHED', quota: { used: 2, limit: 2 } });
  },
);

t.test(
  'a request that is repeated after a restart makes a Run that is not charged again',
  { skip: skipOnRedis || skipUnlessLong },
  async (t) => {
    service.catalog.writeAccount('again', { plan: 'two' });
    service.catalog.writeTemplate('again', 'pick', PICK);
    service.signal('SIGHUP');
    const first = await until(
      () => upload(service.client('again'), 'same'),
      ({ status }) => status === 201,
    );
    await service.crash();
    const repeated = await upload(service.client('again'), 'same');
    expectNew(t, repeated, first);
    expectRun(t, repeated, 201, 'succeeded');
    expectNew(t, await upload(service.client('again'), 'else'));
    const refused = await upload(service.client('again'));
    t.match(refused.json, { error: 'EXPORT_LIMIT_REACHED', quota: { used: 2, limit: 2 } });
  },
);

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('ledger')]));
