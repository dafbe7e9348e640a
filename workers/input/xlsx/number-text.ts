// The canonical text of a number: the shortest of its value at 15 significant digits, which is what spreadsheet programs
// compute with, and without exponent up to 21 digits.

const DIGITS_MAX = 15;
const PLAIN_DIGITS_MAX = 21;

/** True when the text stands as it would be written: then nothing has to be computed. */
export function isCanonicalNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  if (bytes[at] === 0x2d) at++;
  const first = bytes[at]!;
  let digits = 0;
  const whole = at;
  for (; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) break;
    digits++;
  }
  if (digits === 0 || (first === 0x30 && digits > 1)) return false;
  if (at === end) return digits <= DIGITS_MAX && (first !== 0x30 || whole === start);
  if (bytes[at] !== 0x2e) return false;
  at++;
  if (at === end) return false;
  for (; at < end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return false;
    digits++;
  }
  return digits <= DIGITS_MAX && bytes[end - 1] !== 0x30;
}

/** Null for what is no number. */
export function numberText(text: string): string | null {
  if (!/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  const rounded = Number(value.toPrecision(DIGITS_MAX));
  if (rounded === 0) return '0';
  const short = String(rounded);
  if (!short.includes('e')) return short;
  const [, sign, whole, fraction = '', exponentText] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(short)!;
  const exponent = Number(exponentText);
  const digits = whole! + fraction;
  if (exponent > 0 || digits.length - exponent > PLAIN_DIGITS_MAX) return short;
  return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
}
