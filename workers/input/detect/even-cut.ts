// Whether a delimiter cuts all records of a sample into the same number of fields, told by the scan of the CSV fast lane.
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import type { Heap } from '../../memory/heap.ts';
import { SAMPLE_RECORDS_MAX } from './sample.ts';
import { isCutOff, isLineBreak, type SampleScanner } from './scan-text.ts';

const QUOTE = 0x22;

/** Records at the end of a file that may be shorter than all before them: blank lines, a sum, a note. */
const TAIL_RECORDS_MAX = 4;

/** So many records of one length above such an end leave no doubt. */
const RECORDS_ABOVE_TAIL_MIN = 3;

/** Where the records of a sample lie: until something else is put into the arena. */
export interface EvenCut {
  /** Address of the sample's first byte. */
  readonly text: number;
  /** Address of the list of the u32 addresses of all delimiters and line breaks (of a CRLF its LF). */
  readonly entries: number;
  /** Records of this many fields; what is shorter at the end of a file is none of them. */
  readonly rows: number;
  /** Fields of each. */
  readonly columns: number;
}

/**
 * Only where TextSample, too, gives records of one length and no odd quote; the last few of a whole file may be shorter.
 * Where it cannot be told, null.
 * @param delimiter one character of ASCII
 */
export function evenCut(scanner: SampleScanner, delimiter: string): EvenCut | null {
  const { ended, tools } = scanner;
  const scanned = scanner.scan({ delimiter: delimiter.charCodeAt(0), quote: QUOTE });
  if (scanned === null || scanned.rows === 0 || scanned.hasStrays) return null;
  const { text, entries, count, rows, isOpen } = scanned;
  if (isOpen && rows < SAMPLE_RECORDS_MAX && !isCutOff(scanner, scanned)) return null;
  const { kernel } = tools;
  const { u8, u32 } = tools.arena.heap;
  let columns = 1;
  while (!isLineBreak(u8[u32[(entries >>> 2) + columns - 1]!])) columns++;
  const found = { text, entries, rows, columns };
  // What the end of the sample cuts off does not count.
  if (count >= rows * columns && kernel.exports.rowsAreUniform(entries, rows, columns) === 1) return found;
  return ended ? withoutTail(found, count, tools.arena.heap, kernel) : null;
}

/** Leaves out the last records where they are shorter; null where others are not of one length. */
function withoutTail(cut: EvenCut, count: number, { u8, u32 }: Heap, kernel: Kernel): EvenCut | null {
  const { entries, columns } = cut;
  const first = entries >>> 2;
  let { rows } = cut;
  let end = count;
  for (let tail = 0; tail < TAIL_RECORDS_MAX && rows > RECORDS_ABOVE_TAIL_MIN; tail++) {
    let start = end - 1;
    while (start > 0 && !isLineBreak(u8[u32[first + start - 1]!])) start--;
    if (end - start >= columns) break;
    end = start;
    rows--;
  }
  if (columns === 1 || rows === cut.rows || end !== rows * columns) return null;
  return kernel.exports.rowsAreUniform(entries, rows, columns) === 1 ? { ...cut, rows } : null;
}
