// The operation `explode`: a cell with several values becomes as many rows.
import type { Batch, ColumnData } from '../batch.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import type { RowErrorCode } from '../report.ts';
import type { Column, ColumnType } from '../schema.ts';
import type { Scope } from '../template/scope.ts';
import { jsonItems, jsonKind } from '../values/json-parts.ts';
import { trimWhiteSpace } from '../values/text-edits.ts';
import { arrange } from './arrange.ts';
import { exactlyOne } from './base-parameters.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { CellReader } from './cells/cell-values.ts';
import { ColumnBuilder } from './cells/column-builder.ts';
import { columnName } from './column-set.ts';
import { defineOperation, type Operator, type OperatorContext } from './operation.ts';
import { COPIED_ROWS_MAX, copyRows } from './rows/copied-rows.ts';

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
  readonly values: (string | null)[];
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
    this.#reader = new CellReader(planned.column.type, this.#index);
  }

  push(batch: Batch): void {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    let copies: Copies = { rows: [], values: [], indexes: [] };
    const add = (row: number, value: string | null, index: number | null): void => {
      copies.rows.push(row);
      copies.values.push(value);
      copies.indexes.push(index);
      if (copies.rows.length < COPIED_ROWS_MAX) return;
      this.#handOn(batch, copies);
      copies = { rows: [], values: [], indexes: [] };
    };
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      this.#reader.bind(batch);
      const items = this.#items(batch, row);
      if (items === null) continue;
      for (const [index, value] of items.entries()) add(row, value, index + 1);
      if (items.length === 0) add(row, null, null);
    }
    if (copies.rows.length > 0) this.#handOn(batch, copies);
  }

  /** The values of a row's cell; none: its row stays alone, null: it is dropped. */
  #items(batch: Batch, row: number): readonly (string | null)[] | null {
    const { column, separator, trim, itemsMax } = this.#plan;
    const text = this.#reader.text(row);
    if (text === null || text === '') return [];
    const items = separator === null ? arrayItems(text, column.type) : textItems(text, separator, trim, itemsMax);
    const code: RowErrorCode | null = items === null ? 'BAD_JSON' : items.length > itemsMax ? 'SPLIT_COUNT' : null;
    if (code === null) return items;
    const action = this.#context.errors.report(batch, row, column.name, code);
    if (action === 'drop_row') return null;
    return action === 'keep' ? [text] : [];
  }

  #handOn(batch: Batch, { rows, values, indexes }: Copies): void {
    const { arena, input, layout, next } = this.#context;
    const mark = arena.next;
    const copied = copyRows(
      arena,
      batch,
      rows,
      input.map((_, index) => index),
    );
    copied.columns[this.#index] = this.#column(this.#plan.column.type, values);
    const made = this.#plan.hasIndex ? [this.#column('integer', indexes)] : [];
    next(arrange(copied, layout, made));
    arena.release(mark);
  }

  #column(type: ColumnType, values: readonly unknown[]): ColumnData {
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

/** One part more than allowed is enough to know. */
function textItems(text: string, separator: string, trim: boolean, itemsMax: number): (string | null)[] {
  return text.split(separator, itemsMax + 1).map((part) => {
    const item = trim ? trimWhiteSpace(part) : part;
    return item === '' ? null : item;
  });
}

/** Null when the text is no array. */
function arrayItems(text: string, type: ColumnType): (string | null)[] | null {
  if (jsonKind(text) !== 'array') return null;
  return jsonItems(text).map((item) => {
    if (item === 'null' || item === '""') return null;
    return type === 'text' && item.startsWith('"') ? (JSON.parse(item) as string) : item;
  });
}
