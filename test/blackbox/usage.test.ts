// Responses about the usage and the limits of an account.
import t from 'tap';
import { PICK, plan } from './catalog-folder.ts';
import { expectError } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const FILE = 'id,amount\n1,2\n';
const ROWS = 20_000;
const templates = { pick: PICK };
const service = await startService(t, {
  plans: {
    small: plan({ runs_per_period: 3, runs_in_flight_max: 2, rows_max: ROWS, output_rows_max: 4 }),
    rated: plan({ rate_limits: { get_usage: { requests: 1, window_seconds: 3600 } } }),
  },
  accounts: {
    acme: { plan: 'small', startedAt: '2026-01-01T00:00:00Z', templates },
    free: { templates },
    rated: { plan: 'rated', templates },
    unpaid: { plan: null },
    keys: { keys: { write: { scopes: ['runs:write', 'templates:read'] }, read: { scopes: ['runs:read'] } } },
  },
});

const PATH = '/api/v1/usage';

t.test('used, limit, the next period, Runs in flight and ceilings', async (t) => {
  const client = service.client();
  const empty = await client.get(PATH);
  t.equal(empty.status, 200);
  const now = new Date();
  t.strictSame(empty.json, {
    used: 0,
    limit: 3,
    resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString(),
    runs_in_flight: 0,
    ceilings: {
      runs_in_flight_max: 2,
      upload_bytes_max: 64 * 1024 * 1024,
      inflated_bytes_max: 20 * 64 * 1024 * 1024,
      rows_max: ROWS,
      output_rows_max: 4,
      output_bytes_max: 20 * 64 * 1024 * 1024,
    },
  });
  t.equal((await client.upload('pick', [file(FILE)])).status, 201);
  t.match((await client.get(PATH)).json, { used: 1, runs_in_flight: 0 });
  const held = await service.letIn(() => client.hold('pick', [file(FILE)], -1));
  t.match((await client.get(PATH)).json, { used: 2, runs_in_flight: 1 }, 'a Run in flight is reserved');
  t.equal((await held.finish()).run.status, 'succeeded');
  t.match((await client.get(PATH)).json, { used: 2, runs_in_flight: 0 });
  t.equal((await client.upload('pick', [file('id\n1\n')])).status, 422);
  t.match((await client.get(PATH)).json, { used: 2, runs_in_flight: 0 }, 'what failed is not charged');
  t.equal((await client.upload('pick', [file(FILE)])).status, 201);
  const refused = await client.upload('pick', [file(FILE)]);
  expectError(t, refused, 402, 'EXPORT_LIMIT_REACHED');
  const { used, limit, resets_at } = (await client.get(PATH)).json;
  t.strictSame(refused.json['quota'], { used, limit, resets_at }, 'as the refusal tells it');
});

t.test('no limit is null, and each account sees its own', async (t) => {
  t.match((await service.client('free').get(PATH)).json, { used: 0, limit: null, runs_in_flight: 0 });
});

t.test('key, scope, subscription, rate and method are looked at as everywhere', async (t) => {
  expectError(t, await service.client().as().get(PATH), 401, 'API_KEY_MISSING');
  expectError(t, await service.client('keys', 'write').get(PATH), 403, 'INSUFFICIENT_SCOPE');
  t.equal((await service.client('keys', 'read').get(PATH)).status, 200);
  expectError(t, await service.client('unpaid').get(PATH), 403, 'NO_SUBSCRIPTION');
  expectError(t, await service.client().request('POST', PATH), 405, 'METHOD_NOT_ALLOWED');
  t.equal((await service.client('rated').get(PATH)).status, 200);
  const limited = await service.client('rated').get(PATH);
  expectError(t, limited, 429, 'RATE_LIMITED');
  t.ok(Number(limited.headers['retry-after']) > 0);
});

t.test('logs', (t) => checkLogs(t, service, [service.client().key ?? '']));
