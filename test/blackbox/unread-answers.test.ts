// Clients that send requests and do not read the answers: whatever the path and method, the service holds little of what
// they do not read, answers others, and sends slow readers every byte.
// With all tests only: attacks and faults of the machine.
import net from 'node:net';
import t, { type Test } from 'tap';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { forgetPeak, MIB, mebibytes, resident } from '../stress/probe.ts';
import { PICK, template } from './catalog-folder.ts';
import { pause, until } from './client.ts';
import { expectNew } from './expect.ts';
import { file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

/** Maximum growth over the memory of the idle service: without bounds, each case takes hundreds of MiB. */
const GROWTH_BYTES_MAX = 96 * MIB;
const CONNECTIONS = 8;
const REQUESTS_BYTES = 880 * 1024;
/** The bytes that were sent do not grow any more after this many equal looks. */
const EQUAL_LOOKS = 5;
const LOOK_MILLISECONDS = 50;
/** Longer than what the kernel takes for a connection. */
const LARGE_ANSWER_BYTES = 8 * MIB;
const SLOW_READERS = 24;

const skip = skipBehindBalancer('it reads the answers');
/** No two parts are equal, so that a part that is sent twice, or in another place, is found. */
const DESCRIPTION = Array.from({ length: 6000 }, (_, number) => `sentence ${number} `).join('');
const DESCRIBED = template([], { description: DESCRIPTION });
const LONG = Object.fromEntries(
  Array.from({ length: Math.ceil(LARGE_ANSWER_BYTES / describedBytes()) }, (_, number) => [`t${number}`, DESCRIBED]),
);

function describedBytes(): number {
  return JSON.stringify(DESCRIBED).length;
}

/** A connection that sends, and reads only when the test requests it. */
class Unread {
  readonly #socket: net.Socket;
  #isOver = false;

  constructor(port: number) {
    this.#socket = net.connect({ port, host: '127.0.0.1' });
    this.#socket.setNoDelay(true);
    this.#socket.on('error', () => {
      this.#isOver = true;
    });
    this.#socket.on('close', () => {
      this.#isOver = true;
    });
  }

  async send(pieces: readonly string[]): Promise<void> {
    for (const piece of pieces) {
      if (this.#isOver) return;
      this.#socket.write(piece);
      if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Resolves when the service closed the connection, or takes no more of it. */
  async settled(): Promise<void> {
    let last = -1;
    for (let equal = 0; equal < EQUAL_LOOKS && !this.#isOver; ) {
      const sent = this.#socket.bytesWritten - this.#socket.writableLength;
      equal = sent === last ? equal + 1 : 0;
      last = sent;
      await pause(LOOK_MILLISECONDS);
    }
  }

  /** Reads one whole answer and returns its body. */
  answer(): Promise<string> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let head = '';
      let missingBytes = Number.POSITIVE_INFINITY;
      const closed = (): void => reject(new Error(`closed ${missingBytes} bytes before the end`));
      const take = (chunk: Buffer): void => {
        chunks.push(chunk);
        if (!head.includes('\r\n\r\n')) {
          head = Buffer.concat(chunks).toString('latin1');
          if (!head.includes('\r\n\r\n')) return;
          head = head.slice(0, head.indexOf('\r\n\r\n') + 4);
          missingBytes = head.length + Number(/^content-length: (\d+)/im.exec(head)?.[1]);
          for (const each of chunks) missingBytes -= each.length;
        } else missingBytes -= chunk.length;
        if (missingBytes > 0) return;
        this.#socket.off('data', take).off('close', closed).pause();
        resolve(Buffer.concat(chunks).toString('latin1').slice(head.length));
      };
      this.#socket.on('data', take).on('close', closed).resume();
    });
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

const service = await startService(
  t,
  { accounts: { acme: { templates: { pick: PICK } }, long: { templates: LONG } } },
  { 'memory-budget': '128MiB', console: 'yes', 'ops-port': 0, 'log-level': 'warn' },
);
const opsPort = Number(service.events.find(({ event }) => event === 'listening')?.['ops_port']);
const rows = form([file(`id,amount\n${'1,2\n'.repeat(10_000)}`)]);
const run = await service.client().upload('pick', rows);
expectNew(t, run);

interface Case {
  readonly method?: string;
  readonly path: string;
  readonly headers?: readonly string[];
  readonly port?: number;
}

const KEY = `Authorization: Bearer ${service.catalog.key('acme')}`;
const RUN = `/api/v1/runs/${run.run.id}`;
const OUTPUT = `${RUN}/output`;
const CASES: readonly Case[] = [
  { path: '/docs' },
  { path: '/docs', method: 'HEAD' },
  { path: '/api/v1/openapi.json' },
  { path: '/api/v1/openapi.json', method: 'HEAD' },
  { path: '/console' },
  { path: '/console/page.js' },
  { path: '/readyz' },
  { path: '/nowhere' },
  { path: '/api/v1/templates' },
  { path: '/api/v1/templates', method: 'OPTIONS' },
  { path: '/api/v1/templates', method: 'DELETE' },
  { path: '/api/v1/templates', headers: [KEY] },
  { path: '/api/v1/templates', method: 'HEAD', headers: [KEY] },
  { path: '/api/v1/usage', headers: [KEY] },
  { path: RUN, headers: [KEY] },
  { path: OUTPUT, headers: [KEY] },
  { path: OUTPUT, headers: [KEY, 'Range: bytes=10-20000'] },
  { path: OUTPUT, headers: [KEY, `If-None-Match: "${run.run.id}"`] },
  { path: OUTPUT, method: 'HEAD', headers: [KEY] },
  { path: '/metrics', port: opsPort },
  { path: '/livez', port: opsPort },
  { path: '/nowhere', port: opsPort },
];

t.test('pipelined requests whose answers nobody reads', { skip }, async (t) => {
  for (const each of CASES) {
    const { method = 'GET', path, headers = [], port = service.port } = each;
    const request = [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
    const text = request.repeat(Math.ceil(REQUESTS_BYTES / request.length));
    // All in one packet, and one after the other: a client that never reads may send both.
    for (const pieces of [[text], Array.from({ length: 200 }, () => request)]) {
      await expectBounded(t, `${method} ${path} ${headers.at(-1)?.slice(0, 13) ?? ''} x${pieces.length}`, port, pieces);
    }
  }
});

t.test('slow readers of large answers', { skip }, async (t) => {
  const key = `Authorization: Bearer ${service.catalog.key('long')}`;
  const whole = (await service.client('long').get('/api/v1/templates')).text;
  t.ok(whole.length > LARGE_ANSWER_BYTES, 'the answer is longer than what the kernel takes');
  const { data } = JSON.parse(whole) as { data: { description: string }[] };
  t.equal(data.length, Object.keys(LONG).length);
  t.ok(
    data.every(({ description }) => description === DESCRIPTION),
    'a quick reader gets every byte in its place',
  );
  const request = `GET /api/v1/templates HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`;
  const reader = new Unread(service.port);
  t.teardown(() => reader.destroy());
  await reader.send([request]);
  await until(heldByAnswers, (bytes) => bytes > 0);
  t.ok((await reader.answer()) === whole, 'a slow reader gets every byte');
  await reader.send([request]);
  t.ok((await reader.answer()) === whole, 'and its next answer on the same connection');
  t.equal(await until(heldByAnswers, (bytes) => bytes === 0), 0, 'then nothing is held for it');

  forgetPeak(service);
  const before = resident(service).nowBytes;
  const closedBefore = await closedForMemory();
  const readers = Array.from({ length: SLOW_READERS }, () => new Unread(service.port));
  t.teardown(() => {
    for (const each of readers) each.destroy();
  });
  for (const each of readers) await each.send([request]);
  await until(closedForMemory, (count) => count > closedBefore);
  await until(heldByAnswers, (bytes) => bytes <= 2 * whole.length);
  const grown = resident(service).peakBytes - before;
  t.ok(grown < SLOW_READERS * whole.length * 0.5, `many that read nothing hold ${mebibytes(grown)}`);
  expectNew(t, await service.client().upload('pick', rows));
});

t.test('nothing of it is in the logs', async (t) => checkLogs(t, service));

async function expectBounded(t: Test, name: string, port: number, pieces: readonly string[]): Promise<void> {
  forgetPeak(service);
  const before = resident(service).nowBytes;
  const unread = Array.from({ length: CONNECTIONS }, () => new Unread(port));
  await Promise.all(unread.map((each) => each.send(pieces)));
  await Promise.all(unread.map((each) => each.settled()));
  t.equal((await service.client().get('/api/v1/templates')).status, 200);
  const grown = resident(service).peakBytes - before;
  t.ok(grown < GROWTH_BYTES_MAX, `${name}: ${mebibytes(grown)}`);
  for (const each of unread) each.destroy();
}

async function heldByAnswers(): Promise<number> {
  return service.metric('template_run_budget_held_bytes{charge="answers"}');
}

async function closedForMemory(): Promise<number> {
  return service.metric('template_run_answers_closed_total');
}
