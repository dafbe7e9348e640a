// Values of expressions at run time, errors of single rows, and equality and order of values.
import type { RowErrorCode } from '../../protocol/report.ts';
import { compareDecimals, Decimal, powerOfTen } from '../../values/decimal.ts';
import { CalendarDate, compareInstants, Duration, Timestamp } from '../../values/timestamp.ts';
import { STEP_LENGTH } from '../syntax/limits.ts';

// Errors of single rows: a code, without any content of the row.

/** The row error codes that expressions can cause. */
export type EvaluationCode = Extract<
  RowErrorCode,
  | 'EXPR_TYPE'
  | 'EXPR_DIV_ZERO'
  | 'OUT_OF_RANGE'
  | 'TOO_LONG'
  | 'NOT_A_NUMBER'
  | 'NOT_A_DATE'
  | 'NOT_A_TIME'
  | 'NOT_A_DURATION'
  | 'NOT_A_BOOLEAN'
  | 'PRECISION_LOSS'
>;

/**
 * Thrown by compiled expressions. The instances are created once, below, because a column of invalid cells throws
 * millions of them. Their stack traces are meaningless.
 */
export class EvaluationError extends Error {
  readonly code: EvaluationCode;

  constructor(code: EvaluationCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const NO_OVERLOAD = new EvaluationError('EXPR_TYPE', 'no such overload');
export const NO_SUCH_KEY = new EvaluationError('EXPR_TYPE', 'no such key');
export const BAD_KEY = new EvaluationError('EXPR_TYPE', 'unsupported key type, or a key comes twice');
export const UNKNOWN_NAME = new EvaluationError('EXPR_TYPE', 'unknown variable or function');
export const BAD_ARGUMENT = new EvaluationError('EXPR_TYPE', 'invalid argument');
export const DIVISION_BY_ZERO = new EvaluationError('EXPR_DIV_ZERO', 'division by zero');
export const OVERFLOW = new EvaluationError('OUT_OF_RANGE', 'number out of range');
export const INDEX_OUT_OF_RANGE = new EvaluationError('OUT_OF_RANGE', 'index out of range');
export const TIME_OUT_OF_RANGE = new EvaluationError('OUT_OF_RANGE', 'date, time or duration out of range');
export const TOO_MANY_STEPS = new EvaluationError('TOO_LONG', 'the expression takes too many steps');
export const TEXT_TOO_LONG = new EvaluationError('TOO_LONG', 'the text is too long');
export const NOT_A_NUMBER = new EvaluationError('NOT_A_NUMBER', 'not a number');
export const NOT_A_DATE = new EvaluationError('NOT_A_DATE', 'not a date');
export const NOT_A_TIME = new EvaluationError('NOT_A_TIME', 'not a time of the day');
export const NOT_A_DURATION = new EvaluationError('NOT_A_DURATION', 'not a duration');
export const NOT_A_BOOLEAN = new EvaluationError('NOT_A_BOOLEAN', 'not a boolean');
export const PRECISION_LOSS = new EvaluationError('PRECISION_LOSS', 'digits would be lost');

// Values of expressions at run time, and the two representations of an integer. Equality and order follow below;
// decimals, dates, instants and durations are in workers/values.
//
// Dynamic form (elements of lists and maps, values whose type is known only at run time): null, boolean, string,
// number (a CEL double), bigint (a CEL int, always within 64 bits), Uint, Decimal, Uint8Array (bytes), CalendarDate,
// Timestamp, Duration, ListValue (an array), MapValue, OptionalValue, TypeValue.
//
// Static form: if the checker knows that a value is an int, it is a number while it is a safe integer, and a bigint
// above. Hot paths thus compute on machine numbers and stay exact. All other types have the same form in both.

/** Any value in its dynamic form. */
export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | Uint
  | Decimal
  | Uint8Array
  | CalendarDate
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | OptionalValue
  | TypeValue;

export type ListValue = readonly Value[];

/** An int in its static form. */
export type Integer = number | bigint;

/** An unsigned 64-bit integer. */
export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A type as a value, as returned by type(x). */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** An optional value. `value` is null if it is empty. */
export class OptionalValue {
  readonly present: boolean;
  readonly value: Value;

  constructor(present: boolean, value: Value) {
    this.present = present;
    this.value = value;
  }
}

/** The empty optional. */
export const NONE = new OptionalValue(false, null);

/** Key in the underlying Map: int, uint and whole doubles of equal value are the same key. */
type StoredKey = string | boolean | bigint;

/**
 * A map in insertion order. Keys are strings, booleans, ints and uints; lookups also accept doubles. Based on Map, so
 * that `__proto__` is an ordinary key.
 */
export class MapValue {
  readonly #entries = new Map<StoredKey, { readonly key: Value; readonly value: Value }>();

  get size(): number {
    return this.#entries.size;
  }

  /** Adds an entry. Returns false if the key exists or has an invalid type. */
  add(key: Value, value: Value): boolean {
    const stored = storedKey(key);
    if (stored === undefined || typeof key === 'number' || this.#entries.has(stored)) return false;
    this.#entries.set(stored, { key, value });
    return true;
  }

  /** The value of a key, or undefined. */
  get(key: Value): Value | undefined {
    const stored = storedKey(key);
    return stored === undefined ? undefined : this.#entries.get(stored)?.value;
  }

  entries(): IterableIterator<{ readonly key: Value; readonly value: Value }> {
    return this.#entries.values();
  }
}

/** The static form of an int. */
export function narrowInteger(value: bigint): Integer {
  return value >= SAFE_MIN && value <= SAFE_MAX ? Number(value) : value;
}

/** The dynamic form of an int. */
export function widenInteger(value: Integer | null): bigint | null {
  return typeof value === 'number' ? BigInt(value) : value;
}

/** Smallest and largest int, and largest uint. */
export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
export const UINT_MAX = 2n ** 64n - 1n;

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const SAFE_MIN = -SAFE_MAX;

function storedKey(key: Value): StoredKey | undefined {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'bigint') return key;
  if (key instanceof Uint) return key.value;
  if (typeof key === 'number' && Number.isInteger(key)) return BigInt(key);
  return undefined;
}

// Equality and order of values in dynamic form, as in CEL: numbers of all types are compared by value, and values of
// different types are not equal.

/** True if two values are equal; never an error. `charge` is called for the compared elements. */
export function isEqual(left: Value, right: Value, charge: (steps: number) => void): boolean {
  if (typeof left === 'string' && typeof right === 'string') return textsEqual(left, right, charge);
  if (left === right) return true;
  if (typeof left !== 'object' && typeof left === typeof right) return false;
  if (left === null || right === null) return false;
  if (isNumeric(left)) return isNumeric(right) && compareNumbers(left, right) === 0;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (Array.isArray(left)) return Array.isArray(right) && listsEqual(left, right, charge);
  if (left instanceof Timestamp) return right instanceof Timestamp && compareInstants(left, right) === 0;
  if (left instanceof Duration) return right instanceof Duration && compareInstants(left, right) === 0;
  if (left instanceof CalendarDate) return right instanceof CalendarDate && left.days === right.days;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right) === 0;
  if (left instanceof OptionalValue) {
    return right instanceof OptionalValue && left.present === right.present && isEqual(left.value, right.value, charge);
  }
  return left instanceof MapValue && right instanceof MapValue && mapsEqual(left, right, charge);
}

/**
 * Returns -1, 0 or 1; NaN if a value is NaN; undefined if the values have no order (different types, lists, maps,
 * null).
 */
export function compareValues(left: Value, right: Value): number | undefined {
  if (typeof left === 'string') return typeof right === 'string' ? compareTexts(left, right) : undefined;
  if (typeof left === 'boolean') return typeof right === 'boolean' ? Number(left) - Number(right) : undefined;
  if (isNumeric(left)) return isNumeric(right) ? compareNumbers(left, right) : undefined;
  if (left instanceof Timestamp) return right instanceof Timestamp ? compareInstants(left, right) : undefined;
  if (left instanceof Duration) return right instanceof Duration ? compareInstants(left, right) : undefined;
  if (left instanceof CalendarDate) return right instanceof CalendarDate ? left.days - right.days : undefined;
  if (left instanceof Uint8Array) return right instanceof Uint8Array ? compareBytes(left, right) : undefined;
  return undefined;
}

/**
 * Compares by code points, like UTF-8 bytes. Comparing UTF-16 units would sort supplementary characters before
 * U+E000.
 */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) {
      if (a >= 0xd800 && b >= 0xd800 && a <= 0xdfff !== b <= 0xdfff) return a <= 0xdfff ? 1 : -1;
      return a < b ? -1 : 1;
    }
  }
  return left.length < right.length ? -1 : 1;
}

/** A number of any type. */
export type Numeric = number | bigint | Uint | Decimal;

export function isNumeric(value: Value): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Uint || value instanceof Decimal;
}

/** Compares by value regardless of types; NaN if one is NaN. */
export function compareNumbers(left: Numeric, right: Numeric): number {
  const a = left instanceof Uint ? left.value : left;
  const b = right instanceof Uint ? right.value : right;
  if (a instanceof Decimal || b instanceof Decimal) return compareWithDecimal(a, b);
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN;
  // CEL compares an int with a double as doubles, which is not exact beyond 2 ** 53.
  const x = Number(a);
  const y = Number(b);
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN;
}

function compareWithDecimal(left: number | bigint | Decimal, right: number | bigint | Decimal): number {
  for (const [value, sign] of [
    [left, 1],
    [right, -1],
  ] as const) {
    if (typeof value === 'number' && !Number.isFinite(value))
      return Number.isNaN(value) ? value : Math.sign(value) * sign;
  }
  return compareDecimals(exactDecimal(left), exactDecimal(right));
}

/** A finite double is a whole number divided by a power of two, so it has an exact decimal. */
function exactDecimal(value: number | bigint | Decimal): Decimal {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return new Decimal(value, 0);
  let scaled = value;
  let halvings = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    halvings++;
  }
  return new Decimal((BigInt(scaled) * powerOfTen(halvings)) / 2n ** BigInt(halvings), halvings);
}

function textsEqual(left: string, right: string, charge: (steps: number) => void): boolean {
  if (left.length !== right.length) return false;
  if (left.length >= STEP_LENGTH) charge(Math.floor(left.length / STEP_LENGTH));
  return left === right;
}

function listsEqual(left: ListValue, right: ListValue, charge: (steps: number) => void): boolean {
  if (left.length !== right.length) return false;
  charge(left.length);
  return left.every((element, index) => isEqual(element, right[index]!, charge));
}

function mapsEqual(left: MapValue, right: MapValue, charge: (steps: number) => void): boolean {
  if (left.size !== right.size) return false;
  charge(left.size);
  for (const { key, value } of left.entries()) {
    const other = right.get(key);
    if (other === undefined || !isEqual(value, other, charge)) return false;
  }
  return true;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}
