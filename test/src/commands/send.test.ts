// `send` against the real service: sent files and results, messages, and errors before anything is sent.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { PICK, plan, template } from '../../blackbox/catalog-folder.ts';
import { COMMAND, startService } from '../../blackbox/service.ts';
import { NarrowService } from '../client/narrow-service.ts';
import { cli, type Outcome } from './command-line.ts';

const STRICT = template([{ op: 'parse_number', columns: ['amount'], on_error: 'reject' }]);

const service = await startService(t, {
  // Fewer slots than concurrent sends: refused files are sent again.
  plans: { narrow: plan({ runs_in_flight_max: 2 }) },
  accounts: { acme: { plan: 'narrow', templates: { pick: PICK, strict: STRICT } } },
});
const folder = mkdtempSync(join(tmpdir(), 'template-run-send-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const key = join(folder, 'api.key');
writeFileSync(key, `${service.catalog.key('acme')}\n`);

const inputs = join(folder, 'inputs');
mkdirSync(inputs);
const files = Array.from({ length: 6 }, (_, number) => {
  const path = join(inputs, `orders-${number}.csv`);
  writeFileSync(path, `id,amount\n${number},1\n`);
  return path;
});
const access = ['--url', service.url, '--key', key];

t.test('several files at once, each output in its own file', async (t) => {
  const outputs = join(folder, 'outputs');
  const { status, stdout, stderr } = await cli('send', 'pick', ...files, '-o', outputs, ...access, '--parallel', '6');
  t.equal(status, 0, stderr);
  t.equal(stderr, '');
  t.equal(stdout.trimEnd().split('\n').length, files.length);
  t.match(stdout, `${files[0]}: 1 rows in ${join(outputs, 'orders-0.csv')}\n`);
  t.strictSame(
    readdirSync(outputs).sort(),
    files.map((_, number) => `orders-${number}.csv`),
  );
  files.forEach((_, number) => {
    t.equal(readFileSync(join(outputs, `orders-${number}.csv`), 'utf8'), `id,total\n${number},1\n`);
  });
});

t.test('a file that fails is told with its code, and the others are sent', async (t) => {
  const wrong = join(inputs, 'wrong.csv');
  writeFileSync(wrong, 'id,other\n1,2\n');
  const missing = join(inputs, 'missing.csv');
  const below = join(inputs, 'below');
  mkdirSync(below);
  const outputs = `${folder}/some/`;
  const lines = await cli('send', 'pick', wrong, missing, below, files[0]!, '-o', outputs, ...access);
  t.equal(lines.status, 1);
  t.match(lines.stderr, new RegExp(`^${wrong}: TEMPLATE_COLUMNS_MISSING: .+ \\(request [0-9a-f-]{36}\\)$`, 'm'));
  t.match(lines.stderr, /^.*missing\.csv: ENOENT/m);
  t.match(
    lines.stderr,
    /^.*below: .*below is not a regular file, so it cannot be read again if the request is repeated\.$/m,
  );
  t.equal(lines.stderr.trimEnd().split('\n').length, 3, 'a line for each');
  t.strictSame(readdirSync(outputs), ['orders-0.csv']);
  const json = await cli('send', 'pick', wrong, files[0]!, '-o', outputs, ...access, '--json', '--parallel', '1');
  const [failed, succeeded] = json.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  t.match(failed, { file: wrong, error: { code: 'TEMPLATE_COLUMNS_MISSING' } });
  t.match(succeeded, { file: files[0], output: join(outputs, 'orders-0.csv'), run: { status: 'succeeded' } });
});

t.test('rows that the Template rejects are fetched too', async (t) => {
  const input = join(inputs, 'mixed.csv');
  writeFileSync(input, 'id,amount\n1,2\n3,no number\n');
  const output = join(folder, 'mixed-out.csv');
  const { status, stdout, stderr } = await cli('send', 'strict', input, '-o', output, ...access);
  t.equal(status, 0, stderr);
  const rejects = join(folder, 'mixed-out.rejects.csv');
  t.equal(stdout, `${input}: 1 rows in ${output}, rejected rows in ${rejects}\n`);
  t.match(readFileSync(rejects, 'utf8'), /NOT_A_NUMBER.*3,no number/);
});

t.test('nothing that is sent or fetched is written over', async (t) => {
  const used = await service.quotaUsed();
  const [kept, ownRejects] = [join(inputs, 'kept.rejects.csv'), join(inputs, 'orders-0.rejects.csv')];
  for (const path of [kept, ownRejects]) writeFileSync(path, 'id,amount\n1,2\n');
  const [toInput, toOther, holding] = ['to-input', 'to-other', 'holding'].map((name) => join(folder, name));
  for (const path of [toInput, toOther, holding]) mkdirSync(path!);
  symlinkSync(files[0]!, join(toInput!, 'orders-0.csv'));
  writeFileSync(join(toOther!, 'orders-1.csv'), 'an output');
  symlinkSync('orders-1.csv', join(toOther!, 'orders-0.rejects.csv'));
  mkdirSync(join(holding!, 'orders-0.csv'));
  const cases: readonly (readonly [readonly string[], string, RegExp])[] = [
    [[kept], join(inputs, 'kept.csv'), /kept\.rejects\.csv is read by this command/],
    [[files[0]!, ownRejects], join(folder, 'met'), /both be written as orders-0\.rejects\.csv/],
    [[files[0]!], toInput!, /orders-0\.csv is the same file as/],
    [[files[0]!, files[1]!], toOther!, /orders-0\.rejects\.csv.* are the same file/],
    [[files[0]!], holding!, /orders-0\.csv is a folder/],
  ];
  for (const [sent, output, message] of cases) {
    const outcome = await cli('send', 'pick', ...sent, '-o', output, ...access);
    t.equal(outcome.status, 2, outcome.stderr);
    t.match(outcome.stderr, message);
  }
  t.equal(readFileSync(kept, 'utf8'), 'id,amount\n1,2\n');
  t.equal(await service.quotaUsed(), used, 'nothing was sent');
});

t.test('as many at a time as the plan lets be in flight, where the key may ask', async (t) => {
  for (const [isUsageRead, words] of [
    [true, []],
    [false, []],
    [true, ['--parallel', '6']],
  ] as const) {
    const narrow = await NarrowService.open(t, 1, isUsageRead);
    const outputs = join(folder, `narrow-${isUsageRead}-${words.length}`);
    // A single refusal would be the end of a file.
    const own = ['--url', narrow.url, '--key', key, '--retries', '0', ...words];
    const { status, stderr } = await cli('send', 'pick', ...files, '-o', outputs, ...own);
    t.match({ status, stderr }, { status: 0, stderr: '' });
    t.equal(readdirSync(outputs).length, files.length);
    t.equal(narrow.runs, files.length);
    const isAsked = isUsageRead && words.length === 0;
    t.equal(narrow.refusals === 0, isAsked, `${narrow.refusals} were refused`);
  }
  const taken = await NarrowService.open(t, 0, false);
  const own = ['--url', taken.url, '--key', key, '--retries', '0'];
  const { status, stderr } = await cli('send', 'pick', ...files, '-o', join(folder, 'taken'), ...own);
  t.equal(status, 1, 'others have the slots');
  t.equal(stderr.match(/: CONCURRENCY_LIMIT_REACHED: /g)?.length, files.length);
});

t.test('a pipe gets the output, and no rejected rows beside it', async (t) => {
  const input = join(inputs, 'piped.csv');
  writeFileSync(input, 'id,amount\n1,2\n3,no number\n');
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => reader.kill());
  const sent = cli('send', 'strict', input, '-o', pipe, ...access);
  t.equal(await text(reader.stdout), 'id,amount\n1,2\n');
  t.match(await sent, { status: 0, stdout: /1 rows in .*pipe, rejected rows not downloaded: / });
});

t.test('wrong usage is told before anything is sent', async (t) => {
  const used = await service.quotaUsed();
  const out = ['-o', join(folder, 'out.csv')];
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['pick', ...access, ...out], /id of a Template and a file/],
    [['pick', files[0]!, ...access], /Write -o FILE or -o DIR/],
    [['pick', files[0]!, ...out, '--key', key], /--url, or set TEMPLATE_RUN_URL/],
    [['pick', files[0]!, ...out, '--url', service.url], /--key FILE, or set TEMPLATE_RUN_API_KEY/],
    [
      ['pick', files[0]!, ...out, '--url', 'ftp://a', '--key', key],
      /--url takes an address with http:\/\/ or https:\/\/\./,
    ],
    [['pick', files[0]!, ...out, '--url', 'a.example:80', '--key', key], /write http:\/\/a\.example:80 or https:/],
    [['pick', files[0]!, ...access, '-o', files[0]!], /read by this command/],
    [['pick', files[0]!, ...access, '-o', inputs], /folder that contains only outputs/],
    [['pick', files[0]!, files[0]!, ...access, '-o', join(folder, 'twice')], /both be written as orders-0/],
    [['pick', files[0]!, ...access, ...out, '--parallel', '0'], /--parallel takes/],
  ];
  for (const [args, message] of cases) {
    const outcome = await cli('send', ...args);
    t.equal(outcome.status, 2, args.join(' '));
    t.match(outcome.stderr, message);
  }
  const nowhere = await cli('send', 'pick', files[0]!, ...access, '-o', join(folder, 'nowhere', 'out.csv'));
  t.match(nowhere, { status: 1, stderr: /ENOENT/ });
  t.equal(await service.quotaUsed(), used, 'nothing was sent');
  t.match(await cli('send', 'pick', files[0]!, ...out, '--url', service.url, '--key', join(folder, 'no.key')), {
    status: 1,
    stderr: /no\.key does not exist\.\n$/,
  });
  const apiKey = service.catalog.key('acme');
  const shown = await cli('send', 'pick', files[0]!, ...out, '--url', service.url, '--key', apiKey);
  t.match(shown, { status: 2, stderr: /--key takes the path of a file that contains the API key/ });
  t.notOk(shown.stderr.includes(apiKey), 'the key is not told');
});

t.test('address and key come from the environment too', async (t) => {
  const output = join(folder, 'one.csv');
  const child = spawn(process.execPath, [COMMAND, 'send', 'pick', files[1]!, '-o', output], {
    env: { ...process.env, TEMPLATE_RUN_URL: service.url, TEMPLATE_RUN_API_KEY: service.catalog.key('acme') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const status = await new Promise<Outcome['status'] | null>((resolve) => child.on('exit', resolve));
  t.equal(status, 0);
  t.equal(readFileSync(output, 'utf8'), 'id,total\n1,1\n');
});

t.test('the key may be in standard input, which is then read for nothing else', async (t) => {
  const output = join(folder, 'key-from-input.csv');
  const sent = async (file: string) => {
    const args = [COMMAND, 'send', 'pick', file, '-o', output, '--url', service.url, '--key', '-'];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: 'pipe' });
    child.stdin.on('error', () => {});
    child.stdin.end(`${service.catalog.key('acme')}\n`);
    const exit = new Promise<number | null>((resolve) => child.on('exit', resolve));
    const [status, stderr] = await Promise.all([exit, text(child.stderr), text(child.stdout)]);
    return { status, stderr };
  };
  t.match(await sent(files[2]!), { status: 0 });
  t.equal(readFileSync(output, 'utf8'), 'id,total\n2,1\n');
  t.match(await sent('-'), { status: 2, stderr: /Standard input can be read once/ });
});

t.test('"-" is standard input and standard output', async (t) => {
  const args = [COMMAND, 'send', 'pick', '-', '-o', '-', ...access];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'pipe' });
  child.stdin.end('id,amount\n7,8\n');
  const [output, lines] = await Promise.all([text(child.stdout), text(child.stderr)]);
  t.equal(output, 'id,total\n7,8\n', lines);
  t.match(lines, /^-: 1 rows in -$/m);
  t.notOk(readdirSync(folder).includes('-'), 'no file has that name');
  t.match(await cli('send', 'pick', ...files, '-o', '-', ...access), { status: 2, stderr: /need a folder/ });
});
