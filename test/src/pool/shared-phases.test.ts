// Runs with several phases: each phase has new shares, threads are lent in each, and memory is paid between them.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import type { TaskEnd } from '../../../src/pool/pool-thread.ts';
import { SharedRun, type SharedTask, type SharingPool } from '../../../src/pool/shared-run.ts';
import { emptyKeys } from '../../../workers/batch/ordered-parts.ts';
import { KEYS_WORDS_AT, NEXT_PAGE, PAID_PAGES } from '../../../workers/protocol/frame.ts';
import { exchangeFolder, type RunTask, STREAMS, type TaskOutcome } from '../../../workers/protocol/messages.ts';
import { partly } from '../../partly.ts';

const PARTS = [0, 1, 2, 3, 4, 5, 6, 7];

interface Started {
  readonly task: RunTask;
  readonly end: (end: TaskEnd) => void;
  readonly opened: Parameters<SharingPool['start']>[2];
}

function played(ended: (end: TaskEnd) => void, more: Partial<SharingPool> = {}, folder = '/nowhere') {
  const started: Started[] = [];
  let number = 1;
  const start: SharingPool['start'] = (task, end, opened) => {
    started.push({ task, end, opened });
    const nothing = (): void => undefined;
    const thread = opened === null ? 1 : 0;
    return {
      task: task.task,
      thread: () => thread,
      rowsRead: () => 0,
      grown: nothing,
      cancel: nothing,
      suspend: nothing,
    };
  };
  const lend = (task: RunTask, end: (end: TaskEnd) => void): SharedTask => start(task, end, null);
  const keys = { takeKeys: () => null, holdKeys: () => true, giveKeys: () => undefined };
  const pool = partly<SharingPool>({ canLend: () => true, nextTask: () => number++, start, lend, ...keys, ...more });
  const task = partly<RunTask>({
    task: 0,
    output: { path: join(folder, 'output'), memoryBytesMax: 0 },
    spillDirectory: join(folder, 'spill'),
  });
  const sharing = { sizes: { fileBytesMin: 0, partBytes: 70_000 }, threadsMax: 2 };
  return { run: new SharedRun(pool, task, sharing, ended), started };
}

/** The end of a share that has processed these parts, and has written a file of streams if it has a name. */
function doneWith(parts: readonly number[], streams?: string, more: object = {}): TaskEnd {
  const counts = { rows_read: 0, rows_written: 0, operations: [] };
  const report = { ...counts, input: { errors: {} }, output: { formulas_guarded: 0 } };
  const result = { parts: parts.map((number) => ({ number, rows: 0 })), rowsWritten: 0, sizeBytes: 0, report };
  const results = [{ ...result, ...(streams === undefined ? {} : { streams: [streams] }), ...more }];
  const counted = { failure: null, busyMilliseconds: 0 };
  return {
    kind: 'done',
    outcome: partly<TaskOutcome>({ ...counted, output: partly({}), results: results as never }),
  };
}

test('threads are lent in each phase of a Run whose rows are processed by key', async (t) => {
  const ends: TaskEnd[] = [];
  const { run, started } = played((end) => ends.push(end));
  run.grown(8 * 70_000, true);
  const streams = Array.from({ length: STREAMS }, (_, stream) => stream);
  const phases: unknown[] = [];
  for (const [phase, parts, names] of [
    ['scatter', PARTS, ['a', 'b']],
    ['compute', streams, ['c', 'd']],
    ['match', PARTS, [undefined, undefined]],
  ] as const) {
    const isNew = ({ task }: Started): boolean => task.parts?.keyPhase.phase === phase;
    while (!started.some(isNew)) await new Promise((resolve) => setImmediate(resolve));
    started.find(isNew)!.opened!(partly({ head: {}, keys: null }) as never);
    const [first, lent, ...others] = started.filter(isNew) as [Started, Started, ...Started[]];
    t.equal(others.length, 0);
    t.strictSame([first.task.parts!.isFirst, lent.task.parts!.isFirst], [true, false], phase);
    const { rows, cells } = lent.task.parts!.keyPhase;
    phases.push({ rows, cells });
    first.end(doneWith(parts.slice(0, 1), names[0]));
    lent.end(doneWith(parts.slice(1), names[1]));
  }
  t.strictSame(phases, [
    { rows: [], cells: [] },
    { rows: ['a', 'b'], cells: [] },
    { rows: ['a', 'b'], cells: ['c', 'd'] },
  ]);
  t.match(ends, [{ kind: 'done', outcome: { failure: null, threads: 2 } }]);
});

test('a lent thread that is lost in a later phase does not cancel the Run', async (t) => {
  const ends: TaskEnd[] = [];
  const { run, started } = played((end) => ends.push(end));
  run.grown(8 * 70_000, true);
  started[0]!.opened!(partly({ head: {}, keys: null }) as never);
  started[0]!.end(doneWith(PARTS.slice(0, 1), 'a'));
  started[1]!.end(doneWith(PARTS.slice(1), 'b'));
  while (started.length < 3) await new Promise((resolve) => setImmediate(resolve));
  started[2]!.opened!(partly({ head: {}, keys: null }) as never);
  started[3]!.end({ kind: 'interrupted' });
  // The Run has asked its first share to end.
  started[2]!.end({ kind: 'cancelled' });
  while (started.length < 5 && ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(ends, []);
  t.equal(started[4]?.task.parts, undefined, 'the file is read as a whole');
  started[4]?.end(doneWith([]));
  t.match(ends, [{ kind: 'done' }]);
});

test('between the phases of a sort, the main thread pays for the rows', async (t) => {
  for (const isFree of [true, false]) {
    const keys = emptyKeys(null);
    const words = new Int32Array(keys.memory.buffer, KEYS_WORDS_AT, 2);
    words[NEXT_PAGE]! += 100;
    const unpaid = words[NEXT_PAGE]! - words[PAID_PAGES]!;
    const held: number[] = [];
    const ends: TaskEnd[] = [];
    const holdKeys = (units: number): boolean => {
      if (isFree) held.push(units);
      return isFree;
    };
    const given: unknown[] = [];
    const giveKeys = (one: unknown): void => void given.push(one);
    const { run, started } = played((end) => ends.push(end), { holdKeys, giveKeys });
    run.grown(8 * 70_000, true);
    started[0]!.opened!(partly({ head: {}, keys }) as never);
    const sorted = { names: ['rows', 'index'], segments: 1, sizeBytes: 1 };
    started[0]!.end(doneWith(PARTS.slice(0, 1), undefined, { sorted }));
    started[1]!.end(doneWith(PARTS.slice(1), undefined, { sorted }));
    t.strictSame(held, isFree ? [unpaid * 64] : []);
    t.equal(words[NEXT_PAGE]! - words[PAID_PAGES]!, isFree ? 0 : unpaid);
    while (started.length < 3) await new Promise((resolve) => setImmediate(resolve));
    t.equal(started[2]!.task.ranges === undefined, !isFree, 'the file is read as a whole if there is no memory');
    started[2]!.opened?.(partly({ head: {}, keys: { ...keys } }) as never);
    for (const { end } of started.slice(2)) end({ kind: 'interrupted' });
    t.match(ends, [{ kind: 'interrupted' }]);
    t.strictSame(held, isFree ? [unpaid * 64, -unpaid * 64] : []);
    t.strictSame([given.length, given[0] === keys], [1, true], 'the first reference is dropped');
  }
});

test('a thread that is lost before others take part leaves no files behind', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shared-phases-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const exchange = exchangeFolder({ spillDirectory: join(folder, 'spill') });
  mkdirSync(exchange);
  const end = await new Promise<TaskEnd>((resolve) => {
    const { started } = played(resolve, {}, folder);
    setImmediate(() => started[0]!.end({ kind: 'interrupted' }));
  });
  t.equal(end.kind, 'interrupted');
  t.notOk(existsSync(exchange));
});
