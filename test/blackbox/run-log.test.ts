// The log reports the end of Runs: each Run that ends has exactly one line with `run_status`.
import t, { type Test } from 'tap';
import { PICK, step, template } from './catalog-folder.ts';
import { until } from './client.ts';
import { expectNew, expectReplay, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, type Service, startService } from './service.ts';
import { SLOW, slowUpload } from './slow-run.ts';

const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n002,2.50,CanaryCell\n';
const FAILING = template([
  step('map_values', { columns: ['id'], map: { x: 'y' }, default: 'error', on_error: 'fail' }),
]);
const templates = { pick: PICK, failing: FAILING, slow: SLOW };

type Line = Readonly<Record<string, unknown>>;

const PATIENCE_MILLISECONDS = 120_000;

/** Waits for the only line with this event and request id. */
async function lineOf(t: Test, service: Service, event: string, requestId: string): Promise<Line> {
  const found = await until(
    async () => service.events.filter((line) => line['event'] === event && line['request_id'] === requestId),
    (lines) => lines.length > 0,
    PATIENCE_MILLISECONDS,
  );
  t.equal(found.length, 1, `one line ${event} of ${requestId}`);
  return found[0] ?? {};
}

function expectOneEnd(t: Test, service: Service, runId: string): void {
  const ends = service.events.filter((line) => line['run'] === runId && line['run_status'] !== undefined);
  t.equal(ends.length, 1, 'one line reports the end of the Run');
}

t.test('a Run that ends before its request is answered is reported on the line of the request', async (t) => {
  const service = await startService(t, { accounts: { acme: { templates } } });
  const client = service.client();
  const withId = (id: string) => ({ key: 'same', headers: { 'x-request-id': id } });
  const made = await client.upload('pick', [file(CSV)], withId('made'));
  expectNew(t, made);
  const line = await lineOf(t, service, 'request', 'made');
  t.match(line, {
    account: 'acme',
    template: 'pick',
    run: made.run.id,
    status: 201,
    code: null,
    run_status: 'succeeded',
    run_code: null,
    file_bytes: CSV.length,
    rows_read: 2,
    rows_written: 2,
    charged: true,
  });
  for (const name of ['ms', 'run_ms', 'busy_ms']) t.type(line[name], 'number', name);

  expectReplay(t, await client.upload('pick', [file(CSV)], withId('repeated')), made);
  const repeated = await lineOf(t, service, 'request', 'repeated');
  t.match(repeated, { run: made.run.id, status: 200 });
  t.notOk('run_status' in repeated, 'the line of a repeat does not report the end again');

  const failed = await client.upload('failing', [file(CSV)], { headers: { 'x-request-id': 'failed' } });
  expectRun(t, failed, 201, 'failed');
  t.match(await lineOf(t, service, 'request', 'failed'), {
    status: 201,
    run_status: 'failed',
    run_code: 'TEMPLATE_ROW_ERROR',
    rows_written: null,
    charged: false,
  });

  await client.upload('pick', [file('id\n')], { headers: { 'x-request-id': 'refused' } });
  const refused = await lineOf(t, service, 'request', 'refused');
  t.match(refused, { status: 422, code: 'TEMPLATE_COLUMNS_MISSING' });
  t.notOk('run_status' in refused, 'a refused file leaves no Run');

  await checkLogs(t, service, [service.catalog.key('acme')]);
  for (const { run } of [made, failed]) expectOneEnd(t, service, run.id);
  t.notOk(
    service.events.some(({ event }) => event === 'run'),
    'no Run has a line of its own',
  );
});

t.test('a Run that ends after its request was answered has a line of its own, also if it is interrupted', async (t) => {
  const service = await startService(t, { accounts: { acme: { templates } } }, { 'wait-ms': 1, 'drain-ms': 500 });
  const client = service.client();
  const start = async (requestId: string, rows: number) => {
    const answer = await client.upload('slow', slowUpload(rows), { headers: { 'x-request-id': requestId } });
    expectRun(t, answer, 202, 'running');
    const line = await lineOf(t, service, 'request', requestId);
    t.match(line, { status: 202, run: answer.run.id });
    t.notOk('run_status' in line, 'the Run has not ended');
    return { account: 'acme', template: 'slow', run: answer.run.id };
  };
  const short = await start('short', 12_000);
  t.match(await lineOf(t, service, 'run', 'short'), {
    ...short,
    run_status: 'succeeded',
    run_code: null,
    rows_read: 12_000,
    rows_written: 12_000,
    charged: true,
  });
  const long = await start('long', 200_000);
  await checkLogs(t, service, [service.catalog.key('acme')]);
  t.match(await lineOf(t, service, 'run', 'long'), {
    ...long,
    run_status: 'failed',
    run_code: 'RUN_INTERRUPTED',
    busy_ms: null,
    charged: false,
  });
  for (const { run } of [short, long]) expectOneEnd(t, service, run);
});
