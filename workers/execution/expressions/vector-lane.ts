// The fast lane of expressions: runs a plan (vector-plan.ts) over the rows of a list by kernels. Its scratch memory lies in
// the arena; who calls gives that back.
import type { Batch } from '../../batch/batch.ts';
import type { Schema } from '../../batch/schema.ts';
import { STATES } from '../../kernel/bindings/expression-words.ts';
import type { Sliced } from '../../run/time-slices.ts';
import { ComputedLane } from './computed-lane.ts';
import type { Branches, Chosen, Lane, StatesTarget, VectorRows } from './lane.ts';
import { NumberLane } from './number-lane.ts';
import type { ExpressionContext } from './row-expression.ts';
import { StateLane } from './state-lane.ts';
import { TextLane } from './text-lane.ts';
import { type AnyPlan, partsOf } from './vector-plan.ts';

export class VectorLane implements Lane {
  readonly computed: ComputedLane;
  readonly texts: TextLane;
  readonly numbers: NumberLane;
  readonly states: StateLane;
  readonly #indices: ReadonlyMap<string, number>;

  /** @param columns the columns of the batches that it will see */
  constructor(columns: Schema, context: ExpressionContext, plan: AnyPlan) {
    this.#indices = new Map(columns.map(({ name }, index) => [name, index]));
    this.computed = new ComputedLane(columns, context, plan);
    this.texts = new TextLane(context, this);
    this.numbers = new NumberLane(context, this);
    this.states = new StateLane(context, this);
    this.#prepare(plan);
  }

  /** The states of a condition, and what is made of each branch: only rows that take a branch need be known there. */
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

  /** Views of a column of text, 0 when it has none. */
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
