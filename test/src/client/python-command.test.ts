// The command line of the client for Python: what it refuses before anything is sent, where it puts outputs, and how it
// handles refusals and interim responses.
// With all tests only: a second client, in Python.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { NarrowService, OUTPUT, OUTPUT_ANSWER } from './narrow-service.ts';
import { refusal, runAnswer, ScriptedService } from './scripted-service.ts';

const CLIENT = 'examples/clients/python/template_run.py';

/** Python starts slowly on a machine that does other work. */
t.setTimeout(1_200_000);

const OLDEST = 'import sys; sys.exit(sys.version_info < (3, 9))';
const skip = spawnSync('python3', ['-c', OLDEST]).status === 0 ? false : 'Python 3.9 or later is not installed';

const folder = mkdtempSync(join(tmpdir(), 'template-run-python-command-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
/** For outputs on their way into a pipe. */
const temporary = join(folder, 'temporary');
const inputs = join(folder, 'inputs');
for (const path of [temporary, inputs]) mkdirSync(path);
const files = ['a', 'b', 'c', 'd'].map((name) => join(inputs, `${name}.csv`));
for (const file of files) writeFileSync(file, 'id,amount\n1,2\n');

const RUN = runAnswer(201, { output: { name: 'output.csv' } });

/** Without this variable, Python would write compiled files into the package. */
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', TMPDIR: temporary };

async function python(url: string, ...words: readonly string[]) {
  const own = { ...env, TEMPLATE_RUN_URL: url, TEMPLATE_RUN_API_KEY: 'trs_key' };
  const child = spawn('python3', [CLIENT, ...words], { env: own, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

t.test('nothing that is sent or fetched is written over, and no key is told', { skip }, async (t) => {
  const service = await ScriptedService.open(t, [RUN]);
  const [kept, ownRejects] = [join(inputs, 'kept.rejects.csv'), join(inputs, 'a.rejects.csv')];
  for (const path of [kept, ownRejects]) writeFileSync(path, 'id,amount\n1,2\n');
  const [toInput, toOther] = [join(folder, 'to-input'), join(folder, 'to-other')];
  for (const path of [toInput, toOther]) mkdirSync(path);
  symlinkSync(files[0]!, join(toInput, 'a.csv'));
  writeFileSync(join(toOther, 'b.csv'), 'an output');
  symlinkSync('b.csv', join(toOther, 'a.rejects.csv'));
  const key = 'trs_acme.1_secret';
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[kept, '-o', join(inputs, 'kept.csv')], /take the place of a file that is sent/],
    [[files[0]!, ownRejects, '-o', join(folder, 'met')], /under one name/],
    [[files[0]!, '-o', `${toInput}/`], /take the place of a file that is sent/],
    [[files[0]!, files[1]!, '-o', toOther], /same file as another output/],
    [
      [files[0]!, '-o', join(folder, 'no.csv'), '--key', key],
      /--key takes the path of a file that contains the API key/,
    ],
  ];
  for (const [words, message] of cases) {
    const { status, stderr } = await python(service.url, 'send', 'pick', ...words);
    t.equal(status, 2, stderr);
    t.match(stderr, message);
    t.notOk(stderr.includes(key));
  }
  const long = join(folder, `${'n'.repeat(252)}.csv`);
  const { status, stderr } = await python(service.url, 'send', 'pick', files[0]!, '-o', long);
  t.match({ status, stderr }, { status: 1, stderr: /^[^\n]*File name too long[^\n]*\n$/ });
  t.strictSame(service.asked, [], 'nothing was sent');
  t.equal(readFileSync(kept, 'utf8'), 'id,amount\n1,2\n');
});

t.test('what is no file fails alone, and names lose both endings', { skip }, async (t) => {
  const service = await ScriptedService.open(t, [RUN, OUTPUT_ANSWER]);
  const [below, pipe, packed] = [join(inputs, 'below'), join(inputs, 'pipe'), join(inputs, 'x.csv.gz')];
  mkdirSync(below);
  execFileSync('mkfifo', [pipe]);
  writeFileSync(packed, 'id,amount\n1,2\n');
  const outputs = join(folder, 'outputs');
  // One after the other: what answers knows their order.
  const words = ['-o', outputs, '--parallel', '1'];
  const { status, stdout, stderr } = await python(service.url, 'send', 'pick', below, pipe, packed, ...words);
  t.equal(status, 1);
  t.match(
    stderr,
    /^[^\n]*below: [^\n]*directory[^\n]*\n[^\n]*pipe: pipe is not a regular file, so it cannot be read again if the request is repeated\.\n$/,
  );
  t.match(stdout, /x\.csv\.gz: /);
  t.strictSame(readdirSync(outputs), ['x.csv']);
});

t.test('links, permissions and pipes stay', { skip }, async (t) => {
  const service = await ScriptedService.open(t, [RUN, OUTPUT_ANSWER, RUN, OUTPUT_ANSWER, RUN, OUTPUT_ANSWER]);
  const [file, link, pipe] = [join(folder, 'file.csv'), join(folder, 'link.csv'), join(folder, 'output-pipe')];
  writeFileSync(file, 'what was there');
  chmodSync(file, 0o662);
  symlinkSync('file.csv', link);
  t.match(await python(service.url, 'send', 'pick', files[0]!, '-o', link), { status: 0, stderr: '' });
  t.ok(lstatSync(link).isSymbolicLink());
  t.equal(readFileSync(file, 'utf8'), OUTPUT);
  t.equal(statSync(file).mode & 0o777, 0o662);
  execFileSync('mkfifo', [pipe]);
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => reader.kill());
  const [read, sent] = await Promise.all([
    text(reader.stdout),
    python(service.url, 'send', 'pick', files[0]!, '-o', pipe),
  ]);
  t.match(sent, { status: 0, stderr: '' });
  t.equal(read, OUTPUT);
  t.ok(statSync(pipe).isFIFO());
  const longest = join(folder, `${'n'.repeat(240)}.csv`);
  t.match(await python(service.url, 'send', 'pick', files[0]!, '-o', longest), { status: 0, stderr: '' });
  t.equal(readFileSync(longest, 'utf8'), OUTPUT);
  t.strictSame(readdirSync(temporary), []);
});

t.test('a Run that is lost before its rejected rows came is made again', { skip }, async (t) => {
  const run = runAnswer(201, { output: { name: 'output.csv' }, rejects: { name: 'rejects.csv' } });
  const service = await ScriptedService.open(t, [
    run,
    OUTPUT_ANSWER,
    refusal(404, 'RUN_NOT_FOUND'),
    run,
    OUTPUT_ANSWER,
  ]);
  const output = join(folder, 'lost.csv');
  const { status, stderr } = await python(service.url, 'send', 'pick', files[0]!, '-o', output);
  t.equal(status, 0, stderr);
  for (const path of [output, join(folder, 'lost.rejects.csv')]) t.equal(readFileSync(path, 'utf8'), OUTPUT);
  const posts = service.asked.filter(({ line }) => line.startsWith('POST'));
  t.equal(posts.length, 2);
  t.equal(new Set(posts.map(({ headers }) => headers['idempotency-key'])).size, 1, 'one key');
});

t.test('as many at a time as the plan lets be in flight, where the key may ask', { skip }, async (t) => {
  for (const isUsageRead of [true, false]) {
    const narrow = await NarrowService.open(t, 1, isUsageRead);
    const outputs = join(folder, `narrow-${isUsageRead}`);
    // A single refusal would be the end of a file.
    const sent = await python(narrow.url, 'send', 'pick', ...files, '-o', outputs, '--retries', '0');
    t.match(sent, { status: 0, stderr: '' });
    t.equal(readdirSync(outputs).length, files.length);
    t.equal(narrow.refusals === 0, isUsageRead, `${narrow.refusals} were refused`);
  }
  const taken = await NarrowService.open(t, 0, false);
  const words = ['-o', join(folder, 'taken'), '--retries', '0'];
  const { status, stderr } = await python(taken.url, 'send', 'pick', ...files, ...words);
  t.equal(status, 1, 'others have the slots');
  t.equal(stderr.match(/: CONCURRENCY_LIMIT_REACHED: /g)?.length, files.length);
});

t.test("another program's error is tried again by its status", { skip }, async (t) => {
  const others = JSON.stringify({ error: 'Service Unavailable', message: 'no upstream' });
  const service = await ScriptedService.open(t, [{ status: 503, body: others }, RUN, OUTPUT_ANSWER]);
  const sent = await python(service.url, 'send', 'pick', files[0]!, '-o', join(folder, 'again.csv'));
  t.match(sent, { status: 0, stderr: '' });
});

t.test('answers of 1xx are passed over, also while the file is sent', { skip }, async (t) => {
  let bytes = 0;
  const server = http.createServer((request, response) => {
    response.writeContinue();
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
    });
    request.on('end', () => {
      response.writeProcessing();
      const { status, headers, body } = request.method === 'POST' ? RUN : OUTPUT_ANSWER;
      response.writeHead(status, { 'content-length': Buffer.byteLength(body!), ...headers }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const large = join(folder, 'large.csv');
  writeFileSync(large, Buffer.alloc(16_000_000, 'a'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sent = await python(url, 'send', 'pick', large, '-o', join(folder, 'interim.csv'), '--retries', '0');
  t.match(sent, { status: 0, stderr: '' });
  t.ok(bytes > 16_000_000, 'all of it was sent');
  t.equal(readFileSync(join(folder, 'interim.csv'), 'utf8'), OUTPUT);
});
