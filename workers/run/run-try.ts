// The conveyor: bytes → reader → batches → operations → writer → sink, for one try of a Run. Each batch goes through all
// stages before the next is read, in slices of time: in between the Run gives way, waits for bytes, and looks whether it was
// cancelled.
import { BATCH_ROWS_MAX } from '../batch/batch.ts';
import type { SpillFolder } from '../execution/spill/spill-folder.ts';
import { RunTables } from '../execution/tables/run-tables.ts';
import { TableCache } from '../execution/tables/table-cache.ts';
import type { EncodingTries } from '../input/encoding/encoding.ts';
import { Undecodable } from '../input/encoding/undecodable.ts';
import { type FileSettings, openRows, resumeRows } from '../input/open-rows.ts';
import type { MetaValues, RowReader } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import { type RunShare, runShare } from '../memory/budget.ts';
import type { LargeRowGate } from '../memory/large-row.ts';
import type { RunPlan } from '../plan/plan.ts';
import { Cancelled, Failed, type Failure, MemoryWanted } from '../protocol/failure.ts';
import type { RunOutcome, TaskPart } from '../protocol/messages.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import { Misread } from './misread.ts';
import { lackOfMeta, withReading } from './missing-columns.ts';
import { buildPipeline, type Pipeline } from './pipeline.ts';
import { type RunReport, tellInput, tellPlaces } from './report.ts';
import { RowPicker } from './row-picker.ts';
import { emptyReport, type RunJob } from './run-job.ts';
import { nextTurnOfLoop, SliceClock } from './slice-clock.ts';
import type { Sliced, Steps } from './time-slices.ts';

/** What the header alone can tell: the rest of the file may still be broken, which is the graver failure. */
const COLUMN_FAILURES: ReadonlySet<string> = new Set(['TEMPLATE_COLUMNS_MISSING', 'TEMPLATE_CHECK_FAILED']);

const WIDE = 'The columns of the file, with all operations on them, need more memory than the service has free.';

/** What one try has to itself, and what the tries before it have found. */
export interface TryParts {
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly spill: SpillFolder;
  readonly gate: LargeRowGate;
  readonly encodingTries: EncodingTries;
  /** See PlanSettings. */
  readonly rowNames: readonly string[] | null;
}

/** One try of a Run, with the memory that it is given. */
export class RunTry {
  readonly #job: RunJob;
  readonly #parts: TryParts;
  readonly #report: RunReport;
  readonly #tables: RunTables;
  /** What operations hold outside the Run's memory. */
  readonly #share: RunShare;
  #reader: RowReader | null = null;
  #pipeline: Pipeline | null = null;
  /** What is wrong with a file whose syntax may still turn out to be broken. */
  #held: Failure | null = null;
  readonly #clock: SliceClock;

  constructor(job: RunJob, parts: TryParts) {
    this.#job = job;
    this.#parts = parts;
    this.#share = runShare(job.budget);
    this.#report = emptyReport(job.task);
    this.#tables = new RunTables(job.tables ?? new TableCache());
    this.#clock = new SliceClock(() => {
      job.beat();
      if (job.cancelled()) throw new Cancelled();
    });
  }

  /**
   * A file that lacks columns or has too many rows is still read to its end: broken syntax further down is the graver
   * failure, and the answer must not depend on how much of the file had arrived. Throws RowsNamed and Misread.
   */
  *drive(): Coroutine<RunOutcome> {
    try {
      const reader = yield* this.#open();
      if (this.#job.prepared.template.usesTables) yield this.#openTables();
      const pipeline = yield* this.#start(reader);
      if (pipeline?.hasWorks) yield* this.#goThrough(pipeline.prepare());
      yield* this.#readAll(reader, pipeline);
      if (this.#held !== null || pipeline === null) return this.#outcome(this.#held, null);
      yield* this.#goThrough(pipeline.finish());
      this.#report.rows_read = reader.rowsRead;
      const failure = pipeline.verdict(reader.rowsRead);
      if (failure === null && this.#job.task.part !== undefined) yield* this.#turn(this.#job.task.part);
      return this.#outcome(failure, pipeline);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      const outcome = this.#outcome(error.failure, null);
      if (error instanceof Undecodable) throw new Misread(outcome, error.encoding);
      return outcome;
    }
  }

  close(): void {
    this.#reader?.close();
    this.#pipeline?.close();
    this.#tables.close();
    this.#share.giveBack();
  }

  *#open(): Coroutine<RowReader> {
    const { prepared, source, task, readAhead, formats } = this.#job;
    const settings: FileSettings = {
      input: prepared.template.input,
      overrides: task.overrides,
      expected: prepared.expected,
      formats,
      ending: task.ending,
      encodingTries: this.#parts.encodingTries,
      takeMemory: this.#takeForPlan,
      inflatedBytesMax: task.limits.inflatedBytesMax,
      spill: this.#parts.spill,
      arena: this.#parts.arena,
      kernel: this.#parts.kernel,
      largeRow: this.#parts.gate,
      readAhead,
      giveWay: this.#giveWay,
      clock: this.#clock,
      rest: this.#restFor,
    };
    // The first part begins where the file does.
    const head = task.part === undefined || task.part.number === 0 ? null : task.part.head;
    const reader = yield* head === null ? openRows(source, settings) : resumeRows(source, head, settings);
    this.#reader = reader;
    tellInput(this.#report, reader.head);
    return reader;
  }

  async #openTables(): Promise<void> {
    const { prepared, task, kernels, budget, threadBudget } = this.#job;
    const giveWay = this.#giveWay;
    const tools = {
      kernels,
      budget: threadBudget ?? budget,
      spill: this.#parts.spill,
      largeRow: this.#parts.gate,
      giveWay,
    };
    try {
      await this.#tables.open(prepared.template, task.tables, tools);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#held = error.failure;
    }
    this.#report.tables = this.#tables.digests;
  }

  /** Null when a table or a column is missing. */
  *#start(reader: RowReader): Coroutine<Pipeline | null> {
    if (this.#held !== null) return null;
    const plan = yield* this.#plan(reader);
    if (plan === null) return null;
    reader.useColumns?.(plan.columns.filter((field) => field !== null));
    const ready = plan.output.planned.ready();
    if (ready !== null) yield this.#clock.rest(() => ready);
    const building = buildPipeline({
      plan,
      template: this.#job.prepared.template,
      task: this.#job.task,
      kernel: this.#parts.kernel,
      arena: this.#parts.arena,
      clock: this.#clock,
      budget: this.#share,
      spill: this.#parts.spill,
      tables: this.#tables.tables,
      report: this.#report,
      meta: this.#metaOf(reader),
      shared: this.#job.shared ?? null,
      watch: this.#job.watch ?? null,
    });
    this.#pipeline = yield* this.#inSlices(building);
    return this.#pipeline;
  }

  /** A part of a file may end above what stands below the table. */
  #metaOf({ head }: RowReader): MetaValues {
    return this.#job.task.part?.head.meta ?? head.meta ?? {};
  }

  *#goThrough(steps: Steps): Coroutine<void> {
    this.#parts.arena.clear();
    for (const step of steps) {
      if (step === undefined) this.#parts.arena.clear();
      if (this.#clock.look()) yield this.#rest();
    }
  }

  *#inSlices<T>(work: Sliced<T>): Coroutine<T> {
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      if (this.#clock.isDue()) yield this.#rest();
    }
  }

  *#plan(reader: RowReader): Coroutine<RunPlan | null> {
    try {
      const { headers, hasKinds } = reader.head;
      const { prepared } = this.#job;
      const { rowNames } = this.#parts;
      const settings = { tables: this.#tables.columns, hasKinds, rowNames, take: this.#takeForPlan };
      const plan = prepared.lastPlan(headers, settings) ?? (yield* this.#inSlices(prepared.plan(headers, settings)));
      this.#held = lackOfMeta(prepared.template.input, this.#metaOf(reader));
      return this.#held === null ? plan : null;
    } catch (error) {
      if (!(error instanceof Failed) || !COLUMN_FAILURES.has(error.failure.code)) throw error;
      this.#held = withReading(error.failure, reader.head);
      return null;
    }
  }

  /** Of the budget, else of what was lent. */
  readonly #takeForPlan = (bytes: number): void => {
    const { heap } = this.#parts.arena;
    if (this.#share.take(bytes) || heap.takeLent(bytes)) return;
    if (this.#parts.gate.tryLend(heap)) heap.takeLent(bytes);
    else throw this.#parts.gate.hasLent ? new Failed('RUN_RESOURCE_LIMIT', WIDE) : new MemoryWanted();
  };

  *#readAll(reader: RowReader, pipeline: Pipeline | null): Coroutine<void> {
    const rowsMax = this.#job.batchRowsMax ?? BATCH_ROWS_MAX;
    const { watch } = this.#job;
    const picked = watch?.pickedRows ?? null;
    const picker = picked === null ? null : new RowPicker(picked);
    for (;;) {
      this.#parts.arena.clear();
      const wanted = this.#held === null && pipeline !== null ? pipeline.rowsWanted() : 0;
      const left = (watch?.rowsMax ?? Number.POSITIVE_INFINITY) - reader.rowsRead;
      if (left <= 0) return;
      const read = reader.next(Math.min(rowsMax, wanted, left));
      if (read === 'wait') yield this.#clock.rest(() => reader.wait());
      else if (read === 'end') {
        this.#job.progressed?.(reader.rowsRead);
        return;
      } else {
        this.#job.progressed?.(reader.rowsRead);
        this.#holdRowLimit(reader.rowsRead);
        const batch = picker === null ? read : picker.pick(read);
        if (this.#held === null && pipeline !== null && wanted > 0 && batch.live > 0) {
          for (const _ of pipeline.push(batch)) if (this.#clock.isDue()) yield this.#rest();
        }
        if (this.#clock.look()) yield this.#rest();
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
  *#turn({ number }: TaskPart): Coroutine<void> {
    const { shared } = this.#job;
    if (shared === undefined) return;
    const { turns } = shared;
    while (!turns.isTurnOf(number)) yield this.#clock.rest(() => turns.passed(number));
  }

  #outcome(failure: Failure | null, pipeline: Pipeline | null): RunOutcome {
    const report = this.#report;
    this.#reader?.describe(report);
    report.rows_read = this.#reader?.rowsRead ?? 0;
    if (this.#reader?.placeOf !== undefined) tellPlaces(report, (row) => this.#reader!.placeOf!(row));
    const sound = failure === null && pipeline !== null;
    const { output, rejects } = sound ? pipeline.takeFiles() : { output: null, rejects: null };
    return {
      rowsWritten: sound ? pipeline.rowsWritten : null,
      truncated: sound && pipeline.truncated,
      output,
      rejects,
      failure: this.#placed(failure),
      report,
      busyMilliseconds: this.#clock.busyMilliseconds,
    };
  }

  /** A row that ended the Run is found in a workbook by its sheet and its number there. */
  #placed(failure: Failure | null): Failure | null {
    const place = failure?.place === undefined ? null : (this.#reader?.placeOf?.(failure.place.row) ?? null);
    if (failure === null || place === null) return failure;
    return { ...failure, message: `${failure.message} (Sheet ${place.sheet}, row ${place.row}.)` };
  }

  readonly #giveWay = async (): Promise<void> => {
    if (this.#clock.look()) await this.#rest();
  };

  readonly #restFor = (wait: () => Promise<void>): Promise<void> => this.#clock.rest(wait);

  #rest(): Promise<void> {
    return this.#clock.rest(this.#job.turn ?? nextTurnOfLoop);
  }
}
