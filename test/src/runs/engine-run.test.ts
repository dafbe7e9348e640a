// The engine's work on one slow upload, with a simulated thread pool: when the Run is suspended, what it releases, and
// when it restarts.
import t from 'tap';
import { MEMORY_BUDGET_BYTES_MIN, MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { RunMemories, type RunMemory } from '../../../src/admission/run-memory.ts';
import type { TaskEnd } from '../../../src/pool/pool-thread.ts';
import {
  type EngineEnd,
  type EngineParts,
  EngineRun,
  SlowUploads,
  type TaskFrame,
} from '../../../src/runs/engine-run.ts';
import { TimeTexts } from '../../../src/telemetry/time-texts.ts';
import { checkParameters } from '../../../src/uploads/parameters.ts';
import type { Upload } from '../../../src/uploads/upload.ts';
import { RUN_RESERVATION_BYTES } from '../../../workers/memory/budget.ts';
import type { RunTask, TaskOutcome } from '../../../workers/protocol/messages.ts';
import { partly } from '../../partly.ts';

const MIB = 1024 * 1024;
const ASIDE_BYTES = MIB / 4;
const BYTES = 3 * RUN_RESERVATION_BYTES;
const DONE: TaskEnd = { kind: 'done', outcome: partly<TaskOutcome>({ output: null, failure: null }) };
const CANCELLED: TaskEnd = { kind: 'cancelled' };

interface PlayedTask {
  readonly task: RunTask;
  /** True if idle threads may take part. */
  readonly isShared: boolean;
  readonly end: (end: TaskEnd) => Promise<void>;
  /** Calls of the pool, in order. */
  readonly told: string[];
}

/** The Run of account "slow" beside others that leave hardly any memory free. */
function rig(fileMib = 1, expectedMib = 0) {
  const budget = new MemoryBudget(MEMORY_BUDGET_BYTES_MIN, 1, 'service');
  const memories = new RunMemories(budget, ASIDE_BYTES);
  const tasks: PlayedTask[] = [];
  const sent = { delimiter: undefined as string | undefined, header_row: undefined };
  const spool = { inMemory: fileMib === 0, path: 'spooled', sizeBytes: fileMib * MIB, writtenBytes: 0 };
  const upload = {
    spool: { ...spool, bytes: () => new Uint8Array(3) },
    sizeBytes: fileMib * MIB,
    expectedBytes: expectedMib * MIB,
    isHeldBack: false,
    ending: 'csv',
    parameters: () => checkParameters(sent, null),
  };
  const pool = {
    nextTask: () => tasks.length,
    run: (task: RunTask, ended: (end: TaskEnd) => void, settings?: { readonly sharing?: unknown }) => {
      const told: string[] = [];
      const end = async (how: TaskEnd): Promise<void> => {
        ended(how);
        await new Promise((resolve) => setImmediate(resolve));
      };
      tasks.push({ task, isShared: (settings?.sharing ?? null) !== null, end, told });
      return {
        task: task.task,
        rowsRead: () => 0,
        grown: (bytes: number, isEnded: boolean) => void told.push(`${bytes / MIB}${isEnded ? ' whole' : ''}`),
        cancel: () => void told.push('cancel'),
        suspend: () => void told.push('suspend'),
      };
    },
  };
  const node = partly<EngineParts>({
    pool: partly<EngineParts['pool']>(pool),
    memories,
    sharing: { sizes: { fileBytesMin: 32 * MIB, partBytes: MIB }, threadsMax: 2 },
    slowUploads: new SlowUploads(),
    times: new TimeTexts(),
    taskOutputs: partly<EngineParts['taskOutputs']>({
      targetOf: () => ({ path: 'out', memoryBytesMax: 0 }),
      discard: async () => {},
    }),
    paths: partly<EngineParts['paths']>({ spillFor: () => 'spill' }),
  });
  const memory = memories.admit('slow', BYTES)!;
  const others = ['b', 'c', 'd'].map((account) => memories.admit(account, BYTES)!);
  const frame = partly<TaskFrame>({ reservationBytes: BYTES });
  // The same object, since the test lets it grow.
  const spooled = Object.assign(upload, { spool: partly<NonNullable<Upload['spool']>>(upload.spool) });
  const engine = new EngineRun(node, partly<Upload>(spooled), frame, memory, 'request');
  const ends: EngineEnd[] = [];
  engine.onEnd((end) => void ends.push(end));
  let now = performance.now();
  // The upload has been fast until now.
  engine.check(now);
  /** Calls `check` after this number of seconds, in which the upload has grown by this number of MiB. */
  const pass = (seconds: number, grownMib = 0): void => {
    now += seconds * 1000;
    upload.sizeBytes += grownMib * MIB;
    upload.spool.sizeBytes = upload.sizeBytes;
    engine.check(now);
    if (grownMib > 0 && !upload.spool.inMemory) engine.grown(upload.sizeBytes);
  };
  const complete = (): void => engine.complete(upload.parameters());
  return { budget, memories, memory, others, engine, tasks, ends, sent, upload, pass, complete };
}

function free(runs: readonly RunMemory[]): void {
  for (const run of runs) run.release();
}

t.test(
  'a Run that waits for a slow upload gives its memory back, and works again when the upload is whole',
  async (t) => {
    const { budget, memory, engine, tasks, ends, others, pass, complete } = rig();
    engine.grown(MIB);
    pass(1);
    t.strictSame(tasks[0]?.told, ['1'], 'nothing happens to one that has just begun');
    pass(2);
    t.strictSame(tasks[0]?.told, ['1', 'suspend']);
    t.ok(memory.isHeld, 'its memory is held until its task has let go of it');
    await tasks[0]?.end(CANCELLED);
    t.equal(budget.usedBytes('reservations'), 3 * BYTES + ASIDE_BYTES);
    engine.grown(1.5 * MIB);
    pass(60);
    t.equal(tasks.length, 1, 'it is not begun again while the upload is slow');
    const late = others[0]!;
    late.release();
    t.equal(engine.closed(), undefined, 'nothing is at work');
    complete();
    t.strictSame(tasks[1]?.told, ['1 whole']);
    t.equal(tasks[1]?.task.accountRow, memory.accountRow);
    t.strictSame(ends, []);
    await tasks[1]?.end(DONE);
    t.equal(ends[0]?.end, DONE);
    memory.release();
    free(others);
    t.equal(budget.usedBytes('reservations'), 0);
  },
);

t.test('it waits for its turn where there is no room, and may be cancelled meanwhile', async (t) => {
  for (const isCancelled of [false, true]) {
    const { memories, memory, engine, tasks, others, pass, complete } = rig();
    engine.grown(MIB);
    pass(3);
    await tasks[0]?.end(CANCELLED);
    const late = memories.admit('e', BYTES)!;
    complete();
    t.equal(tasks.length, 1, 'no room');
    if (isCancelled) engine.cancel();
    free([late, ...others]);
    t.equal(tasks.length, isCancelled ? 1 : 2);
    if (isCancelled) t.equal(engine.closed(), undefined);
    memory.release();
  }
});

t.test('where memory is plenty, or the upload waits for us, nothing is set aside', async (t) => {
  const plenty = rig();
  free(plenty.others);
  const held = rig();
  held.upload.isHeldBack = true;
  for (const { engine, tasks, pass } of [plenty, held]) {
    engine.grown(MIB);
    for (let look = 0; look < 10; look += 1) pass(1);
    t.strictSame(tasks[0]?.told, ['1']);
    engine.cancel();
  }
});

t.test('a task that ends before it sees that it was set aside has done its work', async (t) => {
  const { engine, tasks, ends, pass, complete } = rig();
  engine.grown(MIB);
  pass(3);
  complete();
  t.strictSame(tasks[0]?.told, ['1', 'suspend', '1 whole']);
  await tasks[0]?.end(DONE);
  t.equal(ends[0]?.end, DONE);
  t.equal(tasks.length, 1);
});

t.test('an upload that is whole before its task has left takes over what that held', async (t) => {
  const { memory, engine, tasks, ends, pass, complete } = rig();
  engine.grown(MIB);
  pass(3);
  complete();
  await tasks[0]?.end(CANCELLED);
  t.ok(memory.isHeld);
  t.strictSame(tasks[1]?.told, ['1 whole']);
  await tasks[1]?.end(DONE);
  t.equal(ends.length, 1);
});

t.test('what a task has found already is not looked for again', async (t) => {
  const { memory, engine, tasks, ends, pass, complete } = rig();
  engine.grown(MIB);
  await tasks[0]?.end(DONE);
  pass(3);
  t.notOk(memory.isHeld, 'its memory is given back all the same');
  t.strictSame(tasks[0]?.told, ['1']);
  complete();
  t.equal(ends[0]?.end, DONE);
  t.equal(tasks.length, 1);
});

t.test('an upload that has become fast and twice as long is worked on before it is whole', async (t) => {
  const { others, engine, tasks, pass } = rig(4);
  engine.grown(4 * MIB);
  pass(3);
  await tasks[0]?.end(CANCELLED);
  free(others);
  pass(1, 3);
  t.equal(tasks.length, 1, 'fast, but not twice as long');
  pass(0.5, 1.5);
  t.equal(tasks.length, 2);
  t.strictSame(tasks[1]?.told, ['7', '8.5']);
  engine.cancel();
});

t.test('a parameter that comes while it is aside counts for what begins later', async (t) => {
  const { others, engine, tasks, sent, pass, complete } = rig();
  engine.grown(MIB);
  pass(3);
  await tasks[0]?.end(CANCELLED);
  sent.delimiter = ';';
  engine.parametersChanged();
  t.equal(tasks.length, 1);
  free(others);
  complete();
  t.strictSame(
    [tasks[0], tasks[1]].map((played) => played?.task.overrides.delimiter),
    [null, ';'],
  );
});

t.test('a short upload that is slow holds little more than its bytes until it is whole', async (t) => {
  const { budget, memory, tasks, pass, complete, others } = rig(0);
  pass(3);
  t.equal(budget.usedBytes('reservations'), 3 * BYTES + ASIDE_BYTES);
  pass(3);
  t.equal(tasks.length, 0);
  complete();
  t.ok(memory.isHeld);
  t.equal(tasks[0]?.task.source.kind, 'bytes');
  await tasks[0]?.end(DONE);
  free([memory, ...others]);
});

t.test('idle threads may take part if an upload is large, or may become large', async (t) => {
  for (const [arrivedMib, expectedMib, isShared] of [
    [1, 31, false],
    [1, 32, true],
    [1, 0, true],
  ] as const) {
    const { engine, tasks } = rig(arrivedMib, expectedMib);
    engine.grown(arrivedMib * MIB);
    t.equal(tasks[0]?.isShared, isShared, `${expectedMib} MiB are expected`);
    engine.cancel();
  }
  for (const [sizeMib, isShared] of [
    [31, false],
    [32, true],
  ] as const) {
    const { engine, tasks, complete } = rig(sizeMib, 0);
    complete();
    t.equal(tasks[0]?.isShared, isShared, `${sizeMib} MiB have arrived`);
    engine.cancel();
  }
});
