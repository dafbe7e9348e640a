// Turns the first part of a file in a single-byte encoding into UTF-8, for the detectors: what the kernel does for its rows.

/** Stands for what an encoding lacks: the reader will say so. */
const REPLACEMENT = 0xfffd;

const TWO_BYTES_MIN = 0x80;
const THREE_BYTES_MIN = 0x800;

/** Of UTF-8, that a character of the basic plane becomes. */
const BYTES_MAX = 3;

/** @param characters as charactersOf gives them */
export function utf8OfBytes(bytes: Uint8Array, characters: Uint16Array): Uint8Array {
  const text = Buffer.allocUnsafe(bytes.length * BYTES_MAX);
  let to = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < TWO_BYTES_MIN) text[to++] = byte;
    else to = putUtf8(text, to, characters[byte - TWO_BYTES_MIN]! || REPLACEMENT);
  }
  return text.subarray(0, to);
}

/** Gives where the character ends. @param unit no surrogate and no ASCII */
function putUtf8(text: Uint8Array, at: number, unit: number): number {
  if (unit < THREE_BYTES_MIN) {
    text[at] = 0xc0 | (unit >>> 6);
    text[at + 1] = 0x80 | (unit & 0x3f);
    return at + 2;
  }
  text[at] = 0xe0 | (unit >>> 12);
  text[at + 1] = 0x80 | ((unit >>> 6) & 0x3f);
  text[at + 2] = 0x80 | (unit & 0x3f);
  return at + 3;
}
