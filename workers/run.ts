// The conveyor: bytes → reader → batches → operations → writer → sink, for one Run. Each batch goes through all stages
// in one synchronous push; between batches the Run breathes, waits for bytes, and looks whether it was cancelled.
import { Arena } from './arena.ts';
import { BATCH_ROWS_MAX } from './batch.ts';
import { BatchPace } from './batch-pace.ts';
import { type BudgetShare, RUN_RESERVATION_BYTES, type RunShare, runShare } from './budget.ts';
import { Cancelled, Failed, type Failure } from './failure.ts';
import { Heap } from './heap.ts';
import { type OpenSettings, openRows } from './input/open-rows.ts';
import type { RowReader, StoredSource } from './input/reader.ts';
import { resumeRows } from './input/resume-rows.ts';
import type { Scout } from './input/scout/scout.ts';
import type { Kernel } from './kernel/kernel.ts';
import type { KernelPool } from './kernel/kernel-pool.ts';
import { LargeRowGate } from './large-row.ts';
import type { RunOutcome, RunTask } from './messages.ts';
import type { SharedOutput } from './output-stage.ts';
import { buildPipeline, type Pipeline } from './pipeline.ts';
import type { RunReport } from './report.ts';
import { SpillFolder } from './spill/spill-folder.ts';
import { RunTables } from './tables/run-tables.ts';
import { TableCache } from './tables/table-cache.ts';
import type { RunPlan } from './template/plan.ts';
import type { PreparedTemplate } from './template/prepared-template.ts';
import type { Waits } from './waits.ts';

/** Milliseconds of work after which a Run lets the thread's other Runs go on. */
const BREATH_MILLISECONDS = 8;

/** What the header alone can tell: the rest of the file may still be broken, which is the graver failure. */
const COLUMN_FAILURES: ReadonlySet<string> = new Set(['TEMPLATE_COLUMNS_MISSING', 'TEMPLATE_CHECK_FAILED']);

export interface RunJob {
  readonly task: RunTask;
  readonly prepared: PreparedTemplate;
  /** Read from its first byte. */
  readonly source: StoredSource;
  readonly kernels: KernelPool;
  readonly budget: BudgetShare;
  /** The shared Int32 of LargeRowGate. */
  readonly largeRow: Int32Array;
  /** See largeRowOwner. */
  readonly largeRowOwner: number;
  /** What parts write with (see TaskPart). */
  readonly shared?: SharedOutput;
  /** The thread's reference tables; a Run without one reads its own. */
  readonly tables?: TableCache;
  cancelled(): boolean;
  /** Called at each batch: tells the main thread that the thread is alive. */
  beat(): void;
  /** The thread's, for large files. */
  readonly scout?: Scout;
  /** Rows of a batch at most; smaller ones are for tests, results do not depend on it. */
  readonly batchRowsMax?: number;
}

/** Runs a Template over one file. Throws Cancelled, or a fault of ours; everything else is in the outcome. */
export function* runTemplate(job: RunJob): Waits<RunOutcome> {
  const kernel = job.kernels.borrow();
  const { reservationBytes } = job.task;
  const asideBytes = Math.max(0, reservationBytes - RUN_RESERVATION_BYTES);
  const paidBytes = reservationBytes - asideBytes;
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), job.budget, paidBytes, asideBytes);
  const spill = new SpillFolder(job.task.spillDirectory);
  const gate = new LargeRowGate(job.largeRow, job.largeRowOwner, job.budget, job);
  const run = new Run(job, kernel, new Arena(heap), spill, gate);
  try {
    return yield* run.drive();
  } finally {
    run.close();
    spill.remove();
    job.kernels.giveBack(kernel, heap.borrowedBytes, gate);
  }
}

class Run {
  readonly #job: RunJob;
  readonly #kernel: Kernel;
  readonly #arena: Arena;
  readonly #spill: SpillFolder;
  readonly #gate: LargeRowGate;
  readonly #report: RunReport;
  readonly #tables: RunTables;
  /** What operations hold outside the Run's memory. */
  readonly #share: RunShare;
  #reader: RowReader | null = null;
  #pipeline: Pipeline | null = null;
  /** What is wrong with a file whose syntax may still turn out to be broken. */
  #held: Failure | null = null;
  #busyMilliseconds = 0;
  #since = performance.now();

  constructor(job: RunJob, kernel: Kernel, arena: Arena, spill: SpillFolder, gate: LargeRowGate) {
    this.#job = job;
    this.#share = runShare(job.budget);
    this.#kernel = kernel;
    this.#arena = arena;
    this.#spill = spill;
    this.#gate = gate;
    this.#report = emptyReport(job.task);
    this.#tables = new RunTables(job.tables ?? new TableCache());
  }

  /**
   * A file that lacks columns or has too many rows is still read to its end: broken syntax further down is the graver
   * failure, and the answer must not depend on how much of the file had arrived.
   */
  *drive(): Waits<RunOutcome> {
    try {
      const reader = yield* this.#open();
      if (!this.#job.prepared.hasNoTables) yield this.#openTables();
      const pipeline = this.#start(reader);
      if (pipeline !== null) yield* this.#goThrough(pipeline.prepare());
      yield* this.#readAll(reader, pipeline);
      if (this.#held !== null || pipeline === null) return this.#outcome(this.#held, null);
      this.#arena.clear();
      yield* this.#goThrough(pipeline.finish());
      this.#report.rows_read = reader.rowsRead;
      const failure = pipeline.verdict(reader.rowsRead);
      if (failure === null) yield* this.#turn();
      return this.#outcome(failure, pipeline);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return this.#outcome(error.failure, null);
    }
  }

  close(): void {
    this.#reader?.close();
    this.#pipeline?.close();
    this.#tables.close();
    this.#share.giveBack();
  }

  *#open(): Waits<RowReader> {
    const { prepared, source, task, scout } = this.#job;
    scout?.prepare(source.rest?.() ?? null);
    const settings: OpenSettings = {
      input: prepared.template.input,
      overrides: task.overrides,
      expected: prepared.expected,
      inflatedBytesMax: task.limits.inflatedBytesMax,
      arena: this.#arena,
      kernel: this.#kernel,
      largeRow: this.#gate,
      scout,
      breathe: () => this.#breathe(),
    };
    // The first part begins where the file does.
    const head = task.part === undefined || task.part.number === 0 ? null : task.part.head;
    const reader = yield* head === null ? openRows(source, settings) : resumeRows(source, head, settings);
    this.#reader = reader;
    const { type, encoding, delimiter, headerRow } = reader.head;
    Object.assign(this.#report.input, { type, encoding, delimiter, header_row: headerRow });
    return reader;
  }

  async #openTables(): Promise<void> {
    const { prepared, task, kernels, budget } = this.#job;
    const breathe = () => this.#breathe();
    const tools = { kernels, budget, spill: this.#spill, largeRow: this.#gate, breathe };
    try {
      await this.#tables.open(prepared.template, task.tables, tools);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#held = error.failure;
    }
    this.#report.tables = this.#tables.digests;
  }

  /** Null when a table or a column is missing. */
  #start(reader: RowReader): Pipeline | null {
    if (this.#held !== null) return null;
    const plan = this.#plan(reader);
    if (plan === null) return null;
    this.#pipeline = buildPipeline({
      plan,
      template: this.#job.prepared.template,
      task: this.#job.task,
      kernel: this.#kernel,
      arena: this.#arena,
      budget: this.#share,
      spill: this.#spill,
      tables: this.#tables.tables,
      report: this.#report,
      shared: this.#job.shared ?? null,
    });
    return this.#pipeline;
  }

  *#goThrough(steps: Iterable<void>): Waits<void> {
    for (const _ of steps) {
      this.#arena.clear();
      if (this.#isBreathless()) yield this.#idle(nextTurnOfLoop);
    }
  }

  #plan(reader: RowReader): RunPlan | null {
    try {
      return this.#job.prepared.plan(reader.head.headers, { tables: this.#tables.columns });
    } catch (error) {
      if (!(error instanceof Failed) || !COLUMN_FAILURES.has(error.failure.code)) throw error;
      this.#held = error.failure;
      return null;
    }
  }

  *#readAll(reader: RowReader, pipeline: Pipeline | null): Waits<void> {
    const pace = new BatchPace(this.#job.batchRowsMax ?? BATCH_ROWS_MAX);
    for (;;) {
      this.#arena.clear();
      const wanted = this.#held === null && pipeline !== null ? pipeline.rowsWanted() : 0;
      const batch = reader.next(Math.min(pace.rows, wanted));
      if (batch === 'wait') yield this.#idle(() => reader.wait());
      else if (batch === 'end') return;
      else {
        this.#holdRowLimit(reader.rowsRead);
        if (this.#held === null && wanted > 0 && batch.live > 0) {
          const begun = performance.now();
          pipeline?.push(batch);
          pace.took(batch.live, performance.now() - begun);
        }
        if (this.#isBreathless()) yield this.#idle(nextTurnOfLoop);
      }
    }
  }

  #holdRowLimit(rowsRead: number): void {
    const { rowsMax } = this.#job.task.limits;
    if (rowsMax === null || rowsRead <= rowsMax) return;
    const message = `The file has more than the ${rowsMax} data rows that the plan allows.`;
    this.#held ??= { code: 'ROW_LIMIT_EXCEEDED', message };
  }

  /** A part waits until those before it have told how large they are. */
  *#turn(): Waits<void> {
    const { task, shared } = this.#job;
    if (task.part === undefined || shared === undefined) return;
    const { number } = task.part;
    const { turns } = shared;
    while (!turns.isTurnOf(number)) yield this.#idle(() => turns.passed(number));
  }

  #outcome(failure: Failure | null, pipeline: Pipeline | null): RunOutcome {
    const report = this.#report;
    this.#reader?.describe(report);
    report.rows_read = this.#reader?.rowsRead ?? 0;
    this.#rest();
    const sound = failure === null && pipeline !== null;
    return {
      rowsWritten: sound ? pipeline.rowsWritten : null,
      truncated: sound && pipeline.truncated,
      output: sound ? pipeline.takeOutput() : null,
      failure,
      report,
      busyMilliseconds: this.#busyMilliseconds,
    };
  }

  async #breathe(): Promise<void> {
    if (this.#isBreathless()) await this.#idle(nextTurnOfLoop);
  }

  /** Whether this Run has worked for so long that it gives way to others. */
  #isBreathless(): boolean {
    this.#job.beat();
    if (this.#job.cancelled()) throw new Cancelled();
    return performance.now() - this.#since >= BREATH_MILLISECONDS;
  }

  async #idle(wait: () => Promise<void>): Promise<void> {
    this.#rest();
    await wait();
    this.#since = performance.now();
    if (this.#job.cancelled()) throw new Cancelled();
  }

  #rest(): void {
    this.#busyMilliseconds += performance.now() - this.#since;
    this.#since = performance.now();
  }
}

function nextTurnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function emptyReport(task: RunTask): RunReport {
  return {
    template_sha256: task.template.sha256,
    rows_read: 0,
    rows_written: 0,
    input: { type: '', encoding: '', delimiter: null, header_row: null, errors: {} },
    operations: [],
    output: { formulas_guarded: 0 },
    tables: {},
  };
}
