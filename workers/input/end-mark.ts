// The mark of the end of a text: Ctrl-Z, which programs of DOS and CP/M write behind the last line, once or up to the end of a
// block. Anywhere else it is a character like any other.

/** Ctrl-Z (SUB) in UTF-8, and in every encoding of one byte. */
export const END_MARK = 0x1a;

/** Address behind the last of the bytes [from, to) of UTF-8 that is no such mark. */
export function withoutEndMarks(u8: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && u8[end - 1] === END_MARK) end--;
  return end;
}
