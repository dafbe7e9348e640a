// The operation `aggregate`: one row for each group.
import { type Static, Type } from 'typebox';
import type { Batch } from '../batch.ts';
import { Failed } from '../failure.ts';
import type { Column, ColumnType } from '../schema.ts';
import type { Scope } from '../template/scope.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { CellFault } from './cells/value-cells.ts';
import { columnName, columnSet } from './column-set.ts';
import { defineOperation, type OperatorContext } from './operation.ts';
import { type Accumulator, METRICS, makeAccumulator, metricType } from './rows/accumulators.ts';
import { RowGroups } from './rows/row-groups.ts';

const metric = Type.Object(
  {
    fn: Type.Enum([...METRICS], {
      description:
        '`count` (rows), `count_values` (cells that are not null), `sum`, `mean`, `min`, `max`, `first`, `last`, `any`, ' +
        '`all` (of booleans), `join` (texts). Nulls are passed over.',
    }),
    column: Type.Optional(columnName),
    as: Type.Optional(Type.String({ minLength: 1, description: 'Name of the new column; `fn_column` unless set.' })),
    separator: Type.Optional(Type.String({ default: ', ', description: 'Stands between texts of `join`.' })),
  },
  { additionalProperties: false },
);

interface PlannedMetric {
  readonly fn: Static<typeof metric>['fn'];
  readonly separator: string;
  readonly source: Column | null;
  readonly type: ColumnType;
}

export const aggregate = defineOperation({
  name: 'aggregate',
  summary: 'Makes one row of each group, with counts, sums and the like; groups come in the order first seen.',
  parameters: Type.Object({
    group_by: Type.Optional(columnSet),
    metrics: Type.Array(metric, { minItems: 1, maxItems: 1000, description: 'What is computed of each group.' }),
  }),
  cells: false,
  memory: 'K',
  handsOnAtEnd: () => true,
  examples: [
    {
      title: 'Turnover of each customer',
      operation: {
        op: 'aggregate',
        group_by: ['customer'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount' },
          { fn: 'max', column: 'amount', as: 'largest' },
        ],
      },
      input: {
        columns: ['customer', 'amount'],
        types: ['text', 'decimal'],
        rows: [
          ['b', '1.50'],
          ['a', '2'],
          ['b', '0.25'],
          [null, null],
          ['a', '-3.1'],
        ],
      },
      output: {
        columns: ['customer', 'orders', 'sum_amount', 'largest'],
        rows: [
          ['b', '2', '1.75', '1.50'],
          ['a', '2', '-1.1', '2'],
          [null, '1', null, null],
        ],
      },
    },
    {
      title: 'All rows as one group',
      operation: {
        op: 'aggregate',
        metrics: [
          { fn: 'mean', column: 'x' },
          { fn: 'join', column: 'name', as: 'names', separator: '+' },
        ],
      },
      input: {
        columns: ['x', 'name'],
        types: ['number', 'text'],
        rows: [
          ['0.5', 'a'],
          ['1', null],
          ['3', 'c'],
        ],
      },
      output: { columns: ['mean_x', 'names'], rows: [['1.5', 'a+c']] },
    },
  ],
  effect({ group_by, metrics }, scope) {
    const groups = group_by === undefined ? [] : scope.resolve(group_by, '/group_by');
    const planned = metrics.map((given, index) => planMetric(given, index, scope));
    const names = metrics.map(({ fn, column, as }) => as ?? (column === undefined ? fn : `${fn}_${column}`));
    scope.arrange(groups, { rest: false });
    scope.close();
    for (const [index, name] of names.entries()) {
      const type = planned[index]?.type;
      if (type !== undefined) scope.add(name, type, `/metrics/${index}/as`);
    }
    return { groups, metrics: planned.filter((entry) => entry !== null) };
  },
  start({ groups, metrics }, context) {
    const rows = new RowGroups(context, reductionOf(groups, metrics, context));
    return { push: (batch: Batch) => rows.add(batch), finish: () => rows.finish(context.next) };
  },
});

function planMetric(given: Static<typeof metric>, index: number, scope: Scope): PlannedMetric | null {
  const { fn, column, separator = ', ' } = given;
  const source = column === undefined ? null : scope.read(column, `/metrics/${index}/column`);
  if (column !== undefined && source === null) return null;
  const type = metricType(fn, source?.type ?? null);
  if (type !== null) return { fn, separator, source, type };
  const what = source === null ? 'needs a column' : `does not go with a column of type ${source.type}`;
  scope.problem(
    `/metrics/${index}`,
    'WRONG_TYPE',
    `"${fn}" ${what}. Parse or cast the column before, or choose another function.`,
  );
  return null;
}

function reductionOf(groups: readonly Column[], metrics: readonly PlannedMetric[], context: OperatorContext) {
  const sources = metrics.map(({ source }) => source);
  const columns = [...groups, ...sources.filter((source) => source !== null)];
  const accumulators = metrics.map(({ fn, source, separator }): Accumulator => {
    return makeAccumulator(fn, source?.type ?? null, separator);
  });
  let next = groups.length;
  const places = sources.map((source) => (source === null ? -1 : next++));
  return {
    reads: columns.map((column) => columnIndex(context.input, column)),
    readTypes: columns.map(({ type }) => type),
    groups: groups.length,
    makes: metrics.map(({ type }) => type),
    begin: () => accumulators.forEach((accumulator) => void accumulator.begin()),
    add(values: readonly unknown[]) {
      for (const [index, accumulator] of accumulators.entries()) {
        const place = places[index]!;
        accumulator.add(place < 0 ? null : values[place]);
      }
    },
    end: () => accumulators.map((accumulator) => cellOf(accumulator.end())),
  };
}

/** The rows of a group are gone when its sum turns out too large: the Run ends, whatever `on_error` says. */
function cellOf(value: unknown): unknown {
  if (!(value instanceof CellFault)) return value;
  throw new Failed('TEMPLATE_ROW_ERROR', `aggregate: ${value.code}: a sum or text is larger than a cell can be.`);
}
