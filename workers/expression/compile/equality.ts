// Owns equality and order of values in their dynamic form: CEL's, where numbers of every type compare by value and
// values of different types are simply not equal.
import { CalendarDate } from '../../values/calendar.ts';
import { compareDecimals, Decimal, powerOfTen } from '../../values/decimal.ts';
import { compareInstants, Duration, Timestamp } from '../../values/timestamp.ts';
import { STEP_LENGTH } from '../syntax/limits.ts';
import { type ListValue, MapValue, OptionalValue, TypeValue, Uint, type Value } from './value.ts';

/** Whether two values are equal; never an error. `charge` counts the elements that are looked at. */
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

/** -1, 0 or 1; NaN when a NaN takes part; undefined when the two have no order (different types, lists, maps, null). */
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

/** By code points, as UTF-8 bytes would compare: UTF-16 units alone would put astral characters before U+E000. */
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

/** By value whatever the types; NaN when one is NaN. */
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

/** A finite double is a whole number over a power of two, so it is a decimal with as many digits. */
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
