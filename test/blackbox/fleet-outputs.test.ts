// Outputs that are too large for Redis, in a folder and in a bucket: the same from every node, and a place that hangs
// delays only requests that need it.
// With all tests only: several nodes, Redis and HAProxy.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { Fleet, type FleetOptions } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { S3Server } from '../fixtures/s3-server.ts';
import { plan } from './catalog-folder.ts';
import { type Answer, until } from './client.ts';
import { expectError, expectNew, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, checkLogs, type Service } from './service.ts';

const HANGING = fileURLToPath(new URL('../fixtures/hanging-folder.js', import.meta.url));
const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const rows = (count: number): string =>
  `id,amount\n${Array.from({ length: count }, (_, index) => `${index},${index * 3}\n`).join('')}`;
/** Outputs that the engine leaves in a file, and in memory. */
const LARGE = [rows(20_000), rows(3_000)];
const ACCOUNTS = { acme: { plan: 'many' } };
const PLANS = { many: plan({ runs_in_flight_max: 100 }) };

/** A place of outputs that can hang, and how nodes find it. */
interface Place {
  readonly options: FleetOptions;
  hang(): void;
  goOn(): void;
}

function hangingFolder(t: Test): Place {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-hanging-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [outputs, pipe] = [join(folder, 'outputs'), join(folder, 'pipe')];
  mkdirSync(outputs);
  return {
    options: {
      outputs,
      environment: { HANGING_FOLDER: outputs, HANGING_PIPE: pipe },
      program: ['--import', HANGING, COMMAND, 'serve'],
    },
    hang: () => void spawnSync('mkfifo', [pipe]),
    goOn: () => {
      // A blocked reader continues when another process opens the pipe for writing. O_RDWR does not wait for a reader.
      const writer = openSync(pipe, constants.O_RDWR);
      unlinkSync(pipe);
      t.teardown(() => closeSync(writer));
    },
  };
}

async function hangingBucket(t: Test): Promise<Place> {
  const store = await S3Server.open(t);
  return {
    options: { outputs: 's3://bucket/outputs', environment: store.environment },
    hang: () => store.stall(),
    goOn: () => store.goOn(),
  };
}

const PLACES: readonly (readonly [string, (t: Test) => Place | Promise<Place>])[] = [
  ['a folder', hangingFolder],
  ['a bucket', hangingBucket],
];

/** Maximum time for which a folder hangs while others are served, on a busy machine. */
const HANG_MILLISECONDS_MAX = 600_000;

const start = (t: Test, { options }: Place, flags: FleetOptions['flags'] = {}): Promise<Fleet> =>
  Fleet.start(t, { plans: PLANS, accounts: ACCOUNTS }, { ...options, flags });

async function heldBytes(service: Service): Promise<number> {
  const { text } = await service.client().get('/metrics');
  const lines = text.match(/^template_run_budget_held_bytes\{.*$/gm) ?? [];
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const outputOf = ({ run }: Answer): string => `/api/v1/runs/${run.id}/output`;

for (const [name, open] of PLACES) {
  t.test(
    `outputs in ${name}: whole, ranges, conditions and digests from every node`,
    { skip: skipWithoutRedis },
    async (t) => {
      const fleet = await start(t, await open(t));
      for (const text of LARGE) {
        const made = await fleet.client(0).upload('pick', [file(text)]);
        expectNew(t, made);
        const expected = Buffer.from(text.replace('amount', 'total'));
        const digest = `sha-256=:${createHash('sha256').update(expected).digest('base64')}:`;
        for (const client of [fleet.client(1), fleet.client(0)]) {
          const whole = await client.get(outputOf(made), { 'want-repr-digest': 'sha-256=1' });
          t.ok(whole.body.equals(expected), `${expected.length} bytes`);
          t.equal(whole.headers['repr-digest'], digest);
          const etag = String(whole.headers.etag);
          const part = await client.get(outputOf(made), { range: 'bytes=1000-20999', 'if-range': etag });
          t.equal(part.status, 206);
          t.ok(part.body.equals(expected.subarray(1000, 21_000)));
          t.equal((await client.get(outputOf(made), { range: 'bytes=5-', 'if-range': '"other"' })).status, 200);
          t.equal((await client.get(outputOf(made), { 'if-none-match': etag })).status, 304);
          t.equal((await client.get(outputOf(made), { range: `bytes=${expected.length}-` })).status, 416);
        }
      }
      for (const node of fleet.nodes) await checkLogs(t, node, [fleet.catalog.key('acme')]);
    },
  );

  t.test(
    `${name} that hangs: other requests are served, the budget is not exceeded, and later all uploads finish`,
    { skip: skipWithoutRedis },
    async (t) => {
      const place = await open(t);
      const fleet = await start(t, place, { 'memory-budget': '256MiB', 'wait-ms': HANG_MILLISECONDS_MAX });
      const [client, node] = [fleet.client(0, 'acme', HANG_MILLISECONDS_MAX), fleet.nodes[0]!];
      const before = await client.upload('pick', [file(LARGE[0]!)]);
      expectNew(t, before);
      const idleBytes = await heldBytes(node);
      const limitBytes = await node.metric('template_run_budget_limit_bytes');

      place.hang();
      const stuck = LARGE.flatMap((text) => [text, text]).map((text) => client.upload('pick', [file(text)]));
      let stuckEnded = 0;
      const ended = (): void => {
        stuckEnded += 1;
      };
      for (const each of stuck) void each.then(ended, ended);
      await until(
        () => fleet.quotaUsed(),
        (used) => used === 1 + stuck.length,
      );
      const downloads = Array.from({ length: 6 }, () =>
        client.get(outputOf(before), { 'want-repr-digest': 'sha-256=1' }),
      );
      const times: number[] = [];
      for (let count = 0; count < 50; count += 1) {
        const begun = performance.now();
        const small = await client.upload('pick', [file(CSV)]);
        expectNew(t, small);
        t.equal((await client.get(outputOf(small))).text, 'id,total\n001,1.50\n');
        t.equal((await client.get('/api/v1/templates')).status, 200);
        times.push((performance.now() - begun) / 3);
      }
      const [slowest] = times.sort((one, other) => other - one);
      t.comment(`a request took ${Math.round(times[25]!)} ms at the median, ${Math.round(slowest!)} ms at most`);
      t.equal(stuckEnded, 0, 'the place still hangs');
      for (const download of await Promise.all(downloads)) expectError(t, download, 503, 'SERVER_BUSY');
      t.ok((await node.metric('template_run_outputs_errors_total{kind="timeout"}')) > 0 || name !== 'a folder');

      const more: Promise<Answer>[] = [];
      let refused = 0;
      while (refused === 0 && more.length < 200) {
        const upload = client.upload('pick', [file(LARGE[more.length % LARGE.length]!)]);
        void upload.then(({ status }) => (refused += status === 503 ? 1 : 0));
        more.push(upload);
        await client.get('/livez');
        t.ok((await heldBytes(node)) <= limitBytes, 'the budget holds');
      }
      await until(
        async () => refused,
        (count) => count > 0,
      );
      t.ok(refused > 0, 'a node without free memory refuses Runs');

      place.goOn();
      for (const answer of await Promise.all(stuck)) expectNew(t, answer);
      const made = (await Promise.all(more)).filter(({ status }) => status === 201);
      for (const answer of [...(await Promise.all(stuck)), ...made].slice(0, 8)) {
        t.equal((await fleet.client(1).get(outputOf(answer))).body.length, answer.run.output?.size_bytes);
      }
      const left = await until(
        () => heldBytes(node),
        (bytes) => bytes <= idleBytes,
      );
      t.ok(left <= idleBytes, 'all memory is released');
      for (const each of fleet.nodes) await checkLogs(t, each, [fleet.catalog.key('acme')]);
    },
  );

  t.test(
    `${name} that hangs for longer than a Run may take: 503, no charge, and the key is free`,
    { skip: skipWithoutRedis },
    async (t) => {
      const place = await open(t);
      const fleet = await start(t, place, { 'run-timeout-ms': 12_000, 'wait-ms': 60_000 });
      const client = fleet.client(0);
      place.hang();
      const refused = await client.upload('pick', [file(LARGE[0]!)], { key: 'hung' });
      expectError(t, refused, 503, 'SERVER_BUSY');
      t.equal(await fleet.quotaUsed(), 0);
      const small = await client.upload('pick', [file(CSV)], { key: 'small' });
      expectRun(t, small, 201, 'succeeded');
      place.goOn();
      const again = await until(
        () => client.upload('pick', [file(LARGE[0]!)], { key: 'hung' }),
        ({ status }) => status === 201,
      );
      expectNew(t, again);
      t.equal((await fleet.client(1).get(outputOf(again))).body.length, again.run.output?.size_bytes);
      t.equal(await fleet.quotaUsed(), 2);
    },
  );

  t.test(
    `${name} that hangs while a node stops: waiting requests get a response`,
    { skip: skipWithoutRedis },
    async (t) => {
      const place = await open(t);
      const fleet = await start(t, place, { 'drain-ms': 500 });
      place.hang();
      const waiting = LARGE.map((text) => fleet.client(0).upload('pick', [file(text)]));
      await until(
        () => fleet.quotaUsed('acme', 1),
        (used) => used === waiting.length,
      );
      // On a busy machine the engine is still at work then, and such a Run ends as interrupted.
      await until(
        () => fleet.nodes[0]!.metric('template_run_runs_in_pool'),
        (atWork) => atWork === 0,
      );
      fleet.nodes[0]!.signal('SIGTERM');
      for (const answer of await Promise.all(waiting)) expectError(t, answer, 503, 'SERVER_BUSY');
      t.equal(await fleet.quotaUsed('acme', 1), 0, 'nothing is charged');
      place.goOn();
      t.equal(await fleet.nodes[0]!.exited(), 0);
    },
  );
}

t.test(
  'a bucket that refuses requests: 503 and a log line with the reason; a node does not start with it',
  { skip: skipWithoutRedis },
  async (t) => {
    const store = await S3Server.open(t);
    const fleet = await Fleet.start(
      t,
      { plans: PLANS, accounts: ACCOUNTS },
      { outputs: 's3://bucket/outputs', environment: store.environment, nodes: 1 },
    );
    const client = fleet.client(0);
    const made = await client.upload('pick', [file(LARGE[0]!)]);
    expectNew(t, made);
    for (const code of ['AccessDenied', 'NoSuchBucket', 'ExpiredToken']) {
      store.refusal = { status: 403, code, count: 2 };
      expectError(t, await client.upload('pick', [file(LARGE[0]!)]), 503, 'SERVER_BUSY');
      expectError(t, await client.get(outputOf(made)), 503, 'SERVER_BUSY');
      t.ok((await fleet.nodes[0]!.metric(`template_run_outputs_errors_total{kind="${code}"}`)) >= 2, code);
    }
    t.equal(await fleet.quotaUsed(), 1, 'nothing is charged');
    t.equal((await client.get(outputOf(made))).status, 200);
    const told = async (): Promise<unknown[]> =>
      fleet.nodes[0]!.events.filter(({ event }) => event === 'outputs_lost').map(({ code }) => code);
    const codes = await until(told, ({ length }) => length === 3);
    t.strictSame(codes, ['AccessDenied', 'NoSuchBucket', 'ExpiredToken']);
    await t.rejects(fleet.add({}, { environment: { AWS_SECRET_ACCESS_KEY: 'wrong' } }), /403 SignatureDoesNotMatch/);
    store.objects.delete(`outputs/${[...store.objects.keys()].find((key) => key.endsWith(made.run.id))!.slice(8)}`);
    expectError(t, await client.get(outputOf(made)), 500, 'INTERNAL_ERROR');
    await checkLogs(t, fleet.nodes[0]!, [fleet.catalog.key('acme'), store.secret]);
  },
);
