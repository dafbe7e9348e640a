// The operation `transpose`: turns columns into rows, and rows into columns.
import type { Batch } from '../batch/batch.ts';
import { type Column, type Schema, storedType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import {
  pivotedGroups,
  RowNames,
  tooManyRows,
  withKnownNames,
  withRowNames,
} from '../execution/aggregate/pivoted-groups.ts';
import { withBlankFlags } from '../execution/cells/chosen-rows.ts';
import { commonType, UnpivotedRows } from '../execution/cells/unpivoted-rows.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

/** Maximum number of new columns, and default maximum of rows, because each row becomes a column. */
const COLUMNS_MAX = 1000;

/**
 * Maximum number of rows that may name columns. Together with the first column and the flag column, they stay below the
 * maximum of a file (16,384).
 */
const NAMED_ROWS_MAX = 10_000;

const parameters = Type.Object({
  header_from: Type.Intersect([columnName], {
    description:
      'The column whose cells are the names of the new columns. The first new column has its name, and contains the names of the other columns.',
  }),
  columns: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: COLUMNS_MAX,
      uniqueItems: true,
      description:
        'The new columns in their order. A row with another name is an error (NOT_IN_SET, handled by `on_error`); two rows with the same name fail the Run (TEMPLATE_CHECK_FAILED). Without `columns`, each row becomes a column, in their order, and the operation must be the last one. Names are then made like those of headers: a row without a name is called by the position of its column (column_2), and equal names get a number (net_2). The file is read twice.',
    }),
  ),
  max_rows: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: COLUMNS_MAX,
      description:
        'Maximum number of rows. With more, the Run fails (TEMPLATE_CHECK_FAILED), because transposing such a table is probably a mistake. ' +
        `Without \`columns\`, at most ${NAMED_ROWS_MAX}.`,
    }),
  ),
});

/** Each row has one of these names. */
interface ListedColumns {
  readonly listed: readonly string[];
}

/** Each row becomes one of these columns, in order. null while the names are unknown. */
interface RowColumns {
  readonly named: readonly string[] | null;
}

interface Plan {
  readonly header: Column;
  readonly others: readonly Column[];
  /** The new column with the names of the old columns. */
  readonly names: Column;
  /** Type of the new columns. */
  readonly cells: Pick<Column, 'type' | 'hasKinds'>;
  readonly columns: ListedColumns | RowColumns;
  readonly rowsMax: number;
}

export const transpose = defineOperation({
  name: 'transpose',
  purpose:
    'transposes a small table: columns become rows, and rows become the listed `columns`; without a list, as the last operation, each row becomes a column',
  summary:
    'Transposes a small table: each column becomes a row with its name and its cells, and each row becomes a column, which is named by one of its cells. Without input rows, the output has no rows.',
  knownAs: [{ names: 'flip turn swap_rows_and_columns pivot_rows t swap', form: 'header_from: ...' }],
  parameters,
  cells: false,
  memory: 'K',
  emitsAtEnd: () => true,
  examples: [
    {
      title: 'Without `columns`: two rows with the same name, and one without a name',
      operation: { op: 'transpose', header_from: 'figure' },
      input: {
        columns: ['figure', '2025', '2026'],
        rows: [
          ['net', '100', null],
          ['net', '119', '238'],
          [null, 'audited', 'open'],
        ],
      },
      output: {
        columns: ['figure', 'net', 'net_2', 'column_4'],
        rows: [
          ['2025', '100', '119', 'audited'],
          ['2026', null, '238', 'open'],
        ],
      },
    },
    {
      title: 'Metrics in rows become columns',
      operation: { op: 'transpose', header_from: 'figure', columns: ['net', 'gross'] },
      input: {
        columns: ['figure', '2025', '2026'],
        rows: [
          ['gross', '119', '238'],
          ['net', '100', null],
        ],
      },
      output: {
        columns: ['figure', 'net', 'gross'],
        rows: [
          ['2025', '100', '119'],
          ['2026', null, '238'],
        ],
      },
    },
    {
      title: 'A listed name without a row, and columns of different types',
      operation: { op: 'transpose', header_from: 'k', columns: ['a', 'b'] },
      input: { columns: ['x', 'k', 'n'], types: ['text', 'text', 'decimal'], rows: [['left', 'b', '2.50']] },
      output: {
        columns: ['k', 'a', 'b'],
        rows: [
          ['x', null, 'left'],
          ['n', null, '2.50'],
        ],
      },
    },
  ],
  effect: plan,
  start: (planned, context) => (planned === null ? { push: context.next } : startTranspose(planned, context)),
});

function plan(given: Static<typeof parameters>, scope: Scope): Plan | null {
  const header = scope.read(given.header_from, '/header_from');
  if (header === null) return null;
  const others = scope.resolve('*', '/header_from').filter(({ id }) => id !== header.id);
  const cells = commonType(others);
  scope.arrange([], { rest: false });
  scope.close();
  const names = scope.add(header.name, 'text', '/header_from');
  const { max_rows: rowsMax = COLUMNS_MAX } = given;
  const columns = given.columns === undefined ? { named: scope.columnsOfRows() } : { listed: given.columns };
  if ('named' in columns && rowsMax > NAMED_ROWS_MAX) {
    scope.problem('/max_rows', 'BAD_VALUE', `Rows name at most ${NAMED_ROWS_MAX} columns. List them in "columns".`);
  }
  for (const [index, name] of namesOf(columns).entries())
    scope.add(name, cells.type, `/columns/${index}`, undefined, cells.hasKinds);
  return { header, others, names, cells, columns, rowsMax };
}

function namesOf(columns: Plan['columns']): readonly string[] {
  return 'listed' in columns ? columns.listed : (columns.named ?? []);
}

function startTranspose(planned: Plan, context: OperatorContext): Operator {
  const { header, columns, rowsMax } = planned;
  if ('listed' in columns) {
    return turned(planned, withKnownNames({ names: header, values: columns.listed }, context), context);
  }
  if (columns.named === null) return new RowNames({ header, rowsMax }, context);
  return turned(
    { ...planned, header: { ...header, type: 'text' } },
    withRowNames(header, columns.named, context),
    context,
  );
}

/**
 * Splits each row into its cells, and groups the cells by the names of their columns.
 * @param known returns rows whose cells of `header` are among those names
 */
function turned(
  { header, others, names, cells, columns, rowsMax }: Plan,
  known: (batch: Batch) => Batch,
  context: OperatorContext,
): Operator {
  const cell: Column = { id: CELL_ID, name: 'cell', ...cells };
  const cut: Schema = [header, names, cell];
  const indexOf = (column: Column): number => cut.findIndex(({ id }) => id === column.id);
  const groups = pivotedGroups(
    {
      groups: [names],
      names: header,
      source: cell,
      values: namesOf(columns),
      // Names assigned to the rows are unique, so each cell has one row.
      aggregate: 'listed' in columns ? null : 'first',
      type: cell.type,
      fill: null,
      other: 'ignore',
      meeting: `several rows have the same name in "${header.name}", and would become one column.`,
    },
    { ...context, input: cut, indexOf },
  );
  const cutter = new UnpivotedRows(
    {
      names: [others.map(({ name }) => name)],
      values: [{ columns: others, type: storedType(cell) }],
      dropEmpty: false,
    },
    {
      ...context,
      output: cut,
      layout: [context.indexOf(header), -1, -1],
      next: (batch) => groups.add(batch),
    },
  );
  let rows = 0;
  return {
    push(batch) {
      rows += batch.live;
      if (rows > rowsMax) context.errors.failCheck(tooManyRows(rowsMax));
      return cutter.push(known(batch));
    },
    finish: () => groups.finish(withBlankFlags(context)),
  };
}

/** A column that occurs in no table, so its id must differ from all others. */
const CELL_ID = -1;
