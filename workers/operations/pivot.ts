// The operation `pivot`: converts rows to columns, with one row per group.
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { METRICS, metricType, movesCell } from '../execution/aggregate/accumulators.ts';
import {
  DistinctNames,
  keyOfListedName,
  type PivotPlan,
  pivotedGroups,
  withKnownNames,
} from '../execution/aggregate/pivoted-groups.ts';
import { withBlankFlags } from '../execution/cells/chosen-rows.ts';
import { constantValue } from '../execution/cells/constant-value.ts';
import { columnName, columnSet } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

/** Maximum number of columns created by one pivot. */
const VALUES_MAX = 1000;

const AGGREGATES = METRICS.filter((name) => name !== 'percentile');

const parameters = Type.Object({
  group_by: columnSet,
  names_from: columnName,
  values_from: columnName,
  values: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: VALUES_MAX,
      uniqueItems: true,
      description:
        'The names that become columns, in their order. Names are compared by value: the decimals 1.0 and 1.00 are one name. Without the list, all names of the rows become columns, as they are first written, sorted (numbers by size, other names by code points); the operation must then be the last one.',
    }),
  ),
  max_columns: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: VALUES_MAX,
      description: `Maximum number of columns without \`values\`, ${VALUES_MAX} by default. If there are more names, the Run fails.`,
    }),
  ),
  aggregate: Type.Optional(
    Type.Enum([...AGGREGATES], {
      description:
        'Metric for several rows with the same group and name, as in `aggregate`. Without it, such rows fail the Run (TEMPLATE_CHECK_FAILED).',
    }),
  ),
  fill: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
      description: 'Value of cells without a value: no row, or only nulls. Counts of no rows are 0.',
    }),
  ),
  other: Type.Optional(
    Type.Union(
      [
        Type.Enum(['ignore', 'error']),
        Type.Object({ into: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
      ],
      {
        description:
          'Rows with another name: `ignore` (default; they are counted as CELL_DROPPED), `error` (NOT_IN_SET, handled by `on_error`), or `{into: name}`, one column for all of them.',
      },
    ),
  ),
});

export const pivot = defineOperation({
  name: 'pivot',
  purpose:
    'turns rows into columns: one for each name listed in `values`; without a list, as the last operation, for each name that occurs',
  summary:
    'Turns the rows of each group into columns: the group columns, then one column for each of the listed names, or for each name that occurs. Groups are in the order of their first appearance.',
  knownAs: [
    {
      names: 'pivot_table crosstab long_to_wide unstack pivot_wider spread dcast cross_tab reshape_wider',
      form: null,
    },
  ],
  parametersKnownAs: {
    index: 'Write group_by for the columns of the rows.',
    columns: 'Write names_from for the column whose texts become columns.',
  },
  parameters,
  cells: false,
  memory: 'K',
  emitsAtEnd: () => true,
  examples: [
    {
      title: 'Months as columns',
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
    {
      title: 'A column for each month that occurs',
      operation: { op: 'pivot', group_by: ['who'], names_from: 'month', values_from: 'hours', aggregate: 'sum' },
      input: {
        columns: ['who', 'month', 'hours'],
        types: ['text', 'integer', 'decimal'],
        rows: [
          ['Bob', '10', '1.5'],
          ['Ada', '2', '2'],
          ['Bob', '10', '0.25'],
        ],
      },
      output: {
        columns: ['who', '2', '10'],
        rows: [
          ['Bob', null, '1.75'],
          ['Ada', '2', null],
        ],
      },
    },
  ],
  effect: plan,
  start: (planned, context) => (planned === null ? { push: context.next } : startPivot(planned, context)),
});

/** `search`: the names that become columns are found in the rows; `found` is false in the attempt that finds them. */
interface Plan extends PivotPlan {
  readonly search: { readonly columnsMax: number; readonly found: boolean } | null;
}

function plan(given: Static<typeof parameters>, scope: Scope): Plan | null {
  const groups = scope.resolve(given.group_by, '/group_by');
  const names = scope.read(given.names_from, '/names_from');
  const source = scope.read(given.values_from, '/values_from');
  // Returns before it changes the columns: without one of these columns, there is nothing to pivot.
  if (names === null || source === null) return null;
  const { aggregate, other = 'ignore', max_columns: columnsMax } = given;
  checkListed(given, scope);
  checkDistinct(given.values ?? [], names, scope);
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
  const found = given.values === undefined ? scope.columnsOfRows() : null;
  const values = given.values ?? found ?? [];
  for (const [index, name] of values.entries()) add(name, `/values/${index}`);
  if (typeof other === 'object') add(other.into, '/other/into');
  if (type === null) return null;
  const fill = 'problem' in made ? null : made.value;
  const others = typeof other === 'object' ? 'column' : other;
  const search = given.values === undefined ? { columnsMax: columnsMax ?? VALUES_MAX, found: found !== null } : null;
  const cells = { aggregate: aggregate ?? null, type, fill, other: others, meeting: MEETING } as const;
  return { groups, names, source, values, ...cells, search };
}

/** Some parameters have a meaning only for listed names, or only for names of rows. */
function checkListed({ values, other, max_columns }: Static<typeof parameters>, scope: Scope): void {
  if (values !== undefined && max_columns !== undefined)
    scope.problem('/max_columns', 'UNUSED_PARAMETER', 'The columns are those of "values": leave out max_columns.');
  if (values === undefined && typeof other === 'object')
    scope.problem('/other', 'UNUSED_PARAMETER', 'Without "values", no name is another one: leave out other.');
}

/** Two names of the same value, such as the decimals 1.0 and 1.00: one of the columns would always be empty. */
function checkDistinct(values: readonly string[], { name, type }: Column, scope: Scope): void {
  const firsts = new Map<string, string>();
  for (const [index, value] of values.entries()) {
    const key = keyOfListedName(value, type);
    const first = firsts.get(key);
    firsts.set(key, first ?? value);
    if (first === undefined) continue;
    const problem = `${JSON.stringify(first)} and ${JSON.stringify(value)} are the same ${type}`;
    scope.problem(`/values/${index}`, 'BAD_VALUE', `${problem} in the column ${JSON.stringify(name)}: leave one out.`);
  }
}

const MEETING = 'several rows have the same group and name. Say in "aggregate" what becomes of them.';

function startPivot(planned: Plan, context: OperatorContext): Operator {
  if (planned.search?.found === false) return new DistinctNames(planned.names, planned.search.columnsMax, context);
  const groups = pivotedGroups(planned, context);
  const isKnown = planned.other === 'error' ? withKnownNames(planned, context) : null;
  return {
    push: (batch) => groups.add(isKnown === null ? batch : isKnown(batch)),
    finish: () => groups.finish(withBlankFlags(context)),
  };
}
