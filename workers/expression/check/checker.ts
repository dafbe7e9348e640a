// Static check of an expression: resolves names, determines the type of every node, and reports all problems at once.
// For overloads of calls see call-checker.ts, for names names.ts.
import type { ExpressionEnvironment } from '../compile/environment.ts';
import { Uint, type Value } from '../compile/value.ts';
import type { ComprehensionNode, ExpressionNode, ListNode, MapNode, OptionalMapNode } from '../syntax/ast.ts';
import type { ExpressionProblem } from '../syntax/lexer.ts';
import { parseExpression } from '../syntax/parser.ts';
import { checkBinary, checkCall, checkUnary } from './call-checker.ts';
import { CheckScope, checkIdentifier, checkIndex, checkSelect } from './names.ts';
import type { CheckedExpression } from './resolution.ts';
import {
  BOOL,
  BYTES,
  DECIMAL,
  DOUBLE,
  DYN,
  INT,
  isAssignable,
  listOf,
  mapOf,
  moreGeneral,
  NULL,
  optionalOf,
  STRING,
  type Type,
  typeText,
  UINT,
} from './type.ts';

/** Parses and checks an expression. Returns everything that a compiler needs, or all problems. */
export function checkExpression(
  source: string,
  environment: ExpressionEnvironment,
): { expression: CheckedExpression } | { problems: readonly ExpressionProblem[] } {
  const parsed = parseExpression(source);
  if ('problem' in parsed) return { problems: [parsed.problem] };
  const scope = new CheckScope(environment, checkNode);
  const type = scope.check(parsed.root);
  if (scope.problems.length > 0) return { problems: scope.problems };
  const types = scope.finalTypes();
  return {
    expression: {
      source,
      root: parsed.root,
      type: types.get(parsed.root) ?? type,
      types,
      resolutions: scope.resolutions,
      slots: scope.slots,
      slotCount: scope.slotCount,
      columns: [...scope.columns],
      readsValue: scope.uses.has('value'),
      readsRunRow: scope.uses.has('run_row'),
      dependsOnDay: scope.uses.has('started_at'),
      tables: [...scope.tables],
    },
  };
}

function checkNode(scope: CheckScope, node: ExpressionNode): Type {
  switch (node.kind) {
    case 'literal':
      return literalType(node.value);
    case 'identifier':
      return checkIdentifier(scope, node);
    case 'select':
      return checkSelect(scope, node);
    case 'index':
      return checkIndex(scope, node);
    case 'call':
      return checkCall(scope, node);
    case 'unary':
      return checkUnary(scope, node);
    case 'binary':
      return checkBinary(scope, node);
    case 'logical':
      for (const side of [node.left, node.right]) checkCondition(scope, side, `${node.operator} joins conditions`);
      return BOOL;
    case 'conditional':
      checkCondition(scope, node.condition, '? : begins with a condition');
      return branchType(scope, node, node.then, node.otherwise);
    case 'list':
      return checkList(scope, node);
    case 'map':
      return checkMap(scope, node);
    case 'message':
      scope.report(
        'EXPR_UNSUPPORTED',
        `${node.name}{...} is the syntax of a protobuf message, which expressions do not have. Write a map {...}.`,
        node,
      );
      return DYN;
    case 'comprehension':
      return checkComprehension(scope, node);
    case 'bind': {
      const type = scope.check(node.value);
      return scope.withLocals(node, [[node.variable, type]], () => scope.check(node.body));
    }
    case 'optional_map':
      return checkOptionalMap(scope, node);
  }
}

function literalType(value: Value): Type {
  if (value === null) return NULL;
  if (typeof value === 'boolean') return BOOL;
  if (typeof value === 'string') return STRING;
  if (typeof value === 'number') return DOUBLE;
  if (typeof value === 'bigint') return INT;
  if (value instanceof Uint) return UINT;
  return value instanceof Uint8Array ? BYTES : DECIMAL;
}

/** Hints for logical operators that are applied to texts. */
const TEXT_HINTS: ReadonlyMap<string, string> = new Map([
  ['||', ' Write a + b to join texts, coalesce(a, b) for b in place of null.'],
  ['&&', ' Write a condition, such as x != null.'],
  ['? ', ' Write a condition, such as x != null or x == "...".'],
]);

function checkCondition(scope: CheckScope, node: ExpressionNode, why: string): void {
  const type = scope.check(node);
  if (type.kind !== 'null' && !isAssignable(scope.bound, type, BOOL)) {
    const hint = type.kind !== 'string' ? '' : (TEXT_HINTS.get(why.slice(0, 2)) ?? '');
    const message = `${why}, but this is ${typeText(scope.final(type))}.${hint}`;
    // Report the problem once, regardless of how many texts are joined.
    if (!scope.problems.some((problem) => problem.message === message)) scope.mismatch(message, node);
  }
}

function branchType(scope: CheckScope, node: ExpressionNode, then: ExpressionNode, otherwise: ExpressionNode): Type {
  scope.check(then);
  scope.check(otherwise);
  scope.shareDecimal([then, otherwise]);
  const left = scope.typeOf(then);
  const right = scope.typeOf(otherwise);
  // A null branch does not determine the type.
  if (left.kind === 'null') return right;
  if (right.kind === 'null') return left;
  if (isAssignable(scope.bound, right, left)) return moreGeneral(scope.resolve(left), scope.resolve(right));
  scope.mismatch(
    `Both values of ? : need one type, but they are ${typeText(scope.final(left))} and ${typeText(scope.final(right))}.`,
    node,
  );
  return DYN;
}

function checkList(scope: CheckScope, node: ListNode): Type {
  let joined: Type | null = null;
  for (const { value } of node.elements) scope.check(value);
  scope.shareDecimal(node.elements.map(({ value }) => value));
  for (const { value, optional } of node.elements) {
    const type = optional ? heldType(scope, value) : scope.typeOf(value);
    joined = joinTypes(scope, joined, type);
  }
  return listOf(joined ?? scope.freshVariable());
}

function checkMap(scope: CheckScope, node: MapNode): Type {
  let keys: Type | null = null;
  let values: Type | null = null;
  for (const { key, value, optional } of node.entries) {
    const keyType = scope.check(key);
    if (!KEYS.has(keyType.kind)) scope.mismatch(`A key is a string, bool, int or uint, not ${typeText(keyType)}.`, key);
    keys = joinTypes(scope, keys, keyType);
    scope.check(value);
    values = joinTypes(scope, values, optional ? heldType(scope, value) : scope.typeOf(value));
  }
  return mapOf(keys ?? scope.freshVariable(), values ?? scope.freshVariable());
}

const KEYS: ReadonlySet<string> = new Set(['string', 'bool', 'int', 'uint', 'dyn', 'variable']);

/** The type that the optional after a `?` contains. */
function heldType(scope: CheckScope, node: ExpressionNode): Type {
  const held = scope.freshVariable();
  const type = scope.typeOf(node);
  if (isAssignable(scope.bound, type, optionalOf(held))) return scope.resolve(held);
  scope.mismatch(`A value after ? must be an optional, not ${typeText(scope.final(type))}.`, node);
  return DYN;
}

function joinTypes(scope: CheckScope, joined: Type | null, type: Type): Type {
  if (joined === null) return type;
  return isAssignable(scope.bound, joined, type) ? moreGeneral(scope.resolve(joined), scope.resolve(type)) : DYN;
}

function checkComprehension(scope: CheckScope, node: ComprehensionNode): Type {
  const range = scope.resolve(scope.check(node.range));
  const [first, second] = variableTypes(scope, node, range);
  const locals = node.variables.map((name, index): [string, Type] => [name, index === 0 ? first : second]);
  return scope.withLocals(node, locals, () => {
    if (node.filter !== null) checkCondition(scope, node.filter, `${node.macro} filters by a condition`);
    switch (node.macro) {
      case 'all':
      case 'exists':
      case 'exists_one':
        checkCondition(scope, node.body, `${node.macro} takes a condition`);
        return BOOL;
      case 'filter':
        checkCondition(scope, node.body, 'filter takes a condition');
        return listOf(first);
      case 'map':
      case 'transformList':
        return listOf(scope.check(node.body));
      case 'transformMap':
        return mapOf(first, scope.check(node.body));
      case 'transformMapEntry': {
        const type = scope.resolve(scope.check(node.body));
        if (type.kind === 'map' || type.kind === 'dyn') return type;
        scope.mismatch('transformMapEntry gives a map of one entry.', node.body);
        return DYN;
      }
    }
  });
}

/** Types of the one or two variables of a comprehension. */
function variableTypes(scope: CheckScope, node: ComprehensionNode, range: Type): [Type, Type] {
  if (range.kind === 'list') {
    const element = range.parameters[0]!;
    return node.variables.length === 1 ? [element, DYN] : [INT, element];
  }
  if (range.kind === 'map') return [range.parameters[0]!, range.parameters[1]!];
  if (range.kind !== 'dyn' && range.kind !== 'variable') {
    scope.mismatch(`${node.macro} iterates over a list or a map, not ${typeText(scope.final(range))}.`, node.range);
  }
  return [DYN, DYN];
}

function checkOptionalMap(scope: CheckScope, node: OptionalMapNode): Type {
  scope.check(node.operand);
  const held = heldType(scope, node.operand);
  return scope.withLocals(node, [[node.variable, held]], () => {
    const body = scope.check(node.body);
    if (!node.flat) return optionalOf(body);
    return optionalOf(heldType(scope, node.body));
  });
}
