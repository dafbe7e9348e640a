// Comparisons of a text with "" that probably mean something else: empty cells are null, so `x != ""` keeps them and
// `x == ""` finds none. Where the same expression asks for null as well, its author knows.
import type { ExpressionNode } from '../syntax/ast.ts';
import type { CheckedExpression } from './resolution.ts';

export interface EmptyComparison {
  readonly operator: '==' | '!=';
  /** The column, or null for `value`, the cell at hand. */
  readonly column: string | null;
}

/** Each column and operator once, in the order of the check. */
export function emptyComparisons(expression: CheckedExpression): readonly EmptyComparison[] {
  const compared = new Map<string, EmptyComparison>();
  const asked = new Set<string | null | undefined>();
  for (const node of expression.types.keys()) {
    if (node.kind === 'call' && node.name === 'is_blank') {
      asked.add(textCell(expression, node.target ?? node.arguments[0]!));
    }
    if (node.kind !== 'binary' || (node.operator !== '==' && node.operator !== '!=')) continue;
    const { operator, left, right } = node;
    const [cell, other] = left.kind === 'literal' ? [right, left] : [left, right];
    if (other.kind !== 'literal') continue;
    const column = textCell(expression, cell);
    if (other.value === null) asked.add(column);
    else if (other.value === '' && column !== undefined) compared.set(`${operator}${column}`, { operator, column });
  }
  return [...compared.values()].filter(({ column }) => !asked.has(column));
}

/** Functions that leave null null, and what is blank blank: to compare what they give is to compare the cell. */
const EDITS: ReadonlySet<string> = new Set([
  'trim',
  'lower',
  'upper',
  'title',
  'lowerAscii',
  'upperAscii',
  'strip_accents',
]);

/** The column of text that a node is, as it is or edited, null for `value`; undefined: neither. */
function textCell(expression: CheckedExpression, node: ExpressionNode): string | null | undefined {
  const { resolutions, types } = expression;
  if (types.get(node)?.kind !== 'string') return undefined;
  if (node.kind === 'call' && EDITS.has(node.name)) {
    const edited = node.target ?? node.arguments[0];
    return edited === undefined || edited === null ? undefined : textCell(expression, edited);
  }
  const resolution = resolutions.get(node);
  if (resolution?.kind === 'column') return resolution.name;
  return resolution?.kind === 'value' ? null : undefined;
}

/** What an author is told of one: a sentence, and what to write instead. */
export function emptyComparisonNote({ operator, column }: EmptyComparison): string {
  const name = column ?? 'value';
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
  const written = isPlain ? name : `row[${JSON.stringify(name)}]`;
  return operator === '!='
    ? `${written} != "" is true for an empty cell too, for that is null. Write !is_blank(${written}).`
    : `${written} == "" is not true for an empty cell, for that is null. Write is_blank(${written}).`;
}
