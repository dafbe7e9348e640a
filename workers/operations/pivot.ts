// The operation `pivot`: rows become columns, one row for each group.
import type { Batch } from '../batch.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { Failed } from '../failure.ts';
import type { Column, ColumnType } from '../schema.ts';
import type { Scope } from '../template/scope.ts';
import { columnIndex, withoutRows } from './cells/cell-operator.ts';
import { CellReader } from './cells/cell-values.ts';
import { constantValue } from './cells/constant-value.ts';
import { textOfValue } from './cells/text-of-value.ts';
import { CellFault } from './cells/value-cells.ts';
import { columnName, columnSet } from './column-set.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';
import { METRICS, type MetricName, makeAccumulator, metricType } from './rows/accumulators.ts';
import { withBlankFlags } from './rows/blank-flags.ts';
import { HeldBytes } from './rows/held-values.ts';
import { type GroupReduction, RowGroups } from './rows/row-groups.ts';

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
  for (const [index, name] of values.entries()) scope.add(name, type ?? 'text', `/values/${index}`);
  if (typeof other === 'object') scope.add(other.into, type ?? 'text', '/other/into');
  if (type === null) return null;
  const fill = 'problem' in made ? null : made.value;
  const others = typeof other === 'object' ? 'column' : other;
  return { groups, names, source, values, aggregate: aggregate ?? null, type, fill, other: others };
}

function startPivot(planned: Plan, context: OperatorContext): Operator {
  const groups = new RowGroups(context, reductionOf(planned, context));
  const isKnown = knownNames(planned, context);
  return {
    push: (batch) => groups.add(isKnown === null ? batch : isKnown(batch)),
    finish: () => groups.finish(withBlankFlags(context)),
  };
}

/** Takes rows with other names away when they are errors; null when they are not. */
function knownNames({ names, values, other }: Plan, context: OperatorContext): ((batch: Batch) => Batch) | null {
  if (other !== 'error') return null;
  const reader = new CellReader(names.type, columnIndex(context.input, names));
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

function reductionOf(planned: Plan, context: OperatorContext): GroupReduction {
  const { groups, names, source, values, aggregate, type, fill, other } = planned;
  const held = new HeldBytes(context.budget);
  const width = values.length + (other === 'column' ? 1 : 0);
  const settings = { separator: ', ', percent: 50, held };
  const cells = Array.from({ length: width }, () => makeAccumulator(aggregate ?? 'first', source.type, settings));
  const counts = new Array<number>(width).fill(0);
  const places = new Map(values.map((name, index) => [name, index]));
  const rest = other === 'column' ? values.length : -1;
  const columns = [...groups, names, source];
  return {
    reads: columns.map((column) => columnIndex(context.input, column)),
    readTypes: columns.map((column) => column.type),
    groups: groups.length,
    makes: cells.map(() => type),
    metrics: { held, accumulators: cells, cell: cellOf },
    begin() {
      held.release();
      counts.fill(0);
      for (const cell of cells) cell.begin();
    },
    add(row) {
      const name = row[groups.length] ?? null;
      const place = name === null ? rest : (places.get(textOfValue(name)) ?? rest);
      if (place < 0) return;
      counts[place]!++;
      cells[place]!.add(row[groups.length + 1] ?? null);
      if (aggregate === null && counts[place]! > 1) context.errors.failCheck(MEETING);
    },
    end() {
      const made = cells.map((cell) => cellOf(cell.end()) ?? fill);
      held.release();
      return made;
    },
  };
}

const MEETING = 'several rows have the same group and name. Say in "aggregate" what becomes of them.';

function cellOf(value: unknown): unknown {
  if (!(value instanceof CellFault)) return value;
  throw new Failed('TEMPLATE_ROW_ERROR', `pivot: ${value.code}: a sum or text is larger than a cell can be.`);
}
