// Writes cells as CSV in plain TypeScript, with the formula guard. These are the scalar reference implementations of
// kernel/assembly/emit-csv.ts and kernel/assembly/formula.ts.
import { HARMLESS_BYTES_MAX, PHONE_DIGITS_MAX, PHONE_DIGITS_MIN } from '../layout/output-program.ts';

// Rules of the formula guard on bytes: which cells a spreadsheet might interpret as a formula. Scalar reference
// implementation of the kernel assembly/formula.ts, used for headers and for rows that are too large for the kernels.
//
// `auto` does not guard a cell starting with + or - if the cell is one of
//   number    = sign [space] [currency [space]] [point] digits *(separator digits) [("e" | "E") [sign] digits]
//               [[space] ("%" | currency)] *" "
//   time      = sign 1*4digit ":" 2digit [":" 2digit [point digits]] *" "
//   nothing   = "-" *"-" *" "
//   telephone = "+" digit *(digit | space | "(" | ")" | "-" | "." | "/")   with 6 to 20 digits in all
//   quantity  = sign [space] [currency [space]] [point] digit, then units, words and further numbers: -5.00 EUR, -12 °C,
//               -80 km/h, or -33.865, 151.209. QUANTITY lists its parts.
//   separator = one of . , ' or a space;  point = . or ,;  space = U+0020, U+00A0 or U+202F
//   currency  = $, U+00A2 to U+00A5, or U+20A0 to U+20BF
// These cells cannot refer to a function, a sheet, a cell or another program. Except in telephone numbers, they contain
// no brackets. They contain no quotes and none of | ! = * & : (except the colons of a time), and no letters directly
// before digits (except an exponent). In a quantity, a further sign occurs only after a comma or semicolon. All are at
// most 128 bytes long.
//
// Blanks that spreadsheets skip may precede a sign, and full-width signs count as their ASCII equivalents.

export type FormulaGuard = 'auto' | 'strict' | 'off' | 'fail';

/** Bytes that `auto` and `fail` always guard: = @ TAB CR LF. */
export const GUARDED_ALWAYS: readonly number[] = [0x3d, 0x40, 0x09, 0x0d, 0x0a];

/** Bytes at which `auto` and `fail` inspect the whole cell: + and -. */
export const GUARDED_SIGNS: readonly number[] = [0x2b, 0x2d];

/**
 * First bytes of blanks that may precede a sign, and of full-width signs: space, U+00A0 and U+00AD, U+2000 to U+206F,
 * U+3000, U+FEFF and ＝.
 */
export const GUARDED_BLANKS: readonly number[] = [0x20, 0xc2, 0xe2, 0xe3, 0xef];

/** `strict` additionally guards NUL (OWASP ASVS 5.0, 1.2.10: = + - @ TAB NUL). */
const NUL = 0x00;

/** True if the guard must act on this non-empty cell. */
export function isFormula(cell: Uint8Array, guard: FormulaGuard): boolean {
  const first = cell[0];
  if (guard === 'off' || first === undefined) return false;
  if (GUARDED_ALWAYS.includes(first) || (guard === 'strict' && first === NUL)) return true;
  if (!GUARDED_SIGNS.includes(first) && !GUARDED_BLANKS.includes(first)) return false;
  const text = Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('utf8').replace(BLANKS, '');
  if (EXECUTED.test(text)) return true;
  if (!SIGNED.test(text)) return false;
  return guard === 'strict' || !isHarmless(text);
}

const BLANKS = /^[ \t\u00a0\u00ad\u2000-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff]*/;
const EXECUTED = /^[=@\r\n\uff1d\uff20]/;
const SIGNED = /^[+\uff0b\uff0d-]/;
const SPACE = '(?: |\\u00a0|\\u202f)';
const CURRENCY = '[$\\u00a2-\\u00a5\\u20a0-\\u20bf]';
const DIGITS = `[.,]?[0-9]+(?:(?:[.,']|${SPACE})[0-9]+)*(?:[eE][+-]?[0-9]+)?`;
const NUMBER = new RegExp(`^[+-]${SPACE}?(?:${CURRENCY}${SPACE}?)?${DIGITS}(?:${SPACE}?(?:%|${CURRENCY}))? *$`);
const TIME = /^[+-][0-9]{1,4}:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)? *$/;
const NOTHING = /^-+ *$/;
const TELEPHONE = new RegExp(`^\\+[0-9](?:[0-9()./-]|${SPACE})*$`);

/** Characters that can follow the first digit of a quantity. */
const QUANTITY_PARTS = [
  '(?<![A-Za-z])[0-9]',
  '[A-Za-z.%$ ]',
  // All characters outside ASCII except full-width signs and brackets.
  '[\\u0080-\\uefff\\u{10000}-\\u{10ffff}]',
  "(?<=[0-9])'(?=[0-9])",
  '[,;](?=[0-9 +.-])',
  '(?<=[,;] *)[+-](?=[.,]?[0-9])',
  '(?<=[A-Za-z\\u0080-\\u{10ffff}])/(?![0-9+-])',
].join('|');
const QUANTITY = new RegExp(`^[+-]${SPACE}?(?:${CURRENCY}${SPACE}?)?[.,]?[0-9](?:${QUANTITY_PARTS})*$`, 'u');

function isHarmless(text: string): boolean {
  const isWide = !/^[+-]/.test(text);
  const signed = isWide ? `-${text.slice(1)}` : text;
  if (Buffer.byteLength(signed) > HARMLESS_BYTES_MAX) return false;
  if (NUMBER.test(signed) || QUANTITY.test(signed)) return true;
  return !isWide && (TIME.test(text) || NOTHING.test(text) || isTelephone(text));
}

function isTelephone(text: string): boolean {
  if (!TELEPHONE.test(text)) return false;
  const digits = text.replace(/[^0-9]/g, '').length;
  return digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX;
}

// Writes cells as CSV in plain TypeScript. This is the scalar reference implementation of the kernel
// assembly/emit-csv.ts. It is used for headers and for rows that are too large for the kernel's buffer.

export interface PlainCsvRules {
  readonly delimiter: Uint8Array;
  readonly guard: FormulaGuard;
  /** Always quote the cell. */
  readonly quote: boolean;
  /** Write an empty text as two quotes. */
  readonly quoteEmpty: boolean;
}

export interface PlainCsvCell {
  readonly bytes: Uint8Array;
  readonly guarded: boolean;
}

export interface PlainCsvPieces {
  /** The bytes in pieces, each of which takes little time to produce. */
  readonly pieces: Iterable<Uint8Array>;
  readonly guarded: boolean;
}

/** Number of bytes quoted at a time: about a millisecond if all of them are quotes. */
const PIECE_BYTES = 65_536;

const APOSTROPHE = Buffer.from("'");
const QUOTE = Buffer.from('"');

/** A cell's content as written to the file. */
export function csvCell(content: Uint8Array, rules: PlainCsvRules): PlainCsvCell {
  const { pieces, guarded } = csvCellPieces(content, rules);
  return { bytes: Buffer.concat([...pieces]), guarded };
}

export function csvCellPieces(content: Uint8Array, rules: PlainCsvRules): PlainCsvPieces {
  const guarded = isFormula(content, rules.guard);
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const plain = guarded ? Buffer.concat([APOSTROPHE, text]) : text;
  const empty = plain.length === 0 && rules.quoteEmpty;
  return { pieces: rules.quote || empty || needsQuotes(plain, rules.delimiter) ? quoted(plain) : [plain], guarded };
}

/**
 * The content of a raw field (the bytes between two delimiters), without its quotes if it is quoted. `quote` 0: the
 * file has no quotes.
 */
export function rawContent(field: Uint8Array, quote: number): Uint8Array {
  if (quote === 0 || field.length < 2 || field[0] !== quote) return field;
  const inside = Buffer.from(field.buffer, field.byteOffset + 1, field.byteLength - 2);
  if (!inside.includes(quote)) return inside;
  // A loop, because `replaceAll` takes a hundred times as long for texts that consist of quotes.
  const content = Buffer.allocUnsafe(inside.length);
  let length = 0;
  for (let at = 0; at < inside.length; at++) {
    const byte = inside[at]!;
    content[length++] = byte;
    if (byte === quote && inside[at + 1] === quote) at++;
  }
  return content.subarray(0, length);
}

function needsQuotes(text: Buffer, delimiter: Uint8Array): boolean {
  return text.indexOf(delimiter) >= 0 || text.includes('"') || text.includes('\n') || text.includes('\r');
}

function* quoted(text: Buffer): Iterable<Buffer> {
  yield QUOTE;
  for (let from = 0; from < text.length; from += PIECE_BYTES) {
    const to = Math.min(text.length, from + PIECE_BYTES);
    const piece = Buffer.allocUnsafe((to - from) * 2);
    let length = 0;
    for (let at = from; at < to; at++) {
      const byte = text[at]!;
      piece[length++] = byte;
      if (byte === QUOTE[0]) piece[length++] = byte;
    }
    yield piece.subarray(0, length);
  }
  yield QUOTE;
}
