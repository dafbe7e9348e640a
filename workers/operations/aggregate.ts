// The operation `aggregate`: one row for each group.
import type { Batch } from '../batch.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import type { CheckedExpression } from '../expression/resolution.ts';
import { Failed } from '../failure.ts';
import type { Column, ColumnType } from '../schema.ts';
import type { Scope } from '../template/scope.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { CellFault } from './cells/value-cells.ts';
import { columnName, columnSet } from './column-set.ts';
import { checkCondition } from './expressions/check-expression.ts';
import { FoldedGroups } from './groups/folded-groups.ts';
import { type FoldedMetric, isFolded } from './groups/group-fold.ts';
import { defineOperation, type OperatorContext } from './operation.ts';
import type { Accumulator } from './rows/accumulator.ts';
import { METRICS, makeAccumulator, metricType } from './rows/accumulators.ts';
import { withBlankFlags } from './rows/blank-flags.ts';
import { HeldBytes } from './rows/held-values.ts';
import { MetricConditions } from './rows/metric-conditions.ts';
import { type GroupReduction, RowGroups } from './rows/row-groups.ts';

const metric = Type.Object(
  {
    fn: Type.Enum([...METRICS], {
      description:
        '`count` (rows), `count_values` (cells that are not null), `count_distinct`, `sum`, `mean`, `min`, `max`, `first`, ' +
        '`last`, `median` and `percentile` (with the way between two values, as PERCENTILE.INC), `stdev` and `variance` ' +
        '(of a sample), `mode` (the most frequent value, the first of equal ones), `join` (texts), `any`, `all` (of ' +
        'booleans). Nulls are passed over. Sums and means of decimals are exact; a mean is rounded half even to at ' +
        'least 10 digits.',
    }),
    column: Type.Optional(columnName),
    as: Type.Optional(Type.String({ minLength: 1, description: 'Name of the new column; `fn_column` unless set.' })),
    where: Type.Optional(
      Type.String({ minLength: 1, description: 'An expression: the metric takes only rows for which it is true.' }),
    ),
    p: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'Which `percentile`, such as 95.' })),
    separator: Type.Optional(Type.String({ default: ', ', description: 'Stands between texts of `join`.' })),
  },
  { additionalProperties: false },
);

interface PlannedMetric {
  readonly fn: Static<typeof metric>['fn'];
  readonly separator: string;
  readonly percent: number;
  readonly where: CheckedExpression | null;
  readonly source: Column | null;
  readonly type: ColumnType;
}

export const aggregate = defineOperation({
  name: 'aggregate',
  summary: 'Makes one row of each group, with counts, sums and the like; groups come in the order first seen.',
  parameters: Type.Object({
    group_by: Type.Optional(columnSet),
    metrics: Type.Array(metric, { minItems: 1, maxItems: 1000, description: 'What is computed of each group.' }),
    order: Type.Optional(
      Type.Enum(['first_seen', 'sorted'], {
        default: 'first_seen',
        description: 'Order of the groups: as they first appear, or by the group columns.',
      }),
    ),
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
  effect({ group_by, metrics, order = 'first_seen' }, scope) {
    const groups = group_by === undefined ? [] : scope.resolve(group_by, '/group_by');
    const planned = metrics.map((given, index) => planMetric(given, index, scope));
    const names = metrics.map(({ fn, column, as }) => as ?? (column === undefined ? fn : `${fn}_${column}`));
    scope.arrange(groups, { rest: false });
    scope.close();
    for (const [index, name] of names.entries()) {
      const type = planned[index]?.type;
      if (type !== undefined) scope.add(name, type, `/metrics/${index}/as`);
    }
    return { groups, metrics: planned.filter((entry) => entry !== null), sorted: order === 'sorted' };
  },
  start({ groups, metrics, sorted }, context) {
    const conditions = new MetricConditions(metrics, context);
    const reads = readsOf(groups, metrics, context);
    const rows = metrics.every(({ fn, source }) => isFolded(fn, source?.type ?? null))
      ? new FoldedGroups(context, { ...reads, metrics: foldedMetrics(metrics, reads), sorted })
      : new RowGroups(context, { ...reads, ...reductionOf(metrics, reads, context), sorted });
    return {
      push: (batch: Batch) => conditions.apply(batch, (chosen) => rows.add(chosen)),
      finish: () => rows.finish(withBlankFlags(context)),
    };
  },
});

function planMetric(given: Static<typeof metric>, index: number, scope: Scope): PlannedMetric | null {
  const { fn, column, separator = ', ', p, where: condition } = given;
  const where = condition === undefined ? null : checkCondition(scope, condition, `/metrics/${index}/where`);
  if ((p === undefined) === (fn === 'percentile')) {
    const what = p === undefined ? '"percentile" needs p, such as 95.' : `"${fn}" takes no p.`;
    scope.problem(`/metrics/${index}`, 'WRONG_PARAMETER', what);
  }
  const source = column === undefined ? null : scope.read(column, `/metrics/${index}/column`);
  if (column !== undefined && source === null) return null;
  const type = metricType(fn, source?.type ?? null);
  if (type !== null) return { fn, separator, percent: p ?? 50, where, source, type };
  const what = source === null ? 'needs a column' : `does not go with a column of type ${source.type}`;
  scope.problem(
    `/metrics/${index}`,
    'WRONG_TYPE',
    `"${fn}" ${what}. Parse or cast the column before, or choose another function.`,
  );
  return null;
}

/** The columns that are read, groups first, then those of the metrics and their conditions; -1: a metric has none. */
interface MetricReads {
  readonly reads: readonly number[];
  readonly readTypes: readonly ColumnType[];
  readonly groups: number;
  readonly places: readonly number[];
  readonly conditions: readonly number[];
}

function readsOf(
  groups: readonly Column[],
  metrics: readonly PlannedMetric[],
  { input }: OperatorContext,
): MetricReads {
  const sources = metrics.map(({ source }) => source);
  const columns = [...groups, ...sources.filter((source) => source !== null)];
  let next = groups.length;
  const places = sources.map((source) => (source === null ? -1 : next++));
  const conditions = metrics.map(({ where }) => (where === null ? -1 : next++));
  const added = conditions.filter((place) => place >= 0).map((_, index) => input.length + index);
  return {
    reads: [...columns.map((column) => columnIndex(input, column)), ...added],
    readTypes: [...columns.map(({ type }) => type), ...added.map(() => 'boolean' as const)],
    groups: groups.length,
    places,
    conditions,
  };
}

function foldedMetrics(metrics: readonly PlannedMetric[], { places, conditions }: MetricReads): FoldedMetric[] {
  return metrics.map(({ fn, source, type }, index) => {
    return { fn, type: source?.type ?? null, makes: type, place: places[index]!, condition: conditions[index]! };
  });
}

function reductionOf(
  metrics: readonly PlannedMetric[],
  { places, conditions }: MetricReads,
  context: OperatorContext,
): Pick<GroupReduction, 'makes' | 'metrics' | 'begin' | 'add' | 'end'> {
  const held = new HeldBytes(context.budget);
  const accumulators = metrics.map(({ fn, source, separator, percent }): Accumulator => {
    return makeAccumulator(fn, source?.type ?? null, { separator, percent, held });
  });
  return {
    makes: metrics.map(({ type }) => type),
    metrics: { held, accumulators, cell: cellOf },
    begin() {
      held.release();
      for (const accumulator of accumulators) accumulator.begin();
    },
    add(values: readonly unknown[]) {
      for (const [index, accumulator] of accumulators.entries()) {
        const place = places[index]!;
        const condition = conditions[index]!;
        if (condition >= 0 && values[condition] !== true) continue;
        accumulator.add(place < 0 ? null : values[place]);
      }
    },
    end() {
      const cells = accumulators.map((accumulator) => cellOf(accumulator.end()));
      held.release();
      return cells;
    },
  };
}

/** The rows of a group are gone when its sum turns out too large: the Run ends, whatever `on_error` says. */
function cellOf(value: unknown): unknown {
  if (!(value instanceof CellFault)) return value;
  throw new Failed('TEMPLATE_ROW_ERROR', `aggregate: ${value.code}: a sum or text is larger than a cell can be.`);
}
