// Knows by kernels which cells of a batch a check passes: those in which its pattern is found, or for which its condition is
// true, and empty ones. Of the others the check itself has the last word.
import type { Batch } from '../../batch/batch.ts';
import type { GreedyPattern } from '../../expression/patterns/greedy-pattern.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { done } from '../../run/time-slices.ts';
import { placePattern } from '../cells/pattern-program.ts';
import { VectorLane } from '../expressions/vector-lane.ts';
import type { StatePlan } from '../expressions/vector-plan.ts';
import type { PlannedCheck } from './rule.ts';

/** Marks, by physical row, the live rows of a batch whose cell is accepted; false when this batch is not for the kernel. */
type Accept = (batch: Batch, marks: number) => boolean;

export class AcceptedCells {
  readonly #context: OperatorContext;
  readonly #column: number;
  readonly #accept: Accept;
  /** A byte for each physical row; 0 while nothing is known. */
  #marks = 0;

  /** Null when no kernel knows the check. `column`: index in the batches. */
  static of(context: OperatorContext, column: number, { passes, condition }: PlannedCheck): AcceptedCells | null {
    const accept = passes ? byPattern(context, column, passes) : condition ? byCondition(context, condition) : null;
    return accept === null ? null : new AcceptedCells(context, column, accept);
  }

  private constructor(context: OperatorContext, column: number, accept: Accept) {
    this.#context = context;
    this.#column = column;
    this.#accept = accept;
  }

  /** Looks at the live rows of a batch; what it knows lies in the arena. */
  bind(batch: Batch): void {
    const { arena, kernel } = this.#context;
    const marks = arena.take(batch.rows);
    this.#marks = this.#accept(batch, marks) ? marks : 0;
    if (this.#marks !== 0) markEmptyCells(kernel.exports, batch, this.#column, marks);
  }

  has(row: number): boolean {
    return this.#marks !== 0 && this.#context.arena.heap.u8[this.#marks + row] === 1;
  }

  /** Marks in `open` too the live rows whose cell is not known to be accepted; false when nothing is known. */
  markOthers({ selection, live }: Batch, open: number): boolean {
    if (this.#marks === 0) return false;
    this.#context.kernel.exports.markOthers(this.#marks, selection, live, open);
    return true;
  }
}

/** Marks too the live rows whose cell is null or an empty text. */
export function markEmptyCells(
  kernel: OperatorContext['kernel']['exports'],
  batch: Batch,
  index: number,
  marks: number,
): void {
  const { selection, live } = batch;
  const column = batch.columns[index]!;
  if (column.kind === 'typed') kernel.markMeta(column.meta, selection, live, META_NULL, marks);
  else kernel.markEmpty(batch.views(index), selection, live, marks);
}

function byPattern({ arena, kernel }: OperatorContext, column: number, pattern: GreedyPattern): Accept | null {
  const program = placePattern(arena.heap, pattern, [], 1);
  if (program === 0) return null;
  const items = pattern.items.length;
  return (batch, marks) => {
    if (batch.columns[column]!.kind === 'typed') return false;
    const views = batch.views(column);
    const found = arena.take(batch.rows * VIEW_BYTES);
    const todo = arena.take((batch.live + 1) * 4);
    const { selection, live } = batch;
    kernel.exports.findPattern(views, selection, live, program, 0, items, 0, found, todo);
    kernel.exports.markFound(found, selection, live, marks);
    return true;
  };
}

function byCondition(context: OperatorContext, condition: StatePlan): Accept {
  const lane = new VectorLane(context.input, context, condition);
  return (batch, marks) => {
    const { selection, live } = batch;
    // It has no node that the closures compute, which would have to rest between rows.
    const states = done(lane.states.fresh(condition, { batch, rows: selection, count: live }));
    if (states < 0) return false;
    context.kernel.exports.markTrue(states, selection, live, marks);
    return true;
  };
}
