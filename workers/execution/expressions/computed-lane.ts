// Vectors of nodes that no kernel knows: the closures of each node alone, row by row. Where one is an error, or gives what no
// vector holds, it is unknown, and the closures of the whole expression decide.
import type { Schema } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { META_SCALE_MAX, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  FALSE,
  NULL,
  SET,
  TEXT_BYTES_MAX,
  TRUE,
  UNKNOWN,
  UNKNOWN_TEXT,
  VECTOR_MARKS,
  VECTOR_SCALES,
  VECTOR_VALUES,
} from '../../kernel/layout/expressions.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import { CalendarDate } from '../../values/calendar.ts';
import { Decimal } from '../../values/decimal.ts';
import { FULL, type StatesTarget, type VectorRows } from './lane.ts';
import { type ExpressionContext, RowExpression } from './row-expression.ts';
import { type AnyPlan, computedIn } from './vector-plan.ts';

/**
 * Steps (STEPS_MAX) that these nodes may take of an evaluation together, so that none passes that is too long as a whole: what the kernels
 * do of one never takes more than the rest, as they leave long texts alone.
 */
const STEPS_MAX = 30_000;

type Put = (position: number, value: unknown) => boolean;

export class ComputedLane {
  readonly #context: ExpressionContext;
  readonly #closures = new Map<CheckedExpression, RowExpression>();

  constructor(columns: Schema, context: ExpressionContext, plan: AnyPlan) {
    this.#context = context;
    const expressions = computedIn(plan);
    const steps = Math.floor(STEPS_MAX / expressions.length);
    for (const expression of expressions) {
      this.#closures.set(expression, new RowExpression(expression, columns, context, undefined, steps));
    }
  }

  /** Address of a vector of texts, or a code below zero. */
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
      if (!arena.hasRoomFor(value)) return false;
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

  /** Puts states to the target's. */
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

  /** False when `put` has no room. */
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
    for (let position = 0; position < count; position++) {
      const { u8, u32 } = arena.heap;
      const isOpen = settled < 0 || u8[target.states + position] !== settled;
      const value = isOpen ? closures.value(u32[(rows >>> 2) + position]!) : null;
      if (!put(position, value)) return false;
      if ((position & LOOK_MASK) === 0 && clock.isDue()) yield PAUSE;
    }
    return true;
  }
}

/** Digits behind the point as vectors hold them. */
function isShort(scale: number): boolean {
  return scale >= 0 && scale <= META_SCALE_MAX;
}
