// The operation `window`: new columns that look at the rows around, in their group and order.
import { type Static, Type } from '../bundled/type-box.ts';
import type { Column } from '../schema.ts';
import type { Scope } from '../template/scope.ts';
import { arrange } from './arrange.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { columnName, columnSet } from './column-set.ts';
import { defineOperation, type OperatorContext } from './operation.ts';
import { type PlannedTerm, planTerms, sortBy } from './rows/sort-terms.ts';
import {
  WINDOW_FUNCTIONS,
  type WindowFunction,
  windowFunction,
  windowProblem,
  windowTypeProblem,
} from './windows/window-functions.ts';
import { WindowPass } from './windows/window-pass.ts';

/** Rows of a moving average: three years of days. */
const AVERAGE_ROWS_MAX = 1000;

const windowColumn = Type.Object(
  {
    fn: Type.Enum([...WINDOW_FUNCTIONS], { description: 'What the column is; see above.' }),
    column: Type.Optional(columnName),
    as: Type.Optional(
      Type.String({ minLength: 1, description: 'The new column; without it the function and its column.' }),
    ),
    rows: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: AVERAGE_ROWS_MAX,
        description: 'Of `moving_average`: this row and those before.',
      }),
    ),
  },
  { additionalProperties: false },
);

const parameters = Type.Object({
  partition_by: Type.Optional(columnSet),
  order_by: Type.Optional(sortBy),
  columns: Type.Array(windowColumn, {
    minItems: 1,
    maxItems: 100,
    description:
      '`{fn, column, as}`. `row_number`, `group_size`; `rank` and `dense_rank` by `order_by`; `running_count` (of values ' +
      'with a column), `running_sum`, `moving_average` (with `rows`; nulls do not count), `percent_of_total`; ' +
      '`previous`, `next`, `first` and `last`: the cell of that row, null as well; `difference` from the row before.',
  }),
});

interface PlannedColumn {
  readonly function: WindowFunction;
  readonly source: Column | null;
}

interface Plan {
  readonly groups: readonly Column[];
  readonly terms: readonly PlannedTerm[];
  readonly columns: readonly PlannedColumn[];
}

export const window = defineOperation({
  name: 'window',
  summary:
    'Adds columns that look at other rows of the group: numbers, running sums, the row before. Groups and order are only ' +
    'looked at: the rows stay where they are. Without `order_by` their order is that of the file.',
  parameters,
  cells: false,
  memory: (given) => (isStreaming(given) ? 'O' : 'B'),
  examples: [
    {
      title: 'A balance, and the bookings of each account',
      operation: {
        op: 'window',
        partition_by: 'account',
        order_by: ['day'],
        columns: [
          { fn: 'row_number', as: 'no' },
          { fn: 'running_sum', column: 'amount', as: 'balance' },
          { fn: 'previous', column: 'day' },
          { fn: 'group_size', as: 'of' },
        ],
      },
      input: {
        columns: ['account', 'day', 'amount'],
        types: ['text', 'date', 'decimal'],
        rows: [
          ['a', '2026-01-03', '-5.00'],
          ['b', '2026-01-01', '1'],
          ['a', '2026-01-01', '10.50'],
          ['a', '2026-01-03', null],
        ],
      },
      output: {
        columns: ['account', 'day', 'amount', 'no', 'balance', 'previous_day', 'of'],
        rows: [
          ['a', '2026-01-03', '-5.00', '2', '5.50', '2026-01-01', '3'],
          ['b', '2026-01-01', '1', '1', '1', null, '1'],
          ['a', '2026-01-01', '10.50', '1', '10.50', null, '3'],
          ['a', '2026-01-03', null, '3', '5.50', '2026-01-03', '3'],
        ],
      },
    },
    {
      title: 'Ranks and shares',
      operation: {
        op: 'window',
        order_by: [{ column: 'points', order: 'desc' }],
        columns: [
          { fn: 'rank' },
          { fn: 'dense_rank', as: 'dense' },
          { fn: 'percent_of_total', column: 'points', as: 'share' },
          { fn: 'next', column: 'name' },
          { fn: 'last', column: 'name', as: 'worst' },
        ],
      },
      input: {
        columns: ['name', 'points'],
        types: ['text', 'integer'],
        rows: [
          ['x', '3'],
          ['y', '8'],
          ['z', '3'],
          ['w', '2'],
        ],
      },
      output: {
        columns: ['name', 'points', 'rank', 'dense', 'share', 'next_name', 'worst'],
        rows: [
          ['x', '3', '2', '2', '18.75', 'z', 'w'],
          ['y', '8', '1', '1', '50', 'x', 'w'],
          ['z', '3', '2', '2', '18.75', 'w', 'w'],
          ['w', '2', '4', '3', '12.5', null, 'w'],
        ],
      },
    },
    {
      title: 'In the order of the file',
      operation: {
        op: 'window',
        columns: [
          { fn: 'difference', column: 'meter', as: 'used' },
          { fn: 'moving_average', column: 'meter', rows: 2, as: 'mean' },
          { fn: 'running_count', column: 'meter', as: 'read' },
          { fn: 'first', column: 'meter', as: 'start' },
        ],
      },
      input: { columns: ['meter'], types: ['decimal'], rows: [['1.5'], ['4.25'], [null], ['5']] },
      output: {
        columns: ['meter', 'used', 'mean', 'read', 'start'],
        rows: [
          ['1.5', null, '1.5', '1', '1.5'],
          ['4.25', '2.75', '2.875', '2', '1.5'],
          [null, null, '4.25', '2', '1.5'],
          ['5', null, '5', '3', '1.5'],
        ],
      },
    },
  ],
  effect: plan,
  edits: () => [],
  start: startWindow,
});

const LOOKS_AHEAD: readonly string[] = ['next', 'last', 'percent_of_total', 'group_size'];

function isStreaming({ partition_by, order_by, columns }: Static<typeof parameters>): boolean {
  return partition_by === undefined && order_by === undefined && !columns.some(({ fn }) => LOOKS_AHEAD.includes(fn));
}

function plan({ partition_by, order_by, columns }: Static<typeof parameters>, scope: Scope): Plan {
  const groups = partition_by === undefined ? [] : scope.resolve(partition_by, '/partition_by');
  const terms = order_by === undefined ? [] : planTerms(order_by, scope, '/order_by');
  const sources = columns.map(({ column }, index) =>
    column === undefined ? null : scope.read(column, `/columns/${index}/column`),
  );
  const planned = columns.flatMap(({ fn, column, as, rows }, index): PlannedColumn[] => {
    const source = sources[index]!;
    if (column !== undefined && source === null) return [];
    const problem =
      windowProblem(fn, source?.type ?? null, order_by !== undefined) ??
      ((fn === 'moving_average') === (rows !== undefined)
        ? null
        : `"rows" says over how many rows "moving_average" goes, and only that.`);
    const typeProblem = windowTypeProblem(fn, source?.type ?? null);
    if (problem !== null) scope.problem(`/columns/${index}`, 'BAD_WINDOW', problem);
    else if (typeProblem !== null) scope.problem(`/columns/${index}/column`, 'WRONG_TYPE', typeProblem);
    if (problem !== null || typeProblem !== null) return [];
    const made = windowFunction(fn, source?.type ?? null, rows ?? 1);
    scope.add(as ?? (column === undefined ? fn : `${fn}_${column}`), made.type, `/columns/${index}/as`);
    return [{ function: made, source }];
  });
  return { groups, terms, columns: planned };
}

function startWindow({ groups, terms, columns }: Plan, context: OperatorContext) {
  const { input, layout, next } = context;
  if (columns.length === 0) return { push: next };
  return new WindowPass(context, {
    groups: groups.map((column) => columnIndex(input, column)),
    terms: terms.map((term) => ({ ...term, index: columnIndex(input, term.column) })),
    columns: columns.map(({ function: made, source }) => ({
      function: made,
      column: source === null ? -1 : columnIndex(input, source),
      columnType: source?.type ?? 'text',
    })),
    next: (batch) => next(arrange(batch, layout, batch.columns.slice(input.length))),
  });
}
