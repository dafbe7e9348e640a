// The operation `pivot`: rows become columns, one row for each group.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import { type Column, type ColumnType, storedType, storedTypes } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { METRICS, type MetricName, metricType, movesCell } from '../execution/aggregate/accumulators.ts';
import { HashAggregate, type HashAggregatePlan } from '../execution/aggregate/hash-aggregate.ts';
import type { GroupMetric } from '../execution/aggregate/metric-state.ts';
import { NamePlaces } from '../execution/aggregate/name-places.ts';
import { withBlankFlags } from '../execution/cells/blank-flags.ts';
import { withoutRows } from '../execution/cells/cell-operator.ts';
import { constantValue } from '../execution/cells/constant-value.ts';
import { fillNulls } from '../execution/cells/fill-nulls.ts';
import { textOfValue } from '../execution/cells/text-of-value.ts';
import { KEY_ABSENT } from '../execution/keys/hash-table.ts';
import { columnName, columnSet } from '../execution/parameters/column-set.ts';
import { DONE } from '../run/time-slices.ts';
import type { Scope } from '../template/scope.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

/** Columns that one pivot may make. */
const VALUES_MAX = 1000;

const AGGREGATES = METRICS.filter((name) => name !== 'percentile');

const parameters = Type.Object({
  group_by: columnSet,
  names_from: columnName,
  values_from: columnName,
  values: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    maxItems: VALUES_MAX,
    uniqueItems: true,
    description: 'The names for which there is a column, in their order: columns are known before the first row.',
  }),
  aggregate: Type.Optional(
    Type.Enum([...AGGREGATES], {
      description:
        'What becomes of several rows of one group and name, as in `aggregate`. Without it they fail the Run ' +
        '(TEMPLATE_CHECK_FAILED).',
    }),
  ),
  fill: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Boolean()], { description: 'In cells without a value.' }),
  ),
  other: Type.Optional(
    Type.Union(
      [
        Type.Enum(['ignore', 'error']),
        Type.Object({ into: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
      ],
      {
        description:
          'Rows with another name: `ignore` (default), `error` (NOT_IN_SET, and `on_error` decides), or `{into: name}`, ' +
          'one more column for all of them.',
      },
    ),
  ),
});

interface Plan {
  readonly groups: readonly Column[];
  readonly names: Column;
  readonly source: Column;
  readonly values: readonly string[];
  readonly aggregate: MetricName | null;
  readonly type: ColumnType;
  readonly fill: unknown;
  readonly other: 'ignore' | 'error' | 'column';
}

export const pivot = defineOperation({
  name: 'pivot',
  summary:
    'Makes columns of the rows of a group: the group columns, then one column for each of the listed names. Groups come in ' +
    'the order in which they are first seen.',
  knownAs: [{ names: ['pivot_table', 'crosstab', 'long_to_wide', 'unstack'], form: null }],
  parameters,
  cells: false,
  memory: 'K',
  handsOnAtEnd: () => true,
  examples: [
    {
      title: 'Months side by side',
      operation: {
        op: 'pivot',
        group_by: ['who'],
        names_from: 'month',
        values_from: 'hours',
        values: ['jan', 'feb'],
        aggregate: 'sum',
        fill: 0,
      },
      input: {
        columns: ['month', 'who', 'hours'],
        types: ['text', 'text', 'decimal'],
        rows: [
          ['jan', 'Bob', '1.5'],
          ['feb', 'Ada', '2'],
          ['jan', 'Bob', '0.25'],
          ['mar', 'Cyd', '9'],
        ],
      },
      output: {
        columns: ['who', 'jan', 'feb'],
        rows: [
          ['Bob', '1.75', '0'],
          ['Ada', '0', '2'],
          ['Cyd', '0', '0'],
        ],
      },
    },
    {
      title: 'Pairs of keys and values as a row',
      operation: {
        op: 'pivot',
        group_by: 'id',
        names_from: 'key',
        values_from: 'value',
        values: ['color', 'size'],
        other: { into: 'more' },
      },
      input: {
        columns: ['id', 'key', 'value'],
        rows: [
          ['1', 'size', 'XL'],
          ['1', 'color', 'red'],
          ['2', 'weight', '5'],
          ['2', 'size', null],
        ],
      },
      output: {
        columns: ['id', 'color', 'size', 'more'],
        rows: [
          ['1', 'red', 'XL', null],
          ['2', null, null, '5'],
        ],
      },
    },
  ],
  effect: plan,
  start: (planned, context) => (planned === null ? { push: context.next } : startPivot(planned, context)),
});

function plan(given: Static<typeof parameters>, scope: Scope): Plan | null {
  const groups = scope.resolve(given.group_by, '/group_by');
  const names = scope.read(given.names_from, '/names_from');
  const source = scope.read(given.values_from, '/values_from');
  // Left out before it changes the columns: without one of them there is nothing to spread.
  if (names === null || source === null) return null;
  const { aggregate, other = 'ignore', values } = given;
  const type = metricType(aggregate ?? 'first', source.type);
  if (type === null) {
    const message = `"${aggregate}" does not go with a column of type ${source.type}. Parse or cast it before.`;
    scope.problem('/aggregate', 'WRONG_TYPE', message);
  }
  const made = given.fill === undefined || type === null ? { value: null } : constantValue(given.fill, type);
  if ('problem' in made) scope.problem('/fill', 'BAD_VALUE', made.problem);
  scope.arrange(groups, { rest: false });
  scope.close();
  const hasKinds = movesCell(aggregate ?? 'first', source) ? true : undefined;
  const add = (name: string, pointer: string): Column => scope.add(name, type ?? 'text', pointer, undefined, hasKinds);
  for (const [index, name] of values.entries()) add(name, `/values/${index}`);
  if (typeof other === 'object') add(other.into, '/other/into');
  if (type === null) return null;
  const fill = 'problem' in made ? null : made.value;
  const others = typeof other === 'object' ? 'column' : other;
  return { groups, names, source, values, aggregate: aggregate ?? null, type, fill, other: others };
}

function startPivot(planned: Plan, context: OperatorContext): Operator {
  const groups = new HashAggregate(context, aggregateOf(planned, context));
  const isKnown = knownNames(planned, context);
  return {
    push(batch) {
      groups.add(isKnown === null ? batch : isKnown(batch));
      return DONE;
    },
    finish: () => groups.finish(withBlankFlags(context)),
  };
}

/** Takes rows with other names away when they are errors; null when they are not. */
function knownNames({ names, values, other }: Plan, context: OperatorContext): ((batch: Batch) => Batch) | null {
  if (other !== 'error') return null;
  const reader = new CellReader(names.type, context.indexOf(names));
  const known = new Set(values);
  return (batch) => {
    const dropped = new Set<number>();
    for (let position = 0; position < batch.live; position++) {
      reader.bind(batch);
      const row = batch.physicalRow(position);
      const name = reader.read(row);
      if (name !== null && known.has(textOfValue(name))) continue;
      if (context.errors.report(batch, row, names.name, 'NOT_IN_SET') === 'drop_row') dropped.add(row);
    }
    return dropped.size === 0 ? batch : withoutRows(batch, dropped);
  };
}

/** A group has a cell for each name; without an aggregate it counts their rows too. */
function aggregateOf(planned: Plan, context: OperatorContext): HashAggregatePlan {
  const { groups, names, source, values, aggregate, type, fill, other } = planned;
  const moves = movesCell(aggregate ?? 'first', source);
  const reads = moves ? storedType(source) : source.type;
  const makes = moves ? 'text_with_kind' : type;
  const place = groups.length + 1;
  const every = { type: source.type, reads, place, condition: -1, separator: ', ', percent: 50 };
  const cells: GroupMetric = { ...every, fn: aggregate ?? 'first', makes };
  const rows: GroupMetric = { ...every, fn: 'count', makes: 'integer' };
  const width = values.length + (other === 'column' ? 1 : 0);
  const rest = other === 'column' ? values.length : KEY_ABSENT;
  const found = new NamePlaces(context, { names: values, index: groups.length, type: names.type, rest });
  const { arena } = context;
  return {
    reads: [...groups, names, source].map((column) => context.indexOf(column)),
    readTypes: [...storedTypes(groups), names.type, reads],
    groups: groups.length,
    metrics: aggregate === null ? [cells, rows] : [cells],
    sorted: false,
    spread: {
      width,
      makes: Array.from({ length: width }, () => makes),
      places: (batch, rows, count) => found.find(batch, rows, count),
      made(columns, count) {
        const shown = aggregate === null ? onlyRows(columns, count, context) : columns;
        if (fill === null) return [...shown];
        const filled = shown.map((column) => fillNulls(arena, column, count, makes, fill));
        return filled.some((column) => column === null) ? null : filled.filter((column) => column !== null);
      },
    },
  };
}

/** Of each cell and the number of its rows the cell, where that is one row at most. */
function onlyRows(columns: readonly ColumnData[], count: number, { arena, errors }: OperatorContext): ColumnData[] {
  const { i64 } = arena.heap;
  for (const column of columns.filter((_, index) => index % 2 === 1)) {
    if (column.kind !== 'typed') throw new Error('counts are integers');
    for (let row = 0; row < count; row++) if (i64[(column.at >>> 3) + row]! > 1n) errors.failCheck(MEETING);
  }
  return columns.filter((_, index) => index % 2 === 0);
}

const MEETING = 'several rows have the same group and name. Say in "aggregate" what becomes of them.';
