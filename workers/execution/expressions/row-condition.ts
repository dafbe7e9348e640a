// Conditions of the Template at work on batches: which rows of a list they hold for. Kernels decide where they can, the
// closures the rest.
import type { Batch } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import type { Schema } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { FALSE, TRUE, UNKNOWN } from '../../kernel/layout/expressions.ts';
import { ARENA_BYTES } from '../../memory/arena.ts';
import type { OperatorContext, RowChoice } from '../../operations/operation.ts';
import type { StepCondition } from '../../plan/step-condition.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { LOOK_MASK, type Pauses } from '../../run/slice-clock.ts';
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import { CellFault } from '../cells/value-cells.ts';
import { FULL, type VectorRows } from './lane.ts';
import { plannerOf } from './planner.ts';
import { type ExpressionContext, RowExpression } from './row-expression.ts';
import { VectorLane } from './vector-lane.ts';
import { pays, type StatePlan } from './vector-plan.ts';

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
    return [id, byRow(expression, context.clock)];
  });
  // A column that is made anew, because `if_missing: skip` let it be missing, has no cell for which anything holds.
  const others = rows === null ? noRow : rowCondition(rows, columns, context);
  return { where: others, cellWhere: new Map(cells) };
}

/** The rows for which a checked condition is true; null is not true. */
export function rowCondition(condition: CheckedExpression, columns: Schema, context: ExpressionContext): RowChoice {
  const { clock } = context;
  const plan = plannerOf(condition).states(condition.root);
  if (plan === null || !pays(condition, plan)) return byRow(new RowExpression(condition, columns, context), clock);
  // Where kernels know all, it is not needed; one that looks up in a table has to ask for it before the first row.
  let made = context.tables.size > 0 ? new RowExpression(condition, columns, context) : null;
  const closures = (): RowExpression => {
    made ??= new RowExpression(condition, columns, context);
    return made;
  };
  const lane = new VectorLane(columns, context, plan);
  const exports = context.kernel.exports;
  return function* (batch, rows, count, fail) {
    const states = yield* statesOf(context, lane, plan, { batch, rows, count });
    if (states < 0) return yield* byRow(closures(), clock)(batch, rows, count, fail);
    const first = exports.findUnknown(states, 0, count);
    if (first < count) {
      const expression = closures();
      expression.bind(batch);
      for (let at = first; at < count; at = exports.findUnknown(states, at + 1, count)) {
        settle(expression, batch, rows, states, at, fail);
        if (clock.isDue()) yield PAUSE;
      }
    }
    return exports.keepTrue(states, rows, count);
  };
}

/** Room for the texts that a condition makes is taken beyond what one batch has, up to here. */
const ARENA_BYTES_MAX = 8 * ARENA_BYTES;

function* statesOf({ arena }: ExpressionContext, lane: VectorLane, plan: StatePlan, at: VectorRows): Sliced<number> {
  for (;;) {
    const states = yield* lane.states.fresh(plan, at);
    if (states !== FULL || arena.capacityBytes >= ARENA_BYTES_MAX) return states;
    arena.enlarge(arena.capacityBytes);
  }
}

function settle(expression: RowExpression, batch: Batch, rows: number, states: number, at: number, fail: Fail): void {
  const { u8, u32 } = batch.heap;
  if (u8[states + at] !== UNKNOWN) throw new Error('a known state is settled again');
  const row = u32[(rows >>> 2) + at]!;
  const holds = expression.holds(row);
  u8[states + at] = holds === true ? TRUE : FALSE;
  if (holds instanceof CellFault) fail(row, holds.code);
}

// biome-ignore lint/correctness/useYield: it has nothing to do
function* noRow(): Sliced<number> {
  return 0;
}

function byRow(expression: RowExpression, clock: Pauses): RowChoice {
  return function* (batch, rows, count, fail) {
    expression.bind(batch);
    const { u32 } = batch.heap;
    const first = rows >>> 2;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const row = u32[first + i]!;
      const holds = expression.holds(row);
      if (holds === true) u32[first + kept++] = row;
      else if (holds instanceof CellFault) fail(row, holds.code);
      if ((i & LOOK_MASK) === 0 && clock.isDue()) yield PAUSE;
    }
    return kept;
  };
}
