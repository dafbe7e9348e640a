// A Run from its first attempt to its outcome. An attempt is discarded if it lacked memory, read the file in a wrong
// encoding, found the names of its columns in the rows, or found the end of the rows too late (EndFound,
// EndPassed). The next attempt starts at the first byte of the spool.

import { BATCH_ROWS_MAX, type Batch } from '../batch/batch.ts';
import { RunTables, TableCache } from '../execution/tables/run-tables.ts';
import { LateQuote } from '../input/csv/late-quote.ts';
import type { RaggedRow } from '../input/csv/selected-rows.ts';
import { type EncodingTries, NOTHING_TRIED } from '../input/encoding/encoding.ts';
import { LateUtf8, Undecodable } from '../input/encoding/undecodable.ts';
import type { FileSettings } from '../input/format.ts';
import { missingMetaFailure } from '../input/meta-values.ts';
import { formatNamed, openRows, resumeRows } from '../input/open-rows.ts';
import type { FileHead, MetaValues, RowReader } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import { ARENA_BYTES, Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES, type RunShare, runShare } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import { IDLE_KERNEL_BYTES } from '../memory/kernel-pool.ts';
import { LargeRowGate } from '../memory/large-row.ts';
import { SpillFolder } from '../memory/spill-file.ts';
import type { RunPlan } from '../plan/plan.ts';
import { Cancelled, Failed, type Failure, MemoryWanted, reportedFailure } from '../protocol/failure.ts';
import type { RunOutcome } from '../protocol/messages.ts';
import { type RunReport, removeCounts, removeSkipped, reportInput } from '../protocol/report.ts';
import { type Coroutine, inSlices, inSteps } from '../scheduling/coroutine.ts';
import { nextTurnOfLoop, type Rest, SliceClock, type Sliced, type Steps } from '../scheduling/time-slices.ts';
import { afterMisread, dependsOnSize, Misread, restartFile, settleSize, withReading } from './misread.ts';
import { buildPipeline, type Pipeline } from './pipeline.ts';
import type { FatalRow } from './row-errors.ts';
import {
  emptyReport,
  gatedRun,
  inFile,
  MoreFiles,
  needsOneMeta,
  placeRows,
  RowPicker,
  type RunJob,
  sourceRow,
} from './run-job.ts';
import { stepsOfThread } from './share-steps.ts';
import { EndFound, EndPassed, type KnownEnds, NO_ENDS, RowsCut, RowsNamed } from './stopped-rows.ts';

/**
 * Factor from the bytes of a cell to the memory of its JavaScript strings: the text, its result and intermediate
 * strings, with one or two bytes per character (Collector.madeTexts).
 */
const TEXTS_OF_CELL = 4;

/** Start conditions of an attempt. */
interface Start {
  /** True if the attempt acquires the node's arena before its first byte and keeps it to the end. */
  readonly withArena: boolean;
  readonly encodingTries: EncodingTries;
  /** See RowsNamed. Null if the names are not known yet, or if no operation needs them. */
  readonly rowNames: readonly string[] | null;
  /** See EndFound and EndPassed. */
  readonly ends: KnownEnds;
  /** See RowsCut. */
  readonly cutAt: FatalRow | null;
}

const FIRST_START: Start = {
  withArena: false,
  encodingTries: NOTHING_TRIED,
  rowNames: null,
  ends: NO_ENDS,
  cutAt: null,
};

/** Results of reading the beginning of a file. */
export interface Beginning {
  readonly head: FileHead;
  readonly plan: RunPlan;
}

/** Reads the header and makes the plan. Returns null if the Run fails or needs another attempt. Throws Cancelled. */
export function* beginningOf(job: RunJob): Coroutine<Beginning | null> {
  try {
    return yield* attempt(job, FIRST_START, (run) => run.begin());
  } catch (error) {
    if (error instanceof Failed || error instanceof MemoryWanted) return null;
    throw error;
  }
}

/** Applies a Template to one file. Failures are in the outcome; throws Cancelled, or a fault of ours. */
export function* runTemplate(job: RunJob): Coroutine<RunOutcome> {
  const outcome = yield* lastAttempt(job);
  const { failure } = outcome;
  return failure === null ? outcome : { ...outcome, failure: reportedFailure(failure, job.task.showsHeaders ?? false) };
}

/** Repeats attempts until one has an outcome. */
function* lastAttempt(job: RunJob): Coroutine<RunOutcome> {
  let start = FIRST_START;
  for (;;) {
    try {
      const outcome = yield* attempt(job, start, (run) => run.drive());
      return dependsOnSize(job, outcome) ? yield* settleSize(job, outcome) : outcome;
    } catch (error) {
      // Only the bytes in the spool remain from a discarded attempt.
      if (error instanceof MemoryWanted && !start.withArena) start = { ...start, withArena: true };
      else if (error instanceof RowsNamed) start = { ...start, rowNames: error.names };
      else if (error instanceof RowsCut) start = { ...start, cutAt: error.row };
      else if (error instanceof EndFound || error instanceof EndPassed)
        start = { ...start, ends: withEnd(start.ends, error) };
      else if (error instanceof Misread) {
        const next = yield* afterMisreadFile(job, start.encodingTries, error);
        if (!('failed' in next)) return dependsOnSize(job, next) ? yield* settleSize(job, next) : next;
        start = { ...start, encodingTries: next, ends: NO_ENDS, cutAt: null };
      } else throw error;
    }
    // The memory of this attempt can be collected only after this turn, and the next attempt may need it.
    if (job.kernels.hasDropped) yield nextTurnOfLoop();
    yield* restartFile(job);
  }
}

/** Like afterMisread. If several files are read, each has its own facts. */
function* afterMisreadFile(job: RunJob, tries: EncodingTries, error: Misread): Coroutine<EncodingTries | RunOutcome> {
  const { file } = error.reason;
  if (file === null) return yield* afterMisread(job, tries, error);
  const { files = new Map<number, EncodingTries>() } = tries;
  const next = yield* afterMisread(job, files.get(file) ?? NOTHING_TRIED, error);
  return 'failed' in next ? { ...tries, files: new Map([...files, [file, next]]) } : next;
}

function withEnd({ lastRows, rowsBefore }: KnownEnds, found: EndFound | EndPassed): KnownEnds {
  if (found instanceof EndFound) return { lastRows: new Map([...lastRows, [found.step, found.sourceRow]]), rowsBefore };
  return { lastRows, rowsBefore: new Map([...rowsBefore, [found.step, found.rows]]) };
}

/** Does the work with the memory of one attempt. */
function* attempt<Result>(job: RunJob, start: Start, work: (run: RunAttempt) => Coroutine<Result>): Coroutine<Result> {
  const { withArena, encodingTries, rowNames, ends, cutAt } = start;
  const isShare = job.parts !== undefined;
  const kernel = job.kernels.borrow(isShare);
  const { reservationBytes } = job.task;
  const asideBytes = Math.max(0, reservationBytes - RUN_RESERVATION_BYTES);
  const paidBytes = reservationBytes - asideBytes;
  const gate = new LargeRowGate(job.largeRow, job.largeRowOwner, job.budget, gatedRun(job));
  const heapStart = kernel.exports.heapStart();
  const views = job.kernels.viewsOf(kernel);
  const heap = new Heap(kernel.memory, heapStart, job.budget, paidBytes, asideBytes, gate, views, IDLE_KERNEL_BYTES);
  const spill = new SpillFolder(job.task.spillDirectory);
  let run: RunAttempt | null = null;
  try {
    if (withArena) yield gate.acquireArena(heap);
    const madeTexts = (cellBytes: number): void => {
      gate.coverTexts(heap, cellBytes);
      job.kernels.madeTexts(cellBytes * TEXTS_OF_CELL);
    };
    const arena = new Arena(heap, ARENA_BYTES, madeTexts);
    run = new RunAttempt(job, { kernel, arena, spill, gate, encodingTries, rowNames, ends, cutAt });
    return yield* work(run);
  } finally {
    // If the disk refuses to remove files, the error is reported, and the memory is released nevertheless.
    try {
      run?.close();
    } finally {
      try {
        spill.remove();
      } finally {
        gate.giveTexts();
        job.kernels.release(kernel, heap.borrowedBytes, gate, isShare);
      }
    }
  }
}

// One attempt of a Run: bytes → reader → batches → operations → writer → sink. Each batch passes through all stages
// before the next batch is read. The work is done in time slices; between two slices the Run yields to other Runs,
// waits for bytes, and checks for cancellation.

/**
 * Failures that are found from the header alone. If the rest of the file is malformed, that failure takes precedence.
 */
const COLUMN_FAILURES: ReadonlySet<string> = new Set(['TEMPLATE_COLUMNS_MISSING', 'TEMPLATE_CHECK_FAILED']);

const WIDE = 'The columns of the file, with all operations on them, need more memory than the service has free.';

/** Resources of one attempt, and the findings of earlier attempts. */
export interface AttemptResources {
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly spill: SpillFolder;
  readonly gate: LargeRowGate;
  readonly encodingTries: EncodingTries;
  /** See PlanSettings. */
  readonly rowNames: readonly string[] | null;
  /** See EndFound and EndPassed. */
  readonly ends: KnownEnds;
  /** See RowsCut. */
  readonly cutAt: FatalRow | null;
}

/**
 * Minimum size of a plan that is reported when its Run ends, in bytes, so that garbage is collected: V8 may keep it for
 * minutes. For smaller plans, a collection every few dozen Runs, of 10 ms or more, costs more than it saves.
 */
const PLAN_BYTES_REPORTED = 1024 * 1024;

/** One attempt of a Run, with the memory that it was given. */
export class RunAttempt {
  readonly #job: RunJob;
  readonly #resources: AttemptResources;
  readonly #report: RunReport;
  readonly #tables: RunTables;
  /** Memory that operations hold outside the Run's heap. */
  readonly #share: RunShare;
  #reader: RowReader | null = null;
  #pipeline: Pipeline | null = null;
  /** Failure of a file that is still read to its end, because its syntax may be broken further down. */
  #held: Failure | null = null;
  /**
   * Failure that an operation or the writer has thrown. The file is still read to its end: a failure of the file or its
   * number of rows takes precedence, and the report describes the whole file.
   */
  #thrown: Failure | null = null;
  /** True after the last row before `cutAt`. */
  #isCut = false;
  readonly #more = new MoreFiles();
  readonly #clock: SliceClock;
  /** Memory that was taken for the plan. */
  #planBytes = 0;

  constructor(job: RunJob, resources: AttemptResources) {
    this.#job = job;
    this.#resources = resources;
    this.#share = runShare(job.budget);
    this.#report = emptyReport(job.task);
    this.#tables = new RunTables(job.tables ?? new TableCache());
    this.#clock = new SliceClock(() => {
      job.beat();
      if (job.cancelled()) throw new Cancelled();
    });
  }

  /**
   * A file with missing columns or too many rows is still read to its end. Broken syntax further down takes
   * precedence, and the response must not depend on how much of the file had arrived. Throws RowsNamed, RowsCut,
   * EndFound, EndPassed and Misread.
   */
  *drive(): Coroutine<RunOutcome> {
    try {
      const reader = yield* this.#open();
      if (this.#job.prepared.template.usesTables) yield this.#openTables();
      const pipeline = yield* this.#start(reader);
      if (pipeline?.hasWorks) yield* this.#goThrough(pipeline.prepare());
      if (this.#job.task.ranges !== undefined) yield* this.#writeRanges(pipeline);
      else if (this.#job.task.groups === undefined) {
        yield* this.#readAll(reader, pipeline);
        yield* this.#readMoreParts(reader, pipeline);
      }
      if (this.#held !== null || pipeline === null) return this.#outcome(this.#held, null);
      return yield* this.#end(reader, pipeline);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      const outcome = this.#outcome(error.failure, null);
      if (error instanceof Undecodable || error instanceof LateQuote || error instanceof LateUtf8)
        throw new Misread(outcome, error);
      return outcome;
    }
  }

  *#end(reader: RowReader, pipeline: Pipeline): Coroutine<RunOutcome> {
    const { cutAt } = this.#resources;
    const { task, watch } = this.#job;
    const { fatal, holdsRows } = pipeline;
    if (this.#thrown === null) {
      try {
        yield* this.#goThrough(pipeline.finish(cutAt !== null));
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        this.#thrown = error.failure;
      }
    }
    this.#job.parts?.errors(pipeline.errorCount);
    const mayCut = cutAt === null && watch === undefined && task.part === undefined && task.groups === undefined;
    if (fatal !== null && mayCut && (holdsRows || this.#thrown !== null)) throw new RowsCut(fatal);
    if (this.#thrown !== null) return this.#outcome(this.#thrown, null);
    this.#report.rows_read = reader.rowsRead;
    return this.#outcome(pipeline.verdict(reader.rowsRead, cutAt), pipeline);
  }

  /** Throws Failed and MemoryWanted. */
  *begin(): Coroutine<Beginning | null> {
    const reader = yield* this.#open();
    if (this.#job.prepared.template.usesTables) yield this.#openTables();
    const plan = this.#held === null ? yield* this.#plan(reader) : null;
    return plan && { head: reader.head, plan };
  }

  close(): void {
    this.#reader?.close();
    this.#pipeline?.close();
    this.#tables.close();
    this.#share.releaseAll();
    this.#reader = null;
    this.#pipeline = null;
    if (this.#planBytes >= PLAN_BYTES_REPORTED) this.#job.kernels.madeTexts(this.#planBytes);
  }

  *#open(): Coroutine<RowReader> {
    const { prepared, source, task, readAhead, formats } = this.#job;
    const settings: FileSettings = {
      input: prepared.template.input,
      overrides: task.overrides,
      expected: prepared.expected,
      formats,
      ending: task.ending,
      fileName: task.fileName ?? null,
      more: this.#more.files(task.more ?? []),
      needsOneMeta: needsOneMeta(prepared.template),
      encodingTries: this.#resources.encodingTries,
      takeMemory: this.#takeForPlan,
      inflatedBytesMax: task.limits.inflatedBytesMax,
      spill: this.#resources.spill,
      arena: this.#resources.arena,
      kernel: this.#resources.kernel,
      largeRow: this.#resources.gate,
      ...(task.groups === undefined && task.ranges === undefined && { readAhead }),
      giveWay: this.#giveWay,
      clock: this.#clock,
      rest: this.#restFor,
    };
    const { part } = task;
    const opensFirst = part && formatNamed(formats, part.head.format).splittable?.opensFirst;
    const known = task.groups?.head ?? task.ranges?.head;
    const head = known ?? (part === undefined || (part.number === 0 && opensFirst) ? null : part.head);
    const reader = yield* head === null ? openRows(source, settings) : resumeRows(source, head, settings);
    this.#reader = reader;
    reportInput(this.#report, reader.head);
    return reader;
  }

  async #openTables(): Promise<void> {
    const { prepared, task, kernels, budget, threadBudget } = this.#job;
    const giveWay = this.#giveWay;
    const tools = {
      kernels,
      budget: threadBudget ?? budget,
      spill: this.#resources.spill,
      largeRow: this.#resources.gate,
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

  /** Returns null if a table or a column is missing. */
  *#start(reader: RowReader): Coroutine<Pipeline | null> {
    if (this.#held !== null) return null;
    const plan = yield* this.#plan(reader);
    if (plan === null) return null;
    reader.useColumns?.(plan.columns.filter((field) => field !== null));
    if (this.#clock.isDue()) yield this.#rest();
    const ready = yield* this.#inSlices(plan.output.planned.ready());
    if (ready !== null) yield this.#clock.rest(() => ready);
    else if (this.#clock.isDue()) yield this.#rest();
    const own = stepsOfThread(this.#job, plan);
    const building = buildPipeline({
      plan: own.plan,
      groups: own.groups,
      keyed: own.keyed,
      sorted: own.sorted,
      template: this.#job.prepared.template,
      task: this.#job.task,
      kernel: this.#resources.kernel,
      arena: this.#resources.arena,
      clock: this.#clock,
      budget: this.#share,
      spill: this.#resources.spill,
      tables: this.#tables.tables,
      report: this.#report,
      meta: this.#metaOf(reader),
      fileOf: reader.fileOf === undefined ? null : (row) => reader.fileOf!(row),
      partSink: this.#job.parts?.sink ?? null,
      parts: this.#job.parts ?? null,
      watch: this.#job.watch ?? null,
      ends: this.#resources.ends,
    });
    this.#pipeline = yield* this.#inSlices(building);
    return this.#pipeline;
  }

  /** A part need not contain the lines above and below the table, so their values come from the task. */
  #metaOf({ head }: RowReader): MetaValues {
    return this.#job.task.part?.head.meta ?? head.meta ?? {};
  }

  *#goThrough(steps: Steps): Coroutine<void> {
    const { arena } = this.#resources;
    arena.clear();
    yield* inSteps(steps, arena, this.#clock, () => this.#rest());
  }

  #inSlices<T>(work: Sliced<T>): Coroutine<T> {
    return inSlices(work, { clock: this.#clock, giveWay: () => this.#rest() });
  }

  *#plan(reader: RowReader): Coroutine<RunPlan | null> {
    try {
      const { headers, hasKinds } = reader.head;
      const { prepared } = this.#job;
      const { rowNames } = this.#resources;
      const settings = { tables: this.#tables.columns, hasKinds, rowNames, take: this.#takeForPlan };
      const plan = prepared.lastPlan(headers, settings) ?? (yield* this.#inSlices(prepared.plan(headers, settings)));
      this.#held = missingMetaFailure(prepared.template.input, this.#metaOf(reader));
      return this.#held === null ? plan : null;
    } catch (error) {
      if (!(error instanceof Failed) || !COLUMN_FAILURES.has(error.failure.code)) throw error;
      const failure = withReading(error.failure, reader.head);
      // At a terminal, this is probably the wrong file, so the Run ends without looking for further errors.
      if (this.#job.task.showsHeaders === true && this.#job.watch === undefined)
        throw new Failed(failure.code, failure.message, failure);
      this.#held = failure;
      return null;
    }
  }

  /** Takes memory from the budget, or from memory that was lent to the Run. */
  readonly #takeForPlan = (bytes: number): void => {
    this.#planBytes += bytes;
    const { heap } = this.#resources.arena;
    if (this.#share.take(bytes) || heap.takeLent(bytes)) return;
    if (this.#resources.gate.tryLend(heap)) heap.takeLent(bytes);
    else throw this.#resources.gate.hasLent ? new Failed('RUN_RESOURCE_LIMIT', WIDE) : new MemoryWanted();
  };

  *#readAll(reader: RowReader, pipeline: Pipeline | null): Coroutine<void> {
    const rowsMax = this.#job.batchRowsMax ?? BATCH_ROWS_MAX;
    const { watch } = this.#job;
    const picked = watch?.pickedRows ?? null;
    const picker = picked === null ? null : new RowPicker(picked);
    for (;;) {
      this.#resources.arena.clear();
      const wanted = this.#rowsWanted(pipeline);
      const left = (watch?.rowsMax ?? Number.POSITIVE_INFINITY) - reader.rowsRead;
      if (left <= 0) return;
      const read = reader.next(Math.min(rowsMax, wanted, left));
      if (read === 'wait') yield this.#restFor(() => reader.wait());
      else if (read === 'end') {
        this.#showProgress(reader.rowsRead);
        return;
      } else {
        this.#showProgress(reader.rowsRead);
        this.#holdRowLimit(reader.rowsRead);
        const batch = this.#beforeCut(picker === null ? read : picker.pick(read));
        if (this.#held === null && pipeline !== null && wanted > 0 && batch.live > 0) {
          pipeline.isLastBatch = reader.isAtEnd === true;
          yield* this.#push(pipeline, batch, reader.raggedRows);
        }
        if (this.#clock.check()) yield this.#rest();
      }
    }
  }

  #rowsWanted(pipeline: Pipeline | null): number {
    const isOver = this.#held !== null || this.#thrown !== null || this.#isCut;
    return isOver || pipeline === null ? 0 : pipeline.rowsWanted();
  }

  /** Returns the rows before the one that ended an earlier attempt. */
  #beforeCut(batch: Batch): Batch {
    const { cutAt } = this.#resources;
    if (cutAt === null || batch.live === 0 || sourceRow(batch, batch.live - 1) < cutAt.sourceRow) return batch;
    this.#isCut = true;
    let rows = 0;
    while (sourceRow(batch, rows) < cutAt.sourceRow) rows++;
    return batch.slice(0, rows);
  }

  #showProgress(rowsRead: number): void {
    const { source, progressed, task } = this.#job;
    if (task.more !== undefined && task.more.length > 0) source.passed?.(source.reachedBytes + this.#more.newBytes());
    progressed?.(rowsRead);
  }

  /** Reads further parts with the same pipeline, because building it takes longer than the rows of a part. */
  *#readMoreParts(reader: RowReader, pipeline: Pipeline | null): Coroutine<void> {
    const { parts } = this.#job;
    if (parts === undefined || pipeline === null) return;
    // Parts after the end of the rows are read, too, because their rows count and their syntax may be broken.
    while (this.#held === null && this.#thrown === null && pipeline.fatal === null) {
      yield* this.#goThrough(pipeline.endPart());
      parts.errors(pipeline.errorCount);
      if (!(yield* parts.next(reader.rowsRead, pipeline.rowsWritten, this.#restFor))) return;
      reader.resume!();
      yield* this.#readAll(reader, pipeline);
    }
  }

  /** Writes ranges of rows that several threads have sorted. */
  *#writeRanges(pipeline: Pipeline | null): Coroutine<void> {
    if (pipeline === null) return;
    do {
      yield* this.#goThrough(pipeline.emitRange());
      yield* this.#goThrough(pipeline.endPart());
    } while (yield* this.#job.parts!.next(0, pipeline.rowsWritten, this.#restFor));
  }

  *#push(pipeline: Pipeline, batch: Batch, ragged: readonly RaggedRow[] | undefined): Coroutine<void> {
    try {
      for (const _ of pipeline.push(batch, ragged)) if (this.#clock.isDue()) yield this.#rest();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      yield* this.#goThrough(pipeline.lookForEnd());
      this.#thrown = error.failure;
    }
  }

  #holdRowLimit(rowsRead: number): void {
    const { rowsMax } = this.#job.task.limits;
    if (rowsMax === null || rowsRead <= rowsMax) return;
    const message = `The file has more than the ${rowsMax} data rows that the plan allows.`;
    this.#held ??= { code: 'ROW_LIMIT_EXCEEDED', message };
  }

  #outcome(failure: Failure | null, pipeline: Pipeline | null): RunOutcome {
    const report = this.#report;
    if (pipeline === null && this.#job.watch === undefined) removeCounts(report);
    this.#reader?.describe(report);
    report.rows_read = this.#reader?.rowsRead ?? 0;
    placeRows(this.#job, this.#reader, report);
    const isSuccess = failure === null && pipeline !== null;
    if (!isSuccess) removeSkipped(report);
    const { output, rejects } = isSuccess ? pipeline.takeFiles() : { output: null, rejects: null };
    return {
      rowsWritten: isSuccess ? pipeline.rowsWritten : null,
      truncated: isSuccess && pipeline.truncated,
      output,
      rejects,
      failure: this.#placed(failure),
      report,
      busyMilliseconds: this.#clock.busyMilliseconds,
    };
  }

  /** Adds the position in the workbook (sheet and row), or the file, to the failure of a row that ended the Run. */
  #placed(failure: Failure | null): Failure | null {
    const row = failure?.place?.row ?? null;
    const file = row === null ? null : (this.#reader?.fileOf?.(row) ?? null);
    if (failure !== null && file !== null) return inFile(failure, file);
    const place = row === null ? null : (this.#reader?.placeOf?.(row) ?? null);
    if (failure === null || place === null) return failure;
    return { ...failure, message: `${failure.message} (Sheet ${place.sheet}, row ${place.row}.)` };
  }

  readonly #giveWay = async (): Promise<void> => {
    if (this.#clock.check()) await this.#rest();
  };

  /**
   * Waits, and then waits for the Run's turn. Otherwise a message that brings bytes for many Runs would let all of them
   * continue before the thread receives its next message.
   */
  readonly #restFor: Rest = (wait) =>
    this.#clock.rest(async () => {
      await wait();
      await this.#job.turn?.();
    });

  #rest(): Promise<void> {
    return this.#clock.rest(this.#job.turn ?? nextTurnOfLoop);
  }
}
