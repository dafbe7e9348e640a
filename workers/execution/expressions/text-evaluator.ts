// Evaluates plans of texts with kernels (kernel/assembly/text-vector.ts).
import { VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { NULL, UNKNOWN_TEXT, VECTOR_MARKS, VECTOR_VALUES } from '../../kernel/layout/expressions.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Sliced } from '../../scheduling/time-slices.ts';
import type { DatePattern } from '../../values/date-pattern.ts';
import { MATCHER_ROWS_LEAST, PatternMatcher, placePattern } from '../cells/pattern-matcher.ts';
import { chainScratchBytes, placeBytes, type TextStep, textChainInSlices } from '../cells/text-chain.ts';
import type { ExpressionContext } from './row-expression.ts';
import {
  ALL_OPEN,
  type AnyPlan,
  type Evaluators,
  FULL,
  type NumberPlan,
  type StatesTarget,
  type TextPlan,
  type TextSource,
  UNSUPPORTED,
  type VectorRows,
} from './vector-plan.ts';

/** Means "to the end" of a slice. */
const TO_END = 0xffffffff;

type FormattedPlan = Extract<TextPlan, { kind: 'formatted' }>;

/** Number of days whose texts are kept: eleven years without a gap. */
const KEPT_DAYS = 4096;

/** Longer texts are not kept. */
const KEPT_BYTES_MAX = 32;

/** A batch with fewer rows is formatted without keeping texts, because they would take memory. */
const KEEPING_ROWS_MIN = 256;

const DAY_MICROSECONDS = 86_400_000_000;
const TWO_32 = 2 ** 32;

/**
 * For instants whose upper 32 bits are below this number, the division of microseconds by a day is exact in doubles:
 * the years 1899 to 2040.
 */
const EXACT_HALF_MAX = 2 ** 19;

/**
 * Texts of days by a pattern that no kernel supports, such as one with the names of months. A file has few different
 * days, so each text is made once.
 */
class DayTexts {
  readonly #arena: Arena;
  readonly #pattern: DatePattern;
  /** Address of the texts, or 0 before they are kept. */
  #kept = 0;
  /** The day whose text is at each place, and the length of the text. A place never gets another day. */
  readonly #days = new Float64Array(KEPT_DAYS).fill(Number.NaN);
  readonly #lengths = new Uint8Array(KEPT_DAYS);

  constructor(arena: Arena, pattern: DatePattern) {
    this.#arena = arena;
    this.#pattern = pattern;
  }

  /** Takes memory for kept texts, if there is some. The memory of the Run may move, so fetch views of it after this. */
  prepare(count: number): void {
    if (this.#kept === 0 && count >= KEEPING_ROWS_MIN)
      this.#kept = this.#arena.heap.tryAllocate(KEPT_DAYS * KEPT_BYTES_MAX);
  }

  /** Writes the views of texts, after `prepare`. Returns false if the arena is full. */
  write(count: number, texts: number, dayOf: (position: number) => number | 'null' | 'unknown'): boolean {
    const { heap } = this.#arena;
    for (let position = 0; position < count; position++) {
      const view = (texts >>> 2) + position * 2;
      const day = dayOf(position);
      if (typeof day !== 'number') {
        heap.u32[view] = day === 'null' ? 0 : UNKNOWN_TEXT;
        heap.u32[view + 1] = 0;
      } else {
        const place = day & (KEPT_DAYS - 1);
        const isKept = this.#days[place] === day;
        if (!isKept && !this.#make(day, view)) return false;
        if (!isKept) continue;
        heap.u32[view] = this.#kept + place * KEPT_BYTES_MAX;
        heap.u32[view + 1] = this.#lengths[place]!;
      }
    }
    return true;
  }

  #make(day: number, view: number): boolean {
    const arena = this.#arena;
    const text = this.#pattern.format({ days: day, second: 0, nanos: 0, offsetSeconds: 0 });
    if (!arena.hasSpaceFor(text)) return false;
    const { heap, next } = arena;
    const bytes = arena.write(text);
    heap.u32[view] = next;
    heap.u32[view + 1] = bytes;
    const place = day & (KEPT_DAYS - 1);
    if (this.#kept === 0 || bytes > KEPT_BYTES_MAX || !Number.isNaN(this.#days[place]!)) return true;
    heap.u8.copyWithin(this.#kept + place * KEPT_BYTES_MAX, next, next + bytes);
    this.#days[place] = day;
    this.#lengths[place] = bytes;
    return true;
  }
}

/** Day of the microseconds at an address. */
function dayOfInstant({ u32, i64 }: Heap, at: number): number {
  const half = u32[(at >>> 2) + 1]! | 0;
  if (Math.abs(half) < EXACT_HALF_MAX) return Math.floor((half * TWO_32 + u32[at >>> 2]!) / DAY_MICROSECONDS);
  return Number((i64[at >>> 3]! - BigInt(DAY_MICROSECONDS - 1) * (half < 0 ? 1n : 0n)) / BigInt(DAY_MICROSECONDS));
}

export class TextEvaluator {
  readonly #context: ExpressionContext;
  readonly #evaluators: Evaluators;
  /** Views of texts of the Template, by text. */
  readonly #placed = new Map<string, number>();
  readonly #programs = new Map<AnyPlan, number>();
  readonly #steps = new Map<AnyPlan, TextStep>();
  /** null if a pattern does not permit an automaton. */
  readonly #matchers = new Map<AnyPlan, PatternMatcher | null>();
  readonly #dayTexts = new Map<AnyPlan, DayTexts>();

  constructor(context: ExpressionContext, evaluators: Evaluators) {
    this.#context = context;
    this.#evaluators = evaluators;
  }

  /** Copies what the plan needs into memory. */
  prepare(plan: AnyPlan): void {
    if (plan.kind === 'literal') this.#place(plan.text);
    if (plan.kind === 'split' || plan.kind === 'present') this.#place(plan.separator);
    if (plan.kind === 'found') this.#programs.set(plan, placePattern(this.#context.arena.heap, plan.pattern, [], 1));
    if (plan.kind === 'formatted' && plan.place !== null) {
      this.#programs.set(plan, plan.place(this.#context.arena.heap));
    }
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
      case 'formatted':
        return plan.of.kind === 'instants'
          ? this.#instants(plan, plan.of.column, at)
          : yield* this.#dates(plan, at, target);
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

  *#dates(plan: FormattedPlan, at: VectorRows, target: StatesTarget): Sliced<number> {
    const { arena, kernel } = this.#context;
    const dates = yield* this.#evaluators.numbers.vector(plan.of as NumberPlan, at, target);
    if (dates < 0) return dates;
    const texts = this.#newTexts(at.count);
    const program = this.#programs.get(plan);
    if (program !== undefined) {
      const { formatDates } = kernel.exports;
      return this.#moved(texts, formatDates(dates, at.count, program, texts, arena.next, arena.limit));
    }
    const dayTexts = this.#dayTextsFor(plan, at.count);
    const { u8, u32, f64 } = arena.heap;
    const [values, marks] = [u32[(dates + VECTOR_VALUES) >>> 2]! >>> 3, u32[(dates + VECTOR_MARKS) >>> 2]!];
    const isWritten = dayTexts.write(at.count, texts, (position) => {
      const mark = u8[marks + position]!;
      if (mark === 0) return f64[values + position]!;
      return mark === NULL ? 'null' : 'unknown';
    });
    return isWritten ? texts : FULL;
  }

  #instants(plan: FormattedPlan, column: string, { batch, rows, count }: VectorRows): number {
    const { arena, kernel } = this.#context;
    const source = batch.columns[this.#evaluators.indexOf(column)]!;
    if (source.kind !== 'typed') return UNSUPPORTED;
    const { at, meta } = source;
    const program = this.#programs.get(plan);
    const texts = this.#newTexts(count);
    if (program === undefined) {
      const dayTexts = this.#dayTextsFor(plan, count);
      const { u8, u32 } = arena.heap;
      const isWritten = dayTexts.write(count, texts, (position) => {
        const row = u32[(rows >>> 2) + position]!;
        return u8[meta + row] === META_NULL ? 'null' : dayOfInstant(arena.heap, at + row * 8);
      });
      return isWritten ? texts : FULL;
    }
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    if (views === 0) return FULL;
    const { gatherTexts, writeDates } = kernel.exports;
    const next = writeDates(at, meta, rows, count, 1, program, views, arena.next, arena.limit);
    gatherTexts(views, rows, count, ALL_OPEN.states, ALL_OPEN.mode, texts);
    return this.#moved(texts, next);
  }

  #dayTextsFor(plan: FormattedPlan, count: number): DayTexts {
    const dayTexts = this.#dayTexts.get(plan) ?? new DayTexts(this.#context.arena, plan.pattern);
    this.#dayTexts.set(plan, dayTexts);
    dayTexts.prepare(count);
    return dayTexts;
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
