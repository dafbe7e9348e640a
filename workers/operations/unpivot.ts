// The operation `unpivot`: columns become rows.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { type Column, type StoredType, storedType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/arrange.ts';
import { copiedRowsMax, copyRows, placeNumbers } from '../execution/cells/copied-rows.ts';
import { PlacedColumn } from '../execution/cells/placed-columns.ts';
import { checkNames, type SplitNames, splitColumns, VALUE_NAME, VALUES_NAME } from '../execution/cells/split-names.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Slices } from '../run/time-slices.ts';
import type { ColumnSet, Scope } from '../template/scope.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

/** Parts of a name: RE2 patterns that people write have a handful of groups. */
const PARTS_MAX = 20;

const parameters = Type.Object(
  {
    columns: Type.Optional(columnSet),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'An RE2 pattern of whole names, with a group for each name in `names_to`. Columns that it does not fit stay; without `columns` all ' +
          'others are meant.',
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
            'The new column with the names of the columns. With `pattern` one for each of its groups; the group of `.value` names the column ' +
            'that the cell goes to, so that columns whose other groups are equal stand in one row.',
        },
      ),
    ),
    values_to: Type.Optional(
      Type.String({ minLength: 1, default: VALUES_NAME, description: 'The new column with their cells.' }),
    ),
    drop_empty: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          '`true`: empty cells, null or the empty text, give no row; with `.value`, a row of empty cells alone.',
      }),
    ),
  },
  { anyOf: [{ required: ['columns'] }, { required: ['pattern'] }] },
);

type Parameters = Static<typeof parameters>;

interface Plan {
  /** By name column, then by place. */
  readonly names: SplitNames<Column>['names'];
  readonly values: readonly { readonly columns: readonly (Column | null)[]; readonly type: StoredType }[];
  readonly dropEmpty: boolean;
}

export const unpivot = defineOperation({
  name: 'unpivot',
  summary:
    'Makes one row of each of some columns: the columns that stay, then the name of the column, then its cell. Cells of ' +
    'columns of different types become texts.',
  knownAs: [{ names: ['melt', 'wide_to_long', 'stack', 'pivot_longer'], form: null }],
  parameters,
  cells: false,
  memory: 'O',
  examples: [
    {
      title: 'Months side by side become rows',
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
      title: 'All columns but some, of different types',
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
      title: 'Groups of columns: one row for each number, one column for each kind',
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
      title: 'Names of several parts',
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
  start: (planned, context) => (planned === null ? { push: context.next } : new Unpivot(planned, context)),
});

/** Null after a problem. */
function plan(given: Parameters, scope: Scope): Plan | null {
  const { names_to: written = 'name', values_to: valuesTo = VALUES_NAME, drop_empty: dropEmpty = false } = given;
  const namesTo = typeof written === 'string' ? [written] : written;
  const set: ColumnSet = given.columns ?? '*';
  if (typeof set === 'object' && 'except' in set) {
    for (const [index, name] of set.except.entries()) scope.read(name, `/columns/except/${index}`);
  }
  const isRest = set === '*' || (typeof set === 'object' && 'except' in set);
  const isSound = checkNames(given, namesTo, scope);
  const split = splitColumns(given, set, namesTo, scope);
  if (split === null || !isSound) return null;
  for (const column of split.values.flatMap(({ columns }) => columns)) if (column !== null) scope.remove(column);
  const nameColumns = namesTo.flatMap((name, index) => (name === VALUE_NAME ? [] : [{ name, index }]));
  for (const { name, index } of nameColumns)
    scope.add(name, 'text', typeof written === 'string' ? '/names_to' : `/names_to/${index}`);
  const values = split.values.map(({ name, columns }) => {
    const types = new Set(columns.flatMap((column) => (column === null ? [] : [column.type])));
    const type = types.size === 1 ? [...types][0]! : 'text';
    const hasKinds = type === 'text' && columns.some((column) => column?.hasKinds === true) ? true : undefined;
    scope.add(name ?? valuesTo, type, name === null ? '/values_to' : '/pattern', undefined, hasKinds);
    return { columns, type: storedType({ type, ...(hasKinds && { hasKinds }) }) };
  });
  // Of columns that nobody knows yet, those that the pattern does not fit stay, and the others name new ones.
  if (given.pattern !== undefined && isRest && !scope.closed) scope.addUnknown();
  // All columns that nobody knows yet are among those that became rows.
  else if (isRest && given.pattern === undefined) scope.close();
  return { names: nameColumns.map((_, part) => split.names.map((names) => names[part]!)), values, dropEmpty };
}

class Unpivot implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: Plan;
  readonly #places: number;
  readonly #values: readonly PlacedColumn[];
  readonly #kept: readonly number[];
  /** Of each name column the views of its texts. */
  readonly #names: readonly number[];

  constructor(plan: Plan, context: OperatorContext) {
    this.#context = context;
    this.#plan = plan;
    this.#places = plan.values[0]?.columns.length ?? 0;
    this.rowsMost = Math.max(1, this.#places);
    this.#values = plan.values.map(({ columns, type }) => new PlacedColumn(columns, type, context));
    this.#kept = context.layout.filter((index) => index >= 0);
    this.#names = plan.names.map((names) => this.#placed(names));
  }

  *push(batch: Batch): Slices {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    for (const values of this.#values) values.bind(batch);
    const rowsMax = copiedRowsMax(this.#kept.length + this.#names.length + this.#values.length);
    let rows: number[] = [];
    let places: number[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      for (let place = 0; place < this.#places; place++) {
        if (this.#plan.dropEmpty && this.#values.every((values) => values.isEmpty(place, row))) continue;
        rows.push(row);
        places.push(place);
        if (rows.length < rowsMax) continue;
        yield* this.#emit(batch, rows, places);
        rows = [];
        places = [];
      }
    }
    if (rows.length > 0) yield* this.#emit(batch, rows, places);
  }

  *#emit(batch: Batch, rows: readonly number[], places: readonly number[]): Slices {
    const { arena, kernel, layout, next } = this.#context;
    const mark = arena.next;
    const copied = copyRows(this.#context, batch, rows, this.#kept);
    const list = placeNumbers(arena, places);
    const names = this.#names.map((from): ColumnData => {
      const at = arena.take(rows.length * VIEW_BYTES);
      kernel.exports.copyCells(from, 0, list, rows.length, at, 0);
      return { kind: 'views', at };
    });
    const values = this.#values.map((column) => column.cells(batch, rows, places, list));
    let kept = 0;
    const order = layout.map((index) => (index < 0 ? -1 : kept++));
    yield* next(arrange(copied, order, [...names, ...values]));
    arena.release(mark);
  }

  /** Views of texts. */
  #placed(texts: readonly (string | null)[]): number {
    const { heap } = this.#context.arena;
    const views = heap.allocate(texts.length * VIEW_BYTES);
    for (const [place, text] of texts.entries()) {
      const bytes = Buffer.from(text ?? '');
      const at = text === null ? 0 : heap.allocate(bytes.length);
      heap.u8.set(bytes, at);
      heap.u32.set([at, bytes.length], (views >>> 2) + place * 2);
    }
    return views;
  }
}
