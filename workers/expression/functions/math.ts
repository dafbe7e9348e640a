// Owns CEL's math extension (math.*).
import { compareNumbers, isNumeric, type Numeric } from '../equality.ts';
import { BAD_ARGUMENT, OVERFLOW } from '../evaluation-error.ts';
import { BOOL, DOUBLE, DYN, INT, listOf, type Type, UINT } from '../type.ts';
import { INT_MIN, type Integer, type ListValue, narrowInteger, UINT_MAX, Uint, type Value } from '../value.ts';
import { type Context, define, type FunctionDefinition, type Overload, overload } from './definition.ts';
import { checkedInteger } from './integer.ts';

/** The least or greatest of numbers of any types, as it is. */
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
    // Ints come in their static form, which compares by value as the dynamic one does.
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

/** A shift by 64 and more gives 0; one by a negative number is an error. */
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

/** Half away from zero, as Go's math.Round. */
function roundNumber(value: number): number {
  return Math.abs(value) % 1 === 0.5 ? Math.trunc(value) + Math.sign(value) : Math.round(value);
}

const doubles = (result: Type, run: (value: number) => unknown) => [overload([DOUBLE], result, run)];

export const MATH_FUNCTIONS: readonly FunctionDefinition[] = [
  extremes('math.greatest', 1),
  extremes('math.least', -1),
  define('math.abs', 'function', [
    overload([INT], INT, (value: Integer) => {
      if (value === INT_MIN) throw OVERFLOW;
      return value < 0 ? -value : value;
    }),
    overload([UINT], UINT, (value: Uint) => value),
    ...doubles(DOUBLE, Math.abs),
  ]),
  define('math.sign', 'function', [
    overload([INT], INT, (value: Integer) => (value > 0 ? 1 : value < 0 ? -1 : 0)),
    overload([UINT], UINT, (value: Uint) => new Uint(value.value > 0n ? 1n : 0n)),
    ...doubles(DOUBLE, Math.sign),
  ]),
  define('math.ceil', 'function', doubles(DOUBLE, Math.ceil)),
  define('math.floor', 'function', doubles(DOUBLE, Math.floor)),
  define('math.trunc', 'function', doubles(DOUBLE, Math.trunc)),
  define('math.round', 'function', doubles(DOUBLE, roundNumber)),
  define('math.isNaN', 'function', doubles(BOOL, Number.isNaN)),
  define(
    'math.isInf',
    'function',
    doubles(BOOL, (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
  ),
  define('math.isFinite', 'function', doubles(BOOL, Number.isFinite)),
  define('math.sqrt', 'function', [
    ...doubles(DOUBLE, Math.sqrt),
    overload([INT], DOUBLE, (value: Integer) => Math.sqrt(Number(value))),
    overload([UINT], DOUBLE, (value: Uint) => Math.sqrt(Number(value.value))),
  ]),
  define(
    'math.bitAnd',
    'function',
    bits((left, right) => left & right),
  ),
  define(
    'math.bitOr',
    'function',
    bits((left, right) => left | right),
  ),
  define(
    'math.bitXor',
    'function',
    bits((left, right) => left ^ right),
  ),
  define('math.bitNot', 'function', [
    overload([INT], INT, (value: Integer) => checkedInteger(~BigInt(value))),
    overload([UINT], UINT, (value: Uint) => new Uint(UINT_MAX - value.value)),
  ]),
  define(
    'math.bitShiftLeft',
    'function',
    shifts((value, by) => value << by),
  ),
  define(
    'math.bitShiftRight',
    'function',
    shifts((value, by) => value >> by),
  ),
];
