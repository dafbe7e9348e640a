// The operation `drop_blank_rows`: drops rows without content.
import type { Batch } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { unlistedRows } from '../execution/cells/chosen-rows.ts';
import { META_NULL } from '../kernel/layout/cells.ts';
import type { Slices } from '../scheduling/time-slices.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';

export const dropBlankRows = defineOperation({
  name: 'drop_blank_rows',
  purpose: 'drops rows in which all columns, or all named columns, are empty',
  summary: 'Drops rows in which all columns, or all named columns, are null or white space.',
  knownAs: [
    {
      names:
        'dropna remove_empty_rows remove_blank_rows drop_empty_rows delete_empty_rows drop_na drop_nulls skip_trivial_records',
      form: null,
    },
  ],
  parameters: Type.Object({ columns: Type.Optional(columnSet) }),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'Blank rows',
      operation: { op: 'drop_blank_rows' },
      input: {
        columns: ['a', 'b'],
        rows: [
          ['1', null],
          [null, null],
          [' ', '\u00a0\t'],
          [null, '2'],
        ],
      },
      output: {
        columns: ['a', 'b'],
        rows: [
          ['1', null],
          [null, '2'],
        ],
      },
    },
    {
      title: 'Rows without a key',
      operation: { op: 'drop_blank_rows', columns: ['id'] },
      input: {
        columns: ['id', 'note'],
        rows: [
          ['1', 'x'],
          [null, 'Total'],
        ],
      },
      output: { columns: ['id', 'note'], rows: [['1', 'x']] },
    },
  ],
  effect({ columns = '*' }, scope) {
    return scope.resolve(columns, '/columns');
  },
  start(columns, context) {
    if (columns.length === 0) return { push: context.next };
    const indexes = columns.map((column) => context.indexOf(column));
    return { push: (batch) => pushFilled(batch, indexes, context) };
  },
});

function* pushFilled(batch: Batch, columns: readonly number[], { kernel, next }: OperatorContext): Slices {
  const { arena } = batch;
  const mark = arena.next;
  const blank = arena.take(batch.live * 4);
  arena.heap.u8.copyWithin(blank, batch.selection, batch.selection + batch.live * 4);
  let count = batch.live;
  for (const index of columns) {
    if (count === 0) break;
    const column = batch.columns[index]!;
    if (column.kind === 'typed') count = keepNull(batch, column.meta, blank, count);
    else count = kernel.exports.keepBlank(batch.views(index), blank, count);
  }
  if (count === 0) yield* next(batch);
  else if (count < batch.live) yield* next(unlistedRows(batch, blank, count, kernel));
  arena.release(mark);
}

function keepNull({ heap }: Batch, meta: number, rows: number, count: number): number {
  const { u8, u32 } = heap;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    if (u8[meta + row] === META_NULL) u32[(rows >>> 2) + kept++] = row;
  }
  return kept;
}
