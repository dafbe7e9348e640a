// The pool with unresponsive threads: Runs that they have not begun run elsewhere, once; threads that do not end are
// counted and replaced within bounds.
// With all tests only: faults that only time limits detect.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { STUCK_THREADS_MAX } from '../../../src/pool/thread-registry.ts';
import { outputOf, type Rig, rig, text } from '../../fixtures/pool-rig.ts';
import { NATIVE_BYTES } from '../../fixtures/stub-worker.ts';

t.setTimeout(1_200_000);

/** A Run that is held up longer than any test lasts. */
const HELD_MILLISECONDS_MAX = 2_400_000;

/** Longer than what is copied on its way to a thread: it is given away. */
const LONG = 100_000;

async function until(holds: () => boolean): Promise<boolean> {
  const deadline = performance.now() + 600_000;
  while (!holds() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  return holds();
}

async function ready({ pool }: Rig, threads: number): Promise<void> {
  if (!(await until(() => pool.liveThreads === threads))) throw new Error('the threads did not start');
}

/** Numbers of the tasks that "mark" has noted, as often as they were begun. */
function marks(path: string): number[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Starts a Run that holds up its thread until `release` is called, and resolves when it does. */
async function holdUp({ folder, start }: Rig, how: 'spin' | 'block', accountRow?: number) {
  const path = join(folder, `${how}-${accountRow ?? 0}`);
  writeFileSync(path, '');
  const run = start(text(`${how} ${HELD_MILLISECONDS_MAX} ${path}`), accountRow);
  if (!(await until(() => marks(path).length > 0))) throw new Error('the Run did not begin');
  return { ...run, release: () => rmSync(path) };
}

t.test('what a silent thread has not begun runs on another one, and once', async (t) => {
  const all = rig(t, 2);
  const { pool, folder, start } = all;
  await ready(all, 2);
  const path = join(folder, 'marks');
  writeFileSync(path, '');
  for (const how of ['spin', 'block'] as const) {
    writeFileSync(path, '');
    // All to one thread: they are offered before it is known to be silent.
    const held = await holdUp(all, how);
    let isOver = false;
    void held.end.then(() => {
      isOver = true;
    });
    const upload = join(folder, `upload-${how}`);
    writeFileSync(upload, `mark ${path}`);
    const file = start({ kind: 'file', path: upload });
    file.run.grown(5 + path.length, true);
    const others = [
      ...Array.from({ length: 20 }, () => start(text(`mark ${path}`))),
      ...Array.from({ length: 6 }, () => start(text(`mark ${path}\n`.padEnd(LONG, 'x')))),
      file,
    ];
    const ends = await Promise.all(others.map(({ end }) => end));
    t.notOk(isOver, `they did not wait for the thread (${how})`);
    held.release();
    t.equal(new Set(ends.map(outputOf)).size, 1, 'the other thread has run all of them');
    t.equal((await held.end).kind, 'done');
    // The thread has found them in its messages by then.
    t.equal((await start(text('afterwards')).end).kind, 'done');
    await until(() => pool.runs === 0);
    const begun = others.map(({ run }) => run.task).sort((a, b) => a - b);
    t.strictSame(marks(path), begun, 'each was begun once');
  }
});

t.test('where all threads are silent one more stands in', async (t) => {
  const all = rig(t, 1, { hasSpare: true });
  const { pool, start } = all;
  await ready(all, 1);
  const held = await holdUp(all, 'spin');
  const other = start(text('where'));
  const begun = performance.now();
  const where = await Promise.all([other.end, start(text('where'.padEnd(LONG))).end]);
  t.ok(pool.runs > 0, 'the spinning Run still spins');
  t.not(outputOf(where[0]), '0', 'another thread has run it');
  t.comment(`it took ${performance.now() - begun} ms`);
  const more = await Promise.all(Array.from({ length: 50 }, () => start(text('where')).end));
  t.equal(new Set(more.map(outputOf)).size, 1);
  t.equal(pool.size, 2, 'there is only one of them');
  held.release();
  t.equal((await held.end).kind, 'done');
  await until(() => pool.runs === 0);
  t.equal(outputOf(await start(text('where')).end), '0', 'it is not used while others answer');
});

t.test('an account that blocks threads does not get the last one that answers', async (t) => {
  const all = rig(t, 2, { hasSpare: true });
  const { pool, start } = all;
  await ready(all, 2);
  const [blocker, neighbour] = [1, 2];
  const spinning = await holdUp(all, 'spin', blocker);
  t.ok(await until(() => pool.silentThreads === 1), 'the first thread is known to be silent');
  const waiting = Array.from({ length: 3 }, () => start(text('where'), blocker));
  let isWaitOver = false;
  void Promise.race(waiting.map(({ end }) => end)).then(() => {
    isWaitOver = true;
  });
  for (let round = 0; round < 20; round += 1) {
    t.equal((await start(text('where'), neighbour).end).kind, 'done', 'the neighbour gets a thread');
  }
  t.notOk(isWaitOver, 'the Runs of the account wait');
  const second = await holdUp(all, 'spin', neighbour);
  t.ok(await until(() => pool.silentThreads === 2), 'both threads are blocked');
  t.equal((await start(text('where'), 3).end).kind, 'done', 'a third account gets the spare thread');
  t.notOk(isWaitOver, 'which is not for the accounts that block');
  spinning.release();
  second.release();
  const ends = await Promise.all(waiting.map(({ end }) => end));
  t.ok(
    ends.every(({ kind }) => kind === 'done'),
    'the waiting Runs get a thread once one is free',
  );
});

t.test('a Run in the queue of a silent thread can be cancelled at once', async (t) => {
  const all = rig(t, 1);
  await ready(all, 1);
  const held = await holdUp(all, 'spin');
  const waiting = all.start(text('sleep 60000'));
  waiting.run.cancel();
  t.equal((await waiting.end).kind, 'cancelled');
  t.ok(all.pool.runs > 0, 'the thread still spins');
  held.release();
  await held.end;
  t.equal((await all.start(text('afterwards')).end).kind, 'done');
});

t.test('whatever threads do, each Run is begun once and ends once', async (t) => {
  const all = rig(t, 2, { hasSpare: true });
  const { folder, start } = all;
  await ready(all, 2);
  const path = join(folder, 'marks');
  writeFileSync(path, '');
  const begun: number[] = [];
  const ends: Promise<unknown>[] = [];
  for (let round = 0; round < 60; round += 1) {
    const random = (round * 7919) % 13;
    if (random < 3) ends.push(start(text(`${random === 0 ? 'block' : 'spin'} ${90 + random * 40}`)).end);
    for (let count = 0; count < random; count += 1) {
      const line = `mark ${path}\n`;
      const { run, end } = start(text(count % 4 === 3 ? line.padEnd(LONG, 'x') : line));
      begun.push(run.task);
      ends.push(end.then((how) => t.match(outputOf(how), /^\d$/)));
    }
    await new Promise((resolve) => setTimeout(resolve, random * 7));
  }
  await Promise.all(ends);
  await until(() => all.pool.runs === 0);
  t.equal(begun.length > 250, true);
  t.strictSame(marks(path), begun);
});

t.test('a thread that is lost gives what it has not begun to the one that takes its place', async (t) => {
  const all = rig(t, 1, { silenceMillisecondsMax: 600 });
  await ready(all, 1);
  const held = await holdUp(all, 'spin');
  const waiting = all.start(text('where'.padEnd(LONG)));
  t.equal((await held.end).kind, 'interrupted', 'nobody had cancelled it');
  t.match(outputOf(await waiting.end), /^\d$/);
  t.strictSame(all.lost, [0]);
});

t.test('threads that do not end are counted, and replaced within bounds', async (t: Test) => {
  const threads = STUCK_THREADS_MAX + 1;
  const all = rig(t, threads);
  const { pool, budget, start } = all;
  await ready(all, threads);
  pool.hurry();
  t.equal(pool.unreadyReason, null);
  const natives = Array.from({ length: threads }, () => start(text('native 75000'.padEnd(LONG))));
  t.ok(await until(() => budget.borrowedBytes() === threads * NATIVE_BYTES), 'they are in native code');
  for (const { run } of natives) run.cancel();
  const ends = await Promise.all(natives.map(({ end }) => end));
  t.ok(ends.every(({ kind }) => kind === 'interrupted'));
  t.ok(await until(() => pool.stuckThreads === threads), 'they were to end and did not');
  t.equal(pool.size, threads + STUCK_THREADS_MAX, 'so many were started in their place, and not one more');
  t.equal(pool.unreadyReason, 'too many lost workers do not end');
  t.equal(budget.borrowedBytes(), threads * NATIVE_BYTES, 'what they hold is counted');
  t.equal((await start(text('where')).end).kind, 'done', 'those that replace them work');
  t.ok(await until(() => pool.stuckThreads === 0 && pool.liveThreads === threads), 'they come to their end');
  t.equal(budget.borrowedBytes(), 0);
  t.equal(pool.size, threads);
  t.equal(pool.unreadyReason, null);
});
