// The common parameter `where` of an operation on cells: one condition for a row, or, where it names `value`, one for each
// cell that the operation edits.
import type { CheckedExpression } from '../expression/resolution.ts';
import { columnName, columnSet } from '../operations/column-set.ts';
import { checkCondition, namesValue } from '../operations/expressions/check-expression.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import type { ColumnType } from '../schema.ts';
import type { ColumnSet, Scope } from './scope.ts';
import type { TemplateOperation } from './template.ts';

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
  const edited = namesValue(where) ? editedColumns(definition, parameters) : null;
  if (edited === null) {
    const rows = checkCondition(scope, where, '/where');
    return rows === null ? null : { rows, cells: new Map() };
  }
  const columns = scope.resolve(edited.set, edited.pointer);
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

/** Null where no cell is at hand: the operation names its columns in another way, or chooses rows before it edits them. */
function editedColumns(
  { parameters: schema, memory }: OperationDefinition,
  parameters: Readonly<Record<string, unknown>>,
): { readonly set: ColumnSet; readonly pointer: string } | null {
  const properties = (schema as { readonly properties?: Readonly<Record<string, unknown>> }).properties ?? {};
  if ((typeof memory === 'function' ? memory(parameters as never) : memory) !== 'R') return null;
  for (const [name, form] of [['columns', columnSet] as const, ['column', columnName] as const]) {
    const given = parameters[name];
    if (properties[name] === form && given !== undefined) return { set: given as ColumnSet, pointer: `/${name}` };
  }
  return null;
}
