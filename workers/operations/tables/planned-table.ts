// The parameter `table` of operations: the name of a reference table that the Template declares.
import { Type } from '../../bundled/type-box.ts';
import type { Scope } from '../../template/scope.ts';
import { suggestion } from '../../template/suggestion.ts';

export const tableName = Type.String({
  minLength: 1,
  description: "A reference table, by its name in the Template's `tables`.",
});

/** The table's columns; null where nobody knows them yet, or after a problem. */
export function tableColumns(name: string, scope: Scope, pointer: string): readonly string[] | null {
  const columns = scope.tables.get(name);
  if (columns !== undefined) return columns;
  const hint = suggestion(name, scope.tables.keys());
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
  const message = `The table ${JSON.stringify(table)} has no column ${JSON.stringify(name)}.${suggestion(name, known)}`;
  scope.problem(pointer, 'UNKNOWN_TABLE_COLUMN', message);
}
