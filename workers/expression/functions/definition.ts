// Owns the shape of a function of the language: its names, overloads, what it does with null and what its author is told.
// The tables of functions are the files beside this one, index.ts puts them together.
import type { Timestamp } from '../../values/timestamp.ts';
import type { Type } from '../check/type.ts';
import type { Value } from '../compile/value.ts';

/** The work of an overload. Its parameters come in the form of their types: an int in the static form (value.ts). */
export type Implementation = (...parameters: never[]) => unknown;

/** `constants` as in Overload.prepare; the text's kind is one of kernel/layout/native-kinds.ts, but for text. */
export type NativeImplementation = (constants: Constants) => (text: string, kind: number) => unknown;

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
  readonly prepare: (context: Context, constants: Constants) => Implementation;
  /** Of one that reads a text as its first parameter: what it makes of the text of a cell that the file knows for a kind. */
  readonly native?: NativeImplementation;
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
export function overload(
  parameters: readonly Type[],
  result: Type,
  implementation: Implementation,
  native?: NativeImplementation,
): Overload {
  return { parameters, result, prepare: () => implementation, ...(native !== undefined && { native }) };
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

/** What authors read of a function (`template docs`). */
export interface FunctionDocumentation {
  /** How it is called. */
  readonly form: string;
  readonly summary: string;
  readonly example: string;
  /** The text of what the example gives, over the row of the tests where it names columns or tables. */
  readonly result: string;
}

/** A function that has a name in the language, as operators have none. */
export interface DocumentedFunction extends FunctionDefinition {
  readonly documentation: FunctionDocumentation;
}

export function documented(
  form: string,
  summary: string,
  example: string,
  result: string,
  definition: FunctionDefinition,
): DocumentedFunction {
  return { ...definition, documentation: { form, summary, example, result } };
}
