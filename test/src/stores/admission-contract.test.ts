// Contract of the admission store, tested with the memory of one node, with a store that answers late and out of order, and with Redis.
import t, { type Test } from 'tap';
import { MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { newRun, type RunRecord } from '../../../src/runs/run.ts';
import type { AdmissionOutcome, AdmissionRequest, Admitted, RunEnd } from '../../../src/stores/admission-store.ts';
import { billingPeriod } from '../../../src/stores/billing-period.ts';
import { QuotaLedger } from '../../../src/stores/leveldb/quota-ledger.ts';
import { openMemoryStores } from '../../../src/stores/memory/memory-stores.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import { openLog } from '../../../src/telemetry/log.ts';
import { delayedStores } from '../../fixtures/delayed-stores.ts';
import { openTestRedis, passInRedis } from '../../fixtures/redis-rig.ts';
import { skipWithoutRedis } from '../../fixtures/redis-server.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const PERIOD = billingPeriod('month', NOW, NOW);
const KEEP = 30 * 60_000;
const UNCOUNTED = { operation: 'get_run', limit: null };

interface Rig extends Stores {
  /** Lets time pass. */
  readonly pass: (milliseconds: number) => void | Promise<void>;
  /** Over a restart. */
  readonly keepsRuns: boolean;
  /** Simulates a restart: only data on the disk remains. */
  readonly restart: () => Promise<Rig>;
}

/** More than the outputs of all Runs that end in one test, of one byte each. */
const OUTPUTS_BYTES_MAX = 1024;

type OpenRig = (directory: string) => Promise<Rig>;
const KINDS: Readonly<Record<string, OpenRig>> = {
  direct: (directory) => openRig(directory, (stores) => stores),
  delayed: (directory) => openRig(directory, delayedStores),
  redis: openRedisRig,
};

async function openRedisRig(directory: string): Promise<Rig> {
  const redis = await openTestRedis(directory);
  const pass = (milliseconds: number): Promise<void> => passInRedis(redis.server, milliseconds);
  const restart = async (): Promise<Rig> => {
    await redis.stores.close();
    const next = await openTestRedis(directory, redis.server);
    return { ...next.stores, close: next.close, pass, keepsRuns: true, restart };
  };
  return { ...redis.stores, close: redis.close, pass, keepsRuns: true, restart };
}

async function openRig(directory: string, kind: (stores: Stores) => Stores): Promise<Rig> {
  let passed = 0;
  const clock = { wall: () => NOW + passed, steady: () => 5_000 + passed };
  const ledger = await QuotaLedger.open(directory, clock);
  const budget = new MemoryBudget(256 * 1024 * 1024, 1);
  // A service charges outputs when it keeps them; the stores release them when their Runs expire.
  budget.charge(OUTPUTS_BYTES_MAX, 'outputs');
  const stores = kind(openMemoryStores(ledger, budget, clock, openLog('silent')));
  const close = async (): Promise<void> => {
    await stores.close();
    await ledger.close();
  };
  const pass = (milliseconds: number): void => {
    passed += milliseconds;
  };
  const restart = async (): Promise<Rig> => {
    await close();
    return openRig(directory, kind);
  };
  return { ...stores, close, pass, keepsRuns: false, restart };
}

const ask = (runId: string, more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  runId,
  node: 'here',
  account: 'acme',
  rate: null,
  key: null,
  period: PERIOD,
  quotaMax: null,
  slotsMax: null,
  hasCapacity: true,
  ...more,
});
const keyed = (runId: string, more: Partial<AdmissionRequest> = {}): AdmissionRequest =>
  ask(runId, { key: { text: 'key', templateId: 'pick' }, ...more });

async function outcome({ admissions }: Stores, asked: AdmissionRequest): Promise<AdmissionOutcome> {
  return (await admissions.admit(asked)).outcome;
}

async function admitted(stores: Stores, asked: AdmissionRequest): Promise<Admitted> {
  const answer = await outcome(stores, asked);
  if (answer.kind !== 'admitted') throw new Error(`not admitted: ${answer.kind}`);
  return answer;
}

async function quotaUsed({ admissions }: Stores): Promise<number> {
  return (await admissions.usage('acme', PERIOD)).used;
}

/** Until when Runs are kept: the clock of Redis is the machine's. */
const EXPIRES_AT = Date.now() + KEEP;

function ended(runId: string, errorCode: RunRecord['errorCode'] = null, fingerprint = 'f'): RunEnd {
  const status = errorCode === null ? 'succeeded' : 'failed';
  const output = errorCode === null ? { sizeBytes: 1, path: null, bytes: Buffer.from('x') } : null;
  const record = { ...newRun(runId, 'acme', 'pick', NOW), status, errorCode, output, json: Buffer.from('{}') } as const;
  return { record, fingerprint, keepMilliseconds: KEEP, expiresAt: EXPIRES_AT, isCharged: errorCode === null };
}

const running = (runId: string): RunRecord => newRun(runId, 'acme', 'pick', NOW);

async function repeatAfterRestart(t: Test, rig: Rig): Promise<void> {
  const { claim } = await admitted(rig, keyed('r1', { quotaMax: 1 }));
  t.equal(await rig.admissions.finish(claim, ended('r1')), 'charged');
  const after = await rig.restart();
  t.match(await outcome(after, keyed('r2', { quotaMax: 1 })), {
    kind: 'held',
    holder: { phase: 'finished', runId: 'r1' },
  });
  t.equal((await after.runs.read('acme', 'r1', UNCOUNTED)).run?.status, 'succeeded');
  t.strictSame(await outcome(after, ask('r3', { quotaMax: 1 })), { kind: 'quota', used: 1 });
  Object.assign(rig, { close: after.close });
}

function promises(name: string, check: (t: Test, rig: Rig) => Promise<void>): void {
  for (const [kind, open] of Object.entries(KINDS)) {
    t.test(`${name}, ${kind}`, { skip: kind === 'redis' && skipWithoutRedis }, async (t) => {
      const rig = await open(t.testdir());
      await check(t, rig);
      await rig.close();
    });
  }
}

promises('rate, key, quota, slot and capacity are checked in this order', async (t, rig) => {
  const rate = { requests: 3, windowSeconds: 3600 };
  await admitted(rig, keyed('r1', { rate }));
  const nothing = { rate, quotaMax: 0, slotsMax: 0, hasCapacity: false };
  const other = { text: 'key', templateId: 'other' };
  t.strictSame(await outcome(rig, keyed('r2', { ...nothing, key: other })), { kind: 'other_template' });
  const holder = { phase: 'uploading', runId: 'r1', node: 'here' };
  t.match(await outcome(rig, keyed('r3', nothing)), { kind: 'held', holder });
  t.strictSame(await outcome(rig, keyed('r4', nothing)), { kind: 'limited' });
  t.strictSame(await outcome(rig, ask('r5', { ...nothing, rate: null })), { kind: 'quota', used: 1 });
  t.strictSame(await outcome(rig, ask('r6', { slotsMax: 1, hasCapacity: false })), { kind: 'slots' });
  t.strictSame(await outcome(rig, ask('r7', { hasCapacity: false })), { kind: 'no_capacity' });
  t.equal(await quotaUsed(rig), 1, 'those that were refused hold nothing');
  await admitted(rig, ask('r8', { quotaMax: 2, slotsMax: 2 }));
  await rig.pass(3600_000);
  t.ok((await rig.admissions.admit(ask('r9', { rate, hasCapacity: false }))).rate.allowed, 'time is the store’s');
});

promises('at most so many are admitted at once as quota and slots allow', async (t, rig) => {
  for (const limit of ['quotaMax', 'slotsMax'] as const) {
    const account = limit;
    const asked = Array.from({ length: 20 }, (_, index) => ask(`${limit}${index}`, { account, [limit]: 7 }));
    const answers = await Promise.all(asked.map((each) => outcome(rig, each)));
    t.equal(answers.filter(({ kind }) => kind === 'admitted').length, 7, limit);
  }
});

promises(
  'what an account has of its plan: charged and reserved Runs of the period, and Runs in flight',
  async (t, rig) => {
    const usage = (account: string, period = PERIOD) => rig.admissions.usage(account, period);
    t.strictSame(await usage('acme'), { used: 0, runsInFlight: 0 });
    const first = await admitted(rig, ask('r1'));
    const second = await admitted(rig, keyed('r2'));
    const failing = await admitted(rig, ask('r3'));
    await admitted(rig, ask('r4', { account: 'other' }));
    await outcome(rig, ask('r5', { hasCapacity: false }));
    t.strictSame(await usage('acme'), { used: 3, runsInFlight: 3 });
    await rig.admissions.begin(second.claim, running('r2'), 'f');
    await rig.admissions.finish(first.claim, ended('r1'));
    await rig.admissions.finish(failing.claim, ended('r3', 'TEMPLATE_ROW_ERROR'));
    t.strictSame(await usage('acme'), { used: 2, runsInFlight: 1 });
    await rig.admissions.finish(second.claim, ended('r2'));
    t.strictSame(await usage('acme'), { used: 2, runsInFlight: 0 });
    t.strictSame(
      await usage('acme', billingPeriod('day', NOW, NOW)),
      { used: 0, runsInFlight: 0 },
      'of another period',
    );
    t.strictSame(await usage('other'), { used: 1, runsInFlight: 1 });
  },
);

promises('one of many that ask with one key is admitted', async (t, rig) => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => outcome(rig, keyed(`r${index}`))));
  const winner = answers.find((answer) => answer.kind === 'admitted') as Admitted;
  t.equal(answers.filter(({ kind }) => kind === 'held').length, 19);
  for (const answer of answers) if (answer.kind === 'held') t.equal(answer.holder.runId, winner.claim.runId);
});

promises('a Run is seen once it has begun, and kept until its time has come', async (t, rig) => {
  const { claim } = await admitted(rig, keyed('r1'));
  t.equal((await rig.runs.read('acme', 'r1', UNCOUNTED)).run, null);
  t.equal(await rig.admissions.begin(claim, running('r1'), 'f'), 'begun');
  t.equal((await rig.runs.read('acme', 'r1', UNCOUNTED)).run?.status, 'running');
  t.equal((await rig.runs.read('other', 'r1', UNCOUNTED)).run, null, 'of another account');
  t.match(await rig.admissions.holderOf('acme', 'key'), {
    phase: 'running',
    runId: 'r1',
    node: 'here',
    fingerprint: 'f',
  });
  t.equal(await rig.admissions.finish(claim, ended('r1')), 'charged');
  t.equal((await rig.runs.read('acme', 'r1', UNCOUNTED)).run?.status, 'succeeded');
  t.match(await rig.admissions.holderOf('acme', 'key'), { phase: 'finished', runId: 'r1', fingerprint: 'f' });
  t.equal(await rig.admissions.finish(claim, ended('r1')), 'done', 'again');
  await rig.admissions.abandon(claim);
  t.equal(await quotaUsed(rig), 1, 'charged once');
  await admitted(rig, ask('r2', { slotsMax: 1 }));
  await rig.pass(KEEP);
  t.equal((await rig.runs.read('acme', 'r1', UNCOUNTED)).run, null);
  t.equal(await rig.admissions.holderOf('acme', 'key'), null);
});

promises('a short Run is over without having begun', async (t, rig) => {
  const { claim } = await admitted(rig, keyed('r1'));
  t.equal(await rig.admissions.finish(claim, ended('r1', 'TEMPLATE_ROW_ERROR')), 'done');
  t.equal((await rig.runs.read('acme', 'r1', UNCOUNTED)).run?.errorCode, 'TEMPLATE_ROW_ERROR');
  t.match(await outcome(rig, keyed('r2')), { kind: 'held', holder: { phase: 'finished', runId: 'r1' } });
  t.equal(await quotaUsed(rig), 0);
});

promises('a Run that was promised does not vanish, and one that vanished is not promised', async (t, rig) => {
  const first = await admitted(rig, ask('r1'));
  await rig.admissions.begin(first.claim, running('r1'), 'f');
  t.ok(await rig.admissions.promise('acme', 'r1'));
  t.equal(await rig.admissions.finish(first.claim, null), 'promised');
  t.equal(await rig.admissions.finish(first.claim, ended('r1', 'RUN_INTERRUPTED')), 'done');
  t.ok(await rig.admissions.promise('acme', 'r1'), 'it can be read');
  const second = await admitted(rig, keyed('r2'));
  await rig.admissions.begin(second.claim, running('r2'), 'f');
  t.equal(await rig.admissions.finish(second.claim, null), 'done');
  t.notOk(await rig.admissions.promise('acme', 'r2'));
  t.equal((await rig.runs.read('acme', 'r2', UNCOUNTED)).run, null);
  t.equal(await rig.admissions.holderOf('acme', 'key'), null);
  t.equal(await rig.admissions.finish(second.claim, ended('r2')), 'lost');
  t.equal(await rig.admissions.begin(second.claim, running('r2'), 'f'), 'lost');
  for (let round = 0; round < 10; round += 1) {
    const { claim } = await admitted(rig, ask(`race${round}`));
    await rig.admissions.begin(claim, running(claim.runId), 'f');
    const [promised, left] = await Promise.all([
      rig.admissions.promise('acme', claim.runId),
      rig.admissions.finish(claim, null),
    ]);
    t.equal(left, promised ? 'promised' : 'done', 'one of the two');
  }
});

promises('what is abandoned is free again, once', async (t, rig) => {
  const limits = { quotaMax: 1, slotsMax: 1 };
  for (let round = 0; round < 3; round += 1) {
    const { claim } = await admitted(rig, keyed(`r${round}`, limits));
    await Promise.all([rig.admissions.abandon(claim), rig.admissions.abandon(claim)]);
  }
  t.equal(await quotaUsed(rig), 0);
});

promises('a Run that may be retried gives its key to an equal request, and has it back', async (t, rig) => {
  const first = await admitted(rig, keyed('r1'));
  await rig.admissions.finish(first.claim, ended('r1', 'RUN_TIMEOUT'));
  const second = await admitted(rig, keyed('r2'));
  t.equal(second.former, 'f');
  t.match(await outcome(rig, keyed('r3')), { kind: 'held', holder: { phase: 'uploading', runId: 'r2' } });
  await rig.admissions.abandon(second.claim);
  t.match(await rig.admissions.holderOf('acme', 'key'), { phase: 'finished', runId: 'r1' });
  const third = await admitted(rig, keyed('r4'));
  await rig.admissions.finish(third.claim, ended('r4'));
  t.match(await outcome(rig, keyed('r5')), { kind: 'held', holder: { runId: 'r4' } });
});

promises('after a restart a repeat is not charged again, even where the quota is used up', async (t, rig) => {
  if (rig.keepsRuns) return repeatAfterRestart(t, rig);
  const first = await admitted(rig, keyed('r1', { quotaMax: 1 }));
  t.equal(await rig.admissions.finish(first.claim, ended('r1')), 'charged');
  const after = await rig.restart();
  t.strictSame(await outcome(after, ask('r2', { quotaMax: 1 })), { kind: 'quota', used: 1 });
  const other = await admitted(after, keyed('r3', { quotaMax: 1 }));
  t.strictSame(other.overQuota, { used: 1 });
  t.equal(await after.admissions.begin(other.claim, running('r3'), 'another request'), 'over_quota');
  await after.admissions.abandon(other.claim);
  const again = await admitted(after, keyed('r4', { quotaMax: 1 }));
  t.equal(await after.admissions.begin(again.claim, running('r4'), 'f'), 'begun');
  t.equal(await after.admissions.finish(again.claim, ended('r4')), 'done');
  t.equal(await quotaUsed(after), 1);
  await after.close();
  // The caller closes the last rig.
  await rig.restart().then((last) => Object.assign(rig, { close: last.close }));
});
