// The operation `fill_up`: fills empty cells with the value below.

import type { Batch } from '../batch/batch.ts';
import { storedTypes } from '../batch/schema.ts';
import { Type } from '../bundled/type-box.ts';
import { intoParameter } from '../execution/cells/cell-targets.ts';
import { CarriedFill, UpwardFill } from '../execution/ordered/carried-fill.ts';
import { FillFrame, marksColumn, marksOfColumn, planFill } from '../execution/ordered/fill-frame.ts';
import { PartitionedPass } from '../execution/ordered/grouped-fill.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const fillUp = defineOperation({
  name: 'fill_up',
  purpose: 'fills empty cells with the next value below, within `group_by`',
  summary:
    'Fills empty cells with the next value below, within their group. The order of rows does not change. With `where`, only cells of those rows are filled; the values can come from all rows, also from rows outside `where`.',
  knownAs: [{ names: 'bfill backfill backward_fill fillup nocb', form: 'columns: ...' }],
  parameters: Type.Object({ columns: columnSet, group_by: Type.Optional(columnSet), into: intoParameter }),
  cells: true,
  memory: 'B',
  examples: [
    {
      title: 'A report that shows the region below its rows',
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
      title: 'Only bookings, with the date of the total row below, which is not filled itself',
      operation: { op: 'fill_up', columns: 'day', where: 'kind != "sum"', into: 'closed_on' },
      input: {
        columns: ['kind', 'day'],
        types: ['text', 'date'],
        rows: [
          ['line', null],
          ['line', '2026-01-30'],
          ['line', null],
          ['sum', null],
          ['line', null],
          ['sum', '2026-01-31'],
          ['line', null],
        ],
      },
      output: {
        columns: ['kind', 'day', 'closed_on'],
        rows: [
          ['line', null, '2026-01-30'],
          ['line', '2026-01-30', '2026-01-30'],
          ['line', null, '2026-01-31'],
          ['sum', null, null],
          ['line', null, '2026-01-31'],
          ['sum', '2026-01-31', null],
          ['line', null, null],
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
  start({ targets, groups }, context) {
    const { arena, input, output, next, report } = context;
    const frame = new FillFrame(context, targets);
    if (groups.length === 0) return new UpwardFill(context, frame);
    const fills = frame.sources.map((column, target) => {
      return new CarriedFill(arena, {
        column,
        inPlace: frame.inPlace[target]!,
        hasKinds: input[column]!.hasKinds === true,
        seeds: -1,
      });
    });
    // The results of the conditions are appended to the columns of a row.
    const conditions = Array.from({ length: frame.conditions }, (_, at) => input.length + at);
    const pass = new PartitionedPass(context, {
      types: [...storedTypes(input), ...conditions.map(() => 'boolean' as const)],
      groups: groups.map((column) => context.indexOf(column)),
      reversed: true,
      makes: storedTypes(output),
    });
    const work = (batch: Batch, starts: Uint8Array): Batch => {
      const masks = conditions.map((index) => marksOfColumn(batch, index));
      const made = fills.map((fill, target) => {
        const { column, changed } = fill.fill(batch, { forgets: starts, chosen: frame.chosen(target, masks) });
        report.cells_changed += changed;
        return column;
      });
      return frame.put(batch, made);
    };
    return {
      *push(given) {
        const mark = arena.next;
        const { batch, masks } = yield* frame.mark(given);
        pass.add(batch.withColumns([...batch.columns, ...masks.map((marks) => marksColumn(batch, marks))]));
        arena.release(mark);
      },
      finish: () => pass.finish(work, next),
    };
  },
});
