// Evaluates plans of conditions with kernels, including searches for patterns.
import { ByteAutomaton, byteProgram, STATE_DEAD, STATE_MATCHED } from '../../expression/patterns/byte-automaton.ts';
import { patternProgram } from '../../expression/patterns/regular-expression.ts';
import { ORDERS, STATES, TEXT_TESTS, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import {
  AUTOMATON_HEAD_BYTES,
  CLASSES,
  DEAD,
  END_CLASS,
  MATCHED,
  MISSING_CLASS,
  MISSING_STATE,
  START,
  TOO_MANY,
  UNBUILT,
} from '../../kernel/layout/patterns.ts';
import { PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { placeBytes } from '../cells/text-chain.ts';
import type { ExpressionContext } from './row-expression.ts';
import {
  type AnyPlan,
  type Evaluators,
  type StatePlan,
  type StatesTarget,
  type TextSource,
  UNSUPPORTED,
  type VectorRows,
} from './vector-plan.ts';

// Searches cells for a pattern with a kernel. The states of the automaton are built as cells need them, as a table in
// the Run's memory.

/** Maximum memory for the states of one pattern. The largest typical patterns need a tenth. */
const TABLE_BYTES_MAX = 262_144;

/** Growth of the table in bytes. */
const BLOCK_BYTES = 16_384;

export type SearchContext = Pick<OperatorContext, 'arena' | 'kernel' | 'clock'>;

class PatternSearch {
  readonly #context: SearchContext;
  readonly #automaton: ByteAutomaton;
  readonly #head: number;
  readonly #rowBytes: number;
  /** Address of each state's row, and the state of each address. */
  readonly #rows = new Map<number, number>();
  readonly #states = new Map<number, number>();
  #next = 0;
  #end = 0;
  #left = TABLE_BYTES_MAX;

  /** Returns null if the pattern does not permit an automaton. */
  static of(context: SearchContext, pattern: string): PatternSearch | null {
    const program = patternProgram(pattern);
    const bytes = program === null ? null : byteProgram(program);
    return bytes === null ? null : new PatternSearch(context, new ByteAutomaton(bytes));
  }

  private constructor(context: SearchContext, automaton: ByteAutomaton) {
    const { heap } = context.arena;
    this.#context = context;
    this.#automaton = automaton;
    this.#rowBytes = (automaton.endClass + 1) * 4;
    const classes = placeBytes(heap, automaton.classes).at;
    this.#head = heap.allocate(AUTOMATON_HEAD_BYTES);
    this.#put(this.#head + CLASSES, classes);
    this.#put(this.#head + END_CLASS, automaton.endClass);
    this.#put(this.#head + START, this.#entry(automaton.start));
  }

  /**
   * Combines the states of the target with whether each of `count` texts matches. null gives null; long texts are
   * unknown.
   */
  *match({ views, rows }: TextSource, count: number, { states, mode }: StatesTarget): Sliced<void> {
    const { kernel, clock } = this.#context;
    for (let from = 0; ; ) {
      from = kernel.exports.matchPattern(this.#head, views, rows, count, from, states, mode);
      if (from >= count) return;
      this.#grow();
      if (clock.isDue()) yield PAUSE;
    }
  }

  /** Builds the transition at which the kernel has stopped. */
  #grow(): void {
    const { u32 } = this.#context.arena.heap;
    const row = u32[(this.#head + MISSING_STATE) >>> 2]!;
    const byClass = u32[(this.#head + MISSING_CLASS) >>> 2]!;
    const next = this.#automaton.next(this.#states.get(row)!, byClass);
    this.#put(row + byClass * 4, next === null ? TOO_MANY : this.#entry(next));
  }

  /** Returns the table entry of a state. */
  #entry(state: number): number {
    if (state === STATE_DEAD) return DEAD;
    if (state === STATE_MATCHED) return MATCHED;
    const known = this.#rows.get(state) ?? this.#newRow();
    if (known === 0) return TOO_MANY;
    this.#rows.set(state, known);
    this.#states.set(known, state);
    return known;
  }

  /** Allocates a row without transitions. Returns 0 if there is no space. */
  #newRow(): number {
    const { heap } = this.#context.arena;
    if (this.#next + this.#rowBytes > this.#end) {
      const bytes = Math.max(BLOCK_BYTES, this.#rowBytes);
      const block = this.#left < bytes ? 0 : heap.tryAllocate(bytes);
      if (block === 0) return 0;
      this.#left -= bytes;
      this.#next = block;
      this.#end = block + bytes;
    }
    const row = this.#next;
    this.#next += this.#rowBytes;
    heap.u32.fill(UNBUILT, row >>> 2, this.#next >>> 2);
    return row;
  }

  #put(at: number, value: number): void {
    this.#context.arena.heap.u32[at >>> 2] = value;
  }
}

// Evaluates plans of conditions with kernels (kernel/assembly/states.ts).

/** Bytes after a list of states that kernels may overwrite. */
const STATES_PADDING_BYTES = 16;

/** Minimum number of rows for which an automaton is worthwhile: the first one of a thread takes 10 ms. */
const SEARCHED_ROWS_LEAST = 512;

/** Success. Other codes are negative. */
const GOOD = 0;

type PlanOf<Kind> = Extract<StatePlan, { kind: Kind }>;

export class StateEvaluator {
  readonly #context: ExpressionContext;
  readonly #evaluators: Evaluators;
  /** Texts of the Template (u32 address and length each), by the plan that compares with them. */
  readonly #placed = new Map<AnyPlan, number>();
  /** null if a pattern does not permit an automaton. */
  readonly #searches = new Map<string, PatternSearch | null>();

  constructor(context: ExpressionContext, evaluators: Evaluators) {
    this.#context = context;
    this.#evaluators = evaluators;
  }

  /** Copies what the plan needs into memory. */
  prepare(plan: AnyPlan): void {
    if (plan.kind === 'text') this.#placed.set(plan, this.#place(plan.texts));
  }

  /** Returns the address of the states of a condition, one byte per position, or a negative code. */
  *fresh(plan: StatePlan, at: VectorRows): Sliced<number> {
    const states = this.#newStates(at);
    const code = yield* this.#run(plan, at, { states, mode: STATES.set });
    return code < 0 ? code : states;
  }

  *#run(plan: StatePlan, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { states, mode } = target;
    switch (plan.kind) {
      case 'computed':
        yield* this.#evaluators.computed.states(plan.expression, at, target);
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
        const views = this.#evaluators.viewsOf(plan.column, at.batch);
        if (views === 0) return UNSUPPORTED;
        this.#context.kernel.exports.matchLength(views, at.rows, at.count, plan.least, plan.most, states, mode);
        return GOOD;
      }
      case 'boolean': {
        const column = at.batch.columns[this.#evaluators.indexOf(plan.column)]!;
        if (column.kind !== 'typed') return UNSUPPORTED;
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

  /** Computes separate states and combines them with those of the target. */
  *#apart(plan: StatePlan, at: VectorRows, { states, mode }: StatesTarget): Sliced<number> {
    const others = yield* this.fresh(plan, at);
    if (others < 0) return others;
    this.#context.kernel.exports.combineStates(states, others, at.count, mode);
    return GOOD;
  }

  *#text(plan: PlanOf<'text' | 'blank'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const source = yield* this.#evaluators.texts.tested(plan.text, at, target);
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
    const left = yield* this.#evaluators.texts.tested(plan.left, at, target);
    if (typeof left === 'number') return left;
    const right = yield* this.#evaluators.texts.tested(plan.right, at, target);
    if (typeof right === 'number') return right;
    const { states, mode } = target;
    const [test, negate] = [TEXT_TESTS[plan.test], plan.negate ? 1 : 0];
    const { compareTexts } = this.#context.kernel.exports;
    compareTexts(left.views, left.rows, right.views, right.rows, at.count, test, negate, states, mode);
    return GOOD;
  }

  *#pattern({ text, pattern }: PlanOf<'pattern'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    if (at.count < SEARCHED_ROWS_LEAST && !this.#searches.has(pattern)) return UNSUPPORTED;
    const search = this.#searches.get(pattern) ?? PatternSearch.of(this.#context, pattern);
    this.#searches.set(pattern, search);
    if (search === null) return UNSUPPORTED;
    const source = yield* this.#evaluators.texts.tested(text, at, target);
    if (typeof source === 'number') return source;
    yield* search.match(source, at.count, target);
    return GOOD;
  }

  *#compared(plan: PlanOf<'compared'>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const left = yield* this.#evaluators.numbers.vector(plan.left, at, target);
    const right = left < 0 ? left : yield* this.#evaluators.numbers.vector(plan.right, at, target);
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
