// The operation `fill_up`: an empty cell gets the value below it.
import { Type } from 'typebox';
import type { Batch } from '../batch.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { columnSet } from './column-set.ts';
import { CarriedFill } from './fills/carried-fill.ts';
import { planFill } from './fills/fill-columns.ts';
import { defineOperation } from './operation.ts';
import { GroupedPass } from './rows/grouped-pass.ts';

export const fillUp = defineOperation({
  name: 'fill_up',
  summary: 'Gives empty cells the next value below them, within the rows of their group; the order stays.',
  parameters: Type.Object({ columns: columnSet, group_by: Type.Optional(columnSet) }),
  cells: false,
  memory: 'B',
  examples: [
    {
      title: 'A report that names the region under its rows',
      operation: { op: 'fill_up', columns: ['region'] },
      input: {
        columns: ['region', 'sales'],
        rows: [
          [null, '10'],
          [null, '20'],
          ['North', '30'],
          [null, '5'],
          ['South', '6'],
          [null, '1'],
        ],
      },
      output: {
        columns: ['region', 'sales'],
        rows: [
          ['North', '10'],
          ['North', '20'],
          ['North', '30'],
          ['South', '5'],
          ['South', '6'],
          [null, '1'],
        ],
      },
    },
    {
      title: 'Only from rows of the same group',
      operation: { op: 'fill_up', columns: ['rate', 'until'], group_by: 'country' },
      input: {
        columns: ['country', 'rate', 'until'],
        types: ['text', 'decimal', 'date'],
        rows: [
          ['DE', null, '2026-01-31'],
          [null, null, null],
          ['FR', '20.0', null],
          ['DE', '19.00', null],
          ['FR', null, '2026-02-28'],
          [null, '7', '2026-03-31'],
        ],
      },
      output: {
        columns: ['country', 'rate', 'until'],
        rows: [
          ['DE', '19.00', '2026-01-31'],
          [null, '7', '2026-03-31'],
          ['FR', '20.0', '2026-02-28'],
          ['DE', '19.00', null],
          ['FR', null, '2026-02-28'],
          [null, '7', '2026-03-31'],
        ],
      },
    },
  ],
  effect: planFill,
  start({ columns, groups }, context) {
    const { arena, input, next, report } = context;
    const indexes = columns.map((column) => columnIndex(input, column));
    const types = input.map(({ type }) => type);
    const byGroup = groups.map((column) => columnIndex(input, column));
    const pass = new GroupedPass(context, { types, groups: byGroup, reversed: true, makes: types });
    const fills = indexes.map((index) => new CarriedFill(arena, index));
    const work = (batch: Batch, starts: Uint8Array): Batch => {
      const made = [...batch.columns];
      for (const [place, index] of indexes.entries()) {
        const { column, filled } = fills[place]!.fill(batch, starts);
        made[index] = column;
        report.cells_changed += filled;
      }
      return batch.withColumns(made);
    };
    return { push: (batch) => pass.add(batch), finish: () => pass.finish(work, next) };
  },
});
