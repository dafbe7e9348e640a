// Resolves overloads of calls and operators by static types, and explains mismatched types.

import { nearestName } from '../../values/suggestion.ts';
import type { Value } from '../compile/value.ts';
import type { Constants, FunctionDefinition, Overload } from '../functions/definition.ts';
import { FUNCTIONS } from '../functions/index.ts';
import { OPERATORS } from '../functions/operator.ts';
import { type BinaryNode, type CallNode, dottedName, type ExpressionNode, type UnaryNode } from '../syntax/ast.ts';
import { foreignFunction } from '../syntax/foreign-words.ts';
import type { CheckScope } from './names.ts';
import {
  BOOL,
  DYN,
  isAssignable,
  isSameType,
  type Substitution,
  substitute,
  type Type,
  typeText,
  variable,
} from './type.ts';

// Messages about mismatched types: the given types, the accepted types, and what to write instead.

/** Kinds of numeric types. */
const NUMBERS: ReadonlySet<string> = new Set(['int', 'uint', 'double', 'decimal']);

/** Message for a comparison that is never true. */
function differentTypes(scope: CheckScope, node: BinaryNode, left: Type, right: Type): string {
  const shown = (type: Type) => typeText(scope.final(type));
  const isBracketed = node.left.kind === 'list' && left.kind === 'list';
  const hint = isBracketed
    ? ' Write the name of a column without [ ].'
    : typeNameHint([node.left, node.right], [left, right]) || conversionHint(left, right);
  return `${node.operator} compares ${shown(left)} with ${shown(right)}, which are never equal.${hint}`;
}

/** Message for a call or operator without a matching overload. */
function noOverload(
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
      typeNameHint([node.left, node.right], types) ||
      calendarHint(node.operator, left, right) ||
      chainHint(node) ||
      textHint(types) ||
      conversionHint(left, right);
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
  const operands = node.kind === 'call' ? [...(node.target === null ? [] : [node.target]), ...node.arguments] : [];
  const numbers = isOfNumbers ? textHint(types, takesDecimals ? 'decimal' : 'double') : '';
  const hint = typeNameHint(operands, types) || numbers;
  return `${definition.name} takes ${[...new Set(wanted)].slice(0, 6).join(' or ')}, not (${shown.join(', ')}).${hint}`;
}

/** Hint for a column with the name of a type, such as `type` or `list`, that the Template does not declare. */
function typeNameHint(operands: readonly ExpressionNode[], types: readonly Type[]): string {
  const node = operands.find((operand, index) => operand.kind === 'identifier' && types[index]?.kind === 'type');
  if (node?.kind !== 'identifier') return '';
  const name = JSON.stringify(node.name);
  return ` ${name} is the name of a type. For a column of this name, write row[${name}], or declare it in input.columns.`;
}

/** Hint for texts: cells are texts until an operation or function converts them. */
function textHint(types: readonly Type[], number = 'decimal'): string {
  return types.every(({ kind }) => kind === 'string') ? ` Write ${number}(...) around a text that is a number.` : '';
}

/** Hint for dates: their arithmetic uses functions, not operators. */
function calendarHint(operator: string, left: Type, right: Type): string {
  if (left.kind !== 'date' || (operator !== '-' && operator !== '+')) return '';
  if (right.kind === 'date')
    return operator === '-' ? ' Write days_between(from, to) or months_between(from, to).' : '';
  if (right.kind !== 'int') return '';
  const days = operator === '-' ? '-n' : 'n';
  return ` Write add_days(d, ${days}) or add_months(d, ${days}).`;
}

/** Hint for chained comparisons: `1 < x < 5` would compare a boolean with 5. */
function chainHint({ operator, left }: BinaryNode): string {
  const isChained = left.kind === 'binary' && ORDERS.has(operator) && ORDERS.has(left.operator);
  return isChained ? ` Write a ${left.operator} b && b ${operator} c.` : '';
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

// Overload resolution of calls and operators by static types, modelled on cel-go's checker, and the messages if no
// overload matches.

/** Checks `name(...)`, `target.name(...)`, or a function with a dotted name such as math.abs. */
export function checkCall(scope: CheckScope, node: CallNode): Type {
  const qualified = node.target === null ? node.name : qualifiedName(scope, node);
  if (qualified !== null) {
    const definition = FUNCTIONS.get(qualified);
    if (definition !== undefined && definition.style !== 'method') {
      return resolveCall(scope, node, definition, node.arguments);
    }
    if (node.target === null) return unknownFunction(scope, node, definition);
  }
  const definition = FUNCTIONS.get(node.name);
  const parameters = [node.target!, ...node.arguments];
  if (definition !== undefined && definition.style !== 'function')
    return resolveCall(scope, node, definition, parameters);
  return unknownFunction(scope, node, definition);
}

/** Arithmetic and ordering operators use overloads. Equality and `in` accept all types that can be equal. */
export function checkBinary(scope: CheckScope, node: BinaryNode): Type {
  const sides = [node.left, node.right];
  const definition = OPERATORS.get(node.operator);
  if (definition !== undefined) return resolveCall(scope, node, definition, sides);
  for (const side of sides) scope.check(side);
  scope.shareDecimal(sides);
  const [left, right] = sides.map((side) => scope.resolve(scope.typeOf(side))) as [Type, Type];
  if (node.operator === 'in') checkMembership(scope, node, left, right);
  else if (!mayEqual(scope, left, right)) scope.mismatch(differentTypes(scope, node, left, right), node);
  return BOOL;
}

export function checkUnary(scope: CheckScope, node: UnaryNode): Type {
  if (node.operator === '-') return resolveCall(scope, node, OPERATORS.get('-_')!, [node.operand]);
  const type = scope.check(node.operand);
  if (type.kind !== 'null' && !isAssignable(scope.bound, type, BOOL)) {
    const hint = type.kind === 'string' ? ' Write x == null, or x != "...".' : '';
    scope.mismatch(`! negates a condition, but this is ${typeText(scope.final(type))}.${hint}`, node);
  }
  return BOOL;
}

/**
 * The dotted name of a function, such as `math.abs`, if the target consists of names only and the first one is not a
 * variable.
 */
function qualifiedName(scope: CheckScope, node: CallNode): string | null {
  const target = dottedName(node.target!);
  if (target === null) return null;
  const [root] = target.split('.', 1) as [string];
  if (scope.local(root) !== undefined) return null;
  return FUNCTIONS.has(`${target}.${node.name}`) ? `${target}.${node.name}` : null;
}

function unknownFunction(scope: CheckScope, node: CallNode, other: FunctionDefinition | undefined): Type {
  if (node.target !== null) scope.check(node.target);
  for (const parameter of node.arguments) scope.check(parameter);
  scope.resolutions.set(node, { kind: 'unknown' });
  if (scope.dynamic) return DYN;
  if (other !== undefined) {
    const form = other.style === 'method' ? `x.${node.name}(...)` : `${node.name}(...)`;
    scope.report('EXPR_UNKNOWN_FUNCTION', `${node.name} is written ${form}.`, node);
    return DYN;
  }
  const foreign = foreignFunction(node.name);
  const nearest = nearestName(node.name, FUNCTIONS.keys());
  const hint = foreign !== null ? ` ${foreign}` : nearest === null ? '' : ` Did you mean ${nearest}?`;
  scope.report('EXPR_UNKNOWN_FUNCTION', `The function ${node.name} does not exist.${hint}`, node);
  return DYN;
}

function resolveCall(
  scope: CheckScope,
  node: ExpressionNode,
  definition: FunctionDefinition,
  parameters: readonly ExpressionNode[],
): Type {
  for (const parameter of parameters) scope.check(parameter);
  if (definition.sharesType === true) scope.shareDecimal(parameters);
  checkConstants(scope, node, definition, parameters);
  const types = parameters.map((parameter) => scope.resolve(scope.typeOf(parameter)));
  const constants = constantsOf(parameters);
  const fitting: Overload[] = [];
  let result: Type | null = null;
  for (const overload of definition.overloads) {
    const instance = instantiate(scope, overload, parameters.length);
    if (instance === null || !fits(scope, definition, types, instance.parameters)) continue;
    const refined = overload.refine?.(constants) ?? scope.resolve(instance.result);
    result = result === null || isSameType(result, refined) ? refined : DYN;
    fitting.push(overload);
  }
  if (fitting.length === 0) {
    // An argument that already has a problem has no known type; do not report consequences.
    const follows = scope.problems.length > 0 && types.some(({ kind }) => kind === 'dyn');
    if (!follows) scope.mismatch(noOverload(scope, node, definition, types), node);
    // In dynamic mode, the values at run time decide.
    fitting.push(...definition.overloads.filter((overload) => takes(overload, parameters.length)));
  }
  const certain = result !== null && fitting.length === 1 && isCertain(types, fitting[0]!);
  scope.resolutions.set(node, { kind: 'call', definition, overloads: fitting, certain, arguments: parameters });
  return result ?? DYN;
}

/** The constants among the arguments, for checks and for work that can be done once. */
export function constantsOf(parameters: readonly ExpressionNode[]): Constants {
  return parameters.map((parameter): Value | undefined => (parameter.kind === 'literal' ? parameter.value : undefined));
}

function checkConstants(
  scope: CheckScope,
  node: ExpressionNode,
  definition: FunctionDefinition,
  parameters: readonly ExpressionNode[],
): void {
  for (const position of definition.literals ?? []) {
    const parameter = parameters[position];
    if (parameter !== undefined && parameter.kind !== 'literal') {
      scope.report('EXPR_BAD_ARGUMENT', `Argument ${position + 1} of ${definition.name} must be a literal.`, parameter);
      return;
    }
  }
  const constants = constantsOf(parameters);
  const problem = definition.check?.(constants) ?? null;
  if (problem !== null && !scope.dynamic) scope.report('EXPR_BAD_ARGUMENT', problem, node);
  if (definition.name === 'lookup') checkLookup(scope, node, constants);
}

function checkLookup(scope: CheckScope, node: ExpressionNode, constants: Constants): void {
  const { tables } = scope.environment;
  const table = constants[0];
  if (typeof table !== 'string') return;
  const columns = tables?.get(table);
  if (columns === undefined) {
    const hint = scope.suggest(table, () => tables?.keys() ?? []);
    scope.report('EXPR_UNKNOWN_TABLE', `The template declares no table ${JSON.stringify(table)}.${hint}`, node);
    return;
  }
  scope.tables.add(table);
  if (columns === null) return;
  for (const column of constants.length > 3 ? [constants[1], constants[3]] : [constants[2]]) {
    if (typeof column !== 'string' || columns.includes(column)) continue;
    const hint = scope.suggest(column, () => columns);
    const message = `The table ${JSON.stringify(table)} has no column ${JSON.stringify(column)}.${hint}`;
    scope.report('EXPR_UNKNOWN_TABLE', message, node);
  }
}

function takes(overload: Overload, count: number): boolean {
  return overload.rest === undefined ? count === overload.parameters.length : count >= overload.parameters.length;
}

/** The overload for this number of arguments, with fresh type variables. */
function instantiate(
  scope: CheckScope,
  overload: Overload,
  count: number,
): { parameters: Type[]; result: Type } | null {
  if (!takes(overload, count)) return null;
  const fresh: Substitution = new Map();
  for (const name of ['T', 'A', 'B']) fresh.set(name, variable(`${name}${scope.freshVariable().name}`));
  const parameters = Array.from({ length: count }, (_, index) =>
    substitute(fresh, overload.parameters[index] ?? overload.rest!, false),
  );
  return { parameters, result: substitute(fresh, overload.result, false) };
}

function fits(
  scope: CheckScope,
  definition: FunctionDefinition,
  types: readonly Type[],
  wanted: readonly Type[],
): boolean {
  if (saysNothing(definition, types)) return false;
  const attempt: Substitution = new Map(scope.bound);
  for (const [index, type] of types.entries()) {
    // A null among other values matches every type, and does not determine a type variable.
    if (type.kind === 'null' && (wanted[index]!.kind !== 'variable' || types.some(({ kind }) => kind !== 'null')))
      continue;
    if (!isAssignable(attempt, type, wanted[index]!)) return false;
  }
  for (const [name, type] of attempt) scope.bound.set(name, type);
  return true;
}

/**
 * True if the result is always null and the call is therefore a mistake: all arguments are null, or one operand of an
 * operator is a literal null.
 */
export function saysNothing(definition: FunctionDefinition, types: readonly Type[]): boolean {
  if (definition.acceptsNull === true || types.length === 0) return false;
  const isNull = ({ kind }: Type) => kind === 'null';
  return OPERATORS.has(definition.name) ? types.some(isNull) : types.every(isNull);
}

function isCertain(types: readonly Type[], overload: Overload): boolean {
  return types.every((type, index) => {
    const wanted = overload.parameters[index] ?? overload.rest!;
    return wanted.kind === 'variable' || wanted.kind === 'dyn' || (type.kind !== 'dyn' && type.kind !== 'variable');
  });
}

function mayEqual(scope: CheckScope, left: Type, right: Type): boolean {
  if (left.kind === 'null' || right.kind === 'null') return true;
  if (NUMBERS.has(left.kind) && NUMBERS.has(right.kind)) return true;
  return isAssignable(scope.bound, left, right);
}

function checkMembership(scope: CheckScope, node: BinaryNode, left: Type, right: Type): void {
  if (
    right.kind !== 'list' &&
    right.kind !== 'map' &&
    right.kind !== 'dyn' &&
    right.kind !== 'variable' &&
    right.kind !== 'null'
  ) {
    const hint = right.kind === 'string' ? ' Write text.contains(part) to search in a text.' : '';
    scope.mismatch(`in searches a list or the keys of a map, not ${typeText(scope.final(right))}.${hint}`, node);
    return;
  }
  const element = right.parameters[0];
  if (element === undefined || mayEqual(scope, left, scope.resolve(element))) return;
  scope.mismatch(differentTypes(scope, node, left, element), node);
}
