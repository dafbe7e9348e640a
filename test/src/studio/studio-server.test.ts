// The studio's server: which requests it accepts, which files it writes, and its results for a Template and a sample.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { test } from 'tap';
import { StudioServer } from '../../../src/studio/studio-server.ts';
import { StudioSession } from '../../../src/studio/studio-session.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { cli } from '../commands/command-line.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = `format: 1
operations:
  # The name without spaces around it.
  - {text: {columns: name, steps: [trim]}}
  - {parse_number: {columns: amount, decimal: ","}}
output: {format: csv}
`;

const SAMPLE = 'name,amount\n Ada ,"1,50"\nBob,x\n Eve,"3,00"\n';

test('it answers its own page alone', async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { hostname, port } = new URL(studio.origin);
  t.equal(hostname, '127.0.0.1');
  const page = await studio.ask('GET /');
  t.equal(page.status, 200);
  const policy = page.headers.get('content-security-policy') ?? '';
  t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-([\w-]{22})';/);
  t.match(policy, /require-trusted-types-for 'script'/);
  const nonce = /'nonce-([\w-]{22})'/.exec(policy)![1]!;
  t.ok(page.body.includes(`content="${nonce}"`), 'the page knows the nonce of its own answer');
  t.notOk(page.body.includes('Ada'), 'and nothing of the sample');
  t.match(await studio.ask('GET /api/state'), {
    status: 200,
    body: { template: 'template.yaml', sample: 'sample.csv' },
  });
  for (const authorization of ['', 'Bearer ', 'Bearer AAAAAAAAAAAAAAAAAAAAAA']) {
    const refused = await studio.ask('GET /api/state', undefined, { Authorization: authorization });
    t.match(refused, { status: 401, body: { code: 'UNAUTHENTICATED' } }, authorization);
  }
  const foreign = await studio.ask('POST /api/stop', {}, { Origin: 'https://example.com' });
  t.match(foreign, { status: 403, body: { code: 'FORBIDDEN' } });
  const rebound = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { Host: 'rebound.example.com' };
    request({ host: hostname, port, path: '/', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  t.equal(rebound, 403, 'another Host');
  const statusOf = (target: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ host: hostname, port, path: target }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  // Any page can send these, so none is a fault, which the terminal would show.
  for (const target of ['//', '/\\', '///x:99999/', 'http://[', 'http://example.com/', '*', '/%', '/../page.js'])
    t.equal(await statusOf(target), 401, target);
  t.equal(await statusOf('/?from=mail'), 200);
  t.match(await studio.ask('POST /', {}), { status: 405 });
  t.match(await studio.ask('GET /api/nothing'), { status: 404, body: { code: 'NOT_FOUND' } });
  t.match(await studio.ask('POST /api/evaluate', { source: 1 }), { status: 400, body: { code: 'BAD_REQUEST' } });
  t.match(await studio.ask('POST /api/rows', { step: -1 }), { status: 400 });
  t.match(await studio.ask('POST /api/test', { source: TEMPLATE, rows: [] }), { status: 400 });
});

test('steps, rows, errors and the history of a cell', async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const evaluation = await studio.ask('POST /api/evaluate', { source: TEMPLATE, step: 2, whole: false });
  t.match(evaluation.body, {
    problems: [],
    isStale: false,
    failure: { code: 'TEMPLATE_ROW_ERROR', place: { row: 2, step: 1, column: 'amount' } },
    watched: {
      isPartial: false,
      rowsRead: 3,
      headers: ['name', 'amount'],
      steps: [
        { operation: null, rows: 3, changedRows: 0 },
        { operation: 'text', line: 4, rows: 3, cellsChanged: 2, changedRows: 2 },
        { operation: 'parse_number', rows: 2, errors: { NOT_A_NUMBER: { count: 1, rows: [2] } } },
      ],
      profiles: [{ rows: 2 }, { least: '1.50', most: '3.00' }],
    },
  });
  const changed = await studio.ask('POST /api/rows', { step: 1, filter: 'changed', from: 0, count: 10 });
  t.match(changed.body, {
    count: 2,
    rows: [
      { sourceRow: 1, cells: ['Ada', '1,50'], changed: [{ column: 0, text: ' Ada ' }] },
      { sourceRow: 3, cells: ['Eve', '3,00'] },
    ],
  });
  const errors = await studio.ask('POST /api/rows', { step: 2, filter: 'errors', from: 0, count: 10 });
  t.match(errors.body, {
    count: 1,
    rows: [{ sourceRow: 2, cells: ['Bob', 'x'], errors: [{ code: 'NOT_A_NUMBER' }] }],
  });
  const columnId = evaluation.body.watched.steps[0].columns[1].id;
  const trace = await studio.ask('POST /api/trace', { sourceRow: 2, repeat: 0, columnId });
  t.match(trace.body, [
    { operation: null, text: 'x', isThere: true },
    { operation: 'text', text: 'x', isChanged: false },
    { operation: 'parse_number', isThere: false, errors: [{ code: 'NOT_A_NUMBER' }] },
  ]);
});

test('problems of the text, and columns that the sample does not have', { skip: skipUnlessLong }, async (t) => {
  const studio = await startStudio(t, { template: null, sample: SAMPLE });
  const state = await studio.ask('GET /api/state');
  const empty = state.body.source as string;
  t.match(await studio.ask('POST /api/evaluate', { source: empty, step: 0 }), {
    body: { problems: [], watched: { rowsRead: 3 } },
  });
  const source = 'operations: [{drpo: {}}]';
  const unsound = await studio.ask('POST /api/evaluate', { source, step: 0, hasRows: true });
  t.match(unsound.body, {
    problems: [{ line: 1, code: 'UNKNOWN_OPERATION' }],
    mistakeItem: 0,
    watched: { steps: [{ operation: null, rows: 3 }] },
  });
  // The rows of the last valid text stay if the file itself cannot be read as the text says.
  const unread = await studio.ask('POST /api/evaluate', { source: 'input: {csv: 1}', step: 0, hasRows: true });
  t.match(unread.body, { problems: [{ line: 1 }], mistakeItem: null, watched: null });
  t.match((await studio.ask('POST /api/evaluate', { source, step: 0 })).body, {
    problems: [{ code: 'UNKNOWN_OPERATION' }],
    watched: { steps: [{ operation: null, rows: 3 }] },
  });
  // Without a file, a check takes an unknown column as a text.
  const total = TEMPLATE.replace(/output:/, '  - {check_totals: {checks: [{expr: sum(amuont), equals: 1}]}}\noutput:');
  t.match((await studio.ask('POST /api/evaluate', { source: total, step: 0 })).body, {
    problems: [{ code: 'UNKNOWN_COLUMN', message: /"amuont" does not exist at this step.*"amount"/ }],
    mistakeItem: 2,
  });
  const misspelt = TEMPLATE.replace('columns: amount', 'columns: amout');
  const { body } = await studio.ask('POST /api/evaluate', { source: misspelt, step: 2 });
  t.match(body, {
    problems: [
      {
        line: 5,
        code: 'NOT_IN_SAMPLE',
        message: '"amout" is missing in the sample, or matches several of its columns. Did you mean "amount"?',
      },
    ],
    failure: { code: 'TEMPLATE_COLUMNS_MISSING' },
    mistakeItem: 1,
    watched: {
      headers: ['name', 'amount'],
      steps: [
        { operation: null, rows: 3 },
        { operation: 'text', line: 4 },
      ],
    },
  });
});

test('a Template that is not there yet begins as a draft of the sample', { skip: skipUnlessLong }, async (t) => {
  const studio = await startStudio(t, { template: null, sample: 'Tag;Betrag\n31.10.2026;1.234,50\n' });
  const { body } = await studio.ask('GET /api/state');
  t.equal(body.isStored, false, 'the page shows it as not saved');
  t.match(
    body.source,
    /- \{parse_number: \{columns: betrag, decimal: ",", grouping: "\."\}\} {2}# 1 of 1 read; 1 proves the comma/,
  );
  t.notOk(existsSync(studio.templatePath), 'nothing is written before it is saved');
  const { body: evaluation } = await studio.ask('POST /api/evaluate', { source: body.source, step: 0, whole: false });
  t.strictSame([evaluation.problems, evaluation.failure], [[], null]);
});

test('a Template with line ends of Windows keeps them, and opens unchanged', async (t) => {
  const template = TEMPLATE.replaceAll('\n', '\r\n');
  const studio = await startStudio(t, { template, sample: SAMPLE });
  const { source, sha256 } = (await studio.ask('GET /api/state')).body;
  t.equal(source, TEMPLATE);
  t.equal((await studio.ask('PUT /api/recovery', { page: 'a', source })).status, 200);
  t.notOk(existsSync(join(studio.folder, '.template.yaml.unsaved')), 'the text of the file needs no copy');
  const saved = await studio.ask('PUT /api/template', { page: 'a', source: `${TEMPLATE}# mine\n`, sha256 });
  t.equal(saved.status, 200);
  t.equal(readFileSync(studio.templatePath, 'utf8'), `${template}# mine\r\n`);
  t.equal((await studio.ask('GET /api/state')).body.sha256, saved.body.sha256);
});

test('a recovery file that cannot be read is left alone', async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  mkdirSync(join(studio.folder, '.template.yaml.unsaved'));
  t.equal((await studio.ask('POST /api/recovered', { page: 'a', seen: [] })).body, null);
  t.equal((await studio.ask('PUT /api/recovery', { page: 'a', source: 'mine' })).status, 200);
  t.equal(readFileSync(join(studio.folder, '.template.yaml.2.unsaved'), 'utf8'), 'mine');
});

test('a file of the page gets no other place than its own', async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const send = (name: string) => studio.ask('PUT /api/sample', { a: 1 }, { 'X-File-Name': name });
  for (const name of ['', '.', '..', '%2F', 'a%00b', '%', '%FF'])
    t.match(await send(name), { status: 400, body: { code: 'BAD_REQUEST' } }, name);
  t.match(await send('..%2F..%2Ftemplate.json'), { status: 200, body: { sample: 'template.json' } });
  t.equal(readFileSync(studio.templatePath, 'utf8'), TEMPLATE);
  t.equal((await studio.ask('PUT /api/sample', { a: 1 }, { Authorization: 'Bearer none' })).status, 401);
});

test('a page that is closed while it sends a file is no fault', async (t) => {
  const faults: unknown[] = [];
  let fail: (reason: unknown) => void = () => {};
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve;
  });
  const session: StudioSession = Object.assign(Object.create(StudioSession.prototype), {
    async openSample(_: string, bytes: Readable): Promise<void> {
      sent.destroy();
      await bytes.forEach(() => {}).catch(fail);
      throw await failed;
    },
    state: () => ({}),
  });
  const server = new StudioServer({ session, rowsRead: () => 0 }, (fault) => faults.push(fault));
  t.teardown(() => server.close());
  const [origin, token] = (await server.listen(0)).split('/#') as [string, string];
  const headers = { Authorization: `Bearer ${token}`, 'X-File-Name': 'a.csv', 'Content-Length': '1000' };
  const sent = request(`${origin}/api/sample`, { method: 'PUT', headers }).on('error', () => {});
  sent.write('name\n');
  t.match(await failed, { code: 'ECONNRESET' });
  // The next answer comes after the failed one.
  const state = await fetch(`${origin}/api/state`, { headers: { Authorization: `Bearer ${token}` } });
  t.equal(state.status, 200);
  t.strictSame(faults, []);
});

test('pages and studios on one Template never replace the text of each other', async (t) => {
  const one = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const other = await startStudio(t, { template: null, sample: SAMPLE, folder: one.folder });
  const texts = (): readonly string[] =>
    readdirSync(one.folder)
      .filter((name) => name.endsWith('.unsaved'))
      .map((name) => readFileSync(join(one.folder, name), 'utf8'))
      .sort();
  await one.ask('PUT /api/recovery', { page: 'a', source: 'text of a' });
  await one.ask('PUT /api/recovery', { page: 'b', source: 'text of b' });
  await other.ask('PUT /api/recovery', { page: 'c', source: 'text of c' });
  await one.ask('PUT /api/recovery', { page: 'a', source: 'text of a, longer' });
  t.strictSame(texts(), ['text of a, longer', 'text of b', 'text of c']);
  // Each text is offered once, and the own one never.
  const seen: string[] = [];
  const offered: string[] = [];
  for (;;) {
    const { body } = await one.ask('POST /api/recovered', { page: 'a', seen });
    if (body === null) break;
    seen.push(body.name);
    offered.push(body.source);
    t.equal(body.mayBeOpen, body.source === 'text of b');
  }
  t.strictSame(offered.sort(), ['text of b', 'text of c']);
  // A page takes over the text of another one, which is still open and gets another file.
  const { body: found } = await one.ask('POST /api/recovered', { page: 'd', seen: [] });
  t.equal(found.source, 'text of a, longer');
  await other.ask('POST /api/decide', { page: 'd', does: 'take', name: found.name, source: found.source });
  await other.ask('PUT /api/recovery', { page: 'd', source: 'text of d' });
  await one.ask('PUT /api/recovery', { page: 'a', source: 'text of a, longest' });
  t.strictSame(texts(), ['text of a, longest', 'text of b', 'text of c', 'text of d']);
  // A text that has changed since it was offered is not deleted, and a save removes only the text of its page.
  await one.ask('POST /api/decide', { page: 'a', does: 'drop', name: found.name, source: found.source });
  const { sha256 } = (await one.ask('GET /api/state')).body;
  await one.ask('PUT /api/template', { page: 'a', source: `${TEMPLATE}# a\n`, sha256 });
  t.strictSame(texts(), ['text of b', 'text of c', 'text of d']);
});

test('it saves the Template, and never writes over what another program wrote', async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { sha256 } = (await studio.ask('GET /api/state')).body;
  const saved = await studio.ask('PUT /api/template', { page: 'a', source: `${TEMPLATE}# mine\n`, sha256 });
  t.equal(saved.status, 200);
  t.equal(readFileSync(studio.templatePath, 'utf8'), `${TEMPLATE}# mine\n`);
  writeFileSync(studio.templatePath, `${TEMPLATE}# theirs\n`);
  const refused = await studio.ask('PUT /api/template', { page: 'a', source: TEMPLATE, sha256: saved.body.sha256 });
  t.match(refused, { status: 409, body: { code: 'TEMPLATE_CHANGED', source: `${TEMPLATE}# theirs\n` } });
  t.equal(readFileSync(studio.templatePath, 'utf8'), `${TEMPLATE}# theirs\n`);
  const again = await studio.ask('PUT /api/template', { page: 'a', source: TEMPLATE, sha256: refused.body.sha256 });
  t.equal(again.status, 200);
});

test('a saved Template keeps its permissions, and a link to it stays a link', async (t) => {
  const folder = t.testdir({ versions: {} });
  const file = join(folder, 'versions', 'first.yaml');
  writeFileSync(file, TEMPLATE);
  // More than a usual umask leaves to a new file.
  chmodSync(file, 0o666);
  symlinkSync(join('versions', 'first.yaml'), join(folder, 'template.yaml'));
  const studio = await startStudio(t, { template: null, sample: SAMPLE, folder });
  const { sha256 } = (await studio.ask('GET /api/state')).body;
  const source = TEMPLATE.replace('[trim]', '[trim, upper]');
  t.match(await studio.ask('PUT /api/template', { page: 'a', source, sha256 }), { status: 200 });
  t.equal(readlinkSync(join(folder, 'template.yaml')), join('versions', 'first.yaml'));
  t.equal(readFileSync(file, 'utf8'), source);
  t.equal(statSync(file).mode & 0o777, 0o666);
  t.strictSame(readdirSync(join(folder, 'versions')), ['first.yaml'], 'nothing else is left');
});

test('a test made of rows holds nothing that they said, and passes', async (t) => {
  const secret = 'name,amount\nGeheimrat,"98765432,50"\n Müller ,"55443322,00"\n';
  const studio = await startStudio(t, { template: TEMPLATE, sample: secret });
  await studio.ask('POST /api/evaluate', { source: TEMPLATE, step: 0 });
  const made = await studio.ask('POST /api/test', { source: TEMPLATE, rows: [1, 2] });
  t.equal(made.status, 200, made.body.message);
  const source = made.body.source as string;
  t.ok(source.startsWith(TEMPLATE), 'the lines that were there stay as they were');
  for (const text of ['Geheimrat', 'Müller', '98765432', '55443322']) t.notOk(source.includes(text), text);
  t.match(source, /"?[A-Z][a-z]{8},"\d{8},\d\d"/, 'in the same shape');
  const second = (await studio.ask('POST /api/test', { source, rows: [1] })).body.source as string;
  t.match(await studio.ask('POST /api/test', { source, rows: [99] }), { status: 422, body: { code: 'NO_TEST' } });
  // The folder of the sample is gone by that.
  const path = join(t.testdir({ 'tested.yaml': second }), 'tested.yaml');
  const tested = await cli('template', 'test', path);
  t.equal(tested.status, 0, tested.stdout);
  t.equal(tested.stdout.match(/^ok/gm)?.length, 2, tested.stdout);
  const gone = await studio.ask('POST /api/test', { source, rows: [99] });
  t.match(gone, { status: 422, body: { code: 'NO_TEST' } });
  t.match(await studio.ask('POST /api/evaluate', { source, step: 0 }), { status: 422, body: { code: 'SAMPLE_GONE' } });
  t.match((await studio.ask('GET /api/state')).body, { sampleVersion: /^gone/ });
});

test('of a sample of more than 16 MiB some rows are read, and all when that is asked for', {
  skip: skipUnlessLong,
}, async (t) => {
  const line = `Ada,"1,5"${' '.repeat(90)}\n`.replace('"1,5" ', '"1,50",');
  const rows = Math.ceil((17 * 1024 * 1024) / line.length);
  const studio = await startStudio(t, { template: TEMPLATE, sample: `name,amount,note\n${line.repeat(rows)}` });
  t.equal((await studio.ask('GET /api/state')).body.sampleRowsMax, 1000);
  const first = await studio.ask('POST /api/evaluate', { source: TEMPLATE, step: 2 });
  t.match(first.body.watched, { isPartial: true, rowsRead: 1000, profiles: [{ rows: 1000 }, {}, {}] });
  const whole = await studio.ask('POST /api/evaluate', { source: TEMPLATE, step: 2, whole: true });
  t.match(whole.body.watched, { isPartial: false, rowsRead: rows, rowsWritten: rows });
  t.match(whole.body.watched.profiles[1], { rows, distinct: 1 });
  const stopped = studio.ask('POST /api/evaluate', { source: TEMPLATE, step: 1, whole: true });
  // Whichever comes first: the later request ends the one before.
  const later = await studio.ask('POST /api/evaluate', { source: TEMPLATE, step: 0 });
  t.match(later.body, { isStale: false, watched: { isPartial: true } });
  t.equal((await stopped).status, 200);
});
