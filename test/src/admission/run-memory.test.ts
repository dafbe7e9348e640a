// Shares of the memory budget: state of operations, Runs of one account and of others, suspended Runs; and the pace below
// which uploads are slow.

import t from 'tap';
import { MEMORY_BUDGET_BYTES_MIN, MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { RunMemories, type RunMemory } from '../../../src/admission/run-memory.ts';
import { SlowUploads, UploadPace } from '../../../src/runs/engine-run.ts';
import { AccountShare } from '../../../workers/memory/account-share.ts';
import { RUN_RESERVATION_BYTES, SPILL_MEMORY_BYTES, threadShare } from '../../../workers/memory/budget.ts';
import { NO_ACCOUNT } from '../../../workers/protocol/messages.ts';
import { fc } from '../../random.ts';

const MIB = 1024 * 1024;
const ASIDE_BYTES = MIB / 4;
const LARGEST = RUN_RESERVATION_BYTES + 2 * SPILL_MEMORY_BYTES;

function rig(limitBytes: number, threads = 2) {
  const budget = new MemoryBudget(limitBytes, threads, 'service');
  const memories = new RunMemories(budget, ASIDE_BYTES);
  const counters = new Int32Array(budget.buffer);
  const shareOf = (row: number, thread = 0): AccountShare =>
    new AccountShare(counters, thread, row, threadShare(counters, thread));
  return { budget, memories, shareOf };
}

/** Takes a MiB at a time until it is refused; gives the bytes taken. */
function fill(share: AccountShare): number {
  while (share.take(MIB));
  return share.takenBytes;
}

for (const limitBytes of [MEMORY_BUDGET_BYTES_MIN, 256 * MIB, 4096 * MIB]) {
  t.test(`state that has grown as far as it may leaves room for Runs: ${limitBytes / MIB} MiB`, async (t) => {
    const { budget, memories, shareOf } = rig(limitBytes);
    const first = memories.admit('greedy', LARGEST)!;
    const borrowed = fill(shareOf(first.accountRow));
    t.ok(borrowed >= limitBytes / 4, `${borrowed / MIB} MiB are borrowed: alone an account gets most of what there is`);
    t.ok(budget.availableBytes() >= Math.min(limitBytes / 4, 16 * RUN_RESERVATION_BYTES));
    while (memories.admit('greedy', RUN_RESERVATION_BYTES) !== null);
    t.ok(memories.admit('other', LARGEST), 'another account is let in, however many Runs the first has asked for');
    t.equal(shareOf(first.accountRow).take(MIB), false, 'and the first gets no more');
  });
}

t.test('what nobody is charged for, such as tables, leaves the same room; a command may have everything', async (t) => {
  const { budget, memories, shareOf } = rig(256 * MIB);
  t.equal(fill(shareOf(NO_ACCOUNT)), 192 * MIB);
  t.equal(budget.availableBytes(), 64 * MIB);
  t.ok(memories.admit('a', LARGEST));
  const whole = new MemoryBudget(256 * MIB, 1);
  const counters = new Int32Array(whole.buffer);
  t.equal(fill(new AccountShare(counters, 0, NO_ACCOUNT, threadShare(counters, 0))), 256 * MIB);
});

t.test('two accounts that take what they can get come to the same', async (t) => {
  const { memories, shareOf } = rig(1024 * MIB);
  const [a, b] = ['a', 'b'].map((account) => memories.admit(account, LARGEST)!) as [RunMemory, RunMemory];
  const shares = [shareOf(a.accountRow, 0), shareOf(b.accountRow, 1)] as const;
  for (let turn = 0; turn < 1024; turn += 1) for (const share of shares) share.take(MIB);
  t.equal(Math.abs(shares[0].takenBytes - shares[1].takenBytes) <= MIB, true);
  t.ok(shares[0].takenBytes > 0.4 * 1024 * MIB, `${shares[0].takenBytes / MIB} MiB each`);
  const before = shares[1].takenBytes;
  shares[0].release(shares[0].takenBytes);
  a.release();
  t.ok(fill(shares[1]) > before, 'what one share releases is available to the other');
});

t.test('a Run that is over, and a thread that is lost, leave nothing to their account', async (t) => {
  const { budget, memories, shareOf } = rig(256 * MIB);
  const run = memories.admit('a', LARGEST)!;
  const share = shareOf(run.accountRow);
  share.take(10 * MIB);
  share.force(3 * MIB);
  share.release(MIB);
  t.equal(budget.accountBytes(run.accountRow), LARGEST + 12 * MIB);
  share.leave();
  t.equal(budget.accountBytes(run.accountRow), LARGEST);
  t.equal(budget.borrowedBytes(), 12 * MIB, 'the thread holds it until it is collected');
  shareOf(run.accountRow, 1).take(5 * MIB);
  budget.forgetThread(1);
  t.equal(budget.accountBytes(run.accountRow), LARGEST);
  run.release();
  t.equal(budget.accountBytes(run.accountRow), 0);
});

t.test('a suspended Run reserves its memory again in FIFO order, before new Runs', async (t) => {
  const { budget, memories } = rig(MEMORY_BUDGET_BYTES_MIN);
  const slow = memories.admit('a', LARGEST)!;
  t.notOk(memories.isShort);
  const others = ['b', 'c', 'd'].map((account) => memories.admit(account, LARGEST)!);
  t.ok(memories.isShort);
  slow.suspend();
  slow.suspend();
  t.notOk(slow.isHeld);
  t.equal(budget.usedBytes('reservations'), 3 * LARGEST + ASIDE_BYTES);
  const late = memories.admit('e', LARGEST)!;
  t.ok(late, 'what it gave back serves others');
  const order: string[] = [];
  slow.whenHeld(() => order.push('a'));
  t.notOk(slow.tryReacquire());
  t.equal(memories.suspended, 1);
  t.equal(
    memories.admit('f', RUN_RESERVATION_BYTES),
    null,
    'its room is not given to a new Run, though that would fit',
  );
  others[0]!.suspend();
  t.strictSame(order, ['a']);
  t.ok(slow.isHeld);
  others[0]!.whenHeld(() => order.push('b'));
  others[1]!.suspend();
  others[1]!.whenHeld(() => order.push('c'));
  t.strictSame(order, ['a', 'b'], 'at once where there is room, the next waits');
  others[1]!.release();
  slow.release();
  slow.release();
  t.strictSame(order, ['a', 'b'], 'a released reservation is not called');
  for (const run of [late, ...others]) run.release();
  t.equal(budget.usedBytes('reservations'), 0);
  t.equal(memories.suspended, 0);
});

t.test('many Runs of one account that wait to go on keep nobody else out', async (t) => {
  const { memories } = rig(256 * MIB);
  const runs = Array.from({ length: 100 }, () => {
    const run = memories.admit('many', LARGEST)!;
    run.suspend();
    return run;
  });
  let begun = 0;
  for (const run of runs) run.whenHeld(() => (begun += 1));
  t.ok(begun > 5 && begun < 20, `${begun} at once`);
  t.equal(memories.admit('many', RUN_RESERVATION_BYTES), null, 'a new one of the same account waits behind them');
  t.ok(memories.admit('other', LARGEST));
  for (const run of runs) run.release();
  t.equal(begun, 100, 'as those before ended, each had its turn');
});

t.test(
  'in any order of calls: the limit holds, an account without a Run is admitted, all memory is released',
  async (_t) => {
    const move = fc.record({
      account: fc.nat(4),
      what: fc.nat(4),
      which: fc.nat(30),
      bytes: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(move, { maxLength: 80 }), (moves) => {
        const { budget, memories, shareOf } = rig(64 * MIB);
        const runs: { run: RunMemory; share: AccountShare }[] = [];
        for (const { account, what, which, bytes } of moves) {
          const picked = runs[which % Math.max(1, runs.length)];
          if (what === 0) {
            const run = memories.admit(`${account}`, bytes * RUN_RESERVATION_BYTES);
            if (run !== null) runs.push({ run, share: shareOf(run.accountRow, account % 2) });
          } else if (what === 1) picked?.share.take(bytes * MIB);
          else if (what === 2) picked?.run.suspend();
          else if (what === 3) picked?.run.whenHeld(() => {});
          else if (picked !== undefined) {
            runs.splice(runs.indexOf(picked), 1);
            picked.share.release(picked.share.takenBytes);
            picked.run.release();
          }
          if (budget.usedBytes('reservations') + budget.borrowedBytes() > budget.limitBytes) return false;
        }
        for (const { run, share } of runs) {
          share.release(share.takenBytes);
          run.release();
        }
        return (
          budget.availableBytes() === budget.limitBytes &&
          memories.suspended === 0 &&
          memories.admit('n', LARGEST) !== null
        );
      }),
    );
  },
);

t.test('more accounts than can be told apart share one row, and none is refused for it', async (t) => {
  const { budget, memories } = rig(16_384 * MIB);
  const runs = Array.from({ length: 1100 }, (_, account) => memories.admit(`${account}`, RUN_RESERVATION_BYTES)!);
  const rows = new Set(runs.map(({ accountRow }) => accountRow));
  t.equal(rows.size, 1023);
  t.notOk(rows.has(NO_ACCOUNT));
  for (const run of runs) run.release();
  t.equal(budget.usedBytes('reservations'), 0);
  for (const row of rows) if (budget.accountBytes(row) !== 0) t.fail(`row ${row} still holds bytes`);
  const again = memories.admit('again', RUN_RESERVATION_BYTES)!;
  t.ok(rows.has(again.accountRow) && again.accountRow !== 1023, 'rows are used again');
});

t.test('an upload is slow below 64 KiB a second, and not while we keep it waiting', async (t) => {
  const isSlowAt = (bytesPerSecond: number): boolean => {
    const pace = new UploadPace(0);
    return Array.from({ length: 40 }, (_, look) => pace.isSlow((bytesPerSecond * look) / 4, look * 250)).includes(true);
  };
  t.strictSame([0, 20_000, 60_000, 80_000, 1_000_000].map(isSlowAt), [true, true, true, false, false]);
  const pace = new UploadPace(0);
  pace.restart(0, 1900);
  t.notOk(pace.isSlow(10, 2100));
  t.ok(pace.isSlow(10, 3900));
  t.notOk(pace.isSlow(200_000, 3950), 'it has become fast');
});

t.test('uploads are looked at until they are taken off', async (t) => {
  const uploads = new SlowUploads();
  const looks: number[] = [];
  await new Promise<void>((resolve) => {
    const upload = {
      check: (now: number): void => {
        looks.push(now);
        if (looks.length < 3) return;
        entry.remove();
        resolve();
      },
    };
    const entry = uploads.add(upload);
  });
  // An interval that was left would keep the process, and the test would not end.
  t.strictSame(
    looks,
    [...looks].sort((a, b) => a - b),
  );
  t.ok(looks[2]! - looks[0]! > 300, 'a few times a second');
});
