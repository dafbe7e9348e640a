// The pool on real threads: placement, a thread that dies, one that spins, cancelling, growing files.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { TaskEnd } from '../../../src/pool/pool-thread.ts';
import { rig, text } from '../../fixtures/pool-rig.ts';

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
  queued.run.setAside();
  t.equal((await queued.end).kind, 'cancelled');
  await pool.firstReady();
  const working = start(text('sleep 100'));
  working.run.setAside();
  t.equal((await working.end).kind, 'done');
  working.run.setAside();
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

t.test('a thread whose heap grows without end is lost alone', async (t) => {
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

t.test('a cancelled Run ends; one that does not react takes its thread with it', { timeout: 40_000 }, async (t) => {
  const { lost, start } = rig(t, 1);
  const kind = start(text('sleep 60000'));
  kind.run.cancel();
  t.equal((await kind.end).kind, 'cancelled');
  t.equal((await start(text('the thread has begun')).end).kind, 'done');
  const stubborn = start(text('spin 30000'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  stubborn.run.cancel();
  t.equal((await stubborn.end).kind, 'interrupted');
  t.strictSame(lost, [0]);
  t.equal((await start(text('again')).end).kind, 'done');
});

t.test(
  'a thread whose beat goes on may take longer to see that a Run was cancelled',
  { timeout: 40_000 },
  async (t) => {
    const { lost, start } = rig(t, 1);
    const neighbour = start(text('sleep 7000'));
    const late = start(text('deaf 6500'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    late.run.cancel();
    t.equal((await late.end).kind, 'cancelled');
    t.equal((await neighbour.end).kind, 'done');
    t.strictSame(lost, []);
  },
);

t.test('a thread that is silent gets no new Runs', async (t) => {
  const { pool, start } = rig(t, 2);
  await pool.firstReady();
  const spinning = start(text('spin 8000'));
  await new Promise((resolve) => setTimeout(resolve, 600));
  const ends = await Promise.all(Array.from({ length: 6 }, () => start(text('quick')).end));
  t.ok(ends.every(({ kind }) => kind === 'done'));
  t.equal(pool.runs, 1, 'the spinning Run still spins');
  t.equal((await spinning.end).kind, 'done');
});

/** The threads that took Runs, each by its number. */
async function threadsOf(ends: Promise<TaskEnd>[]): Promise<string[]> {
  return (await Promise.all(ends)).map((end) =>
    end.kind === 'done' ? Buffer.from(end.outcome.output!.bytes!).toString() : end.kind,
  );
}

t.test('small Runs share one thread until it has enough to do', async (t) => {
  const { pool, start } = rig(t, 2);
  await pool.firstReady();
  while (pool.liveThreads < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const where = (bytes: number) => start(text('where'.padEnd(bytes, '\n'))).end;
  let fewest = 2;
  // A thread that a busy machine holds up for long gives some away.
  for (let round = 0; round < 10 && fewest > 1; round += 1) {
    fewest = new Set(await threadsOf(Array.from({ length: 64 }, () => where(1000)))).size;
  }
  t.equal(fewest, 1, 'as many as 64 clients send');
  const many = await threadsOf(Array.from({ length: 400 }, () => where(1000)));
  t.equal(new Set(many).size, 2, 'more than one thread is through with soon');
  const larger = await threadsOf(Array.from({ length: 2 }, () => where(100_000)));
  t.equal(new Set(larger).size, 2, 'larger ones are divided');
});

t.test('a small Run joins neither a file nor a thread that has ended nothing for a while', async (t) => {
  const { pool, folder, start } = rig(t, 2);
  await pool.firstReady();
  while (pool.liveThreads < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const path = join(folder, 'growing');
  writeFileSync(path, 'where');
  const file = start({ kind: 'file', path });
  const besideFile = new Set(await threadsOf(Array.from({ length: 20 }, () => start(text('where')).end)));
  file.run.grown(5, true);
  const [ofFile] = await threadsOf([file.end]);
  t.equal(besideFile.size, 1);
  t.notOk(besideFile.has(ofFile!), 'the other thread took them');
  const spinning = start(text('spin 8000'));
  let hasEnded = false;
  const ended = spinning.end.then(() => {
    hasEnded = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await Promise.all(Array.from({ length: 20 }, () => start(text('where')).end));
  t.notOk(hasEnded, 'those behind it did not wait for it');
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
});
