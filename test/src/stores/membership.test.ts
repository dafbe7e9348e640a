// Who is given up, by heartbeats that reach Redis late and not in the order in which they were sent: nobody who was cut off
// together with the one that judges.
import t, { type Test } from 'tap';
import { NODES_KEY } from '../../../src/stores/redis/account-keys.ts';
import { RedisLink } from '../../../src/stores/redis/redis-link.ts';
import { HEARTBEAT } from '../../../src/stores/redis/scripts/membership.ts';
import { openLog } from '../../../src/telemetry/log.ts';
import { pause } from '../../blackbox/client.ts';
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

async function heartbeats(t: Test): Promise<(node: string, beat: Beat) => Promise<Beaten>> {
  const server = await RedisServer.open();
  const none = { sentinels: [], passwordFile: null, sentinelPasswordFile: null, authorityFile: null };
  const link = new RedisLink({ url: server.url(), ...none, timeoutMilliseconds: 30_000 }, openLog('silent'));
  t.teardown(async () => {
    link.close();
    await server.remove();
  });
  await link.connect();
  return async (node, { judges, seen, gap = 60_000 }) => {
    const lostAfter = judges ? LOST_MILLISECONDS : '';
    const args = [node, '{}', '1', 'epoch', lostAfter, 60_000, gap, seen];
    const [time, state, , lost] = (await link.call(HEARTBEAT, NODES_KEY, args)) as [string, string, string, string[]];
    return { time, state, lost };
  };
}

t.test('heartbeats that overtake each other', { skip: skipWithoutRedis }, async (t) => {
  const beat = await heartbeats(t);
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
