// Nodes of a fleet that are replaced by another build, one after the other behind HAProxy, while requests come.
// With all tests only: several nodes, Redis and HAProxy.
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { skipWithoutHaproxy, startBalancer } from '../fixtures/balancer.ts';
import { Fleet } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { skipUnlessLong } from '../sweep.ts';
import { Client, pause, until } from './client.ts';
import { expectNew, expectReplay } from './expect.ts';
import { file } from './multipart.ts';

const OTHER_BUILD = fileURLToPath(new URL('../fixtures/serve-other-build.js', import.meta.url));
/** Between two uploads of one client: dozens of Runs come while each node ends and starts. */
const PAUSE_MILLISECONDS = 100;
const HALF = 200;
const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';

t.test(
  'a rolling restart after HAProxy, under load, old and new build mixed: no answer but 201, no lost Run',
  { skip: skipWithoutRedis || skipWithoutHaproxy || skipUnlessLong },
  async (t) => {
    const flags = { 'drain-delay-ms': 4000, 'drain-ms': 20_000 };
    const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { nodes: 3, flags });
    const port = await startBalancer(
      t,
      fleet.nodes.map((node) => node.port),
    );
    const client = new Client(port, fleet.catalog.key('acme'));
    await until(
      () => client.get('/api/v1/templates').catch(() => null),
      (answer) => answer?.status === 200,
    );
    const made: string[] = [];
    const others: string[] = [];
    let isOver = false;
    const work = async (_: unknown, number: number): Promise<void> => {
      for (let count = 0; !isOver; count += 1) {
        // A repeat may come to the other build.
        const key = `worker${number}-${count}`;
        for (const status of [201, 200]) {
          const answer = await client.upload('pick', [file(CSV)], { key }).catch((fault: Error) => fault);
          if ('status' in answer && answer.status === status) made.push(answer.run.id);
          else others.push('status' in answer ? `${answer.status} ${answer.text}` : answer.message);
        }
        await pause(PAUSE_MILLISECONDS);
      }
    };
    const workers = Promise.all(Array.from({ length: 4 }, work));
    for (const node of fleet.nodes) {
      node.signal('SIGTERM');
      t.equal(await node.exited(), 0);
      node.program = [OTHER_BUILD];
      await node.start();
      // The balancer has detected the node.
      await pause(4000);
    }
    isOver = true;
    await workers;
    t.strictSame(others, []);
    t.ok(made.length > 50, `${made.length} Runs`);
    t.equal(await fleet.quotaUsed(), made.length / 2, 'each is charged once');
    for (const id of new Set(made)) t.equal((await client.get(`/api/v1/runs/${id}`)).status, 200, 'no Run is lost');
  },
);

t.test(
  'old and new build beside each other: what one writes the other reads',
  { skip: skipWithoutRedis },
  async (t) => {
    const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { nodes: 1 });
    await fleet.add({}, { program: [OTHER_BUILD] });
    for (const [writer, reader] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const key = `by-${writer}`;
      const held = fleet.client(writer).hold('pick', [file(CSV)], HALF, { key });
      await until(
        () => fleet.redis.command('HLEN', 'tr1:{acme}:flight'),
        (count) => count === ':1',
      );
      const waiting = fleet.client(reader).upload('pick', [file(CSV)], { key });
      await fleet.nodes[reader]!.joined();
      const made = await held.finish();
      expectNew(t, made);
      expectReplay(t, await waiting, made);
      t.strictSame((await fleet.client(reader).get(`/api/v1/runs/${made.run.id}`)).json, made.json);
      expectReplay(t, await fleet.client(reader).upload('pick', [file(CSV)], { key }), made);
    }
    t.equal(await fleet.quotaUsed(), 2);
  },
);

t.test(
  'a build that writes keys in another format refuses to start; the others go on',
  { skip: skipWithoutRedis },
  async (t) => {
    const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { nodes: 1 });
    const options = { program: [OTHER_BUILD], environment: { OTHER_FORMAT: '2' } };
    await t.rejects(
      fleet.add({}, options),
      /Redis contains data of format 1, and this version of the program supports only format 2/,
    );
    expectNew(t, await fleet.client(0).upload('pick', [file(CSV)]));
  },
);
