// End-of-text marks: DOS and CP/M programs write Ctrl-Z after the last line, once or up to the end of a block. Anywhere
// else, Ctrl-Z is an ordinary character.

/** Ctrl-Z (SUB) in UTF-8 and in every single-byte encoding. */
export const END_MARK = 0x1a;

/** Returns the end of the UTF-8 bytes [from, to) without trailing marks. */
export function withoutEndMarks(u8: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && u8[end - 1] === END_MARK) end--;
  return end;
}
