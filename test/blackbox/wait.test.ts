// Runs that take longer than a POST waits: 202 and polling, failures found late, the time limit, clients that
// disconnect or are slow.
import t, { type Test } from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { type CatalogDescription, PICK, plan } from './catalog-folder.ts';
import { type Answer, type Client, pause, until } from './client.ts';
import { expectError, expectNew, expectReplay, expectRetryAfter, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';
import { SLOW, slowUpload } from './slow-run.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const WAIT = 250;
const ROWS = 12_000;
/** At work for seconds: a Run of these still runs when the requests after its 202 arrive. */
const LONG_ROWS = 30_000;
const templates = { slow: SLOW, pick: PICK };
const catalog: CatalogDescription = {
  plans: {
    single: plan({ runs_in_flight_max: 1 }),
    once: plan({ runs_per_period: 1 }),
    rows: plan({ rows_max: ROWS }),
  },
  accounts: {
    acme: { templates },
    other: { templates },
    single: { plan: 'single', templates },
    once: { plan: 'once', templates },
    rows: { plan: 'rows', templates },
  },
};
const service = await startService(t, catalog, { 'wait-ms': WAIT });
const acme = service.client();
const SLOW_PARTS = slowUpload(ROWS);
const LONG_PARTS = slowUpload(LONG_ROWS);

const read = (client: Client, answer: Answer): Promise<Answer> => client.get(`/api/v1/runs/${answer.run.id}`);
const ended = (client: Client, answer: Answer): Promise<Answer> =>
  until(
    () => read(client, answer),
    ({ run }) => run.status !== 'running',
  );

/** A Run that is still at work. Without one the case says nothing, so it fails. */
async function startSlow(t: Test, client: Client, key?: string): Promise<Answer> {
  const answer = await client.upload('slow', LONG_PARTS, key === undefined ? {} : { key });
  expectRun(t, answer, 202, 'running');
  return answer;
}

/** The account has a free slot: a small Run is made, and succeeds. On a busy machine it may take longer than a POST waits. */
async function expectSlot(t: Test, client: Client): Promise<void> {
  const made = await client.upload('pick', [file(CSV)]);
  t.ok([201, 202].includes(made.status), made.text);
  expectRun(t, await ended(client, made), 200, 'succeeded');
}

t.test('202 with Location and Retry-After, then GET until it is done', async (t) => {
  const answer = await startSlow(t, acme);
  t.equal(answer.headers['retry-after'], '1', 'one second at first');
  t.equal(answer.headers['idempotent-replayed'], undefined);
  t.match(answer.run, { template_id: 'slow', truncated: false });
  const location = String(answer.headers.location);
  const running = await acme.get(location);
  expectRun(t, running, 200, 'running');
  const output = await acme.get(`${location}/output`);
  expectError(t, output, 404, 'RUN_NOT_FOUND');
  expectRetryAfter(t, output);
  t.match(output.json['message'], /not finished/, 'the Run is there');
  const unknown = await acme.get(`/api/v1/runs/run_${'a'.repeat(26)}`);
  expectError(t, await service.client('other').get(location), 404, 'RUN_NOT_FOUND');
  t.equal((await service.client('other').get(location)).json['message'], unknown.json['message']);
  const done = await ended(acme, answer);
  expectRun(t, done, 200, 'succeeded');
  t.equal(done.run.rows_written, LONG_ROWS);
  t.equal(done.run.created_at, answer.run.created_at);
  t.equal((await acme.get(`${location}/output`)).body.length, done.run.output?.size_bytes);
});

t.test('a repeat of a running Run: 202 as a replay, 200 when it is done; one charge, no slot', async (t) => {
  const client = service.client('once');
  const answer = await startSlow(t, client, 'running');
  const again = await client.upload('slow', LONG_PARTS, { key: 'running' });
  expectReplay(t, again, answer, 202);
  expectRun(t, again, 202, 'running');
  const refused = await client.upload('pick', [file(CSV)]);
  expectError(t, refused, 402, 'EXPORT_LIMIT_REACHED');
  t.match(refused.json, { quota: { used: 1, limit: 1 } });
  expectError(t, await client.upload('pick', [file(CSV)], { key: 'running' }), 409, 'IDEMPOTENCY_KEY_REUSED');
  const other = await client.upload('slow', slowUpload(10), { key: 'running' });
  expectError(t, other, 409, 'IDEMPOTENCY_KEY_REUSED');
  await ended(client, answer);
  expectReplay(t, await client.upload('slow', LONG_PARTS, { key: 'running' }), answer);
});

t.test('a running Run holds its slot after the 202, and gives it back', async (t) => {
  const client = service.client('single');
  const answer = await startSlow(t, client);
  expectError(t, await client.upload('pick', [file(CSV)]), 429, 'CONCURRENCY_LIMIT_REACHED');
  await ended(client, answer);
  await expectSlot(t, client);
});

for (const [what, account, rows, tail, status, code] of [
  ['a row too many', 'rows', ROWS + 1, '', 413, 'ROW_LIMIT_EXCEEDED'],
  ['an unterminated quote', 'acme', ROWS, '1,"open\n', 400, 'MALFORMED_FILE'],
] as const) {
  t.test(`${what} found after the 202: the Run ends failed with ${code} and is replayed`, async (t) => {
    const client = service.client(account);
    const parts = slowUpload(rows, tail);
    const answer = await client.upload('slow', parts, { key: `late-${code}` });
    if (answer.status !== 202) return expectError(t, answer, status, code);
    const done = await ended(client, answer);
    expectRun(t, done, 200, 'failed');
    t.equal(done.run.error?.code, code);
    const output = await client.get(`/api/v1/runs/${answer.run.id}/output`);
    expectError(t, output, 404, 'RUN_NOT_FOUND');
    t.match(output.json['message'], /has failed/);
    expectReplay(t, await client.upload('slow', parts, { key: `late-${code}` }), answer);
  });
}

t.test('the wait counts from the last byte, created_at too', async (t) => {
  let finished = 0;
  const upload = async (): Promise<Answer> => {
    const held = acme.hold('pick', [file(CSV)], -20);
    await pause(WAIT * 4);
    finished = Date.now();
    return held.finish();
  };
  // On a busy machine a Run may take longer than the wait. If the wait counted from the first byte, each answer would be a 202.
  const answer = await until(upload, ({ status }) => status === 201);
  expectNew(t, answer);
  t.ok(Date.parse(answer.run.created_at) >= finished - 50, 'created when its body was complete');
});

t.test(
  'a repeat that waits for a first that goes on uploading: 503 after the wait, the first is not disturbed',
  async (t) => {
    const client = service.client('other');
    const hold = () => client.hold('pick', [file(CSV)], 200, { key: 'joined' });
    // Where it has been let in, so has its key.
    const first = await service.letIn(hold, { account: 'other' });
    const joined = await client.upload('pick', [file(CSV)], { key: 'joined' });
    expectError(t, joined, 503, 'SERVER_BUSY');
    const made = await first.finish();
    // A busy machine may need longer than the wait for the Run too.
    t.ok([201, 202].includes(made.status), made.text);
    t.equal(made.headers['idempotent-replayed'], undefined, 'is no replay');
    expectRun(t, await ended(client, made), 200, 'succeeded');
    expectReplay(t, await client.upload('pick', [file(CSV)], { key: 'joined' }), made);
  },
);

t.test('a client without a key that vanishes in the wait: its Run is cancelled, its slot is back', async (t) => {
  const client = service.client('single');
  const held = await service.letIn(() => client.hold('slow', SLOW_PARTS, -1), { account: 'single' });
  held.answer.catch(() => {});
  void held.finish().catch(() => {});
  // Its last byte has come by then; nothing shows it.
  await pause(100);
  held.vanish();
  const made = await until(
    () => client.upload('pick', [file(CSV)]),
    ({ status }) => status !== 429,
  );
  t.ok([201, 202].includes(made.status), made.text);
  expectRun(t, await ended(client, made), 200, 'succeeded');
});

t.test('a client with a key that vanishes in the wait: its Run goes on and is replayed', async (t) => {
  let again: Answer | null = null;
  // The test cannot see when the last byte has arrived and when the disconnect is noticed: a busy machine needs longer.
  for (
    let milliseconds = 100;
    again?.headers['idempotent-replayed'] !== 'true' && milliseconds < 60_000;
    milliseconds *= 4
  ) {
    const key = `comes-back-${milliseconds}`;
    const held = await service.letIn(() => acme.hold('slow', SLOW_PARTS, -1, { key }));
    held.answer.catch(() => {});
    void held.finish().catch(() => {});
    await pause(milliseconds);
    held.vanish();
    await pause(milliseconds);
    again = await acme.upload('slow', SLOW_PARTS, { key });
  }
  if (again === null) throw new Error('nothing was sent');
  t.ok([200, 202].includes(again.status), `replays: ${again.status}`);
  t.equal(again.headers['idempotent-replayed'], 'true');
  expectRun(t, await ended(acme, again), 200, 'succeeded');
});

t.test(
  'a body that is not complete in --upload-timeout-ms is cut, its slot is back',
  { skip: skipUnlessLong },
  async (t) => {
    const brief = await startService(t, catalog, { 'upload-timeout-ms': 1500 });
    const client = brief.client('single');
    const held = client.hold('pick', [file(CSV)], 200);
    const trickle = setInterval(() => held.send(Buffer.from('x')), 100);
    const answer = await held.answer.catch(() => null);
    clearInterval(trickle);
    if (answer !== null) expectError(t, answer, 400, 'MALFORMED_FILE');
    const next = await until(
      // On a busy machine this upload may not be complete in time either.
      () => client.upload('pick', [file(CSV)]).catch(() => null),
      (made) => made?.status === 201,
    );
    t.equal(next?.status, 201, 'the slot is back');
  },
);

t.test(
  'RUN_TIMEOUT while the POST waits: 201 failed, not charged, the next equal request makes a new Run',
  { skip: skipUnlessLong },
  async (t) => {
    const strict = await startService(t, catalog, { 'run-timeout-ms': 300 });
    const client = strict.client('once');
    const answer = await client.upload('slow', SLOW_PARTS, { key: 'late' });
    expectRun(t, answer, 201, 'failed');
    t.equal(answer.run.error?.code, 'RUN_TIMEOUT');
    const lasted = Date.parse(String(answer.run.completed_at)) - Date.parse(answer.run.created_at);
    t.ok(lasted >= 290, `ran for its time: ${lasted} ms`);
    expectRun(t, await read(client, answer), 200, 'failed');
    expectError(t, await client.get(`/api/v1/runs/${answer.run.id}/output`), 404, 'RUN_NOT_FOUND');
    const again = await client.upload('slow', SLOW_PARTS, { key: 'late' });
    expectNew(t, again, answer);
    t.equal(again.run.error?.code, 'RUN_TIMEOUT');
    expectError(t, await client.upload('slow', slowUpload(1), { key: 'late' }), 409, 'IDEMPOTENCY_KEY_REUSED');
    const succeeded = ({ run }: Answer): boolean => run.status === 'succeeded';
    const charged = await until(() => client.upload('pick', [file(CSV)]), succeeded);
    t.equal(
      charged.run.status,
      'succeeded',
      'the time limit of this service holds for small Runs behind slow ones too',
    );
    expectError(t, await client.upload('slow', SLOW_PARTS, { key: 'late' }), 402, 'EXPORT_LIMIT_REACHED');
  },
);

t.test('RUN_TIMEOUT after the 202: the Run ends failed', { skip: skipUnlessLong }, async (t) => {
  const strict = await startService(t, catalog, { 'run-timeout-ms': 1500, 'wait-ms': 100 });
  const client = strict.client();
  // On a busy machine the time of the Run may be over before the wait is noticed to be: the POST answers with the failed Run.
  const late = (): Promise<Answer> => client.upload('slow', LONG_PARTS, { key: 'late' });
  const answer = await until(late, ({ status }) => status === 202);
  expectRun(t, answer, 202, 'running');
  const done = await ended(client, answer);
  expectRun(t, done, 200, 'failed');
  t.equal(done.run.error?.code, 'RUN_TIMEOUT');
  const again = await late();
  t.ok([201, 202].includes(again.status), 'starts anew');
  t.not(again.run.id, answer.run.id);
  t.equal(again.headers['idempotent-replayed'], undefined);
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
