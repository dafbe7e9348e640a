// Habits of command lines that every command shares: a progress line on a terminal, -q, and no temporary files after
// a signal.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { runCli } from '../../../src/commands/run-cli.ts';
import { cli, written } from './command-line.ts';

const CLI = fileURLToPath(new URL('../../../src/cli.js', import.meta.url));

const CSV = 'id,name\n1,a\n';

const TEMPLATE = `format: 1
operations: []
tests: [{name: copies, input: {text: "a,b\\n1,2\\n"}, expect: {text: "a,b\\n1,2\\n"}}]
`;

const folder = t.testdir({ 'in.csv': CSV, 'one.yaml': TEMPLATE, 'two.yaml': TEMPLATE });
const at = (name: string): string => join(folder, name);

/** A pipe, from which a command waits for content. */
function pipe(name: string): string {
  execFileSync('mkfifo', [at(name)]);
  return at(name);
}

/** Runs a command on a terminal, and calls `goOn` when a progress line was printed. */
async function onTerminal(
  args: readonly string[],
  goOn: () => unknown,
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const terminal = (): PassThrough => Object.assign(new PassThrough(), { isTTY: true });
  const [stdout, stderr] = [terminal(), terminal()];
  // The timer of the progress line does not keep the process alive.
  const hold = setInterval(() => {}, 1_000);
  const ended = runCli(args, { stdin: process.stdin, stdout, stderr, env: { NO_COLOR: '1' } });
  await Promise.race([once(stderr, 'readable'), ended]);
  const line = written(stderr);
  await goOn();
  const status = await ended;
  clearInterval(hold);
  return { status, stdout: written(stdout), stderr: line };
}

t.test('commands that wait for a file show a progress line on a terminal', async (t) => {
  const cases: readonly (readonly [args: (file: string) => readonly string[], line: RegExp, content: string])[] = [
    [(file) => ['inspect', file], /: being read, \d+ s$/, CSV],
    [(file) => ['head', file], /\d+ rows, .*\d+ s$/, CSV],
    [(file) => ['run', '-e', 'sort: id', file], /\d+ rows, .*\d+ s$/, CSV],
    [(file) => ['template', 'draft', file], /: being drafted, \d+ s$/, CSV],
    [(file) => ['template', 'test', file], /: being tested, \d+ s$/, TEMPLATE],
    [(file) => ['template', 'diff', at('one.yaml'), at('two.yaml'), file], /being compared, \d+ s$/, CSV],
  ];
  for (const [index, [args, line, content]] of cases.entries()) {
    const file = pipe(`pipe${index}`);
    const words = args(file);
    const { status, stderr, stdout } = await onTerminal(words, () => writeFile(file, content));
    t.equal(status, 0, `${words[0]} ${words[1]}`);
    t.match(stderr, line, words.slice(0, 2).join(' '));
    t.not(stdout, '', 'the result follows');
  }
});

t.test('wait shows a progress line until the Run has ended', async (t) => {
  let isOver = false;
  const run = { id: 'run_1', created_at: '2026-01-01T00:00:00Z', template: { id: 'a' } };
  const server = http.createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    const error = { code: 'MALFORMED_FILE', message: 'no' };
    response.end(JSON.stringify(isOver ? { ...run, status: 'failed', error } : { ...run, status: 'running' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const key = at('api.key');
  writeFileSync(key, 'trs_1');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found = await onTerminal(['wait', 'run_1', '--url', url, '--key', key], () => {
    isOver = true;
  });
  t.match(found, { status: 1, stderr: /run_1: waiting, \d+ s$/, stdout: /run_1: failed, MALFORMED_FILE/ });
});

t.test('-q suppresses lines about success, and every command accepts it', async (t) => {
  t.strictSame(await cli('template', 'test', '-q', at('one.yaml')), { status: 0, stdout: '', stderr: '' });
  t.strictSame(await cli('template', 'check', '-q', at('one.yaml')), { status: 0, stdout: '', stderr: '' });
  writeFileSync(at('wrong.yaml'), TEMPLATE.replace('expect: {text: "a,b', 'expect: {text: "a,c'));
  const failed = await cli('template', 'test', '--quiet', at('one.yaml'), at('wrong.yaml'));
  t.match(failed, { status: 1, stdout: /^FAILED .*wrong\.yaml: copies\n/, stderr: '' });
  t.match(await cli('inspect', '-q', at('in.csv')), { status: 0, stderr: '' });
  t.match(await cli('init', '-q', at('catalog')), { status: 0, stdout: /^trs_\S+\n$/, stderr: '' });
  t.strictSame(await cli('catalog', 'check', '-q', at('catalog')), { status: 0, stdout: '', stderr: '' });
  const add = ['accounts', 'add', 'acme', '--plan', 'demo', '-q', '--catalog', at('catalog')];
  t.strictSame(await cli(...add), { status: 0, stdout: '', stderr: '' });
  for (const words of [
    ['openapi'],
    ['template', 'docs'],
    ['template', 'explain', at('one.yaml')],
    ['completion', 'fish'],
  ])
    t.match(await cli(...words, '--quiet'), { status: 0, stderr: '' }, words.join(' '));
});

t.test('a signal ends a command that reads standard input, and leaves no temporary folder', async (t) => {
  const commands = [
    ['inspect', '-'],
    ['template', 'draft', '-'],
    ['template', 'check', at('one.yaml'), '--sample', '-'],
    ['head', '-'],
  ];
  const statuses = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [index, words] of commands.entries())
    for (const [signal, status] of Object.entries(statuses)) {
      const scratch = mkdtempSync(at('scratch-'));
      const child = spawn(process.execPath, [CLI, ...words], { env: { ...process.env, TMPDIR: scratch } });
      child.stdin.write(CSV);
      while (child.exitCode === null && readdirSync(scratch).length === 0)
        await new Promise((resolve) => setTimeout(resolve, 5));
      const closed = once(child, 'close');
      child.kill(signal as NodeJS.Signals);
      const [found] = await closed;
      // The commands over local files always end with the status of SIGINT.
      t.ok(found === status || (index === 3 && found === 130), `${words.join(' ')}: ${signal} ${found}`);
      t.strictSame(readdirSync(scratch), [], `${words.join(' ')}: ${signal}`);
    }
});
