// CEL's math extension (math.*).
import { BOOL, DOUBLE, DYN, INT, listOf, type Type, UINT } from '../check/type.ts';
import {
  BAD_ARGUMENT,
  compareNumbers,
  INT_MIN,
  type Integer,
  isNumeric,
  type ListValue,
  type Numeric,
  narrowInteger,
  OVERFLOW,
  UINT_MAX,
  Uint,
  type Value,
} from '../compile/value.ts';
import {
  type Context,
  type DocumentedFunction,
  define,
  documented,
  type FunctionDefinition,
  type Overload,
  overload,
} from './definition.ts';
import { checkedInteger } from './operator.ts';

/** The smallest or largest of numbers of any types, unchanged. */
function extreme(values: readonly Value[], sign: 1 | -1): Value {
  let best: Numeric | undefined;
  for (const value of values) {
    if (!isNumeric(value)) throw BAD_ARGUMENT;
    if (best === undefined || compareNumbers(value, best) * sign > 0) best = value;
  }
  if (best === undefined) throw BAD_ARGUMENT;
  return best;
}

function extremes(name: string, sign: 1 | -1): FunctionDefinition {
  const unary = [INT, UINT, DOUBLE].map((type) => overload([type], type, (value: Value) => value));
  const lists = [INT, UINT, DOUBLE, DYN].map((type): Overload => {
    const run = (context: Context) => (list: ListValue) => {
      context.charge(list.length);
      const best = extreme(list, sign);
      return type === INT ? narrowInteger(best as bigint) : best;
    };
    return { parameters: [listOf(type)], result: type, prepare: run };
  });
  const several = [INT, UINT, DOUBLE, DYN].map((type): Overload => {
    // Ints are in static form, which compares by value like the dynamic form.
    const run =
      () =>
      (...values: Value[]) =>
        extreme(values, sign);
    return { parameters: [type, type], rest: type, result: type, prepare: run };
  });
  return define(name, 'function', [...unary, ...lists, ...several]);
}

function bits(operate: (left: bigint, right: bigint) => bigint): Overload[] {
  return [
    overload([INT, INT], INT, (left: Integer, right: Integer) => narrowInteger(operate(BigInt(left), BigInt(right)))),
    overload([UINT, UINT], UINT, (left: Uint, right: Uint) => new Uint(operate(left.value, right.value))),
  ];
}

/** A shift by 64 or more gives 0; a negative shift is an error. */
function shifts(operate: (value: bigint, by: bigint) => bigint): Overload[] {
  const shift = (value: bigint, by: Integer) => {
    if (by < 0) throw OVERFLOW;
    return by >= 64 ? 0n : operate(value, BigInt(by));
  };
  return [
    overload([INT, INT], INT, (value: Integer, by: Integer) =>
      narrowInteger(BigInt.asIntN(64, shift(BigInt.asUintN(64, BigInt(value)), by))),
    ),
    overload([UINT, INT], UINT, (value: Uint, by: Integer) => new Uint(BigInt.asUintN(64, shift(value.value, by)))),
  ];
}

/** Rounds half away from zero, like Go's math.Round. */
function roundNumber(value: number): number {
  return Math.abs(value) % 1 === 0.5 ? Math.trunc(value) + Math.sign(value) : Math.round(value);
}

const doubles = (result: Type, run: (value: number) => unknown) => [overload([DOUBLE], result, run)];

export const MATH_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'math.greatest(number...)',
    'The greatest number.',
    'math.greatest(1, 3, 2)',
    '3',
    extremes('math.greatest', 1),
  ),
  documented('math.least(number...)', 'The least number.', 'math.least(1.5, 2.5)', '1.5', extremes('math.least', -1)),
  documented(
    'math.abs(number)',
    'The absolute value.',
    'math.abs(-2)',
    '2',
    define('math.abs', 'function', [
      overload([INT], INT, (value: Integer) => {
        if (value === INT_MIN) throw OVERFLOW;
        return value < 0 ? -value : value;
      }),
      overload([UINT], UINT, (value: Uint) => value),
      ...doubles(DOUBLE, Math.abs),
    ]),
  ),
  documented(
    'math.sign(number)',
    '-1, 0 or 1.',
    'math.sign(-5)',
    '-1',
    define('math.sign', 'function', [
      overload([INT], INT, (value: Integer) => (value > 0 ? 1 : value < 0 ? -1 : 0)),
      overload([UINT], UINT, (value: Uint) => new Uint(value.value > 0n ? 1n : 0n)),
      ...doubles(DOUBLE, Math.sign),
    ]),
  ),
  documented(
    'math.ceil(double)',
    'Rounds up to an integer.',
    'math.ceil(1.2)',
    '2',
    define('math.ceil', 'function', doubles(DOUBLE, Math.ceil)),
  ),
  documented(
    'math.floor(double)',
    'Rounds down to an integer.',
    'math.floor(-1.2)',
    '-2',
    define('math.floor', 'function', doubles(DOUBLE, Math.floor)),
  ),
  documented(
    'math.trunc(double)',
    'Removes the fraction.',
    'math.trunc(-1.7)',
    '-1',
    define('math.trunc', 'function', doubles(DOUBLE, Math.trunc)),
  ),
  documented(
    'math.round(double)',
    'Rounds to the nearest integer, halves away from zero.',
    'math.round(-1.5)',
    '-2',
    define('math.round', 'function', doubles(DOUBLE, roundNumber)),
  ),
  documented(
    'math.isNaN(double)',
    'Whether it is NaN (not a number).',
    'math.isNaN(0.0 / 0.0)',
    'true',
    define('math.isNaN', 'function', doubles(BOOL, Number.isNaN)),
  ),
  documented(
    'math.isInf(double)',
    'Whether it is infinite.',
    'math.isInf(1.0 / 0.0)',
    'true',
    define(
      'math.isInf',
      'function',
      doubles(BOOL, (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
    ),
  ),
  documented(
    'math.isFinite(double)',
    'Whether it is neither NaN nor infinite.',
    'math.isFinite(1.0)',
    'true',
    define('math.isFinite', 'function', doubles(BOOL, Number.isFinite)),
  ),
  documented(
    'math.sqrt(number)',
    'The square root.',
    'math.sqrt(9)',
    '3',
    define('math.sqrt', 'function', [
      ...doubles(DOUBLE, Math.sqrt),
      overload([INT], DOUBLE, (value: Integer) => Math.sqrt(Number(value))),
      overload([UINT], DOUBLE, (value: Uint) => Math.sqrt(Number(value.value))),
    ]),
  ),
  documented(
    'math.bitAnd(a, b)',
    'Bitwise AND.',
    'math.bitAnd(6, 3)',
    '2',
    define(
      'math.bitAnd',
      'function',
      bits((left, right) => left & right),
    ),
  ),
  documented(
    'math.bitOr(a, b)',
    'Bitwise OR.',
    'math.bitOr(6, 3)',
    '7',
    define(
      'math.bitOr',
      'function',
      bits((left, right) => left | right),
    ),
  ),
  documented(
    'math.bitXor(a, b)',
    'Bitwise XOR.',
    'math.bitXor(6, 3)',
    '5',
    define(
      'math.bitXor',
      'function',
      bits((left, right) => left ^ right),
    ),
  ),
  documented(
    'math.bitNot(a)',
    'Bitwise NOT.',
    'math.bitNot(0)',
    '-1',
    define('math.bitNot', 'function', [
      overload([INT], INT, (value: Integer) => checkedInteger(~BigInt(value))),
      overload([UINT], UINT, (value: Uint) => new Uint(UINT_MAX - value.value)),
    ]),
  ),
  documented(
    'math.bitShiftLeft(a, count)',
    'Shifts bits to the left.',
    'math.bitShiftLeft(1, 4)',
    '16',
    define(
      'math.bitShiftLeft',
      'function',
      shifts((value, by) => value << by),
    ),
  ),
  documented(
    'math.bitShiftRight(a, count)',
    'Shifts bits to the right.',
    'math.bitShiftRight(16, 4)',
    '1',
    define(
      'math.bitShiftRight',
      'function',
      shifts((value, by) => value >> by),
    ),
  ),
];
