// The operation `explode`: a cell with several values becomes as many rows.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import { ColumnBuilder } from '../batch/column-builder.ts';
import type { NativeText } from '../batch/native-text.ts';
import { type Column, type ColumnType, type StoredType, storedType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/arrange.ts';
import { columnIndex } from '../execution/cells/cell-operator.ts';
import { copiedRowsMax, copyRows } from '../execution/cells/copied-rows.ts';
import { exactlyOne } from '../execution/parameters/base-parameters.ts';
import { columnName } from '../execution/parameters/column-set.ts';
import type { RowErrorCode } from '../run/report.ts';
import { PAUSE, type Slices } from '../run/time-slices.ts';
import type { Scope } from '../template/scope.ts';
import { jsonItems, jsonKind } from '../values/json-parts.ts';
import { trimWhiteSpace } from '../values/text-edits.ts';
import { splitText } from '../values/text-search.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';

/** Rows of one cell unless the Template says otherwise: far above what people write into a cell. */
const ITEMS_MAX = 10_000;

/** Rows of one cell that a Template may ask for: a cell of 4 MiB has no more. */
const ITEMS_MOST = 5_000_000;

const parameters = Type.Object(
  {
    column: columnName,
    separator: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Text between the values.' })),
    json: Type.Optional(
      Type.Literal(true, { description: 'The cell is a JSON array; anything else is the error BAD_JSON.' }),
    ),
    trim: Type.Optional(
      Type.Boolean({ default: true, description: 'Takes white space off the parts between separators.' }),
    ),
    index_into: Type.Optional(
      Type.String({ minLength: 1, description: 'A new column with the number of the value in its cell, from 1.' }),
    ),
    max_items: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ITEMS_MOST,
        default: ITEMS_MAX,
        description: 'A cell with more values is the error SPLIT_COUNT.',
      }),
    ),
  },
  exactlyOne(['separator'], ['json']),
);

interface Plan {
  readonly column: Column;
  readonly separator: string | null;
  readonly trim: boolean;
  readonly hasIndex: boolean;
  readonly itemsMax: number;
}

export const explode = defineOperation({
  name: 'explode',
  summary:
    'Makes one row of each value of a cell. A cell without a value keeps its row. Values that are empty are null; in an ' +
    'array of JSON texts are themselves, other values stay as they are written.',
  parameters,
  cells: false,
  memory: 'O',
  examples: [
    {
      title: 'Several numbers in one cell',
      operation: { op: 'explode', column: 'orders', separator: ';', index_into: 'no' },
      input: {
        columns: ['orders', 'name'],
        rows: [
          ['7; 8;;9', 'Ada'],
          [null, 'Bob'],
          ['5', 'Cyd'],
        ],
      },
      output: {
        columns: ['orders', 'name', 'no'],
        rows: [
          ['7', 'Ada', '1'],
          ['8', 'Ada', '2'],
          [null, 'Ada', '3'],
          ['9', 'Ada', '4'],
          [null, 'Bob', null],
          ['5', 'Cyd', '1'],
        ],
      },
    },
    {
      title: 'An array',
      operation: { op: 'explode', column: 'tags', json: true },
      input: {
        columns: ['id', 'tags'],
        rows: [
          ['1', '["a", 2.50, null, {"x": [1]}]'],
          ['2', '[]'],
        ],
      },
      output: {
        columns: ['id', 'tags'],
        rows: [
          ['1', 'a'],
          ['1', '2.50'],
          ['1', null],
          ['1', '{"x": [1]}'],
          ['2', null],
        ],
      },
    },
  ],
  effect: plan,
  edits: (planned) => (planned === null ? [] : [planned.column.id]),
  start: (planned, context) => (planned === null ? { push: context.next } : new Explode(planned, context)),
});

function plan(given: Static<typeof parameters>, scope: Scope): Plan | null {
  const { separator, trim = true, index_into: index, max_items: itemsMax = ITEMS_MAX } = given;
  const column = scope.read(given.column, '/column');
  if (column === null) return null;
  if (index !== undefined) scope.add(index, 'integer', '/index_into');
  const takes: readonly ColumnType[] = separator === undefined ? ['text', 'json'] : ['text'];
  if (!takes.includes(column.type)) {
    const name = JSON.stringify(column.name);
    const message = `The column ${name} is ${column.type} at this step; this operation takes ${takes.join(' or ')}.`;
    scope.problem('/column', 'WRONG_TYPE', message);
    return null;
  }
  return { column, separator: separator ?? null, trim, hasIndex: index !== undefined, itemsMax };
}

interface Copies {
  readonly rows: number[];
  readonly values: (string | NativeText | null)[];
  readonly indexes: (number | null)[];
}

class Explode implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: Plan;
  readonly #index: number;
  readonly #reader: CellReader;

  constructor(planned: Plan, context: OperatorContext) {
    this.#context = context;
    this.#plan = planned;
    this.rowsMost = planned.itemsMax;
    this.#index = columnIndex(context.input, planned.column);
    this.#reader = new CellReader(storedType(planned.column), this.#index);
  }

  *push(batch: Batch): Slices {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const rowsMax = copiedRowsMax(batch.columns.length);
    let copies: Copies = { rows: [], values: [], indexes: [] };
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      this.#reader.bind(batch);
      const items = this.#items(batch, row);
      if (items === null) continue;
      if (items.length === 0) addCopy(copies, row, null, null);
      for (const [index, item] of items.entries()) {
        // A cell that is its only value stays what it is.
        const value = items.length === 1 && item === this.#reader.text(row) ? this.#whole(row) : item;
        addCopy(copies, row, value, index + 1);
        if (copies.rows.length < rowsMax) continue;
        yield* this.#emit(batch, copies);
        copies = { rows: [], values: [], indexes: [] };
      }
      if (this.#context.clock.isDue()) yield PAUSE;
    }
    if (copies.rows.length > 0) yield* this.#emit(batch, copies);
  }

  #whole(row: number): string | NativeText | null {
    return this.#reader.read(row) as string | NativeText | null;
  }

  /** The values of a row's cell; none: its row stays alone, null: it is dropped. */
  #items(batch: Batch, row: number): readonly (string | null)[] | null {
    const { column, separator, trim, itemsMax } = this.#plan;
    const text = this.#reader.text(row);
    if (text === null || text === '') return [];
    const items =
      separator === null ? arrayItems(text, column.type, itemsMax) : textItems(text, separator, trim, itemsMax);
    const code: RowErrorCode | null = items === null ? 'BAD_JSON' : items.length > itemsMax ? 'SPLIT_COUNT' : null;
    if (code === null) return items;
    const action = this.#context.errors.report(batch, row, column.name, code);
    if (action === 'drop_row') return null;
    return action === 'keep' ? [text] : [];
  }

  *#emit(batch: Batch, { rows, values, indexes }: Copies): Slices {
    const { arena, input, layout, next } = this.#context;
    const mark = arena.next;
    const copied = copyRows(
      this.#context,
      batch,
      rows,
      input.map((_, index) => index),
    );
    copied.columns[this.#index] = this.#column(storedType(this.#plan.column), values);
    const made = this.#plan.hasIndex ? [this.#column('integer', indexes)] : [];
    yield* next(arrange(copied, layout, made));
    arena.release(mark);
  }

  #column(type: StoredType, values: readonly unknown[]): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      if (builder.begin(values.length) && values.every((value, row) => builder.set(row, value) !== 'full'))
        return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}

function addCopy(
  { rows, values, indexes }: Copies,
  row: number,
  value: string | NativeText | null,
  index: number | null,
): void {
  rows.push(row);
  values.push(value);
  indexes.push(index);
}

/** One part more than allowed is enough to know. */
function textItems(text: string, separator: string, trim: boolean, itemsMax: number): (string | null)[] {
  return splitText(text, separator, itemsMax + 1).map((part) => {
    const item = trim ? trimWhiteSpace(part) : part;
    return item === '' ? null : item;
  });
}

/** Null when the text is no array. One item more than allowed is enough to know. */
function arrayItems(text: string, type: ColumnType, itemsMax: number): (string | null)[] | null {
  if (jsonKind(text) !== 'array') return null;
  const items: (string | null)[] = [];
  for (const item of jsonItems(text)) {
    if (item === 'null' || item === '""') items.push(null);
    else items.push(type === 'text' && item.startsWith('"') ? (JSON.parse(item) as string) : item);
    if (items.length > itemsMax) break;
  }
  return items;
}
