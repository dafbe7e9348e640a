// The operation `fill_down`: fills empty cells with the value above.
import { Type } from '../bundled/type-box.ts';
import { editedIds } from '../execution/cells/cell-operator.ts';
import { intoParameter } from '../execution/cells/cell-targets.ts';
import { rowCondition } from '../execution/expressions/row-condition.ts';
import { CarriedFill } from '../execution/ordered/carried-fill.ts';
import { FillFrame, planFill } from '../execution/ordered/fill-frame.ts';
import { GroupedFill } from '../execution/ordered/grouped-fill.ts';
import { columnSet } from '../template/base-parameters.ts';
import { checkCondition } from '../template/check-expression.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';

export const fillDown = defineOperation({
  name: 'fill_down',
  purpose: 'fills empty cells with the last value above, within `group_by`',
  summary:
    'Fills empty cells with the last value above, within their group. With `where`, only cells of those rows are filled; the values can come from all rows, also from rows outside `where`.',
  knownAs: [{ names: 'ffill forward_fill locf na_locf pad_down filldown', form: 'columns: ...' }],
  parameters: Type.Object({
    columns: columnSet,
    group_by: Type.Optional(columnSet),
    reset_when: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'An expression: a row for which it is true starts a new block. Values are not carried into it from rows above.',
      }),
    ),
    into: intoParameter,
  }),
  cells: true,
  memory: ({ group_by }) => (group_by === undefined ? 'O' : 'K'),
  examples: [
    {
      title: 'A report that shows the customer name once',
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
      title: 'Only detail rows, from the header rows above, which remain unchanged',
      operation: { op: 'fill_down', columns: ['customer'], where: 'kind == "line"' },
      input: {
        columns: ['kind', 'customer'],
        rows: [
          ['head', 'Ada'],
          ['line', null],
          ['head', null],
          ['line', null],
          ['head', 'Bob'],
          ['line', 'Cy'],
          ['head', null],
          ['line', null],
        ],
      },
      output: {
        columns: ['kind', 'customer'],
        rows: [
          ['head', 'Ada'],
          ['line', 'Ada'],
          ['head', null],
          ['line', 'Ada'],
          ['head', 'Bob'],
          ['line', 'Cy'],
          ['head', null],
          ['line', 'Cy'],
        ],
      },
    },
    {
      title: 'Into a new column, which is null outside `where`',
      operation: { op: 'fill_down', columns: ['customer'], where: 'n != "3"', into: 'owner' },
      input: {
        columns: ['customer', 'n'],
        rows: [
          ['Ada', '1'],
          [null, '2'],
          ['Bob', '3'],
          [null, '4'],
        ],
      },
      output: {
        columns: ['customer', 'n', 'owner'],
        rows: [
          ['Ada', '1', 'Ada'],
          [null, '2', 'Ada'],
          ['Bob', '3', null],
          [null, '4', 'Bob'],
        ],
      },
    },
    {
      title: 'Not across blocks of a report',
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
  effect(given, scope) {
    const { reset_when } = given;
    const reset = reset_when === undefined ? null : checkCondition(scope, reset_when, '/reset_when');
    return { ...planFill(given, scope), reset };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, groups, reset }, context) {
    const resets = reset === null ? null : rowCondition(reset, context.input, context);
    const frame = new FillFrame(context, targets, resets);
    const groupColumns = groups.map((column) => context.indexOf(column));
    return groups.length === 0 ? fillAll(context, frame) : new GroupedFill(context, frame, groupColumns);
  },
});

function fillAll({ arena, input, next, report }: OperatorContext, frame: FillFrame): Operator {
  const fills = frame.sources.map((column, target) => {
    return new CarriedFill(arena, {
      column,
      inPlace: frame.inPlace[target]!,
      hasKinds: input[column]!.hasKinds === true,
      seeds: -1,
    });
  });
  return {
    *push(given) {
      const mark = arena.next;
      const { batch, masks, extra: forgets } = yield* frame.mark(given);
      const made = fills.map((fill, target) => {
        const { column, changed } = fill.fill(batch, { forgets, chosen: frame.chosen(target, masks) });
        report.cells_changed += changed;
        return column;
      });
      yield* next(frame.put(batch, made));
      arena.release(mark);
    },
  };
}
