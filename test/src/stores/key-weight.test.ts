// What an Idempotency-Key is charged is what it weighs: measured in a process of its own, as the collector's other work
// would count.
import { spawnSync } from 'node:child_process';
import t from 'tap';

const KEYS = 270_000;

/** Shares of what is charged: versions of V8 differ a little. How full the maps are is the same for so many keys. */
const LEAST = 0.95;
const MOST = 1.05;

t.setTimeout(120_000);

t.test('a finished key is charged what it weighs', async (t) => {
  const source = (module: string): string => JSON.stringify(new URL(`../../../src/${module}.js`, import.meta.url).href);
  const script = `
    import { createHash } from 'node:crypto';
    import { IdempotencyKeys, keyId } from ${source('stores/memory/idempotency')};
    import { RunIds } from ${source('runs/run-ids')};
    let charged = 0;
    const charge = (bytes) => { charged += bytes; };
    const keys = new IdempotencyKeys({ charge, release: (bytes) => charge(-bytes) });
    const ids = new RunIds();
    const finish = (index) => {
      const key = Buffer.from(String(index).padStart(36, '0')).toString('latin1');
      const fingerprint = createHash('sha256').update(key).digest('base64url');
      const run = { id: ids.next() };
      const { entry } = keys.claim(keyId('acme', key), 'pick', run.id, 'node', 1000);
      keys.finish(keyId('acme', key), entry, { runId: run.id, fingerprint, expiresAt: 5000 + index, errorCode: null });
    };
    for (let index = 0; index < 1000; index++) finish(index);
    gc();
    const [before, chargedBefore] = [process.memoryUsage().heapUsed, charged];
    for (let index = 1000; index < 1000 + ${KEYS}; index++) finish(index);
    gc();
    console.log(JSON.stringify([process.memoryUsage().heapUsed - before, charged - chargedBefore, keys.size]));`;
  const args = ['-u', 'NODE_OPTIONS', process.execPath, '--expose-gc', '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync('env', args, { encoding: 'utf8' });
  t.equal(stderr, '');
  const [weight, charged, size] = JSON.parse(stdout) as [number, number, number];
  t.equal(size, KEYS + 1000);
  const perKey = `${(weight / KEYS).toFixed(1)} bytes weighed, ${(charged / KEYS).toFixed(1)} charged`;
  t.ok(weight <= charged * MOST, perKey);
  t.ok(weight >= charged * LEAST, perKey);
});
