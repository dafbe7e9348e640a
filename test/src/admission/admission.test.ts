// Admission's accounts: memory budget, slots, lease, billing periods, disk floor, authentication.
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { authenticate, digestOf } from '../../../src/admission/authenticate.ts';
import { DiskFloor } from '../../../src/admission/disk-floor.ts';
import { Lease } from '../../../src/admission/lease.ts';
import { MEMORY_BUDGET_BYTES_MIN, MemoryBudget, processMemoryBytes } from '../../../src/admission/memory-budget.ts';
import { type Account, Catalog, KEY_SCOPES, type KeyScope } from '../../../src/catalog/catalog.ts';
import { ProblemList } from '../../../src/catalog/problems.ts';
import { readPlans } from '../../../src/catalog/read-access.ts';
import { dataDirectory } from '../../../src/runtime/data-directory.ts';
import { BillingPeriods, billingPeriod } from '../../../src/stores/billing-period.ts';
import { RunSlots } from '../../../src/stores/memory/memory-stores.ts';
import { RUN_RESERVATION_BYTES, SPILL_MEMORY_BYTES, threadShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { checkTemplate, reservationBytes } from '../../../workers/plan/template-cache.ts';
import { fc } from '../../random.ts';

const KIB = 1024;
const DAY = 24 * 3600 * 1000;

t.test('a budget below one reservation and the large-row arena is refused', async (t) => {
  t.throws(() => new MemoryBudget(MEMORY_BUDGET_BYTES_MIN - 1, 2), RangeError);
  t.throws(() => new MemoryBudget(Number.NaN, 2), RangeError);
  t.ok(new MemoryBudget(MEMORY_BUDGET_BYTES_MIN, 2));
});

t.test('reservations are made until they do not fit, and are released', async (t) => {
  const budget = new MemoryBudget(MEMORY_BUDGET_BYTES_MIN, 2);
  const fits = Math.floor(MEMORY_BUDGET_BYTES_MIN / RUN_RESERVATION_BYTES);
  for (let run = 0; run < fits; run += 1) t.ok(budget.tryReserve(RUN_RESERVATION_BYTES, 'reservations'));
  t.notOk(budget.tryReserve(RUN_RESERVATION_BYTES, 'reservations'));
  t.equal(budget.usedBytes('reservations'), fits * RUN_RESERVATION_BYTES);
  budget.release(RUN_RESERVATION_BYTES, 'reservations');
  t.ok(budget.tryReserve(RUN_RESERVATION_BYTES, 'reservations'));
  t.throws(() => budget.release(1, 'records'), /negative/);
});

t.test('an operation whose state may spill reserves the room for it, two at most', async (t) => {
  const reserved = (...operations: readonly object[]): number => {
    const checked = checkTemplate(JSON.stringify({ format: 1, tables: { t: { ref: 't' } }, operations }), 'json');
    if ('problems' in checked) throw new Error(checked.problems[0]?.message);
    return reservationBytes(checked.template);
  };
  const sort = { op: 'sort', by: [{ column: 'a' }] };
  t.equal(reserved({ op: 'select', columns: ['a'] }), RUN_RESERVATION_BYTES);
  t.equal(reserved({ op: 'dedupe', by: ['a'] }), RUN_RESERVATION_BYTES + SPILL_MEMORY_BYTES);
  const look = { op: 'set', columns: { b: 'lookup("t", a, "b")' } };
  t.equal(reserved(look), RUN_RESERVATION_BYTES + SPILL_MEMORY_BYTES, 'a table may go to the disk');
  t.equal(reserved({ op: 'dedupe', by: ['a'] }, sort, sort), RUN_RESERVATION_BYTES + 2 * SPILL_MEMORY_BYTES);
});

t.test('the room for spilling goes to what is needed in any case, never to state that grows', async (t) => {
  const budget = new MemoryBudget(MEMORY_BUDGET_BYTES_MIN, 1);
  budget.charge(MEMORY_BUDGET_BYTES_MIN, 'records');
  const share = threadShare(new Int32Array(budget.buffer), 0);
  const heap = new Heap(
    new WebAssembly.Memory({ initial: 1, maximum: 1024 }),
    1024,
    share,
    64 * KIB,
    SPILL_MEMORY_BYTES,
  );
  t.equal(heap.tryAllocate(SPILL_MEMORY_BYTES / 2), 0, 'state is refused');
  t.not(heap.allocate(SPILL_MEMORY_BYTES / 2), 0);
  t.equal(share.takenBytes, 0, 'the room was reserved before');
  heap.allocate(SPILL_MEMORY_BYTES);
  t.ok(share.takenBytes > 0, 'more than the room is taken from the budget');
});

t.test('shares, charges and dead threads add up to nothing in the end', async (_t) => {
  const move = fc.record({ who: fc.nat(3), bytes: fc.nat(3_000_000), give: fc.boolean() });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const limit = MEMORY_BUDGET_BYTES_MIN;
      const budget = new MemoryBudget(limit, 3);
      const counters = new Int32Array(budget.buffer);
      const shares = [0, 1, 2].map((thread) => threadShare(counters, thread));
      let charged = 0;
      for (const { who, bytes, give } of moves) {
        const share = shares[who];
        if (share !== undefined && give) share.release(bytes);
        else if (share !== undefined) share.take(bytes);
        else if (give) {
          const back = Math.min(bytes, charged);
          budget.release(back, 'records');
          charged -= back;
        } else if (budget.tryReserve(bytes, 'records')) charged += bytes;
        const held = charged + shares.reduce((sum, each) => sum + each.takenBytes, 0);
        const rounding = 4 * KIB;
        if (held > limit) return false;
        if (Math.abs(limit - held - budget.availableBytes()) > rounding) return false;
      }
      for (const thread of [0, 1, 2]) budget.forgetThread(thread);
      budget.release(charged, 'records');
      return budget.availableBytes() === limit && budget.borrowedBytes() === 0;
    }),
  );
});

t.test('threads that ask at the same time never overdraw the budget; a killed one gives everything back', async (t) => {
  const budget = new MemoryBudget(MEMORY_BUDGET_BYTES_MIN, 2);
  const source = `
    import { workerData, parentPort } from 'node:worker_threads';
    const { threadShare, heldUnits } = await import(workerData.module);
    const counters = new Int32Array(workerData.buffer);
    const share = threadShare(counters, workerData.thread);
    let most = 0;
    for (let turn = 0; turn < 60000; turn += 1) {
      if (share.take(5 * 1024 * 1024)) most = Math.max(most, share.takenBytes);
      else share.release(9 * 1024 * 1024);
    }
    share.release(share.takenBytes);
    // The other thread may hold all of it until it is through.
    while (!share.take(3 * 1024 * 1024));
    parentPort.postMessage(most);
    setInterval(() => {}, 1000);`;
  const module = new URL('../../../workers/memory/budget.js', import.meta.url).href;
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  let overdrawn = 0;
  const workers = [0, 1].map((thread) => new Worker(url, { workerData: { module, buffer: budget.buffer, thread } }));
  const answers = Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
  const watch = setInterval(() => {
    if (budget.borrowedBytes() > MEMORY_BUDGET_BYTES_MIN + 2 * 5 * KIB * KIB) overdrawn += 1;
  }, 1);
  t.ok(((await answers) as number[]).every((most) => most > 0));
  clearInterval(watch);
  t.equal(overdrawn, 0, 'at most what is being asked for stands above the limit');
  t.equal(budget.borrowedBytes(), 2 * 3 * KIB * KIB, 'what each still holds');
  await Promise.all(workers.map((worker) => worker.terminate()));
  for (const thread of [0, 1]) budget.forgetThread(thread);
  t.equal(budget.availableBytes(), budget.limitBytes);
});

t.test("the process's memory is the smallest limit of its cgroups", async (t) => {
  const root = `${mkdtempSync(join(t.testdir(), 'root-'))}/`;
  t.equal(processMemoryBytes(root), totalmem(), 'no cgroup at all');
  const write = (path: string, text: string): void => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('sys/fs/cgroup/memory.max', 'max\n');
  write('proc/self/cgroup', '0::/user.slice/a.service\n');
  t.equal(processMemoryBytes(root), totalmem(), 'v2 without a limit');
  write('sys/fs/cgroup/user.slice/memory.max', '2097152\n');
  write('sys/fs/cgroup/user.slice/a.service/memory.max', '4194304\n');
  t.equal(processMemoryBytes(root), 2_097_152, "v2: the parent's limit holds too");
  write('proc/self/cgroup', '9:cpu:/\n5:memory,x:/docker/abc\n');
  write('sys/fs/cgroup/memory/memory.limit_in_bytes', '9223372036854771712\n');
  t.equal(processMemoryBytes(root), totalmem(), 'v1 without a limit');
  write('sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes', '1048576\n');
  t.equal(processMemoryBytes(root), 1_048_576, 'v1');
});

t.test('slots per account', async (t) => {
  const slots = new RunSlots();
  t.ok(slots.take('a', 2) && slots.take('a', 2));
  t.notOk(slots.take('a', 2));
  t.ok(slots.take('b', 1), 'of another account');
  t.ok(slots.take('a', null), 'no limit');
  t.notOk(slots.take('c', 0));
  slots.release('a');
  slots.release('a');
  t.equal(slots.taken('a'), 1);
  t.ok(slots.take('a', 2));
  t.throws(() => slots.release('c'), /was not held/);
});

t.test('a lease gives everything back once, last first, whatever fails', async (t) => {
  const lease = new Lease();
  const order: string[] = [];
  lease.hold(() => void order.push('slot'));
  lease.hold(async () => {
    order.push('quota');
    throw new Error('disk');
  });
  const bytes = lease.hold(() => void order.push('bytes'));
  lease.hold(() => void order.push('forgotten')).forget();
  await bytes.release();
  await bytes.release();
  const first = lease.release();
  lease.hold(() => void order.push('late'));
  await t.rejects(async () => first, /could not release all its resources/);
  await t.rejects(async () => lease.release(), AggregateError);
  t.strictSame(order, ['bytes', 'quota', 'late', 'slot']);
  t.ok(lease.released);
});

t.test('a subscription keeps its present period', async (t) => {
  const periods = new BillingPeriods();
  const subscription = { plan: { period: 'day' }, startedAt: 0 } as const;
  const first = periods.of(subscription, 5 * DAY);
  t.same(first, billingPeriod('day', 0, 5 * DAY));
  t.equal(periods.of(subscription, 6 * DAY - 1), first);
  t.equal(periods.of(subscription, 6 * DAY).startsAt, 6 * DAY, 'the next');
  t.equal(periods.of(subscription, 6 * DAY - 1).startsAt, 5 * DAY, 'a clock that goes back');
});

t.test('billing periods', async (t) => {
  const at = (text: string): number => Date.parse(text);
  const key = (startedAt: string, now: string): string => billingPeriod('month', at(startedAt), at(now)).key;
  t.equal(key('2026-01-31T00:00:00Z', '2026-02-27T23:59:59Z'), 'month:2026-01-31');
  t.equal(key('2026-01-31T00:00:00Z', '2026-02-28T00:00:00Z'), 'month:2026-02-28');
  t.equal(key('2026-01-31T00:00:00Z', '2026-03-30T23:59:59.999Z'), 'month:2026-02-28');
  t.equal(key('2026-01-31T00:00:00Z', '2026-03-31T00:00:00Z'), 'month:2026-03-31');
  t.equal(key('2024-01-30T12:00:00Z', '2024-02-29T10:00:00Z'), 'month:2024-02-29', 'leap year');
  t.equal(key('2026-01-31T00:00:00Z', '2027-01-01T00:00:00Z'), 'month:2026-12-31', 'over the year');
  t.equal(billingPeriod('day', 0, at('2026-12-31T23:00:00Z')).endsAt, at('2027-01-01T00:00:00Z'));
  const instant = fc.integer({ min: at('1999-01-01'), max: at('2105-01-01') });
  fc.assert(
    fc.property(fc.constantFrom('day' as const, 'month' as const), instant, instant, (kind, startedAt, now) => {
      const period = billingPeriod(kind, startedAt, now);
      const next = billingPeriod(kind, startedAt, period.endsAt);
      const last = billingPeriod(kind, startedAt, period.endsAt - 1);
      const days = (period.endsAt - period.startsAt) / DAY;
      const anchor = new Date(startedAt).getUTCDate();
      const first = new Date(period.startsAt);
      const lastDay = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
      return (
        period.startsAt <= now &&
        now < period.endsAt &&
        next.startsAt === period.endsAt &&
        last.key === period.key &&
        (kind === 'day' ? days === 1 : days >= 28 && days <= 31 && first.getUTCDate() === Math.min(anchor, lastDay))
      );
    }),
  );
});

t.test('the disk floor looks at free bytes, inodes and folders, at most once a second', async (t) => {
  const folder = t.testdir({ ledger: {} });
  const directory = dataDirectory(folder);
  const { freeBytes, aboveFloor } = await new DiskFloor(directory, 1).space();
  t.ok(freeBytes > 0 && aboveFloor);
  t.notOk((await new DiskFloor(directory, 2 ** 60).space()).aboveFloor, 'bytes');
  const inodes = await new DiskFloor(directory, 1, 2 ** 60).space();
  t.equal(inodes.aboveFloor, inodes.freeInodes === null, 'inodes, where the file system counts them');
  const floor = new DiskFloor(directory, 1);
  const first = floor.space(5000);
  t.equal(floor.space(5999), first);
  t.not(floor.space(6000), first);
  t.strictSame(readdirSync(folder), ['ledger', 'outputs', 'spill', 'spool'], 'folders that had gone');
  t.match(await new DiskFloor(dataDirectory(join(folder, 'none')), 1).space(), {
    aboveFloor: false,
    error: 'ENOENT',
  });
});

t.test('authentication: missing or invalid, then scope, then subscription', async (t) => {
  const plan = readPlans('plans.json', { p: {} }, new ProblemList()).get('p')!;
  const now = Date.parse('2026-11-21T00:00:00Z');
  const account = (id: string, more: Partial<Account> = {}, scopes: readonly KeyScope[] = KEY_SCOPES): Account => ({
    id,
    name: null,
    active: true,
    subscription: { plan, status: 'active', startedAt: now - 1 },
    keys: [
      { id: '1', sha256: digestOf(`key-${id}`), scopes: new Set(scopes), expiresAt: null, revoked: false },
      { id: '2', sha256: digestOf(`revoked-${id}`), scopes: new Set(scopes), expiresAt: null, revoked: true },
      { id: '3', sha256: digestOf(`expired-${id}`), scopes: new Set(scopes), expiresAt: now, revoked: false },
    ],
    templates: new Map(),
    tables: new Map(),
    secrets: new Set(),
    secretsDirectory: null,
    ...more,
  });
  const accounts = [
    account('a'),
    account('off', { active: false }),
    account('none', { subscription: null }, ['runs:read']),
    account('late', { subscription: { plan, status: 'active', startedAt: now + 1 } }),
    account('over', { subscription: { plan, status: 'cancelled', startedAt: 0 } }),
  ];
  const catalog = new Catalog('c', new Map(), new Map(accounts.map((each) => [each.id, each])));
  const code = (authorization?: string, scope: KeyScope = 'runs:read'): string => {
    const result = authenticate(catalog, authorization, scope, now);
    return result.ok ? `ok ${result.account.id}` : result.code;
  };
  for (const missing of [undefined, '', 'Basic abc', 'Bearerkey-a', 'Token key-a']) {
    t.equal(code(missing), 'API_KEY_MISSING', `${missing}`);
  }
  for (const invalid of ['Bearer', 'bearer ', 'Bearer x', 'Bearer revoked-a', 'Bearer expired-a', 'Bearer key-off']) {
    t.equal(code(invalid), 'API_KEY_INVALID', invalid);
  }
  for (const fine of ['Bearer key-a', 'BEARER   key-a', 'bearer\tkey-a ']) t.equal(code(fine), 'ok a', fine);
  t.equal(code('Bearer key-none', 'runs:write'), 'INSUFFICIENT_SCOPE', 'scope comes before subscription');
  for (const id of ['none', 'late', 'over']) t.equal(code(`Bearer key-${id}`), 'NO_SUBSCRIPTION', id);
  const challenge = (authorization: string | undefined): string | null => {
    const result = authenticate(catalog, authorization, 'runs:write', now);
    return result.ok ? '' : result.wwwAuthenticate;
  };
  t.equal(challenge(undefined), 'Bearer realm="template-run"');
  t.equal(challenge('Bearer x'), 'Bearer realm="template-run", error="invalid_token"');
  t.equal(challenge('Bearer key-none'), 'Bearer realm="template-run", error="insufficient_scope", scope="runs:write"');
  t.equal(challenge('Bearer key-over'), null);
});
