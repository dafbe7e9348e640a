// Checks of reference tables in the Template, and look-ups of single texts for expressions.

import type { Column, ColumnType } from '../../batch/schema.ts';
import { Type } from '../../bundled/type-box.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../template/operation.ts';
import type { Scope } from '../../template/scope.ts';
import type { KeyList } from '../keys/hash-table.ts';
import { TableCells } from './disk-table.ts';

// Checks in operations on reference tables that the Template declares: the name of the table, and the columns that they
// add.

export const tableName = Type.String({
  minLength: 1,
  description: "A reference table, by its name in the Template's `tables`.",
});

/** Returns the columns of the table. null while they are unknown, or after a problem. */
export function tableColumns(name: string, scope: Scope, pointer: string): readonly string[] | null {
  const columns = scope.tables.get(name);
  if (columns !== undefined) return columns;
  const hint = scope.suggest(name, () => scope.tables.keys());
  const message = `The Template declares no table ${JSON.stringify(name)}.${hint} Write tables: {${name}: {ref: ...}}.`;
  scope.problem(pointer, 'UNKNOWN_TABLE', message);
  return null;
}

/** @param known columns of the table, or null while they are unknown */
export function checkTableColumn(
  name: string,
  table: string,
  known: readonly string[] | null,
  pointer: string,
  scope: Scope,
): void {
  if (known === null || known.includes(name)) return;
  const hint = scope.suggest(name, () => known);
  const message = `The table ${JSON.stringify(table)} has no column ${JSON.stringify(name)}.${hint}`;
  scope.problem(pointer, 'UNKNOWN_TABLE_COLUMN', message);
}

/** The declared type of a table's column. */
export function tableColumnType(name: string, table: string, scope: Scope): ColumnType {
  const types = declaredTypes(table, scope);
  return Object.hasOwn(types, name) ? types[name]! : 'text';
}

function declaredTypes(table: string, { tableTypes }: Scope): Readonly<Record<string, ColumnType>> {
  return (Object.hasOwn(tableTypes, table) ? tableTypes[table]!.columns : undefined) ?? {};
}

/**
 * Checks that a column can be compared with a column of the table: a declared type must be the same, or both must be
 * numbers. A column of the table without a type is compared with any column.
 */
export function checkTableKey(column: Column, name: string, table: string, pointer: string, scope: Scope): void {
  const type = tableColumnType(name, table, scope);
  if (type === 'text' || type === column.type || (isNumeric(type) && isNumeric(column.type))) return;
  const of = `${JSON.stringify(name)} of the table ${JSON.stringify(table)}`;
  const message = `The column is ${column.type} at this step, and the column ${of} is ${type}. Parse or cast the column before.`;
  scope.problem(pointer, 'WRONG_TYPE', message);
}

function isNumeric(type: ColumnType): boolean {
  return type === 'integer' || type === 'decimal' || type === 'number';
}

/** Parameters of operations that add columns of a table. */
export interface AddedColumns {
  readonly table: string;
  /** All columns if omitted. */
  readonly columns?: readonly string[];
  readonly prefix?: string;
}

/**
 * Adds columns of a table to the scope. Returns their names in the table, empty while they are unknown.
 * @param taken columns of the table that are added only if they are listed
 */
export function addTableColumns(
  { table, columns, prefix = '' }: AddedColumns,
  taken: ReadonlySet<string>,
  known: readonly string[] | null,
  scope: Scope,
): readonly string[] {
  if (columns === undefined && known === null) {
    // Their types are known before the table is, so that later operations can be checked.
    for (const name of Object.keys(declaredTypes(table, scope))) {
      if (!taken.has(name)) scope.add(prefix + name, tableColumnType(name, table, scope), '/columns');
    }
    scope.addUnknown();
    return [];
  }
  const inTable = new Set(known);
  for (const [index, name] of (columns ?? []).entries()) {
    if (!inTable.has(name)) checkTableColumn(name, table, known, `/columns/${index}`, scope);
  }
  const listed = columns === undefined ? null : new Set(columns);
  // As soon as the columns of the table are known, their order applies.
  const names = known === null ? [...listed!] : known.filter((name) => listed?.has(name) ?? !taken.has(name));
  for (const name of names) scope.add(prefix + name, tableColumnType(name, table, scope), '/columns');
  return names;
}

// Looks up single texts in a reference table, for expressions.

export type LookupContext = Pick<OperatorContext, 'arena' | 'kernel' | 'spill' | 'tables' | 'beforeRows'>;

/**
 * Returns a function that finds the cell of a column in the first row with a key, or null. All memory is allocated
 * before the first row, so that lookups do not disturb other readers of cells.
 *
 * @param keyColumn null for the first column of the table
 */
export function tableLookup(
  context: LookupContext,
  name: string,
  keyColumn: string | null,
  valueColumn: string,
): (key: string) => string | null {
  const { arena, tables } = context;
  const { heap } = arena;
  const table = tables.get(name);
  if (table === undefined) throw new Error('a checked expression names a table that is not there');
  const column = keyColumn === null ? 0 : table.columns.indexOf(keyColumn);
  const values = table.columns.indexOf(valueColumn);
  const cells = new TableCells(context, table, { column, type: 'text', match: 'exact' }, values);
  let longest = 0;
  let bytes = 0;
  context.beforeRows(function* () {
    yield* cells.build();
    // Space for the longest key is enough: a longer key is not in the table.
    longest = cells.longestKeyBytes();
    bytes = heap.allocate(Math.max(1, longest));
  });
  const views = heap.allocate(VIEW_BYTES + 32);
  const list: KeyList = { views, rows: views + 8, count: 1, hashes: views + 16, ids: views + 24 };
  const encoder = new TextEncoder();
  return (key) => {
    if (bytes === 0) throw new Error('a table is queried before it is read');
    if (key.length > longest) return null;
    const { read, written } = encoder.encodeInto(key, heap.u8.subarray(bytes, bytes + longest));
    if (read < key.length) return null;
    const { u32 } = heap;
    u32[views >>> 2] = bytes;
    u32[(views >>> 2) + 1] = written;
    u32[list.rows >>> 2] = 0;
    return cells.single(list);
  };
}
