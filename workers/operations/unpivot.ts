// The operation `unpivot`: turns columns into rows.
import { storedType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import {
  checkNames,
  commonType,
  splitColumns,
  UnpivotedRows,
  type UnpivotPlan,
  VALUE_NAME,
  VALUES_NAME,
} from '../execution/cells/unpivoted-rows.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import type { ColumnSet, Scope } from '../template/scope.ts';

/** Maximum number of parts of a name. Typical patterns have only a few groups. */
const PARTS_MAX = 20;

const parameters = Type.Object(
  {
    columns: Type.Optional(columnSet),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'An RE2 pattern that matches whole names, with a group for each name in `names_to`. Columns that do not match are kept. Without `columns`, it is applied to all other columns.',
      }),
    ),
    names_to: Type.Optional(
      Type.Union(
        [
          Type.String({ minLength: 1 }),
          Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: PARTS_MAX }),
        ],
        {
          default: 'name',
          title: 'the name of a column, or with "pattern" a list of them, such as [.value, no]',
          description:
            'The new column for the names of the columns. With `pattern`, one new column for each of its groups; the group `.value` is the name of the column for the cell, so that columns with equal other groups share a row.',
        },
      ),
    ),
    values_to: Type.Optional(
      Type.String({ minLength: 1, default: VALUES_NAME, description: 'The new column for the cells.' }),
    ),
    drop_empty: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          '`true`: empty cells (null or the empty text) give no row; with `.value`, only rows without any value are skipped.',
      }),
    ),
  },
  { anyOf: [{ required: ['columns'] }, { required: ['pattern'] }] },
);

type Parameters = Static<typeof parameters>;

export const unpivot = defineOperation({
  name: 'unpivot',
  purpose:
    'turns columns into rows with `name` and `value`; with a `pattern` of their names, groups of columns (`item_1`, `qty_1`, `item_2`, ...) become rows with several values',
  summary:
    'Turns columns into rows: each row has the columns that are kept, then the name of a column, then its cell. If the columns have different types, the cells become texts.',
  knownAs: [
    {
      names:
        'melt wide_to_long stack pivot_longer gather reshape unpivot_columns unpivot_other_columns reshape_longer pivot_long',
      form: 'columns: [...], names_to: ..., values_to: ...',
    },
  ],
  parameters,
  cells: false,
  memory: 'O',
  worksInParts: () => true,
  examples: [
    {
      title: 'Months from columns to rows',
      operation: { op: 'unpivot', columns: ['jan', 'feb'], names_to: 'month', values_to: 'hours', drop_empty: true },
      input: {
        columns: ['jan', 'who', 'feb'],
        types: ['integer', 'text', 'integer'],
        rows: [
          ['1', 'Ada', '2'],
          [null, 'Bob', '3'],
          [null, 'Cyd', null],
        ],
      },
      output: {
        columns: ['who', 'month', 'hours'],
        rows: [
          ['Ada', 'jan', '1'],
          ['Ada', 'feb', '2'],
          ['Bob', 'feb', '3'],
        ],
      },
    },
    {
      title: 'All columns except some, with different types',
      operation: { op: 'unpivot', columns: { except: ['id'] } },
      input: {
        columns: ['id', 'a', 'b'],
        types: ['text', 'text', 'decimal'],
        rows: [
          ['1', null, '2.50'],
          ['2', 'x', '12345678901234567890.25'],
        ],
      },
      output: {
        columns: ['id', 'name', 'value'],
        rows: [
          ['1', 'a', null],
          ['1', 'b', '2.50'],
          ['2', 'a', 'x'],
          ['2', 'b', '12345678901234567890.25'],
        ],
      },
    },
    {
      title: 'Groups of columns: one row for each number, one column for each kind of value',
      operation: { op: 'unpivot', pattern: '(\\w+)_(\\d+)', names_to: ['.value', 'no'], drop_empty: true },
      input: {
        columns: ['order', 'item_1', 'qty_1', 'item_2', 'qty_2', 'item_3'],
        types: ['text', 'text', 'integer', 'text', 'integer', 'text'],
        rows: [
          ['A', 'pen', '2', 'ink', '1', null],
          ['B', 'pad', null, null, null, 'cap'],
        ],
      },
      output: {
        columns: ['order', 'no', 'item', 'qty'],
        rows: [
          ['A', '1', 'pen', '2'],
          ['A', '2', 'ink', '1'],
          ['B', '1', 'pad', null],
          ['B', '3', 'cap', null],
        ],
      },
    },
    {
      title: 'Names with several parts',
      operation: {
        op: 'unpivot',
        columns: ['net_2023', 'tax_2023', 'net_2024'],
        pattern: '(net|tax)_(\\d{4})',
        names_to: ['kind', 'year'],
        values_to: 'amount',
      },
      input: {
        columns: ['shop', 'net_2023', 'tax_2023', 'net_2024'],
        types: ['text', 'decimal', 'decimal', 'text'],
        rows: [['1', '2.50', null, 'n/a']],
      },
      output: {
        columns: ['shop', 'kind', 'year', 'amount'],
        rows: [
          ['1', 'net', '2023', '2.50'],
          ['1', 'tax', '2023', null],
          ['1', 'net', '2024', 'n/a'],
        ],
      },
    },
  ],
  effect: plan,
  edits: () => [],
  start: (planned, context) => (planned === null ? { push: context.next } : new UnpivotedRows(planned, context)),
});

/** Returns null after a problem. */
function plan(given: Parameters, scope: Scope): UnpivotPlan | null {
  const { names_to: written = 'name', values_to: valuesTo = VALUES_NAME, drop_empty: dropEmpty = false } = given;
  const namesTo = typeof written === 'string' ? [written] : written;
  const set: ColumnSet = given.columns ?? '*';
  if (typeof set === 'object' && 'except' in set) {
    for (const [index, name] of set.except.entries()) scope.read(name, `/columns/except/${index}`);
  }
  const isRest = set === '*' || (typeof set === 'object' && 'except' in set);
  const isValid = checkNames(given, namesTo, scope);
  const split = splitColumns(given, set, namesTo, scope);
  if (split === null || !isValid) return null;
  for (const column of split.values.flatMap(({ columns }) => columns)) if (column !== null) scope.remove(column);
  const nameColumns = namesTo.flatMap((name, index) => (name === VALUE_NAME ? [] : [{ name, index }]));
  for (const { name, index } of nameColumns)
    scope.add(name, 'text', typeof written === 'string' ? '/names_to' : `/names_to/${index}`);
  const values = split.values.map(({ name, columns }) => {
    const { type, hasKinds } = commonType(columns.flatMap((column) => column ?? []));
    scope.add(name ?? valuesTo, type, name === null ? '/values_to' : '/pattern', undefined, hasKinds);
    return { columns, type: storedType({ type, ...(hasKinds && { hasKinds }) }) };
  });
  // Columns that are not known yet stay if the pattern does not match them. The others create new columns.
  if (given.pattern !== undefined && isRest && !scope.closed) scope.addUnknown();
  // All columns that are not known yet become rows.
  else if (isRest && given.pattern === undefined) scope.close();
  return { names: nameColumns.map((_, part) => split.names.map((names) => names[part]!)), values, dropEmpty };
}
