// Nodes that share a Redis: Runs of one node are visible to all nodes, and usage is counted once.
// With all tests only: several nodes, Redis and HAProxy.
import { createHash } from 'node:crypto';
import t from 'tap';
import { Fleet } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { sweep } from '../sweep.ts';
import { PICK, plan, step, template } from './catalog-folder.ts';
import { type Answer, pause, until } from './client.ts';
import { expectError, expectNew, expectReplay, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs } from './service.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const OTHER = 'id,amount,CanaryColumn\n001,1.51,CanaryCell\n';
const OUTPUT = 'id,total\n001,1.50\n';
const HALF = 200;
/** Quota of the account whose Runs come from all nodes. */
const QUOTA = sweep({ short: 15, long: 1000 });
/** Larger than --redis-output-bytes, so its output is stored in the folder. */
const LARGE = `id,amount\n${Array.from({ length: 20_000 }, (_, index) => `${index},${index * 3}\n`).join('')}`;

const PLANS = {
  counted: plan({ runs_per_period: QUOTA }),
  flying: plan({ runs_in_flight_max: 4 }),
  rated: plan({ rate_limits: { list_templates: { requests: 10, window_seconds: 3600 } } }),
};
const CHECKED = template([
  step('map_values', { columns: ['id'], map: { 1: 'one' }, default: 'error', on_error: 'fail' }),
]);

t.test('a fleet', { skip: skipWithoutRedis }, async (t) => {
  const fleet = await Fleet.start(
    t,
    {
      plans: PLANS,
      accounts: {
        acme: { templates: { pick: PICK, other: PICK } },
        busy: {},
        counted: { plan: 'counted', templates: { checked: CHECKED } },
        flying: { plan: 'flying' },
        rated: { plan: 'rated' },
      },
    },
    // Repeats wait for the Runs of others, however long a busy machine takes for these.
    { nodes: 3, baseUrl: 'http://fleet.test', flags: { 'wait-ms': 200_000 } },
  );
  const [one, other, third] = [fleet.client(0), fleet.client(1), fleet.client(2)];

  await t.test('a Run is read, downloaded and replayed at any node', async (t) => {
    const first = await one.upload('pick', [file(CSV)], { key: 'finished' });
    expectNew(t, first);
    t.equal(first.run.output?.download_url, `http://fleet.test/api/v1/runs/${first.run.id}/output`);
    for (const node of [other, third]) {
      t.strictSame((await node.get(`/api/v1/runs/${first.run.id}`)).json, first.json);
      t.equal((await node.get(`/api/v1/runs/${first.run.id}/output`)).text, OUTPUT);
      expectReplay(t, await node.upload('pick', [file(CSV)], { key: 'finished' }), first);
      expectError(t, await node.upload('pick', [file(OTHER)], { key: 'finished' }), 409, 'IDEMPOTENCY_KEY_REUSED');
      expectError(t, await node.upload('other', [file(CSV)], { key: 'finished' }), 409, 'IDEMPOTENCY_KEY_REUSED');
    }
    const foreign = await fleet.client(1, 'busy').get(`/api/v1/runs/${first.run.id}`);
    expectError(t, foreign, 404, 'RUN_NOT_FOUND');
    t.equal(await fleet.quotaUsed('acme', 2), 1);
  });

  await t.test('outputs, large and small: ranges, conditions and digests are the same from every node', async (t) => {
    for (const text of [CSV, LARGE]) {
      const { run } = await other.upload('pick', [file(text)]);
      const path = `/api/v1/runs/${run.id}/output`;
      const whole = await other.get(path, { 'want-repr-digest': 'sha-256=1' });
      const digest = createHash('sha256').update(whole.body).digest('base64');
      t.equal(whole.headers['repr-digest'], `sha-256=:${digest}:`);
      for (const node of [one, third]) {
        const again = await node.get(path, { 'want-repr-digest': 'sha-256=1' });
        t.ok(again.body.equals(whole.body), `${whole.body.length} bytes`);
        t.equal(again.headers['repr-digest'], whole.headers['repr-digest']);
        const etag = String(whole.headers.etag);
        const part = await node.get(path, { range: 'bytes=5-13', 'if-range': etag });
        t.equal(part.status, 206);
        t.equal(part.text, whole.text.slice(5, 14));
        t.equal((await node.get(path, { range: 'bytes=5-', 'if-range': '"other"' })).status, 200);
        t.equal((await node.get(path, { 'if-none-match': etag })).status, 304);
        t.equal((await node.get(path, { range: `bytes=${whole.body.length}-` })).status, 416);
      }
    }
  });

  await t.test('many repeats at all nodes while the upload is slow: one Run, one charge', async (t) => {
    const before = await fleet.quotaUsed();
    const first = one.hold('pick', [file(CSV)], HALF, { key: 'slow' });
    await until(
      () => fleet.quotaUsed(),
      (used) => used > before,
    );
    const repeats = Array.from({ length: 50 }, (_, index) => {
      return fleet.client(index % 3).upload('pick', [file(CSV)], { key: 'slow' });
    });
    const joined = async (): Promise<number> => {
      const aside = await Promise.all(fleet.nodes.map((node) => node.metric('template_run_runs_aside')));
      return aside.reduce((sum, waiting) => sum + waiting, 0);
    };
    await until(joined, (waiting) => waiting >= repeats.length);
    const made = await first.finish();
    expectNew(t, made);
    for (const repeat of await Promise.all(repeats)) expectReplay(t, repeat, made);
    t.equal(await fleet.quotaUsed(), before + 1);
  });

  await t.test('the owner vanishes or is refused: one that waits elsewhere takes its place', async (t) => {
    for (const [key, end] of [
      ['vanished', 'vanish'],
      ['refused', 'finish'],
    ] as const) {
      const before = await fleet.quotaUsed();
      const [text, bytes] = end === 'vanish' ? [CSV, HALF] : ['', -1];
      const held = one.hold('pick', [file(text)], bytes, { key });
      held.answer.catch(() => {});
      await until(
        () => fleet.quotaUsed(),
        (used) => used > before,
      );
      const repeats = [other, third, other].map((node) => node.upload('pick', [file(CSV)], { key }));
      await fleet.nodes[1]!.joined(2);
      await fleet.nodes[2]!.joined(1);
      if (end === 'vanish') held.vanish();
      else expectError(t, await held.finish(), 400, 'MALFORMED_FILE');
      const answers = await Promise.all(repeats);
      t.strictSame(answers.map(({ status }) => status).sort(), [200, 200, 201], key);
      t.equal(new Set(answers.map(({ run }) => run.id)).size, 1);
      t.equal(await fleet.quotaUsed(), before + 1);
    }
  });

  await t.test('quota at its limit from all nodes, with Runs that fail: exactly so many are charged', async (t) => {
    let charged = 0;
    const work = async (node: number): Promise<void> => {
      const client = fleet.client(node % 3, 'counted');
      for (let count = node; ; count += 12) {
        const fails = count % 10 === 0;
        const answer = await client.upload('checked', [file(`id,amount\n${fails ? 'bad' : '1'},2\n`)]);
        if (answer.status === 402) {
          // Runs that fail give their units back: only when all are over it is used up.
          if ((answer.json['quota'] as { used: number }).used >= QUOTA && charged >= QUOTA - 12) return;
          await pause(5);
          continue;
        }
        expectRun(t, answer, 201, fails ? 'failed' : 'succeeded');
        if (!fails) charged += 1;
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, node) => work(node)));
    const last = async (): Promise<Answer> => fleet.client(1, 'counted').upload('checked', [file('id,amount\n1,3\n')]);
    for (let answer = await last(); answer.status === 201; answer = await last()) charged += 1;
    t.equal(charged, QUOTA);
    expectError(t, await last(), 402, 'EXPORT_LIMIT_REACHED');
    t.equal(await fleet.quotaUsed('counted', 2), QUOTA);
  });

  await t.test('Runs in flight and rates are counted over all nodes', async (t) => {
    const held = [0, 1, 2, 0].map((node) => {
      return fleet.client(node, 'flying').hold('pick', [file(CSV)], HALF);
    });
    await until(
      () => fleet.quotaUsed('flying'),
      (used) => used === 4,
    );
    for (const node of [0, 1, 2]) {
      const refused = await fleet.client(node, 'flying').upload('pick', [file(CSV)]);
      expectError(t, refused, 429, 'CONCURRENCY_LIMIT_REACHED');
    }
    for (const each of held) expectNew(t, await each.finish());
    const asked = Array.from({ length: 30 }, (_, index) => fleet.client(index % 3, 'rated').get('/api/v1/templates'));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    t.equal(statuses.filter((status) => status === 200).length, 10);
  });

  await t.test(
    'scripts that Redis has forgotten are sent again; a Redis that lost everything is noticed',
    async (t) => {
      await fleet.redis.command('SCRIPT', 'FLUSH');
      const made = await one.upload('pick', [file(CSV)], { key: 'flushed' });
      expectNew(t, made);
      await fleet.redis.command('FLUSHALL');
      expectError(t, await other.get(`/api/v1/runs/${made.run.id}`), 404, 'RUN_NOT_FOUND');
      expectNew(t, await other.upload('pick', [file(CSV)], { key: 'flushed' }));
      for (const node of fleet.nodes) {
        await until(
          () => node.metric('template_run_redis_emptied_total'),
          (times) => times === 1,
        );
        const isLogged = async (): Promise<boolean> => node.events.some(({ event }) => event === 'redis_emptied');
        t.ok(await until(isLogged, (is) => is));
        t.equal(await node.metric('template_run_fleet_catalogs_differ'), 0);
      }
      const nodes = await until(
        () => fleet.nodes[0]!.metric('template_run_fleet_nodes'),
        (count) => count === 3,
      );
      t.equal(nodes, 3);
    },
  );

  await t.test('logs', async (t) => {
    for (const node of fleet.nodes) await checkLogs(t, node, [fleet.catalog.key('acme')]);
  });
});
