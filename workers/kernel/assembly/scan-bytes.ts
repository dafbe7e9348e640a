// The exact scan, byte by byte: for what is left of a block, and where quotes stand that the SIMD scan cannot read.
// About 300 MB/s. Semantics of docs/reference/input.md: a quote inside an unquoted field is literal, text behind a closing quote
// makes the field literal up to its end.
import {
  AT,
  CR,
  FLAG_LITERAL_QUOTE,
  FLAG_NUL,
  FLAGS,
  LF,
  LINES,
  MODE,
  MODE_CLOSED,
  MODE_QUOTED,
  MODE_START,
  MODE_UNQUOTED,
  OUT,
  ROW_ENDS,
} from '../layout/scan';

/**
 * Goes on from the state up to `end`, or until `enough` is reached with a field's start, or until `out` reaches `limit`.
 * The byte at `end` is readable and tells whether a CR before it is alone.
 */
export function scanBytes(state: usize, enough: usize, end: usize, limit: usize, delimiter: u32, quote: u32): void {
  let p = <usize>load<u32>(state, AT);
  let mode = load<u32>(state, MODE);
  let o = <usize>load<u32>(state, OUT);
  let lines: u32 = 0;
  let rowEnds: u32 = 0;
  let flags = load<u32>(state, FLAGS);
  for (; p < end && o < limit; p++) {
    const byte = <u32>load<u8>(p);
    if (byte == quote) {
      if (mode == MODE_START || mode == MODE_CLOSED) mode = MODE_QUOTED;
      else if (mode == MODE_QUOTED) mode = MODE_CLOSED;
      else flags |= FLAG_LITERAL_QUOTE;
      continue;
    }
    const lineBreak = byte == LF || (byte == CR && load<u8>(p, 1) != LF);
    if (lineBreak) lines++;
    if (mode == MODE_QUOTED) {
      if (byte == 0) flags |= FLAG_NUL;
      continue;
    }
    if (lineBreak || byte == delimiter) {
      store<u32>(o, <u32>p);
      o += 4;
      mode = MODE_START;
      if (lineBreak) rowEnds++;
      if (p >= enough) {
        p++;
        break;
      }
      continue;
    }
    if (byte == CR) continue;
    if (byte == 0) flags |= FLAG_NUL;
    if (mode == MODE_CLOSED) flags |= FLAG_LITERAL_QUOTE;
    mode = MODE_UNQUOTED;
  }
  store<u32>(state, <u32>p, AT);
  store<u32>(state, mode, MODE);
  store<u32>(state, <u32>o, OUT);
  store<u32>(state, load<u32>(state, LINES) + lines, LINES);
  store<u32>(state, load<u32>(state, ROW_ENDS) + rowEnds, ROW_ENDS);
  store<u32>(state, flags, FLAGS);
}
