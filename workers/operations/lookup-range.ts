// The operation `lookup_range`: adds columns of the row of a reference table whose range holds a value.
import type { Batch, ColumnData } from '../batch/batch.ts';
import type { Column, ColumnType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/arrange.ts';
import { withoutRows } from '../execution/cells/cell-operator.ts';
import { piecesOf } from '../execution/cells/slices.ts';
import { addTableColumns, checkTableColumn, tableColumns, tableName } from '../execution/join/planned-table.ts';
import { cellsOf } from '../execution/join/range-pages.ts';
import { RangeTable } from '../execution/join/range-table.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import { LOOK_MASK } from '../run/slice-clock.ts';
import { PAUSE, type Sliced, type Slices } from '../run/time-slices.ts';
import type { Scope } from '../template/scope.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

const parameters = Type.Object({
  table: tableName,
  value: columnName,
  from: Type.String({
    minLength: 1,
    description:
      "The table's column with the lower ends; an empty cell is no lower end. Its texts are read as values of the type " +
      'of `value`.',
  }),
  to: Type.String({
    minLength: 1,
    description: "The table's column with the upper ends; an empty cell is no upper end.",
  }),
  inclusive: Type.Optional(
    Type.Enum(['both', 'from', 'to', 'neither'], {
      default: 'both',
      description:
        'Which ends belong to the range. `from`: 10 is in 10 to 20 and not in 0 to 10, where a table has each border twice.',
    }),
  ),
  columns: Type.Optional(
    Type.Array(columnName, {
      minItems: 1,
      description:
        "The table's columns to add; without it all but `from` and `to`. List them where later operations name them: the " +
        'check knows the names from here.',
    }),
  ),
  on_missing: Type.Optional(
    Type.Enum(['ignore', 'error'], {
      default: 'ignore',
      description:
        'Rows whose value no range holds, null among them: `error` is LOOKUP_MISS, of which `on_error` makes what it says.',
    }),
  ),
  prefix: Type.Optional(Type.String({ minLength: 1, description: 'Put before the name of each new column.' })),
});

type Parameters = Static<typeof parameters>;

interface Plan {
  readonly given: Parameters;
  readonly value: Column;
  /** Columns of the table; empty as long as they are unknown. */
  readonly columns: readonly string[];
}

/** Types whose values have an order that ranges can follow. */
const ORDERED_TYPES: readonly ColumnType[] = ['text', 'integer', 'decimal', 'number', 'date', 'datetime'];

export const lookupRange = defineOperation({
  name: 'lookup_range',
  summary:
    'Adds columns of the row of a reference table whose range, both ends included unless `inclusive` says otherwise, holds a value: ' +
    'numbers, dates or texts. ' +
    'Ranges that overlap end the Run before its first row.',
  knownAs: [{ names: 'range_lookup range_join asof_join join_asof bands', form: null }],
  parameters,
  cells: false,
  memory: 'K',
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
      title: 'Borders that stand twice: the upper end belongs to the next range',
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

/** Null when the file lacks the column and `if_missing` is skip. */
function plan(given: Parameters, scope: Scope): Plan | null {
  const { table, from, to } = given;
  const known = tableColumns(table, scope, '/table');
  const value = scope.read(given.value, '/value');
  checkTableColumn(from, table, known, '/from', scope);
  checkTableColumn(to, table, known, '/to', scope);
  if (value === null) return null;
  if (!ORDERED_TYPES.includes(value.type)) {
    const message = `Ranges are of numbers, dates or texts, and the column is ${value.type} at this step.`;
    scope.problem('/value', 'WRONG_TYPE', message);
  }
  return { given, value, columns: addTableColumns(given, new Set([from, to]), known, scope) };
}

function startLookup({ given, value, columns }: Plan, context: OperatorContext): Operator {
  const table = context.tables.get(given.table);
  if (table === undefined) throw new Error('a planned table is not there');
  const { from, to, inclusive = 'both' } = given;
  const ends = {
    hasFrom: inclusive === 'both' || inclusive === 'from',
    hasTo: inclusive === 'both' || inclusive === 'to',
  };
  const parts = { name: given.table, from, to, payload: columns, type: value.type, ends };
  const ranges = new RangeTable(context, table, parts);
  context.beforeRows(() => ranges.build());
  return new RangeLookup(context, ranges, { value, width: columns.length, isError: given.on_missing === 'error' });
}

interface LookupPlan {
  readonly value: Column;
  /** Columns that are added. */
  readonly width: number;
  /** A row without a range is an error. */
  readonly isError: boolean;
}

class RangeLookup implements Operator {
  readonly #context: OperatorContext;
  readonly #ranges: RangeTable;
  readonly #plan: LookupPlan;
  readonly #column: number;

  constructor(context: OperatorContext, ranges: RangeTable, plan: LookupPlan) {
    this.#context = context;
    this.#ranges = ranges;
    this.#plan = plan;
    this.#column = context.indexOf(plan.value);
  }

  *push(batch: Batch): Slices {
    if (batch.columns[this.#column]!.kind === 'raw') batch.views(this.#column);
    for (const piece of piecesOf(batch)) {
      const rows = batch.slice(piece.from, piece.to);
      const missed: number[] = [];
      const made = yield* this.#cells(rows, missed);
      piece.isTooLarge = made === null;
      if (made === null) continue;
      const arranged = arrange(rows, this.#context.layout, made);
      const left = this.#plan.isError ? this.#withoutMissed(arranged, missed) : arranged;
      if (left.live > 0) yield* this.#context.next(left);
    }
  }

  /** The new columns, and the rows that no range holds; null when the arena is full. */
  *#cells(batch: Batch, missed: number[]): Sliced<ColumnData[] | null> {
    const { arena, clock } = this.#context;
    const keys = this.#ranges.keysOf(batch, this.#column);
    if (keys === 0) return null;
    const targets: number[] = [];
    for (let column = 0; column < this.#plan.width; column++) targets.push(arena.tryTake(batch.rows * VIEW_BYTES));
    if (targets.includes(0)) return null;
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
      if ((position & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
    }
    return targets.map((at) => ({ kind: 'views', at }));
  }

  /** Reports the rows that no range holds; gives those that stay. */
  #withoutMissed(batch: Batch, missed: readonly number[]): Batch {
    const { errors } = this.#context;
    const { name } = this.#plan.value;
    const dropped = new Set(missed.filter((row) => errors.report(batch, row, name, 'LOOKUP_MISS') === 'drop_row'));
    return dropped.size === 0 ? batch : withoutRows(batch, dropped);
  }
}
