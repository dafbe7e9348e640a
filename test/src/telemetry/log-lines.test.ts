// The log when its output is blocked by a full disk or a stopped reader: the node continues to serve, and ends on SIGTERM.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { LogLines } from '../../../src/telemetry/log.ts';
import { PICK } from '../../blackbox/catalog-folder.ts';
import { Client, pause, until } from '../../blackbox/client.ts';
import { Service } from '../../blackbox/service.ts';
import { freePort } from '../../fixtures/free-port.ts';

const FULL = '/dev/full';
const SKIP_FULL = existsSync(FULL) ? false : 'this system has no /dev/full';

/** Resolves to the exit status, or to null if the process continues. */
function exitOf(child: ChildProcess): Promise<number | null> {
  return until(
    async () => child.exitCode,
    (code) => code !== null,
    60_000,
  );
}

t.test('a node whose log lies on a full disk serves, and ends at SIGTERM', { skip: SKIP_FULL }, async (t) => {
  const service = new Service({ accounts: { acme: { templates: { pick: PICK } } } });
  t.teardown(() => service.remove());
  const port = await freePort();
  const log = openSync(FULL, 'w');
  const node = service.onPort(port, log);
  t.teardown(() => node.kill('SIGKILL'));
  closeSync(log);
  const ask = (): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(60_000) }).then(
      ({ status }) => status,
      () => 0,
    );
  t.equal(await until(ask, (status) => status === 200), 200, 'it starts');
  // Its first lines have been refused by now.
  await pause(300);
  t.equal(await ask(), 200, 'it goes on');
  node.kill('SIGTERM');
  t.equal(await exitOf(node), 0, 'it ends with status 0');
});

t.test('with a stopped log reader, requests are answered, and lines are lost and counted', async (t) => {
  const service = new Service({ accounts: { acme: { templates: { pick: PICK } } } });
  t.teardown(() => service.remove());
  const folder = mkdtempSync(join(tmpdir(), 'template-run-log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  // This process is the reader, and reads nothing.
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  const log = openSync(pipe, 'w');
  const port = await freePort();
  const node = service.onPort(port, log);
  t.teardown(() => node.kill('SIGKILL'));
  closeSync(log);
  const client = new Client(port);
  const status = (path: string): Promise<number> =>
    client.get(path).then(
      (answer) => answer.status,
      () => 0,
    );
  t.equal(
    await until(
      () => status('/livez'),
      (found) => found === 200,
      180_000,
    ),
    200,
    'the node starts',
  );
  // Each request writes a line of about 250 bytes, and the pipe and the node together hold less than 1.5 MB.
  const statuses = new Set<number>();
  let lost = 0;
  for (let round = 0; round < 400 && lost === 0; round += 1) {
    const batch = await Promise.all(Array.from({ length: 50 }, () => status('/unknown')));
    for (const each of batch) statuses.add(each);
    lost = await client.metric('template_run_log_lines_lost_total');
  }
  t.ok(lost > 0, 'lost lines are counted');
  t.strictSame([...statuses], [404], 'each request is answered');
  node.kill('SIGTERM');
  t.equal(await exitOf(node), 0, 'the node ends although lines wait for the reader');
});

t.test('lines that were not taken are counted, and told when lines are taken again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'log');
  const descriptor = openSync(path, 'a');
  const lost: number[] = [];
  const lines = new LogLines(descriptor, (count) => lost.push(count));
  lines.write('one\n');
  lines.pass();
  await until(
    async () => readFileSync(path, 'utf8'),
    (text) => text === 'one\n',
  );
  closeSync(descriptor);
  for (const line of ['two\n', 'three\n']) lines.write(line);
  lines.pass();
  await pause(200);
  t.strictSame(lost, [], 'nothing is reported while nothing is taken');
  t.equal(openSync(path, 'a'), descriptor, 'the same descriptor again');
  lines.write('four\n');
  await until(
    async () => lost.length,
    (length) => length > 0,
  );
  t.strictSame(lost, [2]);
  lines.write('five\n');
  await lines.end();
  closeSync(descriptor);
  t.equal(readFileSync(path, 'utf8'), 'one\nfour\nfive\n');
});

t.test('lines that wait for a reader hold 1 MiB at most, and further ones are counted', async (t) => {
  // A separate process, whose standard output is a pipe without a reader.
  const module = new URL('../../../src/telemetry/log.js', import.meta.url).href;
  const script = `
    import { LogLines } from ${JSON.stringify(module)};
    process.stdout;
    const lines = new LogLines(1, () => {});
    const line = 'x'.repeat(99) + '\\n';
    const before = process.memoryUsage();
    for (let n = 0; n < 200000; n += 1) lines.write(line);
    const { external } = process.memoryUsage();
    process.stderr.write(JSON.stringify([lines.lostLines, external - before.external]));
    process.exit();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  t.equal(await exitOf(child), 0);
  const [lost, externalBytes] = JSON.parse(said) as [number, number];
  t.ok(lost > 200_000 - 12_000, `${lost} of 200,000 lines of 100 bytes are lost`);
  t.ok(externalBytes < 2 * 1024 * 1024, `${externalBytes} bytes of buffers`);
});

t.test('a reader that stops holds up neither who writes nor the end', async (t) => {
  // A separate process, whose standard output is a pipe. Its reader reads nothing until the end.
  const module = new URL('../../../src/telemetry/log.js', import.meta.url).href;
  const script = `
    import { LogLines } from ${JSON.stringify(module)};
    process.stdout;
    const lines = new LogLines(1, () => {});
    for (let n = 0; n < 20000; n += 1) lines.write('line ' + n + ' ' + 'x'.repeat(20) + '\\n');
    setTimeout(() => { process.stderr.write('alive'); void lines.end(); }, 300);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  // Without a listener the rest would be thrown away at the process's exit.
  const nobody = (): void => {};
  child.stdout.on('readable', nobody);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  t.equal(await exitOf(child), 0, 'it ends');
  t.equal(said, 'alive', 'its loop turned');
  child.stdout.off('readable', nobody);
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  const whole = text.split('\n').slice(0, -1);
  t.ok(whole.length > 100, 'what the pipe had room for came');
  t.ok(
    whole.every((line, n) => line.startsWith(`line ${n} `)),
    'in order',
  );
});
