// The primary of Redis dies, and its replica is promoted behind the same address: nodes continue without a restart.
// With all tests only: several nodes, Redis and HAProxy.
import t from 'tap';
import { Fleet } from '../fixtures/fleet.ts';
import { RedisServer, skipWithoutRedis } from '../fixtures/redis-server.ts';
import { StallingProxy } from '../fixtures/stalling-proxy.ts';
import { until } from './client.ts';
import { expectNew, expectReplay } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const HALF = 200;
const FLIGHT = ['HLEN', 'tr1:{acme}:flight'] as const;

t.test(
  'a promoted replica: Runs, keys and charges that it had received go on',
  { skip: skipWithoutRedis },
  async (t) => {
    const proxies: StallingProxy[] = [];
    const fleet = await Fleet.start(
      t,
      { accounts: { acme: {} } },
      {
        redisPort: async (node, port) => {
          proxies[node] = await StallingProxy.open(t, port);
          return proxies[node].port;
        },
      },
    );
    const replica = await RedisServer.open(['--replicaof', '127.0.0.1', String(fleet.redis.port)]);
    t.teardown(() => replica.remove());
    const [one, other] = [fleet.client(0), fleet.client(1)];
    const made = await one.upload('pick', [file(CSV)], { key: 'before' });
    expectNew(t, made);
    const held = other.hold('pick', [file(CSV)], HALF, { key: 'over' });
    // The replica has everything that was acknowledged to the nodes.
    for (const server of [fleet.redis, replica]) {
      t.equal(
        await until(
          () => server.command(...FLIGHT),
          (count) => count === ':1',
        ),
        ':1',
      );
    }
    await until(
      () => replica.command('EXISTS', `tr1:{acme}:run:${made.run.id}`),
      (found) => found === ':1',
    );

    await fleet.redis.kill();
    t.equal(await replica.command('REPLICAOF', 'NO', 'ONE'), '+OK');
    for (const proxy of proxies) proxy.leadTo(replica.port);
    const finished = await held.finish();
    expectNew(t, finished);
    for (const client of [one, other]) {
      const found = await until(
        () => client.get(`/api/v1/runs/${made.run.id}`),
        ({ status }) => status !== 503,
      );
      t.strictSame(found.json, made.json);
      expectReplay(t, await client.upload('pick', [file(CSV)], { key: 'before' }), made);
      expectReplay(t, await client.upload('pick', [file(CSV)], { key: 'over' }), finished);
      expectNew(t, await client.upload('pick', [file(CSV)]));
    }
    t.equal(await fleet.quotaUsed(), 4, 'each is charged once');
    t.equal(await replica.command(...FLIGHT), ':0', 'no claim is left');
    for (const node of fleet.nodes) {
      t.equal(await node.metric('template_run_redis_emptied_total'), 0);
      t.equal(await node.metric('template_run_fleet_given_up_total'), 0);
      await checkLogs(t, node, [fleet.catalog.key('acme')]);
    }
  },
);
