// Whether a delimiter cuts all records of a sample into the same number of fields, told by the scan of the CSV fast lane:
// that takes microseconds, where splitting the sample into texts takes a fresh process milliseconds.
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import {
  AT,
  BLOCK_ENTRIES,
  CR,
  FLAG_LITERAL_QUOTE,
  FLAGS,
  LF,
  MODE,
  MODE_QUOTED,
  OUT,
  ROW_ENDS,
  STATE_BYTES,
} from '../../kernel/layout/scan.ts';
import type { Arena } from '../../memory/arena.ts';
import { type Heap, REGION_PADDING_BYTES } from '../../memory/heap.ts';
import { SAMPLE_RECORDS_MAX } from './sample.ts';

const QUOTE = 0x22;

/** Where the scan works: nothing of it is kept. */
export interface ScanTools {
  readonly arena: Arena;
  readonly kernel: Kernel;
}

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
 * Only where splitSample, too, gives records of one length and no odd quote; the last few of a whole file may be shorter.
 * Where it cannot be told, null.
 * @param bytes the sample in UTF-8, without a byte order mark
 * @param ended see splitSample
 * @param delimiter one character of ASCII
 */
export function evenCut(bytes: Uint8Array, ended: boolean, delimiter: string, tools: ScanTools): EvenCut | null {
  const { arena, kernel } = tools;
  const mark = arena.next;
  const entriesBytes = (bytes.length + BLOCK_ENTRIES + 1) * 4;
  const at = arena.tryTake(STATE_BYTES + entriesBytes + bytes.length + 2 * REGION_PADDING_BYTES);
  if (at === 0 || bytes.length === 0) return null;
  const { u8, u32 } = arena.heap;
  const entries = (at + STATE_BYTES) >>> 2;
  const text = entries * 4 + entriesBytes + REGION_PADDING_BYTES;
  const end = place(u8, bytes, text, ended);
  u32.fill(0, at >>> 2, entries);
  u32[(at + AT) >>> 2] = text;
  u32[(at + OUT) >>> 2] = entries * 4;
  kernel.exports.scan(at, end, entries * 4 + entriesBytes, delimiter.charCodeAt(0), QUOTE);
  arena.release(mark);
  const rows = u32[(at + ROW_ENDS) >>> 2]!;
  if (u32[(at + AT) >>> 2] !== end || rows === 0 || (u32[(at + FLAGS) >>> 2]! & FLAG_LITERAL_QUOTE) !== 0) return null;
  if (u32[(at + MODE) >>> 2] === MODE_QUOTED && rows < SAMPLE_RECORDS_MAX) return null;
  let columns = 1;
  while (!isLineBreak(u8[u32[entries + columns - 1]!])) columns++;
  const found = { text, entries: entries * 4, rows, columns };
  const count = (u32[(at + OUT) >>> 2]! >>> 2) - entries;
  // What the end of the sample cuts off does not count.
  if (count >= rows * columns && kernel.exports.rowsAreUniform(entries * 4, rows, columns) === 1) return found;
  return ended ? withoutTail(found, count, arena.heap, kernel) : null;
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

/** Copies the sample behind a line break. Of a whole file the last record needs none. Gives where it ends. */
function place(u8: Uint8Array, bytes: Uint8Array, text: number, ended: boolean): number {
  u8[text - 1] = LF;
  u8.set(bytes, text);
  let end = text + bytes.length;
  if (ended && !isLineBreak(u8[end - 1])) u8[end++] = LF;
  // Ends nothing: the scan looks at it.
  u8[end] = 0;
  return end;
}

function isLineBreak(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
