// Retries of the client by the status of a response, and the intervals at which it polls a Run.
import t, { type Test } from 'tap';
import { TemplateRunClient } from '../../../src/client/node/template-run-client.ts';
import { runAnswer, type ScriptedAnswer, ScriptedService } from './scripted-service.ts';

const FILE = Buffer.from('id,amount\n1,2\n');
/** A client that does not wait at all asks hundreds of times meanwhile. */
const POLLS_MILLISECONDS = 200;

async function scripted(t: Test, answers: readonly ScriptedAnswer[]) {
  const service = await ScriptedService.open(t, answers);
  const client = new TemplateRunClient({ baseUrl: service.url, apiKey: 'trs_key' });
  t.teardown(() => client.close());
  return { service, client };
}

t.test("another program's errors are tried again by their status", async (t) => {
  const others = { error: 'Service Unavailable', message: 'no upstream' };
  for (const status of [429, 502, 503, 504]) {
    const { service, client } = await scripted(t, [{ status, body: JSON.stringify(others) }, runAnswer(201, {})]);
    t.equal((await client.run('pick', FILE)).status, 'succeeded', String(status));
    t.equal(service.asked.length, 2);
  }
  const { service, client } = await scripted(t, [{ status: 403, body: JSON.stringify(others) }]);
  t.match(await client.run('pick', FILE).catch((error: unknown) => error), { status: 403, code: others.error });
  t.equal(service.asked.length, 1);
});

t.test('a Retry-After that no timer holds is waited for as long as a wait may be', async (t) => {
  const { service, client } = await scripted(t, [
    runAnswer(202, { status: 'running' }, { 'retry-after': '3000000' }),
    runAnswer(200, { status: 'running' }, { 'retry-after': '3000000' }),
  ]);
  const aborter = new AbortController();
  const reason = new Error('no longer wanted');
  const running = client.run('pick', FILE, { signal: aborter.signal });
  running.catch(() => {});
  while (service.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  setTimeout(() => aborter.abort(reason), POLLS_MILLISECONDS);
  await t.rejects(running, reason);
  t.equal(service.asked.length, 1);
});
