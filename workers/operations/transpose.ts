// The operation `transpose`: columns become rows, and rows columns.
import type { Batch } from '../batch/batch.ts';
import { type Column, type Schema, storedType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { pivotedGroups, withKnownNames } from '../execution/aggregate/pivoted-groups.ts';
import { RowNames, tooManyRows, withRowNames } from '../execution/aggregate/row-names.ts';
import { withBlankFlags } from '../execution/cells/blank-flags.ts';
import { commonType, UnpivotedRows } from '../execution/cells/unpivoted-rows.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import { DONE } from '../run/time-slices.ts';
import type { Scope } from '../template/scope.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

/** Columns that it may make, and rows that it takes unless told: each row becomes a column. */
const COLUMNS_MAX = 1000;

/** Rows that may name columns: with the first and that of flags they stay below what a file may have (16,384). */
const NAMED_ROWS_MAX = 10_000;

const parameters = Type.Object({
  header_from: Type.Intersect([columnName], {
    description:
      'The column whose cells name the new columns. The first new column has its name, and the names of the others.',
  }),
  columns: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: COLUMNS_MAX,
      uniqueItems: true,
      description:
        'The new columns in their order. A row with another name is an error (NOT_IN_SET, and `on_error` decides); two rows ' +
        'with one name fail the Run (TEMPLATE_CHECK_FAILED). Without it each row makes a column, in their order, and the ' +
        'operation must be the last one. Names are then made as those of headers: a row without one is called by the place ' +
        'of its column (column_2), equal ones get a number (net_2). The file is read twice.',
    }),
  ),
  max_rows: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: COLUMNS_MAX,
      description:
        'With more rows than these the Run fails (TEMPLATE_CHECK_FAILED): a table that long is not meant to be turned. ' +
        `Without \`columns\` ${NAMED_ROWS_MAX} at most.`,
    }),
  ),
});

/** Each row has the name of one of these. */
interface ListedColumns {
  readonly listed: readonly string[];
}

/** Each row is one of these, in their order; null while they are to be named. */
interface RowColumns {
  readonly named: readonly string[] | null;
}

interface Plan {
  readonly header: Column;
  readonly others: readonly Column[];
  /** The new column with their names. */
  readonly names: Column;
  /** Of the new columns. */
  readonly cells: Pick<Column, 'type' | 'hasKinds'>;
  readonly columns: ListedColumns | RowColumns;
  readonly rowsMax: number;
}

export const transpose = defineOperation({
  name: 'transpose',
  summary:
    'Turns a small table: each column becomes a row with its name and its cells, and each row becomes the column that a cell ' +
    'of it names. Without rows there are none afterwards.',
  knownAs: [{ names: 'flip turn swap_rows_and_columns pivot_rows t swap', form: 'header_from: ...' }],
  parameters,
  cells: false,
  memory: 'K',
  handsOnAtEnd: () => true,
  examples: [
    {
      title: 'Without `columns` each row makes one: two of one name, and one without a name',
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
      title: 'Figures below each other become columns',
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
      title: 'A name for which there is no row, and columns of different types',
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
 * Each row is cut into its cells, and these are put together again by the names of their columns.
 * @param known gives rows whose cells of `header` are among those names
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
      // Names that the rows were given meet in none.
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
      next: (batch) => {
        groups.add(batch);
        return DONE;
      },
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

/** Of a column that stands in no table: its number is no other's. */
const CELL_ID = -1;
