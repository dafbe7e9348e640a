// Scalar reference implementation of the kernel that makes clean cells of raw fields.
import { isStrayField } from './index-rows.ts';

/** The text of the field [from, to) as bytes; null if the field is missing or equals one of `nullTexts`. */
export function materialise(
  u8: Uint8Array,
  from: number,
  to: number,
  quote: number,
  nullTexts: readonly string[],
): Uint8Array | null {
  if (to < from) return null;
  const clean = isQuotedField(u8, from, to, quote)
    ? undoubled(u8.subarray(from + 1, to - 1), quote)
    : u8.slice(from, to);
  const isNull = nullTexts.some((text) => Buffer.from(text).equals(clean));
  return isNull ? null : clean;
}

function isQuotedField(u8: Uint8Array, from: number, to: number, quote: number): boolean {
  return to - from > 1 && u8[from] === quote && !isStrayField(u8, from, to, quote);
}

function undoubled(inner: Uint8Array, quote: number): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < inner.length; at++) {
    bytes.push(inner[at]!);
    if (inner[at] === quote) at++;
  }
  return Uint8Array.from(bytes);
}
