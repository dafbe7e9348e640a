// The ranks of threads for a new Run, without real threads: small Runs share a thread until it has enough to do. The pool gives a
// Run to the thread with the lowest rank.
import t, { type Test } from 'tap';
import { PoolThread, type ThreadTask } from '../../../src/pool/pool-thread.ts';
import type { RunTask, ThreadStart } from '../../../workers/protocol/messages.ts';
import { taskOf } from '../../fixtures/pool-rig.ts';

/** Without a real thread, nothing reads the shared memory that a thread receives. */
const START = { thread: 0 } as Omit<ThreadStart, 'port' | 'control' | 'cancel' | 'claims'>;

let taskCount = 0;

function thread(t: Test): PoolThread {
  const made = new PoolThread(START, () => undefined);
  t.teardown(() => made.lose());
  return made;
}

function newTask(source: RunTask['source']): RunTask {
  taskCount += 1;
  return taskOf(taskCount, '/nowhere', source);
}

const bytes = (length: number): RunTask => newTask({ kind: 'bytes', bytes: new Uint8Array(length) });
const file = (): RunTask => newTask({ kind: 'file', path: '/nowhere/file' });

/** Offers the task at the time `now`. */
function offer(to: PoolThread, task: RunTask, now: number): void {
  const held: ThreadTask = {
    task,
    ended: () => undefined,
    begun: () => undefined,
    opened: null,
    isLent: false,
    isGiven: false,
    bytesAgain: null,
    thread: null,
    placedAt: 0,
    isBegun: false,
    rowsRead: 0,
    grown: null,
    cancelledAt: null,
  };
  if (!to.run(held, now)) throw new Error('the thread has no space for the offer');
}

t.test('small Runs share one thread until it has 512 KiB of work', async (t) => {
  const [busy, idle] = [thread(t), thread(t)];
  const now = performance.now();
  // A Run of 1 KiB counts as 5 KiB.
  for (let run = 0; run < 102; run += 1) {
    t.ok(run === 0 || busy.rank(bytes(1024), now) < idle.rank(bytes(1024), now), `Run ${run}`);
    offer(busy, bytes(1024), now);
  }
  t.ok(busy.rank(bytes(1024), now) > idle.rank(bytes(1024), now), 'the next Run goes to the idle thread');
});

t.test('a Run of more than 16 KiB goes to the thread with less work', async (t) => {
  const [busy, idle] = [thread(t), thread(t)];
  const now = performance.now();
  offer(busy, bytes(1024), now);
  t.ok(busy.rank(bytes(16 * 1024), now) < idle.rank(bytes(16 * 1024), now));
  t.ok(busy.rank(bytes(16 * 1024 + 1), now) > idle.rank(bytes(16 * 1024 + 1), now));
});

t.test('no small Run joins a file', async (t) => {
  const [busy, idle] = [thread(t), thread(t)];
  const now = performance.now();
  offer(busy, file(), now);
  t.ok(busy.rank(bytes(0), now) > idle.rank(bytes(0), now));
});

t.test('no small Run joins a thread that has ended nothing for more than 10 ms', async (t) => {
  const [busy, idle] = [thread(t), thread(t)];
  const now = performance.now();
  offer(busy, bytes(1024), now);
  t.ok(busy.rank(bytes(1024), now + 10) < idle.rank(bytes(1024), now + 10));
  t.ok(busy.rank(bytes(1024), now + 10.5) > idle.rank(bytes(1024), now + 10.5));
});
