// The common parameter `where` of an operation on cells: one condition for a row, or, where it names `value`, one for each
// cell that the operation edits.
import type { Column, ColumnType } from '../batch/schema.ts';
import { checkCondition, namesUsed } from '../execution/expressions/check-expression.ts';
import { columnName, columnSet } from '../execution/parameters/column-set.ts';
import type { CheckedExpression } from '../expression/check/resolution.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import type { ColumnSet, Scope } from '../template/scope.ts';
import type { TemplateOperation } from '../template/template.ts';

export interface StepCondition {
  /** For rows; null: it is for cells. */
  readonly rows: CheckedExpression | null;
  /** For cells, by the id of the column that is edited. */
  readonly cells: ReadonlyMap<number, CheckedExpression>;
}

/** The condition of a step, before its effect; null when it has none, or a broken one. */
export function stepCondition(
  definition: OperationDefinition,
  { where, parameters }: Pick<TemplateOperation, 'where' | 'parameters'>,
  scope: Scope,
): StepCondition | null {
  if (where === null) return null;
  const columns = namesUsed(where).value ? editedColumns(definition, parameters, scope) : null;
  if (columns === null) {
    const rows = checkCondition(scope, where, '/where');
    return rows === null ? null : { rows, cells: new Map() };
  }
  const byType = new Map<ColumnType, CheckedExpression | null>();
  // While a Template is checked, a pattern may have no column yet: those of a file are text.
  for (const type of columns.length === 0 ? (['text'] as const) : columns.map((column) => column.type)) {
    if (!byType.has(type)) byType.set(type, checkCondition(scope, where, '/where', type));
  }
  const cells = new Map<number, CheckedExpression>();
  for (const { id, type } of columns) {
    const condition = byType.get(type)!;
    if (condition !== null) cells.set(id, condition);
  }
  return { rows: null, cells };
}

/** Null where no cell is at hand: the operation names no columns that it edits. */
function editedColumns(
  definition: OperationDefinition,
  parameters: Readonly<Record<string, unknown>>,
  scope: Scope,
): readonly Column[] | null {
  const names = definition.editedColumns?.(parameters as never);
  if (names === null) return null;
  if (names !== undefined) return names.flatMap((name) => scope.read(name, '/where') ?? []);
  const schema = definition.parameters as { readonly properties?: Readonly<Record<string, unknown>> };
  for (const [name, form] of [['columns', columnSet] as const, ['column', columnName] as const]) {
    const given = parameters[name];
    if (schema.properties?.[name] === form && given !== undefined) {
      return scope.resolve(given as ColumnSet, `/${name}`);
    }
  }
  return null;
}
