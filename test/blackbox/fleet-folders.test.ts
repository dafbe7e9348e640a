// The folder of outputs that the nodes of a fleet share. A node with another folder, or without one, does not start. A
// node whose folder is unmounted is not ready and loses no output. A missing output is a fault.
// With all tests only: several nodes, Redis and HAProxy.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Fleet } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { type Answer, type Client, until } from './client.ts';
import { expectError, expectNew } from './expect.ts';
import { file } from './multipart.ts';
import { type Service, startService } from './service.ts';

const MARK = 'template-run-fleet';
/** Its output is too large for Redis, and for the memory of a node. */
const LARGE = `id,amount\n${Array.from({ length: 200_000 }, (_, index) => `${index},${index * 3}\n`).join('')}`;
const WAIT_MILLISECONDS = 240_000;
const skip = skipWithoutRedis;

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-folders-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function outputOf(t: Test, client: Client): Promise<string> {
  const made = await client.upload('pick', [file(LARGE)]);
  if (made.status !== 202) expectNew(t, made);
  const path = `/api/v1/runs/${made.run.id}/output`;
  const whole = await until(
    () => client.get(path),
    ({ status }) => status === 200,
    WAIT_MILLISECONDS,
  );
  t.equal(whole.status, 200, whole.text);
  return path;
}

async function isMissing(t: Test, service: Service, answer: Answer): Promise<void> {
  expectError(t, answer, 500, 'INTERNAL_ERROR');
  t.equal(await service.metric('template_run_outputs_missing_total'), 1, 'counted');
  const logged = await until(
    async () => service.events.filter(({ event }) => event === 'output_missing'),
    ({ length }) => length > 0,
  );
  t.match(logged, [{ level: 'error', request_id: String }], 'logged');
}

t.test('a node starts only with the folder of its fleet', { skip }, async (t) => {
  const folder = folderOf(t);
  const [outputs, other, absent] = [join(folder, 'outputs'), join(folder, 'other'), join(folder, 'absent')];
  mkdirSync(outputs);
  mkdirSync(other);
  const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { outputs, nodes: 2 });
  const id = readFileSync(join(outputs, MARK), 'utf8').trim();
  t.match(id, /^[\da-f-]{36}$/);
  await t.rejects(fleet.add({ outputs: absent }), /absent does not exist\. Make it on storage that all nodes mount/);
  t.notOk(existsSync(absent), 'no node makes the folder');
  await t.rejects(fleet.add({ outputs: other }), /--outputs has no file template-run-fleet/);
  t.strictSame(readdirSync(other), [], 'nothing is written into it');
  writeFileSync(join(other, MARK), '00000000-0000-4000-8000-000000000000\n');
  await t.rejects(fleet.add({ outputs: other }), new RegExp(`belongs to another fleet.* write ${id} into`, 's'));
  writeFileSync(join(other, MARK), id);
  await fleet.add({ outputs: other });
  await fleet.redis.command('FLUSHALL');
  await fleet.add();
  t.equal(
    await fleet.redis.command('GET', 'tr1:outputs').then(() => readFileSync(join(outputs, MARK), 'utf8').trim()),
    id,
  );
});

t.test('a folder that is unmounted under its nodes', { skip }, async (t) => {
  const folder = folderOf(t);
  const [outputs, away] = [join(folder, 'outputs'), join(folder, 'away')];
  mkdirSync(outputs);
  const fleet = await Fleet.start(t, { accounts: { acme: {} } }, { outputs, nodes: 1 });
  const client = fleet.client(0);
  const path = await outputOf(t, client);
  renameSync(outputs, away);
  mkdirSync(outputs);
  expectError(t, await client.get(path), 503, 'SERVER_BUSY');
  expectError(t, await client.upload('pick', [file(LARGE)]), 503, 'SERVER_BUSY');
  t.strictSame(readdirSync(outputs), [], 'no output is written where no other node sees it');
  const ready = (wanted: number): Promise<Answer> =>
    until(
      () => client.get('/readyz'),
      ({ status }) => status === wanted,
      WAIT_MILLISECONDS,
    );
  t.match((await ready(503)).text, /the folder of outputs is not that of the fleet/);
  rmSync(outputs, { recursive: true });
  renameSync(away, outputs);
  t.equal((await ready(200)).status, 200);
  t.equal((await client.get(path)).status, 200);
  const [hour] = readdirSync(outputs).filter((name) => name !== MARK);
  rmSync(join(outputs, hour!), { recursive: true });
  await isMissing(t, fleet.nodes[0]!, await client.get(path));
});

t.test('a node on its own: an output that somebody removed', async (t) => {
  const data = folderOf(t);
  const service = await startService(t, { accounts: { acme: {} } }, { data });
  const client = service.client('acme');
  const path = await outputOf(t, client);
  for (const name of readdirSync(join(data, 'outputs'))) rmSync(join(data, 'outputs', name), { recursive: true });
  await isMissing(t, service, await client.get(path));
});
