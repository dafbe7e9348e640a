// Texts of Parquet's numbers: the shortest that reads back as the same value; decimals with the digits of their scale.

/** Significant digits that tell any two floats of 32 bits apart. */
const FLOAT_DIGITS_MAX = 9;
/** So many digits every float has that is not below FLOAT_NORMAL_MIN. */
const FLOAT_DIGITS_SURE = 6;
const FLOAT_NORMAL_MIN = 1.1754943508222875e-38;

export function doubleText(value: number): string {
  return String(value);
}

/** @param value is a float of 32 bits */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const first = Math.abs(value) < FLOAT_NORMAL_MIN ? 1 : FLOAT_DIGITS_SURE;
  for (let digits = first; digits < FLOAT_DIGITS_MAX; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(FLOAT_DIGITS_MAX)));
}

/** The value of a float of 16 bits (IEEE 754 binary16). */
export function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** @param digits of the unscaled value, with its sign */
export function decimalText(digits: string, scale: number): string {
  if (scale === 0) return digits;
  const isNegative = digits.charCodeAt(0) === 0x2d;
  const padded = (isNegative ? digits.slice(1) : digits).padStart(scale + 1, '0');
  return `${isNegative ? '-' : ''}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** Of an unscaled value in two's complement, high byte first. */
export function decimalTextOfBytes(view: DataView, at: number, bytes: number, scale: number): string {
  if (bytes === 0) return decimalText('0', scale);
  let value = BigInt(view.getInt8(at));
  for (let index = 1; index < bytes; index++) value = (value << 8n) | BigInt(view.getUint8(at + index));
  return decimalText(String(value), scale);
}
