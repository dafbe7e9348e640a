// The operation `stop_when`: ends the rows where a condition is true.
import type { Batch } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { withoutRows } from '../execution/cells/cell-operator.ts';
import { FailedRows, rowCondition } from '../execution/expressions/row-condition.ts';
import type { Sliced, Slices } from '../scheduling/time-slices.ts';
import { checkCondition } from '../template/check-expression.ts';
import { defineOperation, type Operator, type OperatorContext, type RowChoice } from '../template/operation.ts';

export const stopWhen = defineOperation({
  name: 'stop_when',
  purpose: 'ends the rows before the first one for which `where` is true',
  summary:
    'Ends the rows at the first row for which a condition is true, such as the total below a table. This row is dropped by default.',
  knownAs: [{ names: 'until take_while stop_at stop break stop_if', form: "where: '...'" }],
  parameters: Type.Object({
    where: Type.String({
      minLength: 1,
      description: 'A condition; null is not true. Later rows are not processed.',
    }),
    include: Type.Optional(Type.Boolean({ default: false, description: '`true` keeps this row.' })),
  }),
  cells: false,
  memory: 'O',
  inOrder: () => 'end',
  examples: [
    {
      title: 'A table that ends with its total',
      operation: { op: 'stop_when', where: 'lower(id).startsWith("total")' },
      input: {
        columns: ['id', 'sum'],
        rows: [
          ['1', '5'],
          ['2', '6'],
          ['Total', '11'],
          ['printed by', 'x'],
        ],
      },
      output: {
        columns: ['id', 'sum'],
        rows: [
          ['1', '5'],
          ['2', '6'],
        ],
      },
    },
    {
      title: 'Keep the last row',
      operation: { op: 'stop_when', where: 'row.last == "yes"', include: true },
      input: {
        columns: ['id', 'last'],
        rows: [
          ['1', null],
          ['2', 'yes'],
          ['3', 'yes'],
        ],
      },
      output: {
        columns: ['id', 'last'],
        rows: [
          ['1', null],
          ['2', 'yes'],
        ],
      },
    },
  ],
  effect({ where, include = false }, scope) {
    return { condition: checkCondition(scope, where, '/where'), include };
  },
  start({ condition, include }, context) {
    if (condition === null) return { push: context.next };
    const columns = condition.columns.map((name) => context.input.findIndex((column) => column.name === name));
    return new StopWhen(rowCondition(condition, context.input, context), columns, include, context);
  },
});

/** The last row if another thread has found the end in an earlier part: source rows begin with 1. */
const NO_ROW = 0;

class StopWhen implements Operator {
  readonly #choose: RowChoice;
  readonly #include: boolean;
  readonly #context: OperatorContext;
  readonly endsAhead: { readonly columns: readonly number[]; of(batch: Batch): Sliced<readonly number[]> };
  #lastRow: number | null = null;

  /** @param columns indexes of the columns that the condition reads */
  constructor(choose: RowChoice, columns: readonly number[], include: boolean, context: OperatorContext) {
    this.#choose = choose;
    this.endsAhead = { columns, of: (batch) => this.#ends(batch) };
    this.#include = include;
    this.#context = context;
  }

  /** Any row may be the last one. */
  rowsWanted(): number {
    return this.#lastRow === null ? 1 : 0;
  }

  lastRow(): number | null {
    return this.#lastRow;
  }

  seeEnd(): Slices {
    return this.#inOrder(false);
  }

  *push(batch: Batch): Slices {
    if (this.#lastRow !== null) return;
    const { arena, next, errors } = this.#context;
    const mark = arena.next;
    const failed = new FailedRows();
    const list = arena.take(batch.live * 4);
    arena.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
    const count = yield* this.#choose(batch, list, batch.live, failed.add);
    yield* this.#inOrder(count > 0);
    if (this.#lastRow !== null) return arena.release(mark);
    const seen = count === 0 ? batch : this.#cut(batch, batch.heap.u32[list >>> 2]!);
    const dropped = failed.dropped(seen, null, errors);
    const left = dropped.size === 0 ? seen : withoutRows(seen, dropped);
    if (left.live > 0) yield* next(left);
    arena.release(mark);
  }

  /** If several threads process the Run: waits for the parts before this one, which may have ended the rows. */
  *#inOrder(isEnd: boolean): Slices {
    const { inOrder } = this.#context;
    if (!inOrder) return;
    yield* inOrder.enter();
    if (inOrder.rowsEnded) this.#lastRow = NO_ROW;
    else if (isEnd) inOrder.endRows();
    inOrder.leave();
  }

  *#ends(batch: Batch): Sliced<readonly number[]> {
    const { arena } = this.#context;
    const list = arena.take(batch.live * 4);
    arena.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
    const count = yield* this.#choose(batch, list, batch.live, () => undefined);
    const { u32 } = arena.heap;
    const ends: number[] = [];
    for (let position = 0; ends.length < count; position++) {
      if (u32[(batch.selection >>> 2) + position] === u32[(list >>> 2) + ends.length]) ends.push(position + 1);
    }
    return ends;
  }

  /** Returns the rows up to the last one. */
  #cut(batch: Batch, last: number): Batch {
    let position = 0;
    while (batch.physicalRow(position) !== last) position++;
    this.#lastRow = batch.sourceRow(last);
    return batch.slice(0, this.#include ? position + 1 : position);
  }
}
