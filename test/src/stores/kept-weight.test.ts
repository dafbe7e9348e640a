// The memory of a kept Run with its Idempotency-Key and without its output, which must be charged completely. Measured in a
// separate process, because other work of the garbage collector would count.
// With all tests only: work and memory of large inputs.
import { spawnSync } from 'node:child_process';
import t from 'tap';

const RUNS = 100_000;
const OUTPUT_BYTES = 100;

/** Maximum memory of a Run and its key, in bytes. */
const WEIGHT_MAX = 700;

/** Maximum part of it on the collected heap, in bytes: 100,000 Runs must not slow down the garbage collector. */
const HEAP_WEIGHT_MAX = 10;

t.setTimeout(1_200_000);

t.test('a kept Run with its key weighs 700 bytes at most, off the heap, and is charged no less', async (t) => {
  const source = (module: string): string => JSON.stringify(new URL(`../../../src/${module}.js`, import.meta.url).href);
  const script = `
    import { createHash } from 'node:crypto';
    import { IdempotencyKeys, keyId } from ${source('stores/memory/idempotency')};
    import { RunRecords } from ${source('stores/memory/run-records')};
    import { RunIds } from ${source('runs/run')};
    import { endedRun, newRun } from ${source('runs/run')};
    import { TimeTexts } from ${source('telemetry/time-texts')};
    let charged = 0;
    const charge = (bytes) => { charged += bytes; };
    const budget = { charge, release: (bytes) => charge(-bytes) };
    const keys = new IdempotencyKeys(budget);
    const records = new RunRecords(budget, () => {});
    const ids = new RunIds();
    const texts = { baseUrl: () => 'https://runs.example.com', times: new TimeTexts() };
    const operations = (rows) => ['select', 'rename', 'filter', 'set', 'sort'].map((operation) =>
      ({ operation, id: null, rows_in: rows, rows_out: rows - 1, cells_changed: rows * 2, errors: {} }));
    const finish = (index) => {
      const key = Buffer.from(String(index).padStart(36, '0')).toString('latin1');
      const fingerprint = createHash('sha256').update(key).digest('base64url');
      const id = ids.next();
      const createdAt = 1_790_000_000_000 + index * 7;
      const completedAt = createdAt + 3;
      const stored = { sizeBytes: ${OUTPUT_BYTES}, path: null, bytes: Buffer.alloc(${OUTPUT_BYTES}, 65) };
      const report = { template_sha256: fingerprint.slice(0, 0) + 'ab12'.repeat(16), rows_read: 20 + index % 90, operations: operations(index % 90) };
      const output = { stored, name: 'orders-' + id + '.csv', mimeType: 'text/csv' };
      const run = endedRun(newRun(id, 'acme', 'orders', createdAt), { completedAt, expiresAt: completedAt + 1_800_000,
        rowsWritten: index % 90, truncated: false, output, rejects: null, error: null, reportText: JSON.stringify(report) }, texts);
      const { entry } = keys.claim(keyId('acme', key), 'orders', id, 'node', 1000);
      records.finish(run, 5000 + index);
      keys.finish(keyId('acme', key), entry, { runId: id, fingerprint, expiresAt: 5000 + index, errorCode: null });
    };
    const weights = () => { gc(); gc(); const { heapUsed, external } = process.memoryUsage(); return { heapUsed, external, charged }; };
    for (let index = 0; index < 20000; index++) finish(index);
    const before = weights();
    for (let index = 20000; index < 20000 + ${RUNS}; index++) finish(index);
    const after = weights();
    const grown = (what) => (after[what] - before[what]) / ${RUNS};
    console.log(JSON.stringify([grown('heapUsed'), grown('external') - ${OUTPUT_BYTES}, grown('charged'), records.size]));`;
  const args = ['-u', 'NODE_OPTIONS', process.execPath, '--expose-gc', '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync('env', args, { encoding: 'utf8' });
  t.equal(stderr, '');
  const [heap, external, charged, size] = JSON.parse(stdout) as [number, number, number, number];
  const measured = `${heap.toFixed(1)} bytes on the heap, ${external.toFixed(1)} outside it, ${charged.toFixed(1)} charged`;
  t.comment(measured);
  t.equal(size, RUNS + 20_000);
  t.ok(heap < HEAP_WEIGHT_MAX, measured);
  t.ok(heap + external <= WEIGHT_MAX, measured);
  t.ok(heap + external <= charged * 1.05, measured);
});
