// Divisions of whole numbers that probably mean something else: CEL leaves the fraction off, so that `paid / total` is 0 for
// every part of it. Who writes int(a / b), a / 10 * 10, or % beside it, knows.
import type { BinaryNode, ExpressionNode } from '../syntax/ast.ts';
import type { CheckedExpression } from './resolution.ts';

/** What an author is told, or null where no division of a column is in doubt. */
export function integerDivisionNote(expression: CheckedExpression): string | null {
  const meant = new Set<ExpressionNode>();
  const divisions: BinaryNode[] = [];
  for (const node of expression.types.keys()) {
    if (node.kind === 'binary' && node.operator === '%') return null;
    if (node.kind === 'call' && node.name === 'int') for (const each of node.arguments) meant.add(each);
    if (node.kind !== 'binary') continue;
    if (node.operator === '*') {
      if (isDivisionBy(node.left, node.right)) meant.add(node.left);
      if (isDivisionBy(node.right, node.left)) meant.add(node.right);
    }
    if (node.operator === '/' && expression.types.get(node)?.kind === 'int') divisions.push(node);
  }
  const doubtful = divisions.filter(
    (node) => !meant.has(node) && [node.left, node.right].some((side) => isCell(expression, side)),
  );
  if (doubtful.length === 0) return null;
  return (
    'Of two whole numbers, / leaves the fraction off: 7 / 2 is 3. Write decimal(a) / b to keep it, or int(a / b) where it ' +
    'is to be left off.'
  );
}

/** Whether it is `a / 10`, which times 10 again is the step that a stands in. */
function isDivisionBy(node: ExpressionNode, step: ExpressionNode): boolean {
  if (node.kind !== 'binary' || node.operator !== '/') return false;
  const { right } = node;
  if (right.kind === 'literal' && step.kind === 'literal') return right.value === step.value;
  return right.kind === 'identifier' && step.kind === 'identifier' && right.name === step.name;
}

/** Whether a side is made of columns or the cell at hand, as they are, read as whole numbers, or calculated with. */
function isCell(expression: CheckedExpression, side: ExpressionNode): boolean {
  if (side.kind === 'call' && side.name === 'int') return side.arguments.some((each) => isCell(expression, each));
  if (side.kind === 'binary') return isCell(expression, side.left) || isCell(expression, side.right);
  if (side.kind === 'unary') return isCell(expression, side.operand);
  const kind = expression.resolutions.get(side)?.kind;
  return kind === 'column' || kind === 'value';
}
