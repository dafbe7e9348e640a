// The operation `aggregate`: reduces each group to one row.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { ColumnBuilder } from '../batch/column-builder.ts';
import { NativeText } from '../batch/native-cell.ts';
import { type Column, type ColumnType, type StoredType, storedType, storedTypes } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { METRICS, type MetricName, metricType, movesCell } from '../execution/aggregate/accumulators.ts';
import { SubtotalOrder } from '../execution/aggregate/group-order.ts';
import { HashAggregate } from '../execution/aggregate/hash-aggregate.ts';
import { MetricConditions } from '../execution/aggregate/metric-conditions.ts';
import type { GroupMetric } from '../execution/aggregate/metric-state.ts';
import { canMerge, mayMerge, mergeGroups, partialMetrics, writeGroups } from '../execution/aggregate/partial-groups.ts';
import { withBlankFlags } from '../execution/cells/chosen-rows.ts';
import { setCell, textOfValue, valueBatch } from '../execution/cells/value-cells.ts';
import { withOrderCheck } from '../execution/sort/numbers-as-text.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { KIND_BOOLEAN, KIND_DATE, KIND_DATETIME, KIND_NUMBER } from '../kernel/layout/cells.ts';
import { DONE, PAUSE, type Sliced, type Steps } from '../scheduling/time-slices.ts';
import { columnName, columnSet, PARAMETER_LENGTH_MAX } from '../template/base-parameters.ts';
import { checkCondition } from '../template/check-expression.ts';
import {
  defineOperation,
  type Next,
  type Operator,
  type OperatorContext,
  type PartGroups,
} from '../template/operation.ts';
import { namesFor, valuesOf } from '../template/operation-hint.ts';
import type { Scope } from '../template/scope.ts';

const metric = Type.Object(
  {
    fn: Type.Enum([...METRICS], {
      description:
        '`count` (rows), `count_values` (cells that are not null), `count_distinct`, `sum`, `mean`, `min`, `max`, `first`, `last`, `median` and `percentile` (interpolated between two values, like PERCENTILE.INC), `stdev` and `variance` (of a sample), `mode` (the most frequent value; of equally frequent ones the first), `join` (texts), `any`, `all` (of booleans). Nulls are ignored. Sums and means of decimals are exact; a mean is rounded half to even, to at least 10 decimal places.',
    }),
    column: Type.Optional(columnName),
    as: Type.Optional(Type.String({ minLength: 1, description: 'Name of the new column; by default `fn_column`.' })),
    where: Type.Optional(
      Type.String({ minLength: 1, description: 'An expression: the metric uses only rows for which it is true.' }),
    ),
    p: Type.Optional(
      Type.Number({ minimum: 0, maximum: 100, description: 'The percentage of `percentile`, such as 95.' }),
    ),
    separator: Type.Optional(
      Type.String({
        maxLength: PARAMETER_LENGTH_MAX,
        default: ', ',
        description: 'Separator between the texts of `join`.',
      }),
    ),
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
  /** True for a column that `rest` keeps. These are after all others. */
  readonly isRest: boolean;
}

const METRICS_HINT = 'Write metrics: [{fn: sum, column: ..., as: ...}].';

/** Names of metrics in other languages. `join` is missing, because it is an operation. */
const OTHER_NAMES = {
  ...{ count: 'countif value_counts tally', count_values: '', count_distinct: 'nunique n_distinct distinct_count' },
  ...{ sum: 'total totals subtotal sumif sumifs', mean: 'avg average', median: '', mode: '', min: '', max: '' },
  ...{ first: '', last: '', percentile: 'quantile', stdev: 'std stddev', variance: 'var', any: '', all: '' },
} satisfies Record<Exclude<MetricName, 'join'>, string>;

export const aggregate = defineOperation({
  name: 'aggregate',
  purpose:
    'makes one row for each group, with `metrics` such as `count`, `sum`, `median`, `join`; `totals` adds a total row, and with `by` subtotals',
  summary:
    'Makes one row for each group, with counts, sums and other metrics. Groups are in the order of their first appearance.',
  parametersKnownAs: {
    ...namesFor(METRICS_HINT, 'sum', 'count', 'avg', 'mean', 'min', 'max', 'fn', 'as', 'column'),
    // Without this hint, the message would name `totals`, which has a parameter of this name.
    ...namesFor('Did you mean "group_by"?', 'by'),
  },
  knownAs: [
    {
      names: 'group_by groupby group summarize summarise count_by stats stats1 summary frequency freq',
      form: 'group_by: [...], metrics: [{fn: sum, column: ...}]',
    },
    {
      names: 'rollup cube subtotals grouping_sets',
      form: 'group_by: [country, city], metrics: [{fn: sum, column: ...}], totals: {label: Total, by: country}',
    },
    ...valuesOf(OTHER_NAMES, (fn) => `group_by: [...], metrics: [{fn: ${fn}, column: ...}]`),
  ],
  parameters: Type.Object({
    group_by: Type.Optional(columnSet),
    metrics: Type.Array(metric, { minItems: 1, maxItems: 1000, description: 'The metrics of each group.' }),
    rest: Type.Optional(
      Type.Enum(['drop', 'first'], {
        default: 'drop',
        description:
          'Columns that are neither group columns nor used by a metric: dropped, or (`first`) kept after the metrics, with the first cell of each group that is not null.',
      }),
    ),
    totals: Type.Optional(
      Type.Object(
        {
          label: Type.String({
            minLength: 1,
            description:
              'Text in the first group column of the total row, and in the first column after those of a subtotal.',
          }),
          by: Type.Optional(columnSet),
        },
        {
          additionalProperties: false,
          description:
            'Adds a row after the groups, with the metrics of all rows: totals are computed from the rows, so that means and distinct counts are correct. Its other group columns, and the columns that `rest` keeps, are null. A column of dates or numbers that contains the label becomes a column of texts; workbooks and JSON still have its dates and numbers, and CSV has them as texts, without the forms of `output.csv`. A group with the same name as the label keeps its own row before the total row. A table without rows has no total row. `by` adds subtotals: with `group_by: [country, city]` and `by: country`, the groups of each country are together, and a row with the metrics of the country follows them. `by` names the first columns of `group_by`, and all but the last may be named: `by: [country, city]` adds subtotals of each city and of each country, like `ROLLUP` in SQL.',
        },
      ),
    ),
    order: Type.Optional(
      Type.Enum(['first_seen', 'sorted'], {
        default: 'first_seen',
        description: 'Order of the groups: by first appearance, or sorted by the group columns.',
      }),
    ),
  }),
  cells: false,
  memory: 'K',
  emitsAtEnd: () => true,
  examples: [
    {
      title: 'Revenue of each customer',
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
      title: 'Other columns with their first cells',
      operation: {
        op: 'aggregate',
        group_by: 'no',
        metrics: [{ fn: 'sum', column: 'amount', as: 'total' }],
        rest: 'first',
      },
      input: {
        columns: ['no', 'name', 'amount', 'city'],
        types: ['text', 'text', 'integer', 'text'],
        rows: [
          ['1', 'Ada', '2', null],
          ['2', 'Bob', '5', 'Ulm'],
          ['1', 'Eva', '3', 'Bonn'],
        ],
      },
      output: {
        columns: ['no', 'total', 'name', 'city'],
        rows: [
          ['1', '5', 'Ada', 'Bonn'],
          ['2', '5', 'Bob', 'Ulm'],
        ],
      },
    },
    {
      title: 'A total row',
      operation: {
        op: 'aggregate',
        group_by: ['region', 'shop'],
        metrics: [
          { fn: 'sum', column: 'amount' },
          { fn: 'mean', column: 'amount', as: 'mean' },
        ],
        totals: { label: 'Total' },
      },
      input: {
        columns: ['region', 'shop', 'amount'],
        types: ['text', 'text', 'decimal'],
        rows: [
          ['North', 'a', '1.50'],
          ['South', 'b', '2'],
          ['North', 'a', '2.50'],
        ],
      },
      output: {
        columns: ['region', 'shop', 'sum_amount', 'mean'],
        rows: [
          ['North', 'a', '4.00', '2.00'],
          ['South', 'b', '2', '2'],
          ['Total', null, '6.00', '2.00'],
        ],
      },
    },
    {
      title: 'A total below days',
      operation: {
        op: 'aggregate',
        group_by: 'day',
        metrics: [{ fn: 'sum', column: 'amount', as: 'amount' }],
        totals: { label: 'Total' },
      },
      input: {
        columns: ['day', 'amount'],
        types: ['date', 'decimal'],
        rows: [
          ['2026-01-30', '2.5'],
          ['2026-01-31', '1'],
          ['2026-01-30', '4'],
        ],
      },
      output: {
        columns: ['day', 'amount'],
        rows: [
          ['2026-01-30', '6.5'],
          ['2026-01-31', '1'],
          ['Total', '7.5'],
        ],
      },
    },
    {
      title: 'Subtotals',
      operation: {
        op: 'aggregate',
        group_by: ['region', 'shop'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount' },
        ],
        totals: { label: 'Total', by: 'region' },
      },
      input: {
        columns: ['region', 'shop', 'amount'],
        types: ['text', 'text', 'decimal'],
        rows: [
          ['South', 'd', '1'],
          ['North', 'b', '2'],
          ['South', 'c', '4'],
          ['North', 'b', '8'],
        ],
      },
      output: {
        columns: ['region', 'shop', 'orders', 'sum_amount'],
        rows: [
          ['South', 'd', '1', '1'],
          ['South', 'c', '1', '4'],
          ['South', 'Total', '2', '5'],
          ['North', 'b', '2', '10'],
          ['North', 'Total', '2', '10'],
          ['Total', null, '4', '15'],
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
  effect({ group_by, metrics, rest = 'drop', order = 'first_seen', totals }, scope) {
    const groups = group_by === undefined ? [] : scope.resolve(group_by, '/group_by');
    const levels = totals === undefined ? [] : planTotals(totals, groups, scope);
    const planned: (PlannedMetric | null)[] = metrics.map((given, index) => planMetric(given, index, scope));
    const names = metrics.map(({ fn, column, as }) => as ?? (column === undefined ? fn : `${fn}_${column}`));
    if (rest === 'first') {
      const named = new Set([...groups.map(({ name }) => name), ...names, ...planned.map((one) => one?.source?.name)]);
      for (const source of scope.resolve('*', '/rest')) {
        if (named.has(source.name)) continue;
        planned.push({ fn: 'first', separator: '', percent: 50, where: null, source, type: source.type, isRest: true });
        names.push(source.name);
      }
    }
    scope.arrange(groups, { rest: false });
    const labelled = totals === undefined ? [] : groups.slice(0, levels.length + 1);
    for (const column of labelled) if (column.type !== 'text') scope.retype(column, 'text', true);
    // Columns that are not known yet may be among the other columns.
    if (rest === 'drop') scope.close();
    for (const [index, name] of names.entries()) {
      const type = planned[index]?.type;
      const { fn, source = null } = planned[index] ?? {};
      const hasKinds = fn !== undefined && movesCell(fn, source) ? true : undefined;
      if (type === undefined) continue;
      const made = scope.add(name, type, `/metrics/${index}/as`, undefined, hasKinds);
      scope.setClock(made, source?.clock);
    }
    const label = totals?.label ?? null;
    return { groups, metrics: planned.filter((entry) => entry !== null), sorted: order === 'sorted', label, levels };
  },
  merges: ({ metrics, rest = 'drop', totals }) => rest === 'drop' && totals === undefined && metrics.every(mayMerge),
  mergesColumns: ({ metrics }) => metrics.every(canMerge),
  *start(planned, context): Sliced<Operator> {
    const { groups, metrics, sorted, label, levels } = planned;
    if (context.groups?.kind === 'collect') return yield* partialGroups(planned, context, context.groups);
    if (context.groups?.kind === 'merge') return mergeGroups(context, planned, context.groups, withBlankFlags(context));
    const conditions = new MetricConditions(metrics, context);
    const rows = yield* groupedRows(groups.length, planned, context, sorted && levels.length === 0);
    const subtotals: HashAggregate[] = [];
    for (const leading of levels) subtotals.push(yield* groupedRows(leading, planned, context, false));
    const totals = label === null ? null : yield* groupedRows(0, planned, context, false);
    const next = labelTexts(planned, context, withBlankFlags(context));
    const operator: Operator = {
      push: (batch: Batch) =>
        conditions.apply(batch, function* (chosen) {
          yield* rows.add(chosen);
          for (const level of subtotals) yield* level.add(chosen);
          if (totals !== null) yield* totals.add(chosen);
        }),
      *finish() {
        if (subtotals.length === 0) yield* rows.finish(next);
        else yield* finishWithSubtotals({ rows, subtotals }, planned, context, next);
        if (totals !== null) yield* totals.finish((batch) => next(labelled(batch, 0, planned, context)));
      },
    };
    const compared = metrics.filter(({ fn }) => fn === 'min' || fn === 'max').map(({ source }) => source!);
    return withOrderCheck(operator, compared, context);
  },
});

interface PlannedGroups {
  readonly groups: readonly Column[];
  readonly metrics: readonly PlannedMetric[];
  readonly sorted: boolean;
  readonly label: string | null;
  /** Number of leading group columns of each level of subtotals, ascending. */
  readonly levels: readonly number[];
}

/** Returns the levels of the subtotals. */
function planTotals(
  { by }: { readonly by?: Static<typeof columnSet> },
  groups: readonly Column[],
  scope: Scope,
): number[] {
  if (groups.length === 0) {
    scope.problem('/totals', 'UNUSED_PARAMETER', 'Without group_by, the only row is the total.');
    return [];
  }
  const leading = by === undefined ? [] : scope.resolve(by, '/totals/by');
  const isLeading =
    leading.length < groups.length && groups.slice(0, leading.length).every((one) => leading.includes(one));
  if (!isLeading) {
    const message =
      'Subtotals are for the first columns of group_by, without its last column: with group_by: [country, city], by: country.';
    scope.problem('/totals/by', 'WRONG_PARAMETER', message);
    return [];
  }
  for (const column of groups.slice(0, leading.length + 1)) {
    if (column.type === 'text') continue;
    // Subtotals are placed by the texts of the groups: 1.0 and 1.00 are one group, but two texts.
    const isAllowed = leading.length === 0 ? column.type !== 'json' : column.type === 'date';
    const which = column === groups[0] ? 'the first group column' : 'the group column that contains it';
    const message = `The label is a text, but ${which} is ${column.type}. Format it as a text before, or begin group_by with a text column.`;
    if (!isAllowed) scope.problem('/totals/label', 'WRONG_TYPE', message);
  }
  return leading.map((_, index) => index + 1);
}

/** Groups the rows by the leading group columns. */
function* groupedRows(
  leading: number,
  { groups, metrics }: PlannedGroups,
  context: OperatorContext,
  sorted: boolean,
  isPartial = false,
): Sliced<HashAggregate> {
  const { clock } = context;
  const reads = readsOf(groups.slice(0, leading), metrics, context);
  if (clock.isDue()) yield PAUSE;
  const made = groupMetrics(metrics, reads).map((each) => (isPartial ? { ...each, isPartial } : each));
  if (clock.isDue()) yield PAUSE;
  const rows = new HashAggregate(context, { ...reads, metrics: made, sorted });
  if (clock.isDue()) yield PAUSE;
  return rows;
}

/** Groups the rows of one thread and writes the groups to files, if several threads process the Run. */
function* partialGroups(planned: PlannedGroups, context: OperatorContext, files: PartGroups): Sliced<Operator> {
  const metrics = partialMetrics(planned.metrics);
  const conditions = new MetricConditions(metrics, context);
  const rows = yield* groupedRows(planned.groups.length, { ...planned, metrics }, context, false, true);
  return {
    push: (batch) => conditions.apply(batch, (chosen) => files.add(rows, chosen)),
    finish: () => writeGroups(rows, files),
  };
}

/** Emits the groups, with each subtotal after its groups. */
function* finishWithSubtotals(
  { rows, subtotals }: { readonly rows: HashAggregate; readonly subtotals: readonly HashAggregate[] },
  planned: PlannedGroups,
  context: OperatorContext,
  next: Next,
): Steps {
  const { groups, metrics, sorted, levels } = planned;
  const types = [...storedTypes(groups), ...metrics.map(madeType)];
  for (let index = 0; index <= levels.length; index++) if (types[index] !== 'text') types[index] = 'text_with_kind';
  const order = new SubtotalOrder(context, { types, groups: groups.length, levels, sorted });
  for (const [level, each] of [...subtotals, rows].entries()) {
    yield* each.finish((batch) => {
      const mark = context.arena.next;
      const rows = level < levels.length ? labelled(batch, levels[level]!, planned, context) : batch;
      order.add(withLabelTexts(rows, planned, context), level);
      context.arena.release(mark);
      return DONE;
    });
  }
  yield* order.finish(next);
}

/**
 * Adds the group columns that total rows lack: the label, then nulls. The columns that `rest` keeps become null: their
 * cells belong to one group.
 */
function labelled(
  batch: Batch,
  leading: number,
  { label, groups, metrics }: PlannedGroups,
  context: OperatorContext,
): Batch {
  const rest = metrics.filter(({ isRest }) => isRest);
  const missing = groups.length - leading;
  const types = [...storedTypes(groups.slice(leading)), ...rest.map(madeType)];
  if (missing > 0) types[0] = 'text';
  const cells = types.map((_, index) => (index === 0 ? label : null));
  const made = Array.from({ length: batch.rows }, () => ({ cells, source: 0 }));
  const { columns } = valueBatch(context, made, types);
  const kept = batch.columns.slice(0, leading + metrics.length - rest.length);
  return batch.withColumns([
    ...kept.slice(0, leading),
    ...columns.slice(0, missing),
    ...kept.slice(leading),
    ...columns.slice(missing),
  ]);
}

/** Kind of cells with a label in their column, which the writers of workbooks and JSON use. */
const KIND_OF_TYPE: Readonly<Partial<Record<StoredType, number>>> = {
  integer: KIND_NUMBER,
  decimal: KIND_NUMBER,
  number: KIND_NUMBER,
  boolean: KIND_BOOLEAN,
  date: KIND_DATE,
  datetime: KIND_DATETIME,
};

/** Converts the group columns that may contain a label from their type to texts with kinds. */
function labelTexts(planned: PlannedGroups, context: OperatorContext, next: Next): Next {
  if (planned.label === null) return next;
  return (batch) => next(withLabelTexts(batch, planned, context));
}

function withLabelTexts(batch: Batch, { groups, levels }: PlannedGroups, context: OperatorContext): Batch {
  const columns = batch.columns.map((column, index): ColumnData => {
    if (index > levels.length || column.kind !== 'typed') return column;
    return kindedTexts(batch, index, groups[index]!.type, context);
  });
  return batch.withColumns(columns);
}

function kindedTexts(batch: Batch, index: number, type: ColumnType, { arena }: OperatorContext): ColumnData {
  const reader = new CellReader(type, index);
  const builder = new ColumnBuilder(arena, 'text_with_kind');
  const kind = KIND_OF_TYPE[type]!;
  reader.bind(batch);
  for (;;) {
    const mark = arena.next;
    let isDone = builder.begin(batch.rows);
    for (let position = 0; isDone && position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const value = reader.read(row);
      isDone = setCell(builder, row, value === null ? null : new NativeText(textOfValue(value), kind));
    }
    if (isDone) return builder.column;
    arena.release(mark);
    arena.enlarge(arena.capacityBytes * 2);
  }
}

function madeType({ fn, source, type }: PlannedMetric): StoredType {
  return movesCell(fn, source) ? 'text_with_kind' : type;
}

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
  if (type !== null) return { fn, separator, percent: p ?? 50, where, source, type, isRest: false };
  const what = source === null ? 'needs a column' : `does not go with a column of type ${source.type}`;
  scope.problem(
    `/metrics/${index}`,
    'WRONG_TYPE',
    `"${fn}" ${what}. Parse or cast the column before, or choose another function.`,
  );
  return null;
}

/**
 * The columns that are read: groups first, then those of the metrics and their conditions. -1 if a metric has none of
 * its kind.
 */
interface MetricReads {
  readonly reads: readonly number[];
  readonly readTypes: readonly StoredType[];
  readonly groups: number;
  readonly places: readonly number[];
  readonly conditions: readonly number[];
}

function readsOf(
  groups: readonly Column[],
  metrics: readonly PlannedMetric[],
  { input, indexOf }: OperatorContext,
): MetricReads {
  const sources = metrics.map(({ source }) => source);
  const moved = metrics.flatMap(({ fn, source }) => {
    return source === null ? [] : [movesCell(fn, source) ? storedType(source) : source.type];
  });
  const columns = [...groups, ...sources.filter((source) => source !== null)];
  let next = groups.length;
  const places = sources.map((source) => (source === null ? -1 : next++));
  const conditions = metrics.map(({ where }) => (where === null ? -1 : next++));
  const added = conditions.filter((place) => place >= 0).map((_, index) => input.length + index);
  return {
    reads: [...columns.map(indexOf), ...added],
    readTypes: [...storedTypes(groups), ...moved, ...added.map(() => 'boolean' as const)],
    groups: groups.length,
    places,
    conditions,
  };
}

function groupMetrics(
  metrics: readonly PlannedMetric[],
  { places, conditions, readTypes }: MetricReads,
): GroupMetric[] {
  return metrics.map((metric, index) => {
    const { fn, source, separator, percent } = metric;
    const place = places[index]!;
    return {
      fn,
      type: source?.type ?? null,
      reads: source === null ? null : readTypes[place]!,
      makes: madeType(metric),
      place,
      condition: conditions[index]!,
      separator,
      percent,
    };
  });
}
