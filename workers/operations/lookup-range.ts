// The operation `lookup_range`: adds columns of the row in a reference table whose range contains a value.
import type { Batch, ColumnData } from '../batch/batch.ts';
import type { Column, ColumnType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { piecesOf, withoutRows } from '../execution/cells/cell-operator.ts';
import { arrange } from '../execution/cells/copied-rows.ts';
import { cellsOf, RangeTable } from '../execution/join/range-table.ts';
import { cellsOfTypes } from '../execution/join/table-index.ts';
import {
  addTableColumns,
  checkTableColumn,
  checkTableKey,
  tableColumns,
  tableColumnType,
  tableName,
} from '../execution/join/table-lookup.ts';
import { withOrderCheck } from '../execution/sort/numbers-as-text.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import { countInAnyOrder } from '../protocol/report.ts';
import { checkMask, PAUSE, type Sliced, type Slices } from '../scheduling/time-slices.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

const pair = Type.Object(
  {
    left: Type.String({ minLength: 1, description: 'Column of the rows.' }),
    right: Type.String({ minLength: 1, description: 'Column of the table.' }),
  },
  { additionalProperties: false },
);

const parameters = Type.Object({
  table: tableName,
  value: columnName,
  on: Type.Optional(
    Type.Union([columnName, Type.Array(Type.Union([columnName, pair]), { minItems: 1, maxItems: 16 })], {
      description:
        'Columns that must be equal, in addition: a name that both tables have, or a list of names and `{left, right}`. Ranges of different keys may overlap. Null equals nothing.',
    }),
  ),
  from: Type.String({
    minLength: 1,
    description:
      'Column of the table with the lower ends; an empty cell means no lower end. Its texts are converted to the type of `value`.',
  }),
  to: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Column of the table with the upper ends; an empty cell means no upper end. Without it, a range ends where the next one begins: the row with the greatest `from` that is not greater than `value` is found, such as the most recent exchange rate.',
    }),
  ),
  inclusive: Type.Optional(
    Type.Enum(['both', 'from', 'to', 'neither'], {
      default: 'both',
      description:
        'Which ends belong to a range. With `from`, 10 is in 10 to 20 but not in 0 to 10, for tables that contain each boundary twice.',
    }),
  ),
  columns: Type.Optional(
    Type.Array(columnName, {
      minItems: 1,
      description:
        'Columns of the table to add; by default all except `from`, `to` and the columns of `on`. List them if later operations use them, because the check needs their names.',
    }),
  ),
  on_missing: Type.Optional(
    Type.Enum(['ignore', 'error'], {
      default: 'ignore',
      description:
        'Rows whose value is in no range, including null: `ignore` counts them in the report (LOOKUP_MISS), `error` is the error LOOKUP_MISS, which is handled by `on_error`.',
    }),
  ),
  prefix: Type.Optional(Type.String({ minLength: 1, description: 'Prefix of the names of new columns.' })),
});

type Parameters = Static<typeof parameters>;

interface Plan {
  readonly given: Parameters;
  readonly value: Column;
  readonly keys: readonly { readonly left: Column; readonly right: string }[];
  /** Columns of the table, empty while they are unknown. */
  readonly columns: readonly string[];
  /** Types of the added columns. */
  readonly types: readonly ColumnType[];
}

/** Types whose values are ordered, so that ranges are possible. */
const ORDERED_TYPES: readonly ColumnType[] = ['text', 'integer', 'decimal', 'number', 'date', 'datetime'];

export const lookupRange = defineOperation({
  name: 'lookup_range',
  purpose:
    "adds columns of the reference table's row whose range contains a value, such as a tariff by weight or by date; `inclusive` sets which ends belong to the range. With `on`, other columns must be equal; without `to`, it finds the most recent earlier row, such as an exchange rate by currency and day",
  summary:
    "Adds columns of the reference table's row whose range contains a value: a number, date or text. Both ends belong to the range, unless `inclusive` is set. Without `to`, the most recent earlier row is found. Ranges that overlap end the Run before its first row.",
  knownAs: [{ names: 'range_lookup range_join asof_join join_asof bands', form: null }],
  parameters,
  cells: false,
  memory: 'K',
  worksInParts: () => true,
  // The first texts of the file are checked for numbers, wherever its parts begin.
  columnsInParts: (planned) => planned?.value.type !== 'text',
  examples: [
    {
      title: 'A tariff by weight',
      operation: { op: 'lookup_range', table: 'tariff', value: 'kg', from: 'from_kg', to: 'to_kg', columns: ['price'] },
      tables: { tariff: 'from_kg,to_kg,price\n2.01,10,8.99\n0,2,4.99\n10.01,,19.99' },
      input: {
        columns: ['kg'],
        types: ['decimal'],
        rows: [['2'], ['2.005'], ['2.010'], ['700'], ['-1'], [null]],
      },
      output: {
        columns: ['kg', 'price'],
        rows: [
          ['2', '4.99'],
          ['2.005', null],
          ['2.010', '8.99'],
          ['700', '19.99'],
          ['-1', null],
          [null, null],
        ],
      },
    },
    {
      title: 'The rate that was valid on a day',
      operation: { op: 'lookup_range', table: 'rates', value: 'day', from: 'since', to: 'until', prefix: 'vat_' },
      tables: { rates: 'since,until,rate\n,2020-06-30,19\n2020-07-01,2020-12-31,16\n2021-01-01,,19' },
      input: {
        columns: ['day'],
        types: ['date'],
        rows: [['1999-01-01'], ['2020-07-01'], ['2020-12-31'], ['2026-01-31']],
      },
      output: {
        columns: ['day', 'vat_rate'],
        rows: [
          ['1999-01-01', '19'],
          ['2020-07-01', '16'],
          ['2020-12-31', '16'],
          ['2026-01-31', '19'],
        ],
      },
    },
    {
      title: 'The most recent exchange rate of a currency',
      operation: { op: 'lookup_range', table: 'rates', on: 'currency', value: 'day', from: 'since', columns: ['rate'] },
      tables: { rates: 'currency,since,rate\nUSD,2026-01-05,1.10\nUSD,2026-01-02,1.08\nGBP,2026-01-05,0.85' },
      input: {
        columns: ['currency', 'day'],
        types: ['text', 'date'],
        rows: [
          ['USD', '2026-01-04'],
          ['USD', '2026-02-01'],
          ['GBP', '2026-01-04'],
          ['GBP', '2026-01-05'],
          ['CHF', '2026-01-05'],
        ],
      },
      output: {
        columns: ['currency', 'day', 'rate'],
        rows: [
          ['USD', '2026-01-04', '1.08'],
          ['USD', '2026-02-01', '1.10'],
          ['GBP', '2026-01-04', null],
          ['GBP', '2026-01-05', '0.85'],
          ['CHF', '2026-01-05', null],
        ],
      },
    },
    {
      title: 'Each boundary occurs twice: the upper end belongs to the next range',
      operation: { op: 'lookup_range', table: 'ages', value: 'age', from: 'from', to: 'below', inclusive: 'from' },
      tables: { ages: 'from,below,group\n0,18,child\n18,65,adult\n65,,senior' },
      input: { columns: ['age'], types: ['integer'], rows: [['17'], ['18'], ['64'], ['65']] },
      output: {
        columns: ['age', 'group'],
        rows: [
          ['17', 'child'],
          ['18', 'adult'],
          ['64', 'adult'],
          ['65', 'senior'],
        ],
      },
    },
    {
      title: 'Regions by post code, which is text',
      operation: { op: 'lookup_range', table: 'regions', value: 'zip', from: 'low', to: 'high' },
      tables: { regions: 'low,high,region\n01000,09999,East\n10000,14999,Berlin' },
      input: { columns: ['zip'], rows: [['01067'], ['10115'], ['9']] },
      output: {
        columns: ['zip', 'region'],
        rows: [
          ['01067', 'East'],
          ['10115', 'Berlin'],
          ['9', null],
        ],
      },
    },
  ],
  effect: plan,
  edits: () => [],
  start: (planned, context) => (planned === null ? { push: context.next } : startLookup(planned, context)),
});

/** Returns null if the file lacks the column and `if_missing` is skip. */
function plan(given: Parameters, scope: Scope): Plan | null {
  const { table, from, to } = given;
  const known = tableColumns(table, scope, '/table');
  const value = scope.read(given.value, '/value');
  checkTableColumn(from, table, known, '/from', scope);
  if (to !== undefined) checkTableColumn(to, table, known, '/to', scope);
  const keys = planKeys(given, known, scope);
  if (value === null || keys.includes(null)) return null;
  if (to === undefined && given.inclusive !== undefined && given.inclusive !== 'both')
    scope.problem('/inclusive', 'UNUSED_PARAMETER', 'Without "to", a range begins at "from": leave out inclusive.');
  if (!ORDERED_TYPES.includes(value.type)) {
    const message = `Ranges are of numbers, dates or texts, and the column is ${value.type} at this step.`;
    scope.problem('/value', 'WRONG_TYPE', message);
  }
  const present = keys.filter((key) => key !== null);
  const taken = new Set([from, ...(to === undefined ? [] : [to]), ...present.map(({ right }) => right)]);
  for (const [pointer, name] of [['/from', from] as const, ['/to', to] as const]) {
    if (name !== undefined) checkTableKey(value, name, table, pointer, scope);
  }
  const columns = addTableColumns(given, taken, known, scope);
  return { given, value, keys: present, columns, types: columns.map((name) => tableColumnType(name, table, scope)) };
}

/** Contains null for a column that the file lacks. */
function planKeys(
  { table, on = [] }: Parameters,
  known: readonly string[] | null,
  scope: Scope,
): ({ readonly left: Column; readonly right: string } | null)[] {
  return (typeof on === 'string' ? [on] : on).map((entry, index) => {
    const { left, right } = typeof entry === 'string' ? { left: entry, right: entry } : entry;
    const pointer = typeof on === 'string' ? '/on' : `/on/${index}`;
    const column = scope.read(left, typeof entry === 'string' ? pointer : `${pointer}/left`);
    checkTableColumn(right, table, known, typeof entry === 'string' ? pointer : `${pointer}/right`, scope);
    if (column === null) return null;
    checkTableKey(column, right, table, pointer, scope);
    return { left: column, right };
  });
}

function startLookup({ given, value, keys, columns, types }: Plan, context: OperatorContext): Operator {
  const table = context.tables.get(given.table);
  if (table === undefined) throw new Error('a planned table is missing');
  const { from, to = null, inclusive = 'both' } = given;
  const ends = {
    hasFrom: inclusive === 'both' || inclusive === 'from',
    hasTo: inclusive === 'both' || inclusive === 'to',
  };
  const compared = keys.map(({ left, right }) => ({ column: right, type: left.type }));
  const parts = { name: given.table, keys: compared, from, to, payload: columns, type: value.type, ends };
  const ranges = new RangeTable(context, table, parts);
  context.beforeRows(() => ranges.build());
  const lookup = new RangeLookup(context, ranges, {
    value,
    keys: keys.map(({ left }) => left),
    types,
    isError: given.on_missing === 'error',
  });
  return withOrderCheck(lookup, [value], context);
}

interface LookupPlan {
  readonly value: Column;
  readonly keys: readonly Column[];
  /** Types of the added columns. */
  readonly types: readonly ColumnType[];
  /** True if a row without a range is an error. */
  readonly isError: boolean;
}

class RangeLookup implements Operator {
  readonly #context: OperatorContext;
  readonly #ranges: RangeTable;
  readonly #plan: LookupPlan;
  /** Indexes of the key columns, then of the value. */
  readonly #columns: readonly number[];

  constructor(context: OperatorContext, ranges: RangeTable, plan: LookupPlan) {
    this.#context = context;
    this.#ranges = ranges;
    this.#plan = plan;
    this.#columns = [...plan.keys, plan.value].map((column) => context.indexOf(column));
  }

  *push(batch: Batch): Slices {
    for (const index of this.#columns) if (batch.columns[index]!.kind === 'raw') batch.views(index);
    for (const piece of piecesOf(batch)) {
      const rows = batch.slice(piece.from, piece.to);
      const missed: number[] = [];
      const made = yield* this.#cells(rows, missed);
      piece.isTooLarge = made === null;
      if (made === null) continue;
      const arranged = arrange(rows, this.#context.layout, cellsOfTypes(rows, made, this.#plan.types));
      if (!this.#plan.isError) this.#count(arranged, missed);
      const left = this.#plan.isError ? this.#withoutMissed(arranged, missed) : arranged;
      if (left.live > 0) yield* this.#context.next(left);
    }
  }

  /** Returns the new columns and collects the rows without a range. Returns null if the arena is full. */
  *#cells(batch: Batch, missed: number[]): Sliced<ColumnData[] | null> {
    const { arena, clock } = this.#context;
    const keys = this.#ranges.keysOf(batch, this.#columns);
    if (keys === 0) return null;
    const targets: number[] = [];
    for (let column = 0; column < this.#plan.types.length; column++)
      targets.push(arena.tryTake(batch.rows * VIEW_BYTES));
    if (targets.includes(0)) return null;
    const mask = checkMask(batch.live);
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const range = this.#ranges.find(keys, row);
      if (range === null) missed.push(row);
      const cells = range === null ? null : cellsOf(range);
      for (const target of targets) {
        const cell: Uint8Array | null = cells?.next().value ?? null;
        const at = cell === null ? 0 : arena.tryTake(cell.length);
        if (cell !== null && at === 0) return null;
        const { u8, u32 } = arena.heap;
        if (cell !== null) u8.set(cell, at);
        u32[(target >>> 2) + row * 2] = at;
        u32[(target >>> 2) + row * 2 + 1] = cell?.length ?? 0;
      }
      if ((position & mask) === mask && clock.isDue()) yield PAUSE;
    }
    return targets.map((at) => ({ kind: 'views', at }));
  }

  #count(batch: Batch, missed: readonly number[]): void {
    const { errors } = this.#context.report;
    for (const row of missed) countInAnyOrder(errors, 'LOOKUP_MISS', batch.sourceRow(row));
  }

  /** Reports the rows without a range. Returns the batch with the remaining rows. */
  #withoutMissed(batch: Batch, missed: readonly number[]): Batch {
    const { errors } = this.#context;
    const { name } = this.#plan.value;
    const dropped = new Set(missed.filter((row) => errors.report(batch, row, name, 'LOOKUP_MISS') === 'drop_row'));
    return dropped.size === 0 ? batch : withoutRows(batch, dropped);
  }
}
