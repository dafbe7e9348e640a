// A node with threads that do not respond or do not end, and repeated signals: Runs of other accounts continue,
// readiness is reported correctly, and the process ends in time with status 0.
// With all tests only: faults that only time limits detect.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import tap, { type Test } from 'tap';
import { skipBehindBalancer, skipOnRedis } from '../fixtures/test-stores.ts';
import { type CatalogDescription, PICK } from './catalog-folder.ts';
import { type Answer, Client, pause, until } from './client.ts';
import { expectNew, expectReplay } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, type Flags, Service, startService } from './service.ts';
import { slowTemplate, slowUpload } from './slow-run.ts';

/** The server with threads that do what the first line of a file says, see stub-worker.ts. */
const STUB = fileURLToPath(new URL('../fixtures/serve-stub.js', import.meta.url));

/** Makes the clock jump. */
const CLOCK = fileURLToPath(new URL('../fixtures/jumping-clock.js', import.meta.url));
/** A Run that spins until the test removes its file: longer than the test. */
const SPIN_MILLISECONDS_MAX = 500_000;
/** A service that answers with a finished Run, however long a busy machine takes for it. */
const WAIT_MILLISECONDS = 300_000;
const DAY = 24 * 3600 * 1000;

const catalog: CatalogDescription = {
  accounts: { acme: { templates: { pick: PICK } }, other: { templates: { pick: PICK } } },
};
/** For ten times as long as SLOW: a busy machine starts all of them before one has ended. */
const SLOWER = slowTemplate(300);
const SMALL = [file(`id,amount\n${'1,2\n'.repeat(250)}`)];

tap.setTimeout(1_200_000);

async function startStub(t: Test, flags: Flags): Promise<Service> {
  const service = new Service(catalog, flags, {}, [STUB]);
  t.teardown(() => service.remove());
  await service.start();
  return service;
}

async function metric(service: Service, name: string): Promise<number> {
  const { text } = await service.client().get('/metrics');
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  tap.test(`${signal} again and again ends with status 0`, async (t) => {
    const service = await startService(t, catalog, { 'drain-ms': 700 });
    expectNew(t, await service.client().upload('pick', SMALL));
    const held = service.client().hold('pick', SMALL, 100);
    held.answer.catch(() => {});
    const storm = setInterval(() => service.signal(signal), 1);
    t.equal(await service.exited(), 0);
    clearInterval(storm);
    t.ok(service.events.some(({ event }) => event === 'stopped'));
  });
}

/** The cases hold up one of them. */
const isSpread = skipBehindBalancer('two nodes have two threads');

tap.test("a Run that holds up every thread does not hold up another account's", { skip: isSpread }, async (t) => {
  const service = await startStub(t, { workers: 2, 'wait-ms': WAIT_MILLISECONDS });
  const patient = (account: string) => new Client(service.port, service.catalog.key(account), WAIT_MILLISECONDS);
  const spinning: Promise<Answer>[] = [];
  const begun: string[] = [];
  let over = 0;
  for (const round of [1, 2]) {
    const path = join(service.dataFolder, `spinning-${round}`);
    begun.push(path);
    const run = patient('acme').upload('pick', [file(`spin ${SPIN_MILLISECONDS_MAX} ${path}`)]);
    spinning.push(run);
    void run.then(() => (over += 1));
    await until(
      async () => existsSync(path),
      (exists) => exists,
    );
  }
  const other = patient('other');
  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const start = performance.now();
    expectNew(t, await other.upload('pick', SMALL));
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  t.comment(`median ${times[10]?.toFixed(1)} ms, longest ${times.at(-1)?.toFixed(1)} ms`);
  t.equal(over, 0, 'they still hold up their threads');
  for (const path of begun) rmSync(path);
  t.equal((await service.client().get('/readyz')).status, 200);
  for (const answer of await Promise.all(spinning)) expectNew(t, answer);
});

tap.test(
  'long Runs over files in memory do not hold up short ones of another account in the same thread',
  { skip: isSpread },
  async (t) => {
    const service = await startService(t, {
      accounts: { acme: { templates: { pick: PICK, slow: SLOWER } }, other: { templates: { pick: PICK } } },
    });
    const long = Array.from({ length: 4 }, () => service.client().hold('slow', slowUpload(5_500), 0));
    let over = 0;
    for (const { finish } of long) {
      void finish().then(
        () => (over += 1),
        () => {},
      );
    }
    await until(
      async () => metric(service, 'template_run_runs_in_pool'),
      (runs) => runs === long.length,
    );
    let overBefore = -1;
    for (let round = 0; round < 5; round += 1) {
      expectNew(t, await service.client('other').upload('pick', SMALL));
      if (round === 1) overBefore = over;
    }
    t.equal(overBefore, 0, 'none of the long ones had ended');
    for (const { vanish } of long) vanish();
  },
);

tap.test('waiting behind others does not count towards the time of a Run', async (t) => {
  // Each Run takes far less than its time, and the last one ends later than its time after its upload.
  const service = await startStub(t, { workers: 1, 'run-timeout-ms': 20_000, 'wait-ms': WAIT_MILLISECONDS });
  const client = new Client(service.port, service.catalog.key('acme'), WAIT_MILLISECONDS);
  // One Run occupies the thread and another the spare thread, so no thread is left for the others.
  const blocking = async (name: string): Promise<{ answer: Promise<Answer> }> => {
    const path = join(service.dataFolder, name);
    const answer = client.upload('pick', [file(`block 12000 ${path}`)]);
    await until(
      async () => existsSync(path),
      (exists) => exists,
    );
    return { answer };
  };
  const first = await blocking('first');
  const second = await blocking('second');
  const waiting = client.upload('pick', [file('sleep 11000')]);
  expectNew(t, await first.answer);
  expectNew(t, await second.answer);
  expectNew(t, await waiting);
});

tap.test('threads in native code: not ready when none is left, and the process ends after the drain', async (t) => {
  const service = await startStub(t, { workers: 1, 'drain-ms': 1000, 'run-timeout-ms': 600_000 });
  const client = service.client();
  const burning = [client.upload('pick', [file('native 400000')])];
  await until(
    async () => metric(service, 'template_run_budget_held_bytes\\{charge="threads"\\}'),
    (bytes) => bytes > 0,
  );
  burning.push(client.upload('pick', [file('native 400000')]));
  const { text } = await until(
    () => client.get('/readyz'),
    ({ status }) => status === 503,
  );
  t.match(text, /no worker answers/);
  const begun = performance.now();
  service.signal('SIGTERM');
  for (const { run } of await Promise.all(burning)) t.equal(run.error?.code, 'RUN_INTERRUPTED', 'it is answered');
  t.equal(await service.exited(), 0);
  const milliseconds = performance.now() - begun;
  t.comment(`it took ${milliseconds.toFixed(0)} ms`);
  t.match(service.events.at(-1), { event: 'stopped_by_force' });
});

for (const days of [100, -100]) {
  tap.test(
    `a clock that jumps by ${days} days, and back: Runs, keys and counters stay`,
    { skip: skipOnRedis },
    async (t) => {
      const service = new Service(catalog, {}, { JUMP_DAYS: String(days) }, ['--import', CLOCK, COMMAND, 'serve']);
      t.teardown(() => service.remove());
      await service.start();
      const client = service.client();
      const begunAt = Date.now();
      const first = await client.upload('pick', SMALL, { key: 'kept' });
      expectNew(t, first);
      for (const isJumped of [true, false]) {
        service.signal('SIGUSR2');
        const jumped = await until(
          async () => {
            await client.get('/api/v1/templates');
            return Date.parse(String(service.events.at(-1)?.time));
          },
          (time) => Math.abs(time - begunAt) > DAY === isJumped,
        );
        t.equal(Math.abs(jumped - begunAt) > DAY, isJumped);
        // Gives the sweeper time to run.
        await pause(500);
        const path = `/api/v1/runs/${first.run.id}`;
        t.equal((await client.get(path)).status, 200);
        t.equal((await client.get(`${path}/output`)).status, 200);
        expectReplay(t, await client.upload('pick', SMALL, { key: 'kept' }), first);
        expectNew(t, await client.upload('pick', SMALL));
      }
      service.signal('SIGTERM');
      t.equal(await service.exited(), 0);
      await service.start();
      t.equal(await metric(service, 'template_run_quota_used\\{account="acme"\\}'), 2, 'those of this period');
    },
  );
}
