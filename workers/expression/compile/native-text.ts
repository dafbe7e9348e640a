// Owns what a call that reads a text does with one that a file knows for a number or a date: the text of a cell may come
// through other functions, and as long as they left it as it stood there it is what the cell is.
import type { CheckedExpression } from '../check/resolution.ts';
import type { ExpressionNode } from '../syntax/ast.ts';

/** A column by its name, or the cell at hand. */
export type TextSource = { readonly column: string } | 'value';

/** The cells whose text a node may give as it stands there. */
export function textSources(expression: CheckedExpression, node: ExpressionNode): readonly TextSource[] {
  const resolution = expression.resolutions.get(node);
  if (resolution?.kind === 'column') return [{ column: resolution.name }];
  if (resolution?.kind === 'value') return ['value'];
  const within = (nodes: readonly ExpressionNode[]): readonly TextSource[] =>
    nodes.flatMap((part) => textSources(expression, part));
  switch (node.kind) {
    case 'conditional':
      return within([node.then, node.otherwise]);
    case 'call':
      return within(resolution?.kind === 'call' ? resolution.arguments : []);
    case 'bind':
      return within([node.value, node.body]);
    default:
      return [];
  }
}
