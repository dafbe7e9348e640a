// What the kernels compute of an expression whole columns at a time: trees of steps over vectors of texts, numbers and states.
// A node that no kernel knows the closures compute, that node alone.
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import type { GreedyPattern } from '../../expression/patterns/greedy-pattern.ts';
import type { RegularExpression } from '../../expression/patterns/regular-expression.ts';
import type { CallNode, ExpressionNode } from '../../expression/syntax/ast.ts';
import type { ARITHMETIC, ORDERS, TEXT_TESTS, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Decimal } from '../../values/decimal.ts';
import type { TextStep } from '../cells/text-chain.ts';

export type NumberForm = keyof typeof VECTOR_FORMS;

/** A node that the closures compute, as an expression of its own. */
export interface ComputedPlan {
  readonly kind: 'computed';
  readonly expression: CheckedExpression;
}

/** A vector of texts. */
export type TextPlan =
  | ComputedPlan
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'literal'; readonly text: string }
  /** An edit of each text on its own. */
  | { readonly kind: 'edited'; readonly step: (heap: Heap) => TextStep; readonly text: TextPlan }
  | { readonly kind: 'split'; readonly separator: string; readonly number: number; readonly text: TextPlan }
  | { readonly kind: 'cut'; readonly length: number; readonly fromEnd: boolean; readonly text: TextPlan }
  | { readonly kind: 'slice'; readonly from: number; readonly to: number | null; readonly text: TextPlan }
  | { readonly kind: 'joined'; readonly texts: readonly TextPlan[] }
  /** Those that are not null, with a separator between them. */
  | { readonly kind: 'present'; readonly separator: string; readonly texts: readonly TextPlan[] }
  /** string(x) of a number or date. */
  | { readonly kind: 'written'; readonly number: NumberPlan }
  /** What the items of a pattern from one up to another took. */
  | {
      readonly kind: 'found';
      readonly pattern: GreedyPattern;
      readonly from: number;
      readonly to: number;
      readonly text: TextPlan;
    }
  /** What a group of the first match of any pattern took. */
  | {
      readonly kind: 'walked';
      readonly pattern: RegularExpression;
      readonly group: number;
      readonly text: TextPlan;
      /** Where a walk does not pay. */
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

/** A vector of numbers; a date is the number of its day. */
export type NumberPlan = { readonly form: NumberForm } & (
  | ComputedPlan
  | { readonly kind: 'constant'; readonly value: number | Decimal }
  /** double(x), int(x), decimal(x) or date(x) of a text. */
  | { readonly kind: 'parsed'; readonly text: TextPlan }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'size'; readonly text: TextPlan }
  | { readonly kind: 'likeness'; readonly left: TextPlan; readonly right: TextPlan }
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
  /** A text against another one. */
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

/** Plans the nodes of an expression: null for those that the closures compute. */
export interface Planner {
  readonly expression: CheckedExpression;
  texts(node: ExpressionNode): TextPlan | null;
  numbers(node: ExpressionNode): NumberPlan | null;
  states(node: ExpressionNode): StatePlan | null;
}

/** The texts of a node within a planned one. */
export function textOf(planner: Planner, node: ExpressionNode): TextPlan {
  return planner.texts(node) ?? computed(planner.expression, node);
}

/** The kind of a node's type. */
export function kindOf(expression: CheckedExpression, node: ExpressionNode): string {
  return expression.types.get(node)!.kind;
}

/** The column of text that a node is, or null. */
export function textColumnOf(expression: CheckedExpression, node: ExpressionNode): string | null {
  return kindOf(expression, node) === 'string' ? columnOf(expression, node) : null;
}

export function columnOf(expression: CheckedExpression, node: ExpressionNode): string | null {
  const isPlain = node.kind === 'identifier' || ((node.kind === 'select' || node.kind === 'index') && !node.optional);
  if (!isPlain || (node.kind === 'select' && node.test)) return null;
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'column' ? resolution.name : null;
}

/** The arguments of a call, its target first, when it is for certain one function. */
export function argumentsOf(expression: CheckedExpression, node: CallNode): readonly ExpressionNode[] | null {
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'call' && resolution.certain ? resolution.arguments : null;
}

/** The name of the function that a call is for certain; operators have none. */
export function functionOf(expression: CheckedExpression, node: CallNode): string | null {
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'call' && resolution.certain ? resolution.definition.name : null;
}

/** The text that a node is as written, or null. */
export function literalText(node: ExpressionNode | undefined): string | null {
  return node?.kind === 'literal' && typeof node.value === 'string' ? node.value : null;
}

/** The whole number that a node is as written, where it is a small one. */
export function literalInteger(node: ExpressionNode | undefined): number | null {
  if (node?.kind !== 'literal' || typeof node.value !== 'bigint') return null;
  const value = Number(node.value);
  return Math.abs(value) <= INTEGER_MAX ? value : null;
}

/** Numbers of characters and parts beyond this are left to the closures. */
const INTEGER_MAX = 2 ** 30;

/** The node by the closures. */
export function computed(expression: CheckedExpression, node: ExpressionNode): ComputedPlan {
  return { kind: 'computed', expression: { ...expression, root: node, type: expression.types.get(node)! } };
}

/** What the closures compute in a plan. */
export function computedIn(plan: AnyPlan): readonly CheckedExpression[] {
  return plan.kind === 'computed' ? [plan.expression] : partsOf(plan).flatMap(computedIn);
}

/**
 * Whether the kernels are to have a plan: the closures of its nodes would hold reference tables a second time, and a plan of which
 * they do most is no faster than they are alone.
 */
export function pays(expression: CheckedExpression, plan: AnyPlan): boolean {
  const computed = computedIn(plan);
  return computed.length === 0 || (expression.tables.length === 0 && computed.length <= COMPUTED_MAX);
}

/** Nodes of a plan that the closures compute, at most. */
const COMPUTED_MAX = 8;

/** The plans that a plan is made of. */
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
    case 'walked':
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
    case 'calculated':
    case 'extreme':
    case 'likeness':
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
