// The operation `append_rows`: appends rows of the Template or of a reference table to those of the file.

import { Batch, type ColumnData } from '../batch/batch.ts';
import { ColumnBuilder } from '../batch/column-builder.ts';
import type { Column } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type Constant, constantValue } from '../execution/cells/constant-value.ts';
import { tableColumns, tableName } from '../execution/join/table-lookup.ts';
import { RowCodec } from '../execution/spill/row-codec.ts';
import { BATCH_READER_SIZE, SpillReader } from '../execution/spill/row-files.ts';
import { Failed } from '../protocol/failure.ts';
import { ADDED_ROWS_FROM } from '../protocol/report.ts';
import { PAUSE, type Slices, type Steps } from '../scheduling/time-slices.ts';
import { exactlyOne } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';

/** Maximum number of rows in a Template. More rows should be a reference table. */
const ROWS_MAX = 1000;

/** Number of rows in an emitted batch. */
const BATCH_ROWS = 512;

const constant = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const parameters = Type.Object(
  {
    rows: Type.Optional(
      Type.Array(Type.Record(anyKey, constant), {
        minItems: 1,
        maxItems: ROWS_MAX,
        description: 'Rows as `{column: value}`; columns that a row does not contain are null.',
      }),
    ),
    table: Type.Optional(tableName),
  },
  exactlyOne(['rows'], ['table']),
);

/** Cells, by the id of their column. */
type PlannedRow = ReadonlyMap<number, unknown>;

type Plan = { readonly rows: readonly PlannedRow[] } | { readonly table: string };

export const appendRows = defineOperation({
  name: 'append_rows',
  purpose: 'adds rows, or the rows of a table, after the last row',
  summary:
    'Adds rows after the last row. The columns of a table are assigned by their names, which must all exist at this step; its texts are converted to the type of the column. Added rows have no source row: `run.row` is null.',
  knownAs: [
    {
      names: 'append union union_all concat_rows bind_rows add_rows add_row',
      form: 'rows: [{...}]',
    },
  ],
  parameters,
  cells: false,
  memory: 'O',
  examples: [
    {
      title: 'A final row',
      operation: { op: 'append_rows', rows: [{ kind: 'end', amount: '0.00' }, { kind: 'check' }] },
      input: { columns: ['kind', 'amount'], types: ['text', 'decimal'], rows: [['line', '2.50']] },
      output: {
        columns: ['kind', 'amount'],
        rows: [
          ['line', '2.50'],
          ['end', '0.00'],
          ['check', null],
        ],
      },
    },
    {
      title: 'Rows of a table',
      operation: { op: 'append_rows', table: 'fixed' },
      tables: { fixed: 'amount,kind\n5,rent\n,none' },
      input: { columns: ['kind', 'n', 'amount'], types: ['text', 'text', 'decimal'], rows: [['line', '1', '2.50']] },
      output: {
        columns: ['kind', 'n', 'amount'],
        rows: [
          ['line', '1', '2.50'],
          ['rent', null, '5'],
          ['none', null, null],
        ],
      },
    },
  ],
  effect: plan,
  edits: () => [],
  start: (planned, context) => new AppendedRows(planned, context),
});

function plan({ rows, table }: Static<typeof parameters>, scope: Scope): Plan {
  if (table !== undefined) {
    const names = new Set(scope.columns.map(({ name }) => name));
    const strange = (tableColumns(table, scope, '/table') ?? []).find((name) => scope.closed && !names.has(name));
    if (strange !== undefined) {
      const message = `The table has the column ${JSON.stringify(strange)}, which does not exist at this step.`;
      scope.problem('/table', 'UNKNOWN_TABLE_COLUMN', message);
    }
    return { table };
  }
  return { rows: rows!.map((row, index) => planRow(row, scope, `/rows/${index}`)) };
}

function planRow(row: Readonly<Record<string, Constant>>, scope: Scope, pointer: string): PlannedRow {
  const cells = new Map<number, unknown>();
  for (const [name, given] of Object.entries(row)) {
    const place = `${pointer}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    const column = scope.read(name, place);
    if (column === null) continue;
    const made = constantValue(given, column.type);
    if ('problem' in made) scope.problem(place, 'BAD_VALUE', made.problem);
    else cells.set(column.id, made.value);
  }
  return cells;
}

class AppendedRows implements Operator {
  readonly #context: OperatorContext;
  readonly #plan: Plan;
  /** Number of the next added row: above the numbers of rows added by an earlier operation. */
  #nextSource = ADDED_ROWS_FROM;

  constructor(planned: Plan, context: OperatorContext) {
    this.#context = context;
    this.#plan = planned;
  }

  push(batch: Batch): Slices {
    for (let position = 0; position < batch.live; position++) {
      this.#nextSource = Math.max(this.#nextSource, batch.sourceRow(batch.physicalRow(position)) + 1);
    }
    return this.#context.next(batch);
  }

  *finish(): Steps {
    if ('table' in this.#plan) {
      yield* this.#tableRows(this.#plan.table);
      return;
    }
    const { rows } = this.#plan;
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      const some = rows.slice(from, from + BATCH_ROWS);
      yield* this.#emit(some.length, ({ id }, row) => some[row]!.get(id) ?? null);
      yield;
    }
  }

  *#tableRows(name: string): Steps {
    const { arena, kernel, input, tables } = this.#context;
    const table = tables.get(name);
    if (table === undefined) throw new Error('a planned table is missing');
    const places = new Map(input.map((column) => [column.id, table.columns.indexOf(column.name)]));
    const codec = new RowCodec(arena.heap, kernel, new Array(table.columns.length).fill('text'));
    const reader = new SpillReader(arena, codec, BATCH_READER_SIZE);
    reader.open(table);
    let done = 0;
    while (reader.advance() > 0) {
      const batch = reader.batch();
      yield* this.#emit(batch.live, (column, row) => {
        const place = places.get(column.id)!;
        const text = place < 0 ? null : batch.text({ kind: 'views', at: batch.views(place) }, row);
        const made = constantValue(text, column.type);
        if ('value' in made) return made.value;
        const message = `The reference table ${JSON.stringify(name)} has an invalid ${column.type} in row ${done + row + 1}, column ${JSON.stringify(column.name)}.`;
        throw new Failed('TEMPLATE_CHECK_FAILED', message);
      });
      done += batch.live;
      yield;
    }
  }

  /** Emits `count` rows. `cell` returns their values. */
  *#emit(count: number, cell: (column: Column, row: number) => unknown): Slices {
    const { arena, clock, input, next } = this.#context;
    const mark = arena.next;
    const columns: ColumnData[] = [];
    for (const column of input) {
      columns.push(this.#column(column, count, cell));
      if (clock.isDue()) yield PAUSE;
    }
    const selection = arena.take(count * 4);
    for (let row = 0; row < count; row++) arena.heap.u32[(selection >>> 2) + row] = row;
    const first = this.#nextSource;
    this.#nextSource += count;
    const materialise = (): never => {
      throw new Error('rows that are appended have no raw columns');
    };
    yield* next(
      new Batch({
        arena,
        rows: count,
        selection,
        live: count,
        columns,
        raw: null,
        sourceRows: { first },
        materialise,
      }),
    );
    arena.release(mark);
  }

  #column(column: Column, count: number, cell: (column: Column, row: number) => unknown): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, column.type);
    for (;;) {
      const mark = arena.next;
      let isFull = !builder.begin(count);
      for (let row = 0; row < count && !isFull; row++) isFull = builder.set(row, cell(column, row)) === 'full';
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}
