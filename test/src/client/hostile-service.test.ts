// Responses of an untrusted service to `send` and to the client for Python: no control character reaches the terminal
// or a file name, and an output must have the size that its Run reports.
// With all tests only: attacks and faults of the machine.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { cli, type Outcome } from '../commands/command-line.ts';
import { OUTPUT, OUTPUT_ANSWER } from './narrow-service.ts';
import { refusal, runAnswer, ScriptedService } from './scripted-service.ts';

/** Python starts slowly on a busy machine. */
t.setTimeout(1_200_000);

const folder = mkdtempSync(join(tmpdir(), 'template-run-hostile-service-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const input = join(folder, 'in.csv');
writeFileSync(input, 'id,amount\n1,2\n');
const key = join(folder, 'api.key');
writeFileSync(key, 'trs_key\n');

/** Clears the screen, sets the title of the window, and turns the direction of the text. */
const CONTROLS = '\u001b[2J\u001b]0;title\u0007\u009b1m\u202e';
const SHOWN = '\\u001b[2J\\u001b]0;title\\u0007\\u009b1m\\u202e';
const UNPRINTABLE = /(?!\n)[\p{Cc}\u202e]/u;

const OLDEST = 'import sys; sys.exit(sys.version_info < (3, 9))';
const hasPython = spawnSync('python3', ['-c', OLDEST]).status === 0;

async function python(...words: readonly string[]): Promise<Outcome> {
  // Compiled files would become part of the package.
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const child = spawn('python3', ['examples/clients/python/template_run.py', ...words], { env });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status: status!, stdout, stderr };
}

const CLIENTS = {
  send: { run: cli, skip: false },
  Python: { run: python, skip: !hasPython && 'Python is not installed' },
};

for (const [name, { run, skip }] of Object.entries(CLIENTS)) {
  const send = (service: ScriptedService, output: string): Promise<Outcome> =>
    run('send', 'pick', input, '-o', output, '--url', service.url, '--key', key, '--retries', '0');

  t.test(`${name}: control characters of the service are escaped`, { skip }, async (t) => {
    const error = { code: `CODE${CONTROLS}`, message: `Message${CONTROLS}.` };
    const cases = {
      refused: [refusal(422, error.code, { message: error.message, request_id: `id${CONTROLS}` })],
      failed: [runAnswer(201, { status: 'failed', error })],
    };
    for (const [what, answers] of Object.entries(cases)) {
      const output = join(folder, `${name}-${what}.csv`);
      const { status, stdout, stderr } = await send(await ScriptedService.open(t, answers), output);
      t.equal(status, 1, what);
      t.equal(stdout, '');
      t.notMatch(stderr, UNPRINTABLE, what);
      t.ok(stderr.includes(SHOWN), `${what}: ${stderr}`);
    }
  });

  t.test(`${name}: JSON that is nested too deeply is an unexpected response`, { skip }, async (t) => {
    for (const body of ['['.repeat(1_000_000), `{"error":${'['.repeat(100_000)}`]) {
      const service = await ScriptedService.open(t, [{ status: 201, body }]);
      const { status, stdout, stderr } = await send(service, join(folder, `${name}-deep.csv`));
      t.equal(status, 1);
      t.equal(stdout, '');
      t.match(stderr, 'UNEXPECTED_ANSWER');
      t.equal(stderr.trim().split('\n').length, 1, 'one line, no stack');
    }
  });

  t.test(`${name}: a Run with values of other types is an unexpected response`, { skip }, async (t) => {
    const runs = [
      ...[5, {}, [], true].map((value) => ({ output: { name: value } })),
      ...['10', -1, 1.5, 1e300, {}, true].map((value) => ({ output: { name: 'output.csv', size_bytes: value } })),
      ...[5, 'text', true].flatMap((file) => [{ output: file }, { rejects: file }]),
      ...['1', {}].map((rows) => ({ rows_written: rows })),
      ...[null, 'text', {}, { code: 5 }].map((error) => ({ status: 'failed', error })),
      { status: 'unknown' },
      { status: 5 },
      { id: 5 },
    ];
    for (const [index, run] of runs.entries()) {
      const output = join(folder, `${name}-types-${index}`);
      const service = await ScriptedService.open(t, [runAnswer(201, run), OUTPUT_ANSWER]);
      const { status, stdout, stderr } = await send(service, `${output}/`);
      const what = JSON.stringify(run);
      t.equal(status, 1, what);
      t.equal(stdout, '', what);
      t.match(stderr, 'UNEXPECTED_ANSWER', what);
      t.equal(stderr.trim().split('\n').length, 1, `${what}: one line, no stack`);
    }
  });

  t.test(`${name}: control characters and paths do not become part of a file name`, { skip }, async (t) => {
    for (const [index, ending] of [`.c${CONTROLS}`, '.c/../../x', '.c\\x', `.${'x'.repeat(300)}`].entries()) {
      const output = join(folder, `${name}-${index}`);
      const service = await ScriptedService.open(t, [
        runAnswer(201, { output: { name: `output${ending}` } }),
        OUTPUT_ANSWER,
      ]);
      t.match(await send(service, `${output}/`), { status: 0, stderr: '' });
      t.strictSame(readdirSync(output), ['in'], 'the ending is left out');
      t.equal(readFileSync(join(output, 'in'), 'utf8'), OUTPUT);
    }
  });

  t.test(`${name}: an output of another size than its Run reports is not fetched`, { skip }, async (t) => {
    for (const size of [OUTPUT.length - 1, OUTPUT.length + 1]) {
      const output = join(folder, `${name}-${size}`);
      const made = runAnswer(201, { output: { name: 'output.csv', size_bytes: size } });
      const service = await ScriptedService.open(t, [made, OUTPUT_ANSWER]);
      const { status, stderr } = await send(service, `${output}/`);
      t.equal(status, 1);
      t.match(stderr, `does not have the ${size} bytes that the service reports`);
      t.equal(service.asked.filter(({ line }) => line.startsWith('GET')).length, 1, 'it is not tried again');
      t.strictSame(readdirSync(output), []);
    }
  });
}
