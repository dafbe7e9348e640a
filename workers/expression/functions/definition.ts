// Definition of a function of the language: names, overloads, treatment of null, and documentation. The files in this
// folder contain the tables of functions; index.ts combines them.
import type { Timestamp } from '../../values/timestamp.ts';
import type { Type } from '../check/type.ts';
import type { LongEdits } from '../compile/long-edits.ts';
import type { Value } from '../compile/value.ts';

/** Implementation of an overload. Arguments have the form of their types: an int is in static form (value.ts). */
export type Implementation = (...parameters: never[]) => unknown;

/** `constants` as in Overload.prepare. `kind` is one of kernel/layout/cells.ts except text. */
export type NativeImplementation = (constants: Constants) => (text: string, kind: number) => unknown;

/** Services that a compiled expression provides to its functions. */
export interface Context {
  /** Charges steps to the budget of the evaluation; throws TOO_MANY_STEPS. */
  charge(steps: number): void;
  /**
   * Returns a lookup function: the value of a reference table's column in the first row whose key column has the
   * given text, or null.
   */
  lookup(table: string, keyColumn: string | null, valueColumn: string): (key: string) => string | null;
  readonly startedAt: Timestamp | null;
  readonly longEdits: LongEdits;
}

/** Constants among the arguments, by position; undefined for other arguments. */
export type Constants = readonly (Value | undefined)[];

/** One signature. `rest` may be repeated any number of times; `refine` narrows the result type by the constants. */
export interface Overload {
  readonly parameters: readonly Type[];
  readonly rest?: Type;
  readonly result: Type;
  readonly refine?: (constants: Constants) => Type;
  readonly prepare: (context: Context, constants: Constants) => Implementation;
  /** For an overload whose first parameter is a text: its implementation for texts of cells with a native kind. */
  readonly native?: NativeImplementation;
}

/** Call syntax: `f(x)`, `x.f()` or both. */
export type CallStyle = 'function' | 'method' | 'both';

/** A function of the language. */
export interface FunctionDefinition {
  readonly name: string;
  readonly style: CallStyle;
  readonly overloads: readonly Overload[];
  /**
   * True if the function handles nulls itself. Otherwise a null argument gives null, and the function is not called.
   */
  readonly acceptsNull?: boolean;
  /** True if the arguments share a type: literals used together with a decimal become decimals. */
  readonly sharesType?: boolean;
  /** Positions of arguments that must be literals, so that they can be checked when the Template is saved. */
  readonly literals?: readonly number[];
  /** A sentence about what is wrong with the constants, or null. */
  readonly check?: (constants: Constants) => string | null;
  /** Set if the compiler evaluates the arguments on demand (coalesce, if_error). */
  readonly lazy?: 'coalesce' | 'if_error';
}

/** An overload that needs neither context nor constants. */
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

/** Documentation for authors (`template docs`). */
export interface FunctionDocumentation {
  /** Call syntax. */
  readonly form: string;
  readonly summary: string;
  readonly example: string;
  /** The text of the example's result, for the test row if the example uses columns or tables. */
  readonly result: string;
}

/** A function with a name, unlike operators. */
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
