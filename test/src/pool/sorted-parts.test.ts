// A sort that several threads share: they sort parts of the file, and then write ranges of the sorted rows. Output and
// report are those of one thread, whatever the keys, and nothing remains of the files.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { MEMORY_BUDGET_BYTES_MIN, MemoryBudget } from '../../../src/admission/memory-budget.ts';
import { ThreadPool } from '../../../src/pool/pool.ts';
import type { TaskEnd } from '../../../src/pool/pool-thread.ts';
import type { Sharing } from '../../../src/pool/shared-run.ts';
import { RUN_RESERVATION_BYTES } from '../../../workers/memory/budget.ts';
import { exchangeFolder, type RunTask, type TaskLimits } from '../../../workers/protocol/messages.ts';
import { noise } from '../../random.ts';

const MIB = 1024 * 1024;
const NO_LIMITS: TaskLimits = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };
const SHARING: Sharing = { sizes: { fileBytesMin: 0, partBytes: 160_000 }, threadsMax: 3 };

interface Done {
  readonly end: TaskEnd;
  readonly parts: number;
  readonly seen: string;
}

interface Rig {
  readonly folder: string;
  readonly pool: ThreadPool;
  taskOf(template: object, more?: Partial<RunTask>): RunTask;
  run(text: string, task: RunTask, sharing: Sharing | null): Promise<Done>;
}

async function rig(t: Test, threads = 2, budgetBytes = 256 * MIB): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'sorted-parts-'));
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
  const taskOf: Rig['taskOf'] = (template, more = {}) => {
    const task = pool.nextTask();
    const source = JSON.stringify({ format: 1, ...template });
    return {
      task,
      template: { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') },
      source: { kind: 'file', path: join(folder, `${task}.csv`) },
      ending: 'csv',
      overrides: { delimiter: null, headerRow: null },
      limits: NO_LIMITS,
      output: { path: join(folder, `${task}.out`), memoryBytesMax: 0 },
      spillDirectory: join(folder, `${task}.spill`),
      tables: {},
      secretsDirectory: null,
      startedAt: '2026-01-31T12:00:00Z',
      reservationBytes: RUN_RESERVATION_BYTES,
      ...more,
    };
  };
  const run: Rig['run'] = async (text, task, sharing) => {
    const { path } = task.source as { path: string };
    writeFileSync(path, text);
    let parts = 1;
    const ended = (count: number): void => {
      parts = count;
    };
    const end = await new Promise<TaskEnd>((resolve) => {
      const pooled = pool.run(task, resolve, { sharing: sharing && { ...sharing, ended } });
      pooled.grown(Buffer.byteLength(text), true);
    });
    return { end, parts, seen: seenOf(end, task) };
  };
  return { folder, pool, taskOf, run };
}

/** What a client sees of a Run. */
function seenOf(end: TaskEnd, task: RunTask): string {
  if (end.kind !== 'done') return JSON.stringify(end);
  const { rowsWritten, truncated, failure, reportText, rowsRead, output } = end.outcome;
  const text = output === null ? null : readFileSync(task.output.path, 'utf8');
  return JSON.stringify([rowsWritten, truncated, failure, reportText, rowsRead, output?.sizeBytes, text]);
}

const ROWS = 30_000;

/** Cells of a row by its number. */
type RowOf = (row: number) => readonly string[];

function fileOf(rowOf: RowOf, rows = ROWS): string {
  return `id,name,amount\n${Array.from({ length: rows }, (_, row) => `${rowOf(row).join(',')}\n`).join('')}`;
}

const any = noise(7);
const shuffled = Array.from({ length: ROWS }, () => any(1_000_000));
const mixed: RowOf = (row) => [
  `${row}`,
  row % 41 === 0 ? '' : `name ${shuffled[row]! % 977}`,
  row % 9_973 === 9_000 ? 'x' : `${(shuffled[row]! % 5_000) / 8}`,
];

const NUMBERS = [{ op: 'parse_number', columns: ['amount'], on_error: 'flag' }];
const LONG = 'a long beginning that all keys of the file have in common and that is not longer than in the index: ';

/** Files with their Templates. Texts of the first part show whether a column of texts has numbers. */
const SORTED: Readonly<Record<string, readonly [RowOf, object]>> = {
  numbers: [mixed, { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] }],
  'numbers, descending, nulls first': [
    mixed,
    { operations: [...NUMBERS, { op: 'sort', by: { column: 'amount', order: 'desc', nulls: 'first' } }] },
  ],
  texts: [mixed, { operations: [{ op: 'sort', by: 'name' }] }],
  'several columns': [
    mixed,
    { operations: [...NUMBERS, { op: 'sort', by: [{ column: 'name', order: 'desc' }, 'amount', 'id'] }] },
  ],
  'numbers inside texts': [mixed, { operations: [{ op: 'sort', by: { column: 'name', compare: 'natural' } }] }],
  'texts of a language': [
    (row) => [`${row}`, `${'äaÄAzZöo'[shuffled[row]! % 8]}${shuffled[row]! % 300}`, '1'],
    { operations: [{ op: 'sort', by: { column: 'name', compare: { locale: 'de' } } }] },
  ],
  'equal keys': [(row) => [`${row}`, 'same', '7'], { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] }],
  'equal texts': [(row) => [`${row}`, 'the same long text', '7'], { operations: [{ op: 'sort', by: 'name' }] }],
  'few keys': [
    (row) => [`${row}`, `key ${shuffled[row]! % 3}`, '1'],
    { operations: [{ op: 'sort', by: { column: 'name', order: 'desc' } }] },
  ],
  'no values': [(row) => [`${row}`, '', ''], { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] }],
  'long keys': [(row) => [`${row}`, LONG + (shuffled[row]! % 999), '1'], { operations: [{ op: 'sort', by: 'name' }] }],
  'few rows with keys longer than in the index': [
    (row) => [`${row}`, (row % 40 === 7 ? LONG.repeat(3) : '') + shuffled[row], '1'],
    { operations: [{ op: 'sort', by: 'name' }] },
  ],
  'keys with a common beginning': [
    (row) => [`${row}`, `order number ${shuffled[row]}`, '1'],
    { operations: [{ op: 'sort', by: 'name' }] },
  ],
  'sorted before': [
    (row) => [`${row}`, 'x', `${row >>> 2}`],
    { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] },
  ],
  'sorted the other way': [
    (row) => [`${row}`, 'x', `${row >>> 2}`],
    { operations: [...NUMBERS, { op: 'sort', by: { column: 'amount', order: 'desc' } }] },
  ],
  'rows larger than a block': [
    (row) => [`${row}`, row % 500 === 3 ? 'y'.repeat(20_000) : 'y', `${shuffled[row]}`],
    { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] },
  ],
  'few rows of many': [
    mixed,
    { operations: [...NUMBERS, { op: 'filter', where: 'amount > 600' }, { op: 'sort', by: 'amount' }] },
  ],
  'no rows': [
    mixed,
    { operations: [...NUMBERS, { op: 'filter', where: 'amount > 1e9' }, { op: 'sort', by: 'amount' }] },
  ],
  'more rows than in the file': [
    mixed,
    { operations: [...NUMBERS, { op: 'explode', column: 'name', separator: ' ' }, { op: 'sort', by: 'amount' }] },
  ],
  formulas: [
    (row) => [`=${row}`, '=1+1', `${shuffled[row]}`],
    { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] },
  ],
  'lines above the header': [
    mixed,
    {
      operations: [...NUMBERS, { op: 'sort', by: 'amount' }],
      output: { csv: { preamble: [['=title', 1, null]], bom: true, quoting: 'all' } },
    },
  ],
  'formulas in another encoding': [
    (row) => [`${row}`, row % 7 === 3 ? '=ä' : 'ö', `${shuffled[row]}`],
    { operations: [...NUMBERS, { op: 'sort', by: 'amount' }], output: { encoding: 'utf-16le' } },
  ],
  'lines of JSON': [mixed, { operations: [...NUMBERS, { op: 'sort', by: 'amount' }], output: { format: 'ndjson' } }],
};

/** Threads begin with these, but one thread has to process the file, or is faster. */
const WHOLE: Readonly<Record<string, readonly [RowOf, object]>> = {
  'keys longer than in the index': [
    (row) => [`${row}`, LONG.repeat(3) + (shuffled[row]! % 999), '1'],
    { operations: [{ op: 'sort', by: { column: 'name', compare: 'natural' } }] },
  ],
  'a last operation on all rows': [
    mixed,
    { operations: [...NUMBERS, { op: 'sort', by: 'amount' }, { op: 'slice', take: 7 }] },
  ],
  'a format that is not split': [
    mixed,
    { operations: [...NUMBERS, { op: 'sort', by: 'amount' }], output: { format: 'json' } },
  ],
  'a formula that ends the Run': [
    (row) => [row === 20_000 ? '=1' : `${row}`, 'x', `${shuffled[row]}`],
    { operations: [...NUMBERS, { op: 'sort', by: 'amount' }], output: { formula_guard: 'fail' } },
  ],
  'an error that ends the Run': [
    mixed,
    {
      operations: [
        { op: 'parse_number', columns: ['amount'], on_error: 'fail' },
        { op: 'sort', by: 'amount' },
      ],
    },
  ],
};

test('several threads sort as one thread does', async (t) => {
  const { taskOf, run, folder } = await rig(t, 3);
  for (const [name, [rowOf, template]] of Object.entries({ ...SORTED, ...WHOLE })) {
    const text = fileOf(rowOf);
    const whole = await run(text, taskOf(template), null);
    t.match(whole.end, { kind: 'done' }, name);
    const divided = await run(text, taskOf(template), SHARING);
    t.ok(divided.seen === whole.seen, name);
    t.equal(divided.parts > 1, name in SORTED, `${name}: ${divided.parts} parts`);
  }
  t.notOk(
    readdirSync(folder).some((entry) => entry.includes('.spill')),
    'the files of sorted rows are removed',
  );
});

test('a column of numbers that is sorted as texts is reported', async (t) => {
  const { taskOf, run } = await rig(t);
  const template = { operations: [{ op: 'sort', by: 'amount' }] };
  const large = fileOf((row) => [`${row}`, 'x', `${shuffled[row]}`]);
  for (const text of [large, fileOf((row) => [`${row}`, 'x'.repeat(row < 3 ? 40_000 : 1), `${row % 40}`])]) {
    const whole = await run(text, taskOf(template), null);
    t.match(whole.seen, 'NUMBERS_AS_TEXT');
    const divided = await run(text, taskOf(template), SHARING);
    t.ok(divided.seen === whole.seen);
  }
});

test('files without rows, and limits of the plan', async (t) => {
  const { taskOf, run } = await rig(t);
  const template = { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] };
  const cases: readonly [string, Partial<TaskLimits>][] = [
    ['id,name,amount\n', {}],
    ['id,name,amount', {}],
    ['', {}],
    [fileOf(mixed), { rowsMax: ROWS }],
    [fileOf(mixed), { rowsMax: ROWS - 1 }],
    [fileOf(mixed), { outputRowsMax: 20_000 }],
    [fileOf(mixed), { outputBytesMax: 300_000 }],
  ];
  for (const [text, more] of cases) {
    const limits = { ...NO_LIMITS, ...more };
    const whole = await run(text, taskOf(template, { limits }), null);
    const divided = await run(text, taskOf(template, { limits }), SHARING);
    t.ok(divided.seen === whole.seen, JSON.stringify([text.length, more]));
  }
});

test('lines of JSON are sorted by several threads', async (t) => {
  const { taskOf, run } = await rig(t);
  const lines = Array.from({ length: ROWS }, (_, row) => `${JSON.stringify({ id: row, key: shuffled[row]! % 97 })}\n`);
  const operations = [
    { op: 'select', columns: ['id', 'key'] },
    { op: 'cast', columns: { key: 'integer' } },
    { op: 'sort', by: 'key' },
  ];
  for (const format of ['ndjson', 'csv']) {
    const template = { operations, output: { format } };
    const whole = await run(lines.join(''), taskOf(template, { ending: 'ndjson' }), null);
    const divided = await run(lines.join(''), taskOf(template, { ending: 'ndjson' }), SHARING);
    t.ok(divided.seen === whole.seen, format);
    t.ok(divided.parts > 1, format);
  }
});

test('the smallest memory budget is enough', async (t) => {
  const { taskOf, run } = await rig(t, 2, MEMORY_BUDGET_BYTES_MIN);
  const text = fileOf((row) => [`${row}`, `a text ${'z'.repeat(row % 200)}`, `${(row * 7_919) % 100_003}`], 200_000);
  const template = { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] };
  const whole = await run(text, taskOf(template), null);
  for (const partBytes of [1_000_000, 2 * MIB]) {
    const divided = await run(text, taskOf(template), { ...SHARING, sizes: { fileBytesMin: 0, partBytes } });
    t.ok(divided.seen === whole.seen, `parts of ${partBytes} bytes`);
  }
});

test('rows for which there is no memory are in files', async (t) => {
  const text = fileOf((row) => [`${row}`, `a text ${'z'.repeat(row % 200)}`, `${(row * 7_919) % 100_003}`], 400_000);
  const template = { operations: [...NUMBERS, { op: 'sort', by: 'amount' }] };
  const { taskOf, run } = await rig(t, 2, 120 * MIB);
  const divided = await run(text, taskOf(template), { ...SHARING, sizes: { fileBytesMin: 0, partBytes: MIB } });
  const whole = await run(text, taskOf(template), null);
  t.ok(divided.seen === whole.seen);
  t.ok(divided.parts > 1);
});

test('a cancelled sort leaves nothing', async (t) => {
  const { taskOf, pool, folder } = await rig(t);
  const text = fileOf(mixed, 30_000);
  const isMerging = (task: RunTask): boolean => existsSync(exchangeFolder(task));
  for (const begun of [isMerging, (task: RunTask) => isMerging(task) && existsSync(task.output.path)]) {
    const task = taskOf({ operations: [...NUMBERS, { op: 'sort', by: 'amount' }] });
    writeFileSync((task.source as { path: string }).path, text);
    const end = await new Promise<TaskEnd>((resolve) => {
      let isOver = false;
      const over = (last: TaskEnd): void => {
        isOver = true;
        resolve(last);
      };
      const pooled = pool.run(task, over, { sharing: { ...SHARING, sizes: { fileBytesMin: 0, partBytes: 3_000 } } });
      pooled.grown(Buffer.byteLength(text), true);
      const look = (): void => {
        if (isOver) return;
        if (begun(task)) pooled.cancel();
        else setImmediate(look);
      };
      look();
    });
    t.ok(end.kind === 'cancelled' || end.kind === 'done', end.kind);
    t.notOk(readdirSync(folder).some((entry) => entry.includes('.spill')));
  }
});
