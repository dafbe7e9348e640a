// `transform`, a Run and its output in one: nothing is charged if the output cannot be saved, and a lost Run is repeated.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { TemplateRunClient } from '../../../src/client/node/template-run-client.ts';
import { refusal, runAnswer, type ScriptedAnswer, ScriptedService } from './scripted-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-run-transform-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const FILE = Buffer.from('id,amount\n1,2\n');
const OUTPUT = 'id,total\n1,2\n';
const DIGEST = createHash('sha256').update(OUTPUT).digest('base64');
const OUTPUT_HEADERS = { etag: '"run_1"', 'repr-digest': `sha-256=:${DIGEST}:` };

async function scripted(t: Test, answers: readonly ScriptedAnswer[]) {
  const service = await ScriptedService.open(t, answers);
  const client = new TemplateRunClient({ baseUrl: service.url, apiKey: 'trs_key' });
  t.teardown(() => client.close());
  return { service, client };
}

t.test('an output without a place is told before a Run is made', async (t) => {
  const { service, client } = await scripted(t, [runAnswer(201, {})]);
  await t.rejects(client.transform('pick', FILE, join(folder, 'nowhere', 'out.csv')), { code: 'ENOENT' });
  await t.rejects(client.transform('pick', FILE, folder), { code: 'EISDIR' });
  const [path, rejects] = [join(folder, 'out.csv'), join(folder, 'nowhere', 'rejects.csv')];
  await t.rejects(client.transform('pick', FILE, path, { rejects }), { code: 'ENOENT' });
  t.strictSame(service.asked, [], 'nothing was sent');
});

t.test(
  'a Run that is lost before its output came is made again under one key, also where none was given',
  async (t) => {
    const path = join(folder, 'again.csv');
    const { service, client } = await scripted(t, [
      runAnswer(201, {}),
      refusal(404, 'RUN_NOT_FOUND'),
      runAnswer(201, {}),
      { status: 200, headers: OUTPUT_HEADERS, body: OUTPUT },
    ]);
    await client.transform('pick', FILE, path, { idempotencyKey: undefined as never });
    t.equal(readFileSync(path, 'utf8'), OUTPUT);
    const [first, , second] = service.asked.map(({ headers }) => headers['idempotency-key']);
    t.type(first, 'string');
    t.equal(second, first);
  },
);

t.test('a Run that is lost before its rejected rows came is made again, too', async (t) => {
  const [path, rejects] = [join(folder, 'both.csv'), join(folder, 'both.rejects.csv')];
  const run = runAnswer(201, { rejects: { name: 'rejects.csv' } });
  const output = { status: 200, headers: OUTPUT_HEADERS, body: OUTPUT };
  const { service, client } = await scripted(t, [run, output, refusal(404, 'RUN_NOT_FOUND'), run, output]);
  t.match(await client.transform('pick', FILE, path, { rejects: () => rejects }), { path, rejects });
  t.equal(readFileSync(path, 'utf8'), OUTPUT);
  t.equal(readFileSync(rejects, 'utf8'), OUTPUT);
  const posts = service.asked.filter(({ line }) => line.startsWith('POST'));
  t.equal(posts.length, 2);
  t.equal(new Set(posts.map(({ headers }) => headers['idempotency-key'])).size, 1, 'one key');
  t.equal(service.asked.at(-1)!.line, 'GET /api/v1/runs/run_1/rejects');
  const without = await scripted(t, [runAnswer(201, {}), output]);
  t.match(await without.client.transform('pick', FILE, path, { rejects }), { rejects: null }, 'none were rejected');
});
