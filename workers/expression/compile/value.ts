// Owns the values of expressions at run time and the two ways an integer is carried. Equality and order are in
// equality.ts; decimals, dates, instants and spans come from workers/values.
//
// Dynamic form (elements of lists and maps, anything whose type is only known at run time): null, boolean, string,
// number (a CEL double), bigint (a CEL int, always within 64 bits), Uint, Decimal, Uint8Array (bytes), CalendarDate,
// Timestamp, Duration, ListValue (an array), MapValue, OptionalValue, TypeValue.
// Static form: where the checker knows that a value is an int it is carried as a number while it is a safe integer and
// as a bigint above, so that hot paths compute on machine numbers and stay exact. Every other type has one form only.
import type { CalendarDate } from '../../values/calendar.ts';
import type { Decimal } from '../../values/decimal.ts';
import type { Duration, Timestamp } from '../../values/timestamp.ts';

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

/** A type as a value: what type(x) gives. */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Something or nothing; `value` of none is null. */
export class OptionalValue {
  readonly present: boolean;
  readonly value: Value;

  constructor(present: boolean, value: Value) {
    this.present = present;
    this.value = value;
  }
}

/** The optional that holds nothing. */
export const NONE = new OptionalValue(false, null);

/** What a key is stored under: int, uint and whole doubles of the same value are one key. */
type StoredKey = string | boolean | bigint;

/**
 * A map in the order of its making. Keys are strings, booleans, ints and uints; lookups also take doubles. It is built on
 * Map, so that `__proto__` and the like are keys as any other.
 */
export class MapValue {
  readonly #entries = new Map<StoredKey, { readonly key: Value; readonly value: Value }>();

  get size(): number {
    return this.#entries.size;
  }

  /** Adds an entry; false when the key is there already or is of a type that no key may have. */
  add(key: Value, value: Value): boolean {
    const stored = storedKey(key);
    if (stored === undefined || typeof key === 'number' || this.#entries.has(stored)) return false;
    this.#entries.set(stored, { key, value });
    return true;
  }

  /** The value under a key; undefined when there is none. */
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

/** Smallest and largest int and uint. */
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
