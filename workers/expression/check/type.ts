// Static types of expressions and their unification, modelled on cel-go's checker (checker/types.go). Independent of
// functions and columns.

/** Kinds of types. `variable` is a type parameter of a function; `abstract` is a type that is known by name only. */
export type TypeKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'decimal'
  | 'string'
  | 'bytes'
  | 'date'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'type'
  | 'optional'
  | 'variable'
  | 'abstract';

/** A type with its parameters: the element of a list, key and value of a map, the content of an optional. */
export interface Type {
  readonly kind: TypeKind;
  readonly name: string;
  readonly parameters: readonly Type[];
}

export const DYN = simple('dyn');
export const NULL = simple('null', 'null_type');
export const BOOL = simple('bool');
export const INT = simple('int');
export const UINT = simple('uint');
export const DOUBLE = simple('double');
export const DECIMAL = simple('decimal');
export const STRING = simple('string');
export const BYTES = simple('bytes');
export const DATE = simple('date');
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp');
export const DURATION = simple('duration', 'google.protobuf.Duration');

export const listOf = (element: Type): Type => ({ kind: 'list', name: 'list', parameters: [element] });
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', name: 'map', parameters: [key, value] });
export const typeOf = (of: Type): Type => ({ kind: 'type', name: 'type', parameters: [of] });
export const optionalOf = (of: Type): Type => ({ kind: 'optional', name: 'optional_type', parameters: [of] });
export const variable = (name: string): Type => ({ kind: 'variable', name, parameters: [] });

/** Current values of type variables. */
export type Substitution = Map<string, Type>;

/** Formats a type for messages: `list(int)`. */
export function typeText(type: Type): string {
  const shown =
    type.kind === 'null' ? 'null' : type.kind === 'timestamp' || type.kind === 'duration' ? type.kind : type.name;
  if (type.parameters.length === 0 || type.kind === 'type') return shown;
  return `${shown}(${type.parameters.map(typeText).join(', ')})`;
}

/**
 * True if a value of type `from` is accepted where `to` is required. In that case, binds type variables in `bound`.
 */
export function isAssignable(bound: Substitution, from: Type, to: Type): boolean {
  const attempt = new Map(bound);
  if (!assignable(attempt, from, to)) return false;
  for (const [name, type] of attempt) bound.set(name, type);
  return true;
}

/** Replaces the type's variables. Unbound variables become dyn if `freeAsDyn` is true. */
export function substitute(bound: Substitution, type: Type, freeAsDyn: boolean): Type {
  if (type.kind === 'variable') {
    const target = bound.get(type.name);
    if (target !== undefined) return substitute(bound, target, freeAsDyn);
    return freeAsDyn ? DYN : type;
  }
  if (type.parameters.length === 0) return type;
  return { ...type, parameters: type.parameters.map((parameter) => substitute(bound, parameter, freeAsDyn)) };
}

/** The less specific of two compatible types. */
export function moreGeneral(left: Type, right: Type): Type {
  return isEqualOrLessSpecific(left, right) ? left : right;
}

/** True if the types are equal including all parameters. */
export function isSameType(left: Type, right: Type): boolean {
  return (
    left.kind === right.kind &&
    left.name === right.name &&
    left.parameters.length === right.parameters.length &&
    left.parameters.every((parameter, index) => isSameType(parameter, right.parameters[index]!))
  );
}

function simple(kind: TypeKind, name: string = kind): Type {
  return { kind, name, parameters: [] };
}

function assignable(bound: Substitution, from: Type, to: Type): boolean {
  if (to.kind === 'variable') {
    const done = bindVariable(bound, from, to);
    if (done !== null) return done;
  }
  if (from.kind === 'variable') return bindVariable(bound, to, from) ?? false;
  if (from.kind === 'dyn' || to.kind === 'dyn') return true;
  if (from.kind === 'null') return NULLABLE.has(to.kind);
  if (to.kind === 'null') return NULLABLE.has(from.kind);
  if (from.kind !== to.kind || from.name !== to.name || from.parameters.length !== to.parameters.length) return false;
  // All types of types are assignable, because type(int) is compared with type(string).
  if (from.kind === 'type') return true;
  return from.parameters.every((parameter, index) => assignable(bound, parameter, to.parameters[index]!));
}

const NULLABLE: ReadonlySet<TypeKind> = new Set(['null', 'timestamp', 'duration', 'optional', 'abstract']);

/**
 * Binds a variable to a type. Returns null if `from` is a variable, too, and the caller has to try the opposite
 * direction.
 */
function bindVariable(bound: Substitution, from: Type, to: Type): boolean | null {
  if (from.kind === 'variable' && from.name === to.name) return true;
  const current = bound.get(to.name);
  if (current !== undefined) {
    if (assignable(bound, from, current)) {
      const general = moreGeneral(from, current);
      if (!refersTo(bound, to, general)) bound.set(to.name, general);
      return true;
    }
    return from.kind === 'variable' ? null : false;
  }
  if (refersTo(bound, to, from)) return from.kind === 'variable';
  bound.set(to.name, from);
  return true;
}

function refersTo(bound: Substitution, name: Type, type: Type): boolean {
  if (type.kind === 'variable') {
    if (type.name === name.name) return true;
    const target = bound.get(type.name);
    return target !== undefined && refersTo(bound, name, target);
  }
  return type.parameters.some((parameter) => refersTo(bound, name, parameter));
}

function isEqualOrLessSpecific(left: Type, right: Type): boolean {
  if (left.kind === 'dyn' || left.kind === 'variable') return true;
  if (right.kind === 'dyn' || right.kind === 'variable') return false;
  if (left.kind === 'null' || right.kind === 'null') return left.kind !== 'null';
  if (left.kind !== right.kind || left.parameters.length !== right.parameters.length) return false;
  return left.parameters.every((parameter, index) => isEqualOrLessSpecific(parameter, right.parameters[index]!));
}
