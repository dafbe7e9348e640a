// Keeps texts from the output that its file cannot hold in a cell: errors of their rows, TOO_LONG, as those of operations are.
import type { Batch, ColumnData } from '../batch/batch.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { TemplateDefaults, TemplateOperation } from '../template/template.ts';
import type { CodeCounts } from './report.ts';
import { type RunErrors, StepErrors } from './row-errors.ts';

export interface LongCellsParts {
  readonly plan: RunPlan;
  readonly defaults: TemplateDefaults;
  readonly errors: RunErrors;
  readonly kernel: Kernel;
  /** UTF-16 units of a text. */
  readonly unitsMax: number;
}

/** Of one Run. */
export class LongCells {
  readonly #errors: StepErrors;
  readonly #kernel: Kernel;
  readonly #unitsMax: number;
  /** Columns of text, by their places before and in the output. */
  readonly #columns: readonly { readonly index: number; readonly place: number }[];

  constructor({ plan, defaults, errors, kernel, unitsMax }: LongCellsParts) {
    const { columns, schema } = plan.output;
    this.#kernel = kernel;
    this.#unitsMax = unitsMax;
    this.#errors = new StepErrors(errors, plan.steps.length, outputStep(defaults), {});
    this.#columns = columns
      .map((index, place) => ({ index, place }))
      .filter(({ place }) => schema[place]!.type === 'text' || schema[place]!.type === 'json');
  }

  get counts(): CodeCounts {
    return this.#errors.counts;
  }

  /** The rows that remain. A text that may stay as it is by `on_error: keep` is none here: it becomes null. */
  sound(batch: Batch): Batch {
    let rows = batch;
    for (const { index, place } of this.#columns) rows = this.#column(rows, index, place);
    return rows;
  }

  #column(batch: Batch, index: number, place: number): Batch {
    const { arena, heap, selection, live } = batch;
    const views = batch.views(index);
    const found = arena.take(live * 4);
    const { findLongTexts } = this.#kernel.exports;
    const count = findLongTexts(views, selection, live, this.#unitsMax, found);
    if (count === 0) return batch;
    const positions = heap.u32.slice(found >>> 2, (found >>> 2) + count);
    const message = `Column ${place + 1} of the output holds more than ${this.#unitsMax} characters.`;
    // Whoever made the views may still need them.
    const copy = arena.take(batch.rows * VIEW_BYTES);
    heap.u8.copyWithin(copy, views, views + batch.rows * VIEW_BYTES);
    const dropped = new Set<number>();
    for (const position of positions) {
      const row = batch.physicalRow(position);
      const action = this.#errors.report(batch, row, null, 'TOO_LONG', { onError: null, message });
      if (action === 'drop_row') dropped.add(position);
      else heap.u32.fill(0, (copy + row * VIEW_BYTES) >>> 2, (copy + (row + 1) * VIEW_BYTES) >>> 2);
    }
    const columns = batch.columns.map((column, at): ColumnData => (at === index ? withViews(column, copy) : column));
    const blanked = batch.withColumns(columns);
    return dropped.size === 0 ? blanked : withoutRows(blanked, dropped);
  }
}

function withViews(column: ColumnData, at: number): ColumnData {
  return column.kind === 'views' && column.kinds !== undefined
    ? { kind: 'views', at, kinds: column.kinds }
    : { kind: 'views', at };
}

function withoutRows(batch: Batch, dropped: ReadonlySet<number>): Batch {
  const { arena, heap, live } = batch;
  const selection = arena.take(live * 4);
  let kept = 0;
  for (let position = 0; position < live; position++) {
    if (!dropped.has(position)) heap.u32[(selection >>> 2) + kept++] = batch.physicalRow(position);
  }
  return batch.withSelection(selection, kept);
}

/** The output, as a step that reports errors: it has no rule of its own. */
function outputStep({ onError }: TemplateDefaults): TemplateOperation {
  return {
    place: null,
    pointer: '/output',
    name: 'output',
    id: null,
    enabled: true,
    where: null,
    ifMissing: 'fail',
    onError,
    parameters: {},
  };
}
