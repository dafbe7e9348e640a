// Nodes that are declared lost, with heartbeats that reach Redis late and in another order: never a node that was cut off
// together with the node that decides. Also the data that remains of a node that leaves.
import t, { type Test } from 'tap';
import { RedisLink } from '../../../src/stores/redis/redis-link.ts';
import { accountKey, accountsKey, NODES_KEY } from '../../../src/stores/redis/run-codec.ts';
import { HEARTBEAT, LEAVE, VANISH } from '../../../src/stores/redis/scripts/scripts.ts';
import { openLog } from '../../../src/telemetry/log.ts';
import { pause, until } from '../../blackbox/client.ts';
import { RedisServer, skipWithoutRedis } from '../../fixtures/redis-server.ts';

const LOST_MILLISECONDS = 300;

interface Beat {
  readonly judges: boolean;
  /** Redis's time of the node's last heartbeat. */
  readonly seen: string;
  /** Since then, at most, if it is to judge; else it may take as long as the test does. */
  readonly gap?: number;
}

interface Beaten {
  readonly time: string;
  readonly state: string;
  readonly lost: readonly string[];
}

interface Connected {
  readonly server: RedisServer;
  readonly link: RedisLink;
  readonly beat: (node: string, beat: Beat) => Promise<Beaten>;
}

async function connected(t: Test): Promise<Connected> {
  const server = await RedisServer.open();
  const none = { sentinels: [], passwordFile: null, sentinelPasswordFile: null, authorityFile: null };
  const link = new RedisLink({ url: server.url(), ...none, timeoutMilliseconds: 30_000 }, openLog('silent'));
  t.teardown(async () => {
    link.close();
    await server.remove();
  });
  await link.connect();
  const beat: Connected['beat'] = async (node, { judges, seen, gap = 60_000 }) => {
    const lostAfter = judges ? LOST_MILLISECONDS : '';
    const args = [node, '{}', '1', 'epoch', lostAfter, 60_000, gap, seen];
    const [time, state, , lost] = (await link.call(HEARTBEAT, NODES_KEY, args)) as [string, string, string, string[]];
    return { time, state, lost };
  };
  return { server, link, beat };
}

t.test('heartbeats that overtake each other', { skip: skipWithoutRedis }, async (t) => {
  const { beat } = await connected(t);
  const first = await beat('one', { judges: false, seen: '' });
  await beat('other', { judges: false, seen: '' });
  await pause(2 * LOST_MILLISECONDS);
  const late = await beat('one', { judges: true, seen: first.time, gap: LOST_MILLISECONDS });
  t.strictSame([late.state, late.lost], ['member', []], 'one that comes late judges nobody');
  await pause(2 * LOST_MILLISECONDS);
  await beat('one', { judges: false, seen: '' });
  const overtaken = await beat('one', { judges: true, seen: late.time });
  t.strictSame([overtaken.state, overtaken.lost], ['member', []], 'nor does one that was overtaken by a later one');
  const inOrder = await beat('one', { judges: true, seen: overtaken.time });
  t.strictSame(inOrder.lost, ['other'], 'in order, who is away is given up');
  t.equal((await beat('other', { judges: false, seen: '' })).state, 'lost', 'and is told so');
});

t.test('who leaves and may hold something is looked after by the others', { skip: skipWithoutRedis }, async (t) => {
  const { link, beat } = await connected(t);
  for (const node of ['clean', 'doubtful', 'stays']) {
    await beat(node, { judges: false, seen: '' });
    await link.command('SADD', accountsKey(node), 'acme');
  }
  await link.call(LEAVE, NODES_KEY, ['clean', 1, 60_000]);
  await link.call(LEAVE, NODES_KEY, ['doubtful', 0, 60_000]);
  t.strictSame((await beat('stays', { judges: false, seen: '' })).lost, ['doubtful']);
  t.equal(await link.command('EXISTS', accountsKey('clean')), 0);
  t.equal(await link.command('EXISTS', accountsKey('doubtful')), 1, 'where its claims may be is known');
});

t.test('a claim that its node has shown to others meanwhile does not vanish', { skip: skipWithoutRedis }, async (t) => {
  const { link } = await connected(t);
  const key = accountKey('acme');
  const claim = { i: 'node', p: '2026-11-01', k: '', t: 'pick', a: 1 };
  await link.command('HSET', key, 'seen', JSON.stringify({ ...claim, b: 1 }), 'unseen', JSON.stringify(claim));
  t.equal(await link.call(VANISH, key, ['seen', 'unseen']), 'seen');
  t.equal(await link.call(VANISH, key, ['unseen', 'unseen']), 'done');
  t.strictSame(await link.command('HKEYS', key), ['seen']);
});

t.test('a primary that becomes a replica while one waits for its replicas', { skip: skipWithoutRedis }, async (t) => {
  const { server, link } = await connected(t);
  await link.command('SET', 'written', 1);
  const waiting = t.rejects(link.command('WAIT', 1, 20_000), { name: 'SharedStoreUnavailableError' });
  const blocked = async (): Promise<string> =>
    server.command(
      'EVAL',
      "return tonumber(string.match(redis.call('INFO', 'clients'), 'blocked_clients:(%d+)'))",
      '0',
    );
  await until(blocked, (count) => count === ':1');
  await server.command('REPLICAOF', '127.0.0.1', '1');
  await waiting;
  await t.rejects(link.command('WAIT', 1, 1), { name: 'SharedStoreUnavailableError' });
  t.equal(link.errorCounts.get('lost'), 2);
});
