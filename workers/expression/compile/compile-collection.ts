// Compiles names, fields, elements, lists and maps, and macros to loops over lists and maps.
import type { NameResolution } from '../check/resolution.ts';
import type {
  BindNode,
  ComprehensionMacro,
  ComprehensionNode,
  IdentifierNode,
  IndexNode,
  ListNode,
  MapNode,
  OptionalMapNode,
  SelectNode,
} from '../syntax/ast.ts';
import type { Compilation, Evaluate } from './compilation.ts';
import {
  BAD_KEY,
  EvaluationError,
  INDEX_OUT_OF_RANGE,
  type Integer,
  MapValue,
  NO_OVERLOAD,
  NO_SUCH_KEY,
  NONE,
  OptionalValue,
  TypeValue,
  Uint,
  UNKNOWN_NAME,
  type Value,
  widenInteger,
} from './value.ts';

// Compiles names, fields, elements, lists and maps.

/** Compiles a name without an operand. */
export function compileName<Row>(compilation: Compilation<Row>, node: IdentifierNode): Evaluate<Row> {
  return compileReference(compilation, node, compilation.expression.resolutions.get(node) as NameResolution);
}

/** Compiles `operand.field`, `.?field` and has(). */
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

/** Compiles `operand[index]` and `[?index]`. */
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

/** Compiles a list. Empty optional elements are omitted. A list of literals is created once. */
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

/** Compiles access to a part. The part of an optional is optional, and all parts of null are null. */
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

// Compiles macros with variables to loops over lists and maps. Variables are stored in the frame; every iteration is
// a step.

/** Collects the iterations of a macro. `turn` is called once per element and returns false to end the loop. */
interface Collector {
  turn(key: Value, body: () => Value): boolean;
  result(): Value;
}

export function compileComprehension<Row>(compilation: Compilation<Row>, node: ComprehensionNode): Evaluate<Row> {
  const range = compilation.dynamic(node.range);
  const filter = node.filter === null ? null : compilation.compile(node.filter);
  const body = compilation.dynamic(node.body);
  const { frame, charge } = compilation;
  const [first, second] = compilation.expression.slots.get(node) as [number, number | undefined];
  const makeCollector = COLLECTORS[node.macro];
  return (row) => {
    const container = range(row);
    if (container === null) return null;
    const collector = makeCollector(charge);
    const evaluateBody = () => body(row);
    const turn = (key: Value, value: Value): boolean => {
      charge(1);
      frame[first] = key;
      if (second !== undefined) frame[second] = value;
      if (filter !== null) {
        const kept = filter(row);
        if (kept === false || kept === null) return true;
        if (kept !== true) throw NO_OVERLOAD;
      }
      return collector.turn(frame[first]!, evaluateBody);
    };
    iterate(container, second !== undefined, turn);
    return collector.result();
  };
}

/** Compiles `cel.bind(variable, value, body)`: the value is computed once, before the body. */
export function compileBind<Row>(compilation: Compilation<Row>, node: BindNode): Evaluate<Row> {
  const value = compilation.dynamic(node.value);
  const body = compilation.compileAs(node.body, compilation.typeOf(node));
  const { frame } = compilation;
  const [slot] = compilation.expression.slots.get(node) as [number];
  return (row) => {
    frame[slot] = value(row);
    return body(row);
  };
}

/** `optMap` wraps the result of the body in an optional; the body of `optFlatMap` returns an optional. */
export function compileOptionalMap<Row>(compilation: Compilation<Row>, node: OptionalMapNode): Evaluate<Row> {
  const operand = compilation.dynamic(node.operand);
  const body = compilation.dynamic(node.body);
  const { frame } = compilation;
  const [slot] = compilation.expression.slots.get(node) as [number];
  return (row) => {
    const optional = operand(row);
    if (!(optional instanceof OptionalValue)) throw NO_OVERLOAD;
    if (!optional.present) return NONE;
    frame[slot] = optional.value;
    const value = body(row);
    return node.flat ? value : new OptionalValue(true, value);
  };
}

/** With one variable, iterates over elements or keys; with two, over indexes and elements, or keys and values. */
function iterate(container: Value, both: boolean, turn: (key: Value, value: Value) => boolean): void {
  if (container instanceof MapValue) {
    for (const { key, value } of container.entries()) if (!turn(key, value)) return;
    return;
  }
  if (!Array.isArray(container)) throw NO_OVERLOAD;
  const list = container as readonly Value[];
  for (let index = 0; index < list.length; index++) {
    const element = list[index]!;
    if (!turn(both ? BigInt(index) : element, element)) return;
  }
}

/**
 * all and exists: a single decisive iteration determines the result, even after errors. Without one, the first error
 * is the result.
 */
function quantifier(decisive: boolean): () => Collector {
  return () => {
    let outcome: Value = !decisive;
    let failure: EvaluationError | null = null;
    return {
      turn: (_key, body) => {
        try {
          const value = body();
          if (value === decisive) {
            outcome = decisive;
            failure = null;
            return false;
          }
          if (value === null) outcome = null;
          else if (typeof value !== 'boolean') throw NO_OVERLOAD;
        } catch (error) {
          if (!(error instanceof EvaluationError) || error.code === 'TOO_LONG') throw error;
          failure ??= error;
        }
        return true;
      },
      result: () => {
        if (failure !== null) throw failure;
        return outcome;
      },
    };
  };
}

function condition(body: () => Value): boolean {
  const value = body();
  if (value === null) return false;
  if (typeof value !== 'boolean') throw NO_OVERLOAD;
  return value;
}

function existsOne(): Collector {
  let count = 0;
  return {
    turn: (_key, body) => {
      if (condition(body)) count++;
      return true;
    },
    result: () => count === 1,
  };
}

function listOfElements(): Collector {
  const list: Value[] = [];
  return {
    turn: (key, body) => {
      if (condition(body)) list.push(key);
      return true;
    },
    result: () => list,
  };
}

function listOfBodies(): Collector {
  const list: Value[] = [];
  return {
    turn: (_key, body) => {
      list.push(body());
      return true;
    },
    result: () => list,
  };
}

function mapOfBodies(): Collector {
  const map = new MapValue();
  return {
    turn: (key, body) => {
      if (!map.add(key, body())) throw BAD_KEY;
      return true;
    },
    result: () => map,
  };
}

function mapOfEntries(charge: (steps: number) => void): Collector {
  const map = new MapValue();
  return {
    turn: (_key, body) => {
      const entries = body();
      if (!(entries instanceof MapValue)) throw NO_OVERLOAD;
      charge(entries.size);
      for (const { key, value } of entries.entries()) if (!map.add(key, value)) throw BAD_KEY;
      return true;
    },
    result: () => map,
  };
}

const COLLECTORS: Readonly<Record<ComprehensionMacro, (charge: (steps: number) => void) => Collector>> = {
  all: quantifier(false),
  exists: quantifier(true),
  exists_one: existsOne,
  filter: listOfElements,
  map: listOfBodies,
  transformList: listOfBodies,
  transformMap: mapOfBodies,
  transformMapEntry: mapOfEntries,
};
