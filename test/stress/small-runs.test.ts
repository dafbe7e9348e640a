// 64 connections that send small files at full speed: no error occurs, the kept Runs explain the memory, and the event loop keeps
// turning. Then a budget full of records: Runs are refused, the process does not crash, and it stays below the budget and its
// base.
import tap, { type Test } from 'tap';
import { type LoadResult, load, uploadRequest } from '../../bench/service/load.ts';
import { LARGE_ROW_ARENA_BYTES } from '../../workers/memory/budget.ts';
import { file } from '../blackbox/multipart.ts';
import { type Service, startService } from '../blackbox/service.ts';
import { skipUnlessLong, sweep } from '../sweep.ts';
import { BASE_BYTES, gauges, heldBytes, MIB, mebibytes, resident } from './probe.ts';

const FILE = Buffer.from(`id,amount,note\n${'1,2.50,some words of a row\n'.repeat(40)}`.slice(0, 1024));
const PATH = '/api/v1/templates/pick/runs';
const ROUND_SECONDS = sweep({ short: 2, long: 5 });
/** Upper bound for the time to fill a budget of 96 MiB with records; a slow machine that does other work takes less. */
const FULL_SECONDS_MAX = 1_200;
const MINUTES_30 = 1_800_000;

/** Maximum memory kept per Run: its record with its report, its output, and the garbage of both that is not collected yet. */
const KEPT_BYTES_MAX = 3000;
/** Memory that the garbage collector and the allocator may not have released between two readings, however much is kept. */
const NOISE_BYTES = 48 * MIB;

interface Reading {
  readonly load: LoadResult;
  readonly kept: number;
  readonly chargedBytes: number;
  readonly residentBytes: number;
  readonly loopSeconds: number;
}

tap.setTimeout(2 * MINUTES_30);

tap.test('small Runs at full speed', { skip: skipUnlessLong, timeout: MINUTES_30 }, async (t) => {
  const service = await start(t, '4GiB');
  const readings: Reading[] = [];
  for (let round = 0; round < 6; round += 1) readings.push(await flood(t, service, 64));
  for (const { load } of readings) t.same(load.others, {}, 'no error');
  const from = readings[1]!;
  const to = readings.at(-1)!;
  const grownBytes = to.residentBytes - from.residentBytes;
  const perRun = (grownBytes - NOISE_BYTES) / (to.kept - from.kept);
  t.ok(perRun < KEPT_BYTES_MAX, `grown by ${mebibytes(grownBytes)}, ${to.kept - from.kept} Runs more`);
  // The event loop's delay is not checked here: on a machine that does other work, the event loop waits for a core.
  // bench/service/latency.ts measures it.
  t.comment(`event loop p99 ${readings.map(({ loopSeconds }) => loopSeconds).join(', ')} s`);
});

tap.test('a budget full of records', { skip: skipUnlessLong, timeout: MINUTES_30 }, async (t) => {
  const budgetBytes = 96 * MIB;
  const service = await start(t, budgetBytes);
  let last: Reading | null = null;
  for (let round = 0; round < FULL_SECONDS_MAX / ROUND_SECONDS; round += 1) {
    last = await flood(t, service, 12);
    t.ok(last.residentBytes < budgetBytes + BASE_BYTES, mebibytes(last.residentBytes));
    if ((last.load.others['503'] ?? 0) > last.load.answers) break;
  }
  t.same(Object.keys(last!.load.others), ['503'], 'refused, and nothing worse');
  const forRunsBytes = budgetBytes - LARGE_ROW_ARENA_BYTES;
  t.ok(last!.chargedBytes > forRunsBytes / 2, `kept ${mebibytes(last!.chargedBytes)}`);
  const readiness = await fetch(`${service.url}/readyz`);
  t.equal(readiness.status, 200, 'a full budget is no illness');
});

tap.test('outputs beyond their share go to the disk', { skip: skipUnlessLong, timeout: MINUTES_30 }, async (t) => {
  const budgetBytes = 64 * MIB;
  const service = await start(t, budgetBytes);
  const csv = file(`id,amount\n${'100000,2.50\n'.repeat(5000)}`);
  const client = service.client();
  const runs: string[] = [];
  for (let count = 0; count < 400; count += 1) {
    const { status, run } = await client.upload('pick', [csv]);
    if (status !== 201) t.fail(`status ${status}`);
    runs.push(run.id);
  }
  const samples = await gauges(service);
  t.ok(heldBytes(samples, 'outputs') <= budgetBytes / 4 + MIB, mebibytes(heldBytes(samples, 'outputs')));
  for (const run of [runs[0], runs.at(-1)]) {
    const { body } = await client.get(`/api/v1/runs/${run}/output`);
    t.ok(body.equals(Buffer.from(`id,total\n${'100000,2.50\n'.repeat(5000)}`)), 'the first and the last are exact');
  }
});

function flags(memoryBudget: string | number): Record<string, string | number> {
  return { workers: 2, 'memory-budget': memoryBudget, 'log-level': 'warn' };
}

function start(t: Test, memoryBudget: string | number): Promise<Service> {
  return startService(t, { accounts: { acme: {} } }, flags(memoryBudget));
}

async function flood(t: Test, service: Service, connections: number): Promise<Reading> {
  const request = uploadRequest(PATH, FILE, `Bearer ${service.catalog.key('acme')}`);
  await gauges(service);
  const result = await load({
    port: service.port,
    connections,
    request,
    expectedStatus: 201,
    seconds: ROUND_SECONDS,
  });
  const samples = await gauges(service);
  const reading = {
    load: result,
    kept: samples.get('template_run_runs_kept') ?? Number.NaN,
    chargedBytes: heldBytes(samples, 'records') + heldBytes(samples, 'outputs'),
    residentBytes: resident(service).nowBytes,
    loopSeconds: samples.get('template_run_event_loop_delay_p99_seconds') ?? Number.NaN,
  };
  const { kept, chargedBytes, residentBytes, loopSeconds } = reading;
  const memory = `resident ${mebibytes(residentBytes)}, charged ${mebibytes(chargedBytes)} for ${kept} Runs`;
  t.comment(`${result.answers} Runs, p99 ${result.p99Milliseconds.toFixed(1)} ms, loop ${loopSeconds}, ${memory}`);
  return reading;
}
