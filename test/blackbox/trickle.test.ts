// Uploads that fill the memory of their Runs and then become very slow: other accounts are served normally, and the
// slow uploads finally get the same response as a fast client.
// With all tests only: faults that only time limits detect.
import t, { type Test } from 'tap';
import { RUN_RESERVATION_BYTES } from '../../workers/memory/budget.ts';
import { step, template } from './catalog-folder.ts';
import { Client, type HeldUpload, pause, until } from './client.ts';
import { expectNew, expectRun } from './expect.ts';
import { type Form, file, form } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

/** With these files the state of five Runs is more than the budget has, as soon as one of them. */
const BUDGET = '96MiB';
const HALF_BYTES = 48 * 1024 * 1024;
const ROWS = 150_000;
const BEGIN_BYTES = 1000;
const TAIL_BYTES = 500;
const MINUTES_10 = 600_000;
const MEBIBYTE = 1024 * 1024;
/** A machine that is busy with other things takes its time. */
const PATIENCE_MILLISECONDS = 240_000;
const SMALL_POSTS = 60;
/** Their reservations alone are more than the budget has. */
const BEGUN = 30;
const TRICKLE_MILLISECONDS = 1_000;

/** One operation for each way to hold state. */
const TEMPLATES: Readonly<Record<string, object>> = {
  aggregate: template([
    step('aggregate', { group_by: ['id'], metrics: [{ fn: 'count' }, { fn: 'max', column: 'name' }] }),
  ]),
  sort: template([step('sort', { by: ['name', 'id'] })]),
  dedupe: template([step('dedupe', { by: ['id'], keep: 'last' })]),
  window: template([step('window', { partition_by: ['name'], order_by: ['id'], columns: [{ fn: 'row_number' }] })]),
  pivot: template([
    step('pivot', {
      group_by: ['id'],
      names_from: 'kind',
      values_from: 'name',
      values: ['k0', 'k1'],
      aggregate: 'first',
    }),
  ]),
};

const LARGE = form([
  file(
    `id,name,kind\n${Array.from({ length: ROWS }, (_, row) => `${(row * 7919) % ROWS},a name that is a little longer than others ${row % 4999},k${row % 2}\n`).join('')}`,
  ),
]);
const SMALL = form([file(`id,name,kind\n${'1,CanaryCell,k1\n'.repeat(100)}`)]);

const service = await startService(
  t,
  {
    accounts: { slow: { templates: TEMPLATES }, other: { templates: TEMPLATES } },
  },
  { workers: 2, 'memory-budget': BUDGET, 'disk-floor': 0 },
);

t.test('a few trickling uploads keep nobody out', { timeout: MINUTES_10 }, async (t) => {
  const slow = new Client(service.port, service.catalog.key('slow'), MINUTES_10);
  const names = Object.keys(TEMPLATES);
  const expected = new Map<string, string>();
  for (const name of names) expected.set(name, await outputOf(t, slow, await slow.upload(name, LARGE)));
  const trickling = { on: true };
  // Earlier Runs release their memory shortly after their responses. Until then, the fifth Run would exceed its share.
  t.equal(await until(heldByRuns, (bytes) => bytes === 0, PATIENCE_MILLISECONDS), 0);
  const held = names.map((name) => slow.hold(name, LARGE, BEGIN_BYTES));
  // Once its first Runs have grown beyond its account's share the next would be refused: all are let in before.
  await until(heldByRuns, (bytes) => bytes >= names.length * RUN_RESERVATION_BYTES, PATIENCE_MILLISECONDS);
  for (const upload of held) upload.send(LARGE.body.subarray(BEGIN_BYTES, -TAIL_BYTES));
  const trickles = held.map((upload) => trickle(upload, LARGE, trickling));
  await until(heldByRuns, (bytes) => bytes > 32 * MEBIBYTE, PATIENCE_MILLISECONDS);
  await expectServed(t);
  // Half of the budget free is what they give way for: which of them keeps its state then depends on who came first.
  const left = await until(heldByRuns, (bytes) => bytes <= HALF_BYTES, PATIENCE_MILLISECONDS);
  t.ok(left <= HALF_BYTES, `the slow ones hold ${left} bytes`);
  t.strictSame(await early(names, held), [], 'none of them is answered yet');
  trickling.on = false;
  const answers = await Promise.all(trickles);
  for (const [index, answer] of answers.entries()) {
    const name = names[index]!;
    expectNew(t, answer);
    t.ok((await outputOf(t, slow, answer)) === expected.get(name), `${name} has the same output as from a fast client`);
  }
  t.equal(await until(heldByRuns, (bytes) => bytes === 0, PATIENCE_MILLISECONDS), 0, 'nothing is held in the end');
});

t.test('many uploads that have only begun keep nobody out', { timeout: MINUTES_10 }, async (t) => {
  const slow = new Client(service.port, service.catalog.key('slow'), MINUTES_10);
  const trickling = { on: true };
  const all: { readonly held: HeldUpload; readonly answer: HeldUpload['answer'] }[] = [];
  const begin = (): void => {
    for (let count = 0; count < BEGUN; count++) {
      const held = slow.hold('dedupe', SMALL, -TAIL_BYTES);
      all.push({ held, answer: trickle(held, SMALL, trickling) });
    }
  };
  const refused = (): number => all.filter(({ held }) => held.answered()).length;
  begin();
  await expectServed(t);
  const atFirst = refused();
  t.ok(atFirst > 0 && atFirst < BEGUN, `${atFirst} were refused at first`);
  // The admitted Runs release memory until half of the budget is free.
  const left = await until(heldByRuns, (bytes) => bytes <= HALF_BYTES, PATIENCE_MILLISECONDS);
  t.ok(left <= HALF_BYTES, `the others hold ${left} bytes`);
  begin();
  await until(
    async () => refused(),
    (count) => count > atFirst,
    PATIENCE_MILLISECONDS,
  );
  t.ok(refused() < BEGUN + atFirst, `${refused() - atFirst} of the second ones were refused`);
  trickling.on = false;
  for (const { answer } of all) {
    const { status, code } = await answer;
    if (status !== 201) t.equal(`${status} ${code}`, '503 SERVER_BUSY');
  }
});

t.test('nothing of it is in the logs', async (t) => checkLogs(t, service));

/** Another account posts small files meanwhile. */
async function expectServed(t: Test): Promise<void> {
  const other = service.client('other');
  const names = Object.keys(TEMPLATES);
  const statuses: number[] = [];
  for (let post = 0; post < SMALL_POSTS; post++) {
    statuses.push((await other.upload(names[post % names.length]!, SMALL)).status);
    await pause(50);
  }
  t.strictSame(new Set(statuses), new Set([201]), 'each post of another account is served');
}

async function outputOf(t: Test, client: Client, answer: Awaited<HeldUpload['answer']>): Promise<string> {
  expectRun(t, answer, 201, 'succeeded');
  return (await client.get(`/api/v1/runs/${answer.run.id}/output`)).text;
}

/** Bytes of the budget that Runs have reserved and borrowed. */
async function heldByRuns(): Promise<number> {
  const { text } = await new Client(service.port).get('/metrics');
  const of = (charge: string): number =>
    Number(new RegExp(`held_bytes\\{charge="${charge}"\\} (\\d+)`).exec(text)?.[1]);
  return of('reservations') + of('threads');
}

/** Returns the responses of the uploads that were answered before they ended. */
async function early(names: readonly string[], held: readonly HeldUpload[]): Promise<string[]> {
  const told = held.map(async (upload, index) => {
    if (!upload.answered()) return [];
    const { status, code } = await upload.answer;
    return [`${names[index]}: ${status} ${code}`];
  });
  return (await Promise.all(told)).flat();
}

/** A byte now and then, and the rest at once when it is over. */
async function trickle(
  upload: HeldUpload,
  { body }: Form,
  trickling: { readonly on: boolean },
): Promise<Awaited<HeldUpload['answer']>> {
  let at = body.length - TAIL_BYTES;
  for (; trickling.on && !upload.answered() && at < body.length - 1; at++) {
    upload.send(body.subarray(at, at + 1));
    await pause(TRICKLE_MILLISECONDS);
  }
  upload.send(body.subarray(at));
  return upload.answer;
}
