// kill -9 in the middle of uploads, Runs and downloads, again and again: the ledger has every Run that a client saw succeed
// and no other, no file is left over, and the next start serves.
// With all tests only: minutes of hostile files, clients and load.
import t from 'tap';
import { plan, step, template } from '../blackbox/catalog-folder.ts';
import { pause } from '../blackbox/client.ts';
import { expectRun } from '../blackbox/expect.ts';
import { file, form } from '../blackbox/multipart.ts';
import { type Service, startService } from '../blackbox/service.ts';
import { isLong } from '../sweep.ts';
import { gauges, strayFiles } from './probe.ts';

const CLIENTS = 8;
/** Delays between the start of the clients and the kill: it hits them while they connect, upload, wait and download. */
const KILL_MILLISECONDS = isLong ? [5, 40, 120, 250, 400, 700] : [40, 400];
const ROWS = Array.from({ length: 60_000 }, (_, row) => `${row},name ${row % 977},${row % 89}.50\n`).join('');
const LARGE = form([file(`id,name,amount\n${ROWS}`)]);
const SMALL = form([file('id,name,amount\n1,Ada,2.50\n')]);

interface Seen {
  /** Runs that a client saw succeed. */
  succeeded: number;
  /** Requests that got no answer because of the kill. */
  unanswered: number;
}

t.test('kill -9, then start', { timeout: 1_200_000 }, async (t) => {
  const plans = { wide: plan({ runs_per_period: 1_000_000, runs_in_flight_max: null, rows_max: null }) };
  const templates = { sorted: template([step('sort', { by: [{ column: 'name' }] })]) };
  const accounts = { acme: { plan: 'wide', templates } };
  const service = await startService(t, { plans, accounts }, { workers: 2, 'disk-floor': 0 });
  let leastCharged = 0;
  let mostCharged = 0;
  for (const milliseconds of KILL_MILLISECONDS) {
    const seen: Seen = { succeeded: 0, unanswered: 0 };
    const clients = Array.from({ length: CLIENTS }, (_, client) => work(service, client, seen));
    await pause(milliseconds);
    await service.crash();
    await Promise.all(clients);
    leastCharged += seen.succeeded;
    mostCharged += seen.succeeded + seen.unanswered;
    const used = (await gauges(service)).get('template_run_quota_used{account="acme"}') ?? Number.NaN;
    t.ok(used >= leastCharged && used <= mostCharged, `${used} charged, of ${leastCharged} to ${mostCharged}`);
    t.same(strayFiles(service), [], 'no file is left over');
    expectRun(t, await service.client().upload('sorted', SMALL), 201, 'succeeded');
    leastCharged = used + 1;
    mostCharged = used + 1;
  }
});

/** Uploads and downloads until the service has ended. Half of the clients send large files. */
async function work(service: Service, number: number, seen: Seen): Promise<void> {
  const client = service.client();
  for (;;) {
    seen.unanswered++;
    try {
      const { status, run } = await client.upload('sorted', number % 2 === 0 ? LARGE : SMALL);
      if (status === 201) seen.succeeded++;
      seen.unanswered--;
      await client.get(`/api/v1/runs/${run.id}/output`);
    } catch {
      return;
    }
  }
}
