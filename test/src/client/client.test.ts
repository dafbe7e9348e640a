// The requests of the client, and its reactions to responses: the rules of docs/how-to/send-files.md one by one, with scripted
// responses. faults.test.ts tests all rules together on faulty connections.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import {
  type ClientSettings,
  type Progress,
  type Run,
  RunFailedError,
  TemplateRunClient,
  TemplateRunError,
} from '../../../src/client/node/template-run-client.ts';
import { delayMilliseconds } from '../../../src/client/retries.ts';
import { FaultProxy } from '../../fixtures/fault-proxy.ts';
import { refusal, runAnswer, type ScriptedAnswer, ScriptedService } from './scripted-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-run-client-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const FILE = Buffer.from('id,amount\n1,2\n');
const OUTPUT = 'id,total\n1,2\n';
const DIGEST = createHash('sha256').update(OUTPUT).digest('base64');
const OUTPUT_HEADERS = { etag: '"run_1"', 'repr-digest': `sha-256=:${DIGEST}:` };

async function scripted(t: Test, answers: readonly ScriptedAnswer[], settings: Partial<ClientSettings> = {}) {
  const service = await ScriptedService.open(t, answers);
  const client = new TemplateRunClient({ baseUrl: service.url, apiKey: 'trs_key', ...settings });
  t.teardown(() => client.close());
  return { service, client };
}

async function errorOf(promise: Promise<unknown>): Promise<TemplateRunError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof TemplateRunError) return error;
  throw new Error('no TemplateRunError', { cause: error });
}

t.test('one key and the same bytes for all tries, until the Run has succeeded', async (t) => {
  const { service, client } = await scripted(t, [
    refusal(503, 'SERVER_BUSY'),
    { status: 502, body: '<html>a proxy</html>' },
    refusal(500, 'INTERNAL_ERROR'),
    runAnswer(201, { status: 'failed', error: { code: 'RUN_INTERRUPTED', message: 'The service stopped.' } }),
    runAnswer(202, { status: 'running' }),
    refusal(404, 'RUN_NOT_FOUND'),
    runAnswer(200, {}),
  ]);
  t.equal((await client.run('a b', FILE, { delimiter: ';', headerRow: 2 })).status, 'succeeded');
  const posts = service.asked.filter(({ line }) => line.startsWith('POST'));
  t.equal(posts.length, 6);
  t.strictSame(new Set(posts.map(({ line }) => line)), new Set(['POST /api/v1/templates/a%20b/runs']));
  t.equal(new Set(posts.map(({ headers }) => headers['idempotency-key'])).size, 1, 'one key');
  t.match(posts[0]!.headers['idempotency-key'], /^[0-9a-f-]{36}$/);
  t.equal(posts[0]!.headers.authorization, 'Bearer trs_key');
  for (const { body } of posts) t.ok(body.includes(`\r\n\r\n${FILE}\r\n`), 'the whole file');
  t.match(posts[0]!.body, /name="delimiter"\r\n\r\n;\r\n[\s\S]*name="header_row"\r\n\r\n2\r\n/);
  t.ok(service.asked.some(({ line }) => line === 'GET /api/v1/runs/run_1'));
});

t.test('an error that stays is not tried again, and tells all that the service said', async (t) => {
  const quota = { used: 3, limit: 3, resets_at: '2026-12-01T00:00:00.000Z' };
  const cases: readonly (readonly [number, string, object])[] = [
    [401, 'API_KEY_INVALID', {}],
    [402, 'EXPORT_LIMIT_REACHED', { quota }],
    [404, 'TEMPLATE_NOT_FOUND', {}],
    [409, 'IDEMPOTENCY_KEY_REUSED', {}],
    [413, 'FILE_TOO_LARGE', {}],
    [422, 'TEMPLATE_COLUMNS_MISSING', { columns: ['amount'] }],
  ];
  for (const [status, code, more] of cases) {
    const { service, client } = await scripted(t, [refusal(status, code, more)]);
    const error = await errorOf(client.run('pick', FILE));
    t.match(error, { status, code, requestId: 'r-1', retryAfter: null, message: `It is ${code}.`, ...more }, code);
    t.equal(service.asked.length, 1, `${code} was asked once`);
  }
});

t.test('usage is asked for as all else', async (t) => {
  const usage = { used: 3, limit: null, resets_at: '2026-12-01T00:00:00.000Z', runs_in_flight: 1, ceilings: {} };
  const { service, client } = await scripted(t, [
    refusal(503, 'SERVER_BUSY'),
    { status: 200, body: JSON.stringify(usage) },
  ]);
  t.strictSame(await client.usage(), usage);
  t.strictSame(
    service.asked.map(({ line }) => line),
    ['GET /api/v1/usage', 'GET /api/v1/usage'],
  );
  const other = await scripted(t, [{ status: 200, body: '{}' }]);
  t.match(await errorOf(other.client.usage()), { code: 'UNEXPECTED_ANSWER' });
});

t.test('a Run that failed by its file is not made again', async (t) => {
  const error = { code: 'TEMPLATE_ROW_ERROR', message: 'Row 3.' };
  const { service, client } = await scripted(t, [runAnswer(201, { status: 'failed', error })]);
  const thrown = await errorOf(client.run('pick', FILE));
  t.ok(thrown instanceof RunFailedError && thrown.run.id === 'run_1');
  t.match(thrown, { code: 'TEMPLATE_ROW_ERROR', message: 'Row 3.', status: null });
  t.equal(service.asked.length, 1);
});

t.test(
  'Retry-After is the floor, full jitter comes on top, and a wait that is too long is left to the caller',
  async (t) => {
    t.equal(
      delayMilliseconds(1, 7, () => 0),
      7000,
    );
    t.equal(
      delayMilliseconds(3, null, () => 0.5),
      500,
    );
    t.equal(delayMilliseconds(40, null, () => 0.999) < 20_000, true);
    const { service, client } = await scripted(t, [refusal(429, 'RATE_LIMITED', {}, { 'retry-after': '3600' })]);
    t.match(await errorOf(client.templates()), { code: 'RATE_LIMITED', retryAfter: 3600 });
    t.equal(service.asked.length, 1);
    const few = await scripted(t, [refusal(503, 'SERVER_BUSY')], { retries: 2 });
    t.match(await errorOf(few.client.templates()), { code: 'SERVER_BUSY', status: 503 });
    t.equal(few.service.asked.length, 3, 'the first try and two repeats');
  },
);

t.test('answers of others are told apart, and not shown', async (t) => {
  for (const answer of [{ status: 200, body: '<html>' }, { status: 403, body: '{}' }, runAnswer(201, { id: 1 })]) {
    const { service, client } = await scripted(t, [answer]);
    t.match(await errorOf(client.run('pick', FILE)), { code: 'UNEXPECTED_ANSWER', status: answer.status });
    t.equal(service.asked.length, 1);
  }
});

t.test('a download goes on where it was cut, and gets its name when its digest is right', async (t) => {
  const path = join(folder, 'resumed.csv');
  const { service, client } = await scripted(t, [
    { status: 200, headers: OUTPUT_HEADERS, body: OUTPUT, bytesMax: 5 },
    {
      status: 206,
      headers: { ...OUTPUT_HEADERS, 'content-range': `bytes 5-${OUTPUT.length - 1}/${OUTPUT.length}` },
      body: OUTPUT.slice(5),
    },
  ]);
  const seen: Progress[] = [];
  const onProgress = (progress: Progress): void => {
    seen.push(progress);
    if (progress.bytes === 5) service.cut();
  };
  await client.download({ id: 'run_1' }, path, { onProgress });
  t.equal(readFileSync(path, 'utf8'), OUTPUT);
  t.equal(service.asked[0]!.headers.range, undefined);
  t.match(service.asked[1]!.headers, { range: 'bytes=5-', 'if-range': '"run_1"', 'want-repr-digest': 'sha-256=1' });
  t.strictSame(seen.at(-1), { phase: 'download', bytes: OUTPUT.length, totalBytes: OUTPUT.length });
});

t.test('another file behind the same address is downloaded from its beginning', async (t) => {
  const path = join(folder, 'changed.csv');
  const { service, client } = await scripted(t, [
    { status: 200, headers: { ...OUTPUT_HEADERS, etag: '"old"' }, body: 'old,bytes\n1,2\n', bytesMax: 7 },
    { status: 200, headers: OUTPUT_HEADERS, body: OUTPUT },
  ]);
  const onProgress = ({ bytes }: Progress): void => {
    if (bytes === 7) service.cut();
  };
  await client.download({ id: 'run_1' }, path, { onProgress });
  t.equal(service.asked[1]!.headers['if-range'], '"old"');
  t.equal(readFileSync(path, 'utf8'), OUTPUT);
});

t.test('an output that is always damaged leaves no file, and what was there stays', async (t) => {
  const path = join(folder, 'damaged.csv');
  writeFileSync(path, 'what was there');
  const { client } = await scripted(t, [{ status: 200, headers: OUTPUT_HEADERS, body: OUTPUT.replace('2', '3') }], {
    retries: 2,
  });
  t.match(await errorOf(client.download({ id: 'run_1' }, path)), { code: 'OUTPUT_DAMAGED' });
  t.equal(readFileSync(path, 'utf8'), 'what was there');
  t.strictSame(
    readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
  );
});

t.test('a signal ends uploads, waits and downloads with its own reason', async (t) => {
  const reason = new Error('no longer wanted');
  const silent = { targetPort: () => 1, faults: [] };
  const stalled = await FaultProxy.open(t, { ...silent, faults: [{ kind: 'stall', way: 'up', bytes: 0 }] });
  const { service, client } = await scripted(t, [
    refusal(503, 'SERVER_BUSY', {}, { 'retry-after': '200' }),
    { status: 200, headers: OUTPUT_HEADERS, body: OUTPUT, bytesMax: 1 },
  ]);
  const waiting = new AbortController();
  const run = client.run('pick', FILE, { signal: waiting.signal });
  const asked = (): boolean => service.asked.length === 1;
  while (!asked()) await new Promise((resolve) => setImmediate(resolve));
  waiting.abort(reason);
  await t.rejects(run, reason);
  const client2 = new TemplateRunClient({ baseUrl: stalled.url, apiKey: 'trs_key' });
  const sending = new AbortController();
  const upload = client2.run('pick', FILE, { signal: sending.signal, onProgress: () => sending.abort(reason) });
  await t.rejects(upload, reason);
  await t.rejects(
    client.download({ id: 'run_1' }, join(folder, 'no.csv'), { signal: AbortSignal.abort(reason) }),
    reason,
  );
  t.notOk(readdirSync(folder).some((name) => name.startsWith('no.csv') || name.endsWith('.part')));
});

t.test('a stream that gives nothing is closed when nobody waits for it any more', async (t) => {
  const { client } = await scripted(t, [runAnswer(201, {})]);
  const aborter = new AbortController();
  const reason = new Error('no longer wanted');
  const silent = new Readable({ read: () => setImmediate(() => aborter.abort(reason)) });
  const closed = once(silent, 'close');
  await t.rejects(
    client.run('pick', () => silent, { signal: aborter.signal }),
    reason,
  );
  await closed;
  t.ok(silent.destroyed);
});

t.test('a source that cannot be read is told as it is, and not tried again', async (t) => {
  const { service, client } = await scripted(t, [runAnswer(201, {})]);
  await t.rejects(client.run('pick', join(folder, 'not-there.csv')), { code: 'ENOENT' });
  await t.rejects(client.run('pick', folder), /is not a regular file/);
  const broken = new Error('the store is gone');
  await t.rejects(
    client.run('pick', () => Promise.reject(broken)),
    broken,
  );
  t.equal(service.asked.length, 0);
});

t.test('a file is sent under its own name with its length', async (t) => {
  const { service, client } = await scripted(t, [runAnswer(201, {})]);
  const path = join(folder, 'orders "1".csv');
  writeFileSync(path, FILE);
  const seen: Progress[] = [];
  await client.run('pick', path, { onProgress: (progress) => seen.push(progress) });
  t.match(service.asked[0]!.body, /filename="orders %221%22\.csv"/);
  t.equal(Number(service.asked[0]!.headers['content-length']), Buffer.byteLength(service.asked[0]!.body));
  t.strictSame(seen.at(-1), { phase: 'upload', bytes: FILE.length, totalBytes: FILE.length });
  writeFileSync(path, '');
  await client.run('pick', path);
});

t.test('settings that cannot work are refused at once', async (t) => {
  t.throws(() => new TemplateRunClient({ baseUrl: 'ftp://runs', apiKey: 'k' }), TypeError);
  t.throws(() => new TemplateRunClient({ baseUrl: 'http://runs', apiKey: 'two words' }), TypeError);
});

t.test('the types are those of the OpenAPI document', async (t) => {
  const printed = execFileSync(process.execPath, ['src/client/write-schemas.mjs', '--print'], { encoding: 'utf8' });
  t.equal(readFileSync('src/client/api-schemas.ts', 'utf8'), printed, 'else: node src/client/write-schemas.mjs');
});

t.test('the status of a Run decides about the types of its fields', async (t) => {
  const { client } = await scripted(t, [runAnswer(201, { rows_written: 3 }), runAnswer(200, { rows_written: null })]);
  const run = await client.run('pick', Buffer.from('id\n1\n'));
  // These lines compile only if a succeeded Run has the number.
  const rows: number = run.rows_written;
  t.equal(rows, 3);
  const rowsOf = (any: Run): number => (any.status === 'succeeded' ? any.rows_written : 0);
  t.equal(rowsOf(run), 3);
  await t.rejects(client.get('run_1'), { code: 'UNEXPECTED_ANSWER' }, 'a succeeded Run without the number');
});

t.test('what browsers load imports nothing of Node and no library', async (t) => {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const imports = readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'/gm);
    for (const [, target] of imports) {
      if (target!.startsWith('.')) visit(normalize(join(dirname(path), target!)));
      else t.fail(`${path} imports ${target}`);
    }
  };
  visit('src/client/browser/template-run-client.ts');
  t.ok(seen.has('src/client/retries.ts') && !seen.has('src/client/node/template-run-client.ts'), [...seen].join(' '));
});

t.test('it stands alone, and only the commands that ask a service and the console use it', async (t) => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const users = new Set<string>();
  for (const name of files) {
    const path = join('src', name);
    for (const [, target] of readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'/gm)) {
      const isOwn = target!.startsWith('.') && isClient(normalize(join(dirname(path), target!)));
      if (isClient(path)) t.ok(isOwn || target!.startsWith('node:'), `${path} imports ${target}`);
      // The bodies of the API's answers are the library's too.
      else if (isOwn && !target!.endsWith('/api-schemas.ts')) users.add(path);
    }
  }
  const commands = ['src/commands/send.ts', 'src/commands/service-client.ts', 'src/commands/service-queries.ts'];
  t.strictSame([...users].sort(), [...commands, 'src/pages/console/console.ts', 'src/pages/console/error-texts.ts']);
});

function isClient(path: string): boolean {
  return path.startsWith('src/client/');
}

t.test('an output of another size than its Run reports ends the download', async (t) => {
  const path = join(folder, 'other-size.csv');
  const { service, client } = await scripted(t, [{ status: 200, headers: OUTPUT_HEADERS, body: OUTPUT }]);
  const output = { name: 'output.csv', mime_type: 'text/csv', size_bytes: OUTPUT.length - 1, download_url: '' };
  const error = await errorOf(client.download({ id: 'run_1', output }, path));
  t.match(error, { code: 'UNEXPECTED_ANSWER', message: /does not have the \d+ bytes that the service reports/ });
  t.equal(service.asked.length, 1, 'it is not tried again');
  t.notOk(readdirSync(folder).includes('other-size.csv'));
});
