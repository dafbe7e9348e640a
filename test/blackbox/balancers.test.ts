// The examples in deploy/ as they stand, before a service: health and every kind of request pass. Only addresses are
// replaced, and TLS is left out. A balancer that is not installed is skipped.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { Client, until } from './client.ts';
import { expectNew } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const service = await startService(t, { accounts: { acme: {} } });
const folder = mkdtempSync(join(tmpdir(), 'template-run-balancers-'));
t.teardown(() => rmSync(folder, { recursive: true }));

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** The example with each pattern replaced; one that is not found means that this test has to follow the example. */
function example(t: Test, name: string, replacements: readonly (readonly [RegExp, string])[]): string {
  let text = readFileSync(join(DEPLOY, name), 'utf8');
  for (const [pattern, replacement] of replacements) {
    t.match(text, pattern, `${name} has ${pattern}`);
    text = text.replace(pattern, replacement);
  }
  return text;
}

function start(t: Test, command: string, args: readonly string[]): void {
  const child: ChildProcess = spawn(command, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
}

async function checkRequests(t: Test, port: number): Promise<void> {
  const client = new Client(port, service.catalog.key('acme'));
  const list = await until(
    () => client.get('/api/v1/templates').catch(() => null),
    (answer) => answer?.status === 200,
  );
  t.equal(list?.status, 200);
  for (const chunked of [false, true]) {
    const made = await client.upload('pick', [file(CSV)], { chunked });
    expectNew(t, made);
    t.equal((await client.get(`/api/v1/runs/${made.run.id}/output`)).text, 'id,total\n001,1.50\n');
  }
}

const isMissing = (command: string): string | false =>
  spawnSync(command, ['-v']).error === undefined ? false : `${command} is not installed`;

t.test('nginx', { skip: isMissing('nginx') }, async (t) => {
  const port = await freePort();
  const server = example(t, 'nginx.conf', [
    [/127\.0\.0\.1:8080/, `127.0.0.1:${service.port}`],
    [/listen 443 ssl;/, `listen 127.0.0.1:${port};`],
    [/ {2}ssl_certificate .*\n/, ''],
    [/ {2}ssl_certificate_key .*\n/, ''],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ');
  const log = join(folder, 'nginx.log');
  const main = `daemon off; pid ${join(folder, 'nginx.pid')}; error_log ${log}; events {}\n`;
  writeFileSync(join(folder, 'nginx.conf'), `${main}http { access_log off; ${paths}\n${server}}\n`);
  start(t, 'nginx', ['-c', join(folder, 'nginx.conf'), '-e', log]);
  await checkRequests(t, port);
  t.equal((await new Client(port).get('/readyz')).status, 200);
});

t.test('HAProxy', { skip: isMissing('haproxy') }, async (t) => {
  const port = await freePort();
  const text = example(t, 'haproxy.cfg', [
    [/10\.0\.0\.11:8080/, `127.0.0.1:${service.port}`],
    [/ {2}server node2 .*\n/, ''],
    [/bind :8443 ssl crt .*\n/, `bind 127.0.0.1:${port}\n`],
  ]);
  writeFileSync(join(folder, 'haproxy.cfg'), text);
  start(t, 'haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')]);
  // Its first look at the node's health is over by then: a node that fails it gets no request.
  await new Promise((resolve) => setTimeout(resolve, 4000));
  await checkRequests(t, port);
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
