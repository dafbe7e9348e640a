// Owns what a message says where types do not fit: what was given, what is taken, and what to write instead.
import type { FunctionDefinition } from '../functions/definition.ts';
import type { BinaryNode, ExpressionNode } from '../syntax/ast.ts';
import type { CheckScope } from './check-scope.ts';
import { type Type, typeText } from './type.ts';

/** Kinds of numbers. */
export const NUMBERS: ReadonlySet<string> = new Set(['int', 'uint', 'double', 'decimal']);

/** Of a comparison that is never true. */
export function differentTypes(scope: CheckScope, node: BinaryNode, left: Type, right: Type): string {
  const shown = (type: Type) => typeText(scope.final(type));
  const isBracketed = node.left.kind === 'list' && left.kind === 'list';
  const hint = isBracketed ? ' Write the name of a column without [ ].' : conversionHint(left, right);
  return `${node.operator} compares ${shown(left)} with ${shown(right)}, which are never equal.${hint}`;
}

/** Of a call or an operator none of whose overloads fits. */
export function noOverload(
  scope: CheckScope,
  node: ExpressionNode,
  definition: FunctionDefinition,
  types: readonly Type[],
): string {
  const shown = types.map((type) => typeText(scope.final(type)));
  if (node.kind === 'binary') {
    if (shown.includes('null')) return `${node.operator} beside null always gives null. Write x == null to ask for it.`;
    const [left, right] = types as [Type, Type];
    const hint =
      calendarHint(node.operator, left, right) || chainHint(node) || textHint(types) || conversionHint(left, right);
    return `${node.operator} does not take ${shown[0]} and ${shown[1]}.${hint}`;
  }
  if (node.kind === 'unary') return `- does not take ${shown[0]}.${textHint(types)}`;
  if (definition.lazy !== undefined)
    return `The values of ${definition.name} need one type, but they are ${shown.join(' and ')}.`;
  const wanted = definition.overloads.map((overload) => {
    const rest = overload.rest === undefined ? [] : ['...'];
    return `(${[...overload.parameters.map(typeText), ...rest].join(', ')})`;
  });
  const isOfNumbers = definition.overloads.every(({ parameters }) => parameters.every(({ kind }) => NUMBERS.has(kind)));
  const takesDecimals = definition.overloads.some(({ parameters }) =>
    parameters.some(({ kind }) => kind === 'decimal'),
  );
  return `${definition.name} takes ${[...new Set(wanted)].slice(0, 6).join(' or ')}, not (${shown.join(', ')}).${isOfNumbers ? textHint(types, takesDecimals ? 'decimal' : 'double') : ''}`;
}

/** Cells are texts until an operation or a function reads them. */
function textHint(types: readonly Type[], number = 'decimal'): string {
  return types.every(({ kind }) => kind === 'string') ? ` Write ${number}(...) around a text that is a number.` : '';
}

/** Dates have no sign for what is done with their days. */
function calendarHint(operator: string, left: Type, right: Type): string {
  if (left.kind !== 'date' || (operator !== '-' && operator !== '+')) return '';
  if (right.kind === 'date')
    return operator === '-' ? ' Write days_between(from, to) or months_between(from, to).' : '';
  if (right.kind !== 'int') return '';
  const days = operator === '-' ? '-n' : 'n';
  return ` Write add_days(d, ${days}) or add_months(d, ${days}).`;
}

/** Comparisons do not go on: `1 < x < 5` would compare true with 5. */
function chainHint({ operator, left }: BinaryNode): string {
  const goesOn = left.kind === 'binary' && ORDERS.has(operator) && ORDERS.has(left.operator);
  return goesOn ? ` Write a ${left.operator} b && b ${operator} c.` : '';
}

const ORDERS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

function conversionHint(left: Type, right: Type): string {
  const kinds = [left.kind, right.kind];
  const both = (one: string, other: string) =>
    kinds.includes(one as Type['kind']) && kinds.includes(other as Type['kind']);
  if (both('decimal', 'double')) return ' Write decimal(...) around the double.';
  if (both('int', 'double')) return ' Write double(...) around the int.';
  if (both('string', 'date')) return ' Write date("2024-01-31") for a date.';
  if (both('string', 'timestamp')) return ' Write timestamp("2024-01-31T00:00:00Z") for an instant.';
  if (both('timestamp', 'date')) return ' Write date(...) around the instant.';
  if (kinds.includes('string') && kinds.some((kind) => NUMBERS.has(kind))) {
    return ' Write decimal(...), int(...) or double(...) around the text, or string(...) around the number.';
  }
  return '';
}
