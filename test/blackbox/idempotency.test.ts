// The Idempotency-Key: one key, one Run, one charge, whatever arrives in whatever order.
import t from 'tap';
import { ALL_SCOPES, PICK, plan, step, template } from './catalog-folder.ts';
import { type Answer, type Client, rawExchange, until } from './client.ts';
import { expectError, expectNew, expectReplay, expectRun } from './expect.ts';
import { field, file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const OTHER = 'id,amount,CanaryColumn\n001,1.51,CanaryCell\n';
const HALF = 200;
const FAILING = template([
  step('map_values', { columns: ['id'], map: { x: 'y' }, default: 'error', on_error: 'fail' }),
]);
const templates = { pick: PICK, second: PICK, failing: FAILING };
const service = await startService(t, {
  plans: {
    metered: plan({ runs_per_period: 3 }),
    once: plan({ runs_per_period: 1 }),
    single: plan({ runs_in_flight_max: 1 }),
    rated: plan({ rate_limits: { create_run: { requests: 3, window_seconds: 3600 } } }),
    tight: plan({ output_bytes_max: 10 }),
  },
  accounts: {
    acme: { templates, keys: { full: { scopes: ALL_SCOPES }, second: { scopes: ALL_SCOPES } } },
    other: { templates },
    metered: { plan: 'metered', templates },
    twenty: { plan: 'metered', templates },
    once: { plan: 'once', templates },
    single: { plan: 'single', templates },
    rated: { plan: 'rated', templates },
    tight: { plan: 'tight', templates },
  },
});
const acme = service.client();
const good = (client: Client, key: string): Promise<Answer> => client.upload('pick', [file(CSV)], { key });

t.test('without a key every request makes a Run', async (t) => {
  const first = await acme.upload('pick', [file(CSV)]);
  expectNew(t, await acme.upload('pick', [file(CSV)]), first);
});

t.test('a repeat of a finished Run: 200 with the same Run, as GET shows it', async (t) => {
  const first = await good(acme, 'repeat');
  expectNew(t, first);
  const again = await good(acme, 'repeat');
  expectReplay(t, again, first);
  t.strictSame(again.json, first.json);
  t.strictSame(again.json, (await acme.get(`/api/v1/runs/${first.run.id}`)).json);
});

t.test('boundary, order of parts, file name, type and API key are no part of the request', async (t) => {
  const parts = [file(CSV), field('delimiter', ','), field('header_row', '0')];
  const first = await acme.upload('pick', parts, { key: 'same' });
  expectNew(t, first);
  const renamed = file(CSV, { filename: 'Canary2.txt', type: 'application/octet-stream' });
  for (const again of [
    form(parts, { boundary: 'another' }),
    form([...parts].reverse()),
    form([renamed, ...parts.slice(1)]),
    form([field('ignored', 'Canary'), ...parts]),
  ]) {
    expectReplay(t, await acme.upload('pick', again, { key: 'same' }), first);
    expectReplay(t, await acme.upload('pick', again, { key: 'same', chunked: true }), first);
  }
  expectReplay(t, await service.client('acme', 'second').upload('pick', parts, { key: 'same' }), first);
});

t.test('another file, delimiter or header_row: 409, absent is a value', async (t) => {
  expectNew(t, await good(acme, 'differs'));
  for (const parts of [
    [file(OTHER)],
    [file(`${CSV}\n`)],
    [file(CSV), field('delimiter', ',')],
    [file(CSV), field('header_row', '0')],
  ]) {
    expectError(t, await acme.upload('pick', parts, { key: 'differs' }), 409, 'IDEMPOTENCY_KEY_REUSED');
  }
  t.equal((await good(acme, 'differs')).status, 200, 'and the first is still replayed');
});

t.test('another Template: 409 at once, before the body comes', async (t) => {
  expectNew(t, await good(acme, 'template'));
  const held = acme.hold('second', [file(CSV)], 10, { key: 'template' });
  expectError(t, await held.answer, 409, 'IDEMPOTENCY_KEY_REUSED');
  held.vanish();
});

t.test('another Template while the first is uploading: 409 at once', async (t) => {
  const first = await service.letIn(() => acme.hold('pick', [file(CSV)], HALF, { key: 'uploading-template' }));
  const held = acme.hold('second', [file(CSV)], 10, { key: 'uploading-template' });
  expectError(t, await held.answer, 409, 'IDEMPOTENCY_KEY_REUSED');
  held.vanish();
  expectNew(t, await first.finish());
});

t.test('a key belongs to its account', async (t) => {
  const mine = await good(acme, 'shared');
  expectNew(t, await good(service.client('other'), 'shared'), mine);
  expectNew(t, await service.client('other').upload('second', [file(OTHER)], { key: 'shared-2' }));
});

t.test('keys of 1 and 255 characters, with spaces and signs, case counts', async (t) => {
  for (const key of ['a', 'A', 'x'.repeat(255), 'two words', '~!"#$%&()*+,-./:;<=>?@[]^_`{|}', '"q"']) {
    const first = await good(acme, key);
    expectNew(t, first);
    expectReplay(t, await good(acme, key), first);
  }
});

t.test('a key that is empty, too long or not printable: INVALID_IDEMPOTENCY_KEY', async (t) => {
  for (const key of ['', 'x'.repeat(256), '\u00e9', 'a\tb', 'x'.repeat(300)]) {
    expectError(t, await good(acme, key), 422, 'INVALID_IDEMPOTENCY_KEY');
  }
});

t.test('two headers: INVALID_IDEMPOTENCY_KEY, equal or not', async (t) => {
  const { body, contentType } = form([file(CSV)]);
  for (const [one, two] of [
    ['a', 'b'],
    ['a', 'a'],
    ['', 'a'],
  ]) {
    const head = [
      'POST /api/v1/templates/pick/runs HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${acme.key}`,
      `Idempotency-Key: ${one}`,
      `Content-Type: ${contentType}`,
      `idempotency-key: ${two}`,
      `Content-Length: ${body.length}`,
    ].join('\r\n');
    const whole = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
    const { text } = await rawExchange(
      service.port,
      (socket) => socket.write(whole),
      (text) => text.includes('}'),
    );
    t.match(text, /HTTP\/1.1 422 [\s\S]*INVALID_IDEMPOTENCY_KEY/);
  }
});

t.test('a refusal frees the key', async (t) => {
  const refused: [Parameters<Client['upload']>[1], number][] = [
    [[file('')], 400],
    [[file('id\n1\n')], 422],
    [[file('%PDF-1.7\n')], 415],
    [[file(CSV), field('delimiter', '::')], 422],
    [form([file(CSV)], { closed: false }), 400],
  ];
  for (const [index, [parts, status]] of refused.entries()) {
    t.equal((await acme.upload('pick', parts, { key: `free-${index}` })).status, status);
    expectNew(t, await good(acme, `free-${index}`));
  }
});

t.test('a failed Run of TEMPLATE_ROW_ERROR is replayed', async (t) => {
  const first = await acme.upload('failing', [file(CSV)], { key: 'failed' });
  expectRun(t, first, 201, 'failed');
  t.equal(first.run.error?.code, 'TEMPLATE_ROW_ERROR');
  expectReplay(t, await acme.upload('failing', [file(CSV)], { key: 'failed' }), first);
});

t.test('after RUN_RESOURCE_LIMIT the next equal request makes a new Run', async (t) => {
  const tight = service.client('tight');
  const first = await good(tight, 'limit');
  expectRun(t, first, 201, 'failed');
  t.equal(first.run.error?.code, 'RUN_RESOURCE_LIMIT');
  const second = await good(tight, 'limit');
  expectNew(t, second, first);
  expectError(t, await tight.upload('pick', [file(OTHER)], { key: 'limit' }), 409, 'IDEMPOTENCY_KEY_REUSED');
});

t.test('a first that vanishes while it uploads leaves its key free', async (t) => {
  const before = await service.quotaUsed();
  const first = await service.letIn(() => acme.hold('pick', [file(OTHER)], HALF, { key: 'vanished' }));
  first.answer.catch(() => {});
  first.vanish();
  await until(
    () => service.quotaUsed(),
    (used) => used === before,
  );
  expectNew(t, await acme.upload('second', [file(CSV)], { key: 'vanished' }));
});

t.test('at most 32 wait for one key and node, more get 503', async (t) => {
  const first = await service.letIn(() => acme.hold('pick', [file(CSV)], HALF, { key: 'crowd' }));
  let answered = 0;
  const crowd = Array.from({ length: 32 * service.nodeCount + 8 }, () => good(acme, 'crowd'));
  for (const one of crowd) void one.then(() => (answered += 1));
  await until(
    async () => answered,
    (count) => count >= 8,
  );
  const made = await first.finish();
  const answers = await Promise.all(crowd);
  const busy = answers.filter(({ status }) => status === 503);
  t.equal(busy.length, 8);
  for (const answer of busy) expectError(t, answer, 503, 'SERVER_BUSY');
  for (const answer of answers.filter(({ status }) => status !== 503)) expectReplay(t, answer, made);
});

t.test('20 at once make one Run and one charge', async (t) => {
  const client = service.client('twenty');
  const answers = await Promise.all(Array.from({ length: 20 }, () => good(client, 'twenty')));
  t.strictSame(answers.map(({ status }) => status).sort(), [...Array.from({ length: 19 }, () => 200), 201]);
  t.equal(new Set(answers.map(({ run }) => run.id)).size, 1);
  for (let count = 0; count < 2; count++) expectNew(t, await client.upload('pick', [file(CSV)]));
  const refused = await client.upload('pick', [file(CSV)]);
  expectError(t, refused, 402, 'EXPORT_LIMIT_REACHED');
  t.match(refused.json, { quota: { used: 3, limit: 3 } });
});

t.test('replays are not charged and need no quota', async (t) => {
  const client = service.client('once');
  const first = await good(client, 'free');
  expectNew(t, first);
  expectError(t, await client.upload('pick', [file(CSV)]), 402, 'EXPORT_LIMIT_REACHED');
  for (let count = 0; count < 3; count++) expectReplay(t, await good(client, 'free'), first);
  expectError(t, await client.upload('pick', [file(OTHER)], { key: 'free' }), 409, 'IDEMPOTENCY_KEY_REUSED');
});

t.test('a failed Run and a refused request are not charged', async (t) => {
  const client = service.client('metered');
  for (let count = 0; count < 4; count++) {
    expectRun(t, await client.upload('failing', [file(CSV)]), 201, 'failed');
    expectError(t, await client.upload('pick', [file('id\n')]), 422, 'TEMPLATE_COLUMNS_MISSING');
  }
  for (let count = 0; count < 3; count++) expectNew(t, await client.upload('pick', [file(CSV)]));
  expectError(t, await client.upload('pick', [file(CSV)]), 402, 'EXPORT_LIMIT_REACHED');
});

t.test('replays need no free slot', async (t) => {
  const client = service.client('single');
  const first = await good(client, 'slot');
  const held = await service.letIn(() => client.hold('pick', [file(CSV)], HALF), { account: 'single' });
  expectError(t, await client.upload('pick', [file(CSV)]), 429, 'CONCURRENCY_LIMIT_REACHED');
  expectReplay(t, await good(client, 'slot'), first);
  expectNew(t, await held.finish());
});

t.test('a repeat that joins needs no slot of its own', async (t) => {
  const client = service.client('single');
  const hold = () => client.hold('pick', [file(CSV)], HALF, { key: 'join-slot' });
  const first = await service.letIn(hold, { account: 'single' });
  const joined = good(client, 'join-slot');
  await service.joined();
  const made = await first.finish();
  expectReplay(t, await joined, made);
});

t.test('the rate limit counts replays', async (t) => {
  const client = service.client('rated');
  const first = await good(client, 'rate');
  for (let count = 0; count < 2; count++) expectReplay(t, await good(client, 'rate'), first);
  expectError(t, await good(client, 'rate'), 429, 'RATE_LIMITED');
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
