// The formula guard's rules on bytes: which cells a spreadsheet could take for a formula. Plain twin of the kernel
// (assembly/formula.ts), used for headers and for rows that are too large for the kernels.
//
// A cell starting with + or - is let through by `auto` when it is one of
//   number    = sign [space] [point] digits *(separator digits) [("e" | "E") [sign] digits] [[space] "%"] *" "
//   telephone = "+" digit *(digit | space | "(" | ")" | "-" | "." | "/")   with 6 to 20 digits in all
//   separator = one of . , ' or a space;  point = . or ,;  space = U+0020, U+00A0 or U+202F
// Neither holds a letter (but for the exponent between two digits), a quote, | ! ; : = * & or a second + outside the
// exponent, and both end after 128 bytes, so none of them can name a function, a cell, a sheet or another program.

export type FormulaGuard = 'auto' | 'strict' | 'off' | 'fail';

/** Longer cells are no numbers; it bounds the work on a hostile cell. */
const HARMLESS_BYTES_MAX = 128;

/** A telephone number has at least this many digits: shorter ones are sums ("+1-1"). */
const PHONE_DIGITS_MIN = 6;

/** E.164 allows 15; a trunk zero in brackets and an extension may follow. */
const PHONE_DIGITS_MAX = 20;

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
const NUMBER = new RegExp(
  `^[+-]${SPACE}?[.,]?[0-9]+(?:(?:[.,']|${SPACE})[0-9]+)*(?:[eE][+-]?[0-9]+)?(?:${SPACE}?%)? *$`,
);
const TELEPHONE = new RegExp(`^\\+[0-9](?:[0-9()./-]|${SPACE})*$`);

function isHarmless(cell: Uint8Array): boolean {
  if (cell.length > HARMLESS_BYTES_MAX) return false;
  const text = Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('utf8');
  return NUMBER.test(text) || isTelephone(text);
}

function isTelephone(text: string): boolean {
  if (!TELEPHONE.test(text)) return false;
  const digits = text.replace(/[^0-9]/g, '').length;
  return digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX;
}
