// The operation `fill_down`: an empty cell gets the value above it.
import { Type } from 'typebox';
import type { Batch } from '../batch.ts';
import { columnIndex, withoutRows } from './cells/cell-operator.ts';
import { columnSet } from './column-set.ts';
import { checkCondition } from './expressions/check-expression.ts';
import { FailedRows } from './expressions/failed-rows.ts';
import { rowCondition } from './expressions/row-condition.ts';
import { CarriedFill } from './fills/carried-fill.ts';
import { planFill } from './fills/fill-columns.ts';
import { GroupedFill, type Resets } from './fills/grouped-fill.ts';
import { defineOperation, type Operator, type OperatorContext, type RowChoice } from './operation.ts';

export const fillDown = defineOperation({
  name: 'fill_down',
  summary: 'Gives empty cells the last value above them, within the rows of their group.',
  parameters: Type.Object({
    columns: columnSet,
    group_by: Type.Optional(columnSet),
    reset_when: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'An expression: rows for which it is true get nothing from above, nor do those below from above them.',
      }),
    ),
  }),
  cells: false,
  memory: ({ group_by }) => (group_by === undefined ? 'O' : 'K'),
  examples: [
    {
      title: 'A report that names the customer once',
      operation: { op: 'fill_down', columns: ['customer'] },
      input: {
        columns: ['customer', 'item'],
        rows: [
          [null, 'x'],
          ['Ada', 'a'],
          [null, 'b'],
          ['Bob', 'c'],
          [null, 'd'],
        ],
      },
      output: {
        columns: ['customer', 'item'],
        rows: [
          [null, 'x'],
          ['Ada', 'a'],
          ['Ada', 'b'],
          ['Bob', 'c'],
          ['Bob', 'd'],
        ],
      },
    },
    {
      title: 'Only from rows of the same group',
      operation: { op: 'fill_down', columns: 'rate', group_by: ['country'] },
      input: {
        columns: ['country', 'rate'],
        rows: [
          ['DE', '19'],
          ['FR', null],
          ['DE', null],
          ['FR', '20'],
          ['FR', null],
        ],
      },
      output: {
        columns: ['country', 'rate'],
        rows: [
          ['DE', '19'],
          ['FR', null],
          ['DE', '19'],
          ['FR', '20'],
          ['FR', '20'],
        ],
      },
    },
    {
      title: 'Not across the blocks of a report',
      operation: { op: 'fill_down', columns: ['account'], reset_when: 'kind == "head"' },
      input: {
        columns: ['kind', 'account'],
        rows: [
          ['head', '1'],
          ['line', null],
          ['head', null],
          ['line', null],
          ['line', '3'],
          ['line', null],
        ],
      },
      output: {
        columns: ['kind', 'account'],
        rows: [
          ['head', '1'],
          ['line', '1'],
          ['head', null],
          ['line', null],
          ['line', '3'],
          ['line', '3'],
        ],
      },
    },
  ],
  effect({ columns, group_by, reset_when }, scope) {
    const reset = reset_when === undefined ? null : checkCondition(scope, reset_when, '/reset_when');
    return { ...planFill({ columns, group_by }, scope), reset };
  },
  start({ columns, groups, reset }, context) {
    const index = (column: (typeof columns)[number]): number => columnIndex(context.input, column);
    const choose = reset === null ? null : rowCondition(reset, context.input, context);
    const resets: Resets = choose === null ? noResets : (batch) => findResets(batch, choose, context);
    return groups.length === 0
      ? fillAll(context, columns.map(index), resets)
      : new GroupedFill(context, columns.map(index), groups.map(index), resets);
  },
});

function fillAll(context: OperatorContext, columns: readonly number[], findAll: Resets): Operator {
  const { arena, next, report } = context;
  const fills = columns.map((index) => new CarriedFill(arena, index));
  return {
    push(given) {
      const mark = arena.next;
      const { batch, resets } = findAll(given);
      const forgets = resets.size === 0 ? null : new Uint8Array(batch.live);
      for (let position = 0; forgets !== null && position < batch.live; position++) {
        if (resets.has(batch.physicalRow(position))) forgets[position] = 1;
      }
      const made = [...batch.columns];
      for (const [place, index] of columns.entries()) {
        const { column, filled } = fills[place]!.fill(batch, forgets);
        made[index] = column;
        report.cells_changed += filled;
      }
      next(batch.withColumns(made));
      arena.release(mark);
    },
  };
}

const NO_RESETS: ReadonlySet<number> = new Set();

function noResets(batch: Batch): { batch: Batch; resets: ReadonlySet<number> } {
  return { batch, resets: NO_RESETS };
}

function findResets(batch: Batch, choose: RowChoice, { errors }: OperatorContext): ReturnType<Resets> {
  const failed = new FailedRows();
  const list = batch.arena.take(batch.live * 4);
  batch.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
  const count = choose(batch, list, batch.live, failed.add);
  const resets = new Set(batch.heap.u32.subarray(list >>> 2, (list >>> 2) + count));
  const dropped = failed.dropped(batch, null, errors);
  return { batch: dropped.size === 0 ? batch : withoutRows(batch, dropped), resets };
}
