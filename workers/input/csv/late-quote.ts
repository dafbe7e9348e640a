// Handles a quote after spaces (`1, "Anna, A."`) in a file whose first part has no such quote. The file is read again
// from the beginning with such quotes allowed, so that the result does not depend on the position of the first one.
import { Failed } from '../../protocol/failure.ts';
import type { StructuralIndex } from './structural-index.ts';

const SPACE = 0x20;
const LF = 10;
const CR = 13;

/** Ends an attempt, so that the file is read again. Users see its message only if the file cannot be read again. */
export class LateQuote extends Failed {
  constructor(line: number) {
    super(
      'MALFORMED_FILE',
      `Line ${line} has a quoted field after a space, but no line at the beginning of the file has one.`,
    );
  }
}

export interface FieldMarks {
  readonly delimiter: number;
  readonly quote: number;
}

/**
 * Searches the complete rows of an index for such a quote. Throws LateQuote.
 * @param u8 contains the rows and further bytes up to `filled`
 */
export function failOnLateQuote(
  u8: Uint8Array,
  u32: Uint32Array,
  index: StructuralIndex,
  filled: number,
  marks: FieldMarks,
) {
  let start = index.rowStart;
  for (let entry = index.cursor; entry < index.completeEnd; entry += 4) {
    const end = u32[entry >>> 2]!;
    if (u8[start] === SPACE && isQuotedAfterSpaces(u8, start, end, filled, marks))
      throw new LateQuote(index.lineOf(start));
    start = end + 1;
  }
}

/**
 * @param end end of the field if a quote after spaces is an ordinary character
 * @param filled end of the known bytes
 */
function isQuotedAfterSpaces(u8: Uint8Array, start: number, end: number, filled: number, marks: FieldMarks): boolean {
  let at = start;
  while (at < end && u8[at] === SPACE) at++;
  if (u8[at] !== marks.quote) return false;
  for (let next = at + 1; next < filled; next++) {
    if (u8[next] !== marks.quote) continue;
    if (u8[next + 1] === marks.quote) next++;
    else return u8[next + 1] === marks.delimiter || u8[next + 1] === LF || u8[next + 1] === CR;
  }
  return false;
}
