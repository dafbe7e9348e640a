// Counts the lines of bytes that are not decoded yet.

const LF = 0x0a;

/** Line breaks in bytes of any encoding that holds ASCII, as far as LF and CRLF tell. */
export function lineBreaks(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
