// The formula guard's rules on bytes: which cells a spreadsheet could take for a formula. Plain twin of the kernel
// (assembly/formula.ts), used for headers and for rows that are too large for the kernels.
//
// A cell starting with + or - is let through by `auto` when it is one of
//   number    = sign [space] [currency [space]] [point] digits *(separator digits) [("e" | "E") [sign] digits]
//               [[space] ("%" | currency)] *" "
//   time      = sign 1*4digit ":" 2digit [":" 2digit [point digits]] *" "
//   nothing   = "-" *"-" *" "
//   telephone = "+" digit *(digit | space | "(" | ")" | "-" | "." | "/")   with 6 to 20 digits in all
//   separator = one of . , ' or a space;  point = . or ,;  space = U+0020, U+00A0 or U+202F
//   currency  = $, U+00A2 to U+00A5, or U+20A0 to U+20BF
// None holds a letter (but for the exponent between two digits), a quote, | ! ; = * & or a second + outside the
// exponent, and all end after 128 bytes, so none of them can name a function, a sheet or another program; a time can name
// rows at most.
import { HARMLESS_BYTES_MAX, PHONE_DIGITS_MAX, PHONE_DIGITS_MIN } from '../layout/formula.ts';

export type FormulaGuard = 'auto' | 'strict' | 'off' | 'fail';

/** Bytes at which `auto` and `fail` guard in any case: = @ TAB CR LF. */
export const GUARDED_ALWAYS: readonly number[] = [0x3d, 0x40, 0x09, 0x0d, 0x0a];

/** Bytes at which `auto` and `fail` look at the whole cell: + and -. */
export const GUARDED_SIGNS: readonly number[] = [0x2b, 0x2d];

/** Beside those `strict` guards NUL (OWASP ASVS 5.0, 1.2.10: = + - @ TAB NUL). */
const NUL = 0x00;

/** True when the guard has to act on this non-empty cell. */
export function isFormula(cell: Uint8Array, guard: FormulaGuard): boolean {
  const first = cell[0];
  if (guard === 'off' || first === undefined) return false;
  if (GUARDED_ALWAYS.includes(first)) return true;
  if (guard === 'strict') return first === NUL || GUARDED_SIGNS.includes(first);
  return GUARDED_SIGNS.includes(first) && !isHarmless(cell);
}

const SPACE = '(?: |\\u00a0|\\u202f)';
const CURRENCY = '[$\\u00a2-\\u00a5\\u20a0-\\u20bf]';
const DIGITS = `[.,]?[0-9]+(?:(?:[.,']|${SPACE})[0-9]+)*(?:[eE][+-]?[0-9]+)?`;
const NUMBER = new RegExp(`^[+-]${SPACE}?(?:${CURRENCY}${SPACE}?)?${DIGITS}(?:${SPACE}?(?:%|${CURRENCY}))? *$`);
const TIME = /^[+-][0-9]{1,4}:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)? *$/;
const NOTHING = /^-+ *$/;
const TELEPHONE = new RegExp(`^\\+[0-9](?:[0-9()./-]|${SPACE})*$`);

function isHarmless(cell: Uint8Array): boolean {
  if (cell.length > HARMLESS_BYTES_MAX) return false;
  const text = Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('utf8');
  return NUMBER.test(text) || TIME.test(text) || NOTHING.test(text) || isTelephone(text);
}

function isTelephone(text: string): boolean {
  if (!TELEPHONE.test(text)) return false;
  const digits = text.replace(/[^0-9]/g, '').length;
  return digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX;
}
