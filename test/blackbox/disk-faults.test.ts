// Disks that refuse writes: responses, log lines for the operator, and no files left over.
// With all tests only: attacks and faults of the machine.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { skipBehindBalancer, skipOnRedis } from '../fixtures/test-stores.ts';
import { until } from './client.ts';
import { expectError, expectNew } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, checkLogs, Service, startService } from './service.ts';

/** Above what the spool keeps in memory. */
const LARGE = `id,amount\n${'1,CanaryCell\n'.repeat(50_000)}`;

/** A request may come to the node whose disk is sound. */
const skip = skipBehindBalancer('each node has a disk of its own');

t.test('an upload that the disk refuses: 503, and the log says why under its request', { skip }, async (t) => {
  const service = await startService(t, { accounts: { acme: {} } }, { 'disk-floor': 0 });
  const client = service.client();
  const spool = join(service.dataFolder, 'spool');
  // Once it is admitted: before, the node is not ready. A folder that is only missing would be made again.
  const upload = client.hold('pick', [file(LARGE)], 1000, { headers: { 'x-request-id': 'refused-1' } });
  const isAdmitted = (text: string): boolean => !/charge="reservations"} 0$/m.test(text);
  await until(async () => (await client.get('/metrics')).text, isAdmitted);
  rmSync(spool, { recursive: true });
  writeFileSync(spool, 'in its place');
  const answer = await upload.finish();
  expectError(t, answer, 503, 'SERVER_BUSY');
  const faults = await until(
    async () => service.events.filter(({ event, request_id }) => event === 'fault' && request_id === 'refused-1'),
    (found) => found.length > 0,
  );
  t.match(faults, [{ level: 'error', request_id: 'refused-1', fault: /ENOTDIR/ }]);
  rmSync(spool);
  // The node may make it again, too, and may not be ready yet.
  mkdirSync(spool, { recursive: true });
  let uploads = 0;
  const made = await until(
    () => client.upload('pick', [file(LARGE)], { headers: { 'x-request-id': `made-${++uploads}` } }),
    ({ status }) => status === 201,
  );
  expectNew(t, made);
  const lines = await until(
    async () => service.events.filter(({ request_id }) => request_id === `made-${uploads}`),
    (found) => found.length > 0,
  );
  t.match(lines, [{ event: 'request', run_status: 'succeeded' }], 'the line has the id of the request');
  await checkLogs(t, service, [service.catalog.key('acme')]);
});

t.test(
  'folders below a service at work: what is removed is made again, what cannot be used is reported',
  { skip },
  async (t) => {
    const service = await startService(t, { accounts: { acme: {} } }, { 'disk-floor': 0 });
    const client = service.client();
    const ready = (status: number) =>
      until(
        () => client.get('/readyz'),
        (answer) => answer.status === status,
      );
    t.equal((await ready(200)).status, 200);
    for (const name of ['spool', 'outputs', 'spill']) rmSync(join(service.dataFolder, name), { recursive: true });
    // An answer holds for a second.
    const isMade = async (): Promise<boolean> =>
      (await client.get('/readyz')).status === 200 && existsSync(join(service.dataFolder, 'spill'));
    t.ok(await until(isMade, Boolean), 'made again');
    expectNew(t, await client.upload('pick', [file(LARGE)]));

    const spool = join(service.dataFolder, 'spool');
    rmSync(spool, { recursive: true });
    writeFileSync(spool, 'in its place');
    const unready = await ready(503);
    t.match(unready.json, { status: 'not ready', reasons: ['the data folder cannot be used: ENOTDIR'] });
    expectError(t, await client.upload('pick', [file('id,amount\n1,2\n')]), 503, 'SERVER_BUSY');
    t.equal((await client.get('/api/v1/templates')).status, 200, 'the others go on');
    rmSync(spool);
    t.equal((await ready(200)).status, 200, 'and so does the node, with room again');
    expectNew(t, await client.upload('pick', [file(LARGE)]));
    await checkLogs(t, service, [service.catalog.key('acme')]);
  },
);

t.test('an output that the disk takes in part: RUN_RESOURCE_LIMIT, nothing of it stays', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-disk-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, '1.out');
  const source = (module: string): string => JSON.stringify(new URL(`../../src/${module}.js`, import.meta.url).href);
  // More outputs in memory than their share of the budget: this one goes to the disk, in a process that may write 16 KiB.
  const script = `
    import { MemoryBudget } from ${source('admission/memory-budget')};
    import { LocalOutputs } from ${source('outputs/local-outputs')};
    const budget = new MemoryBudget(64 * 1024 * 1024, 1);
    budget.charge(32 * 1024 * 1024, 'outputs');
    const bytes = new Uint8Array(60 * 1024);
    try {
      await new LocalOutputs(budget).keep({ bytes, sizeBytes: bytes.length }, ${JSON.stringify(path)});
      console.log('kept');
    } catch (fault) {
      console.log(fault.failure?.code ?? fault);
    }`;
  // Without the test runner's own modules, which write more than that.
  const args = [
    '-c',
    'trap "" XFSZ; ulimit -f 16; exec env -u NODE_OPTIONS "$0" --input-type=module -e "$1"',
    process.execPath,
    script,
  ];
  const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
  t.equal(stdout.trim(), 'RUN_RESOURCE_LIMIT', stderr);
  t.notOk(existsSync(path));
});

/** Without a listener the signal of the limit ends the process; with one the write fails, as on a full disk. */
const OUTLIVING = ['--import', "data:text/javascript,process.on('SIGXFSZ', () => {})", COMMAND, 'serve'];
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

t.test(
  'a disk that takes no charge: 503 and not ready also with a floor of 0, and all is well when there is room again',
  { skip: skipOnRedis || (hasPrlimit ? false : 'prlimit is not there to take the room away') },
  async (t) => {
    const service = new Service({ accounts: { acme: {}, other: {} } }, { 'disk-floor': 0 }, {}, OUTLIVING);
    t.teardown(() => service.remove());
    await service.start();
    const client = service.client();
    const room = (bytes: string): void => {
      t.equal(spawnSync('prlimit', ['--pid', String(service.pid), `--fsize=${bytes}:unlimited`]).status, 0);
    };
    const small = [file('id,amount\n1,2\n')];
    const first = await client.upload('pick', small, { key: 'first' });
    expectNew(t, first);
    room('0');
    expectError(t, await client.upload('pick', small, { key: 'full' }), 503, 'SERVER_BUSY');
    const unready = await client.get('/readyz');
    t.equal(unready.status, 503);
    t.match(unready.json['reasons'], [/the ledger cannot be written/]);
    // Its counter was not read before.
    expectError(t, await service.client('other').upload('pick', small), 503, 'SERVER_BUSY');
    expectError(t, await client.upload('pick', small, { key: 'full' }), 503, 'SERVER_BUSY');
    t.equal(await service.metric('template_run_ready'), 0, 'metrics go on');
    t.equal((await client.get(`/api/v1/runs/${first.run.id}`)).status, 200, 'what was made can be read');
    room('unlimited');
    const ready = await until(
      () => client.get('/readyz'),
      ({ status }) => status === 200,
    );
    t.equal(ready.status, 200);
    expectNew(t, await client.upload('pick', small, { key: 'full' }));
    expectNew(t, await service.client('other').upload('pick', small));
    t.equal(await service.quotaUsed(), 2, 'what was refused was not charged');
    await checkLogs(t, service, [service.catalog.key('acme')]);
  },
);
