// `transform`, a Run and its output in one: nothing is charged that cannot be kept, and a Run that is lost comes again.
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
