// Which columns fill_down and fill_up fill, where the results go, and which columns make the group.
import type { Column } from '../../batch/schema.ts';
import type { ColumnSet, Scope } from '../../template/scope.ts';
import type { CellTarget } from '../cells/cell-operator.ts';
import { cellTargets } from '../cells/cell-targets.ts';
import { COLUMN_TYPES } from '../parameters/column-set.ts';

export interface FillPlan {
  readonly targets: readonly CellTarget[];
  /** None: all rows are one group. */
  readonly groups: readonly Column[];
}

interface Given {
  readonly columns: ColumnSet;
  readonly group_by?: ColumnSet | undefined;
  readonly into?: string | readonly string[] | undefined;
}

export function planFill({ columns, group_by, into }: Given, scope: Scope): FillPlan {
  const groups = group_by === undefined ? [] : scope.resolve(group_by, '/group_by');
  const targets = cellTargets(scope, { columns, into, takes: COLUMN_TYPES, makes: null, moves: true });
  const both = targets.find(({ target }) => groups.some(({ id }) => id === target.id));
  if (both !== undefined) {
    const name = JSON.stringify(both.target.name);
    scope.problem('/columns', 'COLUMN_TWICE', `The column ${name} cannot be filled and be the group as well.`);
  }
  return { targets, groups };
}
