// Conditions of the Template at work on batches: which rows of a list they hold for. Kernels decide where they can, the
// closures the rest.
import type { Batch } from '../../batch.ts';
import type { CheckedExpression } from '../../expression/resolution.ts';
import { STATE_UNKNOWN } from '../../kernel/expression-kernels.ts';
import type { RowErrorCode } from '../../report.ts';
import type { Schema } from '../../schema.ts';
import type { StepCondition } from '../../template/step-condition.ts';
import { CellReader } from '../cells/cell-values.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { OperatorContext, RowChoice } from '../operation.ts';
import { type ExpressionContext, RowExpression } from './row-expression.ts';
import { VectorLane } from './vector-lane.ts';
import { planStates, type StatePlan } from './vector-plan.ts';

type Fail = (physicalRow: number, code: RowErrorCode) => void;

const EVERYWHERE: Pick<OperatorContext, 'where' | 'cellWhere'> = { where: null, cellWhere: new Map() };

/** What the common parameter `where` says of rows, or of the cells of each column. */
export function conditionsOf(
  where: StepCondition | null,
  columns: Schema,
  contextOf: () => ExpressionContext,
): Pick<OperatorContext, 'where' | 'cellWhere'> {
  if (where === null) return EVERYWHERE;
  const context = contextOf();
  const { rows } = where;
  const cells = [...where.cells].map(([id, condition]): [number, RowChoice] => {
    const index = columns.findIndex((column) => column.id === id);
    const value = new CellReader(columns[index]!.type, index, true);
    const expression = new RowExpression(condition, columns, context, value);
    return [id, (batch, list, count, fail) => chooseByRow(expression, batch, list, count, fail)];
  });
  // A column that is made anew, because `if_missing: skip` let it be missing, has no cell for which anything holds.
  const others = rows === null ? (): number => 0 : rowCondition(rows, columns, context);
  return { where: others, cellWhere: new Map(cells) };
}

/** The rows for which a checked condition is true; null is not true. */
export function rowCondition(condition: CheckedExpression, columns: Schema, context: ExpressionContext): RowChoice {
  const expression = new RowExpression(condition, columns, context);
  const plan = planStates(condition);
  if (plan === null) return (batch, rows, count, fail) => chooseByRow(expression, batch, rows, count, fail);
  const lane = new VectorLane(columns, context);
  lane.prepare(plan);
  const exports = context.kernel.exports;
  return (batch, rows, count, fail) => {
    const states = statesOf(lane, plan, batch, rows, count);
    if (states < 0) return chooseByRow(expression, batch, rows, count, fail);
    const first = exports.findUnknown(states, 0, count);
    if (first < count) {
      expression.bind(batch);
      for (let at = first; at < count; at = exports.findUnknown(states, at + 1, count)) {
        settle(expression, batch, rows, states, at, fail);
      }
    }
    return exports.keepTrue(states, rows, count);
  };
}

function statesOf(lane: VectorLane, plan: StatePlan, batch: Batch, rows: number, count: number): number {
  return lane.states(plan, { batch, rows, count });
}

function settle(expression: RowExpression, batch: Batch, rows: number, states: number, at: number, fail: Fail): void {
  const { u8, u32 } = batch.heap;
  if (u8[states + at] !== STATE_UNKNOWN) throw new Error('a known state is settled again');
  const row = u32[(rows >>> 2) + at]!;
  const holds = expression.holds(row);
  u8[states + at] = holds === true ? 1 : 0;
  if (holds instanceof CellFault) fail(row, holds.code);
}

function chooseByRow(expression: RowExpression, batch: Batch, rows: number, count: number, fail: Fail): number {
  expression.bind(batch);
  const { u32 } = batch.heap;
  const first = rows >>> 2;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[first + i]!;
    const holds = expression.holds(row);
    if (holds === true) u32[first + kept++] = row;
    else if (holds instanceof CellFault) fail(row, holds.code);
  }
  return kept;
}
