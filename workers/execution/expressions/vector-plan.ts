// The parts of an expression that kernels compute for whole columns, and the interfaces between their evaluators.

import type { Batch } from '../../batch/batch.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import type { GreedyPattern } from '../../expression/patterns/linear-pattern.ts';
import type { RegularExpression } from '../../expression/patterns/regular-expression.ts';
import type { CallNode, ExpressionNode } from '../../expression/syntax/ast.ts';
import type { ARITHMETIC, ORDERS, TEXT_TESTS, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import { SET } from '../../kernel/layout/expressions.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Sliced } from '../../scheduling/time-slices.ts';
import type { DatePattern } from '../../values/date-pattern.ts';
import type { Decimal } from '../../values/decimal.ts';
import type { TextStep } from '../cells/text-chain.ts';

// The parts of an expression that kernels compute for whole columns at once: trees of steps over vectors of texts,
// numbers and states. Closures compute single nodes that no kernel supports.

export type NumberForm = keyof typeof VECTOR_FORMS;

/** A node that the closures compute, as a separate expression. */
export interface ComputedPlan {
  readonly kind: 'computed';
  readonly expression: CheckedExpression;
}

/** A vector of texts. */
export type TextPlan =
  | ComputedPlan
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'literal'; readonly text: string }
  /** Edits each text independently. */
  | { readonly kind: 'edited'; readonly step: (heap: Heap) => TextStep; readonly text: TextPlan }
  | { readonly kind: 'split'; readonly separator: string; readonly number: number; readonly text: TextPlan }
  | { readonly kind: 'cut'; readonly length: number; readonly fromEnd: boolean; readonly text: TextPlan }
  | { readonly kind: 'slice'; readonly from: number; readonly to: number | null; readonly text: TextPlan }
  | { readonly kind: 'joined'; readonly texts: readonly TextPlan[] }
  /** The non-null texts, joined with a separator. */
  | { readonly kind: 'present'; readonly separator: string; readonly texts: readonly TextPlan[] }
  /** string(x) of a number or date. */
  | { readonly kind: 'written'; readonly number: NumberPlan }
  /** format_date(x, pattern) of a date, or of an instant of a column. */
  | {
      readonly kind: 'formatted';
      readonly pattern: DatePattern;
      /** Returns the address of the pattern's program. null if no kernel supports the pattern. */
      readonly place: ((heap: Heap) => number) | null;
      readonly of: NumberPlan | { readonly kind: 'instants'; readonly column: string };
    }
  /** The text that a range of a pattern's items matches. */
  | {
      readonly kind: 'found';
      readonly pattern: GreedyPattern;
      readonly from: number;
      readonly to: number;
      readonly text: TextPlan;
    }
  /** The text of a group in the first match of any pattern. */
  | {
      readonly kind: 'matched';
      readonly pattern: RegularExpression;
      readonly group: number;
      readonly text: TextPlan;
      /** Used if an automaton is not worthwhile. */
      readonly otherwise: ComputedPlan;
    }
  | { readonly kind: 'first'; readonly texts: readonly TextPlan[] }
  | Choice<'choice', TextPlan>;

interface Choice<Kind, Plan> {
  readonly kind: Kind;
  readonly condition: StatePlan;
  readonly then: Plan;
  readonly otherwise: Plan;
}

/** A vector of numbers. A date is its day number. */
export type NumberPlan = { readonly form: NumberForm } & (
  | ComputedPlan
  | { readonly kind: 'constant'; readonly value: number | Decimal }
  /** double(x), int(x), decimal(x) or date(x) of a text. */
  | { readonly kind: 'parsed'; readonly text: TextPlan }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'size'; readonly text: TextPlan }
  | { readonly kind: 'similarity'; readonly left: TextPlan; readonly right: TextPlan }
  | { readonly kind: 'date_part'; readonly part: DatePart; readonly date: NumberPlan }
  | {
      readonly kind: 'calculated';
      readonly operator: keyof typeof ARITHMETIC;
      readonly left: NumberPlan;
      readonly right: NumberPlan;
    }
  /** A whole number as a decimal. */
  | { readonly kind: 'converted'; readonly number: NumberPlan }
  | { readonly kind: 'extreme'; readonly greatest: boolean; readonly left: NumberPlan; readonly right: NumberPlan }
  | { readonly kind: 'rounded'; readonly scale: number; readonly number: NumberPlan }
  | { readonly kind: 'first'; readonly numbers: readonly NumberPlan[] }
  | Choice<'choice', NumberPlan>
);

export type DatePart = 'year' | 'month' | 'day' | 'weekday';

/** States of a condition. */
export type StatePlan =
  | ComputedPlan
  | { readonly kind: 'logical'; readonly and: boolean; readonly left: StatePlan; readonly right: StatePlan }
  | { readonly kind: 'not'; readonly operand: StatePlan }
  | {
      readonly kind: 'text';
      readonly text: TextPlan;
      readonly test: keyof typeof TEXT_TESTS;
      readonly texts: readonly string[];
      readonly negate: boolean;
    }
  /** Comparison of two texts. */
  | {
      readonly kind: 'texts';
      readonly test: 'isAny' | '<' | '<=';
      readonly negate: boolean;
      readonly left: TextPlan;
      readonly right: TextPlan;
    }
  | { readonly kind: 'pattern'; readonly text: TextPlan; readonly pattern: string }
  | { readonly kind: 'blank'; readonly text: TextPlan }
  | { readonly kind: 'length'; readonly column: string; readonly least: number; readonly most: number }
  | { readonly kind: 'boolean'; readonly column: string }
  | {
      readonly kind: 'compared';
      readonly operator: keyof typeof ORDERS;
      readonly negate: boolean;
      readonly left: NumberPlan;
      readonly right: NumberPlan;
    };

export type AnyPlan = TextPlan | NumberPlan | StatePlan;

/** Plans the nodes of an expression. Returns null for nodes that closures must compute. */
export interface Planner {
  readonly expression: CheckedExpression;
  texts(node: ExpressionNode): TextPlan | null;
  numbers(node: ExpressionNode): NumberPlan | null;
  states(node: ExpressionNode): StatePlan | null;
}

/** Returns the plan of an inner node whose result is a text. */
export function textOf(planner: Planner, node: ExpressionNode): TextPlan {
  return planner.texts(node) ?? computed(planner.expression, node);
}

export function kindOf(expression: CheckedExpression, node: ExpressionNode): string {
  return expression.types.get(node)!.kind;
}

/** Returns the text column that a node refers to, or null. */
export function textColumnOf(expression: CheckedExpression, node: ExpressionNode): string | null {
  return kindOf(expression, node) === 'string' ? columnOf(expression, node) : null;
}

export function columnOf(expression: CheckedExpression, node: ExpressionNode): string | null {
  const isPlain = node.kind === 'identifier' || ((node.kind === 'select' || node.kind === 'index') && !node.optional);
  if (!isPlain || (node.kind === 'select' && node.test)) return null;
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'column' ? resolution.name : null;
}

/** Returns the arguments of a call, its target first, if the function is certain. */
export function argumentsOf(expression: CheckedExpression, node: CallNode): readonly ExpressionNode[] | null {
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'call' && resolution.certain ? resolution.arguments : null;
}

/** Returns the name of the function of a call if it is certain. Operators have no name. */
export function functionOf(expression: CheckedExpression, node: CallNode): string | null {
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'call' && resolution.certain ? resolution.definition.name : null;
}

/** Returns the text of a string literal, or null. */
export function literalText(node: ExpressionNode | undefined): string | null {
  return node?.kind === 'literal' && typeof node.value === 'string' ? node.value : null;
}

/** Returns the value of a small integer literal, or null. */
export function literalInteger(node: ExpressionNode | undefined): number | null {
  if (node?.kind !== 'literal' || typeof node.value !== 'bigint') return null;
  const value = Number(node.value);
  return Math.abs(value) <= INTEGER_MAX ? value : null;
}

/** Maximum number of characters or parts. Larger numbers are left to the closures. */
const INTEGER_MAX = 2 ** 30;

/** Plans a node for the closures. */
export function computed(expression: CheckedExpression, node: ExpressionNode): ComputedPlan {
  return { kind: 'computed', expression: { ...expression, root: node, type: expression.types.get(node)! } };
}

/** Returns the expressions that closures compute in a plan. */
export function computedIn(plan: AnyPlan): readonly CheckedExpression[] {
  return plan.kind === 'computed' ? [plan.expression] : partsOf(plan).flatMap(computedIn);
}

/**
 * Returns whether a plan is worthwhile. It is not if it needs reference tables, because the closures of its nodes would
 * hold them a second time, or if it consists mostly of closures, because it is then not faster than closures alone.
 */
export function isWorthwhile(expression: CheckedExpression, plan: AnyPlan): boolean {
  const computed = computedIn(plan);
  return computed.length === 0 || (expression.tables.length === 0 && computed.length <= COMPUTED_MAX);
}

/** Maximum number of nodes in a plan that closures compute. */
const COMPUTED_MAX = 8;

/** Returns the direct parts of a plan. */
export function partsOf(plan: AnyPlan): readonly AnyPlan[] {
  switch (plan.kind) {
    case 'edited':
    case 'split':
    case 'cut':
    case 'slice':
    case 'parsed':
    case 'size':
    case 'text':
    case 'pattern':
    case 'blank':
    case 'found':
      return [plan.text];
    case 'matched':
      return [plan.text, plan.otherwise];
    case 'written':
    case 'converted':
    case 'rounded':
      return [plan.number];
    case 'joined':
    case 'present':
      return plan.texts;
    case 'first':
      return 'texts' in plan ? plan.texts : plan.numbers;
    case 'choice':
      return [plan.condition, plan.then, plan.otherwise];
    case 'date_part':
      return [plan.date];
    case 'formatted':
      return plan.of.kind === 'instants' ? [] : [plan.of];
    case 'calculated':
    case 'extreme':
    case 'similarity':
    case 'texts':
    case 'compared':
    case 'logical':
      return [plan.left, plan.right];
    case 'not':
      return [plan.operand];
    default:
      return [];
  }
}

// Interfaces between the evaluators of texts, numbers and states: each computes its own vectors and requests those of
// the others.

/** Code instead of an address: the kernels cannot process the batch, because a column is not stored as expected. */
export const UNSUPPORTED = -1;
/** Code instead of an address: the arena is full. */
export const FULL = -2;

/** The current rows. */
export interface VectorRows {
  readonly batch: Batch;
  /** Address of the physical rows (u32 each). */
  readonly rows: number;
  readonly count: number;
}

/** Addresses of texts for kernels: the text of position `i` has the view number `rows[i]`. */
export interface TextSource {
  readonly views: number;
  /** Address of the view numbers (u32 each). */
  readonly rows: number;
}

/** Existing states, and the mode for combining new states with them. */
export interface StatesTarget {
  readonly states: number;
  readonly mode: number;
}

/** No state is decided yet. */
export const ALL_OPEN: StatesTarget = { states: 0, mode: SET };

export interface Branches<Plan> {
  readonly condition: StatePlan;
  readonly then: Plan;
  readonly otherwise: Plan;
}

/** Results of the branches of a choice, and the states of its condition. */
export interface Chosen<Made> {
  readonly states: number;
  readonly chosen: Made;
  readonly otherwise: Made;
}

/**
 * All methods return an address or one of the codes above. Positions that the target has already decided may have any
 * result.
 */
export interface Evaluators {
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
  /** Views of a text column, or 0 if it has no views. */
  viewsOf(column: string, batch: Batch): number;
}
