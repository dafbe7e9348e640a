// Owns the operators of two values: closures on machine values where the types are known, equality and membership for
// the rest.
import { compareDecimals, type Decimal } from '../../values/decimal.ts';
import type { CallResolution } from '../check/resolution.ts';
import type { BinaryNode, ExpressionNode } from '../syntax/ast.ts';
import type { Compilation, Evaluate } from './compilation.ts';
import { compileResolved } from './compile-call.ts';
import { compareTexts, isEqual } from './equality.ts';
import { NO_OVERLOAD } from './evaluation-error.ts';
import { MapValue, type Value } from './value.ts';

export function compileBinary<Row>(compilation: Compilation<Row>, node: BinaryNode): Evaluate<Row> {
  if (node.operator === 'in') return compileMembership(compilation, node);
  if (node.operator === '==' || node.operator === '!=') return compileEquality(compilation, node);
  const resolution = compilation.expression.resolutions.get(node) as CallResolution;
  const fast = resolution.certain ? (compileOrdering(compilation, node) ?? compileArithmetic(compilation, node)) : null;
  return fast ?? compileResolved(compilation, node, resolution);
}

/** Types whose static form JavaScript compares by value with ===: the same text, boolean or number. */
const IDENTICAL: ReadonlySet<string> = new Set(['string', 'bool', 'int', 'double']);

/** Null equals null and nothing else; equality itself is never null and never an error. */
function compileEquality<Row>(compilation: Compilation<Row>, node: BinaryNode): Evaluate<Row> {
  const { kind } = compilation.typeOf(node.left);
  const wanted = node.operator === '==';
  // Where something may be repeated, long texts are counted.
  const plain = kind !== 'string' || compilation.expression.slotCount === 0;
  if (plain && kind === compilation.typeOf(node.right).kind && IDENTICAL.has(kind)) {
    const left = compilation.compile(node.left);
    if (node.right.kind === 'literal') {
      const constant = compilation.constant(node.right);
      return wanted ? (row) => left(row) === constant : (row) => left(row) !== constant;
    }
    const right = compilation.compile(node.right);
    return wanted ? (row) => left(row) === right(row) : (row) => left(row) !== right(row);
  }
  const left = compilation.dynamic(node.left);
  const right = compilation.dynamic(node.right);
  const { charge } = compilation;
  return (row) => isEqual(left(row), right(row), charge) === wanted;
}

type Order = '<' | '<=' | '>' | '>=';

function isOrder(operator: string): operator is Order {
  return operator === '<' || operator === '<=' || operator === '>' || operator === '>=';
}

function compileOrdering<Row>(compilation: Compilation<Row>, node: BinaryNode): Evaluate<Row> | null {
  const { operator } = node;
  if (!isOrder(operator)) return null;
  const leftKind = compilation.typeOf(node.left).kind;
  const rightKind = compilation.typeOf(node.right).kind;
  const left = compilation.compile(node.left);
  const right = compilation.compile(node.right);
  if (node.right.kind === 'literal' && (leftKind === 'double' || leftKind === 'int')) {
    const constant = compilation.constant(node.right) as number;
    if (leftKind === rightKind) return orderedWith(operator, left, constant);
    // A double and an int compare as doubles.
    if (leftKind === 'double' && rightKind === 'int') return orderedWith(operator, left, Number(constant));
  }
  if (leftKind !== rightKind) return null;
  if (leftKind === 'double' || leftKind === 'int') return ordered(operator, left, right);
  if (leftKind === 'decimal') {
    return signed(operator, left, right, (a, b) => compareDecimals(a as Decimal, b as Decimal));
  }
  if (leftKind !== 'string' || compilation.expression.slotCount > 0) return null;
  return signed(operator, left, right, (a, b) => compareTexts(a as string, b as string));
}

/** Against a constant: the most common condition of all. */
function orderedWith<Row>(operator: Order, left: Evaluate<Row>, constant: number): Evaluate<Row> {
  const value = left as (row: Row) => number | null;
  switch (operator) {
    case '<':
      return (row) => {
        const a = value(row);
        return a === null ? null : a < constant;
      };
    case '<=':
      return (row) => {
        const a = value(row);
        return a === null ? null : a <= constant;
      };
    case '>':
      return (row) => {
        const a = value(row);
        return a === null ? null : a > constant;
      };
    case '>=':
      return (row) => {
        const a = value(row);
        return a === null ? null : a >= constant;
      };
  }
}

function ordered<Row>(operator: Order, left: Evaluate<Row>, right: Evaluate<Row>): Evaluate<Row> {
  const first = left as (row: Row) => number | null;
  const second = right as (row: Row) => number | null;
  const compare = ORDERS[operator];
  return (row) => {
    const a = first(row);
    const b = second(row);
    return a === null || b === null ? null : compare(a, b);
  };
}

const ORDERS: Readonly<Record<Order, (left: number, right: number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

function signed<Row>(
  operator: Order,
  left: Evaluate<Row>,
  right: Evaluate<Row>,
  compare: (left: unknown, right: unknown) => number,
): Evaluate<Row> {
  const holds = ORDERS[operator];
  return (row) => {
    const a = left(row);
    const b = right(row);
    return a === null || b === null ? null : holds(compare(a, b), 0);
  };
}

/** Doubles only: the other types go through their overloads. */
function compileArithmetic<Row>(compilation: Compilation<Row>, node: BinaryNode): Evaluate<Row> | null {
  if (compilation.typeOf(node.left).kind !== 'double' || compilation.typeOf(node.right).kind !== 'double') return null;
  const left = compilation.compile(node.left) as (row: Row) => number | null;
  const right = compilation.compile(node.right) as (row: Row) => number | null;
  if (node.operator === '*' && node.right.kind === 'literal') {
    const constant = compilation.constant(node.right) as number;
    return (row) => {
      const a = left(row);
      return a === null ? null : a * constant;
    };
  }
  const operate = DOUBLES.get(node.operator);
  if (operate === undefined) return null;
  return (row) => {
    const a = left(row);
    const b = right(row);
    return a === null || b === null ? null : operate(a, b);
  };
}

const DOUBLES: ReadonlyMap<string, (left: number, right: number) => number> = new Map([
  ['+', (left: number, right: number) => left + right],
  ['-', (left: number, right: number) => left - right],
  ['*', (left: number, right: number) => left * right],
  ['/', (left: number, right: number) => left / right],
]);

/** In a list by equality, in a map by key. A list of literal texts or ints is a set. */
function compileMembership<Row>(compilation: Compilation<Row>, node: BinaryNode): Evaluate<Row> {
  const { kind } = compilation.typeOf(node.left);
  const constants = literalElements(compilation, node.right);
  if (constants !== null && (kind === 'string' || kind === 'int') && constants.every(({ type }) => type === kind)) {
    const set = new Set(constants.map(({ value }) => value));
    const left = compilation.compile(node.left);
    return (row) => set.has(left(row));
  }
  const left = compilation.dynamic(node.left);
  const right = compilation.dynamic(node.right);
  return (row) => {
    const value = left(row);
    const container = right(row);
    if (container === null) return null;
    if (container instanceof MapValue) return container.get(value) !== undefined;
    if (!Array.isArray(container)) throw NO_OVERLOAD;
    compilation.charge(container.length);
    return (container as readonly Value[]).some((element) => isEqual(value, element, compilation.charge));
  };
}

function literalElements<Row>(
  compilation: Compilation<Row>,
  node: ExpressionNode,
): { value: unknown; type: string }[] | null {
  if (node.kind !== 'list') return null;
  const constants: { value: unknown; type: string }[] = [];
  for (const { value, optional } of node.elements) {
    if (optional || value.kind !== 'literal') return null;
    constants.push({ value: compilation.constant(value), type: compilation.typeOf(value).kind });
  }
  return constants;
}
