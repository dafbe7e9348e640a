// Twenty uploads of 200 MB at once (50 MB in a shortened check) in a budget of 256 MiB: each ends in 201, 202 or 503, every
// output is exact, and the process stays below the budget and the base that docs/explanation/memory.md states.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import tap from 'tap';
import { makeOrders } from '../../bench/inputs/orders.ts';
import { plan, step, template } from '../blackbox/catalog-folder.ts';
import { until } from '../blackbox/client.ts';
import { startService } from '../blackbox/service.ts';
import { partOf, skipUnlessLong, sweep } from '../sweep.ts';
import { downloadDigest, fileDigest, uploadFile } from './large-file.ts';
import { BASE_BYTES, forgetPeak, gauges, heldBytes, MIB, mebibytes, resident, strayFiles } from './probe.ts';

const COMMAND = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
/** Twenty of the smaller files, too, are four times the size of the budget. */
const FILE_BYTES = sweep({ short: 50_000_000, long: 200_000_000 });
const UPLOADS = 20;
const BUDGET_BYTES = 256 * MIB;
const MINUTES_20 = 1_200_000;

/** A shortened check uses the first Template. */
const TEMPLATES = {
  dedupe: template([step('dedupe', { by: ['email'] })]),
  select: template([
    step('select', { columns: ['order_id', 'email', 'country', 'status', 'amount', 'sku'] }),
    step('rename', { columns: { order_id: 'id', amount: 'total' } }),
  ]),
  text: template([
    step('text', { columns: ['customer'], steps: ['trim', 'collapse_spaces', 'upper'] }),
    step('text', { columns: ['notes'], steps: ['strip_accents', { truncate: 20 }] }),
  ]),
};

tap.setTimeout(4 * MINUTES_20);

tap.test('large uploads at once', { skip: skipUnlessLong, timeout: 4 * MINUTES_20, buffered: false }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'template-run-large-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const orders = join(folder, 'orders.csv');
  makeOrders(orders, FILE_BYTES);
  const plans = { large: plan({ upload_bytes_max: 2 * FILE_BYTES, rows_max: null, output_bytes_max: 4 * FILE_BYTES }) };
  const accounts = { acme: { plan: 'large', templates: TEMPLATES } };
  const flags = {
    workers: 2,
    'memory-budget': BUDGET_BYTES,
    'log-level': 'warn',
    'retention-ms': 60_000,
    'disk-floor': 0,
  };
  const service = await startService(t, { plans, accounts }, flags);
  const key = service.catalog.key('acme');
  t.comment(`at rest ${mebibytes(resident(service).nowBytes)}`);

  for (const [name, content] of partOf(Object.entries(TEMPLATES))) {
    t.test(name, { timeout: MINUTES_20 }, async (t) => {
      const file = join(folder, `${name}.json`);
      const output = join(folder, `${name}.csv`);
      writeFileSync(file, JSON.stringify(content));
      execFileSync(process.execPath, [COMMAND, 'run', file, orders, '-o', output], { stdio: 'ignore' });
      const expected = await fileDigest(output);
      rmSync(output);
      forgetPeak(service);
      const answers = await Promise.all(
        Array.from({ length: UPLOADS }, () => uploadFile(service.port, key, name, orders)),
      );
      const statuses = answers.map(({ status }) => status);
      t.comment(`statuses ${[...new Set(statuses)].map((s) => `${s}: ${statuses.filter((x) => x === s).length}`)}`);
      t.comment(`slowest ${Math.max(...answers.map(({ milliseconds }) => milliseconds))} ms`);
      t.ok(
        statuses.every((status) => [201, 202, 503].includes(status)),
        'each ends in 201, 202 or 503',
      );
      for (const { status, body } of answers) {
        if (status !== 201) continue;
        if (body.status !== 'succeeded') t.fail('a 201 that failed', body);
        else if ((await downloadDigest(service.port, key, body.id!)) !== expected) t.fail(`not exact: ${body.id}`);
      }
      const { peakBytes } = resident(service);
      t.ok(peakBytes < BUDGET_BYTES + BASE_BYTES, `peak ${mebibytes(peakBytes)}`);
      const samples = await until(
        () => gauges(service),
        (now) => heldBytes(now, 'reservations') === 0 && now.get('template_run_runs_kept') === 0,
      );
      t.comment(
        [...samples]
          .filter(([n]) => /held|process_res|nodejs_(heap|ext)/.test(n))
          .map((s) => s.join(' '))
          .join('\n'),
      );
      t.equal(heldBytes(samples, 'reservations'), 0, 'no reservation is left');
      t.equal(heldBytes(samples, 'bodies'), 0, 'no block is left');
      const files = await until(
        async () => strayFiles(service),
        (paths) => paths.length === 0,
      );
      t.same(files, [], 'no file is left');
    });
  }
});
