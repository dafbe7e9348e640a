// The language through the command: exit status, bytes, messages, secrets and progress, and the same bytes for every zone,
// language, number of workers and amount of memory.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { MEMORY_BUDGET_BYTES_MIN } from '../../src/admission/memory-budget.ts';
import { Progress } from '../../src/commands/terminal.ts';
import { cli, type Outcome, written } from '../src/commands/command-line.ts';
import { skipUnlessLong } from '../sweep.ts';

const CLI = new URL('../../src/cli.js', import.meta.url).pathname;

/** Runs the command in a separate process, for results that depend on the environment. */
function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Makes rows so large that the state of sort and dedupe goes to disk with the smallest budget. */
const FILLER = 'n'.repeat(300);

/** Processes that start on a busy machine take seconds each. */
t.setTimeout(1_200_000);

const folder = t.testdir({
  'statement.yaml': `
format: 1
input: {columns: [{name: amount, match: [Betrag]}, {name: day, match: [Datum]}]}
operations:
  - {stop_when: {where: day == "Summe"}}
  - {parse_date: {columns: [day], formats: [dd.MM.yyyy]}}
  - {parse_number: {columns: [amount], decimal: ",", grouping: "."}}
  - {dedupe: {}}
`,
  'good.csv': 'Datum;Text;Betrag\n31.01.2026;a;1.234,56\n31.01.2026;a;1.234,56\nSumme;;1.234,56\n',
  'bad.csv': 'Datum;Text;Betrag\n31.01.2026;a;geheim\n',
  'lacking.csv': 'Datum;Text\n31.01.2026;a\n',
  'broken.csv': 'Datum;Text;Betrag\n31.01.2026;"a;1\n',
  'wrong.yaml': 'format: 1\noperations:\n  - {select: {columns: [a]}}\n  - {drop: {colums: [b]}}\n',
  'hash.yaml': 'format: 1\noperations: [{hash: {columns: [mail], key: demo, length: 16}}]\n',
  'codes.yaml':
    'format: 1\ntables: {codes: {ref: codes}}\noperations: [{join: {table: codes, on: [{left: Text, right: Text}]}}]\n',
  'mail.csv': 'mail,x\nada@example.org,1\n',
  secrets: { demo: 'pepper\n' },
});
const at = (name: string) => join(folder, name);

t.test('outputs and failures', async (t) => {
  const good = await run(['run', at('statement.yaml'), at('good.csv'), '-o', at('out.csv')]);
  t.equal(good.status, 0);
  t.equal(good.stdout, '');
  t.match(good.stderr, /3 rows read, 1 written/);
  t.equal(readFileSync(at('out.csv'), 'utf8'), 'day,Text,amount\n2026-01-31,a,1234.56\n');
  t.equal((await cli('run', at('statement.yaml'), at('good.csv'))).stdout, 'day,Text,amount\n2026-01-31,a,1234.56\n');
  for (const [file, first] of [
    [
      'bad.csv',
      'TEMPLATE_ROW_ERROR: Operation 3 parse_number (line 7, /operations/2), column "amount": NOT_A_NUMBER in row 1 ',
    ],
    [
      'lacking.csv',
      'TEMPLATE_COLUMNS_MISSING: The file lacks columns that the Template needs: "amount". ' +
        'The file was read with delimiter ";", header row 0, 2 columns. Its columns: ',
    ],
    ['broken.csv', 'MALFORMED_FILE: '],
  ] as const) {
    const failed = await cli('run', at('statement.yaml'), at(file), '-o', at('none.csv'));
    t.equal(failed.status, 1, file);
    t.ok(failed.stderr.startsWith(first), `${file}: ${failed.stderr}`);
    t.notMatch(failed.stderr, /geheim/);
    t.notOk(existsSync(at('none.csv')), 'nothing is left');
  }
  const several = await cli('run', at('statement.yaml'), at('good.csv'), at('bad.csv'), '-o', at('made/here/'));
  t.equal(several.status, 1, 'one of two failed');
  t.strictSame(readdirSync(at('made/here')), ['good.csv'], 'the folder is made, for what succeeded');
  const wrong = await cli('run', at('wrong.yaml'), at('good.csv'));
  t.equal(wrong.status, 1);
  t.match(wrong.stderr, /wrong\.yaml:4:\d+ \/operations\/1\/drop\/colums UNKNOWN_PARAMETER: .*"columns"/);
  t.equal((await cli('run', at('statement.yaml'))).status, 2);
  t.equal((await cli('run', at('statement.yaml'), at('good.csv'), '--nonsense')).status, 2);
  for (const [tables, reason] of [
    ['nowhere', /The reference tables cannot be read: \S+nowhere does not exist\./],
    ['good.csv', /The reference tables cannot be read: \S+good\.csv is a file, not a folder\./],
  ] as const) {
    const refused = await cli('run', at('statement.yaml'), at('good.csv'), '--tables', at(tables));
    t.match(refused, { status: 1, stderr: reason }, tables);
  }
  mkdirSync(at('tables'));
  writeFileSync(at('tables/codes.csv'), Buffer.from('Text,code\na,caf\xe9\n', 'latin1'));
  t.match(await cli('run', at('codes.yaml'), at('good.csv'), '--tables', at('tables')), {
    status: 1,
    stderr: /The reference table "codes" cannot be read: Line 2 is not valid UTF-8\. Save the table as UTF-8\.\n/,
  });
  for (const delimiter of ['', 'ab', '"', '\u0001']) {
    t.equal((await cli('run', at('statement.yaml'), at('good.csv'), '--delimiter', delimiter)).status, 2, delimiter);
  }
});

t.test('inputs that are no files', async (t) => {
  const expected = 'day,Text,amount\n2026-01-31,a,1234.56\n';
  const pipe = at('a.pipe');
  execFileSync('mkfifo', [pipe]);
  const [piped] = await Promise.all([
    cli('run', at('statement.yaml'), pipe),
    writeFile(pipe, readFileSync(at('good.csv'))),
  ]);
  t.match(piped, { status: 0, stdout: expected });
  const [inspected] = await Promise.all([cli('inspect', pipe), writeFile(pipe, readFileSync(at('good.csv')))]);
  t.match(JSON.parse(inspected.stdout), { delimiter: ';', header_row: 0, rows: 3 });
  const child = spawn(process.execPath, [CLI, 'run', at('statement.yaml'), '-'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end(readFileSync(at('good.csv')));
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer];
  t.equal(String(bytes), expected);
  t.match(await cli('run', at('statement.yaml'), folder), { status: 1, stderr: /is a folder, not a file\./ });
  t.match(await cli('inspect', folder), { status: 1, stdout: /"error":"EISDIR"/ });
  t.match(await cli('run', at('statement.yaml'), at('nothing.csv')), {
    status: 1,
    stderr: /nothing\.csv does not exist\.\n$/,
  });
});

t.test('errors of the system are reported in one line', { skip: skipUnlessLong }, async (t) => {
  const told = await run(['run', at('statement.yaml'), at('good.csv')], { TMPDIR: at('nowhere') });
  t.equal(told.status, 1);
  t.match(
    told.stderr,
    /^template-run run: the folder for temporary files does not exist: [^\n]*nowhere\. Create it, or set TMPDIR\.\n$/,
  );
});

t.test('outputs that are no plain files, and inputs in their way', async (t) => {
  const [statement, good] = [at('statement.yaml'), at('good.csv')];
  const expected = 'day,Text,amount\n2026-01-31,a,1234.56\n';
  const pipe = at('out.pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.match(await cli('run', statement, good, '-o', pipe), { status: 0 });
  t.ok(lstatSync(pipe).isFIFO(), 'a pipe or device such as /dev/null is not replaced by a file');
  const bytes = Buffer.alloc(100);
  t.equal(bytes.toString('utf8', 0, readSync(reader, bytes)), expected);
  closeSync(reader);
  t.match(await cli('run', statement, good, '-o', '-'), { status: 0, stdout: expected });
  writeFileSync(at('linked.csv'), 'old');
  symlinkSync('linked.csv', at('link.csv'));
  t.match(await cli('run', statement, good, '-o', at('link.csv')), { status: 0 });
  t.equal(readFileSync(at('linked.csv'), 'utf8'), expected, 'a link leads to the output');
  t.ok(lstatSync(at('link.csv')).isSymbolicLink());
});

t.test('secrets', { skip: skipUnlessLong }, async (t) => {
  const hashed = await cli('run', at('hash.yaml'), at('mail.csv'), '--secrets', at('secrets'));
  t.equal(hashed.stdout, 'mail,x\neddcbc0c0fa8cbf6,1\n');
  t.match(await cli('run', at('hash.yaml'), at('mail.csv')), {
    status: 1,
    stderr: /TEMPLATE_CHECK_FAILED: The account has no secret "demo"/,
  });
  const catalog = at('catalog');
  await cli('init', catalog);
  mkdirSync(join(catalog, 'secrets/demo'), { recursive: true });
  writeFileSync(join(catalog, 'templates/demo/hashed.yaml'), readFileSync(at('hash.yaml')));
  t.match(await cli('catalog', 'check', '--catalog', catalog), {
    status: 1,
    stdout: /hashed\.yaml.*The account has no secret "demo"/,
  });
  writeFileSync(join(catalog, 'secrets/demo/demo'), 'pepper\n');
  t.match(await cli('catalog', 'check', '--catalog', catalog), { status: 0 });
});

t.test('progress is shown only on a terminal, and is removed at the end', async (t) => {
  const start = (isTTY: boolean) => {
    const stream = Object.assign(new PassThrough(), { isTTY });
    return { stream, progress: new Progress(stream, (seconds) => `${seconds} s`) };
  };
  // The process without a terminal starts first, so it has had as much time when the other has shown a line.
  const [file, terminal] = [start(false), start(true)];
  await once(terminal.stream, 'readable');
  const [shown, hidden] = [terminal, file].map(({ stream, progress }) => {
    progress.end();
    return written(stream);
  });
  t.match(shown, /^\r\u001b\[K\d+ s/);
  t.ok(shown!.endsWith('\r\u001b[K'), 'the line is clean at the end');
  t.equal(hidden, '');
});

t.test('a reader that has had enough is no fault', async (t) => {
  // More than a pipe and two buffers hold.
  writeFileSync(at('long.csv'), `a,b\n${'1,2\n'.repeat(1_000_000)}`);
  writeFileSync(at('pass.yaml'), 'format: 1\noperations: []\n');
  const child = spawn(process.execPath, [CLI, 'run', at('pass.yaml'), at('long.csv')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [status] = (await once(child, 'close')) as [number];
  t.equal(status, 141, 'as after SIGPIPE');
  t.notMatch(errors, /Unhandled|node:|EPIPE/, 'no trace');
});

const skip = existsSync('/dev/full') ? false : 'only Linux has /dev/full';
t.test('a full disk as the target of standard output is reported in one line', { skip }, async (t) => {
  const full = openSync('/dev/full', 'w');
  for (const args of [
    ['run', at('statement.yaml'), at('good.csv')],
    ['template', 'docs'],
  ]) {
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', full, 'pipe'] });
    const told: Buffer[] = [];
    child.stderr!.on('data', (text: Buffer) => told.push(text));
    const [status] = (await once(child, 'close')) as [number];
    t.equal(status, 1, args[0]!);
    t.match(
      String(Buffer.concat(told)),
      /^template-run.*: standard output cannot be written: the disk is full\.\n$/,
      args[0]!,
    );
  }
  closeSync(full);
});

t.test('the same bytes everywhere', { skip: skipUnlessLong }, async (t) => {
  const rows = Array.from({ length: 50_000 }, (_, row) => {
    const key = (row * 7_919) % 30_011;
    return `${key};İstanbul ${key % 977};${(row % 2_000) / 100 - 7};${1 + (row % 28)}.03.2026 02:${10 + (row % 50)};${FILLER}`;
  });
  writeFileSync(at('many.csv'), `key;city;value;at;note\n${rows.join('\n').replaceAll('.5;', ',5;')}\n`);
  writeFileSync(
    at('many.yaml'),
    `
format: 1
defaults: {on_error: flag}
operations:
  - {text: {columns: city, steps: [upper]}}
  - {parse_number: {columns: value, into: number}}
  - {parse_date: {columns: at, formats: ["d.MM.yyyy HH:mm"], timezone: Europe/Berlin}}
  - {set: {columns: {lower: "lower(city)", shown: 'format_date(at, "dd.MM.yyyy HH:mm")'}}}
  - {sort: {by: [city, {column: number, order: desc}]}}
  - {dedupe: {by: [key, number]}}
`,
  );
  const small = ['--memory-budget', String(MEMORY_BUDGET_BYTES_MIN)];
  const digests: string[] = [];
  for (const [name, args, env] of [
    ['plain', ['--workers', '1'], { TZ: 'UTC', LANG: 'C' }],
    ['elsewhere', ['--workers', '2'], { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }],
    ['spilling', small, { TZ: 'America/Sao_Paulo' }],
  ] as const) {
    const outcome = await run(['run', at('many.yaml'), at('many.csv'), '-o', at(name), ...args], env);
    t.equal(outcome.status, 0, `${name}: ${outcome.stderr.slice(0, 300)}`);
    digests.push(
      createHash('sha256')
        .update(readFileSync(at(name)))
        .digest('hex'),
    );
  }
  t.equal(new Set(digests).size, 1, 'one digest');
  t.match(readFileSync(at('plain'), 'utf8').slice(0, 200), /İSTANBUL 0,/);
});
