// Limits of connections: in total, per address and by open files. Also the rate of responses to wrong keys.
// With all tests only: attacks and faults of the machine.
import t, { type Test } from 'tap';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { processorClock } from '../processor-clock.ts';
import { pause, until } from './client.ts';
import { file, form } from './multipart.ts';
import { RawConnection } from './raw-connection.ts';
import { checkLogs, type Flags, Service } from './service.ts';

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
/** Until what must come has come, on a busy machine. */
const PATIENCE_MILLISECONDS = 180_000;
/** Connections to a node are the balancer's: haproxy.cfg counts those of clients. */
const skip = skipBehindBalancer('it has the connections');
const linux = process.platform === 'linux' ? false : 'Linux only';

async function start(t: Test, flags: Flags, filesMax: number | null = null): Promise<Service> {
  const service = new Service({ accounts: { acme: {} } }, flags);
  service.filesMax = filesMax;
  t.teardown(() => service.remove());
  await service.start();
  return service;
}

async function openMany(t: Test, port: number, count: number, address?: string): Promise<RawConnection[]> {
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port, address)));
  t.teardown(() => {
    for (const connection of connections) connection.destroy();
  });
  return connections;
}

async function isServed(connection: RawConnection): Promise<boolean> {
  await connection.send(GET);
  return (await connection.answer(PATIENCE_MILLISECONDS))?.status === '200';
}

const countOf = async (list: readonly Promise<boolean>[]): Promise<number> =>
  (await Promise.all(list)).filter(Boolean).length;

/** Connections are refused while there are `max`, and one that ends makes room for one. */
async function checkCeiling(t: Test, port: number, max: number, address?: string): Promise<void> {
  const kept = await openMany(t, port, max, address);
  t.equal(await countOf(kept.map(isServed)), max, 'as many as may be are served');
  const more = await openMany(t, port, 20, address);
  t.equal(await countOf(more.map((connection) => connection.closed(PATIENCE_MILLISECONDS))), 20, 'more are closed');
  t.equal(await countOf(kept.map(isServed)), max, 'those before are served on');
  kept[0]!.destroy();
  const serves = async (): Promise<boolean> => isServed((await openMany(t, port, 1, address))[0]!);
  t.ok(await until(serves, (served) => served), 'one that ended makes room');
  for (const connection of kept) connection.destroy();
}

t.test('--connections-max', { skip }, async (t) => {
  const service = await start(t, { 'connections-max': 30 });
  await checkCeiling(t, service.port, 30);
  const { text } = await service.client().get('/metrics');
  t.match(text, /^template_run_connections [1-9]\d?$/m);
  t.ok(Number(/^template_run_connections_refused_total (\d+)/m.exec(text)?.[1]) >= 20, 'counts what it refused');
  await checkLogs(t, service);
});

t.test('--connections-per-address-max', { skip: skip || linux }, async (t) => {
  const service = await start(t, { 'connections-per-address-max': 20 });
  await checkCeiling(t, service.port, 20, '127.0.0.2');
  await checkCeiling(t, service.port, 20, '127.0.0.3');
  // One after the other there may be any number.
  const one = async (): Promise<boolean> => {
    const connection = await RawConnection.open(service.port, '127.0.0.4');
    const served = await isServed(connection);
    connection.destroy();
    return served;
  };
  let served = 0;
  // A busy machine notices late that one has ended.
  while (served < 100 && (await until(one, (isServed) => isServed))) served += 1;
  t.equal(served, 100, 'what has ended does not count');
  await checkLogs(t, service);
});

t.test(
  'more clients than files: the loop does not spin, old clients and uploads are served',
  { skip: skip || linux },
  async (t) => {
    const service = await start(t, {}, 256);
    const ceiling = service.events.find(({ event }) => event === 'connections_max_lowered');
    const max = Number(ceiling?.['connections_max']);
    t.ok(max >= 50 && max <= 128, `the ceiling is lowered to ${max}, and said so`);
    const old = await openMany(t, service.port, 20);
    t.equal(await countOf(old.map(isServed)), 20);
    await openMany(t, service.port, 400);
    const now = processorClock(service);
    const before = now();
    const begun = performance.now();
    // A busy loop would last as long as the shortage, so the test observes the process for a while.
    await pause(2000);
    const share = (now() - before) / (performance.now() - begun);
    t.ok(share < 0.2, `it takes ${Math.round(share * 100)} % of a core`);
    t.equal(await countOf(old.map(isServed)), 20, 'old clients are served');
    await checkLogs(t, service);
  },
);

t.test(
  'uploads that take the last file: listening pauses, and goes on when they are over',
  { skip: skip || linux },
  async (t) => {
    // Room for all these Runs at once: of 1 GiB some 55 had a share, just as many as take the last file.
    const service = await start(t, { 'memory-budget': '2GiB' }, 256);
    const client = service.client();
    const large = form([file(`id,amount\n${'1,2\n'.repeat(100_000)}`)]);
    const held: ReturnType<typeof client.hold>[] = [];
    const hold = (): void => {
      const upload = client.hold('pick', large, -1);
      upload.answer.catch(() => {});
      held.push(upload);
    };
    for (let upload = 0; upload < 80; upload += 1) hold();
    const paused = async (): Promise<boolean> => service.events.some(({ event }) => event === 'listening_paused');
    const asks = async (): Promise<boolean> => {
      // One more upload that waits for a connection which the service cannot take. Some of those before may have been refused.
      hold();
      return paused();
    };
    t.ok(await until(asks, (is) => is, PATIENCE_MILLISECONDS), 'there are no files left');
    const now = processorClock(service);
    const before = now();
    const begun = performance.now();
    await pause(2000);
    const share = (now() - before) / (performance.now() - begun);
    t.ok(share < 0.3, `it takes ${Math.round(share * 100)} % of a core`);
    for (const { vanish } of held) vanish();
    const served = async (): Promise<boolean> =>
      client.get('/livez').then(
        ({ status }) => status === 200,
        () => false,
      );
    t.ok(await until(served, (is) => is, PATIENCE_MILLISECONDS), 'it listens again');
    const made = await until(
      () => client.upload('pick', large),
      ({ status }) => status === 201,
    );
    t.equal(made.status, 201);
    await checkLogs(t, service);
  },
);

t.test('a ceiling that the system does not allow is lowered', { skip: skip || linux }, async (t) => {
  const service = await start(t, { 'connections-max': 1_000_000 }, 1024);
  t.match(service.logs, /"connections_max_lowered","connections_max":4\d\d,"open_files_max":1024/);
  await checkLogs(t, service);
});

t.test('wrong keys are answered at once at first, then slowly; others are not held up', { skip }, async (t) => {
  const service = await start(t, {});
  const wrong = 'GET /api/v1/templates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\n\r\n';
  const right = wrong.replace('nobody', service.client().key!);
  const refused = async (connection: RawConnection): Promise<number> => {
    const begun = performance.now();
    await connection.send(wrong);
    const answer = await connection.answer(PATIENCE_MILLISECONDS);
    t.equal(answer?.status, '401');
    t.match(answer?.head, /^www-authenticate: Bearer realm="template-run", error="invalid_token"/im);
    t.equal(JSON.parse(answer?.body ?? '{}').error, 'API_KEY_INVALID');
    return performance.now() - begun;
  };
  const attackers = await openMany(t, service.port, 10, '127.0.0.2');
  const attack = async (connection: RawConnection): Promise<void> => {
    for (let count = 0; count < 26; count++) await refused(connection);
  };
  const begun = performance.now();
  const attacks = Promise.all(attackers.map(attack));
  const [other] = await openMany(t, service.port, 1, '127.0.0.3');
  const [same] = await openMany(t, service.port, 1, '127.0.0.2');
  const waits: number[] = [];
  for (let count = 0; count < 10; count++) {
    waits.push(await refused(other!));
    const asked = performance.now();
    await same!.send(right);
    t.equal((await same!.answer(PATIENCE_MILLISECONDS))?.status, '200', 'a valid key of the same address');
    waits.push(performance.now() - asked);
    await pause(100);
  }
  await attacks;
  const lasted = performance.now() - begun;
  // 200 at once, 60 at 20 a second.
  t.ok(lasted > 2000, `260 wrong keys took ${Math.round(lasted)} ms`);
  // Each request in the queue of the attackers would wait as long as they do. A busy machine makes all of them wait longer, and
  // some for very long.
  const waited = waits.sort((a, b) => a - b)[waits.length >> 1]!;
  t.ok(waited < lasted / 10, `others waited ${Math.round(waited)} of ${Math.round(lasted)} ms at the median`);
  await checkLogs(t, service, [service.client().key!]);
});
