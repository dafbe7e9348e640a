// Plans of conditions.
import type { BinaryNode, CallNode, ExpressionNode } from '../../expression/syntax/ast.ts';
import { ORDERS } from '../../kernel/bindings/expression-words.ts';
import {
  argumentsOf,
  columnOf,
  computed,
  functionOf,
  kindOf,
  literalText,
  type Planner,
  type StatePlan,
  textOf,
} from './vector-plan.ts';

/** More texts than this are looked up faster in the closures' set. */
export const TEXTS_MAX = 64;

/** The plan of a condition, or null where the closures compute all of it. */
export function planStates(planner: Planner, node: ExpressionNode): StatePlan | null {
  if (kindOf(planner.expression, node) !== 'bool') return null;
  switch (node.kind) {
    case 'logical': {
      const [left, right] = [planner.states(node.left), planner.states(node.right)];
      if (left === null && right === null) return null;
      const and = node.operator === '&&';
      return {
        kind: 'logical',
        and,
        left: left ?? stateOf(planner, node.left),
        right: right ?? stateOf(planner, node.right),
      };
    }
    case 'unary': {
      const operand = planner.states(node.operand);
      return operand === null ? null : { kind: 'not', operand };
    }
    case 'binary':
      return planTextTest(planner, node) ?? planTexts(planner, node) ?? planComparison(planner, node);
    case 'call':
      return planTextCall(planner, node);
    default: {
      const column = columnOf(planner.expression, node);
      return column === null ? null : { kind: 'boolean', column };
    }
  }
}

function stateOf(planner: Planner, node: ExpressionNode): StatePlan {
  return computed(planner.expression, node);
}

/** Numbers of one kind, or a double against a whole number as written. */
function planComparison(planner: Planner, node: BinaryNode): StatePlan | null {
  const negate = node.operator === '!=';
  const operator = negate ? '==' : node.operator;
  if (!isOrder(operator)) return null;
  const left = planner.numbers(node.left);
  const right = left === null ? null : planner.numbers(node.right);
  if (left === null || right === null) return null;
  const asDoubles = left.form === 'double' && right.form === 'int' && right.kind === 'constant' && operator !== '==';
  return left.form === right.form || asDoubles ? { kind: 'compared', operator, negate, left, right } : null;
}

/** A text with ==, !=, in, < and the like against texts as written, or with == null. */
function planTextTest(planner: Planner, { operator, left, right }: BinaryNode): StatePlan | null {
  const text = planner.texts(left);
  if (text === null || text.kind === 'literal') return null;
  const texts = right.kind === 'list' ? listedTexts(right) : [right];
  const literals = texts.map((node) => (node?.kind === 'literal' ? node.value : undefined));
  if (operator === 'in' && right.kind === 'list' && literals.every((value) => typeof value === 'string')) {
    return literals.length > TEXTS_MAX ? null : { kind: 'text', text, test: 'isAny', texts: literals, negate: false };
  }
  const [literal] = literals;
  if (right.kind !== 'literal') return null;
  const equality = operator === '==' || operator === '!=';
  if (literal === null && equality)
    return { kind: 'text', text, test: 'isNull', texts: [''], negate: operator === '!=' };
  if (typeof literal !== 'string') return null;
  if (equality) return { kind: 'text', text, test: 'isAny', texts: [literal], negate: operator === '!=' };
  const negate = operator === '>' || operator === '>=';
  if (!negate && operator !== '<' && operator !== '<=') return null;
  const test = operator === '<' || operator === '>=' ? '<' : '<=';
  return { kind: 'text', text, test, texts: [literal], negate };
}

/** Two texts, of which the closures may compute one. */
function planTexts(planner: Planner, { operator, left, right }: BinaryNode): StatePlan | null {
  const areTexts = [left, right].every((node) => kindOf(planner.expression, node) === 'string');
  if (!areTexts || [left, right].every((node) => planner.texts(node) === null)) return null;
  const [first, second] = [textOf(planner, left), textOf(planner, right)];
  if (operator === '==' || operator === '!=') {
    return { kind: 'texts', test: 'isAny', negate: operator === '!=', left: first, right: second };
  }
  if (operator !== '<' && operator !== '<=' && operator !== '>' && operator !== '>=') return null;
  const negate = operator === '>' || operator === '>=';
  return {
    kind: 'texts',
    test: operator === '<' || operator === '>=' ? '<' : '<=',
    negate,
    left: first,
    right: second,
  };
}

function listedTexts(list: ExpressionNode & { kind: 'list' }): (ExpressionNode | undefined)[] {
  return list.elements.map(({ value, optional }) => (optional ? undefined : value));
}

/** x.startsWith("a") and its like. */
function planTextCall(planner: Planner, node: CallNode): StatePlan | null {
  const name = functionOf(planner.expression, node);
  const [first, part, ...more] = argumentsOf(planner.expression, node) ?? [];
  if (first === undefined || kindOf(planner.expression, first) !== 'string' || more.length > 0) return null;
  if (name === 'is_blank') return { kind: 'blank', text: textOf(planner, first) };
  const literal = literalText(part);
  if (literal === null) return null;
  if (name === 'matches') return { kind: 'pattern', text: textOf(planner, first), pattern: literal };
  if (name !== 'startsWith' && name !== 'endsWith' && name !== 'contains') return null;
  return { kind: 'text', text: textOf(planner, first), test: name, texts: [literal], negate: false };
}

function isOrder(operator: string): operator is keyof typeof ORDERS {
  return Object.hasOwn(ORDERS, operator);
}
