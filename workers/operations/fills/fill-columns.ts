// Which columns fill_down and fill_up fill, and which make the group.
import type { Column } from '../../schema.ts';
import type { ColumnSet, Scope } from '../../template/scope.ts';

export interface FillColumns {
  readonly columns: readonly Column[];
  /** None: all rows are one group. */
  readonly groups: readonly Column[];
}

export function planFill(
  given: { readonly columns: ColumnSet; readonly group_by?: ColumnSet | undefined },
  scope: Scope,
): FillColumns {
  const groups = given.group_by === undefined ? [] : scope.resolve(given.group_by, '/group_by');
  const columns = scope.resolve(given.columns, '/columns');
  const both = columns.find(({ id }) => groups.some((group) => group.id === id));
  if (both !== undefined) {
    const name = JSON.stringify(both.name);
    scope.problem('/columns', 'COLUMN_TWICE', `The column ${name} cannot be filled and be the group as well.`);
  }
  return { columns, groups };
}
