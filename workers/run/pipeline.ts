// Builds the chain of one Run: the plan's operators, then the output stage, with a limit on the rows that a step
// receives at once.
import { BATCH_ROWS_MAX, type Batch, type ColumnData } from '../batch/batch.ts';
import { OrderedParts, type PartsInOrder } from '../batch/ordered-parts.ts';
import { finderIn } from '../batch/schema.ts';
import { conditionsOf } from '../execution/expressions/row-condition.ts';
import type { Tables } from '../execution/tables/run-tables.ts';
import type { RaggedRow } from '../input/csv/selected-rows.ts';
import type { MetaValues, PlacedFile } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Arena } from '../memory/arena.ts';
import type { BudgetShare } from '../memory/budget.ts';
import type { SpillFolder } from '../memory/spill-file.ts';
import type { PartSink } from '../output/sink/file-sink.ts';
import { isOrdered, type PlannedStep, type RunPlan } from '../plan/plan.ts';
import { Failed, type Failure } from '../protocol/failure.ts';
import type { RunOutcome, RunTask } from '../protocol/messages.ts';
import {
  type CodeCounts,
  countCode,
  type OperationReport,
  type RowErrorCode,
  type RunReport,
} from '../protocol/report.ts';
import {
  DONE,
  isSliced,
  PAUSE,
  SLICE_MILLISECONDS,
  type SliceClock,
  type Sliced,
  type Slices,
  type Steps,
} from '../scheduling/time-slices.ts';
import type {
  MergedGroups,
  Next,
  OperatorContext,
  PartGroups,
  SortedParts,
  SortedRanges,
} from '../template/operation.ts';
import type { Template } from '../template/template.ts';
import { countedAhead, type LastStage, lastStage } from './output-stage.ts';
import { rejectedRows } from './rejected-rows.ts';
import { type FatalRow, naming, type PublicName, publicColumn, RunErrors, StepErrors } from './row-errors.ts';
import { type RunWatch, watched, watchedErrors } from './run-job.ts';
import { type KeyedOperator, startStep } from './share-steps.ts';
import {
  type CountedStep,
  type EndingStep,
  EndPreview,
  EndTrial,
  ExactEnd,
  endedAt,
  inPortions,
  type KnownEnds,
  lateEnd,
  type PreviewedStep,
  type PushInProgress,
  RowsNamed,
} from './stopped-rows.ts';

// Adapts how many rows a step of the chain processes at once. Expensive rows (such as a pattern on long cells) block
// the thread's other Runs and a cancellation until the step pauses. A step that took too long gets fewer rows the
// next time.

/** Rows of the first slice, before the cost of a row is known. */
const FIRST_ROWS = 64;

/** Approximate size of the first slice, in bytes: a kernel processes it in 10 µs, a slow pattern in 30 ms. */
const FIRST_BYTES = 16_384;

/** Factor by which the number of rows grows after a fast slice. */
const STEP = 4;

export class BatchPace {
  /** Maximum number of rows in the next slice. */
  rows: number;
  readonly #rowsMax: number;

  constructor(rowsFirst: number, rowsMax: number = BATCH_ROWS_MAX) {
    this.rows = Math.min(rowsFirst, rowsMax);
    this.#rowsMax = rowsMax;
  }

  /** Records that the given number of rows blocked the thread for the given time. */
  took(rows: number, milliseconds: number): void {
    if (milliseconds * STEP < SLICE_MILLISECONDS) {
      this.rows = Math.min(this.#rowsMax, Math.max(this.rows, rows * STEP));
    } else {
      const bearable = Math.floor((rows * SLICE_MILLISECONDS) / milliseconds);
      this.rows = Math.max(1, Math.min(this.#rowsMax, bearable));
    }
  }
}

/** Splits batches into slices that each take about one time slice, and pauses between them. */
function paced(clock: SliceClock, next: Next): Next {
  let pace: BatchPace | null = null;
  return (batch) => {
    if (batch.live === 0) return DONE;
    // A small batch is passed on whole: measuring and slicing would cost more than the work, which checks the clock
    // itself.
    if (pace === null && batch.live <= FIRST_ROWS && batch.live <= firstRows(batch)) return next(batch);
    pace ??= new BatchPace(firstRows(batch));
    return inSteps(batch, pace, clock, next);
  };
}

function* inSteps(batch: Batch, pace: BatchPace, clock: SliceClock, next: Next): Slices {
  const { arena, live } = batch;
  const mark = arena.next;
  for (let from = 0; from < live; ) {
    const to = Math.min(live, from + pace.rows);
    const entered = clock.enter();
    if (to < live) arena.openBatches++;
    yield* next(batch.slice(from, to));
    if (to < live) arena.openBatches--;
    pace.took(to - from, clock.leave(entered));
    if (clock.isDue()) yield PAUSE;
    if (to < live) arena.release(mark);
    from = to;
  }
}

/** Number of rows that together have about FIRST_BYTES bytes. */
function firstRows(batch: Batch): number {
  const bytes = rawBytes(batch) / batch.live + madeBytes(batch);
  return Math.max(1, Math.min(FIRST_ROWS, Math.floor(FIRST_BYTES / bytes)));
}

/** Size of the batch's rows in the file, in bytes. */
function rawBytes(batch: Batch): number {
  const { raw, heap } = batch;
  if (raw === null) return 0;
  const entry = (position: number): number => (raw.at >>> 2) + batch.physicalRow(position) * raw.stride;
  const [first, last] = [entry(0), entry(batch.live - 1)];
  return Math.max(0, heap.u32[last + raw.stride - 1]! - heap.u32[first]!);
}

/** Size of those cells of the first row that are not in the file, in bytes. */
function madeBytes(batch: Batch): number {
  const { u32 } = batch.heap;
  const row = batch.physicalRow(0);
  let bytes = 0;
  for (const column of batch.columns) {
    if (column.kind === 'views' && u32[(column.at + row * VIEW_BYTES) >>> 2] !== 0) {
      bytes += u32[((column.at + row * VIEW_BYTES) >>> 2) + 1]!;
    }
  }
  return bytes;
}

// The chain.

/** Everything from which a chain is built. */
export interface PipelineSettings {
  readonly plan: RunPlan;
  readonly template: Template;
  readonly task: RunTask;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly clock: SliceClock;
  readonly budget: BudgetShare;
  readonly spill: SpillFolder;
  readonly tables: Tables;
  readonly report: RunReport;
  readonly meta: MetaValues;
  /** See OperatorContext. */
  readonly fileOf: ((sourceRow: number) => PlacedFile | null) | null;
  /** Receives the output if the Run processes parts of its file. */
  readonly partSink: PartSink | null;
  /** Set if the Run processes parts of its file. */
  readonly parts?: PartsInOrder | null;
  /** Null if the Run is not watched. */
  readonly watch: RunWatch | null;
  /** Ends that earlier attempts of the Run have found. */
  readonly ends: KnownEnds;
  /** `groups`, `keyed` and `sorted`: see ThreadSteps. */
  readonly groups: PartGroups | MergedGroups | null;
  readonly keyed: KeyedOperator | null;
  readonly sorted: SortedParts | SortedRanges | null;
}

export interface Pipeline {
  /** True if `prepare` has work to do. */
  readonly hasWorks: boolean;
  /** Does the work that operators require before the first batch. Yields in between. */
  prepare(): Steps;
  /** Maximum number of rows in the next batch; 0 = no further rows are needed. */
  rowsWanted(): number;
  /**
   * The batch must stay valid until the slices are done. Throws EndPassed.
   * @param ragged rows of the batch that are rejected because of their length
   */
  push(batch: Batch, ragged?: readonly RaggedRow[]): Slices;
  /**
   * Writes the output of the rows so far to the sink, and lets the next part pass. Only for operators that hold no rows,
   * and formats that can be split.
   */
  endPart(): Slices;
  /** True if the next batch that is pushed is the last one of its part. */
  isLastBatch: boolean;
  /** See Operator. */
  emitRange(): Steps;
  /**
   * Signals the end of input: every operator emits the rows that it holds. Yields between batches. Throws RowsNamed,
   * EndFound and EndPassed.
   * @param isCut the Run fails in any case (see RowsCut)
   */
  finish(isCut?: boolean): Steps;
  /**
   * After `push` has failed: throws EndFound if the rows end among those that an operator holds back. The row that
   * failed is then after the end, so that it must not fail the Run.
   */
  lookForEnd(): Steps;
  /** The row that ends the Run, as far as it is known. */
  readonly fatal: FatalRow | null;
  /** True if operators may emit rows in `finish`, or if the output writes them there. */
  readonly holdsRows: boolean;
  /**
   * The failure that errors in rows cause, if any. Call it after `finish`.
   * @param fatal the row that ends the Run unless an earlier row does (see RowsCut)
   */
  verdict(rowsRead: number, fatal: FatalRow | null): Failure | null;
  readonly rowsWritten: number;
  /** Number of errors in rows so far, as the limits of the Template count them. */
  readonly errorCount: number;
  readonly truncated: boolean;
  takeFiles(): Pick<RunOutcome, 'output' | 'rejects'>;
  close(): void;
}

/** Number of operators that are started between two checks of the clock. */
const LINKS_AT_ONCE = 8;

/**
 * Builds the chain. For a small file, building costs more than the rows do: avoid copying objects with `...` here,
 * and create objects that only some Templates need on demand.
 */
export function* buildPipeline(settings: PipelineSettings): Sliced<Pipeline> {
  const { watch } = settings;
  const publicName: PublicName = (step, name) => publicColumn(settings.plan, settings.template, step, name);
  const errors = new RunErrors(rejectedRows(settings), watch?.continuesAfterFailure === true, publicName);
  const output = lastStage(settings, errors);
  let next: Next = paced(settings.clock, (batch) => output.push(batch));
  const { startedAt, secretsDirectory, fileName = null } = settings.task;
  const works: (() => Steps)[] = [];
  const beforeRows = (work: () => Steps): void => void works.push(work);
  const contextOf = () => ({ ...settings, startedAt, fileName, beforeRows });
  const { steps } = settings.plan;
  settings.report.operations = steps.map(emptyReport);
  const ordered = settings.parts ? new OrderedParts(settings.parts, steps.map(isOrdered), settings) : null;
  const groupsAt = settings.groups?.kind === 'merge' ? 0 : steps.length - 1;
  const links: Link[] = [];
  const inProgress: PushInProgress = { mode: null };
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index]!;
    const report = settings.report.operations[index]!;
    const stepErrors = new StepErrors(errors, index, step.operation, report.errors);
    const { where, cellWhere } = conditionsOf(step.where, step.input, contextOf);
    const emitted = step.rowLocal ? next : gated(settings, links.toReversed(), index + 1, inProgress, next);
    const context: OperatorContext = {
      input: step.input,
      output: step.output,
      indexOf: finderIn(step.input),
      layout: step.layout,
      headers: settings.plan.headers,
      next: counted(report, watched(watch, index + 1, emitted)),
      // Row-local operators do not hold rows, so they never write ahead. A watched Run does not write ahead either,
      // because rows that are held as encoded output bytes cannot be shown.
      ahead: !step.rowLocal && links.length === 0 && watch === null ? countedAhead(report, output.ahead) : null,
      kernel: settings.kernel,
      arena: settings.arena,
      clock: settings.clock,
      budget: settings.budget,
      spill: settings.spill,
      tables: settings.tables,
      report,
      errors: watch === null ? stepErrors : watchedErrors(watch, index, stepErrors),
      where,
      cellWhere,
      beforeRows,
      startedAt,
      fileName,
      meta: settings.meta,
      fileOf: settings.fileOf,
      secretsDirectory,
      groups: index === groupsAt ? settings.groups : null,
      inOrder: ordered?.step(index),
      sorted: index === steps.length - 1 ? settings.sorted : null,
      defersRows: () => holdRowsBack(settings, link),
    };
    const starting = startStep(settings.keyed, step, context);
    const started = isSliced(starting) ? yield* starting : starting;
    const operator = endedAt(started, settings.ends.lastRows.get(index));
    const { rowLocal, needsAllRows, input, edits } = step;
    const link: Link = { step, operator, report, rowLocal, needsAllRows, input, edits, ...FIRST_STATE };
    links.push(link);
    const pushed = paced(settings.clock, (batch) => operator.push(batch));
    const push: Next = step.rowLocal ? pushed : (batch) => naming(step, pushed(batch));
    next = (batch) => {
      report.rows_in += batch.live;
      return link.muted ? DONE : push(batch);
    };
    if (index % LINKS_AT_ONCE === 0 && settings.clock.isDue()) yield PAUSE;
  }
  watch?.begin(settings.plan, settings.report);
  return new Chain(settings, links.toReversed(), inProgress, watched(watch, 0, next), errors, output, works, ordered);
}

/** Wraps the output of an operator that may hold rows: it may emit more rows than the later steps need. */
function gated(
  settings: PipelineSettings,
  after: readonly Link[],
  step: number,
  inProgress: PushInProgress,
  next: Next,
): Next {
  if (after.every(({ operator }) => operator.rowsWanted === undefined)) return next;
  const preview = EndPreview.of(after, after[0]!.input, flagOf(settings));
  const rowsBefore = settings.ends.rowsBefore.get(step) ?? Number.POSITIVE_INFINITY;
  const trial = new EndTrial({ step, steps: after, seenAhead: preview, rowsBefore, inProgress });
  const portions = inPortions(trial, preview, next);
  return (batch) => trial.push(batch, portions);
}

function emptyReport({ operation: { name, id } }: PlannedStep): OperationReport {
  return { operation: name, id, rows_in: 0, rows_out: 0, cells_changed: 0, errors: {} };
}

/** Id of the flag column, or null. */
function flagOf({ plan }: PipelineSettings): number | null {
  return plan.flagColumn ? plan.schema.at(-1)!.id : null;
}

/** A step of the chain. */
interface Link extends CountedStep, PreviewedStep, EndingStep {
  readonly step: PlannedStep;
  /** If true, rows are counted but not processed (see ExactEnd). */
  muted: boolean;
  defersRows: boolean;
}

const NO_LIMITS = { maxErrors: null, maxErrorRatio: null };

/** State of a link before the first row. */
const FIRST_STATE = { muted: false, defersRows: false };

/**
 * Called only before the first row or while rows arrive, when the link exists already. Throws Failed in a Run over parts,
 * whose rows must leave an operator in the part in which they arrived.
 */
function holdRowsBack({ partSink }: PipelineSettings, link: Link): void {
  if (partSink !== null) throw new Failed('RUN_RESOURCE_LIMIT', 'An operation lacks the memory to process settings.');
  link.defersRows = true;
}

function counted(report: OperationReport, next: Next): Next {
  return (batch) => {
    report.rows_out += batch.live;
    return batch.live > 0 ? next(batch) : DONE;
  };
}

class Chain implements Pipeline {
  readonly #settings: PipelineSettings;
  readonly #links: readonly Link[];
  readonly #exactEnd: ExactEnd | null;
  /** Used if `#exactEnd` is not possible. */
  readonly #preview: EndPreview | null;
  /** Null if no operator may end the rows. */
  readonly #trial: EndTrial | null;
  readonly #first: Next;
  readonly #errors: RunErrors;
  readonly #output: LastStage;
  readonly #works: readonly (() => Steps)[];
  readonly #ordered: OrderedParts | null;
  readonly #nullViews: number;

  constructor(
    settings: PipelineSettings,
    links: readonly Link[],
    inProgress: PushInProgress,
    first: Next,
    errors: RunErrors,
    output: LastStage,
    works: readonly (() => Steps)[],
    ordered: OrderedParts | null,
  ) {
    this.#works = works;
    this.#ordered = ordered;
    ordered?.begin(links);
    this.#settings = settings;
    this.#links = links;
    // ExactEnd pushes a batch twice, which a watcher would see.
    this.#exactEnd = settings.watch === null ? ExactEnd.of(links, errors) : null;
    this.#preview = this.#exactEnd === null ? EndPreview.of(links, settings.plan.schema, flagOf(settings)) : null;
    const seenAhead = this.#exactEnd ?? this.#preview;
    const rowsBefore = settings.ends.rowsBefore.get(0) ?? Number.POSITIVE_INFINITY;
    const mayEnd = links.some(({ operator }) => operator.rowsWanted !== undefined);
    this.#trial = mayEnd ? new EndTrial({ step: 0, steps: links, seenAhead, rowsBefore, inProgress }) : null;
    this.#first = this.#preview === null ? first : inPortions(this.#trial!, this.#preview, first);
    this.#errors = errors;
    this.#output = output;
    const bytes = BATCH_ROWS_MAX * VIEW_BYTES;
    this.#nullViews = settings.plan.columns.includes(null) ? settings.arena.heap.allocate(bytes) : 0;
    if (this.#nullViews !== 0) settings.arena.heap.u8.fill(0, this.#nullViews, this.#nullViews + bytes);
  }

  get hasWorks(): boolean {
    return this.#works.length > 0;
  }

  get rowsWritten(): number {
    return this.#output.rowsWritten;
  }

  get errorCount(): number {
    return this.#errors.count;
  }

  get truncated(): boolean {
    return this.#output.truncated;
  }

  *prepare(): Steps {
    for (const work of this.#works) yield* work();
  }

  /**
   * An operator that needs all rows must receive them even if a later operator has enough: the errors of operators
   * before it still count.
   */
  rowsWanted(): number {
    return this.#errors.fatal ? 0 : (this.#trial?.wanted() ?? Number.POSITIVE_INFINITY);
  }

  push(batch: Batch, ragged: readonly RaggedRow[] = []): Slices {
    if (this.#trial === null) return this.#enter(batch, ragged);
    return this.#trial.push(batch, (rows) => this.#pushToEnd(rows, ragged));
  }

  #pushToEnd(batch: Batch, ragged: readonly RaggedRow[]): Slices {
    const end = this.#exactEnd;
    if (end === null) return this.#enter(batch, ragged);
    return end.push(batch, (rows, muted) => this.#push(rows, ragged, muted ? this.#links[end.index]! : null));
  }

  /** Rows that are rejected because of their length never reach the first operation. */
  #enter(batch: Batch, ragged: readonly RaggedRow[]): Slices {
    const adopted = this.#adopt(batch);
    if (ragged.length === 0) return this.#first(adopted);
    const fitting = this.#errors.rejectRagged(adopted, ragged);
    return fitting.live === 0 ? DONE : this.#first(fitting);
  }

  set isLastBatch(isLast: boolean) {
    if (this.#ordered !== null) this.#ordered.isLastBatch = isLast;
  }

  *endPart(): Slices {
    if (this.#ordered !== null) yield* this.#ordered.endPart();
    for (const { operator } of this.#links) operator.endPart?.();
    this.#output.endPart();
  }

  emitRange(): Steps {
    return this.#links[0]!.operator.emitRange!();
  }

  *finish(isCut = false): Steps {
    for (const { operator, step } of this.#links) {
      if (operator.finish !== undefined) yield* naming(step, operator.finish());
    }
    // Also needed if a row ended the Run, because that row may be after the end.
    const end = lateEnd(this.#links, this.#settings.ends);
    if (end !== null) throw end;
    if (isCut || this.#errors.fatal) {
      // The rows before the fatal one may be more than the output can have.
      yield* this.#output.flush();
      return;
    }
    const names = this.#links.at(-1)?.operator.rowNames?.() ?? null;
    if (names !== null) throw new RowsNamed(names);
    yield* this.#output.finish();
    this.#errors.rejected?.finish(this.#settings.report);
  }

  *lookForEnd(): Steps {
    const holding = this.#links.findIndex(({ defersRows }) => defersRows);
    if (this.#trial === null || holding < 0) return;
    try {
      for (const { operator } of this.#links.slice(holding)) {
        if (operator.finish !== undefined) yield* operator.finish();
      }
    } catch (error) {
      // The failure of `push` is the one to report.
      if (error instanceof Failed) return;
      throw error;
    }
    const end = lateEnd(this.#links, this.#settings.ends);
    if (end !== null) throw end;
  }

  get fatal(): FatalRow | null {
    return this.#errors.first;
  }

  get holdsRows(): boolean {
    return this.#output.holdsRows || this.#links.some(({ operator }) => operator.finish !== undefined);
  }

  verdict(rowsRead: number, fatal: FatalRow | null): Failure | null {
    const first = this.#errors.first ?? fatal;
    if (first !== null && this.#settings.watch?.continuesAfterFailure !== true) this.#reportOnly(first);
    const { template, task } = this.#settings;
    const { rows = 0, errors = 0 } = task.groups ?? {};
    // The limits hold for the whole file: PartTurns counts the errors of all parts.
    const limits = task.part === undefined ? template.defaults : NO_LIMITS;
    return this.#errors.verdict(limits, rowsRead + rows, fatal, errors);
  }

  /**
   * The progress of the rows after the fatal one depends on the batches. Therefore the report contains the fatal row
   * only.
   */
  #reportOnly({ step, code, sourceRow }: { step: number; code: RowErrorCode; sourceRow: number }): void {
    const counted: CodeCounts = {};
    countCode(counted, code, sourceRow);
    for (const [index, report] of this.#settings.report.operations.entries()) {
      const errors = index === step ? counted : {};
      Object.assign(report, { rows_in: 0, rows_out: 0, cells_changed: 0, errors });
    }
    const { operations, output } = this.#settings.report;
    if (step === operations.length) output.errors = counted;
  }

  takeFiles(): Pick<RunOutcome, 'output' | 'rejects'> {
    return { output: this.#output.take(), rejects: this.#errors.rejected?.take() ?? null };
  }

  close(): void {
    this.#errors.rejected?.close();
    this.#output.close();
    this.#settings.groups?.close();
    this.#ordered?.close();
    this.#settings.keyed?.close();
    this.#settings.sorted?.close();
  }

  *#push(batch: Batch, ragged: readonly RaggedRow[], muted: Link | null): Slices {
    if (muted !== null) muted.muted = true;
    try {
      yield* this.#enter(batch, ragged);
    } finally {
      if (muted !== null) muted.muted = false;
    }
  }

  /**
   * Maps the fields of the file to the plan's columns. Missing fields are null; the flag column (the last one) starts
   * empty.
   */
  #adopt(batch: Batch): Batch {
    const { columns, flagColumn } = this.#settings.plan;
    const adopted = columns.map((field): ColumnData => {
      return field === null ? { kind: 'views', at: this.#nullViews } : batch.columns[field]!;
    });
    if (flagColumn) {
      const at = this.#settings.arena.take(batch.rows * VIEW_BYTES);
      this.#settings.arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
      adopted.push({ kind: 'views', at });
    }
    return batch.withColumns(adopted);
  }
}
