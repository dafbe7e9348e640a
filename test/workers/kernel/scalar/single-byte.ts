// Scalar reference implementation of the kernel that decodes single-byte encodings.

/**
 * Decodes bytes up to the first one that the encoding does not define. Returns the text and the number of bytes
 * decoded.
 * @param characters code units of the bytes from 0x80 on, 0 for undefined bytes
 */
export function decodeSingleBytes(bytes: Uint8Array, characters: Uint16Array): { text: string; bytes: number } {
  let text = '';
  for (const [at, byte] of bytes.entries()) {
    const unit = byte < 0x80 ? byte : characters[byte - 0x80]!;
    if (unit === 0 && byte !== 0) return { text, bytes: at };
    text += String.fromCharCode(unit);
  }
  return { text, bytes: bytes.length };
}
