// The conditions of metrics and of columns of `window`: each becomes a column of booleans behind those of the batch, in their
// order.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import type { Next, OperatorContext, RowChoice } from '../../operations/operation.ts';
import type { Slices } from '../../run/time-slices.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { FailedRows } from '../expressions/failed-rows.ts';
import { rowCondition } from '../expressions/row-condition.ts';

export class MetricConditions {
  readonly #context: OperatorContext;
  readonly #conditions: readonly RowChoice[];

  constructor(metrics: readonly { readonly where: CheckedExpression | null }[], context: OperatorContext) {
    this.#context = context;
    this.#conditions = metrics.flatMap(({ where }) =>
      where === null ? [] : [rowCondition(where, context.input, context)],
    );
  }

  /** How many columns it adds. */
  get count(): number {
    return this.#conditions.length;
  }

  /** A row for which a condition cannot be computed is dropped, or the condition is not true, as `on_error` says. */
  *apply(batch: Batch, next: Next): Slices {
    if (this.#conditions.length === 0) {
      yield* next(batch);
      return;
    }
    const { arena, errors } = this.#context;
    const mark = arena.next;
    const failed = new FailedRows();
    const columns: ColumnData[] = [];
    for (const choose of this.#conditions) {
      const list = arena.take(batch.live * 4);
      arena.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
      const count = yield* choose(batch, list, batch.live, failed.add);
      const builder = new ColumnBuilder(arena, 'boolean');
      while (!builder.begin(batch.rows)) arena.enlarge(batch.rows * 16);
      for (let i = 0; i < count; i++) builder.set(arena.heap.u32[(list >>> 2) + i]!, true);
      columns.push(builder.column);
    }
    const dropped = failed.dropped(batch, null, errors);
    const all = batch.withColumns([...batch.columns, ...columns]);
    yield* next(dropped.size === 0 ? all : withoutRows(all, dropped));
    arena.release(mark);
  }
}
