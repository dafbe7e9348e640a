// States of conditions: runs their plans by kernels (kernel/assembly/states.ts).
import { ORDERS, STATES, TEXT_TESTS, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import type { Sliced } from '../../run/time-slices.ts';
import { placeBytes } from '../cells/placed-text.ts';
import { type Lane, NOT_HERE, type StatesTarget, type VectorRows } from './lane.ts';
import { PatternSearch } from './pattern-search.ts';
import type { ExpressionContext } from './row-expression.ts';
import type { AnyPlan, StatePlan } from './vector-plan.ts';

/** Bytes that kernels may touch behind a list of states. */
const STATES_PADDING_BYTES = 16;

/** Fewer rows do not pay for an automaton: with the first one of a thread that takes 10 ms. */
const SEARCHED_ROWS_LEAST = 512;

/** Nothing went wrong; else a code below zero. */
const GOOD = 0;

type PlanOf<Kind> = Extract<StatePlan, { kind: Kind }>;

export class StateLane {
  readonly #context: ExpressionContext;
  readonly #lane: Lane;
  /** Texts of the Template, u32 address and length of each, by the plan that compares with them. */
  readonly #placed = new Map<AnyPlan, number>();
  /** Null where a pattern is not for an automaton. */
  readonly #searches = new Map<string, PatternSearch | null>();

  constructor(context: ExpressionContext, lane: Lane) {
    this.#context = context;
    this.#lane = lane;
  }

  /** Puts what the plan needs into memory. */
  prepare(plan: AnyPlan): void {
    if (plan.kind === 'text') this.#placed.set(plan, this.#place(plan.texts));
  }

  /** Address of the states of a condition, one byte for each position, or a code below zero. */
  *fresh(plan: StatePlan, at: VectorRows): Sliced<number> {
    const states = this.#newStates(at);
    const code = yield* this.#run(plan, at, { states, mode: STATES.set });
    return code < 0 ? code : states;
  }

  *#run(plan: StatePlan, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { states, mode } = target;
    switch (plan.kind) {
      case 'computed':
        yield* this.#lane.computed.states(plan.expression, at, target);
        return GOOD;
      case 'logical':
        return yield* this.#logical(plan, at, target);
      case 'not':
        return yield* this.#not(plan, at, target);
      case 'text':
      case 'blank':
        return yield* this.#text(plan, at, target);
      case 'texts':
        return yield* this.#texts(plan, at, target);
      case 'pattern':
        return yield* this.#pattern(plan, at, target);
      case 'length': {
        const views = this.#lane.viewsOf(plan.column, at.batch);
        if (views === 0) return NOT_HERE;
        this.#context.kernel.exports.matchLength(views, at.rows, at.count, plan.least, plan.most, states, mode);
        return GOOD;
      }
      case 'boolean': {
        const column = at.batch.columns[this.#lane.indexOf(plan.column)]!;
        if (column.kind !== 'typed') return NOT_HERE;
        this.#context.kernel.exports.loadBooleans(column.meta, at.rows, at.count, states, mode);
        return GOOD;
      }
      case 'compared':
        return yield* this.#compared(plan, at, target);
    }
  }

  *#logical(plan: PlanOf<'logical'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const mode = plan.and ? STATES.and : STATES.or;
    if (target.mode !== STATES.set && target.mode !== mode) return yield* this.#apart(plan, at, target);
    const code = yield* this.#run(plan.left, at, target);
    return code < 0 ? code : yield* this.#run(plan.right, at, { states: target.states, mode });
  }

  *#not(plan: PlanOf<'not'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    if (target.mode !== STATES.set) return yield* this.#apart(plan, at, target);
    const code = yield* this.#run(plan.operand, at, target);
    if (code >= 0) this.#context.kernel.exports.negateStates(target.states, at.count);
    return code;
  }

  /** Computes states of their own and puts them to those of the target. */
  *#apart(plan: StatePlan, at: VectorRows, { states, mode }: StatesTarget): Sliced<number> {
    const others = yield* this.fresh(plan, at);
    if (others < 0) return others;
    this.#context.kernel.exports.combineStates(states, others, at.count, mode);
    return GOOD;
  }

  *#text(plan: PlanOf<'text' | 'blank'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const source = yield* this.#lane.texts.tested(plan.text, at, target);
    if (typeof source === 'number') return source;
    const { exports } = this.#context.kernel;
    const { views, rows } = source;
    const { states, mode } = target;
    if (plan.kind === 'blank') {
      exports.matchBlank(views, rows, at.count, states, mode);
      return GOOD;
    }
    const negate = plan.negate ? 1 : 0;
    const texts = this.#placed.get(plan)!;
    const { length } = plan.texts;
    exports.matchText(views, rows, at.count, TEXT_TESTS[plan.test], texts, length, negate, states, mode);
    return GOOD;
  }

  *#texts(plan: PlanOf<'texts'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const left = yield* this.#lane.texts.tested(plan.left, at, target);
    if (typeof left === 'number') return left;
    const right = yield* this.#lane.texts.tested(plan.right, at, target);
    if (typeof right === 'number') return right;
    const { states, mode } = target;
    const [test, negate] = [TEXT_TESTS[plan.test], plan.negate ? 1 : 0];
    const { compareTexts } = this.#context.kernel.exports;
    compareTexts(left.views, left.rows, right.views, right.rows, at.count, test, negate, states, mode);
    return GOOD;
  }

  *#pattern({ text, pattern }: PlanOf<'pattern'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    if (at.count < SEARCHED_ROWS_LEAST && !this.#searches.has(pattern)) return NOT_HERE;
    const search = this.#searches.get(pattern) ?? PatternSearch.of(this.#context, pattern);
    this.#searches.set(pattern, search);
    if (search === null) return NOT_HERE;
    const source = yield* this.#lane.texts.tested(text, at, target);
    if (typeof source === 'number') return source;
    yield* search.match(source, at.count, target);
    return GOOD;
  }

  *#compared(plan: PlanOf<'compared'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const left = yield* this.#lane.numbers.vector(plan.left, at, target);
    const right = left < 0 ? left : yield* this.#lane.numbers.vector(plan.right, at, target);
    if (right < 0) return right;
    const form = VECTOR_FORMS[plan.left.form];
    const { states, mode } = target;
    const negate = plan.negate ? 1 : 0;
    this.#context.kernel.exports.compareNumbers(
      form,
      ORDERS[plan.operator],
      left,
      right,
      at.count,
      negate,
      states,
      mode,
    );
    return GOOD;
  }

  #newStates({ count }: VectorRows): number {
    return this.#context.arena.take(count + STATES_PADDING_BYTES);
  }

  #place(texts: readonly string[]): number {
    const { heap } = this.#context.arena;
    const placed = texts.map((text) => placeBytes(heap, Buffer.from(text)));
    const list = heap.allocate(Math.max(1, texts.length) * 8);
    heap.u32.set(
      placed.flatMap(({ at, bytes }) => [at, bytes]),
      list >>> 2,
    );
    return list;
  }
}
