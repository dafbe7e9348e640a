// Determines whether a node can cause an error. If it cannot, && and || need no error handler.
import type { ExpressionNode } from '../syntax/ast.ts';
import type { CheckedExpression } from './resolution.ts';

/** Returns false only if evaluating the node never throws. */
export function canFail(expression: CheckedExpression, node: ExpressionNode): boolean {
  switch (node.kind) {
    case 'literal':
      return false;
    case 'identifier':
    case 'select':
    case 'index': {
      const kind = expression.resolutions.get(node)?.kind;
      return kind === undefined || kind === 'unknown' || kind === 'variable';
    }
    case 'unary':
      return node.operator === '-' || !isBoolean(expression, node.operand) || canFail(expression, node.operand);
    case 'logical':
      return [node.left, node.right].some((side) => !isBoolean(expression, side) || canFail(expression, side));
    case 'conditional':
      return (
        !isBoolean(expression, node.condition) ||
        [node.condition, node.then, node.otherwise].some((part) => canFail(expression, part))
      );
    case 'binary':
      return (
        !COMPARISONS.has(node.operator) ||
        [node.left, node.right].some((side) => !isScalar(expression, side) || canFail(expression, side))
      );
    case 'call':
      return (
        !isSafeCall(expression, node) ||
        [node.target, ...node.arguments].some((part) => part !== null && canFail(expression, part))
      );
    default:
      return true;
  }
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

const SAFE_FUNCTIONS: ReadonlySet<string> = new Set([
  'contains',
  'startsWith',
  'endsWith',
  'size',
  'is_blank',
  'trim',
  'coalesce',
]);

const SCALARS: ReadonlySet<string> = new Set(
  'null bool int uint double decimal string date timestamp duration'.split(' '),
);

function isBoolean(expression: CheckedExpression, node: ExpressionNode): boolean {
  return expression.types.get(node)!.kind === 'bool';
}

function isScalar(expression: CheckedExpression, node: ExpressionNode): boolean {
  return SCALARS.has(expression.types.get(node)!.kind);
}

function isSafeCall(expression: CheckedExpression, node: ExpressionNode): boolean {
  const resolution = expression.resolutions.get(node);
  return resolution?.kind === 'call' && resolution.certain && SAFE_FUNCTIONS.has(resolution.definition.name);
}
