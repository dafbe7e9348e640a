// Decodes short ASCII texts without a call into the runtime. It passes several characters to one String.fromCharCode
// call, which is twice as fast as one call per character (72 instead of 36 million cells of 6 characters per second).

/** The runtime decodes longer texts faster. */
export const ASCII_TEXT_BYTES_MAX = 24;

const PIECE_BYTES = 8;

/** The text of at most ASCII_TEXT_BYTES_MAX bytes, or null if one of them is not ASCII. */
export function asciiText(u8: Uint8Array, start: number, length: number): string | null {
  const end = start + length;
  let bits = 0;
  for (let at = start; at < end; at++) bits |= u8[at]!;
  if (bits >= 0x80) return null;
  let text = '';
  let at = start;
  for (; end - at > PIECE_BYTES; at += PIECE_BYTES) text += piece(u8, at, PIECE_BYTES);
  return at === start ? piece(u8, at, length) : text + piece(u8, at, end - at);
}

/** Decodes UTF-8 of any length. */
export function utf8Text(u8: Uint8Array, start: number, length: number): string {
  const text = length <= ASCII_TEXT_BYTES_MAX ? asciiText(u8, start, length) : null;
  return text ?? Buffer.from(u8.buffer, u8.byteOffset + start, length).toString('utf8');
}

function piece(u8: Uint8Array, at: number, length: number): string {
  const a = u8[at]!;
  const b = u8[at + 1]!;
  const c = u8[at + 2]!;
  const d = u8[at + 3]!;
  switch (length) {
    case 0:
      return '';
    case 1:
      return String.fromCharCode(a);
    case 2:
      return String.fromCharCode(a, b);
    case 3:
      return String.fromCharCode(a, b, c);
    case 4:
      return String.fromCharCode(a, b, c, d);
    case 5:
      return String.fromCharCode(a, b, c, d, u8[at + 4]!);
    case 6:
      return String.fromCharCode(a, b, c, d, u8[at + 4]!, u8[at + 5]!);
    case 7:
      return String.fromCharCode(a, b, c, d, u8[at + 4]!, u8[at + 5]!, u8[at + 6]!);
    default:
      return String.fromCharCode(a, b, c, d, u8[at + 4]!, u8[at + 5]!, u8[at + 6]!, u8[at + 7]!);
  }
}
