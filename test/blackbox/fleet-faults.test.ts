// Guarantees of a fleet when nodes, Redis or the connection to Redis fail or hang. Each test waits for leases to end.
// With all tests only: several nodes, Redis and HAProxy.
import t, { type Test } from 'tap';
import { Fleet, type FleetOptions } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { StallingProxy } from '../fixtures/stalling-proxy.ts';
import { skipUnlessLong } from '../sweep.ts';
import { PICK, plan } from './catalog-folder.ts';
import { type Answer, type Client, pause, until } from './client.ts';
import { expectError, expectNew, expectRetryAfter, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { SLOW, slowUpload } from './slow-run.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const LARGE = `id,amount\n${Array.from({ length: 20_000 }, (_, index) => `${index},${index * 3}\n`).join('')}`;
const HALF = 200;
const SLOW_PARTS = slowUpload(60_000);
/** Nodes that have been members for this time may declare other nodes lost. */
const STEADY_MILLISECONDS = 11_000;
/** A node is given up after 10 s, and found within two more heartbeats. */
const LEASE_MILLISECONDS_MAX = 240_000;
/** Maximum duration of a Run of SLOW_PARTS on a busy machine. */
const SLOW_MILLISECONDS_MAX = 240_000;
const PLANS = { two: plan({ runs_in_flight_max: 2, runs_per_period: 50 }) };
const ACCOUNTS = { acme: { plan: 'two', templates: { pick: PICK, slow: SLOW } }, free: {} };
const skip = skipWithoutRedis || skipUnlessLong;

const startFleet = (t: Test, options: FleetOptions = {}): Promise<Fleet> =>
  Fleet.start(t, { plans: PLANS, accounts: ACCOUNTS }, { flags: { 'wait-ms': 300 }, ...options });

/** A Run that is at work, of which its client has learnt. */
async function promised(t: Test, client: Client, key: string): Promise<Answer> {
  const answer = await client.upload('slow', SLOW_PARTS, { key });
  expectRun(t, answer, 202, 'running');
  return answer;
}

async function expectInterrupted(t: Test, client: Client, id: string): Promise<void> {
  const ended = await until(
    () => client.get(`/api/v1/runs/${id}`),
    ({ run }) => run.status !== 'running',
    LEASE_MILLISECONDS_MAX,
  );
  expectRun(t, ended, 200, 'failed');
  t.equal(ended.run.error?.code, 'RUN_INTERRUPTED');
}

t.test('kill -9 of a node', { skip }, async (t) => {
  const fleet = await startFleet(t, { nodes: 3 });
  const [one, other] = [fleet.client(0), fleet.client(1)];
  const large = await fleet.client(0, 'free').upload('pick', [file(LARGE)]);
  // On a busy machine it takes longer than a POST waits: its answer is then a 202.
  const whole = await until(
    () => fleet.client(0, 'free').get(`/api/v1/runs/${large.run.id}/output`),
    ({ status }) => status === 200,
  );
  t.equal(whole.status, 200, whole.text);
  await pause(STEADY_MILLISECONDS);
  const { run } = await promised(t, one, 'killed');
  const held = one.hold('pick', [file(CSV)], HALF, { key: 'uploading' });
  held.answer.catch(() => {});
  await until(
    () => fleet.quotaUsed('acme', 1),
    (used) => used === 2,
  );
  const waiting = other.upload('pick', [file(CSV)], { key: 'uploading' });
  waiting.catch(() => {});
  fleet.nodes[0]!.signal('SIGKILL');
  const killedAt = performance.now();
  await expectInterrupted(t, other, run.id);
  t.comment(`given up after ${Math.round(performance.now() - killedAt)} ms`);
  const used = await until(
    () => fleet.quotaUsed('acme', 1),
    (now) => now === 0,
  );
  t.equal(used, 0, 'slots and quota are back');
  const again = await other.upload('slow', SLOW_PARTS, { key: 'killed' });
  t.not(again.run.id, run.id, 'the repeat runs');
  await until(
    () => other.get(`/api/v1/runs/${again.run.id}`),
    ({ run: now }) => now.status === 'succeeded',
    SLOW_MILLISECONDS_MAX,
  );
  t.equal(await fleet.quotaUsed('acme', 2), 1, 'one charge');
  const read = await fleet.client(1, 'free').get(`/api/v1/runs/${large.run.id}/output`);
  t.equal(read.status, 200, read.text);
  t.ok(read.body.equals(whole.body), 'a large output outlives its node');
});

t.test('a node that is stopped for long: its late ends are lost', { skip }, async (t) => {
  const fleet = await startFleet(t);
  const [one, other] = [fleet.client(0), fleet.client(1)];
  await pause(STEADY_MILLISECONDS);
  const { run } = await promised(t, one, 'stopped');
  fleet.nodes[0]!.signal('SIGSTOP');
  await expectInterrupted(t, other, run.id);
  const charged = await fleet.quotaUsed('acme', 1);
  fleet.nodes[0]!.signal('SIGCONT');
  const isAgain = await until(
    () => fleet.nodes[0]!.metric('template_run_fleet_given_up_total'),
    (times) => times === 1,
    LEASE_MILLISECONDS_MAX,
  );
  t.equal(isAgain, 1, 'it learns that it was given up');
  const lost = await until(
    () => fleet.nodes[0]!.metric('template_run_fleet_runs_lost_total'),
    (times) => times === 1,
    SLOW_MILLISECONDS_MAX,
  );
  t.equal(lost, 1, 'its end came too late');
  t.equal(await fleet.quotaUsed('acme', 1), charged, 'nothing was charged');
  expectTaken(
    t,
    await until(
      () => one.upload('pick', [file(CSV)]),
      ({ status }) => status === 201 || status === 202,
    ),
  );
});

t.test(
  'kill -9 of Redis under load: what was acknowledged is charged, and not more than was asked',
  { skip },
  async (t) => {
    const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { nodes: 3, settings: ['--appendfsync', 'always'] });
    let acknowledged = 0;
    let unanswered = 0;
    let isOver = false;
    const work = async (node: number): Promise<void> => {
      const client = fleet.client(node);
      while (!isOver) {
        const answer = await client.upload('pick', [file(CSV)]);
        if (answer.status === 201) acknowledged += 1;
        else {
          t.equal(answer.status, 503, answer.text);
          unanswered += 1;
          await pause(20);
        }
      }
    };
    const workers = Promise.all([0, 1, 2, 0, 1, 2].map(work));
    for (let round = 0; round < 6; round += 1) {
      await pause(1500);
      await fleet.redis.kill();
      await pause(500);
      await fleet.redis.start();
      const returnedAt = performance.now();
      const before = acknowledged;
      await until(
        async () => acknowledged,
        (now) => now > before,
      );
      t.ok(acknowledged > before, `served again after ${Math.round(performance.now() - returnedAt)} ms`);
    }
    await until(
      async () => acknowledged,
      (now) => now > 50,
    );
    isOver = true;
    await workers;
    // Claims of which nobody knew are taken back.
    const inFlight = async (): Promise<string> => fleet.redis.command('HLEN', 'tr1:{acme}:flight');
    t.equal(await until(inFlight, (left) => left === ':0'), ':0', 'no claim is left');
    const charged = await fleet.quotaUsed();
    t.ok(
      acknowledged <= charged && charged <= acknowledged + unanswered,
      `${acknowledged} ≤ ${charged} ≤ ${acknowledged + unanswered}`,
    );
    t.ok(acknowledged > 50, 'there was load');
  },
);

t.test('the way to Redis stalls, for one node and for all', { skip }, async (t) => {
  const proxies: StallingProxy[] = [];
  const fleet = await startFleet(t, {
    redisPort: async (node, port) => {
      proxies[node] = await StallingProxy.open(t, port);
      return proxies[node].port;
    },
  });
  const ready = async (node: number): Promise<number> => (await fleet.client(node).get('/readyz')).status;
  const made = await fleet.client(0, 'free').upload('pick', [file(CSV)], { key: 'before' });
  await pause(STEADY_MILLISECONDS);
  for (const stalled of [[0], [0, 1]]) {
    for (const node of stalled) proxies[node]!.stall();
    const stalledAt = performance.now();
    const answers = await Promise.all([
      fleet.client(0, 'free').get(`/api/v1/runs/${made.run.id}`),
      fleet.client(0, 'free').get(`/api/v1/runs/${made.run.id}/output`),
      fleet.client(0, 'free').get('/api/v1/usage'),
      fleet.client(0, 'free').upload('pick', [file(CSV)], { key: 'meanwhile' }),
    ]);
    t.comment(`refused after ${Math.round(performance.now() - stalledAt)} ms`);
    for (const answer of answers) {
      expectError(t, answer, 503, 'SERVER_BUSY');
      expectRetryAfter(t, answer);
    }
    t.equal((await fleet.client(0, 'free').get('/api/v1/templates')).status, 200, 'Templates are listed');
    t.equal((await fleet.client(0).get('/livez')).status, 200);
    for (const node of stalled) {
      t.equal(
        await until(
          () => ready(node),
          (status) => status === 503,
        ),
        503,
      );
      t.comment(`not ready after ${Math.round(performance.now() - stalledAt)} ms`);
    }
    if (stalled.length === 1) expectTaken(t, await fleet.client(1, 'free').upload('pick', [file(CSV)]));
    await pause(Math.max(0, 30_000 - (performance.now() - stalledAt)));
    for (const node of stalled) proxies[node]!.goOn();
    for (const node of stalled)
      t.equal(
        await until(
          () => ready(node),
          (status) => status === 200,
        ),
        200,
      );
    const givenUp = await Promise.all(fleet.nodes.map((node) => node.metric('template_run_fleet_given_up_total')));
    t.strictSame(givenUp, [1, 0], 'who is cut off alone is given up, and nobody where all are');
    const inFlight = async (): Promise<string> => fleet.redis.command('HLEN', 'tr1:{free}:flight');
    t.equal(await until(inFlight, (left) => left === ':0'), ':0', 'no claim is left');
    expectTaken(t, await fleet.client(0, 'free').upload('pick', [file(CSV)]));
  }
});

/** On a busy machine the Run may outlast the wait of its POST. */
function expectTaken(t: Test, answer: Answer): void {
  t.ok(answer.status === 201 || answer.status === 202, answer.text.slice(0, 300));
  t.equal(answer.headers['idempotent-replayed'], undefined, 'is no replay');
}

t.test(
  'a full Redis, and one that has become a replica: 503, and all is well when that is over',
  { skip },
  async (t) => {
    const fleet = await startFleet(t, { flags: { 'wait-ms': 100_000 } });
    const client = fleet.client(0, 'free');
    const made = await client.upload('pick', [file(CSV)]);
    expectNew(t, made);
    const faults = [
      [
        ['CONFIG', 'SET', 'maxmemory', '1'],
        ['CONFIG', 'SET', 'maxmemory', '0'],
      ],
      [
        ['REPLICAOF', '127.0.0.1', '1'],
        ['REPLICAOF', 'NO', 'ONE'],
      ],
    ] as const;
    for (const [begin, end] of faults) {
      const held = client.hold('pick', [file(CSV)], HALF);
      await until(
        () => fleet.redis.command('HLEN', 'tr1:{free}:flight'),
        (count) => count === ':1',
      );
      await fleet.redis.command(...begin);
      expectError(t, await client.upload('pick', [file(CSV)]), 503, 'SERVER_BUSY');
      expectError(t, await client.get(`/api/v1/runs/${made.run.id}`), 503, 'SERVER_BUSY');
      const finished = held.finish();
      if (begin[0] === 'REPLICAOF') await pause(500);
      else expectNew(t, await finished);
      await fleet.redis.command(...end);
      expectNew(t, await finished);
      const again = await until(
        () => client.upload('pick', [file(CSV)]),
        ({ status }) => status === 201,
      );
      expectNew(t, again);
    }
  },
);
