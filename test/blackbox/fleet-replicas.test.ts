// Sentinels report the primary to nodes, and replicas have stored what was acknowledged to clients.
// With all tests only: several nodes, Redis and HAProxy.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Fleet } from '../fixtures/fleet.ts';
import { openTestRedis } from '../fixtures/redis-rig.ts';
import { PRIMARY, RedisSentinel } from '../fixtures/redis-sentinel.ts';
import { RedisServer, skipWithoutRedis } from '../fixtures/redis-server.ts';
import { skipUnlessLong } from '../sweep.ts';
import { type Answer, type Client, until } from './client.ts';
import { expectError, expectNew, expectReplay } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
/** Its output is a file that the nodes share. */
const LARGE = `id,amount\n${Array.from({ length: 20_000 }, (_, index) => `${index},${index * 3}\n`).join('')}`;
const HALF = 200;
const UPLOADS = 40;
const ATTEMPTS_MAX = 20;
const skip = skipWithoutRedis || skipUnlessLong;

async function replicaOf(t: Test, { port }: RedisServer): Promise<RedisServer> {
  const replica = await RedisServer.open(['--replicaof', '127.0.0.1', String(port)]);
  t.teardown(() => replica.remove());
  return replica;
}

/** Until it is a primary's turn, requests get 503. */
async function onceServed(ask: () => Promise<Answer>): Promise<Answer> {
  return await until(ask, ({ status }) => status !== 503);
}

async function expectRole(t: Test, server: RedisServer, role: 'master' | 'slave'): Promise<void> {
  // Length of what it says of itself.
  const reply = { master: '*3', slave: '*5' }[role];
  t.equal(
    await until(
      () => server.command('ROLE').catch(() => ''),
      (line) => line === reply,
    ),
    reply,
  );
}

t.test('nodes ask sentinels for the primary, and follow it', { skip }, async (t) => {
  let sentinel: RedisSentinel | null = null;
  const fleet = await Fleet.start(
    t,
    { accounts: { acme: {} } },
    {
      redisFlags: async (port) => {
        sentinel = await RedisSentinel.open(t, port);
        // The first sentinel does not exist, so the node asks the other one.
        return { redis: `redis://${PRIMARY}/0`, 'redis-sentinels': `127.0.0.1:9,127.0.0.1:${sentinel.port}` };
      },
    },
  );
  const replica = await replicaOf(t, fleet.redis);
  const [one, other] = [fleet.client(0), fleet.client(1)];
  const made = await one.upload('pick', [file(CSV)], { key: 'before' });
  expectNew(t, made);
  const held = other.hold('pick', [file(CSV)], HALF, { key: 'over' });
  for (const server of [fleet.redis, replica]) {
    await until(
      () => server.command('HLEN', 'tr1:{acme}:flight'),
      (count) => count === ':1',
    );
  }
  // A sentinel promotes what it has seen of the primary, every ten seconds.
  await until(
    () => sentinel!.command('SENTINEL', 'REPLICAS', PRIMARY),
    (line) => line === '*1',
  );

  await fleet.redis.kill();
  await expectRole(t, replica, 'master');
  expectNew(t, await held.finish());
  for (const client of [one, other]) {
    t.strictSame((await onceServed(() => client.get(`/api/v1/runs/${made.run.id}`))).json, made.json);
    expectReplay(t, await onceServed(() => client.upload('pick', [file(CSV)], { key: 'before' })), made);
  }

  // The former primary comes back as a replica, and is promoted while the present one still answers.
  await fleet.redis.start();
  await expectRole(t, fleet.redis, 'slave');
  await sentinel!.promote();
  await expectRole(t, fleet.redis, 'master');
  // The old primary becomes a replica when it learns of the new one. Earlier writes to it may be lost.
  await expectRole(t, replica, 'slave');
  const after = await onceServed(() => one.upload('pick', [file(CSV)], { key: 'after' }));
  expectNew(t, after);
  t.equal(await fleet.redis.command('EXISTS', `tr1:{acme}:run:${after.run.id}`), ':1', 'it went to the new primary');
  for (const node of fleet.nodes) await checkLogs(t, node, [fleet.catalog.key('acme')]);
});

t.test('sentinels that do not know the name, or are not there, are told at the start', { skip }, async (t) => {
  const server = await RedisServer.open();
  t.teardown(() => server.remove());
  const sentinel = await RedisSentinel.open(t, server.port);
  for (const [name, port] of [
    ['others', sentinel.port],
    [PRIMARY, 9],
  ] as const) {
    const sentinels = [{ host: '127.0.0.1', port }];
    const opening = openTestRedis(join(t.testdir(), name), server, { url: `redis://${name}/0`, sentinels });
    await t.rejects(opening, { name: 'RedisOpenError', message: /no reachable sentinel knows a primary/ });
  }
});

/** Sends an upload while the replica sleeps, and expects that it is not acknowledged. */
async function expectNotAcknowledged(t: Test, client: Client, key: string): Promise<void> {
  const answer = await client.upload('pick', [file(CSV)], { key });
  expectError(t, answer, 503, 'SERVER_BUSY');
}

t.test('a Run is acknowledged when replicas have it', { skip }, async (t) => {
  // A POST waits long enough for a busy machine, and no longer than a sleeping replica is worth.
  const flags = {
    'redis-wait-replicas': 1,
    'redis-timeout-ms': 2_000,
    'run-timeout-ms': 30_000,
    'wait-ms': 10_000,
  };
  const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { flags });
  const replica = await replicaOf(t, fleet.redis);
  const [one, other] = [fleet.client(0), fleet.client(1)];
  await onceServed(() => one.upload('pick', [file(CSV)], { key: 'replica is there' }));
  const answers = await Promise.all(
    Array.from({ length: UPLOADS }, async (_, index) => {
      // On a busy machine the replica may be late: the upload is then repeated, and answered with its Run if it has one.
      const client = index % 2 === 0 ? one : other;
      const answer = await onceServed(() => client.upload('pick', [file(CSV)], { key: `k${index}` }));
      return { answer, found: await replica.command('EXISTS', `tr1:{acme}:run:${answer.run.id}`) };
    }),
  );
  for (const { answer, found } of answers) {
    t.ok([200, 201].includes(answer.status), answer.text);
    t.equal(found, ':1', 'the replica has it before its client');
  }

  replica.signal('SIGSTOP');
  await expectNotAcknowledged(t, one, 'asleep');
  t.ok(
    Number(await fleet.nodes[0]!.metric('template_run_redis_errors_total{kind="too_few_replicas"}')) > 0,
    'the reason is in the metrics',
  );
  const runs = () => fleet.redis.command('EVAL', `return #redis.call('KEYS', 'tr1:{acme}:run:*')`, '0');
  const runsBefore = await runs();
  for (let index = 0; index < UPLOADS; index++) await expectNotAcknowledged(t, one, `not begun ${index}`);
  t.equal(await runs(), runsBefore, 'no other Run is begun meanwhile');
  replica.signal('SIGCONT');
  const repeated = await onceServed(() => other.upload('pick', [file(CSV)], { key: 'asleep' }));
  t.equal(repeated.run.status, 'succeeded');

  // Every acknowledged Run exists after the replica has become the primary.
  await fleet.redis.kill();
  t.equal(await replica.command('REPLICAOF', 'NO', 'ONE'), '+OK');
  for (const { answer } of answers) {
    t.equal(await replica.command('EXISTS', `tr1:{acme}:run:${answer.run.id}`), ':1');
  }
  t.equal(await replica.command('HLEN', 'tr1:{acme}:flight'), ':0', 'no claim is left');
});

t.test('an end that replicas do not have in time may be recorded: its output stays', { skip }, async (t) => {
  // The node repeats the recording of the end for as long as a Run may take.
  const flags = { 'redis-wait-replicas': 1, 'run-timeout-ms': 8_000, 'wait-ms': 30_000 };
  const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { flags });
  const replica = await replicaOf(t, fleet.redis);
  const [one, other] = [fleet.client(0), fleet.client(1)];
  const afterSleep = async (attempt: number): Promise<Answer> => {
    await onceServed(() => one.upload('pick', [file(CSV)], { key: `replica is there ${attempt}` }));
    replica.signal('SIGSTOP');
    const given = await one.upload('pick', [file(LARGE)], { key: `large ${attempt}` });
    expectError(t, given, 503, 'SERVER_BUSY');
    replica.signal('SIGCONT');
    return await onceServed(() => other.upload('pick', [file(LARGE)], { key: `large ${attempt}` }));
  };
  // A Run that a busy machine has not finished when it is to be shown to other nodes is refused then, and has no end.
  let again = await afterSleep(0);
  for (let attempt = 1; again.status !== 200 && attempt < ATTEMPTS_MAX; attempt++) again = await afterSleep(attempt);
  t.equal(again.headers['idempotent-replayed'], 'true', again.text);
  const output = await other.get(`/api/v1/runs/${again.run.id}/output`);
  t.equal(output.status, 200, output.text);
  t.equal(output.body.length, again.run.output?.size_bytes);
});
