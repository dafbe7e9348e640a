// The operation `map_values`: replaces texts by other texts according to a list.

import type { ColumnData } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { type PlacedText, placeText, settleText, startViews } from '../execution/cells/text-chain.ts';
import { TableCells } from '../execution/join/disk-table.ts';
import { checkTableColumn, tableColumns, tableName } from '../execution/join/table-lookup.ts';
import { HashTable, KEY_ABSENT, type KeyList } from '../execution/keys/hash-table.ts';
import { type MatchLevel, matchParameter, matchSteps, matchText, RowKeys } from '../execution/keys/row-keys.ts';
import type { Heap } from '../memory/heap.ts';
import type { Sliced } from '../scheduling/time-slices.ts';
import { columnSet, exactlyOne } from '../template/base-parameters.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';

/** Maximum number of entries in an inline map. A longer list should be a reference table. */
const MAP_ENTRIES_MAX = 10_000;

type Default = 'keep' | 'blank' | 'error' | { readonly value: string };

type MapSource = Readonly<Record<string, string | null>>;

/** Columns of a table: the texts to find, and their replacements. */
interface TableSource {
  readonly table: string;
  readonly key: string;
  readonly value: string;
}

interface Plan {
  readonly targets: readonly CellTarget[];
  readonly source: { readonly map: MapSource } | TableSource;
  readonly match: MatchLevel;
  readonly otherwise: Default;
}

export const mapValues = defineOperation({
  name: 'map_values',
  purpose: 'replaces cells by a `map`, or by a reference table',
  summary: 'Replaces whole cells by a list of texts or a reference table; null remains null.',
  knownAs: [
    {
      names: 'map recode translate mapping map_value replace_values value_map case_map decode substitute_values',
      form: 'columns: ..., map: {old: new}',
    },
  ],
  parameters: Type.Object(
    {
      columns: columnSet,
      map: Type.Optional(
        Type.Record(anyKey, Type.Union([Type.String(), Type.Null()]), {
          minProperties: 1,
          maxProperties: MAP_ENTRIES_MAX,
          description: '`{text: new text}`; `null` sets the cell to null.',
        }),
      ),
      table: Type.Optional(tableName),
      key: Type.Optional(Type.String({ minLength: 1, description: 'Column of the table with the texts to replace.' })),
      value: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'Column of the table with the new texts; an empty text sets the cell to null.',
        }),
      ),
      match: matchParameter,
      default: Type.Optional(
        Type.Union(
          [
            Type.Enum(['keep', 'blank', 'error']),
            Type.Object({ value: Type.String() }, { additionalProperties: false }),
          ],
          {
            default: 'keep',
            description:
              'For texts that are not listed: `keep`, `blank`, `error` (LOOKUP_MISS), or `{value: "other"}`.',
          },
        ),
      ),
      into: intoParameter,
    },
    exactlyOne(['map'], ['table', 'key', 'value']),
  ),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Codes to words',
      operation: {
        op: 'map_values',
        columns: 'status',
        map: { P: 'paid', O: 'open', X: null },
        default: { value: 'unknown' },
      },
      input: { columns: ['status'], rows: [['P'], ['O'], ['X'], ['?'], [null]] },
      output: { columns: ['status'], rows: [['paid'], ['open'], [null], ['unknown'], [null]] },
    },
    {
      title: 'Regardless of spelling, into a new column',
      operation: {
        op: 'map_values',
        columns: ['country'],
        map: { Österreich: 'AT', 'Czech Republic': 'CZ' },
        match: 'loose',
        into: 'code',
      },
      input: { columns: ['country'], rows: [['ÖSTERREICH '], ['czech-republic'], ['Osterreich'], ['Peru']] },
      output: {
        columns: ['country', 'code'],
        rows: [
          ['ÖSTERREICH ', 'AT'],
          ['czech-republic', 'CZ'],
          ['Osterreich', 'AT'],
          ['Peru', 'Peru'],
        ],
      },
    },
    {
      title: 'Names from a reference table',
      operation: {
        op: 'map_values',
        columns: 'country',
        table: 'countries',
        key: 'code',
        value: 'name',
        default: 'blank',
      },
      tables: { countries: 'code,name\nDE,Germany\nCH,Switzerland\nXX,' },
      input: { columns: ['country'], rows: [['CH'], ['FR'], ['XX'], ['DE']] },
      output: { columns: ['country'], rows: [['Switzerland'], [null], [null], ['Germany']] },
    },
  ],
  effect({ columns, map, table, key, value, match = 'exact', default: otherwise = 'keep', into }, scope: Scope): Plan {
    const targets = cellTargets(scope, { columns, into, takes: ['text'], makes: null });
    if (map !== undefined) return { targets, source: { map }, match, otherwise };
    const source = { table: table!, key: key!, value: value! };
    const known = tableColumns(source.table, scope, '/table');
    checkTableColumn(source.key, source.table, known, '/key', scope);
    checkTableColumn(source.value, source.table, known, '/value', scope);
    return { targets, source, match, otherwise };
  },
  edits: ({ targets }) => editedIds(targets),
  start(plan, context) {
    const values =
      'map' in plan.source ? placeMap(plan.source.map, plan, context) : placeTable(plan.source, plan, context);
    // All columns share one edit, because a file may have thousands of columns.
    const keys = new RowKeys(context, [0], plan.match);
    const edit = mapEdit(context, plan, values, keys);
    const edits = plan.targets.map(() => edit);
    return startCellOperator(context, plan.targets, edits);
  },
});

/** Keys by id. `text` returns the replacement of a key, or null to clear the cell. */
interface PlacedMap {
  readonly hash: (list: KeyList) => void;
  /** Returns false if the arena is full. */
  readonly find: (list: KeyList) => boolean;
  readonly text: (id: number) => PlacedText | null;
  readonly otherwise: PlacedText | null;
}

function placeMap(map: MapSource, { match, otherwise }: Plan, { arena, kernel }: OperatorContext): PlacedMap {
  const { heap } = arena;
  const steps = matchSteps(heap, match);
  const texts = new Map<string, PlacedText | null>();
  for (const [from, to] of Object.entries(map)) {
    const key = matchText(steps, from);
    if (!texts.has(key)) texts.set(key, to === null || to === '' ? null : placeText(heap, to));
  }
  const keys = [...texts.keys()].map((key) => placeText(heap, key));
  const table = new HashTable(heap, kernel);
  table.forced = true;
  const views = heap.allocate(keys.length * 8);
  const rows = heap.allocate(keys.length * 4);
  const hashes = heap.allocate(keys.length * 8);
  const ids = heap.allocate(keys.length * 4);
  for (const [index, { at, bytes }] of keys.entries()) {
    heap.u32.set([at, bytes], (views >>> 2) + index * 2);
    heap.u32[(rows >>> 2) + index] = index;
  }
  const list = { views, rows, count: keys.length, hashes, ids };
  table.hash(list);
  table.insert(list);
  const made = [...texts.values()];
  const find = (asked: KeyList): boolean => {
    table.find(asked);
    return true;
  };
  return {
    hash: (asked) => table.hash(asked),
    find,
    text: (id) => made[id]!,
    otherwise: placeDefault(heap, otherwise),
  };
}

function placeTable({ table: name, key, value }: TableSource, plan: Plan, context: OperatorContext): PlacedMap {
  const rows = context.tables.get(name);
  if (rows === undefined) throw new Error('a planned table is missing');
  const wanted = { column: rows.columns.indexOf(key), type: 'text' as const, match: plan.match };
  const cells = new TableCells(context, rows, wanted, rows.columns.indexOf(value));
  context.beforeRows(() => cells.build());
  return {
    hash: (list) => cells.hash(list),
    find: (list) => cells.find(list),
    text: (id) => cells.text(id),
    otherwise: placeDefault(context.arena.heap, plan.otherwise),
  };
}

function placeDefault(heap: Heap, otherwise: Default): PlacedText | null {
  return typeof otherwise === 'object' && otherwise.value !== '' ? placeText(heap, otherwise.value) : null;
}

function mapEdit(context: OperatorContext, plan: Plan, values: PlacedMap, keys: RowKeys): CellEdit {
  const { arena } = context;
  return function* (work): Sliced<ColumnData | null> {
    const before = work.batch.views(work.column);
    keys.moveTo(work.column);
    yield* keys.editLong(work.batch.withSelection(work.rows, work.count), context.clock);
    const made = startViews(context, work, before);
    const views = keys.make(work.batch, work.rows, work.count);
    const hashes = arena.tryTake(work.count * 8);
    const ids = arena.tryTake(work.count * 4);
    if (made === null || views === 0 || hashes === 0 || ids === 0) return null;
    const list = { views, rows: work.rows, count: work.count, hashes, ids };
    values.hash(list);
    if (!values.find(list)) return null;
    const missed = putTexts(context, list, made.at, values, plan.otherwise);
    settleText(context, work, work.inPlace ? before : 0, made.at);
    for (const row of missed) {
      arena.heap.u32.fill(0, (made.at >>> 2) + row * 2, (made.at >>> 2) + row * 2 + 2);
      work.fail(row, 'LOOKUP_MISS');
    }
    return made;
  };
}

/** Returns the rows with an error. */
function putTexts(
  { arena }: OperatorContext,
  { rows, count, ids }: { readonly rows: number; readonly count: number; readonly ids: number },
  views: number,
  { text: textOf, otherwise }: PlacedMap,
  policy: Default,
): number[] {
  const { u32 } = arena.heap;
  const missed: number[] = [];
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    const view = (views >>> 2) + row * 2;
    if (u32[view] === 0) continue;
    const id = u32[(ids >>> 2) + i]!;
    if (id === KEY_ABSENT && policy === 'error') missed.push(row);
    if (id === KEY_ABSENT && (policy === 'keep' || policy === 'error')) continue;
    const text = id === KEY_ABSENT ? otherwise : textOf(id);
    u32[view] = text === null ? 0 : text.at;
    u32[view + 1] = text === null ? 0 : text.bytes;
  }
  return missed;
}
