// Owns the shape of a function of the language: its names, overloads and what it does with null. The tables of functions
// are the files beside this one, index.ts puts them together.
import type { Timestamp } from '../../values/timestamp.ts';
import type { Type } from '../type.ts';
import type { Value } from '../value.ts';

/** The work of an overload. Its parameters come in the form of their types: an int in the static form (value.ts). */
export type Run = (...parameters: never[]) => unknown;

/** What one compiled expression lends to its functions. */
export interface Context {
  /** Counts work against the steps of one evaluation; throws TOO_MANY_STEPS. */
  charge(steps: number): void;
  /** The value of a reference table's column for the first row whose key column has that text; null when there is none. */
  lookup(table: string, keyColumn: string | null, valueColumn: string): (key: string) => string | null;
  readonly startedAt: Timestamp | null;
}

/** Constants among the arguments, by position; undefined where an argument is not one. */
export type Constants = readonly (Value | undefined)[];

/** One signature. `rest` may follow any number of times; `refine` narrows the result by the constants. */
export interface Overload {
  readonly parameters: readonly Type[];
  readonly rest?: Type;
  readonly result: Type;
  readonly refine?: (constants: Constants) => Type;
  readonly prepare: (context: Context, constants: Constants) => Run;
}

/** How a function may be called: `f(x)`, `x.f()` or both. */
export type CallStyle = 'function' | 'method' | 'both';

/** A function of the language. */
export interface FunctionDefinition {
  readonly name: string;
  readonly style: CallStyle;
  readonly overloads: readonly Overload[];
  /** Takes nulls itself; without it a null argument gives null and nothing runs. */
  readonly acceptsNull?: boolean;
  /** Arguments that share a type: literals beside a decimal are read as decimals. */
  readonly sharesType?: boolean;
  /** Positions of arguments that must be literals, so that they are checked when the template is saved. */
  readonly literals?: readonly number[];
  /** What is wrong with the constants, as a sentence; null when nothing is. */
  readonly check?: (constants: Constants) => string | null;
  /** Arguments are evaluated by the compiler as needed (coalesce, if_error). */
  readonly lazy?: 'coalesce' | 'if_error';
}

/** An overload whose work needs neither context nor constants. */
export function overload(parameters: readonly Type[], result: Type, run: Run): Overload {
  return { parameters, result, prepare: () => run };
}

/** A function with plain overloads. */
export function define(
  name: string,
  style: CallStyle,
  overloads: readonly Overload[],
  options: Omit<FunctionDefinition, 'name' | 'style' | 'overloads'> = {},
): FunctionDefinition {
  return { name, style, overloads, ...options };
}
