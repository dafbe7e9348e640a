// Two nodes that share slow stores: a repeat may go to either node.
// With all tests only: several nodes, Redis and HAProxy.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readServeConfig } from '../../src/config.ts';
import { startServer } from '../../src/server.ts';
import type { Stores } from '../../src/stores/stores.ts';
import { openLog } from '../../src/telemetry/log.ts';
import { delayedStores } from '../fixtures/delayed-stores.ts';
import { CatalogFolder, PICK } from './catalog-folder.ts';
import { Client, until } from './client.ts';
import { expectError, expectNew, expectReplay, expectRun } from './expect.ts';
import { file, form } from './multipart.ts';
import { SLOW, slowUpload } from './slow-run.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const OTHER = 'id,amount,CanaryColumn\n001,1.51,CanaryCell\n';
const HALF = 200;
/** Repeats wait for the Runs of others, however long a busy machine takes for these. */
const WAIT_MILLISECONDS = 200_000;
/** Much shorter than a Run of SLOW_PARTS. */
const SHORT_WAIT_MILLISECONDS = 500;
const SLOW_PARTS = slowUpload(60_000);

t.setTimeout(1_200_000);

const folder = t.testdir();
const catalog = new CatalogFolder(join(folder, 'catalog'), {
  accounts: { acme: { templates: { pick: PICK, slow: SLOW } } },
});
let shared: Stores | null = null;

async function startNode(name: string, waitMilliseconds = WAIT_MILLISECONDS): Promise<Client> {
  const data = join(folder, name);
  mkdirSync(data);
  const flags = { catalog: catalog.folder, data, port: 0, host: '127.0.0.1', workers: 1 };
  const others = { 'wait-ms': waitMilliseconds, 'drain-ms': 500, 'metrics-on-api-port': 'yes' };
  const texts = Object.entries({ ...flags, ...others }).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  const server = await startServer({
    config: readServeConfig(texts, {}),
    log: openLog('silent'),
    storesInstead: (own) => {
      shared ??= delayedStores(own);
      return { ...shared, close: own.close };
    },
  });
  t.teardown(() => server.stop());
  return new Client(server.port, catalog.key('acme'));
}

const one = await startNode('one');
const other = await startNode('other');

/** Resolves once an upload has been admitted after the given number of charged Runs. */
async function letIn(charged: number): Promise<void> {
  const used = await until(
    () => one.metric('template_run_quota_used{account="acme"}'),
    (now) => now > charged,
  );
  if (!(used > charged)) throw new Error(`${used} Runs are charged or reserved, and not ${charged + 1}`);
}

/** Resolves once so many repeats wait at the other node. */
async function joined(repeats: number): Promise<void> {
  const waiting = await until(
    () => other.metric('template_run_runs_aside'),
    (now) => now >= repeats,
  );
  if (waiting < repeats) throw new Error(`${waiting} repeats wait, and not ${repeats}`);
}

t.test('a finished Run is replayed and read by the other node', async (t) => {
  const first = await one.upload('pick', [file(CSV)], { key: 'finished' });
  expectNew(t, first);
  expectReplay(t, await other.upload('pick', [file(CSV)], { key: 'finished' }), first);
  t.strictSame((await other.get(`/api/v1/runs/${first.run.id}`)).json, first.json);
  t.equal((await other.get(`/api/v1/runs/${first.run.id}/output`)).text, 'id,total\n001,1.50\n');
  expectError(t, await other.upload('pick', [file(OTHER)], { key: 'finished' }), 409, 'IDEMPOTENCY_KEY_REUSED');
});

t.test('a repeat waits for an upload of the other node and gets its Run', async (t) => {
  const first = one.hold('pick', [file(CSV)], HALF, { key: 'uploading' });
  await letIn(1);
  const repeats = [CSV, CSV, OTHER].map((text) => other.upload('pick', [file(text)], { key: 'uploading' }));
  await joined(repeats.length);
  const made = await first.finish();
  expectNew(t, made);
  expectReplay(t, (await repeats[0])!, made);
  expectReplay(t, (await repeats[1])!, made);
  expectError(t, (await repeats[2])!, 409, 'IDEMPOTENCY_KEY_REUSED');
});

t.test('a repeat takes the place of an upload of the other node that vanishes, or is refused', async (t) => {
  const gone = one.hold('pick', [file(CSV)], HALF, { key: 'vanished' });
  gone.answer.catch(() => {});
  await letIn(2);
  const repeats = [1, 2, 3].map(() => other.upload('pick', [file(CSV)], { key: 'vanished' }));
  await joined(repeats.length);
  gone.vanish();
  const answers = await Promise.all(repeats);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 200, 201]);
  t.equal(new Set(answers.map(({ run }) => run.id)).size, 1);

  const broken = one.hold('pick', form([file(OTHER)], { closed: false }), -20, { key: 'refused' });
  await letIn(3);
  const better = other.upload('pick', [file(CSV)], { key: 'refused' });
  await joined(1);
  expectError(t, await broken.finish(), 400, 'MALFORMED_FILE');
  expectNew(t, await better);
});

t.test('a Run that takes long: 202 on both nodes, and its end is seen by both', async (t) => {
  const nodes = await Promise.all(['three', 'four'].map((name) => startNode(name, SHORT_WAIT_MILLISECONDS)));
  const first = await nodes[0]!.upload('slow', SLOW_PARTS, { key: 'slow' });
  expectRun(t, first, 202, 'running');
  const repeat = await nodes[1]!.upload('slow', SLOW_PARTS, { key: 'slow' });
  expectRun(t, repeat, 202, 'running');
  t.equal(repeat.run.id, first.run.id);
  for (const node of nodes) {
    const ended = await until(
      () => node.get(`/api/v1/runs/${first.run.id}`),
      ({ run }) => run.status !== 'running',
    );
    expectRun(t, ended, 200, 'succeeded');
  }
});

t.test('many at once at both nodes make one Run', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const key = `many${round}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).upload('pick', [file(CSV)], { key })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    t.strictSame(statuses, [...Array.from({ length: 19 }, () => 200), 201]);
    t.equal(new Set(answers.map(({ run }) => run.id)).size, 1);
  }
});
