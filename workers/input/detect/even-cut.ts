// Whether a delimiter cuts all records of a sample into the same number of fields, told by the scan of the CSV fast lane:
// that takes microseconds, where splitting the sample into texts takes a fresh process milliseconds.
import type { Arena } from '../../arena.ts';
import { REGION_PADDING_BYTES } from '../../heap.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { SAMPLE_RECORDS_MAX } from './sample.ts';

/** u32 slots of the scan's state, its mode and its flag (kernel/assembly/structural.ts). */
const AT = 0;
const MODE = 1;
const OUT = 2;
const ROW_ENDS = 4;
const FLAGS = 5;
const STATE_SLOTS = 6;
const MODE_QUOTED = 2;
const FLAG_LITERAL_QUOTE = 2;

/** The scan stops when fewer entries than 72 are left. */
const ROUNDING_ENTRIES = 73;

const QUOTE = 0x22;
const LF = 10;
const CR = 13;

/** Where the scan works: nothing of it is kept. */
export interface ScanTools {
  readonly arena: Arena;
  readonly kernel: Kernel;
}

/** Where the records of a sample lie: until something else is put into the arena. */
export interface EvenCut {
  /** Address of the sample's first byte. */
  readonly text: number;
  /** Address of the list of the u32 addresses of all delimiters and line breaks (of a CRLF its LF). */
  readonly entries: number;
  /** Records. */
  readonly rows: number;
  /** Fields of each. */
  readonly columns: number;
}

/**
 * Only where splitSample, too, gives records of one length and no odd quote. Where it cannot be told, null.
 * @param bytes the sample in UTF-8, without a byte order mark
 * @param ended see splitSample
 * @param delimiter one character of ASCII
 */
export function evenCut(bytes: Uint8Array, ended: boolean, delimiter: string, tools: ScanTools): EvenCut | null {
  const { arena, kernel } = tools;
  const mark = arena.next;
  const entriesBytes = (bytes.length + ROUNDING_ENTRIES) * 4;
  const at = arena.tryTake(STATE_SLOTS * 4 + entriesBytes + bytes.length + 2 * REGION_PADDING_BYTES);
  if (at === 0 || bytes.length === 0) return null;
  const { u8, u32 } = arena.heap;
  const state = at >>> 2;
  const entries = state + STATE_SLOTS;
  const text = entries * 4 + entriesBytes + REGION_PADDING_BYTES;
  const end = place(u8, bytes, text, ended);
  u32.fill(0, state, entries);
  u32[state + AT] = text;
  u32[state + OUT] = entries * 4;
  kernel.exports.scan(at, end, entries * 4 + entriesBytes, delimiter.charCodeAt(0), QUOTE);
  arena.release(mark);
  const rows = u32[state + ROW_ENDS]!;
  if (u32[state + AT] !== end || rows === 0 || (u32[state + FLAGS]! & FLAG_LITERAL_QUOTE) !== 0) return null;
  if (u32[state + MODE] === MODE_QUOTED && rows < SAMPLE_RECORDS_MAX) return null;
  let columns = 1;
  while (!isLineBreak(u8[u32[entries + columns - 1]!])) columns++;
  // What the end of the sample cuts off does not count.
  const isEnough = u32[state + OUT]! >= (entries + rows * columns) * 4;
  const isEven = isEnough && kernel.exports.rowsAreUniform(entries * 4, rows, columns) === 1;
  return isEven ? { text, entries: entries * 4, rows, columns } : null;
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
