// Evaluates conditions of the Template on batches, and collects the rows for which an expression could not be computed.
import type { Batch } from '../../batch/batch.ts';
import type { Schema } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { FALSE, TRUE, UNKNOWN } from '../../kernel/layout/expressions.ts';
import { ARENA_BYTES } from '../../memory/arena.ts';
import type { RowErrorCode } from '../../protocol/report.ts';
import { checkMask, PAUSE, type Pauses, type Sliced } from '../../scheduling/time-slices.ts';
import type { OperatorContext, RowChoice, RowErrorAction, RowErrors } from '../../template/operation.ts';
import type { StepCondition } from '../../template/scan.ts';
import { CellFault, UNFINISHED } from '../cells/value-cells.ts';
import { ExpressionEvaluator } from './expression-evaluator.ts';
import { plannerOf } from './planner.ts';
import { type ExpressionContext, RowExpression } from './row-expression.ts';
import { FULL, isWorthwhile, type StatePlan, type VectorRows } from './vector-plan.ts';

// Rows of a batch for which an expression of the step could not be computed, as opposed to a single cell.

export class FailedRows {
  readonly #codes = new Map<number, RowErrorCode>();

  get size(): number {
    return this.#codes.size;
  }

  readonly add = (physicalRow: number, code: RowErrorCode): void => {
    this.#codes.set(physicalRow, code);
  };

  /** Reports the failed live rows of the batch in order. Returns the action for each. */
  report(batch: Batch, column: string | null, errors: RowErrors): Map<number, RowErrorAction> {
    const actions = new Map<number, RowErrorAction>();
    if (this.#codes.size === 0) return actions;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const code = this.#codes.get(row);
      if (code !== undefined) actions.set(row, errors.report(batch, row, column, code));
    }
    return actions;
  }

  /** Reports like `report`, and returns the rows to drop. */
  dropped(batch: Batch, column: string | null, errors: RowErrors): Set<number> {
    const actions = this.report(batch, column, errors);
    return new Set([...actions].filter(([, action]) => action === 'drop_row').map(([row]) => row));
  }
}

// Evaluates conditions of the Template on batches: selects the rows of a list for which they hold. Kernels decide where
// possible, closures decide the rest.

type Fail = (physicalRow: number, code: RowErrorCode) => void;

const EVERYWHERE: Pick<OperatorContext, 'where' | 'cellWhere'> = { where: null, cellWhere: new Map() };

/** Evaluates the common parameter `where`, for rows or for the cells of each column. */
export function conditionsOf(
  where: StepCondition | null,
  columns: Schema,
  contextOf: () => ExpressionContext,
): Pick<OperatorContext, 'where' | 'cellWhere'> {
  if (where === null) return EVERYWHERE;
  const context = contextOf();
  const { rows } = where;
  const choices = cellChoices(columns, context);
  const places = new Map(columns.map(({ id }, index) => [id, index]));
  const cells = [...where.cells].map(([id, condition]): [number, RowChoice] => {
    return [id, choices(condition, places.get(id)!)];
  });
  // A column that was created because `if_missing: skip` permitted it to be missing has no cells to which the condition
  // could apply.
  const others = rows === null ? noRow : rowCondition(rows, columns, context);
  return { where: others, cellWhere: new Map(cells) };
}

/**
 * Returns a function that makes the choices for the columns of an operation. All columns with the same condition share
 * one compiled condition, whose `value` moves from column to column: a file may have thousands of columns, and a
 * condition a thousand parts.
 */
function cellChoices(
  columns: Schema,
  context: ExpressionContext,
): (condition: CheckedExpression, index: number) => RowChoice {
  const shared = new Map<CheckedExpression, { readonly value: CellReader; readonly choose: RowChoice }>();
  return (condition, index) => {
    let made = shared.get(condition);
    if (made === undefined) {
      const value = new CellReader(columns[index]!.type, index, true);
      made = { value, choose: byRow(new RowExpression(condition, columns, context, value), context.clock) };
      shared.set(condition, made);
    }
    const { value, choose } = made;
    return function* (batch, rows, count, fail) {
      value.moveTo(index);
      return yield* choose(batch, rows, count, fail);
    };
  };
}

/** Selects the rows for which a checked condition is true; null is not true. */
export function rowCondition(condition: CheckedExpression, columns: Schema, context: ExpressionContext): RowChoice {
  const { clock } = context;
  const plan = plannerOf(condition).states(condition.root);
  if (plan === null || !isWorthwhile(condition, plan))
    return byRow(new RowExpression(condition, columns, context), clock);
  // The closures are created when they are first needed: often, kernels decide all rows. But an expression that looks
  // up a reference table must request the table before the first row, so its closures are created at once.
  let made = context.tables.size > 0 ? new RowExpression(condition, columns, context) : null;
  const closures = (): RowExpression => {
    made ??= new RowExpression(condition, columns, context);
    return made.withPauses();
  };
  const evaluator = new ExpressionEvaluator(columns, context, plan);
  const exports = context.kernel.exports;
  return function* (batch, rows, count, fail) {
    const states = yield* statesOf(context, evaluator, plan, { batch, rows, count });
    if (states < 0) return yield* byRow(closures(), clock)(batch, rows, count, fail);
    const first = exports.findUnknown(states, 0, count);
    if (first < count) {
      const expression = closures();
      expression.bind(batch);
      for (let at = first; at < count; at = exports.findUnknown(states, at + 1, count)) {
        yield* settle(expression, batch, rows, states, at, fail);
        if (clock.isDue()) yield PAUSE;
      }
    }
    return exports.keepTrue(states, rows, count);
  };
}

/** Maximum arena size for the texts that a condition creates, beyond the usual size for a batch. */
const ARENA_BYTES_MAX = 8 * ARENA_BYTES;

function* statesOf(
  { arena }: ExpressionContext,
  evaluator: ExpressionEvaluator,
  plan: StatePlan,
  at: VectorRows,
): Sliced<number> {
  for (;;) {
    const states = yield* evaluator.states.fresh(plan, at);
    if (states !== FULL || arena.capacityBytes >= ARENA_BYTES_MAX) return states;
    arena.enlarge(arena.capacityBytes);
  }
}

function* settle(
  expression: RowExpression,
  batch: Batch,
  rows: number,
  states: number,
  at: number,
  fail: Fail,
): Sliced<void> {
  if (batch.heap.u8[states + at] !== UNKNOWN) throw new Error('a known state is settled again');
  const row = batch.heap.u32[(rows >>> 2) + at]!;
  let holds = expression.holds(row);
  if (holds === UNFINISHED) holds = yield* expression.finish(() => expression.holds(row));
  batch.heap.u8[states + at] = holds === true ? TRUE : FALSE;
  if (holds instanceof CellFault) fail(row, holds.code);
}

// biome-ignore lint/correctness/useYield: it has nothing to do
function* noRow(): Sliced<number> {
  return 0;
}

function byRow(expression: RowExpression, clock: Pauses): RowChoice {
  expression.withPauses();
  return function* (batch, rows, count, fail) {
    expression.bind(batch);
    const { heap } = batch;
    const first = rows >>> 2;
    let kept = 0;
    const mask = checkMask(count);
    for (let i = 0; i < count; i++) {
      const row = heap.u32[first + i]!;
      let holds = expression.holds(row);
      if (holds === UNFINISHED) holds = yield* expression.finish(() => expression.holds(row));
      if (holds === true) heap.u32[first + kept++] = row;
      else if (holds instanceof CellFault) fail(row, holds.code);
      if ((i & mask) === 0 && clock.isDue()) yield PAUSE;
    }
    return kept;
  };
}
