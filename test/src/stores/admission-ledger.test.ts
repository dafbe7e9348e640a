// The quota ledger on a real folder: limits, concurrent commits, charges that are not made twice, kill -9, a full disk,
// and a second process.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ClassicLevel } from 'classic-level';
import t from 'tap';
import { billingPeriod } from '../../../src/stores/billing-period.ts';
import { DirectoryInUseError } from '../../../src/stores/leveldb/ledger-store.ts';
import {
  chargeDigest,
  chargeDigestPrefix,
  GATHER_MILLISECONDS,
  GATHERED_COMMITS,
  QuotaLedger,
  type QuotaReservation,
} from '../../../src/stores/leveldb/quota-ledger.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const PERIOD = billingPeriod('month', NOW, NOW);
const LEDGER = new URL('../../../src/stores/leveldb/quota-ledger.js', import.meta.url).href;

async function reserve(ledger: QuotaLedger, account = 'a', limit: number | null = null): Promise<QuotaReservation> {
  const answer = await ledger.reserve(account, PERIOD, limit);
  if (!answer.ok) throw new Error('refused');
  return answer.reservation;
}

t.test('reserved and committed count, released does not', async (t) => {
  const directory = t.testdir();
  const ledger = await QuotaLedger.open(directory);
  const answers = await Promise.all(Array.from({ length: 5 }, () => ledger.reserve('a', PERIOD, 3)));
  t.equal(answers.filter((answer) => answer.ok).length, 3, 'five at once, three pass');
  t.strictSame(answers[4], { ok: false, used: 3, limit: 3, resetsAt: PERIOD.endsAt });
  const [one, two] = answers.flatMap((answer) => (answer.ok ? [answer.reservation] : []));
  t.ok(await ledger.commit(one!, null));
  ledger.release(one!);
  ledger.release(two!);
  ledger.release(two!);
  t.equal(await ledger.used('a', PERIOD), 2, 'one committed, one reserved');
  t.equal(await ledger.used('b', PERIOD), 0);
  const before = billingPeriod('month', NOW, PERIOD.startsAt - 1);
  t.equal(await ledger.used('a', before), 0, 'another period');
  t.notOk((await ledger.reserve('c', PERIOD, 0)).ok);
  t.throws(() => ledger.commit(one!, null), /settled/);
  await ledger.close();
  const again = await QuotaLedger.open(directory);
  t.equal(await again.used('a', PERIOD), 1, 'what was reserved is forgotten, what was committed is not');
  await again.close();
});

t.test('many commits at once are all counted, also after a restart', async (t) => {
  const directory = t.testdir();
  const ledger = await QuotaLedger.open(directory);
  const commits = Array.from({ length: 3000 }, async (_, index) => {
    return ledger.commit(await reserve(ledger, `account${index % 7}`), null);
  });
  t.ok((await Promise.all(commits)).every((charged) => charged));
  await ledger.close();
  const again = await QuotaLedger.open(directory);
  const used = await Promise.all(Array.from({ length: 7 }, (_, index) => again.used(`account${index}`, PERIOD)));
  t.equal(
    used.reduce((sum, each) => sum + each, 0),
    3000,
  );
  await again.close();
});

t.test('a group of commits is written at once, a smaller one after a moment', async (t) => {
  const { setTimeout: setTimer } = globalThis;
  const ledger = await QuotaLedger.open(t.testdir());
  let moments: (() => void)[] = [];
  let onWait = (): void => {};
  const waits = (): Promise<void> => new Promise((resolve) => (onWait = resolve));
  const held = (listener: () => void, milliseconds?: number): unknown => {
    if (milliseconds !== GATHER_MILLISECONDS) return setTimer(listener, milliseconds);
    moments.push(listener);
    onWait();
    return undefined;
  };
  t.intercept(globalThis, 'setTimeout', { value: held });
  const reserved: QuotaReservation[] = [];
  for (let count = 0; count < 5 + GATHERED_COMMITS + 7; count++) reserved.push(await reserve(ledger));
  const commit = (count: number): Promise<boolean[]> =>
    Promise.all(reserved.splice(0, count).map((reservation) => ledger.commit(reservation, null)));
  // While the first ones are written, another one comes, and waits for more.
  const waiting = waits();
  const first = commit(5);
  await new Promise((resolve) => setImmediate(resolve));
  const second = commit(1);
  await waiting;
  t.equal((await first).length, 5);
  await Promise.all([second, commit(GATHERED_COMMITS - 1)]);
  t.equal(moments.length, 1, 'they were not kept waiting');
  moments = [];
  const stillWaiting = waits();
  const third = commit(5);
  await new Promise((resolve) => setImmediate(resolve));
  const fourth = commit(2);
  await Promise.all([third, stillWaiting]);
  moments[0]!();
  t.strictSame(await fourth, [true, true]);
  t.equal(await ledger.used('a', PERIOD), 5 + GATHERED_COMMITS + 7);
  await ledger.close();
});

t.test('a charge is remembered until its time and not made twice', async (t) => {
  const directory = t.testdir();
  let ledger = await QuotaLedger.open(directory);
  const digest = chargeDigest('a', 'key', 'f1');
  t.notOk(await ledger.wasCharged(digest, NOW));
  t.ok(await ledger.commit(await reserve(ledger), { digest, expiresAt: NOW + 1000 }, NOW));
  await ledger.close();
  ledger = await QuotaLedger.open(directory);
  t.ok(await ledger.wasCharged(digest, NOW));
  t.ok(await ledger.wasChargedUnder(chargeDigestPrefix('a', 'key'), NOW));
  t.notOk(await ledger.wasChargedUnder(chargeDigestPrefix('b', 'key'), NOW), 'another account');
  t.notOk(await ledger.wasCharged(chargeDigest('a', 'key', 'f2'), NOW), 'another file');
  const repeat = { digest, expiresAt: NOW + 5000 };
  const twice = await Promise.all([
    ledger.commit(await reserve(ledger), repeat, NOW + 500),
    ledger.commit(await reserve(ledger), repeat, NOW + 500),
  ]);
  t.strictSame(twice, [false, false]);
  t.equal(await ledger.used('a', PERIOD), 1);
  t.equal(await ledger.sweep(100, NOW + 2000), 1, 'the first time is over');
  t.ok(await ledger.wasCharged(digest, NOW + 2000), 'the repeat prolonged it');
  t.equal(await ledger.sweep(100, NOW + 6000), 1);
  t.notOk(await ledger.wasCharged(digest, NOW), 'it is gone');
  t.equal(await ledger.sweep(100, NOW + 6000), 0);
  const other = { digest: chargeDigest('a', 'key2', 'f'), expiresAt: NOW + 1000 };
  const atOnce = [await reserve(ledger), await reserve(ledger)].map((held) => ledger.commit(held, other, NOW));
  t.strictSame(await Promise.all(atOnce), [true, false], 'two at once with one digest');
  t.equal(await ledger.used('a', PERIOD), 2);
  await ledger.close();
});

const DAY = 24 * 3600 * 1000;

/** Opens a ledger at a time, makes a charge where an account is given, and closes it; the units of the first period. */
async function visit(directory: string, now: number, account: string | null = null): Promise<number> {
  const ledger = await QuotaLedger.open(directory, { wall: () => now, steady: () => performance.now() });
  if (account !== null) {
    const answer = await ledger.reserve(account, billingPeriod('month', NOW, now), null);
    if (answer.ok) await ledger.commit(answer.reservation, null, now);
  }
  const used = await ledger.used('a', PERIOD);
  await ledger.close();
  return used;
}

t.test('past periods are dropped in the end', async (t) => {
  const directory = t.testdir();
  const ledger = await QuotaLedger.open(directory);
  await ledger.commit(await reserve(ledger), null, NOW);
  await ledger.sweep(10, PERIOD.endsAt);
  t.equal(await ledger.used('a', PERIOD), 1, 'read again from the disk');
  await ledger.close();
  for (const days of [1, 61, 63]) t.equal(await visit(directory, PERIOD.endsAt + days * DAY, 'a'), 1);
  t.equal(await visit(directory, PERIOD.endsAt + 64 * DAY), 0, 'newer charges have been made');
});

t.test('a clock that is months ahead loses no counter, and one that is behind neither', async (t) => {
  const directory = t.testdir();
  t.equal(await visit(directory, NOW, 'a'), 1);
  for (const months of [3, 40, -40, 400]) {
    const then = NOW + months * 31 * DAY;
    t.equal(await visit(directory, then), 1, `the node starts ${months} months ahead`);
  }
  t.equal(await visit(directory, NOW + 200 * DAY, 'a'), 1, 'a Run is charged then');
  t.equal(await visit(directory, NOW + 201 * DAY, 'b'), 1, 'the node starts again then');
  t.equal(await visit(directory, NOW, 'a'), 2, 'the clock is right again');
});

t.test('records of earlier versions, which do not say when they were charged, are not lost either', async (t) => {
  const directory = t.testdir();
  const level = new ClassicLevel(directory);
  await level.put(`used/a/${PERIOD.key}`, JSON.stringify({ used: 7, ends_at: PERIOD.endsAt }));
  await level.close();
  t.equal(await visit(directory, NOW + 300 * DAY), 7);
  t.equal(await visit(directory, NOW, 'a'), 8);
});

t.test('remembered charges outlive a clock that jumps ahead', async (t) => {
  const directory = t.testdir();
  let ledger = await QuotaLedger.open(directory);
  const digest = chargeDigest('a', 'key', 'f');
  const expiresAt = Date.now() + 1_800_000;
  await ledger.commit(await reserve(ledger), { digest, expiresAt });
  const { now } = Date;
  try {
    Date.now = () => now() + 100 * DAY;
    t.equal(await ledger.sweep(100), 0, 'in the process that sees the jump');
    await ledger.close();
    ledger = await QuotaLedger.open(directory);
    t.equal(await ledger.sweep(100), 0, 'in one that starts after it');
  } finally {
    Date.now = now;
  }
  t.ok(await ledger.wasCharged(digest));
  await ledger.close();
});

t.test('a second process is refused by name of the folder', async (t) => {
  const directory = t.testdir();
  const ledger = await QuotaLedger.open(directory);
  const script = `import { QuotaLedger } from '${LEDGER}';
    await QuotaLedger.open(process.argv[1]).catch((error) => console.log(error.name, error.message));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script, directory], {
    encoding: 'utf8',
  });
  t.match(printed, `DirectoryInUseError ${directory} is in use`);
  // Last: LevelDB's refusal inside one process gives the lock away to others.
  await t.rejects(QuotaLedger.open(directory), DirectoryInUseError);
  await ledger.close();
  await t.rejects(QuotaLedger.open(join(directory, 'CURRENT')), {
    name: 'LedgerOpenError',
    message: /CURRENT cannot be opened/,
  });
});

t.test('kill -9 loses no commit that was told of, and leaves no reservation', async (t) => {
  const directory = t.testdir();
  const script = `import { QuotaLedger } from '${LEDGER}';
    const ledger = await QuotaLedger.open(process.argv[1]);
    const period = ${JSON.stringify(PERIOD)};
    for (let wave = 0; ; wave += 1) {
      await Promise.all(Array.from({ length: 8 }, async () => {
        const { reservation } = await ledger.reserve('a', period, null);
        await ledger.reserve('a', period, null);
        await ledger.commit(reservation, null);
        process.stdout.write('c\\n');
      }));
    }`;
  let told = 0;
  for (let round = 0; round < 3; round += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    const killAt = told + 50 + round * 37;
    for await (const _line of createInterface({ input: child.stdout })) {
      told += 1;
      if (told === killAt) child.kill('SIGKILL');
    }
    await exit;
    const ledger = await QuotaLedger.open(directory);
    const used = await ledger.used('a', PERIOD);
    t.ok(used >= told && used <= told + 8 * (round + 1), `${told} told of, ${used} in the ledger`);
    told = used;
    await ledger.close();
  }
});

t.test(
  'a disk that is full fails the commit; when there is room again, nothing was lost or charged twice',
  { skip: spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit is not there to take the room away' },
  async (t) => {
    const directory = t.testdir();
    const script = join(directory, 'full.mjs');
    writeFileSync(
      script,
      `import { execFileSync } from 'node:child_process';
    import { QuotaLedger } from '${LEDGER}';
    const period = ${JSON.stringify(PERIOD)};
    // Without a listener the signal of the limit ends the process; with one the write fails, as on a full disk.
    process.on('SIGXFSZ', () => undefined);
    const ledger = await QuotaLedger.open(process.argv[2]);
    const room = (bytes) => execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=' + bytes + ':unlimited']);
    const commit = async (digest) => {
      const { reservation } = await ledger.reserve('a', period, null);
      try {
        await ledger.commit(reservation, { digest, expiresAt: Date.now() + 1e6 });
        return 'charged';
      } catch (fault) {
        ledger.release(reservation);
        return 'fault';
      }
    };
    const results = { before: await commit('d0') };
    room(64);
    results.full = [await commit('d1'), await commit('d2')];
    results.usedWhileFull = await ledger.used('a', period);
    room('unlimited');
    results.after = await commit('d3');
    results.again = await commit('d1');
    results.used = await ledger.used('a', period);
    await ledger.close();
    const reopened = await QuotaLedger.open(process.argv[2]);
    results.reopened = await reopened.used('a', period);
    results.remembered = await Promise.all(['d0', 'd1', 'd2', 'd3'].map((digest) => reopened.wasCharged(digest)));
    await reopened.close();
    console.log(JSON.stringify(results));`,
    );
    const printed = execFileSync(process.execPath, [script, join(directory, 'ledger')], { encoding: 'utf8' });
    t.strictSame(JSON.parse(printed), {
      before: 'charged',
      full: ['fault', 'fault'],
      usedWhileFull: 1,
      after: 'charged',
      again: 'charged',
      used: 3,
      reopened: 3,
      remembered: [true, true, false, true],
    });
  },
);
