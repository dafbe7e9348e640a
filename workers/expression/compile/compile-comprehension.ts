// Owns the macros with variables as loops over lists and maps. Variables live in the frame; every turn is a step.
import type { BindNode, ComprehensionMacro, ComprehensionNode, OptionalMapNode } from '../syntax/ast.ts';
import type { Compilation, Evaluate } from './compilation.ts';
import { BAD_KEY, EvaluationError, NO_OVERLOAD } from './evaluation-error.ts';
import { MapValue, NONE, OptionalValue, type Value } from './value.ts';

/** What a macro does with the turns. `turn` is called once per element; false ends the loop. */
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
    walk(container, second !== undefined, turn);
    return collector.result();
  };
}

/** `cel.bind(variable, value, body)`: the value is computed once, before the body. */
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

/** `optMap` wraps what the body gives, `optFlatMap` takes it as the optional that it is. */
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

/** One variable walks elements or keys; two walk positions and elements, or keys and values. */
function walk(container: Value, both: boolean, turn: (key: Value, value: Value) => boolean): void {
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

/** all and exists: one decisive turn decides, even after errors; without one the first error is the result. */
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
