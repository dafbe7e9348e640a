// Writes numbers as the digits of their texts (number-texts.ts), without a text between, as far as their digits are few: most
// are whole numbers, or sums with some decimals.

/** How the bytes of a value are to be read. */
export interface DigitsForm {
  readonly of: 'int32' | 'uint32' | 'int64' | 'double';
  /** Digits behind the point, of whole numbers that are decimals. */
  readonly scale: number;
}

/** Bytes that `putNumber` needs. */
export const NUMBER_BYTES_MAX = 32;

/** Digits behind the point that a double is tried with. */
const FRACTION_DIGITS_MAX = 4;

/** Digits behind the point of decimals. */
const SCALE_MAX = 15;

/** So many digits tell any two doubles apart: who finds so few has the shortest. */
const SURE_MAX = 1e15;

const TWO_32 = 2 ** 32;
const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;

/** Written digit by digit in whole numbers of 32 bits. */
const PIECE = 1_000_000_000;
const PIECE_DIGITS = 9;

/** Null where decimals have so many digits behind the point that they are left to texts. */
export function digitsForm(of: DigitsForm['of'], scale = 0): DigitsForm | null {
  return scale <= SCALE_MAX ? { of, scale } : null;
}

/** Writes the value at `at` to `to`; gives its bytes, 0 where it is left to texts. */
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

/** @param scaled a whole number, which the text is with a point before its last `scale` digits */
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
