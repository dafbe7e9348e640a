// Finished Runs of one account fill its share of the memory: its next Runs get 503, and those of another account do not.
// With all tests only: thousands of Runs.
import t from 'tap';
import { isOnRedis } from '../fixtures/test-stores.ts';
import { step, template } from './catalog-folder.ts';
import { expectError, expectRun } from './expect.ts';
import { CANARY, file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

/** Operations whose counts are in the report of each Run: a record has almost 64 KiB. */
const OPERATIONS = 500;

/** More than the share of an account alone: half of the smallest budget, 28 MiB. */
const RUNS_MAX = 2_000;

const skip = isOnRedis ? 'finished Runs in Redis do not hold memory of a node' : false;

t.test('an account whose finished Runs hold its share gets 503, and others do not', { skip }, async (t) => {
  const long = template(
    Array.from({ length: OPERATIONS }, (_, index) => step('filter', { where: `id != "none ${index}"` })),
  );
  const accounts = { acme: { templates: { long } }, other: { templates: { long } } };
  const service = await startService(t, { accounts }, { 'memory-budget': '56MiB' });
  const upload = (account: string, run: number) => {
    // Other counts in each report, so that no record is stored as its difference from another one.
    const rows = `${run},${CANARY}\n`.repeat(1 + (run % 97));
    return service.client(account).upload('long', [file(`id,text\n${rows}`)]);
  };
  let kept = 0;
  let answer = await upload('acme', kept);
  for (; answer.status === 201 && kept < RUNS_MAX; kept++) answer = await upload('acme', kept);
  t.comment(`${kept} Runs are kept`);
  expectError(t, answer, 503, 'SERVER_BUSY');
  t.match(answer.json, { message: /finished Runs of the account use all of its memory/ });
  t.ok(Number(answer.headers['retry-after']) > 0);
  expectError(t, await upload('acme', kept), 503, 'SERVER_BUSY');
  expectRun(t, await upload('other', kept), 201, 'succeeded');
  await checkLogs(t, service);
});
