// Repeats that wait at one node for a Run of another node: they take over if that node leaves no Run, and get a
// response if the node where they wait ends first.
// With all tests only: several nodes, Redis and HAProxy.
import t, { type Test } from 'tap';
import { Fleet } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { skipUnlessLong } from '../sweep.ts';
import { until } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import type { Part } from './multipart.ts';
import { SLOW, slowUpload } from './slow-run.ts';

const skip = skipWithoutRedis || skipUnlessLong;

/** Work for longer than it takes until a Run is shown to others. */
const REFUSED = slowUpload(15_000, '1,"open\n');

/** For much longer than the drain. */
const LONG = slowUpload(60_000);

/** Time limit of a client on a busy machine. */
const PATIENCE_MILLISECONDS = 1_200_000;

const startFleet = (t: Test, flags: Record<string, number>): Promise<Fleet> =>
  Fleet.start(t, { accounts: { acme: { templates: { slow: SLOW } } } }, { flags });

/** An upload that waits for its last byte at one node, and its repeat, which has arrived at the other. */
async function repeated(fleet: Fleet, parts: readonly Part[]) {
  const client = (node: number) => fleet.client(node, 'acme', PATIENCE_MILLISECONDS);
  const first = client(0).hold('slow', parts, -1, { key: 'repeated' });
  await until(
    () => fleet.quotaUsed(),
    (used) => used === 1,
  );
  const repeat = client(1).upload('slow', parts, { key: 'repeated' });
  await until(
    () => fleet.nodes[1]!.metric('template_run_runs_aside'),
    (waiting) => waiting === 1,
  );
  return { first, repeat };
}

t.test('a Run that was shown to others and is refused then: the repeat takes its place', { skip }, async (t) => {
  const fleet = await startFleet(t, { 'wait-ms': PATIENCE_MILLISECONDS });
  const { first, repeat } = await repeated(fleet, REFUSED);
  expectError(t, await first.finish(), 400, 'MALFORMED_FILE');
  expectError(t, await repeat, 400, 'MALFORMED_FILE');
  t.equal(await fleet.quotaUsed(), 0);
});

t.test('a node that ends while a repeat waits there for a Run of another one: 202', { skip }, async (t) => {
  const fleet = await startFleet(t, { 'wait-ms': PATIENCE_MILLISECONDS, 'drain-ms': 500 });
  const { first, repeat } = await repeated(fleet, LONG);
  const made = first.finish();
  const isShown = `return string.find(redis.call('HVALS', 'tr1:{acme}:flight')[1] or '', '"b":1', 1, true) and 1 or 0`;
  await until(
    () => fleet.redis.command('EVAL', isShown, '0'),
    (shown) => shown === ':1',
  );
  fleet.nodes[1]!.signal('SIGTERM');
  expectRun(t, await repeat, 202, 'running');
  t.equal(await fleet.nodes[1]!.exited(), 0);
  expectRun(t, await made, 201, 'succeeded');
});
