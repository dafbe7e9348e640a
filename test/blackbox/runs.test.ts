// Reading Runs and their outputs: fields, failed Runs, downloads, ranges, conditional requests, retention.
import { createHash } from 'node:crypto';
import t from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { PICK, plan, step, template } from './catalog-folder.ts';
import { type Answer, type Headers, until } from './client.ts';
import { expectError, expectNew, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n002,2.50,CanaryCell\n';
const OUTPUT = 'id,total\n001,1.50\n002,2.50\n';
const NAME = 'Bericht \u00fc "M\u00e4rz" / 3';
const lookup = (rest: object): object =>
  template([step('map_values', { columns: ['id'], map: { a: 'b' }, default: 'error' })], rest);
const catalog = {
  plans: {
    cut: plan({ output_rows_max: 2 }),
    tight: plan({ output_bytes_max: 20 }),
  },
  accounts: {
    acme: {
      templates: {
        pick: PICK,
        named: template([], { name: NAME }),
        plain: template([], { name: 'Plain report' }),
        unnamed: { format: 1, operations: [] },
        failing: lookup({ defaults: { on_error: 'fail' } }),
        many: lookup({ defaults: { on_error: 'drop_row', max_errors: 1 } }),
      },
    },
    cut: { plan: 'cut', templates: { all: template([]), json: template([], { output: { format: 'json' } }) } },
    tight: { plan: 'tight', templates: { all: template([]) } },
  },
};
const service = await startService(t, catalog);
const acme = service.client();
const done = await acme.upload('pick', [file(CSV)]);
const PATH = `/api/v1/runs/${done.run.id}`;
const download = (headers: Headers = {}): Promise<Answer> => acme.get(`${PATH}/output`, headers);
const whole = await download();
const ETAG = String(whole.headers.etag);

t.test('a succeeded Run has every field of the interface, the same on POST and GET', async (t) => {
  expectRun(t, done, 201, 'succeeded');
  const read = await acme.get(PATH);
  expectRun(t, read, 200, 'succeeded');
  t.strictSame(read.json, done.json);
  t.match(done.run, { template_id: 'pick', rows_written: 2, truncated: false });
  t.match(done.run.output, { mime_type: 'text/csv', size_bytes: OUTPUT.length });
  t.equal(done.run.output?.download_url, `${service.url}${PATH}/output`);
  const times = [done.run.created_at, done.run.completed_at, done.run.expires_at].map((time) =>
    Date.parse(String(time)),
  );
  t.ok(times[0]! <= times[1]!, 'completed after it was created');
  t.equal(times[2]! - times[1]!, 1_800_000, 'kept for 30 minutes after its end');
  t.ok(Math.abs(times[0]! - Date.now()) < 60_000, 'was created just now');
});

t.test('download_url opens with the key and not without', async (t) => {
  const url = new URL(String(done.run.output?.download_url));
  t.equal((await acme.get(url.pathname)).text, OUTPUT);
  expectError(t, await acme.as().get(url.pathname), 401, 'API_KEY_MISSING');
});

t.test('a Run that fails in a row: 201 with the failed Run, then 200, its output 404', async (t) => {
  const answer = await acme.upload('failing', [file(CSV)]);
  expectRun(t, answer, 201, 'failed');
  t.equal(answer.run.error?.code, 'TEMPLATE_ROW_ERROR');
  t.match(answer.run.error?.message, /\bid\b/, 'names the template-side column');
  const read = await acme.get(`/api/v1/runs/${answer.run.id}`);
  expectRun(t, read, 200, 'failed');
  t.strictSame(read.json, answer.json);
  const output = await acme.get(`/api/v1/runs/${answer.run.id}/output`);
  expectError(t, output, 404, 'RUN_NOT_FOUND');
  t.equal(output.headers['retry-after'], undefined, 'waiting would not help');
});

t.test('a Run with more row errors than allowed: TEMPLATE_TOO_MANY_ERRORS', async (t) => {
  const answer = await acme.upload('many', [file(CSV)]);
  expectRun(t, answer, 201, 'failed');
  t.equal(answer.run.error?.code, 'TEMPLATE_TOO_MANY_ERRORS');
  expectRun(t, await acme.upload('many', [file('id,b\na,1\nz,2\n')]), 201, 'succeeded');
});

t.test('an output over the plan: RUN_RESOURCE_LIMIT, one at the ceiling passes', async (t) => {
  const answer = await service.client('tight').upload('all', [file(`id,b\n${'1,2\n'.repeat(9)}`)]);
  expectRun(t, answer, 201, 'failed');
  t.equal(answer.run.error?.code, 'RUN_RESOURCE_LIMIT');
  expectRun(t, await service.client('tight').upload('all', [file('ab,cd\n12,34\n567,890\n')]), 201, 'succeeded');
});

t.test('an output cut at output_rows_max: truncated, succeeded, the first rows', async (t) => {
  const cut = service.client('cut');
  const answer = await cut.upload('all', [file('a,b\n1,x\n2,x\n3,x\n')]);
  expectRun(t, answer, 201, 'succeeded');
  t.match(answer.run, { truncated: true, rows_written: 2 });
  t.equal((await cut.get(`/api/v1/runs/${answer.run.id}/output`)).text, 'a,b\n1,x\n2,x\n');
  t.match((await cut.upload('all', [file('a,b\n1,x\n2,x\n')])).run, { truncated: false, rows_written: 2 });
  const json = await cut.upload('json', [file('a,b\n1,x\n2,x\n3,x\n')]);
  t.equal(JSON.parse((await cut.get(`/api/v1/runs/${json.run.id}/output`)).text).length, 2);
});

t.test('a download and its headers', async (t) => {
  t.equal(whole.status, 200);
  t.equal(whole.text, OUTPUT);
  t.match(whole.headers, {
    'content-type': 'application/octet-stream',
    'content-length': String(OUTPUT.length),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
  });
  t.match(ETAG, /^"[^"]+"$/, 'a strong ETag');
  t.equal(whole.headers['repr-digest'], undefined, 'no digest unless asked for');
  t.match(whole.headers['content-disposition'], /^attachment; ?filename/);
});

t.test('Content-Disposition is made from the name of the Template and the Run, by RFC 6266', async (t) => {
  const plain = await acme.upload('plain', [file(CSV)]);
  const simple = (await acme.get(`/api/v1/runs/${plain.run.id}/output`)).headers['content-disposition'];
  t.match(simple, /filename="?[^";]*Plain[^";]*"?/);
  t.match(simple, new RegExp(`filename="?[^";]*${plain.run.id}[^";]*\\.csv"?`));
  const named = await acme.upload('named', [file(CSV)]);
  const header = String((await acme.get(`/api/v1/runs/${named.run.id}/output`)).headers['content-disposition']);
  t.match(header, /^[\x20-\x7e]*$/, 'is ASCII');
  const extended = decodeURIComponent(/filename\*=UTF-8''([^;]+)/i.exec(header)?.[1] ?? '');
  t.match(extended, /Bericht.*\u00fc.*M\u00e4rz/);
  t.notMatch(extended, /[/\\"]/, 'is safe as a file name');
  const unnamed = await acme.upload('unnamed', [file(CSV)]);
  const fallback = (await acme.get(`/api/v1/runs/${unnamed.run.id}/output`)).headers['content-disposition'];
  t.match(fallback, new RegExp(unnamed.run.id));
});

t.test('HEAD of the output: all headers, no body', async (t) => {
  const head = await acme.request('HEAD', `${PATH}/output`);
  t.strictSame([head.status, head.body.length, head.headers['content-length']], [200, 0, String(OUTPUT.length)]);
  for (const name of [
    'content-length',
    'etag',
    'accept-ranges',
    'content-disposition',
    'content-type',
    'cache-control',
  ]) {
    t.ok(head.headers[name], name);
    t.equal(head.headers[name], whole.headers[name], name);
  }
});

for (const [range, from, to] of [
  ['bytes=0-3', 0, 4],
  ['bytes=5-', 5, OUTPUT.length],
  ['bytes=-4', OUTPUT.length - 4, OUTPUT.length],
  ['bytes=2-2', 2, 3],
  ['bytes=10-99999', 10, OUTPUT.length],
  ['bytes=-99999', 0, OUTPUT.length],
  ['bytes=0-99999999999999999999', 0, OUTPUT.length],
] as const) {
  t.test(`Range ${range}: 206`, async (t) => {
    const answer = await download({ range });
    t.equal(answer.status, 206);
    t.equal(answer.text, OUTPUT.slice(from, to));
    t.equal(answer.headers['content-range'], `bytes ${from}-${to - 1}/${OUTPUT.length}`);
    t.equal(answer.headers['content-length'], String(to - from));
    t.equal(answer.headers.etag, ETAG);
  });
}

t.test('a Range after the end: 416 with the size', async (t) => {
  for (const range of [`bytes=${OUTPUT.length}-`, 'bytes=99999-100000', 'bytes=99999999999999999999-', 'bytes=-0']) {
    const answer = await download({ range });
    expectError(t, answer, 416, 'RANGE_NOT_SATISFIABLE');
    t.equal(answer.headers['content-range'], `bytes */${OUTPUT.length}`);
  }
});

t.test('an invalid Range: the whole output', async (t) => {
  for (const range of ['lines=0-1', 'bytes', 'bytes=', 'bytes=a-b', 'bytes=5-2', 'bytes=1']) {
    const answer = await download({ range });
    t.strictSame([answer.status, answer.text], [200, OUTPUT], range);
  }
});

t.test('If-Range: the ETag opens the range, anything else gives the whole', async (t) => {
  t.equal((await download({ range: 'bytes=0-1', 'if-range': ETAG })).status, 206);
  for (const other of ['"other"', `W/${ETAG}`, new Date().toUTCString()]) {
    const answer = await download({ range: 'bytes=0-1', 'if-range': other });
    t.strictSame([answer.status, answer.text], [200, OUTPUT], other);
  }
});

t.test('If-None-Match: 304 for the ETag, alone, weak, in a list, and for *', async (t) => {
  for (const value of [ETAG, `W/${ETAG}`, `"x", ${ETAG}`, '*']) {
    const answer = await download({ 'if-none-match': value });
    t.strictSame([answer.status, answer.body.length, answer.headers.etag], [304, 0, ETAG], value);
  }
  t.equal((await download({ 'if-none-match': ['"x"', ETAG] })).status, 304, 'in the second of two lines');
  t.equal((await download({ 'if-none-match': '"x"' })).status, 200);
  t.equal((await download({ 'if-none-match': ETAG, range: 'bytes=0-1' })).status, 304, 'before the range');
  t.equal((await acme.request('HEAD', `${PATH}/output`, { 'if-none-match': ETAG })).status, 304);
});

t.test('If-Match: the ETag and * pass, anything else is 412, before If-None-Match and the range', async (t) => {
  for (const value of [ETAG, `"x", ${ETAG}`, ['"x"', ETAG], '*']) {
    t.equal((await download({ 'if-match': value })).status, 200);
  }
  for (const value of ['"x"', `W/${ETAG}`]) {
    const answer = await download({ 'if-match': value, 'if-none-match': ETAG, range: 'bytes=0-1' });
    expectError(t, answer, 412, 'PRECONDITION_FAILED');
    t.equal(answer.headers.etag, ETAG);
  }
});

t.test('Repr-Digest when Want-Repr-Digest asks for sha-256, of the whole also with a range', async (t) => {
  const digest = `sha-256=:${createHash('sha256').update(OUTPUT).digest('base64')}:`;
  t.equal((await download({ 'want-repr-digest': 'sha-256=10' })).headers['repr-digest'], digest);
  t.equal((await download({ 'want-repr-digest': 'sha-512=3, sha-256=1' })).headers['repr-digest'], digest);
  const part = await download({ 'want-repr-digest': 'sha-256=1', range: 'bytes=0-1' });
  t.strictSame([part.status, part.headers['repr-digest']], [206, digest]);
  t.equal((await download({ 'want-repr-digest': 'sha-256=0' })).headers['repr-digest'], undefined);
});

t.test('an output of 3 MB, whole and in ranges', async (t) => {
  const rows = Array.from({ length: 300_000 }, (_, index) => `${index},${index % 10}`).join('\n');
  const text = `id,amount\n${rows}\n`;
  const { run } = await acme.upload('plain', [file(text)]);
  const path = `/api/v1/runs/${run.id}/output`;
  t.ok((await acme.get(path)).text === text, 'the whole is right');
  const part = await acme.get(path, { range: 'bytes=1000000-1999999' });
  t.ok(part.text === text.slice(1_000_000, 2_000_000), 'the range is right');
  const five = await Promise.all(Array.from({ length: 5 }, () => acme.get(path)));
  t.ok(
    five.every((answer) => answer.text === text),
    'five readers at once',
  );
});

t.test('retention: a Run, its output and its key are gone when its time is over', async (t) => {
  const brief = await startService(t, { accounts: { acme: {} } }, { 'retention-ms': 1500 });
  const client = brief.client();
  const first = await client.upload('pick', [file(CSV)], { key: 'kept' });
  expectNew(t, first);
  const { completed_at: completed, expires_at: expires } = first.run;
  t.equal(Date.parse(String(expires)) - Date.parse(String(completed)), 1500);
  const path = `/api/v1/runs/${first.run.id}`;
  const kept = await client.get(`${path}/output`);
  t.ok(kept.text === OUTPUT || Date.now() >= Date.parse(String(expires)), 'kept until then');
  const gone = await until(
    () => client.get(path),
    ({ status }) => status === 404,
  );
  expectError(t, gone, 404, 'RUN_NOT_FOUND');
  t.ok(Date.now() >= Date.parse(String(expires)), 'not before its time');
  expectError(t, await client.get(`${path}/output`), 404, 'RUN_NOT_FOUND');
  const other = await until(
    () => client.upload('pick', [file('id,amount\n')], { key: 'kept' }),
    ({ status }) => status !== 409,
  );
  expectNew(t, other, first);
});

t.test(
  'a repeat whose Run expires while its body arrives: 503, and the next request makes a new Run',
  { skip: skipUnlessLong },
  async (t) => {
    const brief = await startService(t, { accounts: { acme: {} } }, { 'retention-ms': 10_000 });
    const client = brief.client();
    const first = await client.upload('pick', [file(CSV)], { key: 'late' });
    expectNew(t, first);
    const repeat = client.hold('pick', [file(CSV)], -1, { key: 'late' });
    const path = `/api/v1/runs/${first.run.id}`;
    await until(
      () => client.get(path),
      ({ status }) => status === 404,
    );
    const late = await repeat.finish();
    expectError(t, late, 503, 'SERVER_BUSY');
    t.match(late.json, { message: /expired while its repeat was arriving/ });
    t.match(late.headers['retry-after'], /^[1-9][0-9]*$/);
    expectNew(t, await client.upload('pick', [file(CSV)], { key: 'late' }), first);
  },
);

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
