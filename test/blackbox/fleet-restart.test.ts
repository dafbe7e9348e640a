// Nodes of a fleet that are replaced one after the other behind HAProxy, while requests come.
import t from 'tap';
import { skipWithoutHaproxy, startBalancer } from '../fixtures/balancer.ts';
import { Fleet } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { skipUnlessLong } from '../sweep.ts';
import { Client, pause, until } from './client.ts';
import { file } from './multipart.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';

t.test(
  'a rolling restart behind HAProxy, under load: no answer but 201',
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
      30_000,
    );
    const made: string[] = [];
    const others: string[] = [];
    let isOver = false;
    const work = async (): Promise<void> => {
      while (!isOver) {
        const answer = await client.upload('pick', [file(CSV)]).catch((fault: Error) => fault);
        if ('status' in answer && answer.status === 201) made.push(answer.run.id);
        else others.push('status' in answer ? `${answer.status} ${answer.text}` : answer.message);
        await pause(10);
      }
    };
    const workers = Promise.all(Array.from({ length: 4 }, work));
    for (const node of fleet.nodes) {
      node.signal('SIGTERM');
      t.equal(await node.exited(), 0);
      await node.start();
      // The balancer has seen that it is there.
      await pause(4000);
    }
    isOver = true;
    await workers;
    t.strictSame(others, []);
    t.ok(made.length > 50, `${made.length} Runs`);
    for (const id of made) t.equal((await client.get(`/api/v1/runs/${id}`)).status, 200, 'no Run is lost');
  },
);
