// What the lanes of texts, numbers and states know of each other: each makes its own vectors and asks the others for theirs.
import type { Batch } from '../../batch/batch.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { SET } from '../../kernel/layout/expressions.ts';
import type { Sliced } from '../../run/time-slices.ts';
import type { NumberPlan, StatePlan, TextPlan } from './vector-plan.ts';

/** In place of an address: the batch is not for the kernels, because a column is not of the kind that it should be. */
export const NOT_HERE = -1;
/** In place of an address: the arena is full. */
export const FULL = -2;

/** The rows at work. */
export interface VectorRows {
  readonly batch: Batch;
  /** u32 physical rows. */
  readonly rows: number;
  readonly count: number;
}

/** Where kernels find the texts of a row list's positions: the view of entry `i` of the list is that of position `i`. */
export interface TextSource {
  readonly views: number;
  /** u32 each. */
  readonly rows: number;
}

/** States that are there already, and how new ones are put to them. */
export interface StatesTarget {
  readonly states: number;
  readonly mode: number;
}

/** Nothing is settled before. */
export const ALL_OPEN: StatesTarget = { states: 0, mode: SET };

export interface Branches<Plan> {
  readonly condition: StatePlan;
  readonly then: Plan;
  readonly otherwise: Plan;
}

/** What the branches of a choice made, and the states of its condition. */
export interface Chosen<Made> {
  readonly states: number;
  readonly chosen: Made;
  readonly otherwise: Made;
}

/** All give an address, or one of the codes above. What a target has settled need not be known. */
export interface Lane {
  readonly texts: {
    source(plan: TextPlan, at: VectorRows, target: StatesTarget): Sliced<TextSource | number>;
    tested(plan: TextPlan, at: VectorRows, target: StatesTarget): Sliced<TextSource | number>;
  };
  readonly numbers: { vector(plan: NumberPlan, at: VectorRows, target: StatesTarget): Sliced<number> };
  readonly states: { fresh(plan: StatePlan, at: VectorRows): Sliced<number> };
  readonly computed: {
    texts(expression: CheckedExpression, at: VectorRows, target: StatesTarget): Sliced<number>;
    numbers(expression: CheckedExpression, at: VectorRows, target: StatesTarget, vector: number): Sliced<void>;
    states(expression: CheckedExpression, at: VectorRows, target: StatesTarget): Sliced<void>;
  };
  branches<Plan, Made extends number | object>(
    plan: Branches<Plan>,
    at: VectorRows,
    make: (plan: Plan, target: StatesTarget) => Sliced<Made | number>,
  ): Sliced<Chosen<Made> | number>;
  /** Index of a column in the batches. */
  indexOf(column: string): number;
  /** Views of a column of text, 0 when it has none. */
  viewsOf(column: string, batch: Batch): number;
}
