// The structurals of the window's rows: runs the scan, checks the text of complete rows, and says up to where rows are
// complete. It knows neither the number of columns nor batches.
import { isUtf8 } from 'node:buffer';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import {
  AT,
  BLOCK_ENTRIES,
  CR,
  FLAG_LITERAL_QUOTE,
  FLAG_NUL,
  FLAGS,
  LF,
  LINES,
  MODE,
  MODE_QUOTED,
  MODE_START,
  OUT,
  ROW_ENDS,
  STATE_BYTES,
} from '../../kernel/layout/scan.ts';
import type { Heap } from '../../memory/heap.ts';
import { CELL_BYTES_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import type { CsvWork } from '../read-ahead/csv-work.ts';
import type { Chunk } from '../read-ahead/read-ahead-memory.ts';
import type { RowsAhead } from '../read-ahead/read-ahead-rows.ts';
import { lastRowEnd } from './last-row-end.ts';
import { countLineBreaks, invalidLine } from './lines.ts';
import type { CsvTrouble } from './malformed.ts';
import type { Window } from './window.ts';

/**
 * 512 KiB: a window of as much with four bytes a field, else narrow fields leave each window a second, small batch; and
 * more than a row may have fields, see `full`.
 */
const ENTRIES = 131_072;

export class StructuralIndex implements RowsAhead {
  /** Address of the first structural that no row has used. */
  cursor: number;
  /** Address behind the structural that ends the last complete and sound row. */
  completeEnd: number;
  /** First byte of the row at `cursor`. */
  rowStart: number;
  /** Rows between `cursor` and `completeEnd` when the scan ended (blank ones too). */
  rowEnds = 0;
  /** Whether these rows all have the columns of the file: told by the row table at first use. */
  uniform: boolean | null = null;
  /** What makes the row behind `completeEnd` unreadable, and where. */
  trouble: { readonly kind: CsvTrouble; readonly address: number } | null = null;
  /** True when quotes may stand out of place in these rows. */
  literal = false;
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #delimiter: number;
  readonly #quote: number;
  /** Address of the scan's state. */
  readonly #state: number;
  /** Address of the structurals, for ENTRIES of which there is room. */
  readonly #entries: number;
  #literalPending = false;
  /** The line at which counting began, and that place. */
  #line = 1;
  #lineAddress: number;

  constructor(heap: Heap, kernel: KernelExports, delimiter: number, quote: number, start: number) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.#state = heap.allocate(STATE_BYTES);
    this.#entries = heap.allocate(ENTRIES * 4);
    this.cursor = this.#entries;
    this.completeEnd = this.#entries;
    this.rowStart = start;
    this.#lineAddress = start;
    this.#begin(start);
  }

  /** Address up to which the window was scanned. */
  get scanned(): number {
    return this.#get(AT);
  }

  /** True while the scan stands inside a quoted field. */
  get quoted(): boolean {
    return this.#get(MODE) === MODE_QUOTED;
  }

  /** True when the incomplete row has more fields than any row may have. */
  get full(): boolean {
    return this.cursor === this.#entries && this.#get(OUT) > this.#entries + (ENTRIES - BLOCK_ENTRIES) * 4;
  }

  /** Line number of an address in the window. */
  lineOf(address: number): number {
    return this.#line + countLineBreaks(this.#heap.u8, this.#lineAddress, address);
  }

  /** See RowsAhead. */
  get end(): number {
    return this.#entries + ENTRIES * 4;
  }

  /** See RowsAhead. */
  work(): CsvWork {
    const places = { state: this.#state, entries: this.#entries, entriesMax: ENTRIES };
    return { format: 'csv', delimiter: this.#delimiter, quote: this.#quote, ...places };
  }

  /**
   * Takes what the scan of another thread found in complete rows, which the window has taken.
   * @param slot bytes among which the structurals stand at the address that they have here
   */
  put(slot: Uint8Array, chunk: Chunk, start: number): void {
    this.#heap.u8.set(slot.subarray(this.#entries, this.#entries + chunk.entries * 4), this.#entries);
    this.#line += this.#get(LINES);
    this.#lineAddress = start;
    this.rowStart = start;
    this.cursor = this.#entries;
    this.completeEnd = this.#entries + chunk.entries * 4;
    this.rowEnds = chunk.rowEnds;
    this.uniform = null;
    this.literal = chunk.literal;
    this.#literalPending = false;
    this.#begin(start + chunk.bytes);
    this.#set(LINES, chunk.lines);
  }

  /** The incomplete row has moved: it is scanned again from its new place. */
  restart(start: number): void {
    const partialBytes = this.scanned - this.rowStart;
    this.#line += this.#get(LINES) - countLineBreaks(this.#heap.u8, start, start + partialBytes);
    this.#lineAddress = start;
    this.rowStart = start;
    this.cursor = this.#entries;
    this.completeEnd = this.#entries;
    this.#literalPending = false;
    this.#begin(start);
  }

  /** Scans on. Called when no complete row is left; gives true when there are some now (or trouble is). */
  scan(window: Window): boolean {
    const { u32 } = this.#heap;
    const pending = this.#get(OUT) - this.cursor;
    if (this.cursor !== this.#entries && pending > 0) {
      u32.copyWithin(this.#entries >>> 2, this.cursor >>> 2, (this.cursor + pending) >>> 2);
    }
    this.cursor = this.#entries;
    this.#set(OUT, this.#entries + pending);
    this.#set(ROW_ENDS, 0);
    this.#set(FLAGS, this.#get(FLAGS) & FLAG_NUL);
    const limit = this.#entries + ENTRIES * 4;
    this.#kernel.scan(this.#state, window.scanEnd, limit, this.#delimiter, this.#quote);
    const literalMet = (this.#get(FLAGS) & FLAG_LITERAL_QUOTE) !== 0;
    this.literal = literalMet || this.#literalPending;
    this.completeEnd = this.#entries;
    this.uniform = null;
    this.rowEnds = this.#get(ROW_ENDS);
    if (this.rowEnds === 0) {
      this.#literalPending = this.literal;
      return false;
    }
    // What was met may lie in the incomplete row, so it holds for the rows of the next scan too.
    this.#literalPending = literalMet;
    this.completeEnd = this.#behindRowEnd(this.#get(OUT));
    if (!window.large || this.#checkFirstRow()) this.#checkText();
    return true;
  }

  #begin(start: number): void {
    this.#set(AT, start);
    this.#set(MODE, MODE_START);
    this.#set(OUT, this.#entries);
    this.#set(LINES, 0);
    this.#set(FLAGS, 0);
  }

  #get(word: number): number {
    return this.#heap.u32[(this.#state + word) >>> 2]!;
  }

  #set(word: number, value: number): void {
    this.#heap.u32[(this.#state + word) >>> 2] = value;
  }

  /** Walks back from `behind` to the address behind a structural that ends a row. */
  #behindRowEnd(behind: number): number {
    return lastRowEnd(this.#heap.u8, this.#heap.u32, this.#entries, behind);
  }

  #checkText(): void {
    const { u8, u32 } = this.#heap;
    const end = u32[(this.completeEnd >>> 2) - 1]! + 1;
    const nul = (this.#get(FLAGS) & FLAG_NUL) === 0 ? -1 : u8.subarray(this.rowStart, end).indexOf(0);
    if (nul >= 0) this.#cut('nul', this.rowStart + nul);
    if (!isUtf8(u8.subarray(this.rowStart, end))) this.#cut('utf8', invalidLine(u8, this.rowStart, end));
  }

  /** Only the first row of a large window can be above the ceilings. False when it has no place in any window. */
  #checkFirstRow(): boolean {
    const { u8, u32 } = this.#heap;
    let start = this.rowStart;
    let cell = -1;
    for (let entry = this.#entries; ; entry += 4) {
      const end = u32[entry >>> 2]!;
      if (end - start > CELL_BYTES_MAX && cell < 0) cell = start;
      start = end + 1;
      if (u8[end] !== LF && u8[end] !== CR) continue;
      const tooLong = isRowTooLong(u8, this.rowStart, end);
      if (tooLong) this.#cut('row', this.rowStart);
      else if (cell >= 0) this.#cut('cell', cell);
      return !tooLong;
    }
  }

  /** The row that holds the address, and all behind it, are not handed out. The earliest trouble counts. */
  #cut(kind: CsvTrouble, address: number): void {
    if (this.trouble !== null && this.trouble.address <= address) return;
    const { u32 } = this.#heap;
    this.trouble = { kind, address };
    let entry = this.#entries;
    while (entry < this.completeEnd && u32[entry >>> 2]! < address) entry += 4;
    this.completeEnd = this.#behindRowEnd(entry);
    this.uniform = false;
  }
}

function isRowTooLong(u8: Uint8Array, start: number, end: number): boolean {
  const breakBytes = u8[end] === LF && u8[end - 1] === CR ? 1 : 0;
  return end - breakBytes - start > ROW_BYTES_MAX;
}
