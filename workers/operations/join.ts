// The operation `join`: adds columns of a reference table, or filters rows by whether the table contains their key.
import type { Batch, ColumnData } from '../batch/batch.ts';
import type { Column, ColumnType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { arrange } from '../execution/cells/copied-rows.ts';
import { cellsOfTypes, TableIndex } from '../execution/join/table-index.ts';
import { MANY, MISSING, TableJoin, TableProbe } from '../execution/join/table-join.ts';
import {
  addTableColumns,
  checkTableColumn,
  checkTableKey,
  tableColumns,
  tableColumnType,
  tableName,
} from '../execution/join/table-lookup.ts';
import { type MatchLevel, matchParameter } from '../execution/keys/row-keys.ts';
import { META_NULL } from '../kernel/layout/cells.ts';
import { countInAnyOrder } from '../protocol/report.ts';
import { DONE, type Slices } from '../scheduling/time-slices.ts';
import { columnName } from '../template/base-parameters.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';

const pair = Type.Object(
  {
    left: columnName,
    right: Type.String({ minLength: 1, description: 'Column of the table; by default the same name.' }),
    match: matchParameter,
  },
  { additionalProperties: false },
);

const parameters = Type.Object({
  table: tableName,
  on: Type.Union([columnName, Type.Array(Type.Union([columnName, pair]), { minItems: 1, maxItems: 16 })], {
    description:
      'Columns that must be equal: a name that both tables have, or a list of names and `{left, right, match}`. Null equals nothing. A typed column is compared by value with the texts of the table (`1.50` equals 1.5).',
  }),
  type: Type.Optional(
    Type.Enum(['left', 'inner', 'anti', 'semi'], {
      default: 'left',
      description:
        '`left` keeps all rows, and `inner` keeps rows with a match; both add columns. `semi` keeps rows with a match, and `anti` rows without a match; they add no columns.',
    }),
  ),
  columns: Type.Optional(
    Type.Array(columnName, {
      description:
        'Columns of the table to add; by default all except those of `on`. List them if later operations use them, because the check needs their names.',
    }),
  ),
  multiple: Type.Optional(
    Type.Enum(['first', 'all', 'fail'], {
      default: 'first',
      description:
        'If several rows of the table match: `first` uses the first, `all` makes one row for each, `fail` is the error NOT_UNIQUE.',
    }),
  ),
  on_missing: Type.Optional(
    Type.Enum(['ignore', 'error'], {
      default: 'ignore',
      description:
        'Rows without a match in the table: `ignore` counts them in the report (LOOKUP_MISS; not with `anti` and `semi`), `error` is the error LOOKUP_MISS, which is handled by `on_error`.',
    }),
  ),
  prefix: Type.Optional(Type.String({ minLength: 1, description: 'Prefix of the names of new columns.' })),
});

type Parameters = Static<typeof parameters>;

interface PlannedKey {
  readonly left: Column;
  readonly right: string;
  /** See TableKey. */
  readonly declared: ColumnType;
  readonly match: MatchLevel;
}

interface Plan {
  readonly table: string;
  readonly keys: readonly PlannedKey[];
  readonly type: 'left' | 'inner' | 'anti' | 'semi';
  /** Columns of the table, empty while they are unknown, and their types. */
  readonly columns: readonly string[];
  readonly types: readonly ColumnType[];
  readonly multiple: 'first' | 'all' | 'fail';
  readonly missingIsError: boolean;
}

const COUNTRIES = 'code,name,zone\nDE,Germany,EU\nCH,Switzerland,\nDE,Deutschland,EU';

/** Hints for other languages' names of the columns of a join. */
const ON_HINT = 'Did you mean "on"?';
const SIDES_HINT = 'Write on: [{left: ..., right: ...}].';

export const join = defineOperation({
  name: 'join',
  purpose:
    'adds columns of a reference table, or keeps only rows that the table contains (`semi`) or does not contain (`anti`)',
  summary:
    'Adds columns of a reference table by a key, or keeps rows depending on whether the table contains their key. The order of rows does not change.',
  knownAs: [
    {
      names:
        'merge lookup vlookup left_join left_outer_join inner_join outer_join anti_join semi_join join_left xlookup sverweis lookup_table enrich',
      form: 'table: ..., on: [...]',
    },
  ],
  parametersKnownAs: { by: ON_HINT, key: ON_HINT, keys: ON_HINT, left_on: SIDES_HINT, right_on: SIDES_HINT },
  parameters,
  cells: false,
  memory: 'K',
  worksInParts: () => true,
  examples: [
    {
      title: 'Names from a table',
      operation: {
        op: 'join',
        table: 'countries',
        on: [{ left: 'country', right: 'code', match: 'case_insensitive' }],
        columns: ['name'],
        prefix: 'country_',
      },
      tables: { countries: COUNTRIES },
      input: {
        columns: ['id', 'country'],
        rows: [
          ['1', 'de'],
          ['2', 'FR'],
          ['3', null],
          ['4', 'CH'],
        ],
      },
      output: {
        columns: ['id', 'country', 'country_name'],
        rows: [
          ['1', 'de', 'Germany'],
          ['2', 'FR', null],
          ['3', null, null],
          ['4', 'CH', 'Switzerland'],
        ],
      },
    },
    {
      title: 'One row for each match',
      operation: { op: 'join', table: 'countries', on: 'code', type: 'inner', multiple: 'all' },
      tables: { countries: COUNTRIES },
      input: {
        columns: ['code', 'n'],
        rows: [
          ['CH', '1'],
          ['DE', '2'],
          ['FR', '3'],
        ],
      },
      output: {
        columns: ['code', 'n', 'name', 'zone'],
        rows: [
          ['CH', '1', 'Switzerland', null],
          ['DE', '2', 'Germany', 'EU'],
          ['DE', '2', 'Deutschland', 'EU'],
        ],
      },
    },
    {
      title: 'Rows without a match in the table',
      operation: { op: 'join', table: 'known', on: [{ left: 'id', right: 'no' }], type: 'anti' },
      tables: { known: 'no\n7\n08' },
      input: { columns: ['id'], types: ['integer'], rows: [['7'], ['8'], ['9']] },
      output: { columns: ['id'], rows: [['9']] },
    },
  ],
  effect: plan,
  edits: () => [],
  start: (planned, context) => (planned === null ? { push: context.next } : startJoin(planned, context)),
});

/** Returns null if the file lacks every key and `if_missing` is skip: without a key, all rows would be equal. */
function plan(given: Parameters, scope: Scope): Plan | null {
  const { table, on, type = 'left', multiple = 'first', on_missing: onMissing = 'ignore' } = given;
  const known = tableColumns(table, scope, '/table');
  const keys = (typeof on === 'string' ? [on] : on).flatMap((entry, index): PlannedKey[] => {
    const { left, right, match = 'exact' } = typeof entry === 'string' ? { left: entry, right: entry } : entry;
    const pointer = typeof on === 'string' ? '/on' : `/on/${index}`;
    const column = scope.read(left, typeof entry === 'string' ? pointer : `${pointer}/left`);
    checkTableColumn(right, table, known, typeof entry === 'string' ? pointer : `${pointer}/right`, scope);
    if (column !== null) checkTableKey(column, right, table, pointer, scope);
    return column === null ? [] : [{ left: column, right, declared: tableColumnType(right, table, scope), match }];
  });
  if (keys.length === 0) return null;
  const adds = type === 'left' || type === 'inner';
  if (!adds && (given.columns !== undefined || given.prefix !== undefined)) {
    scope.problem('/type', 'UNUSED_PARAMETER', `"${type}" adds no columns: leave out columns and prefix.`);
  }
  const taken = new Set(keys.map(({ right }) => right));
  const columns = adds ? addTableColumns(given, taken, known, scope) : [];
  const types = columns.map((name) => tableColumnType(name, table, scope));
  const matches = { multiple: adds ? multiple : 'first', missingIsError: onMissing === 'error' } as const;
  return { table, keys, type, columns, types, ...matches };
}

function startJoin(planned: Plan, context: OperatorContext) {
  const table = context.tables.get(planned.table);
  if (table === undefined) throw new Error('a planned table is missing');
  const places = new Map(table.columns.map((name, index) => [name, index]));
  const place = (name: string): number => places.get(name)!;
  const keys = planned.keys.map(({ left, right, declared, match }) => ({
    column: place(right),
    type: left.type,
    declared,
    match,
  }));
  const index = new TableIndex(context, table.columns.length, keys);
  const columns = planned.keys.map(({ left }) => context.indexOf(left));
  const levels = planned.keys.map(({ match }) => match);
  const probe = new TableProbe(context, { columns, levels }, planned.columns.map(place), planned.multiple);
  const payload = planned.columns.length;
  const settle = (batch: Batch): Slices => settleRows(planned, context, batch);
  const rowsMost = planned.multiple === 'all' ? Number.POSITIVE_INFINITY : 1;
  return new TableJoin(context, { table, index, probe, payload, rowsMost, settle });
}

/** Keeps or drops rows by the outcome of the lookup, reports errors, and emits the remaining rows. */
function settleRows(
  { type, columns, types, missingIsError, keys }: Plan,
  context: OperatorContext,
  batch: Batch,
): Slices {
  const { arena, errors, layout, next, input, report } = context;
  const adds = type === 'left' || type === 'inner';
  const outcome = batch.columns.at(-1)!;
  if (outcome.kind !== 'typed') throw new Error('the outcome is the last column');
  const made = cellsOfTypes(batch, batch.columns.slice(input.length, input.length + columns.length), types);
  const rows = arrange(batch, layout, made);
  const chosen = arena.take(batch.live * 4);
  const name = keys.length === 1 ? keys[0]!.left.name : null;
  let live = 0;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const went = batch.heap.u8[outcome.meta + row]!;
    let stays = type === 'left' || (went === MISSING) === (type === 'anti');
    if (went === MANY) {
      const action = errors.report(rows, row, name, 'NOT_UNIQUE');
      if (action === 'blank') blankCells(batch, made, row);
      stays &&= action !== 'drop_row';
    } else if (went === MISSING && missingIsError) {
      const action = errors.report(rows, row, name, 'LOOKUP_MISS');
      stays &&= action !== 'drop_row';
    } else if (went === MISSING && adds) countInAnyOrder(report.errors, 'LOOKUP_MISS', rows.sourceRow(row));
    if (stays) batch.heap.u32[(chosen >>> 2) + live++] = row;
  }
  if (live === 0) return DONE;
  return next(live === batch.live ? rows : rows.withSelection(chosen, live));
}

function blankCells({ heap }: Batch, columns: readonly ColumnData[], row: number): void {
  for (const column of columns) {
    if (column.kind === 'views') heap.u32.fill(0, (column.at >>> 2) + row * 2, (column.at >>> 2) + row * 2 + 2);
    else if (column.kind === 'typed') heap.u8[column.meta + row] = META_NULL;
  }
}
