// Counts lines of text that is not yet decoded.

const LF = 0x0a;

/** Number of line breaks (LF and CRLF) in bytes of any encoding that includes ASCII. */
export function lineBreaks(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
