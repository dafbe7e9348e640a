// The operation `unpivot`: columns become rows.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import { ColumnBuilder } from '../batch/column-builder.ts';
import { NativeText } from '../batch/native-text.ts';
import { type Column, columnTypeOf, type StoredType, storedType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/arrange.ts';
import { copiedRowsMax, copyRows, placeNumbers } from '../execution/cells/copied-rows.ts';
import { textOfValue } from '../execution/cells/text-of-value.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Slices } from '../run/time-slices.ts';
import type { Scope } from '../template/scope.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

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
  readonly type: StoredType;
  readonly dropEmpty: boolean;
}

export const unpivot = defineOperation({
  name: 'unpivot',
  summary:
    'Makes one row of each of some columns: the columns that stay, then the name of the column, then its cell. Cells of ' +
    'columns of different types become texts.',
  knownAs: [{ names: ['melt', 'wide_to_long', 'stack'], form: null }],
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
  const hasKinds = type === 'text' && columns.some((column) => column.hasKinds === true) ? true : undefined;
  for (const column of columns) scope.remove(column);
  scope.add(names, 'text', '/names_to');
  scope.add(values, type, '/values_to', undefined, hasKinds);
  // All columns that nobody knows yet are among those that became rows.
  if (isRest) scope.close();
  return { columns, type: storedType({ type, ...(hasKinds && { hasKinds }) }), dropEmpty };
}

class Unpivot implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: Plan;
  readonly #columns: readonly number[];
  readonly #readers: readonly CellReader[];
  readonly #kept: readonly number[];
  /** Views of the names. */
  readonly #names: number;
  /** Where the columns lie: an address and that of the meta for each. */
  readonly #sources: number;
  readonly #isMixed: boolean;

  constructor(plan: Plan, context: OperatorContext) {
    const { heap } = context.arena;
    this.#context = context;
    this.#plan = plan;
    this.rowsMost = Math.max(1, plan.columns.length);
    this.#columns = plan.columns.map((column) => context.indexOf(column));
    this.#readers = plan.columns.map((column, index) => new CellReader(storedType(column), this.#columns[index]!));
    this.#kept = context.layout.filter((index) => index >= 0);
    this.#isMixed = plan.columns.some((column) => column.type !== columnTypeOf(plan.type));
    this.#sources = heap.allocate(plan.columns.length * 8);
    this.#names = heap.allocate(plan.columns.length * VIEW_BYTES);
    for (const [place, { name }] of plan.columns.entries()) {
      const bytes = Buffer.from(name);
      const at = heap.allocate(bytes.length);
      heap.u8.set(bytes, at);
      heap.u32.set([at, bytes.length], (this.#names >>> 2) + place * 2);
    }
  }

  *push(batch: Batch): Slices {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    for (const reader of this.#readers) reader.bind(batch);
    const rowsMax = copiedRowsMax(this.#kept.length + 2);
    let rows: number[] = [];
    let places: number[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      for (let place = 0; place < this.#columns.length; place++) {
        if (this.#plan.dropEmpty && this.#isEmpty(place, row)) continue;
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

  #isEmpty(place: number, row: number): boolean {
    const value = this.#readers[place]!.read(row);
    return value === null || value === '';
  }

  *#emit(batch: Batch, rows: readonly number[], places: readonly number[]): Slices {
    const { arena, layout, next } = this.#context;
    const mark = arena.next;
    const copied = copyRows(this.#context, batch, rows, this.#kept);
    const list = placeNumbers(arena, places);
    const names = arena.take(rows.length * VIEW_BYTES);
    this.#context.kernel.exports.copyCells(this.#names, 0, list, rows.length, names, 0);
    const values = this.#copied(batch, rows, list) ?? this.#values(batch, rows, places);
    let kept = 0;
    const order = layout.map((index) => (index < 0 ? -1 : kept++));
    yield* next(arrange(copied, order, [{ kind: 'views', at: names }, values]));
    arena.release(mark);
  }

  /** The cells as they lie; null where they have to be made anew. */
  #copied(batch: Batch, rows: readonly number[], places: number): ColumnData | null {
    const { arena, kernel } = this.#context;
    const { type } = this.#plan;
    const isText = type === 'text' || type === 'json' || type === 'text_with_kind';
    const columns = this.#columns.map((index) => batch.columns[index]!);
    if (this.#isMixed || columns.some((column) => column.kind === 'typed' && column.big !== null)) return null;
    for (const [place, column] of columns.entries()) {
      if (column.kind === 'raw') throw new Error('views of the columns are made before');
      // A column of nulls may have another form than its type.
      const isThere = column.kind === (isText ? 'views' : 'typed');
      const meta = column.kind === 'typed' ? column.meta : (column.kinds ?? 0);
      const at = isThere ? column.at : 0;
      arena.heap.u32.set([at, meta], (this.#sources >>> 2) + place * 2);
    }
    const at = arena.take(rows.length * VIEW_BYTES);
    const meta = type === 'text' || type === 'json' ? 0 : arena.take(rows.length);
    kernel.exports.copyPlaced(this.#sources, places, placeNumbers(arena, rows), rows.length, at, meta);
    if (isText) return meta === 0 ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
    return { kind: 'typed', type, at, meta, big: null };
  }

  #values(batch: Batch, rows: readonly number[], places: readonly number[]): ColumnData {
    const { arena } = this.#context;
    const { type } = this.#plan;
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      for (const reader of this.#readers) reader.bind(batch);
      let isFull = !builder.begin(rows.length);
      for (let to = 0; to < rows.length && !isFull; to++) {
        const value = this.#readers[places[to]!]!.read(rows[to]!);
        isFull =
          builder.set(
            to,
            this.#isMixed && value !== null && !(value instanceof NativeText) ? textOfValue(value) : value,
          ) === 'full';
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}
