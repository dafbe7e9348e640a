// Runs one operation over rows given as texts: with batches of any size, a small arena, a budget that refuses. It replaces the
// conveyor and owns the memory of its small Run.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Batch } from '../../../workers/batch/batch.ts';
import { type ColumnType, finderIn, type Schema } from '../../../workers/batch/schema.ts';
import { conditionsOf } from '../../../workers/execution/expressions/row-condition.ts';
import { RowCodec } from '../../../workers/execution/spill/row-codec.ts';
import { SpillWriter } from '../../../workers/execution/spill/row-files.ts';
import { TableRows } from '../../../workers/execution/tables/run-tables.ts';
import { compileKernels, instantiateKernel, type Kernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { type BudgetShare, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { SpillFolder } from '../../../workers/memory/spill-file.ts';
import { type CodeCounts, countCode, type OperationReport } from '../../../workers/protocol/report.ts';
import { done, isSliced, PAUSE, type Pauses, type Steps } from '../../../workers/scheduling/time-slices.ts';
import {
  effectOf,
  type OperationDefinition,
  type OperatorContext,
  type RowErrorAction,
} from '../../../workers/template/operation.ts';
import { type StepCondition, stepCondition } from '../../../workers/template/scan.ts';
import { TemplateScope } from '../../../workers/template/template-scope.ts';
import { buildBatch, type Cell, type Rows, Window, windowBytes, withTypes } from './batch-builder.ts';
import { cellText } from './cell-text.ts';

export interface Table {
  readonly columns: readonly string[];
  /** By default, all columns are text. */
  readonly types?: readonly ColumnType[];
  readonly rows: Rows;
}

/** Contains the secret `demo`. */
const SECRETS = 'test/fixtures/secrets';

const STARTED_AT = '2026-01-31T12:00:00Z';

export interface RunOptions {
  readonly batchRows?: number;
  readonly arenaBytes?: number;
  /** Bytes of state after which the budget refuses; unlimited by default. */
  readonly budgetBytes?: number;
  readonly onError?: RowErrorAction;
  /** Rows may have dead rows around them, as after a filter. */
  readonly sparse?: boolean;
  /** Reference tables as simple CSV: no quotes. */
  readonly tables?: Readonly<Record<string, string>>;
  /** The clock of pauses; ALWAYS_DUE by default. */
  readonly clock?: Pauses;
}

export interface RunResult {
  readonly columns: readonly string[];
  readonly rows: Rows;
  readonly types: readonly ColumnType[];
  readonly sources: readonly number[];
  readonly report: OperationReport;
  readonly problems: readonly string[];
  readonly errors: CodeCounts;
  readonly failedChecks: readonly string[];
  /** Number of pauses before the first row. */
  readonly slices: number;
  /** True if files were used. */
  readonly spilled: boolean;
}

/** A pause is always due: a caller that does not drive the returned steps loses rows. */
export const ALWAYS_DUE: Pauses = { isDue: () => true };

const module = compileKernels();

/** Memory of a small Run. */
export function makeMemory(options: RunOptions = {}): {
  kernel: Kernel;
  heap: Heap;
  arena: Arena;
  budget: BudgetShare;
} {
  const kernel = instantiateKernel(module);
  const budget = options.budgetBytes === undefined ? unlimitedShare() : limitedShare();
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), budget, 4 * 1024 * 1024);
  return { kernel, heap, arena: new Arena(heap, options.arenaBytes), budget };
}

export function runOperation(
  definition: OperationDefinition,
  operation: Readonly<Record<string, unknown>>,
  input: Table,
  options: RunOptions = {},
): RunResult {
  const { rowNames, ...result } = runOnce(definition, operation, input, options, null);
  return rowNames === null ? result : runOnce(definition, operation, input, options, rowNames);
}

/** @param rowNames names that a previous run has found (Operator.rowNames) */
function runOnce(
  definition: OperationDefinition,
  operation: Readonly<Record<string, unknown>>,
  input: Table,
  options: RunOptions,
  rowNames: readonly string[] | null,
): RunResult & { readonly rowNames: readonly string[] | null } {
  const { op: _op, ...given } = operation;
  const { where: source, ...others } = given;
  const isCommon = definition.cells && typeof source === 'string';
  const parameters = isCommon ? others : given;
  const problems: string[] = [];
  const scope = new TemplateScope({
    columns: input.columns.map((name) => ({ name, absent: false })),
    flagColumn: null,
    open: false,
    rowNames,
    tables: new Map(
      Object.entries(options.tables ?? {}).map(([name, text]) => [name, text.split('\n')[0]!.split(',')]),
    ),
    problem: (pointer, code, message) => problems.push(`${pointer} ${code} ${message}`),
  });
  scope.begin({ label: 'the operation', ifMissing: 'fail' });
  for (const [index, type] of (input.types ?? []).entries()) {
    if (type !== 'text') scope.retype(scope.columns[index]!, type);
  }
  const before = [...scope.columns];
  const where = isCommon ? stepCondition(definition, { where: source, parameters }, scope) : null;
  const plan = done(effectOf(definition, parameters, scope));
  const after = [...scope.columns];
  const run = makeMemory(options);
  const folder = mkdtempSync(join(tmpdir(), 'operation-'));
  const spill = new SpillFolder(join(folder, 'run'));
  try {
    const out = drive(definition, { plan, where }, before, after, { ...run, spill }, input.rows, options);
    const spilled = existsSync(join(folder, 'run'));
    return { columns: after.map(({ name }) => name), types: after.map(({ type }) => type), problems, spilled, ...out };
  } finally {
    spill.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Around = ReturnType<typeof makeMemory> & { readonly spill: SpillFolder };

/** What an operator learns about the file and the Run. */
const NO_FILE = { startedAt: STARTED_AT, fileName: null, fileOf: null, meta: {} };

function drive(
  definition: OperationDefinition,
  { plan, where }: { readonly plan: unknown; readonly where: StepCondition | null },
  before: Schema,
  after: Schema,
  around: Around,
  rows: Rows,
  options: RunOptions,
): Pick<RunResult, 'rows' | 'sources' | 'report' | 'errors' | 'failedChecks' | 'slices'> & {
  readonly rowNames: readonly string[] | null;
} {
  const made: Cell[][] = [];
  const sources: number[] = [];
  const report: OperationReport = {
    operation: definition.name,
    id: null,
    rows_in: 0,
    rows_out: 0,
    cells_changed: 0,
    errors: {},
  };
  const tables = new Map(Object.entries(options.tables ?? {}).map(([name, text]) => [name, tableOf(text)]));
  const failedChecks: string[] = [];
  const works: (() => Steps)[] = [];
  const beforeRows: OperatorContext['beforeRows'] = (work) => void works.push(work);
  const moment = { ...NO_FILE, clock: options.clock ?? ALWAYS_DUE, tables, beforeRows };
  const context: OperatorContext = {
    input: before,
    output: after,
    indexOf: finderIn(before),
    headers: new Map(before.map(({ id, name }) => [id, name])),
    layout: after.map(({ id }) => before.findIndex((column) => column.id === id)),
    *next(batch) {
      yield PAUSE;
      collect(batch, made, sources);
    },
    ahead: null,
    ...around,
    ...moment,
    report,
    errors: errorsOf(report, failedChecks, options),
    ...conditionsOf(where, before, () => ({ ...around, ...moment })),
    secretsDirectory: SECRETS,
    defersRows: () => undefined,
  };
  const starting = definition.start(plan, context);
  const operator = isSliced(starting) ? done(starting) : starting;
  const size = options.batchRows ?? rows.length;
  const window = new Window(around.heap, windowBytes(rows, before.length, size));
  if (options.budgetBytes !== undefined) leaveFree(around.heap, options.budgetBytes);
  // An invalid operation is only checked for its problems, without rows.
  const slices = (rows.length === 0 ? [] : works).reduce((sum, work) => sum + goThrough(work(), around.arena), 0);
  for (let at = 0; at < rows.length; ) {
    const wanted = Math.min(Math.max(size, 1), operator.rowsWanted?.() ?? Number.POSITIVE_INFINITY);
    if (wanted === 0) break;
    around.arena.clear();
    const some = rows.slice(at, at + wanted);
    const texts = buildBatch(around.arena, window, before.length, some, at + 1, options.sparse ?? false);
    goThrough(operator.push(withTypes(texts, before)), around.arena);
    at += wanted;
  }
  around.arena.clear();
  if (operator.finish !== undefined) goThrough(operator.finish(), around.arena);
  const rowNames = operator.rowNames?.() ?? null;
  return { rows: made, sources, report, errors: report.errors, failedChecks, slices, rowNames };
}

function errorsOf(report: OperationReport, failedChecks: string[], options: RunOptions): OperatorContext['errors'] {
  return {
    counts: report.errors,
    failCheck: (message) => void failedChecks.push(message),
    report(batch, row, _column, code, rule) {
      countCode(report.errors, code, batch.sourceRow(row));
      if (rule?.onError === 'count') return 'counted';
      const onError = rule?.onError ?? options.onError ?? 'blank';
      return onError === 'fail' || onError === 'reject' ? 'drop_row' : onError === 'flag' ? 'blank' : onError;
    },
  };
}

/** Runs the steps to the end. Returns the number of pauses. */
function goThrough(steps: Steps, arena: Arena): number {
  let slices = 0;
  for (const step of steps) {
    if (step === PAUSE) continue;
    slices++;
    arena.clear();
  }
  return slices;
}

function collect(batch: Batch, made: Cell[][], sources: number[]): void {
  for (let at = 0; at < batch.live; at++) {
    const row = batch.physicalRow(at);
    made.push(batch.columns.map((column) => cellText(batch, column, row)));
    sources.push(batch.sourceRow(row));
  }
}

function tableOf(text: string): TableRows {
  const [head, ...lines] = text.split('\n');
  const columns = head!.split(',');
  const table = new TableRows(columns, unlimitedShare(), () => {
    throw new Error('an unlimited budget refuses nothing');
  });
  const rows = lines.map((line) => line.split(',').map((cell) => (cell === '' ? null : cell)));
  const { heap, kernel, arena } = makeMemory();
  const codec = new RowCodec(
    heap,
    kernel,
    columns.map(() => 'text'),
  );
  const writer = new SpillWriter(heap, codec, table);
  const window = new Window(heap, windowBytes(rows, columns.length, rows.length));
  const batch = buildBatch(arena, window, columns.length, rows, 1, false);
  writer.write(batch, { rows: batch.selection, count: batch.live, orders: arena.take(batch.live * 8) });
  writer.flush();
  table.rows = rows.length;
  return table;
}

/** Uses all memory except `bytes`: further growth is refused. */
function leaveFree(heap: Heap, bytes: number): void {
  const free = heap.memory.buffer.byteLength - heap.allocate(0);
  if (free > bytes + 1024) heap.allocate(free - bytes - 1024);
}

/** A share that refuses all requests except forced ones. */
function limitedShare(): BudgetShare {
  let takenBytes = 0;
  return {
    take: () => false,
    force(bytes) {
      takenBytes += bytes;
    },
    release(bytes) {
      takenBytes -= bytes;
    },
    get takenBytes() {
      return takenBytes;
    },
  };
}
