// Copies a sample into the arena and finds its delimiters and line breaks with the scan of the fast CSV reader. This
// takes microseconds; splitting the sample into texts takes milliseconds in a fresh process.
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
import { REGION_PADDING_BYTES } from '../../memory/heap.ts';

/** Quote byte if there is no quote: valid text never contains it. */
const NO_QUOTE = 0xff;

/** The bytes that separate and quote fields. */
export interface ScanMarks {
  readonly delimiter: number;
  readonly quote: number;
}

/**
 * Returns null if the scan does not support these marks. Without a delimiter, the line break takes its place, as it
 * separates anyway.
 */
export function scanMarks(delimiter: string, quote: string): ScanMarks | null {
  if (delimiter.length > 1 || delimiter >= '\x80' || quote.length > 1 || quote >= '\x80') return null;
  return {
    delimiter: delimiter === '' ? LF : delimiter.charCodeAt(0),
    quote: quote === '' ? NO_QUOTE : quote.charCodeAt(0),
  };
}

/** Memory and kernel for the scan. Nothing is kept after it. */
export interface ScanTools {
  readonly arena: Arena;
  readonly kernel: Kernel;
}

/** Result of the scan, stored in the arena until something else is written there. */
export interface ScannedText {
  /** Address of the first byte of the sample. */
  readonly text: number;
  /**
   * Address of a list with the u32 addresses of all delimiters and line breaks (the LF of a CRLF) outside of quotes.
   */
  readonly entries: number;
  /** Number of addresses in the list. */
  readonly count: number;
  /** Number of line breaks among them. */
  readonly rows: number;
  /** True if quotes are misplaced. */
  readonly hasStrays: boolean;
  /** True if the last field is quoted and not closed. */
  readonly isOpen: boolean;
}

/** Scans one sample for the requested marks. */
export class SampleScanner {
  /** UTF-8 without a byte order mark. */
  readonly bytes: Uint8Array;
  /** True if the bytes are the whole file. The last record then needs no line break. */
  readonly ended: boolean;
  readonly tools: ScanTools;
  #last: { readonly marks: ScanMarks; readonly found: ScannedText } | null = null;
  /** Address of the sample in the arena, or 0 before it is copied into the arena. */
  #text = 0;

  constructor(bytes: Uint8Array, ended: boolean, tools: ScanTools) {
    this.bytes = bytes;
    this.ended = ended;
    this.tools = tools;
  }

  /** Returns null if the arena has no space. */
  scan(marks: ScanMarks): ScannedText | null {
    const last = this.#last;
    if (last !== null && last.marks.delimiter === marks.delimiter && last.marks.quote === marks.quote)
      return last.found;
    const found = this.#scan(marks);
    this.#last = found === null ? null : { marks, found };
    return found;
  }

  #scan(marks: ScanMarks): ScannedText | null {
    const { bytes } = this;
    const { arena, kernel } = this.tools;
    const mark = arena.next;
    const entriesBytes = (bytes.length + BLOCK_ENTRIES + 1) * 4;
    const at = arena.tryTake(STATE_BYTES + entriesBytes + bytes.length + 2 * REGION_PADDING_BYTES);
    if (at === 0 || bytes.length === 0) return null;
    const { u8, u32 } = arena.heap;
    const entries = at + STATE_BYTES;
    const text = entries + entriesBytes + REGION_PADDING_BYTES;
    if (this.#text !== text) place(u8, bytes, text);
    this.#text = text;
    const end = endOf(u8, text, bytes.length, this.ended);
    u32.fill(0, at >>> 2, entries >>> 2);
    u32[(at + AT) >>> 2] = text;
    u32[(at + OUT) >>> 2] = entries;
    kernel.exports.scan(at, end, entries + entriesBytes, marks.delimiter, marks.quote);
    arena.release(mark);
    if (u32[(at + AT) >>> 2] !== end) return null;
    return {
      text,
      entries,
      count: (u32[(at + OUT) >>> 2]! - entries) >>> 2,
      rows: u32[(at + ROW_ENDS) >>> 2]!,
      hasStrays: (u32[(at + FLAGS) >>> 2]! & FLAG_LITERAL_QUOTE) !== 0,
      isOpen: u32[(at + MODE) >>> 2] === MODE_QUOTED,
    };
  }
}

/** Copies the sample to an address and puts a line break before it. */
function place(u8: Uint8Array, bytes: Uint8Array, text: number): void {
  u8[text - 1] = LF;
  u8.set(bytes, text);
}

/**
 * Returns the end of the sample. If a whole file does not end with a line break, one is added. The byte after the sample is
 * set to 0, because the scan reads it.
 */
function endOf(u8: Uint8Array, text: number, bytes: number, ended: boolean): number {
  let end = text + bytes;
  if (ended && !isLineBreak(u8[end - 1])) u8[end++] = LF;
  u8[end] = 0;
  return end;
}

/**
 * For an open last field: true if its quotes probably end after the sample, because the field has no line break within
 * the sample.
 */
export function isCutOff({ bytes, ended, tools }: SampleScanner, { text, entries, count }: ScannedText): boolean {
  if (ended) return false;
  const start = count === 0 ? 0 : tools.arena.heap.u32[(entries >>> 2) + count - 1]! + 1 - text;
  return bytes.indexOf(LF, start) < 0 && bytes.indexOf(CR, start) < 0;
}

export function isLineBreak(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
