// The fast evaluator of expressions: runs a plan over the rows of a list with kernels. Nodes that no kernel supports
// are computed row by row.

import type { Batch } from '../../batch/batch.ts';
import type { Schema } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { ARITHMETIC, DATE_PARTS, STATES, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import { META_SCALE_MAX, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  FALSE,
  NULL,
  SET,
  TEXT_BYTES_MAX,
  TRUE,
  UNKNOWN,
  UNKNOWN_TEXT,
  VECTOR_BYTES,
  VECTOR_MARKS,
  VECTOR_SCALES,
  VECTOR_STEP_BYTES,
  VECTOR_VALUES,
} from '../../kernel/layout/expressions.ts';
import { HALF_UP } from '../../kernel/layout/numbers.ts';
import { checkMask, PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import { Decimal } from '../../values/decimal.ts';
import { COMPARED_LENGTH_MAX } from '../../values/similarity.ts';
import { CalendarDate } from '../../values/timestamp.ts';
import { UNFINISHED } from '../cells/value-cells.ts';
import { type ExpressionContext, RowExpression } from './row-expression.ts';
import { StateEvaluator } from './state-evaluator.ts';
import { TextEvaluator } from './text-evaluator.ts';
import {
  type AnyPlan,
  type Branches,
  type Chosen,
  computedIn,
  type Evaluators,
  FULL,
  type NumberPlan,
  partsOf,
  type StatesTarget,
  type TextPlan,
  UNSUPPORTED,
  type VectorRows,
} from './vector-plan.ts';

// Computes vectors of nodes that no kernel supports, with the closures of each node, row by row. If a result is an
// error or does not fit a vector, it is marked as unknown, and the closures of the whole expression decide.

/**
 * Maximum number of steps (STEPS_MAX) that these nodes may take together per evaluation, so that no expression passes
 * that would exceed the limit as a whole. The kernels never take more than the remaining steps, because they leave long
 * texts alone.
 */
const STEPS_MAX = 30_000;

type Put = (position: number, value: unknown) => boolean;

class ClosureEvaluator {
  readonly #context: ExpressionContext;
  readonly #closures = new Map<CheckedExpression, RowExpression>();

  constructor(columns: Schema, context: ExpressionContext, plan: AnyPlan) {
    this.#context = context;
    const expressions = computedIn(plan);
    const steps = Math.floor(STEPS_MAX / expressions.length);
    for (const expression of expressions) {
      this.#closures.set(expression, new RowExpression(expression, columns, context, undefined, steps).withPauses());
    }
  }

  /** Returns the address of a vector of texts, or a negative code. */
  *texts(expression: CheckedExpression, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { arena } = this.#context;
    const texts = arena.take(at.count * VIEW_BYTES);
    const put = (position: number, start: number, bytes: number): true => {
      const view = (texts + position * VIEW_BYTES) >>> 2;
      arena.heap.u32[view] = start;
      arena.heap.u32[view + 1] = bytes;
      return true;
    };
    const isDone = yield* this.#each(expression, at, target, (position, value) => {
      if (value === null) return put(position, 0, 0);
      if (typeof value !== 'string' || value.length > TEXT_BYTES_MAX) return put(position, UNKNOWN_TEXT, 0);
      if (!arena.hasSpaceFor(value)) return false;
      const start = arena.next;
      const bytes = arena.write(value);
      return bytes > TEXT_BYTES_MAX ? put(position, UNKNOWN_TEXT, 0) : put(position, start, bytes);
    });
    return isDone ? texts : FULL;
  }

  /** Fills a vector of numbers. */
  *numbers(expression: CheckedExpression, at: VectorRows, target: StatesTarget, vector: number): Sliced<void> {
    const { heap } = this.#context.arena;
    const word = (offset: number): number => heap.u32[(vector + offset) >>> 2]!;
    const [values, marks, scales] = [word(VECTOR_VALUES), word(VECTOR_MARKS), word(VECTOR_SCALES)];
    yield* this.#each(expression, at, target, (position, value) => {
      heap.u8[marks + position] = value === null ? NULL : 0;
      const place = (values >>> 3) + position;
      if (typeof value === 'number') heap.f64[place] = value;
      else if (value instanceof CalendarDate) heap.f64[place] = value.days;
      else if (value instanceof Decimal && typeof value.digits === 'number' && isShort(value.scale)) {
        heap.i64[place] = BigInt(value.digits);
        heap.u8[scales + position] = value.scale;
      } else if (value !== null) heap.u8[marks + position] = UNKNOWN;
      return true;
    });
  }

  /** Combines states with those of the target. */
  *states(expression: CheckedExpression, at: VectorRows, target: StatesTarget): Sliced<void> {
    const { arena, kernel } = this.#context;
    const isSet = target.mode === SET;
    const states = isSet ? target.states : arena.take(at.count);
    yield* this.#each(expression, at, isSet ? { states: 0, mode: SET } : target, (position, value) => {
      arena.heap.u8[states + position] =
        value === null ? NULL : typeof value !== 'boolean' ? UNKNOWN : value ? TRUE : FALSE;
      return true;
    });
    if (!isSet) kernel.exports.combineStates(target.states, states, at.count, target.mode);
  }

  /** Returns false if `put` has no space. */
  *#each(
    expression: CheckedExpression,
    { batch, rows, count }: VectorRows,
    target: StatesTarget,
    put: Put,
  ): Sliced<boolean> {
    const { arena, clock } = this.#context;
    const closures = this.#closures.get(expression)!;
    closures.bind(batch);
    const settled = target.mode === SET ? -1 : target.mode - 1;
    const mask = checkMask(count);
    for (let position = 0; position < count; position++) {
      const { u8, u32 } = arena.heap;
      const isOpen = settled < 0 || u8[target.states + position] !== settled;
      const value = isOpen ? closures.value(u32[(rows >>> 2) + position]!) : null;
      // No kind of vector has this value. The row stays unknown, and is computed as a whole and in slices later.
      if (value === UNFINISHED) closures.giveUp();
      if (!put(position, value)) return false;
      if ((position & mask) === 0 && clock.isDue()) yield PAUSE;
    }
    return true;
  }
}

/** True if vectors can represent this number of decimal places. */
function isShort(scale: number): boolean {
  return scale >= 0 && scale <= META_SCALE_MAX;
}

// Evaluates plans of numbers and dates with kernels (kernel/assembly/number-vectors.ts).

class NumberEvaluator {
  readonly #context: ExpressionContext;
  readonly #evaluators: Evaluators;

  constructor(context: ExpressionContext, evaluators: Evaluators) {
    this.#context = context;
    this.#evaluators = evaluators;
  }

  /**
   * Returns the address of the vector of a plan, or a negative code. Positions that the target has already decided may
   * have any result.
   */
  *vector(plan: NumberPlan, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { exports } = this.#context.kernel;
    switch (plan.kind) {
      case 'constant':
        return this.#constant(plan.value);
      case 'column':
        return this.#column(plan.column, VECTOR_FORMS[plan.form], at);
      case 'computed': {
        const vector = this.#newVector(at.count);
        yield* this.#evaluators.computed.numbers(plan.expression, at, target, vector);
        return vector;
      }
      case 'parsed':
        return yield* this.#parsed(plan, at, target);
      case 'size': {
        const source = yield* this.#evaluators.texts.source(plan.text, at, target);
        if (typeof source === 'number') return source;
        const vector = this.#newVector(at.count);
        exports.sizeTexts(source.views, source.rows, at.count, vector);
        return vector;
      }
      case 'similarity':
        return yield* this.#similarity(plan, at, target);
      case 'date_part': {
        const dates = yield* this.vector(plan.date, at, target);
        if (dates < 0) return dates;
        const vector = this.#newVector(at.count);
        exports.dateParts(dates, DATE_PARTS[plan.part], vector, at.count);
        return vector;
      }
      case 'calculated': {
        const left = yield* this.vector(plan.left, at, target);
        const right = left < 0 ? left : yield* this.vector(plan.right, at, target);
        if (right < 0) return right;
        const vector = this.#newVector(at.count);
        exports.calculate(VECTOR_FORMS[plan.form], ARITHMETIC[plan.operator], left, right, vector, at.count);
        return vector;
      }
      case 'extreme': {
        const left = yield* this.vector(plan.left, at, target);
        const right = left < 0 ? left : yield* this.vector(plan.right, at, target);
        if (right < 0) return right;
        const vector = this.#newVector(at.count);
        exports.extremeNumbers(VECTOR_FORMS[plan.form], plan.greatest ? 1 : 0, left, right, vector, at.count);
        return vector;
      }
      case 'converted':
      case 'rounded': {
        const number = yield* this.vector(plan.number, at, target);
        if (number < 0) return number;
        const vector = this.#newVector(at.count);
        if (plan.kind === 'converted') exports.toDecimals(number, vector, at.count);
        else exports.roundVector(number, plan.scale, HALF_UP, vector, at.count);
        return vector;
      }
      case 'first':
        return yield* this.#first(plan.numbers, at, target);
      case 'choice': {
        const parts = yield* this.#evaluators.branches(plan, at, (part, masked) => this.vector(part, at, masked));
        if (typeof parts === 'number') return parts;
        const vector = this.#newVector(at.count);
        exports.chooseNumbers(parts.states, at.count, parts.chosen, parts.otherwise, vector);
        return vector;
      }
    }
  }

  *#parsed(plan: { form: NumberPlan['form']; text: TextPlan }, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { exports } = this.#context.kernel;
    const source = yield* this.#evaluators.texts.tested(plan.text, at, target);
    if (typeof source === 'number') return source;
    const { views, rows } = source;
    const vector = this.#newVector(at.count);
    if (plan.form === 'date') exports.parseDays(views, rows, at.count, vector);
    else exports.parseNumbers(views, rows, at.count, VECTOR_FORMS[plan.form], vector, target.states, target.mode);
    return vector;
  }

  *#similarity(plan: { left: TextPlan; right: TextPlan }, at: VectorRows, target: StatesTarget): Sliced<number> {
    const left = yield* this.#evaluators.texts.source(plan.left, at, target);
    if (typeof left === 'number') return left;
    const right = yield* this.#evaluators.texts.source(plan.right, at, target);
    if (typeof right === 'number') return right;
    const vector = this.#newVector(at.count);
    const { compareSimilarity } = this.#context.kernel.exports;
    const { views, rows } = left;
    const isDone = compareSimilarity(views, rows, right.views, right.rows, at.count, vector, COMPARED_LENGTH_MAX);
    return isDone === 0 ? UNSUPPORTED : vector;
  }

  *#first(plans: readonly NumberPlan[], at: VectorRows, target: StatesTarget): Sliced<number> {
    const vector = this.#newVector(at.count);
    for (const [index, plan] of plans.entries()) {
      const others = yield* this.vector(plan, at, target);
      if (others < 0) return others;
      this.#context.kernel.exports.fillNumbers(vector, others, at.count, index === 0 ? 1 : 0);
    }
    return vector;
  }

  #column(name: string, form: number, { batch, rows, count }: VectorRows): number {
    const column = batch.columns[this.#evaluators.indexOf(name)]!;
    if (column.kind !== 'typed') return UNSUPPORTED;
    const vector = this.#newVector(count);
    this.#context.kernel.exports.loadNumbers(column.at, column.meta, rows, count, form, vector);
    return vector;
  }

  #constant(value: number | Decimal): number {
    const vector = this.#newVector(1);
    const { u8, u32, i64, f64 } = this.#context.arena.heap;
    const values = u32[(vector + VECTOR_VALUES) >>> 2]!;
    if (value instanceof Decimal) i64[values >>> 3] = BigInt(value.digits);
    else f64[values >>> 3] = value;
    u8[u32[(vector + VECTOR_MARKS) >>> 2]!] = 0;
    u8[u32[(vector + VECTOR_SCALES) >>> 2]!] = value instanceof Decimal ? value.scale : 0;
    u32[(vector + VECTOR_STEP_BYTES) >>> 2] = 0;
    return vector;
  }

  #newVector(count: number): number {
    const { arena } = this.#context;
    const vector = arena.take(VECTOR_BYTES);
    const [values, marks, scales] = [arena.take(count * 8), arena.take(count), arena.take(count)];
    const { u32 } = arena.heap;
    u32[(vector + VECTOR_VALUES) >>> 2] = values;
    u32[(vector + VECTOR_MARKS) >>> 2] = marks;
    u32[(vector + VECTOR_SCALES) >>> 2] = scales;
    u32[(vector + VECTOR_STEP_BYTES) >>> 2] = 8;
    return vector;
  }
}

// The fast evaluator of expressions: runs a plan (vector-plan.ts) over the rows of a list with kernels. Its scratch
// memory is in the arena, and the caller releases it.

export class ExpressionEvaluator implements Evaluators {
  readonly computed: ClosureEvaluator;
  readonly texts: TextEvaluator;
  readonly numbers: NumberEvaluator;
  readonly states: StateEvaluator;
  readonly #indices: ReadonlyMap<string, number>;

  /** @param columns columns of the batches */
  constructor(columns: Schema, context: ExpressionContext, plan: AnyPlan) {
    this.#indices = new Map(columns.map(({ name }, index) => [name, index]));
    this.computed = new ClosureEvaluator(columns, context, plan);
    this.texts = new TextEvaluator(context, this);
    this.numbers = new NumberEvaluator(context, this);
    this.states = new StateEvaluator(context, this);
    this.#prepare(plan);
  }

  /**
   * Computes the states of a condition and the result of each branch. Rows that do not take a branch may have any
   * result there.
   */
  *branches<Plan, Made extends number | object>(
    { condition, then, otherwise }: Branches<Plan>,
    at: VectorRows,
    make: (plan: Plan, target: StatesTarget) => Sliced<Made | number>,
  ): Sliced<Chosen<Made> | number> {
    const states = yield* this.states.fresh(condition, at);
    if (states < 0) return states;
    const first = yield* make(then, { states, mode: STATES.and });
    if (isCode(first)) return first;
    const second = yield* make(otherwise, { states, mode: STATES.or });
    return isCode(second) ? second : { states, chosen: first as Made, otherwise: second as Made };
  }

  indexOf(column: string): number {
    const index = this.#indices.get(column);
    if (index === undefined) throw new Error('a checked expression names a column that is not there');
    return index;
  }

  /** Returns the views of a text column, or 0 if it has no views. */
  viewsOf(column: string, batch: Batch): number {
    const index = this.indexOf(column);
    return batch.columns[index]!.kind === 'typed' ? 0 : batch.views(index);
  }

  #prepare(plan: AnyPlan): void {
    this.texts.prepare(plan);
    this.states.prepare(plan);
    for (const part of partsOf(plan)) this.#prepare(part);
  }
}

function isCode(made: number | object): made is number {
  return typeof made === 'number' && made < 0;
}
