// The fast lane of expressions: runs a plan (vector-plan.ts) over the rows of a list by kernels. Its scratch memory lies in
// the arena; who calls gives that back.
import type { Arena } from '../../arena.ts';
import type { Batch } from '../../batch.ts';
import { ARITHMETIC, FORMS, ORDERS, STATES, TEXT_TESTS, VECTOR_BYTES } from '../../kernel/expression-kernels.ts';
import type { KernelExports } from '../../kernel/kernel.ts';
import type { Schema } from '../../schema.ts';
import { Decimal } from '../../values/decimal.ts';
import { placeBytes } from '../cells/placed-text.ts';
import type { OperatorContext } from '../operation.ts';
import type { NumberPlan, StatePlan } from './vector-plan.ts';

/** Bytes that kernels may touch behind a list of states. */
const STATES_PADDING_BYTES = 16;

/** The rows at work. */
export interface VectorRows {
  readonly batch: Batch;
  /** u32 physical rows. */
  readonly rows: number;
  readonly count: number;
}

/** States that are there already, and how new ones are put to them. */
interface Target {
  readonly states: number;
  readonly mode: number;
}

export class VectorLane {
  readonly #arena: Arena;
  readonly #kernel: KernelExports;
  readonly #columns: Schema;
  /** Texts of the Template, u32 address and length of each, by the plan that compares with them. */
  readonly #texts = new Map<StatePlan, number>();

  constructor(columns: Schema, { arena, kernel }: Pick<OperatorContext, 'arena' | 'kernel'>) {
    this.#arena = arena;
    this.#kernel = kernel.exports;
    this.#columns = columns;
  }

  /** Puts the texts of a plan into memory and says whether its columns can be used at all. */
  prepare(plan: StatePlan): void {
    if (plan.kind === 'logical') {
      this.prepare(plan.left);
      this.prepare(plan.right);
    } else if (plan.kind === 'not') this.prepare(plan.operand);
    else if (plan.kind === 'text') this.#texts.set(plan, this.#place(plan.texts));
  }

  /** Address of the states of a condition, one byte for each position; -1 when a column is not of the kind it should be. */
  states(plan: StatePlan, at: VectorRows): number {
    const states = this.#newStates(at);
    return this.#run(plan, at, { states, mode: STATES.set }) ? states : -1;
  }

  /** Address of the vector of a plan, -1 as above. */
  numbers(plan: NumberPlan, at: VectorRows): number {
    return this.#vector(plan, at, { states: 0, mode: STATES.set });
  }

  #run(plan: StatePlan, at: VectorRows, target: Target): boolean {
    switch (plan.kind) {
      case 'logical':
        return this.#logical(plan, at, target);
      case 'not':
        return this.#apart(target, at, (states) => {
          if (!this.#run(plan.operand, at, { states, mode: STATES.set })) return false;
          this.#kernel.negateStates(states, at.count);
          return true;
        });
      case 'text':
        return this.#text(plan, at, target);
      case 'length': {
        const views = this.#views(plan.column, at.batch);
        if (views === 0) return false;
        const { states, mode } = target;
        this.#kernel.matchLength(views, at.rows, at.count, plan.least, plan.most, states, mode);
        return true;
      }
      case 'boolean': {
        const column = at.batch.columns[this.#index(plan.column)]!;
        if (column.kind !== 'typed') return false;
        this.#kernel.loadBooleans(column.meta, at.rows, at.count, target.states, target.mode);
        return true;
      }
      case 'compared':
        return this.#compared(plan, at, target);
    }
  }

  #logical(plan: StatePlan & { kind: 'logical' }, at: VectorRows, target: Target): boolean {
    const mode = plan.and ? STATES.and : STATES.or;
    if (target.mode === STATES.set || target.mode === mode) {
      return this.#run(plan.left, at, target) && this.#run(plan.right, at, { states: target.states, mode });
    }
    return this.#apart(target, at, (states) => this.#run(plan, at, { states, mode: STATES.set }));
  }

  /** Computes states of their own and puts them to those of the target. */
  #apart(target: Target, at: VectorRows, compute: (states: number) => boolean): boolean {
    if (target.mode === STATES.set) return compute(target.states);
    const states = this.#newStates(at);
    if (!compute(states)) return false;
    this.#kernel.combineStates(target.states, states, at.count, target.mode);
    return true;
  }

  #text(plan: StatePlan & { kind: 'text' }, at: VectorRows, { states, mode }: Target): boolean {
    const views = this.#views(plan.column, at.batch);
    if (views === 0) return false;
    const test = TEXT_TESTS[plan.test];
    const texts = this.#texts.get(plan)!;
    const negate = plan.negate ? 1 : 0;
    this.#kernel.matchText(views, at.rows, at.count, test, texts, plan.texts.length, negate, states, mode);
    return true;
  }

  #compared(plan: StatePlan & { kind: 'compared' }, at: VectorRows, target: Target): boolean {
    const left = this.#vector(plan.left, at, target);
    const right = left < 0 ? -1 : this.#vector(plan.right, at, target);
    if (right < 0) return false;
    const { operator, negate } = plan;
    const form = FORMS[plan.left.form];
    const { states, mode } = target;
    this.#kernel.compareNumbers(form, ORDERS[operator], left, right, at.count, negate ? 1 : 0, states, mode);
    return true;
  }

  #vector(plan: NumberPlan, at: VectorRows, target: Target): number {
    const form = FORMS[plan.form];
    switch (plan.kind) {
      case 'constant':
        return this.#constant(plan.value);
      case 'parsed': {
        const views = this.#views(plan.column, at.batch);
        if (views === 0) return -1;
        const vector = this.#newVector(at.count);
        this.#kernel.parseNumbers(views, at.rows, at.count, form, vector, target.states, target.mode);
        return vector;
      }
      case 'column': {
        const column = at.batch.columns[this.#index(plan.column)]!;
        if (column.kind !== 'typed') return -1;
        const vector = this.#newVector(at.count);
        this.#kernel.loadNumbers(column.at, column.meta, at.rows, at.count, form, vector);
        return vector;
      }
      case 'calculated': {
        const left = this.#vector(plan.left, at, target);
        const right = left < 0 ? -1 : this.#vector(plan.right, at, target);
        if (right < 0) return -1;
        const vector = this.#newVector(at.count);
        this.#kernel.calculate(form, ARITHMETIC[plan.operator], left, right, vector, at.count);
        return vector;
      }
    }
  }

  #constant(value: number | Decimal): number {
    const vector = this.#newVector(1);
    const { u8, u32, i64, f64 } = this.#arena.heap;
    const [values, marks, scales] = [u32[vector >>> 2]!, u32[(vector >>> 2) + 1]!, u32[(vector >>> 2) + 2]!];
    if (value instanceof Decimal) i64[values >>> 3] = BigInt(value.digits);
    else f64[values >>> 3] = value;
    u8[marks] = 0;
    u8[scales] = value instanceof Decimal ? value.scale : 0;
    u32[(vector >>> 2) + 3] = 0;
    return vector;
  }

  #newVector(count: number): number {
    const arena = this.#arena;
    const [vector, values, marks, scales] = [
      arena.take(VECTOR_BYTES),
      arena.take(count * 8),
      arena.take(count),
      arena.take(count),
    ];
    arena.heap.u32.set([values, marks, scales, 8], vector >>> 2);
    return vector;
  }

  #newStates({ count }: VectorRows): number {
    return this.#arena.take(count + STATES_PADDING_BYTES);
  }

  /** Views of a column of text, 0 when it has none. */
  #views(name: string, batch: Batch): number {
    const index = this.#index(name);
    return batch.columns[index]!.kind === 'typed' ? 0 : batch.views(index);
  }

  #index(name: string): number {
    return this.#columns.findIndex((column) => column.name === name);
  }

  #place(texts: readonly string[]): number {
    const { heap } = this.#arena;
    const placed = texts.map((text) => placeBytes(heap, Buffer.from(text)));
    const list = heap.allocate(Math.max(1, texts.length) * 8);
    heap.u32.set(
      placed.flatMap(({ at, bytes }) => [at, bytes]),
      list >>> 2,
    );
    return list;
  }
}
