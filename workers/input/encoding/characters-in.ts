// How many characters a UTF-8 text has.

const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;

/** @param text valid UTF-8 that ends with a character */
export function charactersIn(text: Uint8Array): number {
  let characters = 0;
  for (const byte of text) if ((byte & CONTINUATION_MASK) !== CONTINUATION) characters++;
  return characters;
}
