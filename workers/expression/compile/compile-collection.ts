// Owns names, fields, elements, lists and maps as closures.
import type { NameResolution } from '../check/resolution.ts';
import type { IdentifierNode, IndexNode, ListNode, MapNode, SelectNode } from '../syntax/ast.ts';
import type { Compilation, Evaluate } from './compilation.ts';
import { BAD_KEY, INDEX_OUT_OF_RANGE, NO_OVERLOAD, NO_SUCH_KEY, UNKNOWN_NAME } from './evaluation-error.ts';
import { type Integer, MapValue, NONE, OptionalValue, TypeValue, Uint, type Value, widenInteger } from './value.ts';

/** A name that stands alone. */
export function compileName<Row>(compilation: Compilation<Row>, node: IdentifierNode): Evaluate<Row> {
  return compileReference(compilation, node, compilation.expression.resolutions.get(node) as NameResolution);
}

/** `operand.field`, `.?field`, has(). */
export function compileSelect<Row>(compilation: Compilation<Row>, node: SelectNode): Evaluate<Row> {
  const resolution = compilation.expression.resolutions.get(node) as NameResolution | undefined;
  if (resolution !== undefined) return compileColumn(compilation, node, resolution, node.test);
  const operand = compilation.dynamic(node.operand);
  const { field } = node;
  if (node.test) return (row) => hasField(operand(row), field);
  const get = (container: Value): Value | undefined => {
    if (container instanceof MapValue) return container.get(field);
    throw NO_OVERLOAD;
  };
  return compilation.fromDynamic(
    node,
    accessed(operand, () => get, node.optional),
  );
}

/** `operand[index]`, `[?index]`. */
export function compileIndex<Row>(compilation: Compilation<Row>, node: IndexNode): Evaluate<Row> {
  const resolution = compilation.expression.resolutions.get(node) as NameResolution | undefined;
  if (resolution !== undefined) return compileColumn(compilation, node, resolution, false);
  const operand = compilation.dynamic(node.operand);
  const index = compilation.dynamic(node.index);
  const access = (row: Row) => {
    const key = index(row);
    return (container: Value) => elementAt(container, key);
  };
  return compilation.fromDynamic(node, accessed(operand, access, node.optional));
}

/** Elements in their order; an optional one that is none is left out. A list of literals is made once. */
export function compileList<Row>(compilation: Compilation<Row>, node: ListNode): Evaluate<Row> {
  const elements = node.elements.map(({ value, optional }) => ({ evaluate: compilation.dynamic(value), optional }));
  if (node.elements.every(({ value, optional }) => value.kind === 'literal' && !optional)) {
    const constant = elements.map(({ evaluate }) => (evaluate as (row: null) => Value)(null));
    return () => constant;
  }
  return (row) => {
    const list: Value[] = [];
    compilation.charge(elements.length);
    for (const { evaluate, optional } of elements) {
      const value = evaluate(row);
      if (!optional) list.push(value);
      else if (!(value instanceof OptionalValue)) throw NO_OVERLOAD;
      else if (value.present) list.push(value.value);
    }
    return list;
  };
}

export function compileMap<Row>(compilation: Compilation<Row>, node: MapNode): Evaluate<Row> {
  const entries = node.entries.map(({ key, value, optional }) => ({
    key: compilation.dynamic(key),
    value: compilation.dynamic(value),
    optional,
  }));
  return (row) => {
    const map = new MapValue();
    compilation.charge(entries.length);
    for (const entry of entries) {
      const key = entry.key(row);
      let value = entry.value(row);
      if (entry.optional) {
        if (!(value instanceof OptionalValue)) throw NO_OVERLOAD;
        if (!value.present) continue;
        value = value.value;
      }
      if (!map.add(key, value)) throw BAD_KEY;
    }
    return map;
  };
}

function compileColumn<Row>(
  compilation: Compilation<Row>,
  node: SelectNode | IndexNode,
  resolution: NameResolution,
  test: boolean,
): Evaluate<Row> {
  const evaluate = compileReference(compilation, node, resolution);
  if (test) return (row) => evaluate(row) !== null;
  if (!node.optional) return evaluate;
  return (row) => {
    const value = evaluate(row);
    if (value === null) return NONE;
    const { kind } = compilation.typeOf(node).parameters[0]!;
    return new OptionalValue(true, kind === 'int' ? widenInteger(value as Integer) : (value as Value));
  };
}

function compileReference<Row>(
  compilation: Compilation<Row>,
  node: IdentifierNode | SelectNode | IndexNode,
  resolution: NameResolution,
): Evaluate<Row> {
  const { resolver, frame } = compilation;
  switch (resolution.kind) {
    case 'column':
      return resolver.column(resolution.name);
    case 'value':
      return resolver.value ?? unknown;
    case 'run_row':
      return resolver.runRow ?? unknown;
    case 'started_at': {
      const { startedAt } = resolver;
      return startedAt === undefined ? unknown : () => startedAt;
    }
    case 'local': {
      const { slot } = resolution;
      return compilation.fromDynamic(node, () => frame[slot]!);
    }
    case 'variable': {
      const evaluate = resolver.variable?.(resolution.name);
      return evaluate === undefined ? unknown : compilation.fromDynamic(node, evaluate);
    }
    case 'type': {
      const value = new TypeValue(resolution.name);
      return () => value;
    }
    case 'unknown':
      return unknown;
  }
}

function unknown(): never {
  throw UNKNOWN_NAME;
}

/** Access that goes into optionals and stays optional then; null has no parts, all of them are null. */
function accessed<Row>(
  operand: (row: Row) => Value,
  access: (row: Row) => (container: Value) => Value | undefined,
  optional: boolean,
): (row: Row) => Value {
  return (row) => {
    const container = operand(row);
    const get = access(row);
    if (container instanceof OptionalValue) {
      if (!container.present) return NONE;
      const value = get(container.value);
      return value === undefined ? NONE : new OptionalValue(true, value);
    }
    if (container === null) return optional ? NONE : null;
    const value = get(container);
    if (optional) return value === undefined ? NONE : new OptionalValue(true, value);
    if (value === undefined) throw Array.isArray(container) ? INDEX_OUT_OF_RANGE : NO_SUCH_KEY;
    return value;
  };
}

function elementAt(container: Value, key: Value): Value | undefined {
  if (container instanceof MapValue) {
    if (key !== null && typeof key === 'object' && !(key instanceof Uint)) throw BAD_KEY;
    return container.get(key);
  }
  if (!Array.isArray(container)) throw NO_OVERLOAD;
  const position = typeof key === 'bigint' ? key : key instanceof Uint ? key.value : key;
  if (typeof position !== 'bigint' && !(typeof position === 'number' && Number.isInteger(position))) throw NO_OVERLOAD;
  return position >= 0 && position < container.length ? (container as readonly Value[])[Number(position)] : undefined;
}

function hasField(container: Value, field: string): boolean {
  if (container instanceof OptionalValue) return container.present && hasField(container.value, field);
  if (container === null) return false;
  if (container instanceof MapValue) return container.get(field) !== undefined;
  throw NO_OVERLOAD;
}
