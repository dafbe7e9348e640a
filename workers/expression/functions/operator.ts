// Owns the arithmetic and ordering operators as overloads: which types they take, what they give. Equality, `in` and the
// logical operators take any types and are compiled apart.
import { CalendarDate, DAY_MAX, DAY_MIN } from '../../values/calendar.ts';
import {
  addDecimals,
  Decimal,
  divideDecimals,
  multiplyDecimals,
  negateDecimal,
  remainderOfDecimals,
  subtractDecimals,
} from '../../values/decimal.ts';
import { type Duration, durationNanos, durationOf, type Timestamp, timestampOf } from '../../values/timestamp.ts';
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
import { compareNumbers, compareTexts, compareValues, type Numeric } from '../compile/equality.ts';
import {
  DIVISION_BY_ZERO,
  NO_OVERLOAD,
  OVERFLOW,
  TEXT_TOO_LONG,
  TIME_OUT_OF_RANGE,
} from '../compile/evaluation-error.ts';
import type { Integer, ListValue, Uint, Value } from '../compile/value.ts';
import { TEXT_LENGTH_MAX } from '../syntax/limits.ts';
import { define, type FunctionDefinition, type Overload, overload } from './definition.ts';
import {
  addIntegers,
  checkedUint,
  divideIntegers,
  divideUints,
  multiplyIntegers,
  negateInteger,
  remainderOfIntegers,
  remainderOfUints,
  subtractIntegers,
} from './integer.ts';

/** The result of an exact operation, or OVERFLOW where it has too many digits. */
export function exact(value: Decimal | null): Decimal {
  if (value === null) throw OVERFLOW;
  return value;
}

/** The result of an operation on instants or spans, or an error where it leaves their range. */
export function inTime<T>(value: T | null): T {
  if (value === null) throw TIME_OUT_OF_RANGE;
  return value;
}

/** A date within the range of dates. */
export function dateOf(days: number): CalendarDate {
  if (!(days >= DAY_MIN && days <= DAY_MAX)) throw TIME_OUT_OF_RANGE;
  return new CalendarDate(days);
}

/** Two texts joined, within the limit. */
function joinTexts(left: string, right: string): string {
  if (left.length + right.length > TEXT_LENGTH_MAX) throw TEXT_TOO_LONG;
  return left + right;
}

const T = variable('T');

/** int with decimal, decimal with int and decimal with decimal, all by one operation on decimals. */
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
  // CEL counts the difference of two instants in nanoseconds of 64 bits: about 292 years.
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

/** Numbers of all types compare by value; everything else with its own type only. */
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
      // An int in its static form compares as it is: by exact value.
      overload([left, right], BOOL, (a: Numeric, b: Numeric) => holds(compareNumbers(a, b))),
    ),
  );
  return [...numbers, texts, ...plain];
}

/** The operators by their sign; the minus of one operand is `-_`. */
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
