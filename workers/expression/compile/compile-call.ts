// Owns calls: a certain overload runs at once, otherwise the values choose it; nulls go through.

import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import { CalendarDate } from '../../values/calendar.ts';
import { Decimal } from '../../values/decimal.ts';
import { Duration, Timestamp } from '../../values/timestamp.ts';
import { constantsOf, saysNothing } from '../check/call-checker.ts';
import type { CallResolution } from '../check/resolution.ts';
import type { Type } from '../check/type.ts';
import type { FunctionDefinition, Overload } from '../functions/definition.ts';
import type { CallNode, ExpressionNode, UnaryNode } from '../syntax/ast.ts';
import { STEP_LENGTH } from '../syntax/limits.ts';
import type { Compilation, Evaluate } from './compilation.ts';
import { EvaluationError, NO_OVERLOAD, UNKNOWN_NAME } from './evaluation-error.ts';
import { textSources } from './native-text.ts';
import {
  type Integer,
  MapValue,
  narrowInteger,
  OptionalValue,
  TypeValue,
  Uint,
  type Value,
  widenInteger,
} from './value.ts';

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

/** `-operand`. */
export function compileNegation<Row>(compilation: Compilation<Row>, node: UnaryNode): Evaluate<Row> {
  return compileResolved(compilation, node, compilation.expression.resolutions.get(node) as CallResolution);
}

/** A call or operator by its overloads. */
export function compileResolved<Row>(
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
  // A null that the function does not take as a value of any type gives null.
  const through = parameters.map((_, index) => !takesNull(resolution.definition, wanted(index)));
  const charged = parameters.map((parameter, index) =>
    constants[index] === undefined ? chargedForText(compilation, parameter, wanted(index)) : parameter,
  );
  const evaluate = byKind(compilation, resolution, charged, run) ?? applied(run, charged, through);
  return convertResult(compilation, node, overload, evaluate);
}

/** A call that reads a text, where that may be the one of a cell whose kind the file knows; else null. */
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

/** Texts can be made long by one function and read again by many: every KiB that a call reads is a step. */
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

/** The values at run time choose the first overload that takes them. */
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

/** Whether a value in its dynamic form is of a type; elements are not looked at. */
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

/** coalesce and if_error evaluate the next argument only when they need it. */
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
      // Running out of steps is no error of a value: it would only be repeated.
      if (!(error instanceof EvaluationError) || error.code === 'TOO_LONG') throw error;
      return otherwise(row);
    }
  };
}

const ANYTHING: ReadonlySet<string> = new Set(['variable', 'dyn']);
