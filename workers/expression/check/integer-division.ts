// Divisions of whole numbers that probably mean something else: CEL leaves the fraction off, so that `paid / total` is 0 for
// every part of it. Who writes int(a / b), or a / 10 * 10, knows.
import type { BinaryNode, ExpressionNode } from '../syntax/ast.ts';
import type { CheckedExpression } from './resolution.ts';

/** What an author is told, or null where no division of a column is in doubt. */
export function integerDivisionNote(expression: CheckedExpression): string | null {
  const meant = new Set<ExpressionNode>();
  const divisions: BinaryNode[] = [];
  for (const node of expression.types.keys()) {
    if (node.kind === 'call' && node.name === 'int') for (const each of node.arguments) meant.add(each);
    if (node.kind !== 'binary') continue;
    if (isStep(node)) meant.add(node.left);
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

/** Whether it is `a / 10 * 10`, the step that a stands in. */
function isStep({ operator, left, right }: BinaryNode): boolean {
  if (operator !== '*' || left.kind !== 'binary' || left.operator !== '/') return false;
  return left.right.kind === 'literal' && right.kind === 'literal' && left.right.value === right.value;
}

/** Whether a side is a column or the cell at hand, as it is or read as a whole number. */
function isCell({ resolutions }: CheckedExpression, side: ExpressionNode): boolean {
  const node = side.kind === 'call' && side.name === 'int' ? (side.arguments[0] ?? side) : side;
  const kind = resolutions.get(node)?.kind;
  return kind === 'column' || kind === 'value';
}
