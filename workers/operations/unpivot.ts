// The operation `unpivot`: columns become rows.
import type { Batch, ColumnData } from '../batch.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import type { Column, ColumnType } from '../schema.ts';
import type { Scope } from '../template/scope.ts';
import { arrange } from './arrange.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { CellReader } from './cells/cell-values.ts';
import { ColumnBuilder } from './cells/column-builder.ts';
import { textOfValue } from './cells/text-of-value.ts';
import { columnSet } from './column-set.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';
import { COPIED_ROWS_MAX, copyRows } from './rows/copied-rows.ts';

const parameters = Type.Object({
  columns: columnSet,
  names_to: Type.Optional(
    Type.String({ minLength: 1, default: 'name', description: 'The new column with the names of the columns.' }),
  ),
  values_to: Type.Optional(
    Type.String({ minLength: 1, default: 'value', description: 'The new column with their cells.' }),
  ),
  drop_empty: Type.Optional(
    Type.Boolean({ default: false, description: '`true`: empty cells, null or the empty text, give no row.' }),
  ),
});

interface Plan {
  readonly columns: readonly Column[];
  readonly type: ColumnType;
  readonly dropEmpty: boolean;
}

export const unpivot = defineOperation({
  name: 'unpivot',
  summary:
    'Makes one row of each of some columns: the columns that stay, then the name of the column, then its cell. Cells of ' +
    'columns of different types become texts.',
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
  ],
  effect: plan,
  edits: () => [],
  start: (planned, context) => new Unpivot(planned, context),
});

function plan(given: Static<typeof parameters>, scope: Scope): Plan {
  const { columns: set, names_to: names = 'name', values_to: values = 'value', drop_empty: dropEmpty = false } = given;
  const isRest = set === '*' || (typeof set === 'object' && 'except' in set);
  if (typeof set === 'object' && 'except' in set) {
    for (const [index, name] of set.except.entries()) scope.read(name, `/columns/except/${index}`);
  }
  const columns = scope.resolve(set, '/columns');
  const types = new Set(columns.map(({ type }) => type));
  const type = types.size === 1 ? [...types][0]! : 'text';
  for (const column of columns) scope.remove(column);
  scope.add(names, 'text', '/names_to');
  scope.add(values, type, '/values_to');
  // All columns that nobody knows yet are among those that became rows.
  if (isRest) scope.close();
  return { columns, type, dropEmpty };
}

class Unpivot implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: Plan;
  readonly #columns: readonly number[];
  readonly #readers: readonly CellReader[];
  readonly #kept: readonly number[];
  /** Addresses and lengths of the names. */
  readonly #names: readonly (readonly [at: number, bytes: number])[];

  constructor(plan: Plan, context: OperatorContext) {
    const { heap } = context.arena;
    this.#context = context;
    this.#plan = plan;
    this.rowsMost = Math.max(1, plan.columns.length);
    this.#columns = plan.columns.map((column) => columnIndex(context.input, column));
    this.#readers = plan.columns.map(({ type }, index) => new CellReader(type, this.#columns[index]!));
    this.#kept = context.layout.filter((index) => index >= 0);
    this.#names = plan.columns.map(({ name }) => {
      const bytes = Buffer.from(name);
      const at = heap.allocate(bytes.length);
      heap.u8.set(bytes, at);
      return [at, bytes.length];
    });
  }

  push(batch: Batch): void {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    for (const reader of this.#readers) reader.bind(batch);
    let rows: number[] = [];
    let places: number[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      for (let place = 0; place < this.#columns.length; place++) {
        if (this.#plan.dropEmpty && this.#isEmpty(place, row)) continue;
        rows.push(row);
        places.push(place);
        if (rows.length < COPIED_ROWS_MAX) continue;
        this.#handOn(batch, rows, places);
        rows = [];
        places = [];
      }
    }
    if (rows.length > 0) this.#handOn(batch, rows, places);
  }

  #isEmpty(place: number, row: number): boolean {
    const value = this.#readers[place]!.read(row);
    return value === null || value === '';
  }

  #handOn(batch: Batch, rows: readonly number[], places: readonly number[]): void {
    const { arena, layout, next } = this.#context;
    const mark = arena.next;
    const copied = copyRows(arena, batch, rows, this.#kept);
    const names = arena.take(rows.length * 8);
    for (const [to, place] of places.entries()) {
      arena.heap.u32.set(this.#names[place]!, (names >>> 2) + to * 2);
    }
    const values = this.#values(batch, rows, places);
    let kept = 0;
    const order = layout.map((index) => (index < 0 ? -1 : kept++));
    next(arrange(copied, order, [{ kind: 'views', at: names }, values]));
    arena.release(mark);
  }

  #values(batch: Batch, rows: readonly number[], places: readonly number[]): ColumnData {
    const { arena } = this.#context;
    const { type, columns } = this.#plan;
    const builder = new ColumnBuilder(arena, type);
    const isMixed = columns.some((column) => column.type !== type);
    for (;;) {
      const mark = arena.next;
      for (const reader of this.#readers) reader.bind(batch);
      let isFull = !builder.begin(rows.length);
      for (let to = 0; to < rows.length && !isFull; to++) {
        const value = this.#readers[places[to]!]!.read(rows[to]!);
        isFull = builder.set(to, isMixed && value !== null ? textOfValue(value) : value) === 'full';
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}
