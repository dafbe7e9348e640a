// Compiles a checked expression to closures; no code is generated from text. Static types select the closures, so
// that nothing is dispatched at run time if the types are known.

import type { CheckedExpression } from '../check/resolution.ts';
import type { ConditionalNode, ExpressionNode, LogicalNode } from '../syntax/ast.ts';
import { Compilation, type Evaluate, type Resolver } from './compilation.ts';
import { compileBinary, compileCall, compileNegation } from './compile-call.ts';
import {
  compileBind,
  compileComprehension,
  compileIndex,
  compileList,
  compileMap,
  compileName,
  compileOptionalMap,
  compileSelect,
} from './compile-collection.ts';
import type { LongEdits } from './long-edits.ts';
import { EvaluationError, NO_OVERLOAD } from './value.ts';

/**
 * Compiles an expression. The closure returns null or a value in the form of `expression.type` (value.ts). For an
 * error of the row, such as exceeding `stepsMax`, it throws one of the instances of EvaluationError. It keeps state
 * between calls: use it in one thread, and not recursively. `longEdits` may abort an evaluation.
 */
export function compileExpression<Row>(
  expression: CheckedExpression,
  resolver: Resolver<Row>,
  stepsMax?: number,
  longEdits?: LongEdits,
): Evaluate<Row> {
  const compilation = new Compilation(expression, resolver, compileNode, stepsMax, longEdits);
  const evaluate = compilation.compile(expression.root);
  if (!mayCharge(expression)) return evaluate;
  return (row) => {
    compilation.refill();
    return evaluate(row);
  };
}

/** True if the expression may charge steps: if calls read texts, or if lists, maps or values of unknown type occur. */
function mayCharge(expression: CheckedExpression): boolean {
  for (const [node, { kind }] of expression.types) {
    if (kind === 'dyn' || kind === 'list' || kind === 'map' || kind === 'optional') return true;
    const resolution = expression.resolutions.get(node);
    if (resolution?.kind !== 'call') continue;
    if (resolution.arguments.some((argument) => TEXTS.has(expression.types.get(argument)!.kind))) return true;
  }
  return expression.slotCount > 0;
}

const TEXTS: ReadonlySet<string> = new Set(['string', 'bytes']);

function compileNode<Row>(compilation: Compilation<Row>, node: ExpressionNode): Evaluate<Row> {
  switch (node.kind) {
    case 'literal': {
      const value = compilation.constant(node);
      return () => value;
    }
    case 'identifier':
      return compileName(compilation, node);
    case 'select':
      return compileSelect(compilation, node);
    case 'index':
      return compileIndex(compilation, node);
    case 'call':
      return compileCall(compilation, node);
    case 'unary':
      return node.operator === '-' ? compileNegation(compilation, node) : compileNot(compilation, node.operand);
    case 'binary':
      return compileBinary(compilation, node);
    case 'logical':
      return compileLogical(compilation, node);
    case 'conditional':
      return compileConditional(compilation, node);
    case 'list':
      return compileList(compilation, node);
    case 'map':
      return compileMap(compilation, node);
    case 'message':
      return () => {
        throw NO_OVERLOAD;
      };
    case 'comprehension':
      return compileComprehension(compilation, node);
    case 'bind':
      return compileBind(compilation, node);
    case 'optional_map':
      return compileOptionalMap(compilation, node);
  }
}

/** Negation of values with an unknown type: null stays null, other non-booleans are an error. */
function compileNot<Row>(compilation: Compilation<Row>, operand: ExpressionNode): Evaluate<Row> {
  const evaluate = compilation.compile(operand);
  return (row) => {
    const value = evaluate(row);
    if (value === null) return null;
    if (typeof value !== 'boolean') throw NO_OVERLOAD;
    return !value;
  };
}

/**
 * `&&` (decisive value false) and `||` (decisive value true). One decisive side determines the result, even if the
 * other side is an error. Otherwise an error is an error, and null is null.
 */
function compileLogical<Row>(compilation: Compilation<Row>, node: LogicalNode): Evaluate<Row> {
  const left = compilation.compile(node.left);
  const right = compilation.compile(node.right);
  const decisive = node.operator === '||';
  const whenRight = (row: Row, other: unknown): unknown => {
    const value = right(row);
    if (value === decisive) return decisive;
    if (typeof other !== 'boolean' && other !== null) throw NO_OVERLOAD;
    if (typeof value !== 'boolean' && value !== null) throw NO_OVERLOAD;
    return value === null || other === null ? null : !decisive;
  };
  if (!canFail(compilation.expression, node.left)) {
    if (decisive) {
      return (row) => {
        const value = left(row);
        return value === true ? true : whenRight(row, value);
      };
    }
    return (row) => {
      const value = left(row);
      return value === false ? false : whenRight(row, value);
    };
  }
  return (row) => {
    let value: unknown;
    try {
      value = left(row);
    } catch (error) {
      if (!(error instanceof EvaluationError) || error.code === 'TOO_LONG') throw error;
      if (right(row) === decisive) return decisive;
      throw error;
    }
    return value === decisive ? decisive : whenRight(row, value);
  };
}

/** A null condition selects the second value, like false. */
function compileConditional<Row>(compilation: Compilation<Row>, node: ConditionalNode): Evaluate<Row> {
  const condition = compilation.compile(node.condition);
  const type = compilation.typeOf(node);
  const then = compilation.compileAs(node.then, type);
  const otherwise = compilation.compileAs(node.otherwise, type);
  return (row) => {
    const value = condition(row);
    if (value === true) return then(row);
    if (value === false || value === null) return otherwise(row);
    throw NO_OVERLOAD;
  };
}

// Determines whether a node can cause an error. If it cannot, && and || need no error handler.

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
