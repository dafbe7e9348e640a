// Files with millions of small parts, four at once, through the service: no thread ends, memory stays bounded, and small Runs of
// another account are served meanwhile.
// With all tests only: minutes of hostile files, clients and load.
import t from 'tap';
import { plan, step, template } from '../blackbox/catalog-folder.ts';
import { Client, until } from '../blackbox/client.ts';
import { expectRun } from '../blackbox/expect.ts';
import { CANARY, file, form } from '../blackbox/multipart.ts';
import { checkLogs, startService } from '../blackbox/service.ts';
import { partOf } from '../sweep.ts';
import { CROWDED_FILES } from './crowded-files.ts';
import { BASE_BYTES, forgetPeak, gauges, heldBytes, MIB, mebibytes, processorMilliseconds, resident } from './probe.ts';

const BUDGET_BYTES = 256 * MIB;
const AT_ONCE = 4;
const PATIENCE_MILLISECONDS = 300_000;
t.setTimeout(4 * PATIENCE_MILLISECONDS);

const crowd = plan({ upload_bytes_max: 64 * MIB, inflated_bytes_max: 200 * MIB, rows_max: null });
const templates = {
  all: template([]),
  cells: template([step('text', { columns: '*', steps: ['trim', 'upper'] }), step('dedupe', { by: '*' })]),
  named: template([], {
    input: { columns: [{ name: 'x', match: [{ pattern: '^k(1|2)*x$' }, 'y'], required: false }] },
  }),
};
const service = await startService(
  t,
  {
    plans: { crowd },
    accounts: { acme: { plan: 'crowd', templates }, other: { templates: { all: template([]) } } },
  },
  { workers: 2, 'memory-budget': BUDGET_BYTES, 'disk-floor': 0, 'wait-ms': PATIENCE_MILLISECONDS },
);
const client = new Client(service.port, service.catalog.key('acme'), PATIENCE_MILLISECONDS);
const other = new Client(service.port, service.catalog.key('other'), PATIENCE_MILLISECONDS);

for (const [name, make] of partOf(Object.entries(CROWDED_FILES))) {
  t.test(name, { timeout: 4 * PATIENCE_MILLISECONDS }, async (t) => {
    const content = make();
    const upload = form([file(content)]);
    forgetPeak(service);
    const begun = processorMilliseconds(service);
    const names = ['all', 'cells', 'named', 'all'].slice(0, AT_ONCE);
    const uploads = names.map((template) => client.upload(template, upload));
    const waits: number[] = [];
    let isOver = false;
    const small = (async () => {
      while (!isOver) {
        const start = performance.now();
        expectRun(t, await other.upload('all', [file(`id,text\n1,${CANARY}\n`)]), 201, 'succeeded');
        waits.push(performance.now() - start);
      }
    })();
    const answers = await Promise.all(uploads);
    isOver = true;
    await small;
    const codes = answers.map(({ status, run, code }) => `${status} ${code ?? run.error?.code ?? ''}`);
    const { peakBytes } = resident(service);
    t.ok(peakBytes < BUDGET_BYTES + BASE_BYTES, `peak ${mebibytes(peakBytes)}`);
    t.comment(
      `${name}: ${mebibytes(content.length)}, peak ${mebibytes(peakBytes)}, ${processorMilliseconds(service) - begun} ms of work, ` +
        `small Runs at most ${Math.max(...waits).toFixed(0)} ms, ${codes.join(', ')}`,
    );
    for (const code of codes) t.notMatch(code, /^(50[02]|504)|INTERNAL_ERROR/, code);
  });
}

t.test('no thread was lost, and no reservation is left', async (t) => {
  const samples = await until(
    () => gauges(service),
    (now) => heldBytes(now, 'reservations') === 0,
  );
  t.equal(samples.get('template_run_threads_lost_total'), 0, 'threads lost');
  t.equal(heldBytes(samples, 'reservations'), 0, 'reservations');
  await checkLogs(t, service);
});
