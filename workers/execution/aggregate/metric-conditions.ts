// The conditions of metrics and of columns of `window`. Each becomes a boolean column that is appended to the batch, in
// order.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { Column, Schema } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import type { Slices } from '../../scheduling/time-slices.ts';
import type { Next, OperatorContext, RowChoice } from '../../template/operation.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { FailedRows, rowCondition } from '../expressions/row-condition.ts';

/** The columns that conditions read. */
export function columnsOfConditions(conditions: readonly (CheckedExpression | null)[], input: Schema): Column[] {
  const names = new Set(conditions.flatMap((condition) => condition?.columns ?? []));
  return input.filter(({ name }) => names.has(name));
}

export class MetricConditions {
  readonly #context: OperatorContext;
  readonly #conditions: readonly RowChoice[];

  constructor(metrics: readonly { readonly where: CheckedExpression | null }[], context: OperatorContext) {
    this.#context = context;
    this.#conditions = metrics.flatMap(({ where }) =>
      where === null ? [] : [rowCondition(where, context.input, context)],
    );
  }

  /** Number of columns added. */
  get count(): number {
    return this.#conditions.length;
  }

  /**
   * If a condition cannot be computed for a row, `on_error` decides: the row is dropped, or the condition counts as
   * false.
   */
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
