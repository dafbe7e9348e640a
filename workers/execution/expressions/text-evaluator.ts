// Evaluates plans of texts with kernels (kernel/assembly/text-vector.ts).
import { VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { UNKNOWN_TEXT } from '../../kernel/layout/expressions.ts';
import type { Sliced } from '../../scheduling/time-slices.ts';
import { MATCHER_ROWS_LEAST, PatternMatcher, placePattern } from '../cells/pattern-matcher.ts';
import { chainScratchBytes, placeBytes, type TextStep, textChainInSlices } from '../cells/text-chain.ts';
import type { ExpressionContext } from './row-expression.ts';
import {
  ALL_OPEN,
  type AnyPlan,
  type Evaluators,
  FULL,
  type StatesTarget,
  type TextPlan,
  type TextSource,
  UNSUPPORTED,
  type VectorRows,
} from './vector-plan.ts';

/** Means "to the end" of a slice. */
const TO_END = 0xffffffff;

export class TextEvaluator {
  readonly #context: ExpressionContext;
  readonly #evaluators: Evaluators;
  /** Views of texts of the Template, by text. */
  readonly #placed = new Map<string, number>();
  readonly #programs = new Map<AnyPlan, number>();
  readonly #steps = new Map<AnyPlan, TextStep>();
  /** null if a pattern does not permit an automaton. */
  readonly #matchers = new Map<AnyPlan, PatternMatcher | null>();

  constructor(context: ExpressionContext, evaluators: Evaluators) {
    this.#context = context;
    this.#evaluators = evaluators;
  }

  /** Copies what the plan needs into memory. */
  prepare(plan: AnyPlan): void {
    if (plan.kind === 'literal') this.#place(plan.text);
    if (plan.kind === 'split' || plan.kind === 'present') this.#place(plan.separator);
    if (plan.kind === 'found') this.#programs.set(plan, placePattern(this.#context.arena.heap, plan.pattern, [], 1));
    if (plan.kind === 'formatted') this.#programs.set(plan, plan.place(this.#context.arena.heap));
    if (plan.kind === 'edited') this.#steps.set(plan, plan.step(this.#context.arena.heap));
  }

  /** Returns the texts for tests, which check the length themselves. Returns a negative code on failure. */
  *tested(plan: TextPlan, at: VectorRows, target: StatesTarget): Sliced<TextSource | number> {
    if (plan.kind !== 'column') return yield* this.source(plan, at, target);
    const views = this.#evaluators.viewsOf(plan.column, at.batch);
    return views === 0 ? UNSUPPORTED : { views, rows: at.rows };
  }

  /** Returns the texts of a plan. Positions that the target has already decided may have any result. */
  *source(plan: TextPlan, at: VectorRows, target: StatesTarget): Sliced<TextSource | number> {
    if (plan.kind === 'literal') return { views: this.#place(plan.text), rows: this.#rows(at.count, 0) };
    const texts = yield* this.vector(plan, at, target);
    return texts < 0 ? texts : { views: texts, rows: this.#rows(at.count, 1) };
  }

  /** Returns the address of a vector of texts, or a negative code. */
  *vector(plan: TextPlan, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { kernel } = this.#context;
    switch (plan.kind) {
      case 'computed':
        return yield* this.#evaluators.computed.texts(plan.expression, at, target);
      case 'joined':
      case 'present':
        return yield* this.#joined(plan, at, target);
      case 'edited':
        return yield* this.#edited(plan, at, target);
      case 'written': {
        const number = yield* this.#evaluators.numbers.vector(plan.number, at, target);
        if (number < 0) return number;
        const { arena } = this.#context;
        const texts = this.#newTexts(at.count);
        const form = VECTOR_FORMS[plan.number.form];
        const isDate = plan.number.form === 'date' ? 1 : 0;
        const { writeVector } = kernel.exports;
        return this.#moved(texts, writeVector(form, isDate, number, at.count, texts, arena.next, arena.limit));
      }
      case 'formatted': {
        const dates = yield* this.#evaluators.numbers.vector(plan.date, at, target);
        if (dates < 0) return dates;
        const { arena } = this.#context;
        const texts = this.#newTexts(at.count);
        const program = this.#programs.get(plan)!;
        const { formatDates } = kernel.exports;
        return this.#moved(texts, formatDates(dates, at.count, program, texts, arena.next, arena.limit));
      }
      case 'found':
        return yield* this.#found(plan, at, target);
      case 'matched':
        return yield* this.#matched(plan, at, target);
      case 'first': {
        const texts = this.#newTexts(at.count);
        this.#context.arena.heap.u8.fill(0, texts, texts + at.count * VIEW_BYTES);
        for (const part of plan.texts) {
          const source = yield* this.source(part, at, target);
          if (typeof source === 'number') return source;
          kernel.exports.fillTexts(texts, source.views, source.rows, at.count);
        }
        return texts;
      }
      case 'choice': {
        const parts = yield* this.#evaluators.branches(plan, at, (part, masked) => this.source(part, at, masked));
        if (typeof parts === 'number') return parts;
        const { states, chosen, otherwise } = parts;
        const texts = this.#newTexts(at.count);
        kernel.exports.chooseTexts(states, at.count, chosen.views, chosen.rows, otherwise.views, otherwise.rows, texts);
        return texts;
      }
      case 'column':
      case 'literal':
        return yield* this.#gathered(plan, at, target);
      default:
        return yield* this.#cut(plan, at, target);
    }
  }

  *#gathered(plan: TextPlan, at: VectorRows, { states, mode }: StatesTarget): Sliced<number> {
    const source = yield* plan.kind === 'column' ? this.tested(plan, at, ALL_OPEN) : this.source(plan, at, ALL_OPEN);
    if (typeof source === 'number') return source;
    const texts = this.#newTexts(at.count);
    this.#context.kernel.exports.gatherTexts(source.views, source.rows, at.count, states, mode, texts);
    return texts;
  }

  *#cut(
    plan: Extract<TextPlan, { kind: 'cut' | 'slice' | 'split' }>,
    at: VectorRows,
    target: StatesTarget,
  ): Sliced<number> {
    const source = yield* this.source(plan.text, at, target);
    if (typeof source === 'number') return source;
    const { exports } = this.#context.kernel;
    const { views, rows } = source;
    const texts = this.#newTexts(at.count);
    if (plan.kind === 'cut') exports.cutTexts(views, rows, at.count, plan.length, plan.fromEnd ? 1 : 0, texts);
    else if (plan.kind === 'slice') exports.sliceTexts(views, rows, at.count, plan.from, plan.to ?? TO_END, texts);
    else {
      const { u32 } = this.#context.arena.heap;
      const separator = this.#place(plan.separator) >>> 2;
      exports.splitTexts(views, rows, at.count, u32[separator]!, u32[separator + 1]!, plan.number, texts);
    }
    return texts;
  }

  *#joined(
    plan: Extract<TextPlan, { kind: 'joined' | 'present' }>,
    at: VectorRows,
    target: StatesTarget,
  ): Sliced<number> {
    const { arena, kernel } = this.#context;
    const sources: TextSource[] = [];
    for (const part of plan.texts) {
      const source = yield* this.source(part, at, target);
      if (typeof source === 'number') return source;
      sources.push(source);
    }
    const list = arena.take(sources.length * 8);
    arena.heap.u32.set(
      sources.flatMap(({ views, rows }) => [views, rows]),
      list >>> 2,
    );
    const texts = this.#newTexts(at.count);
    const { joinPresent, joinTexts } = kernel.exports;
    if (plan.kind === 'joined')
      return this.#moved(texts, joinTexts(list, sources.length, at.count, texts, arena.next, arena.limit));
    const separator = this.#place(plan.separator) >>> 2;
    const [between, bytes] = [arena.heap.u32[separator]!, arena.heap.u32[separator + 1]!];
    const { next, limit } = arena;
    return this.#moved(texts, joinPresent(list, sources.length, at.count, between, bytes, texts, next, limit));
  }

  /** Returns `texts` after setting the arena to a kernel's next free address, which is 0 if the arena is full. */
  #moved(texts: number, next: number): number {
    if (next === 0) return FULL;
    this.#context.arena.next = next >>> 0;
    return texts;
  }

  /** Texts that the pattern kernel does not support become unknown. */
  *#found(plan: Extract<TextPlan, { kind: 'found' }>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { arena, kernel } = this.#context;
    const program = this.#programs.get(plan)!;
    if (program === 0) return UNSUPPORTED;
    const texts = yield* this.vector(plan.text, at, target);
    if (texts < 0) return texts;
    const list = arena.take(at.count * 4);
    const todo = arena.take((at.count + 1) * 4);
    const count = kernel.exports.listTexts(texts, at.count, list);
    // From here on, the vector contains the results. null and unknown stay unchanged.
    kernel.exports.findPattern(texts, list, count, program, plan.from, plan.to, 0, texts, todo);
    const { u32 } = arena.heap;
    const back = u32[todo >>> 2]!;
    for (let i = 1; i <= back; i++) u32[(texts >>> 2) + u32[(todo >>> 2) + i]! * 2] = UNKNOWN_TEXT;
    return texts;
  }

  /** Same as #found, with an automaton and two passes over each text. */
  *#matched(plan: Extract<TextPlan, { kind: 'matched' }>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { arena, kernel, clock } = this.#context;
    const matcher = this.#matcherOf(plan, at.count);
    if (matcher === null) return yield* this.vector(plan.otherwise, at, target);
    const texts = yield* this.vector(plan.text, at, target);
    if (texts < 0) return texts;
    const list = arena.take(at.count * 4);
    const todo = arena.take((at.count + 1) * 4);
    arena.heap.u32[todo >>> 2] = 0;
    const count = kernel.exports.listTexts(texts, at.count, list);
    const { machine, wanted } = matcher;
    yield* matcher.drive(count, clock, (from) =>
      kernel.exports.findCaptures(texts, list, count, from, machine, wanted, 1, 1, 0, texts, 0, todo),
    );
    const { u32 } = arena.heap;
    const back = u32[todo >>> 2]!;
    for (let i = 1; i <= back; i++) u32[(texts >>> 2) + u32[(todo >>> 2) + i]! * 2] = UNKNOWN_TEXT;
    return texts;
  }

  /** Returns null if an automaton is not worthwhile. */
  #matcherOf(plan: Extract<TextPlan, { kind: 'matched' }>, count: number): PatternMatcher | null {
    const known = this.#matchers.get(plan);
    if (known !== undefined || count < MATCHER_ROWS_LEAST) return known ?? null;
    const matcher = PatternMatcher.of(this.#context.arena.heap, plan.pattern, [plan.group], 'group');
    this.#matchers.set(plan, matcher);
    return matcher;
  }

  /** Edits the texts in place. Texts that the kernel leaves are edited as strings. */
  *#edited(plan: Extract<TextPlan, { kind: 'edited' }>, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { arena, kernel, clock } = this.#context;
    const texts = yield* this.vector(plan.text, at, target);
    if (texts < 0) return texts;
    const rows = arena.tryTake(chainScratchBytes(at.count));
    if (rows === 0) return FULL;
    const count = kernel.exports.listTexts(texts, at.count, rows);
    const column = { views: texts, rows, count };
    if (!(yield* textChainInSlices([this.#steps.get(plan)!], kernel, arena, column, clock))) return FULL;
    kernel.exports.dropLongTexts(texts, at.count);
    return texts;
  }

  #newTexts(count: number): number {
    return this.#context.arena.take(count * VIEW_BYTES);
  }

  #rows(count: number, step: number): number {
    const rows = this.#context.arena.take(count * 4);
    this.#context.kernel.exports.fillRows(rows, count, step);
    return rows;
  }

  /** Returns the address of a view of a text of the Template. */
  #place(text: string): number {
    const known = this.#placed.get(text);
    if (known !== undefined) return known;
    const { heap } = this.#context.arena;
    const bytes = Buffer.from(text);
    // An empty text also needs an address.
    const { at } = placeBytes(heap, bytes);
    const view = heap.allocate(VIEW_BYTES);
    heap.u32.set([at, bytes.length], view >>> 2);
    this.#placed.set(text, view);
    return view;
  }
}
