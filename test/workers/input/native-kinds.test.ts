// Native kinds of cells between the reader and the output: operations that move cells keep the kinds, operations that make cells
// drop them, and spilled rows make no difference.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import type { Batch } from '../../../workers/batch/batch.ts';
import type { FileSettings } from '../../../workers/input/format.ts';
import { openRows } from '../../../workers/input/open-rows.ts';
import { BytesSource } from '../../../workers/input/source/bytes-source.ts';
import { KIND_BOOLEAN, KIND_DATE, KIND_NUMBER, KIND_TEXT } from '../../../workers/kernel/layout/cells.ts';
import { RUN_RESERVATION_BYTES } from '../../../workers/memory/budget.ts';
import { SpillFolder } from '../../../workers/memory/spill-file.ts';
import { operationTable } from '../../../workers/operations/index.ts';
import { templateLanguage } from '../../../workers/plan/plan.ts';
import type { RunTask } from '../../../workers/protocol/messages.ts';
import { buildPipeline } from '../../../workers/run/pipeline.ts';
import { emptyReport } from '../../../workers/run/run-job.ts';
import { NO_ENDS } from '../../../workers/run/stopped-rows.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';
import { done, SliceClock } from '../../../workers/scheduling/time-slices.ts';
import type { OperationDefinition } from '../../../workers/template/operation.ts';
import { type TypedCell, typedTable, typedTableFormat } from '../../fixtures/typed-table.ts';
import { makeMemory } from '../operations/harness.ts';
import { planRun } from '../plan/plan-run.ts';
import { sound } from '../template/check-problems.ts';

const HEADERS = ['id', 'amount', 'note'];
const KINDS = [KIND_TEXT, KIND_NUMBER, KIND_BOOLEAN, KIND_DATE];
const LAST = { op: 'drop', columns: ['note'] };

/** The amount of a row is null in every eleventh row. The note has no native kind. */
function rowOf(row: number): TypedCell[] {
  const id = String((row * 7919) % 100_003).padStart(6, '0');
  const amount: TypedCell = row % 11 === 5 ? null : [KINDS[row % 4]!, `amount ${id}`];
  return [[KIND_NUMBER, id], amount, [KIND_TEXT, `note ${'x'.repeat(row % 50)}`]];
}

/** Appends the text and kind of each cell of a batch; the kind is null if its column has no kinds. */
function told(batch: Batch, cells: (readonly [string | null, number | null])[][]): void {
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    cells.push(
      batch.columns.map((column) => {
        if (column.kind !== 'views') throw new Error('these are texts');
        const kind = column.kinds === undefined ? null : batch.heap.u8[column.kinds + row]!;
        return [batch.text(column, row), kind];
      }),
    );
  }
}

interface Through {
  readonly cells: (readonly [string | null, number | null])[][];
  readonly spilled: boolean;
}

/** The cells that arrive at the output stage after the operations, of which LAST is the last. */
async function through(steps: readonly object[], rows: number, spills = false): Promise<Through> {
  const source = JSON.stringify({ format: 1, operations: [...steps, LAST] });
  const template = sound(source);
  const cells: Through['cells'] = [];
  const drop = operationTable.get('drop')!;
  const watched: OperationDefinition = {
    ...drop,
    start: (plan, context) =>
      drop.start(plan, {
        ...context,
        next(batch) {
          told(batch, cells);
          return context.next(batch);
        },
      }),
  };
  const { kernel, arena, budget } = makeMemory(spills ? { budgetBytes: 0 } : {});
  const folder = mkdtempSync(join(tmpdir(), 'native-kinds-'));
  const spill = new SpillFolder(join(folder, 'spill'));
  try {
    const file = typedTable(
      { headers: HEADERS, hasKinds: [true, true, false] },
      Array.from({ length: rows }, (_, row) => rowOf(row)),
    );
    const settings: FileSettings = {
      formats: [typedTableFormat],
      ending: '',
      input: template.input,
      overrides: { delimiter: null, headerRow: null },
      expected: null,
      inflatedBytesMax: null,
      arena,
      kernel,
      largeRow: { acquire: async () => {} },
      spill,
    };
    const reader = await runCoroutine(openRows(new BytesSource(file), settings));
    const { headers, hasKinds } = reader.head;
    const operations = new Map([...operationTable, ['drop', watched]]);
    const language = { ...templateLanguage, operations };
    const plan = planRun(template, headers, { language, ...(hasKinds && { hasKinds }) });
    const task = taskOf(source, folder);
    const shared = { tables: new Map(), groups: null, keyed: null, sorted: null };
    const parts = { plan, template, task, kernel, arena, budget, spill, ...shared };
    const clock = new SliceClock(() => {});
    const report = emptyReport(task);
    const pipeline = done(
      buildPipeline({ ...parts, clock, report, meta: {}, fileOf: null, partSink: null, watch: null, ends: NO_ENDS }),
    );
    for (const _ of pipeline.prepare());
    for (;;) {
      arena.clear();
      const batch = reader.next(Math.min(1000, pipeline.rowsWanted()));
      if (typeof batch === 'string') break;
      for (const _ of pipeline.push(batch));
    }
    arena.clear();
    for (const step of pipeline.finish()) if (step === undefined) arena.clear();
    const spilled = existsSync(join(folder, 'spill'));
    pipeline.close();
    return { cells, spilled };
  } finally {
    spill.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

function taskOf(source: string, folder: string): RunTask {
  return {
    task: 1,
    template: { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') },
    source: { kind: 'bytes', bytes: new Uint8Array() },
    ending: '',
    overrides: { delimiter: null, headerRow: null },
    limits: { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null },
    output: { path: join(folder, 'output'), memoryBytesMax: 1_048_576 },
    spillDirectory: join(folder, 'spill'),
    tables: {},
    secretsDirectory: null,
    startedAt: '2026-01-31T12:00:00Z',
    reservationBytes: RUN_RESERVATION_BYTES,
  };
}

/** The cells of a row that should arrive. The kind of a null has no meaning. */
function expected(row: number): [string, [string, number] | null] {
  const [id, amount] = rowOf(row);
  return [id![1], amount === null ? null : [amount![1], amount![0]]];
}

function seen(cells: Through['cells']): [string, [string, number | null] | null][] {
  return cells.map(([id, amount]) => [id![0]!, amount![0] === null ? null : [amount![0], amount![1]]]);
}

for (const spills of [false, true]) {
  const rows = spills ? 60_000 : 3_000;
  test(`kinds come through filter, sort and select${spills ? ', spilled' : ''}`, async (t) => {
    const operations = [
      { op: 'filter', where: 'row.id > "050000"' },
      { op: 'sort', by: ['id'] },
      { op: 'select', columns: ['id', 'amount', 'note'] },
    ];
    const { cells, spilled } = await through(operations, rows, spills);
    const wanted = Array.from({ length: rows }, (_, row) => expected(row))
      .filter(([id]) => id > '050000')
      .sort(([a], [b]) => (a < b ? -1 : 1));
    t.equal(spilled, spills);
    t.equal(cells.length, wanted.length);
    t.ok(wanted.length > rows / 3, 'there are rows to look at');
    t.strictSame(seen(cells), wanted);
    t.ok(cells.every(([id]) => id![1] === KIND_NUMBER));
  });
}

test('a copy has the kinds of its cells, also after a sort', async (t) => {
  const operations = [
    { op: 'copy', from: 'amount', to: 'as_sent' },
    { op: 'sort', by: ['id'] },
  ];
  const { cells } = await through(operations, 100);
  t.equal(cells.length, 100);
  t.strictSame(
    cells.map((cell) => cell[2]),
    cells.map((cell) => cell[1]),
  );
  t.ok(cells.some(([, amount]) => amount![1] === KIND_DATE));
});

test('an edited cell is a text, and a cell that its edit did not change keeps its kind', async (t) => {
  for (const { isKept, ...edit } of [
    { op: 'text', columns: ['amount'], steps: ['upper'], isKept: false },
    { op: 'text', columns: ['amount'], steps: ['trim'], isKept: true },
    { op: 'text', columns: ['amount'], steps: ['upper'], where: 'row.id == "none"', isKept: true },
    { op: 'set', columns: { amount: 'row.id' }, isKept: false },
  ]) {
    const { cells } = await through([edit], 100);
    t.equal(cells.length, 100);
    t.ok(
      cells.every(([id, amount], row) => {
        const kind = isKept ? KINDS[row % 4] : KIND_TEXT;
        return id![1] === KIND_NUMBER && (amount![0] === null || amount![1] === kind);
      }),
      JSON.stringify(edit),
    );
  }
});
