// Scalar reference implementation of the structural scan: the same results byte by byte, without blocks and without restarts.

const LF = 10;
const CR = 13;

export interface ScanResult {
  /** Addresses of unquoted delimiters and row ends. */
  readonly structurals: readonly number[];
  /** Number of line breaks, including quoted ones. */
  readonly lines: number;
  readonly rowEnds: number;
  readonly holdsNul: boolean;
  /** An unquoted field contains a quote, or text follows a closing quote. */
  readonly holdsLiteralQuote: boolean;
  /** The text ends inside a quoted field. */
  readonly quoted: boolean;
}

/** Scans [from, end). The byte at `end` must exist: it decides whether a CR before it is alone. */
export function scan(u8: Uint8Array, from: number, end: number, delimiter: number, quote: number): ScanResult {
  const structurals: number[] = [];
  let lines = 0;
  let rowEnds = 0;
  let holdsLiteralQuote = false;
  let mode: 'start' | 'unquoted' | 'quoted' | 'closed' = 'start';
  for (let at = from; at < end; at++) {
    const byte = u8[at];
    const isBreak = byte === LF || (byte === CR && u8[at + 1] !== LF);
    if (isBreak) lines++;
    if (mode === 'quoted') {
      if (byte === quote) mode = 'closed';
    } else if (byte === quote) {
      if (mode === 'unquoted') holdsLiteralQuote = true;
      else mode = 'quoted';
    } else if (isBreak || byte === delimiter) {
      structurals.push(at);
      if (isBreak) rowEnds++;
      mode = 'start';
    } else if (byte !== CR) {
      if (mode === 'closed') holdsLiteralQuote = true;
      mode = 'unquoted';
    }
  }
  const holdsNul = u8.subarray(from, end).includes(0);
  return { structurals, lines, rowEnds, holdsNul, holdsLiteralQuote, quoted: mode === 'quoted' };
}
