// The chain of one Run: the plan's operators, the order of the output's columns, the cap on its rows, writer and sink.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { BATCH_ROWS_MAX } from '../batch/batch.ts';
import { finderIn } from '../batch/schema.ts';
import { conditionsOf } from '../execution/expressions/row-condition.ts';
import type { SpillFolder } from '../execution/spill/spill-folder.ts';
import type { Tables } from '../execution/tables/table-cache.ts';
import type { MetaValues } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Arena } from '../memory/arena.ts';
import type { BudgetShare } from '../memory/budget.ts';
import type { Next } from '../operations/operation.ts';
import type { PlannedStep, RunPlan } from '../plan/plan.ts';
import type { Failure } from '../protocol/failure.ts';
import type { RunOutcome, RunTask } from '../protocol/messages.ts';
import type { Template } from '../template/template.ts';
import { paced } from './batch-pace.ts';
import { countedAhead } from './counted-ahead.ts';
import { EndPreview, type PreviewedStep } from './end-preview.ts';
import { type CountedStep, ExactEnd } from './exact-end.ts';
import { naming } from './operation-failure.ts';
import { OutputStage, type SharedOutput } from './output-stage.ts';
import { gated, inPortions, wantedBy } from './portions.ts';
import { rejectedRows } from './rejected-rows.ts';
import type { OperationReport, RowErrorCode, RunReport } from './report.ts';
import { RunErrors, StepErrors } from './row-errors.ts';
import { RowsNamed } from './rows-named.ts';
import { type RunWatch, watched, watchedErrors } from './run-watch.ts';
import type { SliceClock } from './slice-clock.ts';
import { DONE, PAUSE, type Sliced, type Slices, type Steps } from './time-slices.ts';

export interface PipelineParts {
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
  readonly shared: SharedOutput | null;
  /** Null: nobody watches. */
  readonly watch: RunWatch | null;
}

export interface Pipeline {
  /** There is something to prepare. */
  readonly hasWorks: boolean;
  /** Comes before the first batch: what operators need to have done, yielding in between. */
  prepare(): Steps;
  /** Rows that the next batch may have at most; 0 = none is wanted any more. */
  rowsWanted(): number;
  /** The batch must stay until the slices are done. */
  push(batch: Batch): Slices;
  /** End of the input: lets every operator hand on what it holds, yielding between batches. Throws RowsNamed. */
  finish(): Steps;
  /** What errors in rows make of the Run, once finished. */
  verdict(rowsRead: number): Failure | null;
  readonly rowsWritten: number;
  readonly truncated: boolean;
  takeFiles(): Pick<RunOutcome, 'output' | 'rejects'>;
  close(): void;
}

/** Operators that are started between two looks at the clock. */
const LINKS_AT_ONCE = 8;

/**
 * No object is copied with `...` for each Run, and what only some Templates need is made for them alone: a small file is
 * through in less time than that takes.
 */
export function* buildPipeline(parts: PipelineParts): Sliced<Pipeline> {
  const { watch } = parts;
  const errors = new RunErrors(rejectedRows(parts), watch?.gathers === true);
  const output = new OutputStage(parts, errors);
  let next: Next = paced(parts.clock, (batch) => output.push(batch));
  const { startedAt, secretsDirectory } = parts.task;
  const flag = flagOf(parts);
  const works: (() => Steps)[] = [];
  const beforeRows = (work: () => Steps): void => void works.push(work);
  const contextOf = () => ({ ...parts, startedAt, beforeRows });
  const { steps } = parts.plan;
  const reports = steps.map(emptyReport);
  parts.report.operations = reports;
  const links: Link[] = [];
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index]!;
    const report = reports[index]!;
    const stepErrors = new StepErrors(errors, index, step.operation, report.errors);
    const { where, cellWhere } = conditionsOf(step.where, step.input, contextOf);
    const handedOn = step.rowLocal ? next : gated(inOrder(links), step.output, flag, next);
    const operator = step.definition.start(step.plan, {
      input: step.input,
      output: step.output,
      indexOf: finderIn(step.input),
      layout: step.layout,
      headers: parts.plan.headers,
      next: counted(report, watched(watch, index + 1, handedOn)),
      // Who hands its rows on at once holds none; and rows that are held as the bytes that they become cannot be shown.
      ahead: !step.rowLocal && links.length === 0 && watch === null ? countedAhead(report, output.ahead) : null,
      kernel: parts.kernel,
      arena: parts.arena,
      clock: parts.clock,
      budget: parts.budget,
      spill: parts.spill,
      tables: parts.tables,
      report,
      errors: watch === null ? stepErrors : watchedErrors(watch, index, stepErrors),
      where,
      cellWhere,
      beforeRows,
      startedAt,
      meta: parts.meta,
      secretsDirectory,
    });
    const { rowLocal, needsAllRows, input, edits } = step;
    const link: Link = { step, operator, report, rowLocal, needsAllRows, input, edits, muted: false };
    links.push(link);
    const pushed = paced(parts.clock, (batch) => operator.push(batch));
    const push: Next = step.rowLocal ? pushed : (batch) => naming(step, pushed(batch));
    next = (batch) => {
      report.rows_in += batch.live;
      return link.muted ? DONE : push(batch);
    };
    if (index % LINKS_AT_ONCE === 0 && parts.clock.isDue()) yield PAUSE;
  }
  watch?.begin(parts.plan, parts.report);
  return new Chain(parts, inOrder(links), watched(watch, 0, next), errors, output, works);
}

/** Steps that were started from the last to the first, in their order. */
function inOrder(started: readonly Link[]): readonly Link[] {
  return started.toReversed();
}

function emptyReport({ operation: { name, id } }: PlannedStep): OperationReport {
  return { operation: name, id, rows_in: 0, rows_out: 0, cells_changed: 0, errors: {} };
}

/** Id of the flag column, or null. */
function flagOf({ plan }: PipelineParts): number | null {
  return plan.flagColumn ? plan.schema.at(-1)!.id : null;
}

/** A step of the chain. */
interface Link extends CountedStep, PreviewedStep {
  readonly step: PlannedStep;
  /** Rows are counted and not worked on (see ExactEnd). */
  muted: boolean;
}

function counted(report: OperationReport, next: Next): Next {
  return (batch) => {
    report.rows_out += batch.live;
    return batch.live > 0 ? next(batch) : DONE;
  };
}

class Chain implements Pipeline {
  readonly #parts: PipelineParts;
  readonly #links: readonly Link[];
  readonly #exactEnd: ExactEnd | null;
  /** Where the exact end cannot be had. */
  readonly #preview: EndPreview | null;
  readonly #first: Next;
  readonly #errors: RunErrors;
  readonly #output: OutputStage;
  readonly #works: readonly (() => Steps)[];
  readonly #nullViews: number;

  constructor(
    parts: PipelineParts,
    links: readonly Link[],
    first: Next,
    errors: RunErrors,
    output: OutputStage,
    works: readonly (() => Steps)[],
  ) {
    this.#works = works;
    this.#parts = parts;
    this.#links = links;
    // It lets a batch through twice, which a watcher would see.
    this.#exactEnd = parts.watch === null ? ExactEnd.of(links, errors) : null;
    this.#preview = this.#exactEnd === null ? EndPreview.of(links, parts.plan.schema, flagOf(parts)) : null;
    this.#first = this.#preview === null ? first : inPortions(links, this.#preview, first);
    this.#errors = errors;
    this.#output = output;
    const bytes = BATCH_ROWS_MAX * VIEW_BYTES;
    this.#nullViews = parts.plan.columns.includes(null) ? parts.arena.heap.allocate(bytes) : 0;
    if (this.#nullViews !== 0) parts.arena.heap.u8.fill(0, this.#nullViews, this.#nullViews + bytes);
  }

  get hasWorks(): boolean {
    return this.#works.length > 0;
  }

  get rowsWritten(): number {
    return this.#output.rowsWritten;
  }

  get truncated(): boolean {
    return this.#output.truncated;
  }

  *prepare(): Steps {
    for (const work of this.#works) yield* work();
  }

  /** Operators before one that needs all rows may not stop early: what they would have met there still counts. */
  rowsWanted(): number {
    return this.#errors.fatal ? 0 : wantedBy(this.#links, this.#exactEnd ?? this.#preview);
  }

  push(batch: Batch): Slices {
    const end = this.#exactEnd;
    if (end === null) return this.#first(this.#adopt(batch));
    return end.push(batch, (rows, muted) => this.#push(rows, muted ? this.#links[end.index]! : null));
  }

  *finish(): Steps {
    for (const { operator, step } of this.#links) {
      if (operator.finish !== undefined) yield* naming(step, operator.finish());
    }
    if (this.#errors.fatal) return;
    const names = this.#links.at(-1)?.operator.rowNames?.() ?? null;
    if (names !== null) throw new RowsNamed(names);
    this.#output.finish();
    this.#errors.rejected?.finish(this.#parts.report);
  }

  verdict(rowsRead: number): Failure | null {
    const { first } = this.#errors;
    if (first !== null && this.#parts.watch?.gathers !== true) this.#reportOnly(first);
    return this.#errors.verdict(this.#parts.template.defaults, rowsRead);
  }

  /** How far rows behind the one that ends the Run had come depends on batches: the report tells that row alone. */
  #reportOnly({ step, code, sourceRow }: { step: number; code: RowErrorCode; sourceRow: number }): void {
    for (const [index, report] of this.#parts.report.operations.entries()) {
      const errors = index === step ? { [code]: { count: 1, rows: [sourceRow] } } : {};
      Object.assign(report, { rows_in: 0, rows_out: 0, cells_changed: 0, errors });
    }
    const { operations, output } = this.#parts.report;
    if (step === operations.length) output.errors = { [code]: { count: 1, rows: [sourceRow] } };
  }

  takeFiles(): Pick<RunOutcome, 'output' | 'rejects'> {
    return { output: this.#output.take(), rejects: this.#errors.rejected?.take() ?? null };
  }

  close(): void {
    this.#errors.rejected?.close();
    this.#output.close();
  }

  *#push(batch: Batch, muted: Link | null): Slices {
    if (muted !== null) muted.muted = true;
    try {
      yield* this.#first(this.#adopt(batch));
    } finally {
      if (muted !== null) muted.muted = false;
    }
  }

  /** The file's fields as the plan's first columns; missing ones are nulls, the flag column (the last) is fresh. */
  #adopt(batch: Batch): Batch {
    const { columns, flagColumn } = this.#parts.plan;
    const adopted = columns.map((field): ColumnData => {
      return field === null ? { kind: 'views', at: this.#nullViews } : batch.columns[field]!;
    });
    if (flagColumn) {
      const at = this.#parts.arena.take(batch.rows * VIEW_BYTES);
      this.#parts.arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
      adopted.push({ kind: 'views', at });
    }
    return batch.withColumns(adopted);
  }
}
