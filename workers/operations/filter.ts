// The operation `filter`: keeps or drops the rows for which a condition is true.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { unlistedRows } from '../execution/cells/chosen-rows.ts';
import { FailedRows, rowCondition } from '../execution/expressions/row-condition.ts';
import { DONE, type Slices } from '../scheduling/time-slices.ts';
import { checkCondition } from '../template/check-expression.ts';
import {
  defineOperation,
  type Next,
  type Operator,
  type OperatorContext,
  type RowChoice,
} from '../template/operation.ts';

export const filter = defineOperation({
  name: 'filter',
  purpose: 'keeps the rows for which `where` is true, or drops them with `mode: drop`',
  summary: 'Keeps the rows for which a condition is true, or drops them. Null is not true.',
  parametersKnownAs: { '*': `Write the condition as where: 'status == "paid"'.` },
  knownAs: [
    {
      names: 'where having filter_rows select_rows keep_rows query grep keep_if only',
      form: "where: '...'",
    },
    {
      names:
        'drop_rows remove_rows delete_rows exclude_rows drop_if remove_if filter_out reject_rows discard delete_if',
      form: "where: '...', mode: drop",
    },
  ],
  parameters: Type.Object({
    where: Type.String({
      minLength: 1,
      description:
        'A condition. If it cannot be computed for a row, `on_error` decides: `keep` keeps the row, `drop_row` drops it, `blank` and `flag` treat the condition as not true.',
    }),
    mode: Type.Optional(
      Type.Enum(['keep', 'drop'], {
        default: 'keep',
        description: 'Whether rows for which the condition is true are kept or dropped.',
      }),
    ),
  }),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'Paid orders above 100',
      operation: { op: 'filter', where: 'row.status == "paid" && double(row.amount) > 100.0' },
      input: {
        columns: ['id', 'status', 'amount'],
        rows: [
          ['1', 'paid', '99.50'],
          ['2', 'paid', '100.01'],
          ['3', 'open', 'n/a'],
          ['4', null, '500'],
          ['5', 'paid', null],
        ],
      },
      output: { columns: ['id', 'status', 'amount'], rows: [['2', 'paid', '100.01']] },
    },
    {
      title: 'Without totals',
      operation: { op: 'filter', where: '`Invoice No`.startsWith("Total") || is_blank(`Invoice No`)', mode: 'drop' },
      input: {
        columns: ['Invoice No', 'sum'],
        rows: [
          ['1', '2'],
          ['Total', '2'],
          [null, '3'],
          ['2', null],
        ],
      },
      output: {
        columns: ['Invoice No', 'sum'],
        rows: [
          ['1', '2'],
          ['2', null],
        ],
      },
    },
    {
      title: 'A condition that is null drops nothing',
      operation: { op: 'filter', where: 'amount < "5"', mode: 'drop' },
      input: { columns: ['amount'], rows: [['3'], [null], ['7']] },
      output: { columns: ['amount'], rows: [[null], ['7']] },
    },
  ],
  effect({ where, mode = 'keep' }, scope) {
    return { condition: checkCondition(scope, where, '/where'), mode };
  },
  start({ condition, mode }, context) {
    if (condition === null) return { push: context.next };
    return new Filter(rowCondition(condition, context.input, context), mode, context);
  },
});

class Filter implements Operator {
  readonly #choose: RowChoice;
  readonly #mode: 'keep' | 'drop';
  readonly #context: OperatorContext;

  constructor(choose: RowChoice, mode: 'keep' | 'drop', context: OperatorContext) {
    this.#choose = choose;
    this.#mode = mode;
    this.#context = context;
  }

  *push(batch: Batch): Slices {
    const { arena, next } = this.#context;
    const mark = arena.next;
    const failed = new FailedRows();
    // Restores the columns, so that columns read only by the condition stay raw for the following operations.
    const columns = [...batch.columns];
    const list = arena.take(batch.live * 4);
    arena.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
    const count = yield* this.#choose(batch, list, batch.live, failed.add);
    if (failed.size === 0) yield* this.#emit(batch, columns, list, count);
    else yield* emit(batch, columns, list, this.#settle(batch, list, count, failed), next);
    arena.release(mark);
  }

  /** @param list rows for which the condition is true, in order */
  #emit(batch: Batch, columns: readonly ColumnData[], list: number, count: number): Slices {
    const { next, kernel } = this.#context;
    if (this.#mode === 'keep') return emit(batch, columns, list, count, next);
    if (count === 0) return next(batch);
    return count < batch.live ? next(unlistedRows(batch.withColumns(columns), list, count, kernel)) : DONE;
  }

  /**
   * Converts the list of true rows to the list of kept rows, if the condition failed for some rows. Returns their
   * number.
   */
  #settle(batch: Batch, list: number, count: number, failed: FailedRows): number {
    const { u32 } = batch.heap;
    const isTrue = new Set(u32.subarray(list >>> 2, (list >>> 2) + count));
    const actions = failed.report(batch, null, this.#context.errors);
    const keepsTrue = this.#mode === 'keep';
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = u32[(batch.selection >>> 2) + position]!;
      const action = actions.get(row);
      const stays =
        action === undefined ? isTrue.has(row) === keepsTrue : action === 'keep' || (action === 'blank' && !keepsTrue);
      if (stays) u32[(list >>> 2) + live++] = row;
    }
    return live;
  }
}

function emit(batch: Batch, columns: readonly ColumnData[], list: number, live: number, next: Next): Slices {
  if (live === 0) return DONE;
  return next(live === batch.live ? batch : batch.withColumns(columns).withSelection(list, live));
}
