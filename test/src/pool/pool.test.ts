// The pool with real threads: assignment of Runs, a thread that dies, a thread in an endless loop, cancellation, growing files.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { youngGenerationMib } from '../../../src/pool/pool.ts';
import type { TaskEnd } from '../../../src/pool/pool-thread.ts';
import { rig, text } from '../../fixtures/pool-rig.ts';
import { skipUnlessLong } from '../../sweep.ts';

/** Milliseconds for a Run that spins until the test removes its file. */
const UNTIL_REMOVED = 1_200_000;

/** Its time is that of the test. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

t.test('threads of a node with little memory have a small young generation', async (t) => {
  const mib = 1024 * 1024;
  const sizes = [32, 384, 512, 768, 64 * 1024].map((budgetMib) => youngGenerationMib(budgetMib * mib));
  t.strictSame(sizes, [12, 12, 16, 24, 24]);
});

t.test('Runs that are started before a thread is ready wait for it, and end', async (t) => {
  const { pool, start } = rig(t, 2);
  const ends = await Promise.all(Array.from({ length: 50 }, (_, index) => start(text(`row ${index}`)).end));
  for (const [index, end] of ends.entries()) {
    t.equal(end.kind === 'done' && Buffer.from(end.outcome.output!.bytes!).toString(), `row ${index}`);
  }
  t.equal(pool.runs, 0);
});

t.test('a Run that no thread has yet ends when it is set aside; one that works on what it has goes on', async (t) => {
  const { pool, start } = rig(t, 1);
  const queued = start(text('nobody reads this'));
  queued.run.suspend();
  t.equal((await queued.end).kind, 'cancelled');
  await pool.firstReady();
  const working = start(text('sleep 100'));
  working.run.suspend();
  t.equal((await working.end).kind, 'done');
  working.run.suspend();
  t.equal(pool.runs, 0);
});

t.test('a thread that dies interrupts its Runs, and a new one takes its place', async (t) => {
  const { pool, lost, start } = rig(t, 1);
  const beside = start(text('sleep 60000')).end;
  const dying = start(text('crash')).end;
  t.equal((await dying).kind, 'interrupted');
  t.equal((await beside).kind, 'interrupted');
  t.strictSame(lost, [0]);
  t.equal((await start(text('again')).end).kind, 'done');
  t.equal(pool.liveThreads, 1);
});

t.test('a thread whose heap grows without end is lost alone', { skip: skipUnlessLong }, async (t) => {
  const { pool, lost, start } = rig(t, 1);
  t.equal((await start(text('grow')).end).kind, 'interrupted');
  t.strictSame(lost, [0]);
  t.equal((await start(text('again')).end).kind, 'done');
  t.equal(pool.liveThreads, 1);
});

t.test('a fault in a Run ends that Run alone', async (t) => {
  const { lost, start } = rig(t, 1);
  const beside = start(text('sleep 200')).end;
  const end = await start(text('fault')).end;
  t.match(end, { kind: 'fault', message: 'a fault of the stub' });
  t.equal((await beside).kind, 'done');
  t.strictSame(lost, []);
});

t.test('a cancelled Run ends; one that does not react takes its thread with it', async (t) => {
  const { folder, lost, start } = rig(t, 1);
  const kind = start(text('sleep 60000'));
  kind.run.cancel();
  t.equal((await kind.end).kind, 'cancelled');
  t.equal((await start(text('the thread has begun')).end).kind, 'done');
  const begun = join(folder, 'stubborn');
  const stubborn = start(text(`spin ${UNTIL_REMOVED} ${begun}`));
  await until(() => existsSync(begun));
  stubborn.run.cancel();
  t.equal((await stubborn.end).kind, 'interrupted');
  t.strictSame(lost, [0]);
  t.equal((await start(text('again')).end).kind, 'done');
});

t.test('a thread whose beat goes on may take longer to see that a Run was cancelled', async (t) => {
  const { folder, lost, start } = rig(t, 1);
  const neighbour = start(text('sleep 7000'));
  const begun = join(folder, 'late');
  const late = start(text(`deaf 6500 ${begun}`));
  await until(() => existsSync(begun));
  late.run.cancel();
  t.equal((await late.end).kind, 'cancelled');
  t.equal((await neighbour.end).kind, 'done');
  t.strictSame(lost, []);
});

t.test('a thread that is silent gets no new Runs', async (t) => {
  const { folder, pool, start } = rig(t, 2);
  await pool.firstReady();
  const begun = join(folder, 'spinning');
  const spinning = start(text(`spin ${UNTIL_REMOVED} ${begun}`));
  await until(() => existsSync(begun));
  const ends = await Promise.all(Array.from({ length: 6 }, () => start(text('quick')).end));
  t.ok(ends.every(({ kind }) => kind === 'done'));
  t.equal(pool.runs, 1, 'the spinning Run still spins');
  rmSync(begun);
  t.equal((await spinning.end).kind, 'done');
});

/** The threads that took Runs, each by its number. */
async function threadsOf(ends: Promise<TaskEnd>[]): Promise<string[]> {
  return (await Promise.all(ends)).map((end) =>
    end.kind === 'done' ? Buffer.from(end.outcome.output!.bytes!).toString() : end.kind,
  );
}

/**
 * Maximum number of rounds until the threads divide their Runs as described. Runs that wait too long for a thread move to another
 * one, and on a busy machine this happens in many rounds. The rule itself is tested without threads: pool-thread.test.ts.
 */
const ROUNDS_MAX = 200;

/** True as soon as a round satisfies the condition. */
async function inSomeRound(holds: () => Promise<boolean>): Promise<boolean> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (await holds()) return true;
  }
  return false;
}

t.test('small Runs share one thread until it has enough to do', async (t) => {
  const { pool, start } = rig(t, 2);
  await pool.firstReady();
  await until(() => pool.liveThreads === 2);
  const threadCountOf = async (runs: number, bytes: number): Promise<number> => {
    const ends = Array.from({ length: runs }, () => start(text('where'.padEnd(bytes, '\n'))).end);
    return new Set(await threadsOf(ends)).size;
  };
  t.ok(await inSomeRound(async () => (await threadCountOf(64, 1000)) === 1), 'the Runs of 64 clients share one thread');
  t.ok(
    await inSomeRound(async () => (await threadCountOf(400, 1000)) === 2),
    'more work than one thread ends soon is divided',
  );
  t.ok(await inSomeRound(async () => (await threadCountOf(2, 100_000)) === 2), 'larger Runs are divided');
});

t.test('a small Run joins neither a file nor a thread that has ended nothing for a while', async (t) => {
  const { pool, folder, start } = rig(t, 2);
  await pool.firstReady();
  await until(() => pool.liveThreads === 2);
  const path = join(folder, 'growing');
  writeFileSync(path, 'where');
  const isApart = await inSomeRound(async () => {
    const file = start({ kind: 'file', path });
    const besideFile = new Set(await threadsOf(Array.from({ length: 20 }, () => start(text('where')).end)));
    file.run.grown(5, true);
    const [ofFile] = await threadsOf([file.end]);
    return besideFile.size === 1 && !besideFile.has(ofFile!);
  });
  t.ok(isApart, 'the other thread took all of them');
  const begun = join(folder, 'spinning');
  const spinning = start(text(`spin ${UNTIL_REMOVED} ${begun}`));
  let hasEnded = false;
  const ended = spinning.end.then(() => {
    hasEnded = true;
  });
  await until(() => existsSync(begun));
  await Promise.all(Array.from({ length: 20 }, () => start(text('where')).end));
  t.notOk(hasEnded, 'the Runs did not wait for the spinning Run before them');
  rmSync(begun);
  await ended;
});

t.test('a file is followed while it grows', async (t) => {
  const { folder, start } = rig(t, 1);
  const path = join(folder, 'growing');
  writeFileSync(path, 'first ');
  const { run, end } = start({ kind: 'file', path });
  run.grown(6, false);
  writeFileSync(path, 'first second');
  run.grown(12, true);
  const done = await end;
  t.equal(done.kind === 'done' && Buffer.from(done.outcome.output!.bytes!).toString(), 'first second');
});

t.test('closing interrupts what runs and what waits', async (t) => {
  const { pool, start } = rig(t, 1);
  await pool.firstReady();
  const running = start(text('sleep 60000')).end;
  await pool.close();
  t.equal((await running).kind, 'interrupted');
  t.equal((await start(text('late')).end).kind, 'interrupted', 'a Run that is started later does not wait for ever');
});
