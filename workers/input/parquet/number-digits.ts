// Texts of Parquet numbers.

// Writes the digits of numbers without creating a string, if there are few digits. The result is the same as that of
// decimalText, doubleText and floatText. Most numbers are whole, or amounts with a few decimals.

/** Describes how to read the bytes of a value. */
export interface DigitsForm {
  readonly of: 'int32' | 'uint32' | 'int64' | 'double';
  /** Number of decimal places of a whole number that is a decimal. */
  readonly scale: number;
}

/** Number of bytes that `putNumber` may write. */
export const NUMBER_BYTES_MAX = 32;

/** Maximum number of decimal places that are tried for a double. */
const FRACTION_DIGITS_MAX = 4;

/** Maximum number of decimal places of a decimal. */
const SCALE_MAX = 15;

/**
 * Numbers below this limit have at most 15 digits, which distinguish any two doubles. A result with so few digits is
 * therefore the shortest.
 */
const SURE_MAX = 1e15;

const TWO_32 = 2 ** 32;
const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;

/** Digits are written in pieces that are 32-bit whole numbers. */
const PIECE = 1_000_000_000;
const PIECE_DIGITS = 9;

/** Returns null if a decimal has too many decimal places, so that it must be formatted through a string. */
export function digitsForm(of: DigitsForm['of'], scale = 0): DigitsForm | null {
  return scale <= SCALE_MAX ? { of, scale } : null;
}

/** Writes the value at `at` to `to`. Returns the number of bytes, or 0 if it must be formatted through a string. */
export function putNumber(view: DataView, at: number, { of, scale }: DigitsForm, u8: Uint8Array, to: number): number {
  switch (of) {
    case 'int32':
      return putScaled(u8, to, view.getInt32(at, true), scale);
    case 'uint32':
      return putScaled(u8, to, view.getUint32(at, true), scale);
    case 'int64': {
      const value = view.getInt32(at + 4, true) * TWO_32 + view.getUint32(at, true);
      return Number.isSafeInteger(value) ? putScaled(u8, to, value, scale) : 0;
    }
    case 'double':
      return putDouble(u8, to, view.getFloat64(at, true));
  }
}

function putDouble(u8: Uint8Array, to: number, value: number): number {
  let factor = 1;
  for (let digits = 0; digits <= FRACTION_DIGITS_MAX; digits++) {
    const scaled = Math.round(value * factor);
    if (scaled / factor === value) return Math.abs(scaled) < SURE_MAX ? putScaled(u8, to, scaled, digits) : 0;
    factor *= 10;
  }
  return 0;
}

/** @param scaled whole number that is written with a decimal point before its last `scale` digits */
function putScaled(u8: Uint8Array, to: number, scaled: number, scale: number): number {
  const start = scaled < 0 ? to + 1 : to;
  if (scaled < 0) u8[to] = MINUS;
  const magnitude = Math.abs(scaled);
  const digits = Math.max(digitsOf(magnitude), scale + 1);
  const point = scale === 0 ? -1 : start + digits - scale;
  const end = start + digits + (scale === 0 ? 0 : 1);
  let at = end;
  let rest = magnitude;
  while (at > start) {
    const above = rest >= PIECE ? Math.floor(rest / PIECE) : 0;
    let piece = (rest - above * PIECE) | 0;
    for (let digit = 0; digit < PIECE_DIGITS && at > start; digit++) {
      if (--at === point) u8[at--] = POINT;
      const tenth = (piece / 10) | 0;
      u8[at] = ZERO + piece - tenth * 10;
      piece = tenth;
    }
    rest = above;
  }
  return end - to;
}

function digitsOf(magnitude: number): number {
  let digits = 1;
  for (let bound = 10; magnitude >= bound; bound *= 10) digits++;
  return digits;
}

// Texts of Parquet numbers: the shortest text that parses to the same value. Decimals have all digits of their scale.

/** Number of significant digits that distinguish any two 32-bit floats. */
const FLOAT_DIGITS_MAX = 9;
/** Number of digits that every float from FLOAT_NORMAL_MIN on has. */
const FLOAT_DIGITS_SURE = 6;
const FLOAT_NORMAL_MIN = 1.1754943508222875e-38;

export function doubleText(value: number): string {
  return String(value);
}

/** @param value must be a 32-bit float */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const first = Math.abs(value) < FLOAT_NORMAL_MIN ? 1 : FLOAT_DIGITS_SURE;
  for (let digits = first; digits < FLOAT_DIGITS_MAX; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(FLOAT_DIGITS_MAX)));
}

/** Value of a 16-bit float (IEEE 754 binary16). */
export function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** @param digits unscaled value, with its sign */
export function decimalText(digits: string, scale: number): string {
  if (scale === 0) return digits;
  const isNegative = digits.charCodeAt(0) === 0x2d;
  const padded = (isNegative ? digits.slice(1) : digits).padStart(scale + 1, '0');
  return `${isNegative ? '-' : ''}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** For an unscaled value in two's complement, big-endian. */
export function decimalTextOfBytes(view: DataView, at: number, bytes: number, scale: number): string {
  if (bytes === 0) return decimalText('0', scale);
  let value = BigInt(view.getInt8(at));
  for (let index = 1; index < bytes; index++) value = (value << 8n) | BigInt(view.getUint8(at + index));
  return decimalText(String(value), scale);
}
