// Which expressions the kernels compute whole columns at a time, and how: common conditions on texts, booleans and numbers,
// and arithmetic. Whatever is not planned here the closures do.
import type { BinaryNode, CallNode, ExpressionNode } from '../../expression/ast.ts';
import type { CheckedExpression } from '../../expression/resolution.ts';
import { ARITHMETIC, FORMS, ORDERS, type TEXT_TESTS } from '../../kernel/expression-kernels.ts';
import { Decimal, parseDecimal } from '../../values/decimal.ts';

export type NumberForm = keyof typeof FORMS;

/** A vector of numbers. */
export type NumberPlan =
  | { readonly kind: 'constant'; readonly form: NumberForm; readonly value: number | Decimal }
  /** double(x), int(x) or decimal(x) of a column of text. */
  | { readonly kind: 'parsed'; readonly form: NumberForm; readonly column: string }
  | { readonly kind: 'column'; readonly form: NumberForm; readonly column: string }
  | {
      readonly kind: 'calculated';
      readonly form: NumberForm;
      readonly operator: keyof typeof ARITHMETIC;
      readonly left: NumberPlan;
      readonly right: NumberPlan;
    };

/** States of a condition. */
export type StatePlan =
  | { readonly kind: 'logical'; readonly and: boolean; readonly left: StatePlan; readonly right: StatePlan }
  | { readonly kind: 'not'; readonly operand: StatePlan }
  | {
      readonly kind: 'text';
      readonly column: string;
      readonly test: keyof typeof TEXT_TESTS;
      readonly texts: readonly string[];
      readonly negate: boolean;
    }
  | { readonly kind: 'length'; readonly column: string; readonly least: number; readonly most: number }
  | { readonly kind: 'boolean'; readonly column: string }
  | {
      readonly kind: 'compared';
      readonly operator: keyof typeof ORDERS;
      readonly negate: boolean;
      readonly left: NumberPlan;
      readonly right: NumberPlan;
    };

/** More texts than this are looked up faster in the closures' set. */
export const TEXTS_MAX = 16;

/** The plan of a condition, or null. */
export function planStates(expression: CheckedExpression, node: ExpressionNode = expression.root): StatePlan | null {
  if (kindOf(expression, node) !== 'bool') return null;
  switch (node.kind) {
    case 'logical': {
      const left = planStates(expression, node.left);
      const right = left === null ? null : planStates(expression, node.right);
      return left === null || right === null ? null : { kind: 'logical', and: node.operator === '&&', left, right };
    }
    case 'unary': {
      const operand = planStates(expression, node.operand);
      return operand === null ? null : { kind: 'not', operand };
    }
    case 'binary':
      return planTextTest(expression, node) ?? planComparison(expression, node);
    case 'call':
      return planTextCall(expression, node);
    default: {
      const column = columnOf(expression, node);
      return column === null ? null : { kind: 'boolean', column };
    }
  }
}

/** The plan of an expression that gives numbers, or null. */
export function planNumbers(expression: CheckedExpression, node: ExpressionNode = expression.root): NumberPlan | null {
  const form = kindOf(expression, node);
  if (!isForm(form)) return null;
  if (node.kind === 'literal') return planConstant(node.value, node.text, form);
  if (node.kind === 'call') {
    const [argument] = argumentsOf(expression, node, form) ?? [];
    const column = argument === undefined ? null : textColumnOf(expression, argument);
    return column === null ? null : { kind: 'parsed', form, column };
  }
  if (node.kind === 'binary') {
    const { operator } = node;
    if (!isArithmetic(operator) || (operator === '/' && form !== 'double')) return null;
    const left = planNumbers(expression, node.left);
    const right = left === null ? null : planNumbers(expression, node.right);
    if (left?.form !== form || right?.form !== form) return null;
    return { kind: 'calculated', form, operator, left, right };
  }
  const column = columnOf(expression, node);
  return column === null ? null : { kind: 'column', form, column };
}

/** A number as written, where the form holds it exactly. */
export function planConstant(value: unknown, text: string, form: NumberForm): NumberPlan | null {
  if (form === 'decimal') {
    const decimal = value instanceof Decimal ? value : parseDecimal(text, true);
    const fits = decimal !== null && typeof decimal.digits === 'number' && decimal.scale <= 100;
    return fits ? { kind: 'constant', form, value: decimal } : null;
  }
  if (form === 'double') return typeof value === 'number' ? { kind: 'constant', form, value } : null;
  if (typeof value !== 'bigint' || !Number.isSafeInteger(Number(value))) return null;
  return { kind: 'constant', form, value: Number(value) };
}

/** Numbers of one kind, or a double against a whole number as written. */
function planComparison(expression: CheckedExpression, node: BinaryNode): StatePlan | null {
  const negate = node.operator === '!=';
  const operator = negate ? '==' : node.operator;
  if (!isOrder(operator)) return null;
  const left = planNumbers(expression, node.left);
  const right = left === null ? null : planNumbers(expression, node.right);
  if (left === null || right === null) return null;
  const asDoubles = left.form === 'double' && right.form === 'int' && right.kind === 'constant' && operator !== '==';
  return left.form === right.form || asDoubles ? { kind: 'compared', operator, negate, left, right } : null;
}

/** A column of text with ==, !=, in, < and the like against texts as written, or with == null. */
function planTextTest(expression: CheckedExpression, { operator, left, right }: BinaryNode): StatePlan | null {
  const column = textColumnOf(expression, left);
  if (column === null) return null;
  const texts = right.kind === 'list' ? listedTexts(right) : [right];
  const literals = texts.map((node) => (node?.kind === 'literal' ? node.value : undefined));
  if (operator === 'in' && right.kind === 'list' && literals.every((value) => typeof value === 'string')) {
    return literals.length > TEXTS_MAX ? null : { kind: 'text', column, test: 'isAny', texts: literals, negate: false };
  }
  const [literal] = literals;
  if (right.kind !== 'literal') return null;
  const equality = operator === '==' || operator === '!=';
  if (literal === null && equality)
    return { kind: 'text', column, test: 'isNull', texts: [''], negate: operator === '!=' };
  if (typeof literal !== 'string') return null;
  if (equality) return { kind: 'text', column, test: 'isAny', texts: [literal], negate: operator === '!=' };
  const negate = operator === '>' || operator === '>=';
  if (!negate && operator !== '<' && operator !== '<=') return null;
  const test = operator === '<' || operator === '>=' ? '<' : '<=';
  return { kind: 'text', column, test, texts: [literal], negate };
}

function listedTexts(list: ExpressionNode & { kind: 'list' }): (ExpressionNode | undefined)[] {
  return list.elements.map(({ value, optional }) => (optional ? undefined : value));
}

/** x.startsWith("a") and its like. */
function planTextCall(expression: CheckedExpression, node: CallNode): StatePlan | null {
  const { name } = node;
  if (name !== 'startsWith' && name !== 'endsWith' && name !== 'contains') return null;
  const [text, part, ...more] = argumentsOf(expression, node, name) ?? [];
  if (text === undefined || part?.kind !== 'literal' || typeof part.value !== 'string' || more.length > 0) return null;
  const column = textColumnOf(expression, text);
  return column === null ? null : { kind: 'text', column, test: name, texts: [part.value], negate: false };
}

/** The arguments of a call, its target first, when it is for certain the function of that name. */
function argumentsOf(expression: CheckedExpression, node: CallNode, name: string): readonly ExpressionNode[] | null {
  const resolution = expression.resolutions.get(node);
  const isIt = resolution?.kind === 'call' && resolution.certain && resolution.definition.name === name;
  return isIt && node.name === name ? resolution.arguments : null;
}

/** The column of text that a node is, or null. */
export function textColumnOf(expression: CheckedExpression, node: ExpressionNode): string | null {
  return kindOf(expression, node) === 'string' ? columnOf(expression, node) : null;
}

function columnOf(expression: CheckedExpression, node: ExpressionNode): string | null {
  const isPlain = node.kind === 'identifier' || ((node.kind === 'select' || node.kind === 'index') && !node.optional);
  if (!isPlain || (node.kind === 'select' && node.test)) return null;
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'column' ? resolution.name : null;
}

function kindOf(expression: CheckedExpression, node: ExpressionNode): string {
  return expression.types.get(node)!.kind;
}

function isForm(kind: string): kind is NumberForm {
  return Object.hasOwn(FORMS, kind);
}

function isArithmetic(operator: string): operator is keyof typeof ARITHMETIC {
  return Object.hasOwn(ARITHMETIC, operator);
}

function isOrder(operator: string): operator is keyof typeof ORDERS {
  return Object.hasOwn(ORDERS, operator);
}
