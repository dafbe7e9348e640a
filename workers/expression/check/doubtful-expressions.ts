// Detects expressions that are valid and probably mistakes: comparisons with empty texts, integer divisions, and
// unintended comments.
import type { BinaryNode, ExpressionNode } from '../syntax/ast.ts';
import { tokenize } from '../syntax/lexer.ts';
import type { CheckedExpression } from './resolution.ts';

// Detects comparisons of a text with "" that are probably mistakes. Empty cells are null, so `x != ""` is true for
// them and `x == ""` is false. If the same expression also checks for null, its author is assumed to know this.

export interface EmptyComparison {
  readonly operator: '==' | '!=';
  /** Name of the column, or null for `value`, the current cell. */
  readonly column: string | null;
}

/** The comparisons in the order of the check, without duplicates of column and operator. */
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

/** Functions that map null to null and blank to blank: comparing their result is like comparing the cell. */
const EDITS: ReadonlySet<string> = new Set([
  'trim',
  'lower',
  'upper',
  'title',
  'lowerAscii',
  'upperAscii',
  'strip_accents',
]);

/** The text column that a node returns, unchanged or edited; null for `value`; undefined for other nodes. */
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

/** Note for the author: a sentence, and what to write instead. */
export function emptyComparisonNote({ operator, column }: EmptyComparison): string {
  const name = column ?? 'value';
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
  const written = isPlain ? name : `row[${JSON.stringify(name)}]`;
  return operator === '!='
    ? `${written} != "" is also true for an empty cell, because an empty cell is null. Write !is_blank(${written}).`
    : `${written} == "" is not true for an empty cell, because an empty cell is null. Write is_blank(${written}).`;
}

// Detects integer divisions that are probably mistakes. CEL drops the fraction, so that `paid / total` is 0 for every
// partial payment. Authors who write int(a / b), a / 10 * 10, or use % in the same expression are assumed to know
// this.

/** Note for the author, or null if no division of a column is doubtful. */
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
    'With two whole numbers, / drops the fraction: 7 / 2 is 3. Write decimal(a) / b to keep the fraction, or int(a / b) if it ' +
    'is to be dropped.'
  );
}

/** True for `a / 10` if it is multiplied by the same 10: this deliberately rounds to a multiple. */
function isDivisionBy(node: ExpressionNode, step: ExpressionNode): boolean {
  if (node.kind !== 'binary' || node.operator !== '/') return false;
  const { right } = node;
  if (right.kind === 'literal' && step.kind === 'literal') return right.value === step.value;
  return right.kind === 'identifier' && step.kind === 'identifier' && right.name === step.name;
}

/** True if a side consists of columns or the current cell: unchanged, read as whole numbers, or in arithmetic. */
function isCell(expression: CheckedExpression, side: ExpressionNode): boolean {
  if (side.kind === 'call' && side.name === 'int') return side.arguments.some((each) => isCell(expression, each));
  if (side.kind === 'binary') return isCell(expression, side.left) || isCell(expression, side.right);
  if (side.kind === 'unary') return isCell(expression, side.operand);
  const kind = expression.resolutions.get(side)?.kind;
  return kind === 'column' || kind === 'value';
}

// Detects unintended comments. `//` starts a comment in CEL, so authors who use it as a division lose the rest of the
// expression without an error.

/**
 * Note about a single-line expression that ends with a comment, or null. Comments in longer expressions are intended.
 */
export function lineCommentNote(source: string): string | null {
  if (!source.includes('//') || source.trimEnd().includes('\n')) return null;
  const last = tokenize(source).at(-2);
  if (last === undefined || !source.slice(last.end).includes('//')) return null;
  return 'Text after // is a comment. To divide, write /, which drops the fraction if both numbers are whole (int).';
}
