// The clients for Node and browsers against the real service on faulty connections: one charge and equal bytes in every case.
// With all tests only: faults that only time limits detect.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Readable as Stream } from 'node:stream';
import t, { type Test } from 'tap';
import { TemplateRunClient as BrowserClient } from '../../../src/client/browser/template-run-client.ts';
import { type Progress, TemplateRunClient } from '../../../src/client/node/template-run-client.ts';
import { type Service, startService } from '../../blackbox/service.ts';
import { FaultProxy } from '../../fixtures/fault-proxy.ts';
import { sweep } from '../../sweep.ts';
import {
  accountOf,
  accounts,
  chargedOnce,
  checkBytes,
  each,
  GIVEN_UP,
  GIVEN_UP_FILE,
  GIVEN_UP_MILLISECONDS_MAX,
  IDLE_MILLISECONDS,
  RETRIES,
  usedAtLast,
  WAIT_MILLISECONDS,
} from './fault-rig.ts';
import { type Scenario, scenario } from './scenarios.ts';

/** With those in which the service is killed they are 200. */
const SCENARIOS = sweep({ short: 10, long: 180 });
const BROWSER_SCENARIOS = sweep({ short: 4, long: 40 });
const KILLS = sweep({ short: 1, long: 20 });

/** All kinds of bad ways, each with its waits, on a machine with other things to do. */
t.setTimeout(1_200_000);

const folder = mkdtempSync(join(tmpdir(), 'template-run-client-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

t.test('Node: cuts, resets, stalls, refusals, lost and damaged answers', async (t) => {
  const service = await startService(t, { accounts: accounts(SCENARIOS) }, { 'wait-ms': WAIT_MILLISECONDS });
  await each(SCENARIOS, async (number) => {
    const each = scenario(number, false);
    const proxy = await FaultProxy.open(t, { targetPort: () => service.port, faults: each.faults });
    await throughNode(t, service, proxy, number, each);
  });
  t.strictSame(
    readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
    'no part of a file is left',
  );
});

t.test('browser: the same on fetch', async (t) => {
  const service = await startService(t, { accounts: accounts(BROWSER_SCENARIOS) }, { 'wait-ms': WAIT_MILLISECONDS });
  await each(BROWSER_SCENARIOS, async (number) => {
    const each = scenario(5000 + number, false);
    // fetch alone does not notice an upload that stalls.
    const faults = each.faults.filter((fault) => fault.kind !== 'stall');
    const proxy = await FaultProxy.open(t, { targetPort: () => service.port, faults });
    const apiKey = service.catalog.key(accountOf(number));
    const client = new BrowserClient({
      baseUrl: proxy.url,
      apiKey,
      retries: RETRIES,
      idleMilliseconds: IDLE_MILLISECONDS,
    });
    const run = await client.run('pick', new Blob([Uint8Array.from(each.file)]));
    const bytes = Buffer.from(await (await client.download(run)).arrayBuffer());
    checkBytes(t, bytes, each);
    await chargedOnce(t, service, number, each);
    proxy.close();
  });
});

t.test('Node: the service is killed, and its Runs are lost', async (t) => {
  const service = await startService(t, { accounts: accounts(KILLS) }, { 'wait-ms': 1 });
  for (let number = 0; number < KILLS; number += 1) {
    const each = scenario(9000 + number, true);
    let killed: Promise<void> = Promise.resolve();
    const kill = (): void => {
      killed = service.crash();
    };
    const proxy = await FaultProxy.open(t, { targetPort: () => service.port, faults: each.faults, kill });
    await throughNode(t, service, proxy, number, each);
    await killed;
  }
});

t.test('Node: what is given up ends at once, and leaves nothing', async (t) => {
  const service = await startService(t, { accounts: accounts(2) });
  const reason = new Error('no longer wanted');
  for (const [number, { phase, cancelAt, fault, charged }] of GIVEN_UP.entries()) {
    const proxy = await FaultProxy.open(t, { targetPort: () => service.port, faults: [fault] });
    const aborter = new AbortController();
    let abortedAt = 0;
    const onProgress = (progress: Progress): void => {
      if (progress.phase !== phase || progress.bytes < cancelAt || abortedAt > 0) return;
      abortedAt = performance.now();
      aborter.abort(reason);
    };
    const apiKey = service.catalog.key(accountOf(number));
    // Nothing else would end it while the test lasts.
    const client = new TemplateRunClient({ baseUrl: proxy.url, apiKey, idleMilliseconds: 3_600_000 });
    const path = join(folder, 'given-up.csv');
    await t.rejects(client.transform('pick', GIVEN_UP_FILE, path, { signal: aborter.signal, onProgress }), reason);
    const milliseconds = Math.round(performance.now() - abortedAt);
    t.ok(milliseconds < GIVEN_UP_MILLISECONDS_MAX, `${phase}: given up within ${milliseconds} ms`);
    t.notOk(readdirSync(folder).some((name) => name.startsWith('given-up') || name.endsWith('.part')));
    await usedAtLast(t, service, number, charged);
    client.close();
  }
});

async function throughNode(
  t: Test,
  service: Service,
  proxy: FaultProxy,
  number: number,
  { file, ...rest }: Scenario,
): Promise<void> {
  const apiKey = service.catalog.key(accountOf(number));
  const client = new TemplateRunClient({
    baseUrl: proxy.url,
    apiKey,
    retries: RETRIES,
    idleMilliseconds: IDLE_MILLISECONDS,
  });
  const path = join(folder, `${number}-${proxy.port}.csv`);
  let opened = 0;
  const source = (): Readable => {
    opened += 1;
    return Stream.from(number % 2 === 0 ? [file] : [file.subarray(0, 1000), file.subarray(1000)]);
  };
  await client.transform('pick', number % 3 === 0 ? file : source, path);
  t.ok(proxy.left < rest.faults.length, 'a fault came');
  if (number % 3 !== 0) t.ok(opened > 0, 'the source was opened for each try');
  checkBytes(t, readFileSync(path), { file, ...rest });
  await chargedOnce(t, service, number, { file, ...rest });
  client.close();
  proxy.close();
}
