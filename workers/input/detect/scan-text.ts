// Puts a sample into the arena and lets the scan of the CSV fast lane find its delimiters and line breaks: that takes
// microseconds, where splitting the sample into texts takes a fresh process milliseconds.
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

/** Stands for no quote: valid text never holds it. */
const NO_QUOTE = 0xff;

/** Bytes that cut a text. */
export interface ScanMarks {
  readonly delimiter: number;
  readonly quote: number;
}

/** Null where the scan does not know such marks. A line break stands for no delimiter: it cuts anyhow. */
export function scanMarks(delimiter: string, quote: string): ScanMarks | null {
  if (delimiter.length > 1 || delimiter >= '\x80' || quote.length > 1 || quote >= '\x80') return null;
  return {
    delimiter: delimiter === '' ? LF : delimiter.charCodeAt(0),
    quote: quote === '' ? NO_QUOTE : quote.charCodeAt(0),
  };
}

/** Where the scan works: nothing of it is kept. */
export interface ScanTools {
  readonly arena: Arena;
  readonly kernel: Kernel;
}

/** What the scan found: it lies in the arena until something else is put there. */
export interface ScannedText {
  /** Address of the sample's first byte. */
  readonly text: number;
  /** Address of the list of the u32 addresses of all delimiters and line breaks (of a CRLF its LF) outside of quotes. */
  readonly entries: number;
  /** How many they are. */
  readonly count: number;
  /** Line breaks among them. */
  readonly rows: number;
  /** Quotes stand where none can stand. */
  readonly hasStrays: boolean;
  /** The last field is in quotes that do not end. */
  readonly isOpen: boolean;
}

/** Scans one sample for the marks that somebody asks for. */
export class SampleScanner {
  /** UTF-8 without a byte order mark. */
  readonly bytes: Uint8Array;
  /** The bytes are the whole file: the last record needs no line break then. */
  readonly ended: boolean;
  readonly tools: ScanTools;
  #last: { readonly marks: ScanMarks; readonly found: ScannedText } | null = null;
  /** Address of the sample, where it lies in the arena; 0: it does not. */
  #text = 0;

  constructor(bytes: Uint8Array, ended: boolean, tools: ScanTools) {
    this.bytes = bytes;
    this.ended = ended;
    this.tools = tools;
  }

  /** Null where the arena has no room. */
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

/** Copies the sample behind a line break. */
function place(u8: Uint8Array, bytes: Uint8Array, text: number): void {
  u8[text - 1] = LF;
  u8.set(bytes, text);
}

/** Where the sample ends: of a whole file behind a line break. What stands there ends nothing, though the scan looks at it. */
function endOf(u8: Uint8Array, text: number, bytes: number, ended: boolean): number {
  let end = text + bytes;
  if (ended && !isLineBreak(u8[end - 1])) u8[end++] = LF;
  u8[end] = 0;
  return end;
}

/** Where the last field is open: the quotes end behind the end of the sample, as it seems, as no line of it ends before. */
export function isCutOff({ bytes, ended, tools }: SampleScanner, { text, entries, count }: ScannedText): boolean {
  if (ended) return false;
  const start = count === 0 ? 0 : tools.arena.heap.u32[(entries >>> 2) + count - 1]! + 1 - text;
  return bytes.indexOf(LF, start) < 0 && bytes.indexOf(CR, start) < 0;
}

export function isLineBreak(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
