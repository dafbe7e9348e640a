// The chain of one Run: the plan's operators, the order of the output's columns, the cap on its rows, writer and sink.
import type { Arena } from './arena.ts';
import type { Batch, ColumnData } from './batch.ts';
import { BATCH_ROWS_MAX, VIEW_BYTES } from './batch.ts';
import type { BudgetShare } from './budget.ts';
import { EndPreview, type PreviewedStep } from './end-preview.ts';
import { type CountedStep, ExactEnd } from './exact-end.ts';
import type { Failure } from './failure.ts';
import type { Kernel } from './kernel/kernel.ts';
import type { RunOutcomeOutput, RunTask } from './messages.ts';
import { conditionsOf } from './operations/expressions/row-condition.ts';
import type { Next } from './operations/operation.ts';
import type { RowsAhead } from './output/writer.ts';
import { OutputStage, type SharedOutput } from './output-stage.ts';
import type { OperationReport, RowErrorCode, RunReport } from './report.ts';
import { RunErrors, StepErrors } from './row-errors.ts';
import type { SpillFolder } from './spill/spill-folder.ts';
import type { Tables } from './tables/table-cache.ts';
import type { PlannedStep, RunPlan } from './template/plan.ts';
import type { Template } from './template/template.ts';

export interface PipelineParts {
  readonly plan: RunPlan;
  readonly template: Template;
  readonly task: RunTask;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly budget: BudgetShare;
  readonly spill: SpillFolder;
  readonly tables: Tables;
  readonly report: RunReport;
  readonly shared: SharedOutput | null;
}

export interface Pipeline {
  /** Comes before the first batch: what operators need to have done, yielding in between. */
  prepare(): Iterable<void>;
  /** Rows that the next batch may have at most; 0 = none is wanted any more. */
  rowsWanted(): number;
  push(batch: Batch): void;
  /** End of the input: lets every operator hand on what it holds, yielding between batches. */
  finish(): Iterable<void>;
  /** What errors in rows make of the Run, once finished. */
  verdict(rowsRead: number): Failure | null;
  readonly rowsWritten: number;
  readonly truncated: boolean;
  takeOutput(): RunOutcomeOutput;
  close(): void;
}

export function buildPipeline(parts: PipelineParts): Pipeline {
  const errors = new RunErrors();
  const output = new OutputStage(parts);
  let links: readonly Link[] = [];
  let next: Next = (batch) => output.push(batch);
  const { startedAt, secretsDirectory } = parts.task;
  const flag = flagOf(parts);
  const works: (() => Iterable<void>)[] = [];
  const beforeRows = (work: () => Iterable<void>): void => void works.push(work);
  const { steps } = parts.plan;
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index]!;
    const report = emptyReport(step);
    parts.report.operations = [report, ...parts.report.operations];
    const behind = links;
    const preview = EndPreview.of(behind, step.output, flag);
    const { where, cellWhere } = conditionsOf(step.where, step.input, () => ({ ...parts, startedAt, beforeRows }));
    const operator = step.definition.start(step.plan, {
      input: step.input,
      output: step.output,
      layout: step.layout,
      headers: parts.plan.headers,
      next: counted(report, step.rowLocal ? next : gated(behind, preview, next)),
      ahead: behind.length === 0 ? countedAhead(report, output.ahead) : null,
      kernel: parts.kernel,
      arena: parts.arena,
      budget: parts.budget,
      spill: parts.spill,
      tables: parts.tables,
      report,
      errors: new StepErrors(errors, index, step.operation, report.errors),
      where,
      cellWhere,
      beforeRows,
      startedAt,
      secretsDirectory,
    });
    const { rowLocal, needsAllRows, input, edits } = step;
    const link: Link = { operator, report, rowLocal, needsAllRows, input, edits, muted: false };
    links = [link, ...behind];
    next = (batch) => {
      report.rows_in += batch.live;
      if (batch.live > 0 && !link.muted) operator.push(batch);
    };
  }
  return new Chain(parts, links, next, errors, output, works);
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
  /** Rows are counted and not worked on (see ExactEnd). */
  muted: boolean;
}

/**
 * Rows that the operators may take at once; those behind one that needs all rows do not count. Of an operator that makes
 * several rows of one, no more may come than those behind it want.
 */
function wantedBy(links: readonly Link[], seenAhead: { readonly index: number } | null = null): number {
  let wanted = Number.POSITIVE_INFINITY;
  let rowsMost = 1;
  for (const [index, { operator, needsAllRows }] of links.entries()) {
    const rows = operator.rowsWanted?.() ?? Number.POSITIVE_INFINITY;
    if (rows === 0) return 0;
    if (rows < Number.POSITIVE_INFINITY && index !== seenAhead?.index)
      wanted = Math.min(wanted, Math.max(1, Math.floor(rows / rowsMost)));
    if (needsAllRows) break;
    rowsMost *= operator.rowsMost ?? 1;
  }
  return wanted;
}

/** What an operator with state hands on may be more than those behind it want. */
function gated(behind: readonly Link[], preview: EndPreview | null, next: Next): Next {
  if (behind.every(({ operator }) => operator.rowsWanted === undefined)) return next;
  return (batch) => {
    const ends = preview === null ? [] : preview.ends(batch);
    let passed = 0;
    for (let from = 0; from < batch.live; ) {
      const wanted = wantedBy(behind, preview);
      if (wanted === 0) return;
      while (passed < ends.length && ends[passed]! <= from) passed++;
      const to = Math.min(batch.live, from + wanted, ends[passed] ?? batch.live);
      next(batch.slice(from, to));
      from = to;
    }
  };
}

function counted(report: OperationReport, next: Next): Next {
  return (batch) => {
    report.rows_out += batch.live;
    if (batch.live > 0) next(batch);
  };
}

function countedAhead(report: OperationReport, ahead: RowsAhead | null): RowsAhead | null {
  if (ahead === null) return null;
  return {
    load: (batch) => ahead.load(batch),
    write(rows, count) {
      report.rows_out += count;
      ahead.write(rows, count);
    },
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
  readonly #works: readonly (() => Iterable<void>)[];
  readonly #nullViews: number;

  constructor(
    parts: PipelineParts,
    links: readonly Link[],
    first: Next,
    errors: RunErrors,
    output: OutputStage,
    works: readonly (() => Iterable<void>)[],
  ) {
    this.#works = works;
    this.#parts = parts;
    this.#links = links;
    this.#exactEnd = ExactEnd.of(links, errors);
    this.#preview = this.#exactEnd === null ? EndPreview.of(links, parts.plan.schema, flagOf(parts)) : null;
    this.#first = this.#preview === null ? first : gated(links, this.#preview, first);
    this.#errors = errors;
    this.#output = output;
    const bytes = BATCH_ROWS_MAX * VIEW_BYTES;
    this.#nullViews = parts.plan.columns.includes(null) ? parts.arena.heap.allocate(bytes) : 0;
    if (this.#nullViews !== 0) parts.arena.heap.u8.fill(0, this.#nullViews, this.#nullViews + bytes);
  }

  get rowsWritten(): number {
    return this.#output.rowsWritten;
  }

  get truncated(): boolean {
    return this.#output.truncated;
  }

  *prepare(): Iterable<void> {
    for (const work of this.#works) yield* work();
  }

  /** Operators before one that needs all rows may not stop early: what they would have met there still counts. */
  rowsWanted(): number {
    return this.#errors.fatal ? 0 : wantedBy(this.#links, this.#exactEnd ?? this.#preview);
  }

  push(batch: Batch): void {
    const end = this.#exactEnd;
    if (end === null) this.#first(this.#adopt(batch));
    else end.push(batch, (rows, muted) => this.#push(rows, muted ? this.#links[end.index]! : null));
  }

  *finish(): Iterable<void> {
    for (const { operator } of this.#links) {
      if (operator.finish !== undefined) yield* operator.finish();
    }
    if (!this.#errors.fatal) this.#output.finish();
  }

  verdict(rowsRead: number): Failure | null {
    const { first } = this.#errors;
    if (first !== null) this.#reportOnly(first);
    return this.#errors.verdict(this.#parts.template.defaults, rowsRead);
  }

  /** How far rows behind the one that ends the Run had come depends on batches: the report tells that row alone. */
  #reportOnly({ step, code, sourceRow }: { step: number; code: RowErrorCode; sourceRow: number }): void {
    for (const [index, report] of this.#parts.report.operations.entries()) {
      const errors = index === step ? { [code]: { count: 1, rows: [sourceRow] } } : {};
      Object.assign(report, { rows_in: 0, rows_out: 0, cells_changed: 0, errors });
    }
  }

  takeOutput(): RunOutcomeOutput {
    return this.#output.take();
  }

  close(): void {
    this.#output.close();
  }

  #push(batch: Batch, muted: Link | null): void {
    if (muted !== null) muted.muted = true;
    try {
      this.#first(this.#adopt(batch));
    } finally {
      if (muted !== null) muted.muted = false;
    }
  }

  /** The file's fields as the plan's first columns; missing ones are nulls, the flag column (the last) is fresh. */
  #adopt(batch: Batch): Batch {
    const { columns, flagColumn } = this.#parts.plan;
    const adopted = columns.map((field): ColumnData => {
      if (field === null) return { kind: 'views', at: this.#nullViews };
      return batch.columns[field]!;
    });
    if (flagColumn) {
      const at = this.#parts.arena.take(batch.rows * VIEW_BYTES);
      this.#parts.arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
      adopted.push({ kind: 'views', at });
    }
    return batch.withColumns(adopted);
  }
}
