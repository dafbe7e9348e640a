// A Run that several threads share while its file grows: output and report are those of one thread, and a Run whose
// parts fail, whose threads are lost or which ends early ends as it would with one thread.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { MEMORY_BUDGET_BYTES_MIN, MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { ThreadPool } from '../../../src/pool/pool.ts';
import type { PooledRun, TaskEnd } from '../../../src/pool/pool-thread.ts';
import { SharedRun, type SharedTask, type Sharing, type SharingPool, SpareKeys } from '../../../src/pool/shared-run.ts';
import { emptyKeys } from '../../../workers/batch/ordered-parts.ts';
import { heldUnits, RUN_RESERVATION_BYTES } from '../../../workers/memory/budget.ts';
import type { RunTask, TaskLimits, TaskOutcome } from '../../../workers/protocol/messages.ts';
import type { RunReport } from '../../../workers/protocol/report.ts';
import { partly } from '../../partly.ts';
import { type Noise, noise } from '../../random.ts';

const MIB = 1024 * 1024;
const SIZES = { fileBytesMin: 0, partBytes: 70_000 };
const NO_LIMITS: TaskLimits = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

interface Done {
  readonly end: TaskEnd;
  readonly output: string | null;
  readonly parts: number;
  readonly threads: number | undefined;
}

interface Rig {
  readonly pool: ThreadPool;
  readonly budget: MemoryBudget;
  readonly folder: string;
  taskOf(template: object, limits?: Partial<TaskLimits>): RunTask;
  /** Runs a file that grows in steps. */
  run(text: string, task: RunTask, sharing: Sharing | null, steps?: Noise | null): Promise<Done>;
}

async function rig(t: Test, threads = 2, budgetBytes = 256 * MIB): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'shared-run-'));
  const budget = new MemoryBudget(budgetBytes, threads);
  const pool = new ThreadPool({
    threads,
    budget: budget.buffer,
    onThreadExit: (thread) => budget.forgetThread(thread),
  });
  t.teardown(async () => {
    await pool.close();
    rmSync(folder, { recursive: true });
  });
  while (pool.liveThreads < threads) await new Promise((resolve) => setTimeout(resolve, 5));
  const taskOf: Rig['taskOf'] = (template, limits = {}) => {
    const task = pool.nextTask();
    const source = JSON.stringify({ format: 1, ...template });
    const sha256 = createHash('sha256').update(source).digest('hex');
    return {
      task,
      template: { source, format: 'json', sha256 },
      source: { kind: 'file', path: join(folder, `${task}.csv`) },
      ending: 'csv',
      overrides: { delimiter: null, headerRow: null },
      limits: { ...NO_LIMITS, ...limits },
      output: { path: join(folder, `${task}.out`), memoryBytesMax: 0 },
      spillDirectory: join(folder, `${task}.spill`),
      tables: {},
      secretsDirectory: null,
      startedAt: '2026-01-31T12:00:00Z',
      reservationBytes: RUN_RESERVATION_BYTES,
    };
  };
  const run: Rig['run'] = async (text, task, sharing, steps = null) => {
    const { path } = task.source as { path: string };
    const bytes = Buffer.from(text);
    let parts = 1;
    const ended = (count: number): void => {
      parts = count;
    };
    writeFileSync(path, '');
    const over = new Promise<TaskEnd>((resolve) => {
      const pooled = pool.run(task, resolve, { sharing: sharing && { ...sharing, ended } });
      void grow(path, bytes, pooled, steps);
    });
    const end = await over;
    const outcome = end.kind === 'done' ? end.outcome : null;
    const output = outcome?.output == null ? null : readFileSync(task.output.path, 'utf8');
    return { end, output, parts, threads: outcome?.threads };
  };
  return { pool, budget, folder, taskOf, run };
}

async function grow(path: string, bytes: Buffer, run: PooledRun, steps: Noise | null): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const step = steps === null ? bytes.length : 1 + steps(200_000);
    appendFileSync(path, bytes.subarray(at, at + step));
    at = Math.min(bytes.length, at + step);
    run.grown(at, at === bytes.length);
    if (steps !== null && steps(3) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

const SHARING: Sharing = { sizes: SIZES, threadsMax: 2 };

/** What a client sees of a Run. */
function seen({ end, output }: Done): object {
  if (end.kind !== 'done') return end;
  const { rowsWritten, truncated, failure, reportText, rowsRead } = end.outcome;
  return { rowsWritten, truncated, failure, reportText, rowsRead, output };
}

const ROWS = 30_000;
const OPERATIONS = [
  { op: 'set', columns: { name: 'name.upperAscii()' } },
  { op: 'parse_number', columns: ['amount'], on_error: 'flag' },
  { op: 'filter', where: 'amount == null || amount > 100' },
];

const IN_ORDER = [
  { op: 'stop_when', where: 'id == "Total"' },
  { op: 'dedupe', by: ['name'] },
  { op: 'parse_number', columns: ['amount'], on_error: 'flag' },
  { op: 'dedupe', by: ['amount'], nulls: 'distinct' },
];

function textOf(change: (row: number, line: string) => string = (_, line) => line): string {
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const amount = row % 9_973 === 9_000 ? 'x' : `${row / 8}`;
    return change(row, `${row},name ${row % 977},${amount}`);
  });
  return `id,name,amount\n${lines.join('\n')}\n`;
}

test('two threads write the bytes of one, and its report, while the file grows', async (t) => {
  const { taskOf, run } = await rig(t);
  const quoted = (row: number, line: string): string => (row % 50 === 7 ? `${row},"two\nlines",7` : line);
  const rare = (row: number, line: string): string => (row === 20_000 ? `${row},"two\nlines",7` : line);
  const ended = textOf((row, line) => (row === ROWS - 5 ? 'Total,,' : line));
  const files = {
    ...{ plain: textOf(), quoted: textOf(quoted), rare: textOf(rare), short: 'id,name,amount\n1,a,200\n' },
    ended,
  };
  for (const [name, text] of Object.entries(files)) {
    for (const [number, operations] of [OPERATIONS, [], IN_ORDER].entries()) {
      const whole = await run(text, taskOf({ operations }), null);
      for (const steps of [null, noise(number)]) {
        const divided = await run(text, taskOf({ operations }), SHARING, steps);
        t.ok(JSON.stringify(seen(divided)) === JSON.stringify(seen(whole)), `${name}, ${operations.length} operations`);
      }
    }
  }
});

test('two threads share a large file', async (t) => {
  const { taskOf, run } = await rig(t);
  const [header, ...lines] = textOf().split('\n');
  const rows = lines.join('\n');
  // One thread may finish a small file before the other one begins, so the file grows until both have had parts.
  let threads: number | undefined;
  for (let times = 4; threads !== 2 && times <= 128; times *= 2) {
    const text = `${header}\n${rows.repeat(times)}`;
    const divided = await run(text, taskOf({ operations: OPERATIONS }), SHARING);
    threads = divided.threads;
    const whole = await run(text, taskOf({ operations: OPERATIONS }), null);
    t.ok(JSON.stringify(seen(divided)) === JSON.stringify(seen(whole)), `${times} times the file`);
  }
  t.equal(threads, 2);
});

test('a Run that may not be shared is processed as a whole', async (t) => {
  const { taskOf, run } = await rig(t);
  const rejected = { operations: [{ op: 'parse_number', columns: ['amount'], on_error: 'reject' }] };
  for (const template of [
    { operations: [{ op: 'dedupe', by: ['name'], keep: 'last' }] },
    { operations: [{ op: 'aggregate', metrics: [{ fn: 'first', column: 'name' }] }] },
    { operations: [{ op: 'aggregate', metrics: [{ fn: 'max', column: 'name' }] }] },
    { operations: [{ op: 'aggregate', group_by: 'name', metrics: [{ fn: 'count' }], totals: { label: 'all' } }] },
    rejected,
  ]) {
    const whole = await run(textOf(), taskOf(template), null);
    const divided = await run(textOf(), taskOf(template), SHARING, noise(1));
    t.match(divided, { parts: 1, threads: undefined });
    t.strictSame(seen(divided), seen(whole));
  }
});

// Operations that merge the groups of the threads.

const PARSED = [
  { op: 'parse_number', columns: ['amount'], on_error: 'flag' },
  { op: 'cast', columns: { id: 'integer' } },
  { op: 'set', columns: { even: 'id % 2 == 0', tens: 'id / 10', day: '"2026-01-1" + string(id % 7)' } },
  { op: 'set', columns: { precise: 'string(id * 7 % 97) + (id % 3 == 0 ? "000000000000000000000.25" : ".50")' } },
  { op: 'parse_number', columns: 'precise' },
  { op: 'parse_date', columns: 'day' },
];
const METRICS = [
  { fn: 'count', as: 'rows' },
  { fn: 'count_values', column: 'amount' },
  { fn: 'count', as: 'rest', where: 'amount > 1000' },
  ...['sum', 'mean', 'min', 'max'].map((fn) => ({ fn, column: 'id' })),
  ...['sum', 'mean'].map((fn) => ({ fn, column: 'amount', where: 'amount > 50' })),
  ...['min', 'max'].map((fn) => ({ fn, column: 'precise' })),
  ...['min', 'max'].map((fn) => ({ fn, column: 'day', as: fn })),
  ...['any', 'all'].map((fn) => ({ fn, column: 'even', as: fn })),
];
const BY_NAME = { op: 'aggregate', group_by: 'name', metrics: METRICS };
const WIDE = [
  { op: 'set', columns: { wide: '"9000000000000000000" + string(id % 10) + ".5"' } },
  { op: 'parse_number', columns: 'wide' },
];

const GROUPED: Readonly<Record<string, object>> = {
  'few groups': { operations: [...PARSED, BY_NAME] },
  'one group': { operations: [...PARSED, { op: 'aggregate', metrics: METRICS }] },
  'sorted groups': { operations: [...PARSED, { ...BY_NAME, order: 'sorted', group_by: ['even', 'name'] }] },
  'groups of numbers': { operations: [...PARSED, { ...BY_NAME, group_by: ['amount', 'day'] }] },
  'groups of one row': { operations: [...PARSED, { ...BY_NAME, group_by: 'id' }] },
  'sums beyond 64 bits': {
    operations: [
      ...[...PARSED, ...WIDE],
      { ...BY_NAME, metrics: ['sum', 'mean'].map((fn) => ({ fn, column: 'wide' })) },
    ],
  },
  'operations on the groups': {
    operations: [
      ...PARSED,
      BY_NAME,
      { op: 'parse_number', columns: 'name', on_error: 'flag' },
      { op: 'set', columns: { share: 'sum_id / (rows - 30)' }, on_error: 'blank' },
      { op: 'aggregate', group_by: 'rows', metrics: [{ fn: 'count', as: 'names' }] },
      { op: 'sort', by: 'names' },
    ],
  },
  'an error that ends the Run': { operations: [...PARSED, BY_NAME, { op: 'parse_number', columns: 'name' }] },
  'the first groups': { operations: [...PARSED, BY_NAME, { op: 'slice', skip: 3, take: 5 }] },
  'no rows': {
    operations: [
      { op: 'filter', where: 'name == "x"' },
      { ...BY_NAME, metrics: METRICS.slice(0, 2) },
    ],
  },
  'equal decimals of different lengths': {
    operations: [
      { op: 'set', columns: { amount: 'int(id) < 9000 ? "7.5" : "7.50"' } },
      ...[
        { op: 'parse_number', columns: 'amount' },
        { ...BY_NAME, metrics: [{ fn: 'max', column: 'amount' }] },
      ],
    ],
  },
  'another file': { operations: [...PARSED, BY_NAME], output: { format: 'json' } },
};

/** Threads begin with these, but one thread has to process the file. */
const WHOLE = new Set(['groups of one row', 'an error that ends the Run', 'equal decimals of different lengths']);

test('two threads group the rows as one thread does', async (t) => {
  const { taskOf, run, folder } = await rig(t);
  const change = (row: number, line: string): string => {
    if (row % 50 === 7) return `${row},"two\nlines",${row % 3}.${'0'.repeat(row % 4)}`;
    return row % 4 === 1 ? line : `${row},name ${row % 31},${row % 9}.5${'0'.repeat(row % 3)}`;
  };
  const file = textOf(change);
  const restarts: string[] = [];
  for (const [name, template] of Object.entries(GROUPED)) {
    const whole = await run(file, taskOf(template), null);
    t.match(whole.end, { kind: 'done' }, name);
    const divided = await run(file, taskOf(template), { ...SHARING, restarted: () => restarts.push(name) }, noise(4));
    t.ok(JSON.stringify(seen(divided)) === JSON.stringify(seen(whole)), name);
    const isWhole = WHOLE.has(name);
    t.equal(divided.parts > 1, !isWhole, `${name}: ${divided.parts} parts`);
  }
  t.notOk(restarts.includes('groups of one row'), 'other threads begin after the decision');
  t.notOk(
    readdirSync(folder).some((entry) => entry.includes('.spill')),
    'the files of the groups are removed',
  );
});

test('groups of lines of JSON keep the kinds of their cells', async (t) => {
  const { taskOf, run } = await rig(t);
  const lines = Array.from({ length: ROWS }, (_, row) =>
    JSON.stringify({ key: row % 2 ? row % 40 : `${row % 40}`, row }),
  );
  const operations = [{ op: 'aggregate', group_by: 'key', metrics: [{ fn: 'count', as: 'rows' }] }];
  const template = { operations, output: { format: 'ndjson' } };
  const whole = await run(lines.join('\n'), { ...taskOf(template), ending: 'ndjson' }, null);
  const divided = await run(lines.join('\n'), { ...taskOf(template), ending: 'ndjson' }, SHARING);
  t.ok(divided.parts > 1);
  t.strictSame(seen(divided), seen(whole));
});

test('groups for which the memory is too small are merged from files', async (t) => {
  const { taskOf, run } = await rig(t, 2, MEMORY_BUDGET_BYTES_MIN);
  const rows = Array.from({ length: 400_000 }, (_, row) => `key ${row >>> 1},${row % 97}`);
  const file = `key,amount\n${rows.join('\n')}\n`;
  const metrics = [{ fn: 'count', as: 'rows' }];
  const template = { operations: [{ op: 'aggregate', group_by: 'key', metrics }] };
  const sharing = { ...SHARING, sizes: { ...SIZES, partBytes: 700_000 } };
  const whole = await run(file, taskOf(template), null);
  const divided = await run(file, taskOf(template), sharing);
  t.ok(JSON.stringify(seen(divided)) === JSON.stringify(seen(whole)));
  t.ok(divided.parts > 1);
});

test('each thread has files of its own for groups that it has no memory for', async (t) => {
  const { taskOf, run, folder } = await rig(t, 2, MEMORY_BUDGET_BYTES_MIN);
  // The first part has few groups. Later parts have so many that both threads defer rows to files.
  const keyOf = (row: number): number => (row < 30_000 ? row % 5_000 : (row * 7_919) % 450_000);
  const rows = Array.from({ length: 1_200_000 }, (_, row) => `a rather long key number ${keyOf(row)},${row % 97}`);
  const file = `key,amount\n${rows.join('\n')}\n`;
  const operations = [{ op: 'aggregate', group_by: 'key', metrics: [{ fn: 'sum', column: 'amount' }] }];
  const template = { operations: [{ op: 'cast', columns: { amount: 'integer' } }, ...operations] };
  const whole = await run(file, taskOf(template), null);
  for (const partBytes of [1_000_000, 1_600_000]) {
    const divided = await run(file, taskOf(template), { ...SHARING, sizes: { ...SIZES, partBytes } });
    t.ok(JSON.stringify(seen(divided)) === JSON.stringify(seen(whole)), `parts of ${partBytes} bytes`);
  }
  t.notOk(readdirSync(folder).some((entry) => entry.includes('.spill')));
});

test('failures and limits are those of the whole file', async (t) => {
  const { taskOf, run } = await rig(t);
  const failing = { operations: [{ op: 'parse_number', columns: ['amount'], on_error: 'fail' }] };
  const cases: readonly [string, object, Partial<TaskLimits>][] = [
    [textOf(), failing, {}],
    [`${textOf()}3,"open`, {}, {}],
    [textOf(), {}, { rowsMax: ROWS - 1 }],
    [textOf(), {}, { rowsMax: ROWS }],
    [textOf(), {}, { outputRowsMax: 20_000 }],
    [textOf(), {}, { outputBytesMax: 300_000 }],
    ['no rows, only a header\n', { operations: [{ op: 'drop', columns: ['lacking'] }] }, {}],
    [`a\n${'x'.repeat(200_000)}\n1\n`, {}, {}],
  ];
  for (const [text, template, limits] of cases) {
    const whole = await run(text, taskOf(template, limits), null);
    const divided = await run(text, taskOf(template, limits), SHARING, noise(2));
    t.strictSame(seen(divided), seen(whole), JSON.stringify([template, limits]));
  }
});

test('without memory for another share the Run goes on alone', async (t) => {
  const { taskOf, run, budget } = await rig(t, 2, MEMORY_BUDGET_BYTES_MIN);
  const whole = await run(textOf(), taskOf({ operations: OPERATIONS }), null);
  const held = heldUnits(new Int32Array(budget.buffer));
  for (const take of [0, RUN_RESERVATION_BYTES]) {
    budget.charge(take, 'bodies');
    const divided = await run(textOf(), taskOf({ operations: OPERATIONS }), SHARING, noise(3));
    t.strictSame(seen(divided), seen(whole));
    budget.release(take, 'bodies');
    t.equal(heldUnits(new Int32Array(budget.buffer)), held, 'all memory is released');
  }
});

test('another Run gets the thread that was lent', async (t) => {
  const { pool, taskOf, run } = await rig(t, 3);
  const text = textOf();
  const task = taskOf({});
  const { path } = task.source as { path: string };
  writeFileSync(path, text);
  // A Run whose upload never ends.
  const endless = new Promise<TaskEnd>((resolve) => {
    const pooled = pool.run(task, resolve, { sharing: SHARING });
    pooled.grown(text.length, false);
    void until(() => pooled.rowsRead() > 10_000).then(async () => {
      const other = await run('id\n1\n', taskOf({}), null);
      t.match(other.end, { kind: 'done', outcome: { failure: null } });
      await until(() => pool.runs === 1);
      t.pass('the lent thread has no Run, although the other one waits for bytes');
      pooled.cancel();
    });
  });
  t.match(await endless, { kind: 'cancelled' });
});

test('memory for keys is kept for a moment, as far as the budget allows, and is paid', async (t) => {
  const counters = new Int32Array(new MemoryBudget(256 * MIB, 1).buffer);
  const spare = new SpareKeys(counters.buffer as SharedArrayBuffer);
  const keys = emptyKeys(null);
  const { memory } = keys;
  spare.give(keys, false);
  t.equal(spare.take(), null, 'a thread may still use it');
  spare.give(keys, true);
  t.equal(heldUnits(counters) * 1024, memory.buffer.byteLength);
  spare.give(emptyKeys(null), true);
  t.equal(spare.take()?.keys, keys, 'only one is kept');
  t.equal(heldUnits(counters) * 1024, memory.buffer.byteLength, 'also while a Run uses it');
  memory.grow(33 * 16);
  spare.give(keys, true, heldUnits(counters));
  t.equal(heldUnits(counters), 0);
  t.equal(spare.take(), null, 'too large for the budget');
  spare.give(emptyKeys(null), true);
  await until(() => heldUnits(counters) === 0);
  t.equal(spare.take(), null, 'dropped after a while');
});

test('a cancelled Run ends although its threads wait for each other', async (t) => {
  const { pool, budget, taskOf } = await rig(t, 2);
  const task = taskOf({ operations: IN_ORDER });
  const text = textOf();
  writeFileSync((task.source as { path: string }).path, text.repeat(4));
  const end = await new Promise<TaskEnd>((resolve) => {
    const pooled = pool.run(task, resolve, { sharing: SHARING });
    pooled.grown(text.length, false);
    void until(() => pooled.rowsRead() > 5_000).then(() => pooled.cancel());
  });
  t.match(end, { kind: 'cancelled' });
  await until(() => heldUnits(new Int32Array(budget.buffer)) === 0);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

// A pool that the test plays.

interface Played {
  readonly task: RunTask;
  readonly end: (end: TaskEnd) => void;
  readonly opened: ((head: never) => void) | null;
  readonly told: string[];
}

function played(t: Test, ended: (end: TaskEnd) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'shared-run-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const output = { path: join(folder, 'out'), memoryBytesMax: 0 };
  const tasks: Played[] = [];
  let number = 1;
  const start = (task: RunTask, end: (end: TaskEnd) => void, opened: Played['opened']): SharedTask => {
    const told: string[] = [];
    tasks.push({ task, end, opened, told });
    const { task: taskNumber } = task;
    return {
      task: taskNumber,
      thread: () => (opened === null ? 1 : 0),
      rowsRead: () => 0,
      grown: (bytes, isEnded) => void told.push(`${bytes}${isEnded ? ' whole' : ''}`),
      cancel: () => void told.push('cancel'),
      suspend: () => void told.push('suspend'),
    };
  };
  const pool: SharingPool = {
    canLend: () => true,
    nextTask: () => number++,
    start,
    lend: (task, end) => start(task, end, null),
    ...{ takeKeys: () => null, holdKeys: () => true, giveKeys: () => undefined },
  };
  const run = new SharedRun(pool, partly<RunTask>({ task: 0, output }), SHARING, ended);
  return { run, tasks, output };
}

const CANCELLED: TaskEnd = { kind: 'cancelled' };
const FAILED: TaskEnd = {
  kind: 'done',
  outcome: partly<TaskOutcome>({ failure: { code: 'MALFORMED_FILE', message: '' }, output: null }),
};

/** A Run with two shares, whose output exists. */
function twoShares(t: Test) {
  const ends: TaskEnd[] = [];
  const rig = played(t, (end) => ends.push(end));
  rig.run.grown(500_000, false);
  rig.tasks[0]!.opened!({ head: {} } as never);
  writeFileSync(rig.output.path, 'part');
  t.equal(rig.tasks.length, 2);
  t.match(rig.tasks[1]!.task, { parts: { head: {} }, reservationBytes: RUN_RESERVATION_BYTES });
  return { ...rig, ends };
}

for (const [how, end] of [
  ['is lost', { kind: 'interrupted' }],
  ['fails', FAILED],
] as const) {
  test(`if the share of a lent thread ${how}, the file is read again as a whole`, async (t) => {
    const { run, tasks, output, ends } = twoShares(t);
    tasks[1]!.end(end);
    t.match(tasks[0]!.told, ['500000', 'cancel']);
    run.grown(600_000, true);
    tasks[0]!.end(CANCELLED);
    await until(() => tasks.length === 3);
    t.notOk(existsSync(output.path), 'the output of the parts is removed');
    t.strictSame(tasks[2]!.told, ['600000 whole']);
    t.equal(tasks[2]!.task.parts, undefined);
    t.strictSame(ends, []);
    tasks[2]!.end(FAILED);
    t.strictSame(ends, [FAILED]);
  });
}

const PIECE = { rowsWritten: 0, sizeBytes: 0 };
const SHARE: TaskOutcome = partly<TaskOutcome>({
  ...{ failure: null, busyMilliseconds: 1, output: partly<NonNullable<TaskOutcome['output']>>({ sizeBytes: 0 }) },
  results: [
    { ...PIECE, parts: [{ number: 0, rows: 1 }], report: partly<RunReport>({ operations: [] }), groups: ['0-0.spill'] },
  ],
});

test('if the groups cannot be merged, the file is read again as a whole', async (t) => {
  for (const end of [FAILED, CANCELLED, { kind: 'interrupted' } as const]) {
    const { run, tasks, ends } = twoShares(t);
    run.grown(10, true);
    tasks[1]!.end({ kind: 'done', outcome: partly<TaskOutcome>({ failure: null, results: [] }) });
    tasks[0]!.end({ kind: 'done', outcome: SHARE });
    await until(() => tasks.length === 3);
    t.match(tasks[2]!.task.groups, { names: ['0-0.spill'], rowsBefore: [0] });
    run.cancel();
    t.match(tasks[2]!.told.at(-1), 'cancel');
    tasks[2]!.end(end);
    if (end !== FAILED) t.strictSame(ends, [end]);
    else {
      await until(() => ends.length === 1);
      t.strictSame(ends, [CANCELLED], 'a cancelled Run is not started again');
    }
  }
});

test('a suspended, cancelled or lost Run ends once all its shares have ended', async (t) => {
  const suspended = twoShares(t);
  suspended.run.suspend();
  t.match(suspended.tasks[0]!.told, ['500000', 'suspend']);
  suspended.tasks[0]!.end(CANCELLED);
  t.strictSame(suspended.tasks[1]!.told, ['cancel']);
  t.strictSame(suspended.ends, []);
  suspended.tasks[1]!.end(CANCELLED);
  t.strictSame(suspended.ends, [CANCELLED]);

  const cancelled = twoShares(t);
  cancelled.run.cancel();
  for (const { told } of cancelled.tasks) t.equal(told.at(-1), 'cancel');
  for (const { end } of cancelled.tasks) end(CANCELLED);
  t.strictSame(cancelled.ends, [CANCELLED]);

  const lost = twoShares(t);
  lost.tasks[0]!.end({ kind: 'interrupted' });
  lost.tasks[1]!.end(CANCELLED);
  t.strictSame(lost.ends, [{ kind: 'interrupted' }]);
});

const EMPTY: TaskEnd = {
  kind: 'done',
  outcome: partly<TaskOutcome>({ failure: null, output: null, results: [] }),
};

test('after a share without a part, which the budget may have refused, no thread is lent for a while', async (t) => {
  const { run, tasks, ends } = twoShares(t);
  tasks[1]!.end(EMPTY);
  run.lend();
  run.grown(600_000, false);
  t.equal(tasks.length, 2);
  await until(() => {
    run.lend();
    return tasks.length === 3;
  });
  run.cancel();
  run.lend();
  t.equal(tasks.length, 3, 'a cancelled Run gets no thread');
  for (const task of [tasks[0]!, tasks[2]!]) task.end(CANCELLED);
  t.strictSame(ends, [CANCELLED]);
});

test('a Run that is cancelled before its parts are decided gets no thread', (t) => {
  const ends: TaskEnd[] = [];
  const { run, tasks } = played(t, (end) => ends.push(end));
  run.grown(500_000, true);
  run.cancel();
  tasks[0]!.opened!({ head: {} } as never);
  t.equal(tasks.length, 1);
  tasks[0]!.end(CANCELLED);
  t.strictSame(ends, [CANCELLED]);
  t.end();
});

test('a thread with several shares of a Run is counted once', (t) => {
  const { run, tasks, ends } = twoShares(t);
  tasks[1]!.end(doneWith([6]));
  run.grown(500_000, true);
  t.equal(tasks.length, 3, 'the thread is lent again');
  tasks[2]!.end(doneWith([7]));
  tasks[0]!.end(doneWith([0, 1, 2, 3, 4, 5]));
  for (const task of tasks.slice(3)) task.end(EMPTY);
  t.match(ends, [{ kind: 'done', outcome: { failure: null, threads: 2 } }]);
  t.end();
});

/** The end of a share that has processed these parts. */
function doneWith(parts: readonly number[]): TaskEnd {
  const counts = { rows_read: 0, rows_written: 0, operations: [] };
  const report = { ...counts, input: { errors: {} }, output: { formulas_guarded: 0 } };
  const results = parts.map((number) => ({ parts: [{ number, rows: 0 }], rowsWritten: 0, sizeBytes: 0, report }));
  return {
    kind: 'done',
    outcome: partly<TaskOutcome>({
      failure: null,
      output: partly({}),
      busyMilliseconds: 0,
      results: results as never,
    }),
  };
}
