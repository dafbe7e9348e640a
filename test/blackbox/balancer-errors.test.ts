// Errors that the balancers themselves send to clients of the API are JSON, with Retry-After where the client should try
// again: a node that dies, hangs, is not ready or is away, and paths and requests that the balancer refuses. A node that drains
// finishes the requests that it has.
// With all tests only: several nodes, Redis and HAProxy.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { skipWithoutHaproxy, startBalancer } from '../fixtures/balancer.ts';
import { EXAMPLES, type ExampleName, type Replacement, skipExample, startExample } from '../fixtures/deploy-example.ts';
import { Fleet } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { Client, pause, until } from './client.ts';
import { RawConnection } from './raw-connection.ts';

const PATIENCE_MILLISECONDS = 240_000;
/** HAProxy asks each node once in this time. */
const CHECK_MILLISECONDS = 1_000;
const CHECKS = 4;
/** The examples wait 90 s for an answer. */
const SHORT_WAIT: Readonly<Record<'nginx' | 'haproxy', Replacement>> = {
  nginx: [/proxy_read_timeout 90s/, 'proxy_read_timeout 4s'],
  haproxy: [/timeout server 90s/, 'timeout server 4s'],
};
type Answer = Awaited<ReturnType<Client['get']>>;

/** A node whose health and answers the test decides. */
class StubNode {
  health: 200 | 503 | 'hang' = 200;
  /** Health checks that were answered with 503. */
  unreadyChecks = 0;
  /** Requests for Runs that wait for `release`. */
  readonly waiting: http.ServerResponse[] = [];
  readonly #server = http.createServer((request, response) => this.#answer(request, response));

  static async start(t: Test): Promise<StubNode> {
    const node = new StubNode();
    await new Promise<void>((resolve) => node.#server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => node.stop());
    return node;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  release(): void {
    for (const response of this.waiting.splice(0)) response.end('{"id":"run_1"}');
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    if (request.url === '/readyz') {
      if (this.health === 503) this.unreadyChecks += 1;
      if (this.health !== 'hang') response.writeHead(this.health).end('{}');
    } else if (request.url === '/api/v1/dies') {
      request.socket.destroy();
    } else if (request.url === '/api/v1/waits') {
      this.waiting.push(response);
    } else {
      response.end(String(this.port));
    }
  }
}

function isJson(t: Test, answer: Answer, status: number, error: string, what: string): void {
  t.equal(answer.status, status, `${what}: the status`);
  t.equal(answer.headers['content-type'], 'application/json', `${what}: the type`);
  const body = answer.json as { readonly error: string; readonly message: string };
  t.equal(body.error, error, `${what}: the code`);
  t.match(body.message, /\.$/, `${what}: the message`);
  if (status >= 502) t.match(answer.headers['retry-after'], /^[1-9]\d*$/, `${what}: Retry-After`);
}

async function startBefore(
  t: Test,
  name: ExampleName,
  node: StubNode,
  replacements: readonly Replacement[] = [],
): Promise<Client> {
  const client = new Client(await startExample(t, name, node.port, replacements));
  await until(
    () => client.get('/api/v1/templates').catch(() => null),
    (answer) => answer?.status === 200,
    PATIENCE_MILLISECONDS,
  );
  return client;
}

for (const name of EXAMPLES) {
  const kind = name === 'nginx.conf' ? 'nginx' : 'haproxy';
  t.test(name, { skip: skipExample(name) }, async (t) => {
    t.test('a node that dies, hangs or is away, and paths outside the API', async (t) => {
      const node = await StubNode.start(t);
      const client = await startBefore(t, name, node, [SHORT_WAIT[kind]]);
      for (const path of ['/', '/metrics', '/api', '/api/v2/templates']) {
        isJson(t, await client.get(path), 404, 'NOT_FOUND', path);
      }
      isJson(t, await client.get('/api/v1/dies'), 502, 'BAD_GATEWAY', 'a node that dies');
      isJson(t, await client.get('/api/v1/waits'), 504, 'GATEWAY_TIMEOUT', 'a node that is too slow');
      await node.stop();
      const away = await until(
        () => client.get('/api/v1/templates'),
        ({ status }) => kind === 'nginx' || status === 503,
        PATIENCE_MILLISECONDS,
      );
      if (kind === 'nginx') isJson(t, away, 502, 'BAD_GATEWAY', 'the node is away');
      else isJson(t, away, 503, 'SERVER_BUSY', 'no node is there');
    });

    t.test('requests that are not valid HTTP', async (t) => {
      const node = await StubNode.start(t);
      const client = await startBefore(t, name, node);
      for (const head of [
        'GET /api/v1/templates HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n',
        'NONSENSE\r\n\r\n',
        'CONNECT x:80 HTTP/1.1\r\nHost: y\r\n\r\n',
        'POST /api/v1/templates HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
        `GET /api/v1/templates HTTP/1.1\r\nHost: x\r\nA: ${'y'.repeat(40_000)}\r\n\r\n`,
        `GET /api/v1/${'y'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      ]) {
        const connection = await RawConnection.open(client.port);
        await connection.send(head);
        const answer = await connection.answer(PATIENCE_MILLISECONDS);
        connection.destroy();
        const what = head.slice(0, 30).trim();
        t.match(answer?.status, /^4\d\d$/, what);
        // HAProxy has its page for these built in.
        if (kind === 'nginx') t.match(JSON.parse(answer!.body), { error: 'MALFORMED_REQUEST' }, what);
      }
    });

    t.test('valid requests that the HTTP library of a node answers in HTML or not at all', async (t) => {
      const node = await StubNode.start(t);
      const client = await startBefore(t, name, node);
      const begin = 'GET /api/v1/templates HTTP/1.1\r\nHost: x\r\n';
      const long = `A: ${'y'.repeat(6_000)}\r\n`;
      const heads: Readonly<Record<string, readonly [head: string, status: string]>> = {
        'a head of 12 KB': [begin + long.repeat(2), '200'],
        'a head of 18 KB': [begin + long.repeat(3), '400'],
        '95 headers': [begin + 'A: y\r\n'.repeat(94), '200'],
      };
      const checked: typeof heads = {
        '97 headers': [begin + 'A: y\r\n'.repeat(96), '400'],
        'HTTP/1.0': [begin.replace('1.1', '1.0'), '400'],
        'a control character in a value': [`${begin}A: a\u0001b\r\n`, '400'],
        'a tab in a value': [`${begin}A: a\tb\r\n`, '200'],
      };
      // nginx has no setting for these.
      for (const [what, [head, status]] of Object.entries(kind === 'nginx' ? heads : { ...heads, ...checked })) {
        const connection = await RawConnection.open(client.port);
        await connection.send(`${head}\r\n`);
        const answer = await connection.answer(PATIENCE_MILLISECONDS);
        connection.destroy();
        t.equal(answer?.status, status, what);
        // HAProxy has its page for a head that is too long built in.
        const isJsonHere = status !== '200' && (kind === 'nginx' || what in checked);
        if (isJsonHere) t.match(JSON.parse(answer!.body), { error: 'MALFORMED_REQUEST' }, what);
      }
    });
  });
}

for (const name of ['haproxy.cfg', 'haproxy-by-account.cfg'] as const) {
  t.test(`${name}: health`, { skip: skipExample(name) }, async (t) => {
    t.test('a node that hangs: requests that it has are answered, long before they time out', async (t) => {
      const node = await StubNode.start(t);
      const client = await startBefore(t, name, node);
      const waits = client.get('/api/v1/waits');
      await until(
        async () => node.waiting.length,
        (count) => count === 1,
        PATIENCE_MILLISECONDS,
      );
      node.health = 'hang';
      isJson(t, await waits, 502, 'BAD_GATEWAY', 'the node hangs');
      isJson(t, await client.get('/api/v1/templates'), 503, 'SERVER_BUSY', 'no node is there');
    });

    t.test('a node that is not ready finishes its requests, and answers for itself if no node is ready', async (t) => {
      const nodes = [await StubNode.start(t), await StubNode.start(t)];
      const client = await startBefore(t, name, nodes[0]!, [
        [/ {2}server node1 .*\n/g, `$&  server node2 127.0.0.1:${nodes[1]!.port}\n`],
      ]);
      const waits = client.get('/api/v1/waits');
      const [busy] = await until(
        async () => nodes.filter(({ waiting }) => waiting.length > 0),
        ({ length }) => length === 1,
        PATIENCE_MILLISECONDS,
      );
      busy!.health = 503;
      const askSixTimes = async (): Promise<string[]> => {
        const answers: string[] = [];
        for (let count = 0; count < 6; count++) answers.push((await client.get('/api/v1/templates')).text);
        return answers;
      };
      const other = nodes.find((node) => node !== busy)!;
      const answers = await until(askSixTimes, (ports) => new Set(ports).size === 1, PATIENCE_MILLISECONDS);
      t.equal(answers[0], String(other.port), 'new requests go to the other node');
      busy!.release();
      t.equal((await waits).status, 200);
      other.health = 503;
      await until(
        async () => other.unreadyChecks,
        (count) => count >= 6,
        PATIENCE_MILLISECONDS,
      );
      for (const text of await askSixTimes()) t.match(text, /^\d+$/, 'a node that is not ready answers');
    });
  });
}

t.test('without Redis, templates are still listed', { skip: skipWithoutRedis || skipWithoutHaproxy }, async (t) => {
  const fleet = await Fleet.start(t, { accounts: { acme: {} } });
  const client = new Client(
    await startBalancer(
      t,
      fleet.nodes.map(({ port }) => port),
    ),
    fleet.catalog.key('acme'),
  );
  const listed = await until(
    () => client.get('/api/v1/templates'),
    ({ status }) => status === 200,
    PATIENCE_MILLISECONDS,
  );
  t.equal(listed.status, 200);
  await fleet.redis.kill();
  for (const { port } of fleet.nodes) {
    await until(
      () => new Client(port).get('/readyz'),
      ({ status }) => status === 503,
      PATIENCE_MILLISECONDS,
    );
  }
  // HAProxy learns meanwhile that no node is ready.
  for (let count = 0; count < CHECKS; count++) {
    t.equal((await client.get('/api/v1/templates')).status, 200);
    await pause(CHECK_MILLISECONDS);
  }
  isJson(t, await client.get('/api/v1/usage'), 503, 'SERVER_BUSY', 'usage');
});
