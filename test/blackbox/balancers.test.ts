// The examples in deploy/ before a service: health and every kind of request pass.
// With all tests only: several nodes, Redis and HAProxy.
import t, { type Test } from 'tap';
import { EXAMPLES, skipExample, startExample } from '../fixtures/deploy-example.ts';
import { Client, pause, until } from './client.ts';
import { expectNew } from './expect.ts';
import { file } from './multipart.ts';
import { RawConnection } from './raw-connection.ts';
import { checkLogs, startService } from './service.ts';

/** Until an answer has come, on a busy machine. */
const PATIENCE_MILLISECONDS = 60_000;
const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const service = await startService(t, { accounts: { acme: {} } });

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

/** Requests whose end the service alone would not detect, or only by closing the connection. */
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
    t.not(
      await connection.answer(PATIENCE_MILLISECONDS),
      null,
      `${method} ${headers.replace(/[\r\n]+/g, ' | ')} is answered`,
    );
    connection.destroy();
  }
  for (const path of ['/metrics', '/livez', '//metrics', '/%6detrics', '/api/v1/../../metrics']) {
    const connection = await RawConnection.open(port);
    await connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    t.equal((await connection.answer(PATIENCE_MILLISECONDS))?.status, '404', path);
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
  for (let count = 0; count < 40 || refused < 20; count++) {
    const begun = performance.now();
    t.equal((await client.get('/api/v1/templates')).status, 200);
    longest = Math.max(longest, performance.now() - begun);
    await pause(25);
  }
  over = true;
  await attacks;
  t.comment(`${refused} were refused, and a request took ${Math.round(longest)} ms at most`);
}

for (const name of EXAMPLES) {
  t.test(name, { skip: skipExample(name) }, async (t) => {
    const port = await startExample(t, name, service.port);
    if (name === 'nginx.conf') {
      const health = await until(
        () => new Client(port).get('/readyz').catch(() => null),
        (answer) => answer !== null,
      );
      t.equal(health?.status, 200);
    } else {
      // HAProxy needs this time to check the node's health: a node that fails the check gets no request.
      await pause(4000);
    }
    await checkRequests(t, port);
    await checkSafety(t, port);
    await checkOthers(t, port);
  });
}

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
