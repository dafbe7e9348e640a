// Exact decimals: an integer and the number of its digits after the decimal point. Localised numbers are read in
// number-text.ts.

/** Treatment of digits that do not fit. `error` refuses instead of dropping them. */
export type Rounding = 'half_even' | 'half_up' | 'down' | 'error';

/** All rounding modes, as Templates spell them. */
export const ROUNDINGS: readonly Rounding[] = ['half_even', 'half_up', 'down', 'error'];

/**
 * Maximum number of digits of a decimal. It bounds the cost of arithmetic on a cell and is far above any amount of
 * money.
 */
export const DECIMAL_DIGITS_MAX = 1000;

/** Minimum number of digits after the point that a division keeps before it rounds (half even). */
export const DIVISION_SCALE = 10;

/**
 * An exact decimal: `digits` times ten to the power of minus `scale`. `digits` is a number if and only if it is a
 * safe integer, otherwise a bigint. The scale is kept as written (1.20 has scale 2).
 */
export class Decimal {
  readonly digits: number | bigint;
  readonly scale: number;

  constructor(digits: number | bigint, scale: number) {
    this.digits = digits;
    this.scale = scale;
  }

  toString(): string {
    return decimalText(this);
  }
}

/** Creates a decimal, with a number instead of a bigint if the digits fit. Null if there are too many digits. */
export function decimalOf(digits: number | bigint, scale: number): Decimal | null {
  if (typeof digits === 'number') return new Decimal(digits === 0 ? 0 : digits, scale);
  if (digits >= SAFE_MIN && digits <= SAFE_MAX) return new Decimal(Number(digits), scale);
  return digits < BIGGEST && digits > -BIGGEST ? new Decimal(digits, scale) : null;
}

/** Parses `-12.30`, `.5`, `7` and, if `exponent` is true, an exponent (`1.5e3`). Null for other texts. */
export function parseDecimal(text: string, exponent = false): Decimal | null {
  const plain = parsePlain(text);
  if (plain !== null) return plain;
  const match = exponent
    ? /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?$/.exec(text)
    : /^([+-]?)([0-9]*)(?:\.([0-9]*))?$/.exec(text);
  if (match === null) return null;
  const whole = match[2] ?? '';
  const fraction = match[3] ?? '';
  const count = whole.length + fraction.length;
  if (count === 0 || count > DECIMAL_DIGITS_MAX) return null;
  let digits = BigInt(whole + fraction);
  if (match[1] === '-') digits = -digits;
  const scale = fraction.length - Number(match[4] ?? 0);
  if (Math.abs(scale) > DECIMAL_DIGITS_MAX) return null;
  return scale >= 0 ? decimalOf(digits, scale) : decimalOf(digits * powerOfTen(-scale), 0);
}

/** Formats a decimal with all digits of its scale, a leading zero and no exponent: `-0.50`. */
export function decimalText(value: Decimal): string {
  const { digits, scale } = value;
  if (scale === 0) return String(digits);
  const negative = digits < 0;
  let text = String(digits);
  if (negative) text = text.slice(1);
  if (text.length <= scale) text = text.padStart(scale + 1, '0');
  const point = text.length - scale;
  return `${negative ? '-' : ''}${text.slice(0, point)}.${text.slice(point)}`;
}

/** Sum, with the larger of both scales. Null if it has too many digits. */
export function addDecimals(left: Decimal, right: Decimal): Decimal | null {
  if (left.scale === right.scale && typeof left.digits === 'number' && typeof right.digits === 'number') {
    const sum = left.digits + right.digits;
    if (Number.isSafeInteger(sum)) return new Decimal(sum, left.scale);
  }
  const scale = Math.max(left.scale, right.scale);
  const sum = safeDigits(left, scale) + safeDigits(right, scale);
  if (Number.isSafeInteger(sum)) return new Decimal(sum, scale);
  return decimalOf(digitsAtScale(left, scale) + digitsAtScale(right, scale), scale);
}

/** Difference, with the larger of both scales. */
export function subtractDecimals(left: Decimal, right: Decimal): Decimal | null {
  return addDecimals(left, negateDecimal(right));
}

/** Product; its scale is the sum of both scales. */
export function multiplyDecimals(left: Decimal, right: Decimal): Decimal | null {
  const scale = left.scale + right.scale;
  if (scale > DECIMAL_DIGITS_MAX) return null;
  if (typeof left.digits === 'number' && typeof right.digits === 'number') {
    const product = left.digits * right.digits;
    if (Number.isSafeInteger(product)) return decimalOf(product, scale);
  }
  return decimalOf(BigInt(left.digits) * BigInt(right.digits), scale);
}

/**
 * Quotient, rounded half even to the largest of both scales and DIVISION_SCALE. Trailing zeros are then removed down
 * to the larger of both scales. The divisor must not be zero.
 */
export function divideDecimals(left: Decimal, right: Decimal): Decimal | null {
  const kept = Math.max(left.scale, right.scale);
  const scale = Math.max(kept, DIVISION_SCALE);
  const shift = scale - left.scale + right.scale;
  const quotient = divideRounded(BigInt(left.digits) * powerOfTen(shift), BigInt(right.digits), 'half_even');
  if (quotient === null) return null;
  const result = decimalOf(quotient, scale);
  return result === null ? null : trimZeros(result, kept);
}

/** Remainder, with the sign of the dividend. The divisor must not be zero. */
export function remainderOfDecimals(left: Decimal, right: Decimal): Decimal | null {
  const scale = Math.max(left.scale, right.scale);
  return decimalOf(digitsAtScale(left, scale) % digitsAtScale(right, scale), scale);
}

/** The negated value; zero has no sign. */
export function negateDecimal(value: Decimal): Decimal {
  return new Decimal(value.digits === 0 ? 0 : -value.digits, value.scale);
}

/** Compares by value: -1, 0 or 1. 1.2 equals 1.20. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  if (left.scale === right.scale) return left.digits < right.digits ? -1 : left.digits > right.digits ? 1 : 0;
  const scale = Math.max(left.scale, right.scale);
  const x = safeDigits(left, scale);
  const y = safeDigits(right, scale);
  if (!Number.isNaN(x - y)) return x < y ? -1 : x > y ? 1 : 0;
  const a = digitsAtScale(left, scale);
  const b = digitsAtScale(right, scale);
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Rounds to `scale` digits after the point (a negative scale rounds digits before the point). Null if rounding
 * `error` would drop a digit, or if there are too many digits.
 */
export function roundDecimal(value: Decimal, scale: number, rounding: Rounding): Decimal | null {
  if (scale >= value.scale) return decimalOf(digitsAtScale(value, scale), scale);
  const dropped = value.scale - scale;
  if (typeof value.digits === 'number' && scale >= 0 && dropped <= SAFE_POWER_MAX) {
    const quotient = roundQuotient(value.digits, 10 ** dropped, rounding);
    return quotient === null ? null : new Decimal(quotient, scale);
  }
  const rounded = divideRounded(BigInt(value.digits), powerOfTen(value.scale - scale), rounding);
  if (rounded === null) return null;
  return scale >= 0 ? decimalOf(rounded, scale) : decimalOf(rounded * powerOfTen(-scale), 0);
}

/** The largest whole decimal that is not greater than the value, with scale 0. */
export function floorDecimal(value: Decimal): Decimal | null {
  const unit = powerOfTen(value.scale);
  const digits = BigInt(value.digits);
  const quotient = digits / unit;
  return decimalOf(digits < 0n && quotient * unit !== digits ? quotient - 1n : quotient, 0);
}

/** The whole part as a bigint, rounded towards zero. */
export function truncateDecimal(value: Decimal): bigint {
  return BigInt(value.digits) / powerOfTen(value.scale);
}

/** The nearest double, correctly rounded. */
export function decimalToNumber(value: Decimal): number {
  // Both operands are exact doubles, so that the result of the single division is correctly rounded.
  if (typeof value.digits === 'number' && value.scale <= 22) return value.digits / 10 ** value.scale;
  return Number(decimalText(value));
}

/** The decimal of a double's shortest text (0.1 becomes 0.1); null for NaN and the infinities. */
export function decimalFromNumber(value: number): Decimal | null {
  return Number.isFinite(value) ? parseDecimal(String(value), true) : null;
}

/** Ten to the power of `exponent`, a non-negative integer. */
export function powerOfTen(exponent: number): bigint {
  return exponent < POWERS.length ? POWERS[exponent]! : 10n ** BigInt(exponent);
}

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const SAFE_MIN = -SAFE_MAX;
const BIGGEST = 10n ** BigInt(DECIMAL_DIGITS_MAX);
const POWERS = Array.from({ length: 40 }, (_, exponent) => 10n ** BigInt(exponent));

/** Maximum number of characters that the loop below reads, so that the digits stay a safe integer. */
const PLAIN_LENGTH_MAX = 16;

function parsePlain(text: string): Decimal | null {
  const { length } = text;
  if (length === 0 || length > PLAIN_LENGTH_MAX) return null;
  const negative = text.charCodeAt(0) === 45;
  let digits = 0;
  let scale = -1;
  for (let index = negative ? 1 : 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 48 && code <= 57) {
      digits = digits * 10 + (code - 48);
      if (scale >= 0) scale++;
    } else if (code === 46 && scale < 0) scale = 0;
    else return null;
  }
  const count = length - (negative ? 1 : 0) - (scale >= 0 ? 1 : 0);
  if (count === 0 || count > 15) return null;
  return new Decimal(negative && digits !== 0 ? -digits : digits, scale < 0 ? 0 : scale);
}

/** Ten to the power of this exponent is a safe integer. */
const SAFE_POWER_MAX = 15;

/** The digits at a larger scale if they are a safe integer, otherwise NaN. */
function safeDigits(value: Decimal, scale: number): number {
  const shift = scale - value.scale;
  if (typeof value.digits !== 'number' || shift > SAFE_POWER_MAX) return Number.NaN;
  const digits = value.digits * 10 ** shift;
  return Number.isSafeInteger(digits) ? digits : Number.NaN;
}

/**
 * Divides a safe integer by a power of ten. The truncated quotient is exact, because quotient times unit stays below
 * 2 ** 53.
 */
function roundQuotient(digits: number, unit: number, rounding: Rounding): number | null {
  const quotient = Math.trunc(digits / unit);
  const rest = Math.abs(digits - quotient * unit);
  if (rest === 0 || rounding === 'down') return quotient + 0;
  if (rounding === 'error') return null;
  const away = rest * 2 > unit || (rest * 2 === unit && (rounding === 'half_up' || quotient % 2 !== 0));
  return (away ? quotient + Math.sign(digits) : quotient) + 0;
}

function digitsAtScale(value: Decimal, scale: number): bigint {
  return BigInt(value.digits) * powerOfTen(scale - value.scale);
}

/** Removes trailing zeros down to the given scale. With scale 0, equal decimals have the same form. */
export function trimZeros(value: Decimal, scale: number): Decimal {
  if (typeof value.digits === 'number') return trimSafeZeros(value.digits, value.scale, scale);
  let { digits } = value;
  let current = value.scale;
  while (current > scale && digits % 10n === 0n) {
    digits /= 10n;
    current--;
  }
  return decimalOf(digits, current) ?? value;
}

function trimSafeZeros(value: number, from: number, scale: number): Decimal {
  let digits = value;
  let current = from;
  for (; current > scale && digits % 10 === 0; current--) digits /= 10;
  return new Decimal(digits + 0, current);
}

function divideRounded(dividend: bigint, divisor: bigint, rounding: Rounding): bigint | null {
  const quotient = dividend / divisor;
  const remainder = dividend % divisor;
  if (remainder === 0n) return quotient;
  if (rounding === 'error') return null;
  if (rounding === 'down') return quotient;
  const twice = 2n * (remainder < 0n ? -remainder : remainder);
  const size = divisor < 0n ? -divisor : divisor;
  const away = twice > size || (twice === size && (rounding === 'half_up' || quotient % 2n !== 0n));
  if (!away) return quotient;
  return dividend < 0n === divisor < 0n ? quotient + 1n : quotient - 1n;
}
