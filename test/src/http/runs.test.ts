// create_run over HTTP with a stub worker that fails, waits or dies as its file requests: concurrent requests with one
// key, clients that disconnect, lost threads, late parameters. After each of them, all resources are released.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { pause, until } from '../../blackbox/client.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { KEY, writeCatalog } from './one-account.ts';

const ENTRY = fileURLToPath(new URL('../../fixtures/serve-stub.js', import.meta.url));
/** Runs that are charged or reserved: one more as soon as an upload has been let in. */
const QUOTA_USED = 'template_run_quota_used{account="acme"}';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: {
    id: string;
    status: string;
    error: unknown;
    message?: string;
    report: { input: { delimiter: string } };
  };
}

class Node {
  readonly folder = mkdtempSync(join(tmpdir(), 'template-run-http-'));
  #process: ChildProcess | null = null;
  port = 0;

  async start(flags: readonly string[]): Promise<void> {
    writeCatalog(join(this.folder, 'catalog'));
    const places = ['--catalog', join(this.folder, 'catalog'), '--data', join(this.folder, 'data')];
    const args = [
      ENTRY,
      ...places,
      ...'--port 0 --workers 1 --drain-ms 500 --metrics-on-api-port yes'.split(' '),
      ...flags,
    ];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    this.port = await new Promise((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (lines: string) => {
        const found = /"event":"listening".*?"port":(\d+)/.exec(lines);
        if (found) resolve(Number(found[1]));
      });
    });
  }

  async stop(): Promise<number | null> {
    const exited = new Promise<number | null>((resolve) => this.#process?.on('exit', resolve));
    this.#process?.kill('SIGTERM');
    const status = await exited;
    rmSync(this.folder, { recursive: true });
    return status;
  }

  async post(parts: readonly (readonly [string, string])[], key: string | null = null): Promise<Answer> {
    const form = new FormData();
    for (const [name, value] of parts) {
      if (name === 'file') form.append('file', new Blob([value]), 'a.csv');
      else form.append(name, value);
    }
    const headers: Record<string, string> = { authorization: `Bearer ${KEY}` };
    if (key !== null) headers['idempotency-key'] = key;
    return answerOf(await fetch(this.#url('templates/t/runs'), { method: 'POST', body: form, headers }));
  }

  async get(id: string): Promise<Answer> {
    return answerOf(await fetch(this.#url(`runs/${id}`), { headers: { authorization: `Bearer ${KEY}` } }));
  }

  /** A client that has sent `sent` of an upload of `length` bytes and waits. */
  async hold(sent: string, length: number, key: string | null): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    const head = ['POST /api/v1/templates/t/runs HTTP/1.1', 'Host: x', `Authorization: Bearer ${KEY}`];
    head.push(...(key === null ? [] : [`Idempotency-Key: ${key}`]), `Content-Length: ${length}`);
    head.push('Content-Type: multipart/form-data; boundary=B');
    socket.write(`${head.join('\r\n')}\r\n\r\n${sent}`);
    await pause(150);
    return socket;
  }

  /** Resolves when the node holds nothing of any Run but its records; fails the test when that takes too long. */
  async idle(t: Test): Promise<void> {
    const isNothing = (held: readonly number[]): boolean => held.every((amount) => amount === 0);
    const held = await until(() => this.#held(), isNothing);
    t.strictSame(held, [0, 0, 0, 0, 0], 'reservations, bodies, threads, Runs in the pool, spool files');
  }

  /** Resolves when a gauge has the value, however busy the machine is. */
  async reaches(name: string, expected: number): Promise<void> {
    const value = async (): Promise<number> => (await this.#metrics())(name);
    const found = await until(value, (now) => now === expected);
    if (found !== expected) throw new Error(`${name} is ${found}, and not ${expected}`);
  }

  async #metrics(): Promise<(name: string) => number> {
    const lines = (await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text()).split('\n');
    return (name) => Number(lines.find((line) => line.startsWith(name))?.split(' ')[1]);
  }

  async #held(): Promise<number[]> {
    const value = await this.#metrics();
    const charges = ['reservations', 'bodies', 'threads'].map((charge) =>
      value(`template_run_budget_held_bytes{charge="${charge}"}`),
    );
    return [...charges, value('template_run_runs_in_pool'), readdirSync(join(this.folder, 'data/spool')).length];
  }

  #url(path: string): string {
    return `http://127.0.0.1:${this.port}/api/v1/${path}`;
  }
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, json: (await response.json()) as Answer['json'] };
}

/** All that comes until the connection ends. */
async function textOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const bytes of socket) text += String(bytes);
  return text;
}

async function startNode(t: Test, ...flags: string[]): Promise<Node> {
  const node = new Node();
  await node.start(flags);
  t.teardown(() => node.stop());
  return node;
}

const FILE_HEAD = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n';
const LARGE = `a,b\n${'1,2\n'.repeat(200_000)}`;

t.test('a lost thread: RUN_INTERRUPTED, and the same request makes a new Run', { skip: skipUnlessLong }, async (t) => {
  const node = await startNode(t);
  const first = await node.post([['file', 'crash']], 'k');
  t.equal(first.status, 201);
  t.match(first.json, { status: 'failed', error: { code: 'RUN_INTERRUPTED' } });
  const again = await node.post([['file', 'crash']], 'k');
  t.equal(again.status, 201);
  t.not(again.json.id, first.json.id);
  t.equal((await node.post([['file', 'other']], 'k')).status, 409);
  t.equal((await node.post([['file', 'works']])).json.status, 'succeeded');
  await node.idle(t);
});

t.test('faults and late failures: an HTTP error while the POST waits, a failed Run after a 202', async (t) => {
  const patient = await startNode(t);
  t.match(await patient.post([['file', 'fault']]), { status: 500, json: { error: 'INTERNAL_ERROR' } });
  t.match(await patient.post([['file', 'fail TEMPLATE_COLUMNS_MISSING']]), { status: 422 });
  t.match(await patient.post([['file', 'fail TEMPLATE_ROW_ERROR']]), { status: 201, json: { status: 'failed' } });
  await patient.idle(t);
  const node = await startNode(t, '--wait-ms', '150');
  const late = await node.post([['file', 'late MALFORMED_FILE 6000']], 'k');
  t.equal(late.status, 202);
  t.equal(late.headers.get('retry-after'), '1');
  const ended = await until(
    () => node.get(late.json.id),
    ({ json }) => json.status !== 'running',
  );
  t.match(ended, { status: 200, json: { status: 'failed', error: { code: 'MALFORMED_FILE' } } });
  t.match(await node.post([['file', 'late MALFORMED_FILE 6000']], 'k'), { status: 200, json: { id: late.json.id } });
  await node.idle(t);
});

t.test('a Run given up while its end is on the way leaves no output', { skip: skipUnlessLong }, async (t) => {
  const node = await startNode(t, '--run-timeout-ms', '4000');
  const outputs = (): string[] => readdirSync(join(node.folder, 'data/outputs'));
  const late = node.post([['file', `hold 12000\n${LARGE}`]], 'k');
  await until(
    async () => outputs().length,
    (count) => count > 0,
  );
  t.equal(outputs().length, 1, 'the output is there');
  t.match(await late, { status: 201, json: { status: 'failed', error: { code: 'RUN_TIMEOUT' } } });
  await node.idle(t);
  t.strictSame(outputs(), []);
});

t.test('20 at once with one key make one Run', async (t) => {
  const node = await startNode(t);
  const answers = await Promise.all(Array.from({ length: 20 }, () => node.post([['file', 'sleep 200']], 'k')));
  t.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  t.equal(answers.filter(({ status }) => status === 201).length, 1);
  t.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length, 19);
  await node.idle(t);
});

t.test(
  'the first vanishes while it uploads: a repeat takes its place, the others repeat that one',
  { skip: skipUnlessLong },
  async (t) => {
    const node = await startNode(t);
    const first = await node.hold(`${FILE_HEAD}abc`, 1_000_000, 'k');
    await node.reaches(QUOTA_USED, 1);
    const repeats = Array.from({ length: 3 }, () => node.post([['file', LARGE]], 'k'));
    await node.reaches('template_run_runs_aside', 3);
    first.destroy();
    const answers = await Promise.all(repeats);
    t.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
    t.strictSame(answers.map(({ status }) => status).sort(), [200, 200, 201]);
    await node.idle(t);
  },
);

t.test(
  'the first stays: a repeat waits its time and is told that it still uploads',
  { skip: skipUnlessLong },
  async (t) => {
    const node = await startNode(t, '--wait-ms', '300');
    const first = await node.hold(`${FILE_HEAD}abc`, 1_000_000, 'k');
    await node.reaches(QUOTA_USED, 1);
    const repeat = await node.post([['file', 'abc']], 'k');
    t.match(repeat, { status: 503, json: { error: 'SERVER_BUSY' } });
    first.destroy();
    await node.idle(t);
    // A busy machine may need longer than the wait for the Run.
    const { status, headers } = await node.post([['file', 'abc']], 'k');
    t.ok([201, 202].includes(status), `a new Run is made: ${status}`);
    t.equal(headers.get('idempotent-replayed'), null, 'it is not a replay');
  },
);

t.test('clients that vanish leak nothing', { skip: skipUnlessLong }, async (t) => {
  const node = await startNode(t);
  const form = (content: string): string => `${FILE_HEAD}${content}\r\n--B--\r\n`;
  const whole = form('sleep 60000');
  for (const key of [null, 'gone']) {
    (await node.hold('--B\r\nConte', 1000, key)).destroy();
    (await node.hold(`${FILE_HEAD}abc`, 1000, key)).destroy();
    (await node.hold(`${FILE_HEAD}${LARGE}`, 10_000_000, key)).destroy();
  }
  // Without a key, no client can read the Run, so it is cancelled.
  (await node.hold(whole, whole.length, null)).destroy();
  const large = form(`sleep 60000\n${LARGE}`);
  (await node.hold(large, large.length, null)).destroy();
  await node.idle(t);
  // With a key, the Run continues.
  const short = form('sleep 5000');
  const kept = await node.hold(short, short.length, 'kept');
  await node.reaches('template_run_runs_in_pool', 1);
  kept.destroy();
  const repeat = await node.post([['file', 'sleep 5000']], 'kept');
  t.match(repeat, { status: 200, json: { status: 'succeeded' } });
  await node.idle(t);
});

t.test('parameters after a large file begin the work anew', { skip: skipUnlessLong }, async (t) => {
  const node = await startNode(t);
  const answer = await node.post([
    ['file', LARGE],
    ['delimiter', '|'],
  ]);
  t.match(answer, { status: 201, json: { status: 'succeeded', report: { input: { delimiter: '|' } } } });
  const voided = await node.post([
    ['file', `fail MALFORMED_FILE\n${LARGE}`],
    ['header_row', 'x'],
  ]);
  t.match(voided, { status: 422, json: { error: 'INVALID_PARSE_PARAMS' } });
  await node.idle(t);
});

t.test(
  'a refused client that still sends is answered at once, read to its end, and not reset',
  { skip: skipUnlessLong },
  async (t) => {
    const node = await startNode(t);
    const start = '--B\r\nbroken\r\n\r\n';
    const socket = await node.hold(start, 3_000_000, null);
    let answer = '';
    let failed: Error | null = null;
    socket.on('data', (bytes) => {
      answer += bytes.toString();
    });
    socket.on('error', (error) => {
      failed = error;
    });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await until(
      async () => answer,
      (text) => text.trimEnd().endsWith('}'),
    );
    t.match(answer, /^HTTP\/1\.1 400 [\s\S]*"error":"MALFORMED_FILE"/);
    for (let sent = start.length; sent < 3_000_000; sent += 100_000) {
      socket.write(Buffer.alloc(Math.min(100_000, 3_000_000 - sent)));
      await pause(5);
    }
    await closed;
    t.equal(failed, null);
    await node.idle(t);
  },
);

t.test('a drain ends with status 0 and answers everybody', async (t) => {
  const node = new Node();
  await node.start(['--workers', '1']);
  const file = 'sleep 60000';
  const end = '\r\n--B--\r\n';
  const first = await node.hold(`${FILE_HEAD}${file}`, FILE_HEAD.length + file.length + end.length, 'k');
  await node.reaches(QUOTA_USED, 1);
  const repeat = node.post([['file', file]], 'k');
  await node.reaches('template_run_runs_aside', 1);
  const answer = textOf(first);
  first.write(end);
  await node.reaches('template_run_runs_in_pool', 1);
  const stopped = node.stop();
  t.match(await answer, /^HTTP\/1\.1 201 [\s\S]*"code":"RUN_INTERRUPTED"/);
  t.match(await repeat, { status: 200, json: { error: { code: 'RUN_INTERRUPTED' } } });
  t.equal(await stopped, 0);
});
