// Vectors of numbers and dates: runs their plans by kernels (kernel/assembly/vector.ts).
import { ARITHMETIC, DATE_PARTS, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import {
  VECTOR_BYTES,
  VECTOR_MARKS,
  VECTOR_SCALES,
  VECTOR_STEP_BYTES,
  VECTOR_VALUES,
} from '../../kernel/layout/expressions.ts';
import { HALF_UP } from '../../kernel/layout/numbers.ts';
import type { Sliced } from '../../run/time-slices.ts';
import { Decimal } from '../../values/decimal.ts';
import { COMPARED_LENGTH_MAX } from '../../values/likeness.ts';
import { type Lane, NOT_HERE, type StatesTarget, type VectorRows } from './lane.ts';
import type { ExpressionContext } from './row-expression.ts';
import type { NumberPlan, TextPlan } from './vector-plan.ts';

export class NumberLane {
  readonly #context: ExpressionContext;
  readonly #lane: Lane;

  constructor(context: ExpressionContext, lane: Lane) {
    this.#context = context;
    this.#lane = lane;
  }

  /** Address of the vector of a plan, or a code below zero; what the target has settled need not be known. */
  *vector(plan: NumberPlan, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { exports } = this.#context.kernel;
    switch (plan.kind) {
      case 'constant':
        return this.#constant(plan.value);
      case 'column':
        return this.#column(plan.column, VECTOR_FORMS[plan.form], at);
      case 'computed': {
        const vector = this.#newVector(at.count);
        yield* this.#lane.computed.numbers(plan.expression, at, target, vector);
        return vector;
      }
      case 'parsed':
        return yield* this.#parsed(plan, at, target);
      case 'size': {
        const source = yield* this.#lane.texts.source(plan.text, at, target);
        if (typeof source === 'number') return source;
        const vector = this.#newVector(at.count);
        exports.sizeTexts(source.views, source.rows, at.count, vector);
        return vector;
      }
      case 'likeness':
        return yield* this.#likeness(plan, at, target);
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
        const parts = yield* this.#lane.branches(plan, at, (part, masked) => this.vector(part, at, masked));
        if (typeof parts === 'number') return parts;
        const vector = this.#newVector(at.count);
        exports.chooseNumbers(parts.states, at.count, parts.chosen, parts.otherwise, vector);
        return vector;
      }
    }
  }

  *#parsed(plan: { form: NumberPlan['form']; text: TextPlan }, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { exports } = this.#context.kernel;
    const source = yield* this.#lane.texts.tested(plan.text, at, target);
    if (typeof source === 'number') return source;
    const { views, rows } = source;
    const vector = this.#newVector(at.count);
    if (plan.form === 'date') exports.parseDays(views, rows, at.count, vector);
    else exports.parseNumbers(views, rows, at.count, VECTOR_FORMS[plan.form], vector, target.states, target.mode);
    return vector;
  }

  *#likeness(plan: { left: TextPlan; right: TextPlan }, at: VectorRows, target: StatesTarget): Sliced<number> {
    const left = yield* this.#lane.texts.source(plan.left, at, target);
    if (typeof left === 'number') return left;
    const right = yield* this.#lane.texts.source(plan.right, at, target);
    if (typeof right === 'number') return right;
    const vector = this.#newVector(at.count);
    const { compareLikeness } = this.#context.kernel.exports;
    const { views, rows } = left;
    const isDone = compareLikeness(views, rows, right.views, right.rows, at.count, vector, COMPARED_LENGTH_MAX);
    return isDone === 0 ? NOT_HERE : vector;
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
    const column = batch.columns[this.#lane.indexOf(name)]!;
    if (column.kind !== 'typed') return NOT_HERE;
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
