// Access to the API: paths, methods, keys, scopes, subscriptions, request ids, the API description and health.
import t from 'tap';
import { skipOnRedis } from '../fixtures/test-stores.ts';
import { ALL_SCOPES } from './catalog-folder.ts';
import { rawExchange, until } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const DOWNLOAD_STATUSES = ['200', '206', '304', '401', '403', '404', '412', '416', '429'];
const service = await startService(t, {
  accounts: {
    acme: {
      keys: {
        full: { scopes: ALL_SCOPES },
        second: { scopes: ALL_SCOPES },
        templates: { scopes: ['templates:read'] },
        write: { scopes: ['runs:write'] },
        read: { scopes: ['runs:read'] },
        none: { scopes: [] },
        expired: { scopes: ALL_SCOPES, expires_at: '2026-01-02T00:00:00Z' },
        revoked: { scopes: ALL_SCOPES, revoked_at: '2026-01-02T00:00:00Z' },
        later: { scopes: ALL_SCOPES, expires_at: '2999-01-01T00:00:00Z' },
      },
    },
    other: {},
    idle: { active: false },
    unpaid: { plan: null, keys: { full: { scopes: ALL_SCOPES }, none: { scopes: [] } } },
  },
});
const acme = service.client();
const anyone = acme.as();
const done = await acme.upload('pick', [file(CSV)]);
const RUN = `/api/v1/runs/${done.run.id}`;
const RUNS = '/api/v1/templates/pick/runs';
const OPERATIONS: [string, string][] = [
  ['GET', '/api/v1/templates'],
  ['POST', RUNS],
  ['GET', RUN],
  ['GET', `${RUN}/output`],
];

t.test('no Authorization header: API_KEY_MISSING on every operation', async (t) => {
  for (const [method, path] of OPERATIONS) {
    const answer = await anyone.request(method, path);
    expectError(t, answer, 401, 'API_KEY_MISSING');
    t.equal(answer.headers['www-authenticate'], 'Bearer realm="template-run"');
  }
});

t.test('a scheme other than bearer: API_KEY_MISSING', async (t) => {
  for (const value of ['Basic dXNlcjpwYXNz', `Token ${acme.key}`, `${acme.key}`, `Bearerx ${acme.key}`]) {
    expectError(t, await anyone.get('/api/v1/templates', { authorization: value }), 401, 'API_KEY_MISSING');
  }
});

t.test('bearer in any case opens', async (t) => {
  for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
    const answer = await anyone.get('/api/v1/templates', { authorization: `${scheme} ${acme.key}` });
    t.equal(answer.status, 200);
  }
});

t.test('bearer with anything that is no live key: API_KEY_INVALID on every operation', async (t) => {
  for (const [method, path] of OPERATIONS) {
    const answer = await acme.as('trs_acme.1_0123456789').request(method, path);
    expectError(t, answer, 401, 'API_KEY_INVALID');
    t.equal(answer.headers['www-authenticate'], 'Bearer realm="template-run", error="invalid_token"');
  }
});

t.test('malformed keys: API_KEY_INVALID', async (t) => {
  for (const key of ['x', 'a b c', 'x'.repeat(2000), `${acme.key}x`, String(acme.key).slice(0, -1), '\u00e9']) {
    expectError(t, await acme.as(key).get('/api/v1/templates'), 401, 'API_KEY_INVALID');
  }
});

t.test('bearer with nothing after it: API_KEY_INVALID', async (t) => {
  expectError(t, await anyone.get('/api/v1/templates', { authorization: 'Bearer' }), 401, 'API_KEY_INVALID');
});

t.test('a revoked key, an expired key, a key of an inactive account: API_KEY_INVALID', async (t) => {
  for (const [account, key] of [
    ['acme', 'revoked'],
    ['acme', 'expired'],
    ['idle', 'full'],
  ] as const) {
    expectError(t, await service.client(account, key).get('/api/v1/templates'), 401, 'API_KEY_INVALID');
  }
});

t.test('several live keys of one account open, one that expires later too', async (t) => {
  for (const key of ['full', 'second', 'later']) {
    t.equal((await service.client('acme', key).get('/api/v1/templates')).status, 200);
  }
});

for (const [index, scope] of ['templates:read', 'runs:write', 'runs:read', 'runs:read'].entries()) {
  const [method, path] = OPERATIONS[index]!;
  t.test(`${method} ${index}: a key without ${scope} gets INSUFFICIENT_SCOPE`, async (t) => {
    const without = { 'templates:read': ['write', 'read'], 'runs:write': ['templates', 'read'] }[scope];
    for (const key of [...(without ?? ['templates', 'write']), 'none']) {
      const answer = await service.client('acme', key).request(method, path);
      expectError(t, answer, 403, 'INSUFFICIENT_SCOPE');
      const challenge = `Bearer realm="template-run", error="insufficient_scope", scope="${scope}"`;
      t.equal(answer.headers['www-authenticate'], challenge);
    }
  });
}

t.test('a key with just the scope of an operation may use it', async (t) => {
  t.equal((await service.client('acme', 'templates').get('/api/v1/templates')).status, 200);
  expectRun(t, await service.client('acme', 'write').upload('pick', [file(CSV)]), 201, 'succeeded');
  expectRun(t, await service.client('acme', 'read').get(RUN), 200, 'succeeded');
  t.equal((await service.client('acme', 'read').get(`${RUN}/output`)).status, 200);
});

t.test('an account without a subscription: NO_SUBSCRIPTION on every operation', async (t) => {
  for (const [method, path] of OPERATIONS) {
    const answer = await service.client('unpaid').request(method, path);
    expectError(t, answer, 403, 'NO_SUBSCRIPTION');
    t.equal(answer.headers['www-authenticate'], undefined, 'a key with more scopes would not help');
  }
});

t.test('the scope is checked before the subscription', async (t) => {
  expectError(t, await service.client('unpaid', 'none').get('/api/v1/templates'), 403, 'INSUFFICIENT_SCOPE');
});

t.test("another account's Run and its output are 404, word for word as if they did not exist", async (t) => {
  const unknown = `/api/v1/runs/run_${'a'.repeat(26)}`;
  for (const rest of ['', '/output']) {
    const theirs = await service.client('other').get(RUN + rest);
    const nobodys = await service.client('other').get(unknown + rest);
    expectError(t, theirs, 404, 'RUN_NOT_FOUND');
    t.strictSame({ ...theirs.json, request_id: '' }, { ...nobodys.json, request_id: '' });
    t.strictSame(Object.keys(theirs.headers).sort(), Object.keys(nobodys.headers).sort());
  }
});

t.test('a badly shaped Run id is the same 404', async (t) => {
  const unknown = await acme.get(`/api/v1/runs/run_${'a'.repeat(26)}`);
  for (const id of ['x', 'run_', '%00', '%2e%2e', 'run_%F0%9F%98%80', 'a'.repeat(500), '__proto__']) {
    const answer = await acme.get(`/api/v1/runs/${id}`);
    expectError(t, answer, 404, 'RUN_NOT_FOUND');
    t.equal(answer.json['message'], unknown.json['message']);
  }
});

t.test('an unknown path: 404 NOT_FOUND, with and without a key', async (t) => {
  for (const path of ['/index.html', '/api', '/api/v1', '/api/v1/nothing', '/api/v2/templates', `${RUN}/output/more`]) {
    expectError(t, await acme.get(path), 404, 'NOT_FOUND');
    expectError(t, await anyone.get(path), 404, 'NOT_FOUND');
  }
});

t.test('a wrong method: 405 METHOD_NOT_ALLOWED with Allow, before any key is asked for', async (t) => {
  for (const [path, allowed] of [
    ['/api/v1/templates', 'GET'],
    [RUNS, 'POST'],
    [RUN, 'GET'],
    [`${RUN}/output`, 'GET'],
  ] as const) {
    for (const method of ['DELETE', 'PUT', 'PATCH', allowed === 'GET' ? 'POST' : 'GET']) {
      const answer = await anyone.request(method, path);
      expectError(t, answer, 405, 'METHOD_NOT_ALLOWED');
      t.match(answer.headers.allow, new RegExp(`\\b${allowed}\\b`));
      t.notMatch(answer.headers.allow, new RegExp(`\\b${method}\\b`));
    }
  }
});

t.test('OPTIONS: 204 with Allow, without a key', async (t) => {
  for (const [method, path] of OPERATIONS) {
    const answer = await anyone.request('OPTIONS', path);
    t.equal(answer.status, 204);
    t.equal(answer.body.length, 0);
    t.match(answer.headers.allow, new RegExp(`\\b${method}\\b`));
    t.equal(/\bHEAD\b/.test(answer.headers.allow ?? ''), method === 'GET', 'HEAD wherever GET is');
  }
});

t.test('HEAD answers as GET does, without a body', async (t) => {
  for (const path of ['/api/v1/templates', RUN, `${RUN}/output`, '/api/v1/openapi.json']) {
    const head = await acme.request('HEAD', path);
    const get = await acme.get(path);
    t.equal(head.status, 200);
    t.equal(head.body.length, 0);
    t.equal(head.headers['content-type'], get.headers['content-type']);
    t.equal(head.headers['content-length'], get.headers['content-length'] ?? String(get.body.length));
  }
});

t.test('HEAD of what is refused: the status of GET, no body', async (t) => {
  const missing = await acme.request('HEAD', '/api/v1/runs/nothing');
  t.strictSame([missing.status, missing.body.length], [404, 0]);
  t.equal((await anyone.request('HEAD', '/api/v1/templates')).status, 401);
  t.equal((await anyone.request('HEAD', RUNS)).status, 405, 'create_run has no GET');
});

t.test('a query string changes nothing', async (t) => {
  t.equal((await acme.get('/api/v1/templates?page=2&x=%00')).status, 200);
  t.equal((await acme.get(`${RUN}?x`)).status, 200);
});

t.test('X-Request-Id of 1 to 64 of [A-Za-z0-9._-] is taken over, into every kind of answer', async (t) => {
  for (const id of ['a', 'Req.1_x-2', 'b'.repeat(64)]) {
    const headers = { 'x-request-id': id };
    for (const path of ['/api/v1/templates', RUN, `${RUN}/output`, '/nothing', '/api/v1/openapi.json', '/livez']) {
      t.equal((await acme.get(path, headers)).headers['x-request-id'], id, path);
    }
    t.equal((await anyone.get('/api/v1/templates', headers)).json['request_id'], id);
    t.equal((await acme.upload('pick', [file(CSV)], { headers })).headers['x-request-id'], id);
  }
  t.match(
    await until(
      async () => service.logs,
      (logs) => logs.includes('Req.1_x-2'),
    ),
    'Req.1_x-2',
    'is in the log',
  );
});

t.test('any other X-Request-Id is replaced by one that is made, another each time', async (t) => {
  const seen = new Set<string | string[] | undefined>();
  for (const id of ['', 'b'.repeat(65), 'a b', 'a/b', 'a;b', '"x"', '\u00e9']) {
    const made = (await acme.get('/api/v1/templates', { 'x-request-id': id })).headers['x-request-id'];
    t.match(made, /^[A-Za-z0-9._-]{1,64}$/);
    t.not(made, id);
    seen.add(made);
  }
  t.equal(seen.size, 7);
});

t.test('the API description: OpenAPI 3.1, version 1, without a key', async (t) => {
  const answer = await anyone.get('/api/v1/openapi.json');
  t.equal(answer.status, 200);
  t.match(answer.json['openapi'], /^3\.1\./);
  t.match(answer.json, { info: { version: '1' } });
  const declared: [string, string, string, string[]][] = [
    ['/templates', 'get', 'list_templates', ['200', '401', '403', '429']],
    [
      '/templates/{template_id}/runs',
      'post',
      'create_run',
      ['200', '201', '202', '400', '401', '402', '403', '404', '409', '413', '415', '422', '429', '503', '500'],
    ],
    ['/runs/{run_id}', 'get', 'get_run', ['200', '401', '403', '404', '429']],
    ['/runs/{run_id}/output', 'get', 'get_run_output', DOWNLOAD_STATUSES],
    ['/runs/{run_id}/rejects', 'get', 'get_run_rejects', DOWNLOAD_STATUSES],
    ['/usage', 'get', 'get_usage', ['200', '401', '403', '429', '503']],
  ];
  for (const [path, method, operation, statuses] of declared) {
    const paths = answer.json['paths'] as Record<string, Record<string, { operationId: string; responses: object }>>;
    const entry = (paths[`/api/v1${path}`] ?? paths[path])?.[method];
    t.equal(entry?.operationId, operation);
    for (const status of statuses) t.ok(status in (entry?.responses ?? {}), `${operation} declares ${status}`);
  }
});

t.test('the API description names every code and the security scheme', async (t) => {
  const answer = await anyone.get('/api/v1/openapi.json');
  const codes =
    'MALFORMED_FILE API_KEY_MISSING API_KEY_INVALID EXPORT_LIMIT_REACHED INSUFFICIENT_SCOPE NO_SUBSCRIPTION ' +
    'TEMPLATE_NOT_FOUND RUN_NOT_FOUND IDEMPOTENCY_KEY_REUSED FILE_TOO_LARGE ROW_LIMIT_EXCEEDED ' +
    'UNSUPPORTED_FILE_TYPE INVALID_PARSE_PARAMS INVALID_IDEMPOTENCY_KEY TEMPLATE_COLUMNS_MISSING ' +
    'CONCURRENCY_LIMIT_REACHED RATE_LIMITED SERVER_BUSY RUN_INTERRUPTED RUN_TIMEOUT RUN_RESOURCE_LIMIT ' +
    'TEMPLATE_ROW_ERROR TEMPLATE_TOO_MANY_ERRORS TEMPLATE_CHECK_FAILED INTERNAL_ERROR RANGE_NOT_SATISFIABLE PRECONDITION_FAILED ' +
    'NOT_FOUND METHOD_NOT_ALLOWED';
  for (const code of codes.split(' ')) t.match(answer.text, new RegExp(`"${code}"|\\b${code}\\b`), code);
  const schemes = (answer.json['components'] as { securitySchemes: Record<string, object> }).securitySchemes;
  t.match(Object.values(schemes), [{ type: 'http', scheme: 'bearer' }]);
});

t.test('/livez, /readyz and /metrics answer without a key', async (t) => {
  t.equal((await anyone.get('/livez')).status, 200);
  t.equal((await anyone.get('/readyz')).status, 200);
  const metrics = await anyone.get('/metrics');
  t.equal(metrics.status, 200);
  t.match(metrics.headers['content-type'], /^text\/plain/);
  t.match(metrics.text, /^# TYPE \w+ (counter|gauge|histogram)$/m);
  t.notMatch(metrics.text, /canary/i, 'hold nothing of an upload');
});

t.test('one connection carries many requests', { skip: skipOnRedis }, async (t) => {
  const head = `GET /api/v1/templates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${acme.key}\r\n\r\n`;
  const answers = (text: string): number => text.split('HTTP/1.1 200').length - 1;
  const { text } = await rawExchange(
    service.port,
    (socket) => socket.write(head.repeat(3)),
    (text) => answers(text) === 3,
  );
  t.equal(answers(text), 3);
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme'), service.catalog.key('acme', 'read')]));
