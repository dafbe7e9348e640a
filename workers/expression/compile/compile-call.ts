// Compiles calls and binary operators. A certain overload runs directly, otherwise the values select the overload.
import { KIND_TEXT } from '../../kernel/layout/cells.ts';
import { compareDecimals, Decimal } from '../../values/decimal.ts';
import { CalendarDate, Duration, Timestamp } from '../../values/timestamp.ts';
import { constantsOf, saysNothing } from '../check/call-checker.ts';
import type { CallResolution } from '../check/resolution.ts';
import type { Type } from '../check/type.ts';
import type { FunctionDefinition, Overload } from '../functions/definition.ts';
import type { BinaryNode, CallNode, ExpressionNode, UnaryNode } from '../syntax/ast.ts';
import { STEP_LENGTH } from '../syntax/limits.ts';
import { type Compilation, type Evaluate, textSources } from './compilation.ts';
import {
  compareTexts,
  EvaluationError,
  type Integer,
  isEqual,
  MapValue,
  NO_OVERLOAD,
  narrowInteger,
  OptionalValue,
  TypeValue,
  Uint,
  UNKNOWN_NAME,
  type Value,
  widenInteger,
} from './value.ts';

// Compiles calls. A certain overload runs directly; otherwise the values select the overload. Nulls propagate.

type AnyRun = (...parameters: unknown[]) => unknown;

export function compileCall<Row>(compilation: Compilation<Row>, node: CallNode): Evaluate<Row> {
  const resolution = compilation.expression.resolutions.get(node);
  if (resolution?.kind !== 'call') {
    return () => {
      throw UNKNOWN_NAME;
    };
  }
  if (resolution.definition.lazy !== undefined) return compileLazy(compilation, node, resolution);
  return compileResolved(compilation, node, resolution);
}

/** Compiles `-operand`. */
export function compileNegation<Row>(compilation: Compilation<Row>, node: UnaryNode): Evaluate<Row> {
  return compileResolved(compilation, node, compilation.expression.resolutions.get(node) as CallResolution);
}

/** Compiles a call or operator by its overloads. */
function compileResolved<Row>(
  compilation: Compilation<Row>,
  node: ExpressionNode,
  resolution: CallResolution,
): Evaluate<Row> {
  if (!resolution.certain) return compileDispatch(compilation, node, resolution);
  const overload = resolution.overloads[0]!;
  const constants = constantsOf(resolution.arguments);
  const run = overload.prepare(compilation.context, constants) as AnyRun;
  const wanted = (index: number): Type => overload.parameters[index] ?? overload.rest!;
  const parameters = resolution.arguments.map((argument, index) => compilation.compileAs(argument, wanted(index)));
  // If the function does not accept null as a value of any type, a null argument gives null.
  const through = parameters.map((_, index) => !takesNull(resolution.definition, wanted(index)));
  const charged = parameters.map((parameter, index) =>
    constants[index] === undefined ? chargedForText(compilation, parameter, wanted(index)) : parameter,
  );
  const evaluate = byKind(compilation, resolution, charged, run) ?? applied(run, charged, through);
  return convertResult(compilation, node, overload, evaluate);
}

/** Compiles a call that reads a text which may come from a cell with a native kind; null for other calls. */
function byKind<Row>(
  compilation: Compilation<Row>,
  resolution: CallResolution,
  parameters: readonly Evaluate<Row>[],
  run: AnyRun,
): Evaluate<Row> | null {
  const { native } = resolution.overloads[0]!;
  if (native === undefined) return null;
  const kindOf = compilation.resolver.kindOf?.(textSources(compilation.expression, resolution.arguments[0]!)) ?? null;
  if (kindOf === null) return null;
  const ofKind = native(constantsOf(resolution.arguments));
  return (row) => {
    const [text, ...others] = parameters.map((parameter) => parameter(row));
    if (text === null || others.includes(null)) return null;
    const kind = kindOf(row, text as string);
    return kind === KIND_TEXT ? run(text, ...others) : ofKind(text as string, kind);
  };
}

/**
 * Charges one step for each KiB of text that a call reads: one function could create a long text that many others
 * read.
 */
function chargedForText<Row>(compilation: Compilation<Row>, parameter: Evaluate<Row>, type: Type): Evaluate<Row> {
  if (type.kind !== 'string' && type.kind !== 'bytes') return parameter;
  const { charge } = compilation;
  const evaluate = parameter as (row: Row) => string | Uint8Array | null;
  return (row) => {
    const value = evaluate(row);
    if (value !== null && value.length >= STEP_LENGTH) charge(Math.floor(value.length / STEP_LENGTH));
    return value;
  };
}

function takesNull(definition: FunctionDefinition, type: Type): boolean {
  return definition.acceptsNull === true && (type.kind === 'dyn' || type.kind === 'variable');
}

function applied<Row>(run: AnyRun, parameters: readonly Evaluate<Row>[], through: readonly boolean[]): Evaluate<Row> {
  if (parameters.length === 1 && through[0] === true) {
    const [first] = parameters as [Evaluate<Row>];
    return (row) => {
      const value = first(row);
      return value === null ? null : run(value);
    };
  }
  if (parameters.length === 2 && through[0] === true && through[1] === true) {
    const [first, second] = parameters as [Evaluate<Row>, Evaluate<Row>];
    return (row) => {
      const left = first(row);
      const right = second(row);
      return left === null || right === null ? null : run(left, right);
    };
  }
  return (row) => {
    const values: unknown[] = [];
    let missing = false;
    for (let index = 0; index < parameters.length; index++) {
      const value = parameters[index]!(row);
      if (value === null && through[index] === true) missing = true;
      values.push(value);
    }
    return missing ? null : run(...values);
  };
}

function convertResult<Row>(
  compilation: Compilation<Row>,
  node: ExpressionNode,
  overload: Overload,
  evaluate: Evaluate<Row>,
): Evaluate<Row> {
  const made = overload.result.kind === 'int';
  const wanted = compilation.typeOf(node).kind === 'int';
  if (made === wanted) return evaluate;
  return wanted ? compilation.narrowed(evaluate) : (row) => widenInteger(evaluate(row) as Integer | null);
}

/** Selects at run time the first overload that accepts the values. */
function compileDispatch<Row>(
  compilation: Compilation<Row>,
  node: ExpressionNode,
  resolution: CallResolution,
): Evaluate<Row> {
  const { definition } = resolution;
  const constants = constantsOf(resolution.arguments);
  const candidates = resolution.overloads.map((overload) => ({
    overload,
    prepared: null as AnyRun | null,
    wanted: resolution.arguments.map((_, index) => overload.parameters[index] ?? overload.rest!),
  }));
  const parameters = resolution.arguments.map((argument) => compilation.dynamic(argument));
  const types = resolution.arguments.map((argument) => compilation.typeOf(argument));
  const onlyNulls = saysNothing(definition, types);
  return compilation.fromDynamic(node, (row) => {
    const values = parameters.map((parameter) => parameter(row));
    if (onlyNulls) throw NO_OVERLOAD;
    for (const value of values) {
      const long = typeof value === 'string' || value instanceof Uint8Array;
      if (long && value.length >= STEP_LENGTH) compilation.charge(Math.floor(value.length / STEP_LENGTH));
    }
    if (definition.acceptsNull !== true && values.includes(null)) return null;
    for (const candidate of candidates) {
      if (!values.every((value, index) => isOfType(value, candidate.wanted[index]!))) continue;
      candidate.prepared ??= candidate.overload.prepare(compilation.context, constants) as AnyRun;
      const given = values.map((value, index) =>
        typeof value === 'bigint' && candidate.wanted[index]!.kind === 'int' ? narrowInteger(value) : value,
      );
      const result = candidate.prepared(...given) as Value;
      return candidate.overload.result.kind === 'int' ? widenInteger(result as Integer) : result;
    }
    throw NO_OVERLOAD;
  });
}

/** True if a value in dynamic form has the type. Elements are not checked. */
function isOfType(value: Value, type: Type): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'variable':
      return true;
    case 'null':
      return value === null;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'uint':
      return value instanceof Uint;
    case 'double':
      return typeof value === 'number';
    case 'decimal':
      return value instanceof Decimal;
    case 'string':
      return typeof value === 'string';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'date':
      return value instanceof CalendarDate;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'list':
      return (
        Array.isArray(value) &&
        (ANYTHING.has(type.parameters[0]!.kind) || value.every((element) => isOfType(element, type.parameters[0]!)))
      );
    case 'map':
      return value instanceof MapValue;
    case 'optional':
      return value instanceof OptionalValue;
    case 'type':
      return value instanceof TypeValue;
    default:
      return false;
  }
}

/** Compiles coalesce and if_error, which evaluate the next argument only if needed. */
function compileLazy<Row>(compilation: Compilation<Row>, node: CallNode, resolution: CallResolution): Evaluate<Row> {
  const type = compilation.typeOf(node);
  const parameters = resolution.arguments.map((argument) => compilation.compileAs(argument, type));
  if (resolution.definition.lazy === 'coalesce') {
    return (row) => {
      for (const parameter of parameters) {
        const value = parameter(row);
        if (value !== null) return value;
      }
      return null;
    };
  }
  const [attempt, otherwise] = parameters as [Evaluate<Row>, Evaluate<Row>];
  return (row) => {
    try {
      return attempt(row);
    } catch (error) {
      // Exceeding the step budget is not an error of a value: evaluating the alternative would exceed it again.
      if (!(error instanceof EvaluationError) || error.code === 'TOO_LONG') throw error;
      return otherwise(row);
    }
  };
}

const ANYTHING: ReadonlySet<string> = new Set(['variable', 'dyn']);

// Compiles binary operators: to operations on machine values if the types are known, otherwise to generic equality
// and membership.

export function compileBinary<Row>(compilation: Compilation<Row>, node: BinaryNode): Evaluate<Row> {
  if (node.operator === 'in') return compileMembership(compilation, node);
  if (node.operator === '==' || node.operator === '!=') return compileEquality(compilation, node);
  const resolution = compilation.expression.resolutions.get(node) as CallResolution;
  const fast = resolution.certain ? (compileOrdering(compilation, node) ?? compileArithmetic(compilation, node)) : null;
  return fast ?? compileResolved(compilation, node, resolution);
}

/** Types whose static form can be compared with ===. */
const IDENTICAL: ReadonlySet<string> = new Set(['string', 'bool', 'int', 'double']);

/** Null equals only null. The result of an equality is never null and never an error. */
function compileEquality<Row>(compilation: Compilation<Row>, node: BinaryNode): Evaluate<Row> {
  const { kind } = compilation.typeOf(node.left);
  const wanted = node.operator === '==';
  // In expressions with macros, comparisons may be repeated, so comparing long texts is charged.
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
    // A double and an int are compared as doubles.
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

/** Comparison with a constant, the most common condition. */
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

/** Arithmetic on doubles only; other types use their overloads. */
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

/** Membership in a list by equality, in a map by key. A list of literal texts or ints becomes a set. */
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
