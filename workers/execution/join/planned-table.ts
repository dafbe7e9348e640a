// What operations say of a reference table that the Template declares: its name, and which of its columns they add.
import { Type } from '../../bundled/type-box.ts';
import type { Scope } from '../../template/scope.ts';

export const tableName = Type.String({
  minLength: 1,
  description: "A reference table, by its name in the Template's `tables`.",
});

/** The table's columns; null where nobody knows them yet, or after a problem. */
export function tableColumns(name: string, scope: Scope, pointer: string): readonly string[] | null {
  const columns = scope.tables.get(name);
  if (columns !== undefined) return columns;
  const hint = scope.suggest(name, () => scope.tables.keys());
  const message = `The Template declares no table ${JSON.stringify(name)}.${hint} Write tables: {${name}: {ref: ...}}.`;
  scope.problem(pointer, 'UNKNOWN_TABLE', message);
  return null;
}

/** @param known the table's columns, null while they are unknown */
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

/** Parameters of operations that add columns of a table. */
export interface AddedColumns {
  readonly table: string;
  /** Without it all of them. */
  readonly columns?: readonly string[];
  readonly prefix?: string;
}

/**
 * Adds columns of a table to the scope; gives their names in the table, none as long as they are unknown.
 * @param taken columns of the table that are not added unless they are listed
 */
export function addTableColumns(
  { table, columns, prefix = '' }: AddedColumns,
  taken: ReadonlySet<string>,
  known: readonly string[] | null,
  scope: Scope,
): readonly string[] {
  if (columns === undefined && known === null) {
    scope.addUnknown();
    return [];
  }
  const inTable = new Set(known);
  for (const [index, name] of (columns ?? []).entries()) {
    if (!inTable.has(name)) checkTableColumn(name, table, known, `/columns/${index}`, scope);
  }
  const listed = columns === undefined ? null : new Set(columns);
  // The order is the table's as soon as it is known.
  const names = known === null ? [...listed!] : known.filter((name) => listed?.has(name) ?? !taken.has(name));
  for (const name of names) scope.add(prefix + name, 'text', '/columns');
  return names;
}
