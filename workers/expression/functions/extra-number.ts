// Our functions on numbers: round, floor, ceil, abs, min, max, mod, parse_number.

import { nativeNumber } from '../../batch/native-cell.ts';
import { KIND_NUMBER } from '../../kernel/layout/cells.ts';
import {
  Decimal,
  decimalFromNumber,
  decimalOf,
  decimalToNumber,
  floorDecimal,
  negateDecimal,
  powerOfTen,
  ROUNDINGS,
  type Rounding,
  remainderOfDecimals,
  roundDecimal,
} from '../../values/decimal.ts';
import { parseNumberText } from '../../values/number-text.ts';
import { DATE, DECIMAL, DOUBLE, INT, STRING, TIMESTAMP, type Type } from '../check/type.ts';
import {
  BAD_ARGUMENT,
  compareValues,
  DIVISION_BY_ZERO,
  INT_MIN,
  type Integer,
  NOT_A_NUMBER,
  OVERFLOW,
  PRECISION_LOSS,
  type Value,
} from '../compile/value.ts';
import {
  type Constants,
  type DocumentedFunction,
  define,
  documented,
  type FunctionDefinition,
  overload,
} from './definition.ts';
import { checkedInteger, exact, remainderOfIntegers } from './operator.ts';

/** Maximum number of digits after the point for round(). */
const ROUND_SCALE_MAX = 100;

function rounded(value: Decimal, scale: Integer = 0, mode = 'half_up'): Decimal {
  if (Math.abs(Number(scale)) > ROUND_SCALE_MAX || !ROUNDINGS.includes(mode as Rounding)) throw BAD_ARGUMENT;
  const result = roundDecimal(value, Number(scale), mode as Rounding);
  if (result === null) throw mode === 'error' ? PRECISION_LOSS : OVERFLOW;
  return result;
}

/** Rounds the decimal of the double's shortest text, so that 2.675 is rounded as it is written. */
function roundedNumber(value: number, scale: Integer = 0, mode = 'half_up'): number {
  const decimal = decimalFromNumber(value);
  return decimal === null ? value : decimalToNumber(rounded(decimal, scale, mode));
}

/** Only a negative scale changes a whole number. */
function roundedInteger(value: Integer, scale: Integer = 0, mode = 'half_up'): Integer {
  const { digits } = rounded(exact(decimalOf(value, 0)), scale, mode);
  return checkedInteger(BigInt(digits) / powerOfTen(Math.max(0, Number(scale))));
}

function checkRounding(constants: Constants): string | null {
  const mode = constants[2];
  return typeof mode === 'string' && !ROUNDINGS.includes(mode as Rounding)
    ? `The rounding is one of ${ROUNDINGS.join(', ')}.`
    : null;
}

function extreme(sign: 1 | -1) {
  return (...values: Value[]): Value => {
    let best: Value = values[0] ?? null;
    for (const value of values) {
      const order = compareValues(value, best);
      if (order === undefined) throw BAD_ARGUMENT;
      if (order * sign > 0) best = value;
    }
    return best;
  };
}

const extremes = (name: string, sign: 1 | -1): FunctionDefinition =>
  define(
    name,
    'function',
    [
      // In static form, ints are numbers or bigints of JavaScript, which are compared in the same way as doubles.
      ...[INT, DECIMAL, DOUBLE, STRING, DATE, TIMESTAMP].map((type) => ({
        parameters: [type, type],
        rest: type,
        result: type,
        prepare: () => extreme(sign),
      })),
      ...MIXED_NUMBERS.map((parameters) => overload(parameters, DECIMAL, mixedExtreme(parameters, sign))),
    ],
    { sharesType: true },
  );

/** Combinations of two or three ints and decimals: int with decimal gives decimal. */
const MIXED_NUMBERS: readonly (readonly Type[])[] = [
  [INT, DECIMAL],
  [DECIMAL, INT],
  [INT, INT, DECIMAL],
  [INT, DECIMAL, INT],
  [INT, DECIMAL, DECIMAL],
  [DECIMAL, INT, INT],
  [DECIMAL, INT, DECIMAL],
  [DECIMAL, DECIMAL, INT],
];

function mixedExtreme(parameters: readonly Type[], sign: 1 | -1) {
  const best = extreme(sign);
  return (...values: (Integer | Decimal)[]): Value =>
    best(...values.map((value, index) => (parameters[index] === INT ? new Decimal(value as Integer, 0) : value)));
}

function ceiling(value: Decimal): Decimal {
  return negateDecimal(exact(floorDecimal(negateDecimal(value))));
}

function absolute(value: Integer): Integer {
  if (value === INT_MIN) throw OVERFLOW;
  return value < 0 ? -value : value;
}

function parsed(text: string, decimal = '.', grouping = ''): Decimal {
  if (decimal.length !== 1 || grouping.length > 1 || decimal === grouping) throw BAD_ARGUMENT;
  const value = parseNumberText(text, { decimal, grouping });
  if (value === null) throw NOT_A_NUMBER;
  return value;
}

/** Parses a native number, which is always written with a point, whatever decimal mark the texts of the column have. */
function parsedNative() {
  return (text: string, kind: number): Decimal => {
    if (kind !== KIND_NUMBER) throw NOT_A_NUMBER;
    return exact(nativeNumber(text));
  };
}

export const EXTRA_NUMBER_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'round(number[, scale[, rounding]])',
    'Rounds to a number of decimal places: half_up (default, halves away from zero), half_even, down, or error if a digit would be lost.',
    'round(2.345d, 2)',
    '2.35',
    define(
      'round',
      'both',
      [
        overload([DECIMAL], DECIMAL, rounded),
        overload([DECIMAL, INT], DECIMAL, rounded),
        overload([DECIMAL, INT, STRING], DECIMAL, rounded),
        overload([DOUBLE], DOUBLE, roundedNumber),
        overload([DOUBLE, INT], DOUBLE, roundedNumber),
        overload([DOUBLE, INT, STRING], DOUBLE, roundedNumber),
        overload([INT], INT, (value: Integer) => value),
        overload([INT, INT], INT, roundedInteger),
        overload([INT, INT, STRING], INT, roundedInteger),
      ],
      { check: checkRounding },
    ),
  ),
  documented(
    'floor(number)',
    'Rounds down to an integer.',
    'floor(-1.5d)',
    '-2',
    define('floor', 'both', [
      overload([DECIMAL], DECIMAL, (value: Decimal) => exact(floorDecimal(value))),
      overload([DOUBLE], DOUBLE, Math.floor),
      overload([INT], INT, (value: Integer) => value),
    ]),
  ),
  documented(
    'ceil(number)',
    'Rounds up to an integer.',
    'ceil(1.2d)',
    '2',
    define('ceil', 'both', [
      overload([DECIMAL], DECIMAL, ceiling),
      overload([DOUBLE], DOUBLE, Math.ceil),
      overload([INT], INT, (value: Integer) => value),
    ]),
  ),
  documented(
    'abs(number)',
    'The absolute value.',
    'abs(-1.50d)',
    '1.50',
    define('abs', 'both', [
      overload([DECIMAL], DECIMAL, (value: Decimal) => (value.digits < 0 ? negateDecimal(value) : value)),
      overload([DOUBLE], DOUBLE, Math.abs),
      overload([INT], INT, absolute),
    ]),
  ),
  documented(
    'min(value, value...)',
    'The smallest of numbers, texts, dates or instants of one type; integers are converted if there are decimals.',
    'min(3, 1, 2)',
    '1',
    extremes('min', -1),
  ),
  documented(
    'max(value, value...)',
    'The greatest of numbers, texts, dates or instants of one type, like min().',
    'max(1.5d, 2)',
    '2',
    extremes('max', 1),
  ),
  documented(
    'mod(number, divisor)',
    'The remainder, with the sign of the number; for integers also a % b.',
    'mod(7, 3)',
    '1',
    define(
      'mod',
      'function',
      [
        overload([INT, INT], INT, remainderOfIntegers),
        overload([DECIMAL, DECIMAL], DECIMAL, (left: Decimal, right: Decimal) => {
          if (right.digits === 0) throw DIVISION_BY_ZERO;
          return exact(remainderOfDecimals(left, right));
        }),
      ],
      { sharesType: true },
    ),
  ),
  documented(
    'parse_number(text[, decimal[, grouping]])',
    'Parses a text as an exact decimal.',
    'parse_number("1.234,50", ",", ".")',
    '1234.50',
    define('parse_number', 'both', [
      overload([STRING], DECIMAL, parsed, parsedNative),
      overload([STRING, STRING], DECIMAL, parsed, parsedNative),
      overload([STRING, STRING, STRING], DECIMAL, parsed, parsedNative),
    ]),
  ),
];
