// Overloads of the arithmetic and ordering operators, and exact arithmetic on integers.

import {
  addDecimals,
  Decimal,
  divideDecimals,
  multiplyDecimals,
  negateDecimal,
  remainderOfDecimals,
  subtractDecimals,
} from '../../values/decimal.ts';
import {
  CalendarDate,
  DAY_MAX,
  DAY_MIN,
  type Duration,
  durationNanos,
  durationOf,
  type Timestamp,
  timestampOf,
} from '../../values/timestamp.ts';
import {
  BOOL,
  BYTES,
  DATE,
  DECIMAL,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  variable,
} from '../check/type.ts';
import {
  compareNumbers,
  compareTexts,
  compareValues,
  DIVISION_BY_ZERO,
  INT_MAX,
  INT_MIN,
  type Integer,
  type ListValue,
  NO_OVERLOAD,
  type Numeric,
  narrowInteger,
  OVERFLOW,
  TEXT_TOO_LONG,
  TIME_OUT_OF_RANGE,
  UINT_MAX,
  Uint,
  type Value,
} from '../compile/value.ts';
import { TEXT_LENGTH_MAX } from '../syntax/limits.ts';
import { define, type FunctionDefinition, type Overload, overload } from './definition.ts';

// Arithmetic on ints and uints: exact on machine numbers while they are safe integers, then on 64 bits; an error
// beyond.

export function addIntegers(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInteger(BigInt(left) + BigInt(right));
}

export function subtractIntegers(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const difference = left - right;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInteger(BigInt(left) - BigInt(right));
}

export function multiplyIntegers(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const product = left * right;
    // Adding zero converts -0 to 0: an int has no negative zero.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return checkedInteger(BigInt(left) * BigInt(right));
}

/** Rounds towards zero. */
export function divideIntegers(left: Integer, right: Integer): Integer {
  if (right === 0) throw DIVISION_BY_ZERO;
  if (typeof left === 'number' && typeof right === 'number') return Math.trunc(left / right) + 0;
  return checkedInteger(BigInt(left) / BigInt(right));
}

/** Has the sign of the dividend. */
export function remainderOfIntegers(left: Integer, right: Integer): Integer {
  if (right === 0) throw DIVISION_BY_ZERO;
  if (typeof left === 'number' && typeof right === 'number') return (left % right) + 0;
  return checkedInteger(BigInt(left) % BigInt(right));
}

export function negateInteger(value: Integer): Integer {
  return typeof value === 'number' ? 0 - value : checkedInteger(-value);
}

/** The static form of an int; throws OVERFLOW beyond 64 bits. */
export function checkedInteger(value: bigint): Integer {
  if (value < INT_MIN || value > INT_MAX) throw OVERFLOW;
  return narrowInteger(value);
}

/** A uint; throws OVERFLOW if negative or beyond 64 bits. */
export function checkedUint(value: bigint): Uint {
  if (value < 0n || value > UINT_MAX) throw OVERFLOW;
  return new Uint(value);
}

function divideUints(left: Uint, right: Uint): Uint {
  if (right.value === 0n) throw DIVISION_BY_ZERO;
  return new Uint(left.value / right.value);
}

function remainderOfUints(left: Uint, right: Uint): Uint {
  if (right.value === 0n) throw DIVISION_BY_ZERO;
  return new Uint(left.value % right.value);
}

/** The int of a double, rounded towards zero; throws OVERFLOW if it does not fit into 64 bits. */
export function integerOfNumber(value: number): Integer {
  // The limits themselves are refused, because doubles near them may stand for numbers beyond the limits.
  if (!(value > -(2 ** 63) && value < 2 ** 63)) throw OVERFLOW;
  return narrowInteger(BigInt(Math.trunc(value)));
}

// Overloads of the arithmetic and ordering operators. Equality, `in` and the logical operators accept all types and
// are compiled separately.

/** The result of an exact operation; throws OVERFLOW if it has too many digits. */
export function exact(value: Decimal | null): Decimal {
  if (value === null) throw OVERFLOW;
  return value;
}

/** The result of an operation on instants or durations; throws TIME_OUT_OF_RANGE if it is out of range. */
export function inTime<T>(value: T | null): T {
  if (value === null) throw TIME_OUT_OF_RANGE;
  return value;
}

/** A date; throws TIME_OUT_OF_RANGE if it is out of range. */
export function dateOf(days: number): CalendarDate {
  if (!(days >= DAY_MIN && days <= DAY_MAX)) throw TIME_OUT_OF_RANGE;
  return new CalendarDate(days);
}

/** Joins two texts within the maximum length. */
function joinTexts(left: string, right: string): string {
  if (left.length + right.length > TEXT_LENGTH_MAX) throw TEXT_TOO_LONG;
  return left + right;
}

const T = variable('T');

/** Overloads for int with decimal, decimal with int, and decimal with decimal, by one operation on decimals. */
function decimalOverloads(operate: (left: Decimal, right: Decimal) => Decimal | null): Overload[] {
  const run = (left: Decimal, right: Decimal) => exact(operate(left, right));
  return [
    overload([DECIMAL, DECIMAL], DECIMAL, run),
    overload([INT, DECIMAL], DECIMAL, (left: Integer, right: Decimal) => run(new Decimal(left, 0), right)),
    overload([DECIMAL, INT], DECIMAL, (left: Decimal, right: Integer) => run(left, new Decimal(right, 0))),
  ];
}

function nonZero(operate: (left: Decimal, right: Decimal) => Decimal | null) {
  return (left: Decimal, right: Decimal) => {
    if (right.digits === 0) throw DIVISION_BY_ZERO;
    return operate(left, right);
  };
}

function addSpan(at: Timestamp, span: Duration): Timestamp {
  return inTime(timestampOf(at.seconds + span.seconds, at.nanos + span.nanos, at.offsetSeconds));
}

function subtractInstants(left: Timestamp, right: Timestamp): Duration {
  const span = inTime(durationOf(left.seconds - right.seconds, left.nanos - right.nanos));
  // CEL counts the difference of two instants in 64-bit nanoseconds: about 292 years.
  const nanos = durationNanos(span);
  if (nanos > 2n ** 63n - 1n || nanos < -(2n ** 63n)) throw TIME_OUT_OF_RANGE;
  return span;
}

const ADDITIONS: readonly Overload[] = [
  overload([INT, INT], INT, addIntegers),
  overload([DOUBLE, DOUBLE], DOUBLE, (left: number, right: number) => left + right),
  ...decimalOverloads(addDecimals),
  overload([STRING, STRING], STRING, joinTexts),
  overload([UINT, UINT], UINT, (left: Uint, right: Uint) => checkedUint(left.value + right.value)),
  overload([BYTES, BYTES], BYTES, (left: Uint8Array, right: Uint8Array) => {
    if (left.length + right.length > TEXT_LENGTH_MAX) throw TEXT_TOO_LONG;
    return Buffer.concat([left, right]);
  }),
  {
    parameters: [listOf(T), listOf(T)],
    result: listOf(T),
    prepare: (context) => (left: ListValue, right: ListValue) => {
      context.charge(left.length + right.length);
      return [...left, ...right];
    },
  },
  overload([TIMESTAMP, DURATION], TIMESTAMP, addSpan),
  overload([DURATION, TIMESTAMP], TIMESTAMP, (span: Duration, at: Timestamp) => addSpan(at, span)),
  overload([DURATION, DURATION], DURATION, (left: Duration, right: Duration) =>
    inTime(durationOf(left.seconds + right.seconds, left.nanos + right.nanos)),
  ),
];

const SUBTRACTIONS: readonly Overload[] = [
  overload([INT, INT], INT, subtractIntegers),
  overload([DOUBLE, DOUBLE], DOUBLE, (left: number, right: number) => left - right),
  ...decimalOverloads(subtractDecimals),
  overload([UINT, UINT], UINT, (left: Uint, right: Uint) => checkedUint(left.value - right.value)),
  overload([TIMESTAMP, TIMESTAMP], DURATION, subtractInstants),
  overload([TIMESTAMP, DURATION], TIMESTAMP, (at: Timestamp, span: Duration) =>
    inTime(timestampOf(at.seconds - span.seconds, at.nanos - span.nanos, at.offsetSeconds)),
  ),
  overload([DURATION, DURATION], DURATION, (left: Duration, right: Duration) =>
    inTime(durationOf(left.seconds - right.seconds, left.nanos - right.nanos)),
  ),
];

const MULTIPLICATIONS: readonly Overload[] = [
  overload([INT, INT], INT, multiplyIntegers),
  overload([DOUBLE, DOUBLE], DOUBLE, (left: number, right: number) => left * right),
  ...decimalOverloads(multiplyDecimals),
  overload([UINT, UINT], UINT, (left: Uint, right: Uint) => checkedUint(left.value * right.value)),
];

const DIVISIONS: readonly Overload[] = [
  overload([INT, INT], INT, divideIntegers),
  overload([DOUBLE, DOUBLE], DOUBLE, (left: number, right: number) => left / right),
  ...decimalOverloads(nonZero(divideDecimals)),
  overload([UINT, UINT], UINT, divideUints),
];

const REMAINDERS: readonly Overload[] = [
  overload([INT, INT], INT, remainderOfIntegers),
  ...decimalOverloads(nonZero(remainderOfDecimals)),
  overload([UINT, UINT], UINT, remainderOfUints),
];

const NEGATIONS: readonly Overload[] = [
  overload([INT], INT, negateInteger),
  overload([DOUBLE], DOUBLE, (value: number) => -value),
  overload([DECIMAL], DECIMAL, negateDecimal),
];

const NUMBERS: readonly Type[] = [INT, UINT, DOUBLE, DECIMAL];

/** Numbers of all types are compared by value; other values only with values of the same type. */
function orderings(holds: (order: number) => boolean): Overload[] {
  const texts = overload([STRING, STRING], BOOL, (left: string, right: string) => holds(compareTexts(left, right)));
  const plain = [BOOL, BYTES, DATE, TIMESTAMP, DURATION].map((type) =>
    overload([type, type], BOOL, (left: Value, right: Value) => {
      const order = compareValues(left, right);
      if (order === undefined) throw NO_OVERLOAD;
      return holds(order);
    }),
  );
  const numbers = NUMBERS.flatMap((left) =>
    NUMBERS.map((right) =>
      // An int in static form is compared by its exact value.
      overload([left, right], BOOL, (a: Numeric, b: Numeric) => holds(compareNumbers(a, b))),
    ),
  );
  return [...numbers, texts, ...plain];
}

/** Operators by their sign; the unary minus is `-_`. */
export const OPERATORS: ReadonlyMap<string, FunctionDefinition> = new Map(
  [
    define('+', 'function', ADDITIONS, { sharesType: true }),
    define('-', 'function', SUBTRACTIONS, { sharesType: true }),
    define('*', 'function', MULTIPLICATIONS, { sharesType: true }),
    define('/', 'function', DIVISIONS, { sharesType: true }),
    define('%', 'function', REMAINDERS, { sharesType: true }),
    define('-_', 'function', NEGATIONS),
    define(
      '<',
      'function',
      orderings((order) => order < 0),
      { sharesType: true },
    ),
    define(
      '<=',
      'function',
      orderings((order) => order <= 0),
      { sharesType: true },
    ),
    define(
      '>',
      'function',
      orderings((order) => order > 0),
      { sharesType: true },
    ),
    define(
      '>=',
      'function',
      orderings((order) => order >= 0),
      { sharesType: true },
    ),
  ].map((definition) => [definition.name, definition]),
);
