// The operation `window`: adds columns that depend on neighbouring rows, by group and order.
import { type Column, columnTypeOf, type StoredType, storedType, storedTypes } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { columnsOfConditions, MetricConditions } from '../execution/aggregate/metric-conditions.ts';
import { arrange } from '../execution/cells/copied-rows.ts';
import {
  WINDOW_FUNCTIONS,
  type WindowFunction,
  type WindowTotal,
  WORDS_FOR_FUNCTIONS,
  windowFunction,
} from '../execution/ordered/window-functions.ts';
import { windowRows, windowTotal } from '../execution/ordered/window-pass.ts';
import {
  FRAMED_FUNCTIONS,
  FRAMES,
  framedFunction,
  isFramed,
  windowMoves,
  windowProblem,
  windowTypeProblem,
} from '../execution/ordered/window-problems.ts';
import { withOrderCheck } from '../execution/sort/numbers-as-text.ts';
import { columnsByText, type PlannedTerm, planTerms, sortBy } from '../execution/sort/sort-keys.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import { DONE } from '../scheduling/time-slices.ts';
import { columnName, columnSet } from '../template/base-parameters.ts';
import { checkCondition } from '../template/check-expression.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import { valuesOf } from '../template/operation-hint.ts';
import type { Scope } from '../template/scope.ts';

/** Maximum number of rows of a moving average: three years of days. */
const AVERAGE_ROWS_MAX = 1000;

/** Maximum offset of `previous` and `next`, the same as for an average. */
const OFFSET_ROWS_MAX = 1000;

const windowColumn = Type.Object(
  {
    fn: Type.Enum([...WINDOW_FUNCTIONS, ...FRAMED_FUNCTIONS], { description: 'The function; see above.' }),
    column: Type.Optional(columnName),
    as: Type.Optional(
      Type.String({ minLength: 1, description: 'The new column; by default the function and its column.' }),
    ),
    rows: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: AVERAGE_ROWS_MAX,
        description: 'For `moving_average`: the number of rows, this row and those before.',
      }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: OFFSET_ROWS_MAX,
        description: 'For `previous` and `next`: the distance in rows; by default 1.',
      }),
    ),
    frame: Type.Optional(
      Type.Enum([...FRAMES], {
        description:
          'For `sum`, `mean`, `min`, `max` and `count`: all rows of the group (`partition`, the default), or the rows `up_to_here`, including this one.',
      }),
    ),
    where: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'For the same functions: an expression; only rows for which it is true are used.',
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
      '`sum`, `mean`, `min`, `max` and `count` (of values with a column) of the group, with `frame` and `where`; ' +
      '`previous`, `next` (with `offset`), `first` and `last`: the cell of that row, null as well; `difference` from the ' +
      'row before.',
  }),
});

interface PlannedColumn {
  readonly function: WindowFunction;
  readonly source: Column | null;
  readonly where: CheckedExpression | null;
  readonly total: WindowTotal | null;
}

interface Plan {
  readonly groups: readonly Column[];
  readonly terms: readonly PlannedTerm[];
  readonly columns: readonly PlannedColumn[];
}

export const window = defineOperation({
  name: 'window',
  purpose:
    'adds columns that depend on other rows: `row_number`, `running_sum`, `previous`, `rank`, `sum` of the group and others',
  summary:
    'Adds columns that depend on other rows of the group: row numbers, running sums, the previous row. The order of the rows does not change. Without `order_by`, the order of the file is used.',
  knownAs: [
    ...valuesOf(
      WORDS_FOR_FUNCTIONS,
      (fn) => `columns: [{fn: ${fn}${/^row|rank|size$/.test(fn) ? '' : ', column: ...'}}]`,
    ),
  ],
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
      title: 'Compared with the whole group, and with the rows up to this one',
      operation: {
        op: 'window',
        partition_by: 'shop',
        columns: [
          { fn: 'sum', column: 'amount', as: 'total' },
          { fn: 'max', column: 'amount', as: 'largest_yet', frame: 'up_to_here' },
          { fn: 'count', as: 'returns', where: 'decimal(amount) < 0d' },
          { fn: 'previous', column: 'amount', offset: 2, as: 'two_before' },
        ],
      },
      input: {
        columns: ['shop', 'amount'],
        types: ['text', 'decimal'],
        rows: [
          ['a', '5.00'],
          ['b', '-1'],
          ['a', '7'],
          ['a', '-2.5'],
          ['b', null],
        ],
      },
      output: {
        columns: ['shop', 'amount', 'total', 'largest_yet', 'returns', 'two_before'],
        rows: [
          ['a', '5.00', '9.50', '5.00', '1', null],
          ['b', '-1', '-1', '-1', '1', null],
          ['a', '7', '9.50', '7', '1', null],
          ['a', '-2.5', '9.50', '7', '1', '5.00'],
          ['b', null, '-1', '-1', '1', null],
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
  hasKeys: ({ partition_by }) => partition_by !== undefined,
  byKey: ({ groups, terms, columns }, input) =>
    groups.length === 0 || columns.length === 0
      ? null
      : {
          key: groups,
          reads: [
            ...terms.map(({ column }) => column),
            ...columns.flatMap(({ source }) => source ?? []),
            ...columnsOfConditions(
              columns.map(({ where }) => where),
              input,
            ),
          ],
          compared: columnsByText(terms),
        },
  start: startWindow,
});

const LOOKS_AHEAD: readonly string[] = ['next', 'last', 'percent_of_total', 'group_size'];

function looksAhead({ fn, frame }: Static<typeof windowColumn>): boolean {
  return LOOKS_AHEAD.includes(fn) || (isFramed(fn) && frame !== 'up_to_here');
}

function isStreaming({ partition_by, order_by, columns }: Static<typeof parameters>): boolean {
  return partition_by === undefined && order_by === undefined && !columns.some(looksAhead);
}

function plan({ partition_by, order_by, columns }: Static<typeof parameters>, scope: Scope): Plan {
  const groups = partition_by === undefined ? [] : scope.resolve(partition_by, '/partition_by');
  const terms = order_by === undefined ? [] : planTerms(order_by, scope, '/order_by');
  const sources = columns.map(({ column }, index) =>
    column === undefined ? null : scope.read(column, `/columns/${index}/column`),
  );
  // All conditions refer to the columns before this operation.
  const conditions = columns.map(({ where }, index) =>
    where === undefined ? null : checkCondition(scope, where, `/columns/${index}/where`),
  );
  const planned = columns.flatMap((given, index): PlannedColumn[] => {
    const { fn, column, as } = given;
    const source = sources[index]!;
    const where = conditions[index]!;
    if (column !== undefined && source === null) return [];
    const problem = windowProblem(given, source, order_by !== undefined);
    const typeProblem = windowTypeProblem(fn, source?.type ?? null);
    if (problem !== null) scope.problem(`/columns/${index}`, 'BAD_WINDOW', problem);
    else if (typeProblem !== null) scope.problem(`/columns/${index}/column`, 'WRONG_TYPE', typeProblem);
    if (problem !== null || typeProblem !== null) return [];
    const stored = source === null ? null : windowMoves(fn) ? storedType(source) : source.type;
    const made = isFramed(fn)
      ? framedFunction(fn, stored, given.frame ?? 'partition')
      : windowFunction(fn, stored, given);
    const hasKinds = made.type === 'text_with_kind' ? true : undefined;
    const name = as ?? (column === undefined ? fn : `${fn}_${column}`);
    const target = scope.add(name, columnTypeOf(made.type), `/columns/${index}/as`, undefined, hasKinds);
    scope.setClock(target, source?.clock);
    return [{ function: made, source, where, total: windowTotal(fn, given.frame, column !== undefined) }];
  });
  return { groups, terms, columns: planned };
}

function startWindow({ groups, terms, columns }: Plan, context: OperatorContext): Operator {
  const { input, layout, next } = context;
  if (columns.length === 0) return { push: next };
  const conditions = new MetricConditions(columns, context);
  const types = [...storedTypes(input), ...new Array<StoredType>(conditions.count).fill('boolean')];
  let condition = input.length;
  const windowColumns = columns.map(({ function: made, total, source, where }) => ({
    function: made,
    total,
    column: source === null ? -1 : context.indexOf(source),
    columnType: source === null ? 'text' : storedType(source),
    condition: where === null ? -1 : condition++,
  }));
  const rows = windowRows(context, {
    groups: groups.map((column) => context.indexOf(column)),
    terms: terms.map((term) => ({ ...term, index: context.indexOf(term.column) })),
    columns: windowColumns,
    types,
    next: (batch) => next(arrange(batch, layout, batch.columns.slice(types.length))),
  });
  const operator: Operator = {
    push: (batch) => conditions.apply(batch, (chosen) => rows.push(chosen)),
    finish: () => rows.finish?.() ?? DONE,
  };
  return withOrderCheck(operator, columnsByText(terms), context);
}
