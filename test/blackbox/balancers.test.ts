// The examples in deploy/ as they stand, before a service: health and every kind of request pass. Only addresses are
// replaced, and TLS is left out. A balancer that is not installed is skipped.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { freePort } from '../fixtures/redis-server.ts';
import { Client, pause, until } from './client.ts';
import { expectNew } from './expect.ts';
import { file } from './multipart.ts';
import { RawConnection } from './raw-connection.ts';
import { checkLogs, startService } from './service.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const service = await startService(t, { accounts: { acme: {} } });
const folder = mkdtempSync(join(tmpdir(), 'template-run-balancers-'));
t.teardown(() => rmSync(folder, { recursive: true }));

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

/** Only the service's log tells this method: whether a body was served as a request. */
const SMUGGLED = 'OPTIONS /api/v1/templates HTTP/1.1\r\nHost: x\r\n\r\n';
const LENGTH = SMUGGLED.length;
const CHUNK = `${LENGTH.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;
const CODING = 'Transfer-Encoding: chunked';

/** Of which the service alone would not see the end, or only by closing the connection. */
const DOUBTFUL: readonly (readonly [method: string, headers: string, body: string])[] = [
  ['GET', `: y\r\nContent-Length: ${LENGTH}`, SMUGGLED],
  ['GET', `: y\r\n${CODING}`, CHUNK],
  ['POST', `: y\r\nContent-Length: ${LENGTH}`, SMUGGLED],
  ['POST', `: y\r\n${CODING}`, CHUNK],
  ['POST', `Content-Length: 0\r\n: y\r\n${CODING}`, CHUNK],
  ['POST', `Content-Length: 0\r\nContent-Length: ${LENGTH}`, SMUGGLED],
  ['POST', `Content-Length:\r\nContent-Length: ${LENGTH}`, SMUGGLED],
  ['POST', `Content-Length : ${LENGTH}`, SMUGGLED],
  ['POST', `Content-Length: 5\r\n${CODING}`, CHUNK],
  ['POST', 'Transfer-Encoding: xchunked', CHUNK],
  ['POST', 'Transfer-Encoding:', CHUNK],
  ['POST', 'Transfer-Encoding : chunked', CHUNK],
  ['POST', CODING, ` ${CHUNK}`],
  ['POST', CODING, `\r\n${SMUGGLED}`],
  ['POST', CODING, `${LENGTH.toString(16)} y\r\n${SMUGGLED}\r\n0\r\n\r\n`],
];

async function checkSafety(t: Test, port: number): Promise<void> {
  const authorization = `Authorization: Bearer ${service.catalog.key('acme')}`;
  for (const [method, headers, body] of DOUBTFUL) {
    const connection = await RawConnection.open(port);
    const head = `${method} /api/v1/templates HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${headers}\r\n\r\n`;
    await connection.send(head, body);
    t.not(await connection.answer(5000), null, `${method} ${headers.replace(/[\r\n]+/g, ' | ')} is answered`);
    connection.destroy();
  }
  for (const path of ['/metrics', '/livez', '//metrics', '/%6detrics', '/api/v1/../../metrics']) {
    const connection = await RawConnection.open(port);
    await connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    t.equal((await connection.answer(5000))?.status, '404', path);
    connection.destroy();
  }
  t.notOk(
    service.events.some(({ method }) => method === 'OPTIONS'),
    'no body became a request',
  );
}

/** Requests without a key, whose chunked bodies come with their heads, leave the connections to the service usable. */
async function checkOthers(t: Test, port: number): Promise<void> {
  let over = false;
  let refused = 0;
  const attack = async (): Promise<void> => {
    while (!over) {
      const answer = await new Client(port).upload('pick', [file(CSV)], { chunked: true });
      t.equal(answer.status, 401);
      refused += 1;
    }
  };
  const attacks = Promise.all(Array.from({ length: 8 }, attack));
  const client = new Client(port, service.catalog.key('acme'));
  let longest = 0;
  for (let count = 0; count < 40; count++) {
    const begun = performance.now();
    t.equal((await client.get('/api/v1/templates')).status, 200);
    longest = Math.max(longest, performance.now() - begun);
    await pause(25);
  }
  over = true;
  await attacks;
  t.ok(refused >= 20, `${refused} were refused`);
  t.ok(longest < 15_000, `a request took ${Math.round(longest)} ms at most`);
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
  await checkSafety(t, port);
  await checkOthers(t, port);
});

for (const [name, more] of [
  [
    'haproxy.cfg',
    [
      [/ {2}server node3 .*\n/, ''],
      [/errors\/503\.http/, join(DEPLOY, 'errors/503.http')],
    ],
  ],
  ['haproxy-by-account.cfg', []],
] as const satisfies readonly (readonly [string, readonly (readonly [RegExp, string])[]])[]) {
  t.test(`HAProxy, ${name}`, { skip: isMissing('haproxy') }, async (t) => {
    const port = await freePort();
    const text = example(t, name, [
      [/10\.0\.0\.11:8080/, `127.0.0.1:${service.port}`],
      [/ {2}server node2 .*\n/, ''],
      [/bind :8443 ssl crt .*\n/, `bind 127.0.0.1:${port}\n`],
      ...more,
    ]);
    writeFileSync(join(folder, name), text);
    start(t, 'haproxy', ['-db', '-f', join(folder, name)]);
    // Its first look at the node's health is over by then: a node that fails it gets no request.
    await pause(4000);
    await checkRequests(t, port);
    await checkSafety(t, port);
    await checkOthers(t, port);
  });
}

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
