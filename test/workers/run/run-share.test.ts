// The share of one thread in a Run: its memory is paid from the budget, and waiting outputs are bounded by it.
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { inputFormats } from '../../../workers/input/index.ts';
import { FileSource } from '../../../workers/input/source/file-source.ts';
import { compileKernels } from '../../../workers/kernel/bindings/kernel.ts';
import { type BudgetShare, RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { NO_COLLECTOR } from '../../../workers/memory/collector.ts';
import { KernelPool } from '../../../workers/memory/kernel-pool.ts';
import { type PreparedTemplate, TemplateCache } from '../../../workers/plan/template-cache.ts';
import type { RunOutcome, RunTask } from '../../../workers/protocol/messages.ts';
import { PartTurns, TURNS_BYTES } from '../../../workers/protocol/part-turns.ts';
import { processShare, type ShareJob, SpareMemory } from '../../../workers/run/run-share.ts';
import { headForParts, seemsSplittable } from '../../../workers/run/split.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';

const MIB = 1024 * 1024;

/** A budget that refuses more than a number of bytes. */
class SmallBudget implements BudgetShare {
  takenBytes = 0;
  peakBytes = 0;
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  take(bytes: number): boolean {
    if (this.takenBytes + bytes > this.#bytesMax) return false;
    this.force(bytes);
    return true;
  }

  force(bytes: number): void {
    this.takenBytes += bytes;
    this.peakBytes = Math.max(this.peakBytes, this.takenBytes);
  }

  release(bytes: number): void {
    this.takenBytes -= bytes;
  }
}

interface Shared {
  readonly task: RunTask;
  readonly prepared: PreparedTemplate;
  readonly sizeBytes: number;
  readonly turns: PartTurns;
  readonly output: string;
  /** The share of a thread that is lent, or the first share. */
  share(budget: BudgetShare, parts?: Partial<ShareJob>): Promise<RunOutcome | null>;
}

const NO_LIMITS = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

async function shared(t: Test, text: string, columns: Record<string, string>, partBytes: number): Promise<Shared> {
  return sharedRun(t, text, [{ op: 'set', columns }], partBytes);
}

async function sharedRun(t: Test, text: string, operations: readonly object[], partBytes: number): Promise<Shared> {
  const folder = mkdtempSync(join(tmpdir(), 'run-share-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'rows.csv');
  const output = join(folder, 'out');
  writeFileSync(path, text);
  writeFileSync(output, '');
  const source = JSON.stringify({ format: 1, operations });
  const template = { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') } as const;
  const prepared = new TemplateCache().get(template);
  const task: RunTask = {
    task: 1,
    template,
    source: { kind: 'file', path },
    ending: 'csv',
    overrides: { delimiter: null, headerRow: null },
    limits: NO_LIMITS,
    output: { path: output, memoryBytesMax: 0 },
    spillDirectory: join(folder, 'spill'),
    tables: {},
    secretsDirectory: null,
    startedAt: '2026-01-31T12:00:00Z',
    reservationBytes: RUN_RESERVATION_BYTES,
  };
  const sizeBytes = statSync(path).size;
  const turns = new PartTurns(new SharedArrayBuffer(TURNS_BYTES), partBytes);
  turns.grown(sizeBytes, true);
  const job = {
    task,
    prepared,
    kernels: new KernelPool(compileKernels(), unlimitedShare(), NO_COLLECTOR),
    budget: unlimitedShare(),
    largeRow: new Int32Array(new SharedArrayBuffer(4)),
    largeRowOwner: 1,
    formats: inputFormats,
    turns,
    progress: null,
    spareMemory: new SpareMemory(),
    cancelled: () => false,
    beat: () => undefined,
  };
  const file = new FileSource(path);
  file.grown(sizeBytes, true);
  t.teardown(() => file.close());
  const { head, keys } = (await runCoroutine(headForParts({ ...job, source: file })))!;
  const share: Shared['share'] = async (budget, parts = {}) => {
    const keyPhase = { phase: 'scatter', seed: 1, rows: [], cells: [] } as const;
    return runCoroutine(
      processShare({ ...job, head, keys, keyPhase, first: null, isNeeded: () => false, budget, ...parts }),
    );
  };
  return { task, prepared, sizeBytes, turns, output, share };
}

const ROWS = `${'x'.repeat(90)}\n`.repeat(40_000);

test('a share pays for its Run and for its outputs, and releases all of it', async (t) => {
  const { turns, output, share } = await shared(t, `a\n${ROWS}`, { b: 'a' }, 50_000);
  const budget = new SmallBudget(8 * MIB);
  const { failure, results } = (await share(budget))!;
  t.equal(failure, null);
  t.equal(results!.flatMap(({ parts }) => parts).length, turns.count);
  t.equal(statSync(output).size, 'a,b\n'.length + 2 * ROWS.length);
  t.ok(budget.peakBytes > RUN_RESERVATION_BYTES, `${budget.peakBytes} bytes`);
  t.equal(budget.takenBytes, 0);
});

/** For each kind of file, the key of each row, and when other threads take part. */
const OPENINGS: Readonly<Record<string, [(row: number) => number, 'in the first part' | 'after it' | 'never']>> = {
  'few groups': [(row) => row % 100, 'in the first part'],
  'many groups': [(row) => row % 10_800, 'after it'],
  'groups of one row': [(row) => row, 'never'],
};

test('the first part decides whether other threads group rows, too', async (t) => {
  const operations = [{ op: 'aggregate', group_by: 'key', metrics: [{ fn: 'count', as: 'rows' }] }];
  for (const [name, [keyOf, opens]] of Object.entries(OPENINGS)) {
    const keys = Array.from({ length: 40_000 }, (_, row) => `key ${keyOf(row)}`);
    const { task, turns, output, share } = await sharedRun(t, `key\n${keys.join('\n')}\n`, operations, 120_000);
    rmSync(output);
    let opened = 'never';
    const first = {
      opensLate: true,
      opened: () => {
        opened = turns.rows.read === 0 ? 'in the first part' : 'after it';
      },
      arrival: () => Promise.reject(new Error('the file is complete')),
    };
    const outcome = await share(unlimitedShare(), { first });
    t.equal(opened, opens, name);
    t.equal(outcome === null, opens === 'never', name);
    const folder = readdirSync(dirname(task.spillDirectory));
    t.equal(folder.includes('out'), opens !== 'never', `${name}: ${folder.join()}`);
    t.equal(folder.length, opens === 'never' ? 1 : 3, `${name}: ${folder.join()}`);
  }
});

test('a thread uses the memory for outputs again in its next share', async (t) => {
  const spareMemory = new SpareMemory();
  const memories: Uint8Array[][] = [];
  for (const letter of ['x', 'y']) {
    const rows = ROWS.replaceAll('x', letter);
    const { output, share } = await shared(t, `a\n${rows}`, { b: 'a' }, 50_000);
    t.equal((await share(unlimitedShare(), { spareMemory }))!.failure, null);
    t.equal(readFileSync(output, 'utf8'), `a,b\n${rows.replaceAll(/.+/g, '$&,$&')}`);
    const memory = spareMemory.take();
    memories.push([...memory]);
    spareMemory.keep(memory);
  }
  const [first, second] = memories as [Uint8Array[], Uint8Array[]];
  t.ok(first.length > 0);
  for (const memory of first) t.ok(second.includes(memory));
});

test('without memory a share takes no part', async (t) => {
  const { turns, share } = await shared(t, `a\n${ROWS}`, { b: 'a' }, 50_000);
  t.match(await share(new SmallBudget(RUN_RESERVATION_BYTES)), { failure: null, results: [] });
  t.equal(turns.taken, 0);
});

test('an output that outgrows the budget ends the share', async (t) => {
  const { turns: held, sizeBytes, share } = await shared(t, `a\n${ROWS}`, { b: 'a + a + a + a + a' }, 2 * MIB);
  // Another thread has the turn to write, so that the outputs stay in memory.
  held.takePart();
  const budget = new SmallBudget(8 * MIB);
  t.match(await share(budget), { failure: { code: 'RUN_RESOURCE_LIMIT' } });
  t.equal(budget.takenBytes, 0);
  const turns = new PartTurns(new SharedArrayBuffer(TURNS_BYTES), 2 * MIB);
  turns.grown(sizeBytes, true);
  t.equal((await share(new SmallBudget(64 * MIB), { turns }))!.failure, null);
});

test('outputs wait for an earlier part only as long as there is memory for them', async (t) => {
  const { turns, output, share } = await shared(t, `a\n${ROWS}`, { b: 'a' }, 50_000);
  const first = turns.takePart() as number;
  const budget = new SmallBudget(11 * MIB);
  const ended = share(budget);
  while (turns.taken < 3) await new Promise((resolve) => setImmediate(resolve));
  // On a busy machine, a wrong fourth part may come later than this. The budget's peak shows it, too.
  await pause(100);
  // The header and the rows of the first part are another thread's work.
  t.equal(turns.taken, 3, 'the first part, and two whose outputs have memory');
  t.equal(statSync(output).size, 0);
  writeSync(openedFor(t, output), 'first\n', turns.place(first, 6));
  const { failure, results } = (await ended)!;
  t.equal(failure, null);
  t.equal(results!.flatMap(({ parts }) => parts).length, turns.count - 1);
  t.ok(budget.peakBytes <= 11 * MIB);
  t.match(readFileSync(output, 'latin1').slice(0, 10), /^first\nx+/);
});

test('waiting for bytes and for the turn to write is not work of the Run', async (t) => {
  const { sizeBytes, output, share } = await shared(t, `a\n${ROWS}`, { b: 'a' }, 50_000);
  const idleTime = async (parts: PartTurns): Promise<number> => {
    // The share has taken all parts that it can, and waits.
    for (let taken = -1; taken < parts.taken; await pause(100)) taken = parts.taken;
    const from = performance.now();
    await pause(500);
    return performance.now() - from;
  };
  const turns = new PartTurns(new SharedArrayBuffer(TURNS_BYTES), 50_000);
  turns.grown(300_000, false);
  rmSync(output);
  let waited = 0;
  const arrival = async (): Promise<void> => {
    waited += await idleTime(turns);
    turns.grown(sizeBytes, true);
  };
  let begun = performance.now();
  const alone = (await share(unlimitedShare(), {
    turns,
    first: { opensLate: false, opened: () => undefined, arrival },
  }))!;
  t.ok(waited > 0 && alone.busyMilliseconds <= performance.now() - begun - waited, 'for bytes');

  const others = new PartTurns(new SharedArrayBuffer(TURNS_BYTES), 50_000);
  others.grown(sizeBytes, true);
  const first = others.takePart() as number;
  begun = performance.now();
  const ended = share(new SmallBudget(11 * MIB), { turns: others });
  waited = await idleTime(others);
  others.place(first, 0);
  const { busyMilliseconds } = (await ended)!;
  t.ok(busyMilliseconds <= performance.now() - begun - waited, 'for its turn');
});

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

function openedFor(t: Test, path: string): number {
  const descriptor = openSync(path, 'r+');
  t.teardown(() => closeSync(descriptor));
  return descriptor;
}

test('whether a file may be split is seen before it is read', async (t) => {
  const { task, prepared, sizeBytes } = await shared(t, `a\n${ROWS}`, { b: 'a' }, 50_000);
  t.equal(seemsSplittable(task, sizeBytes, prepared, 0), true);
  t.equal(seemsSplittable(task, sizeBytes, prepared, sizeBytes + 1), false, 'too small');
  const { path } = task.source as { path: string };
  for (const start of ['{"a":1}', '[1]', '\x1f\x8b\x08\0', 'PK\x03\x04']) {
    writeFileSync(path, Buffer.from(start + ROWS, 'latin1'));
    t.equal(seemsSplittable(task, sizeBytes, prepared, 0), false, JSON.stringify(start));
  }
  writeFileSync(path, '');
  t.equal(seemsSplittable(task, sizeBytes, prepared, 0), true, 'an empty file');
  const operations = [
    { op: 'sort', by: ['a'] },
    { op: 'slice', take: 1 },
  ];
  const source = JSON.stringify({ format: 1, operations });
  const sorting = new TemplateCache().get({ source, format: 'json', sha256: '' });
  t.equal(seemsSplittable(task, sizeBytes, sorting, 0), false, 'an operation that needs other rows');
});
