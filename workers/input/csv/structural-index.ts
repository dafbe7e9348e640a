// The structural characters (delimiters and line ends) of the rows in the window. Runs the scan, checks the text of
// complete rows, and reports where complete rows end. Knows neither the number of columns nor batches.
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
  MODE_UNQUOTED,
  OUT,
  ROW_ENDS,
  STATE_BYTES,
} from '../../kernel/layout/scan.ts';
import type { Heap } from '../../memory/heap.ts';
import { CELL_BYTES_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import type { CsvWork } from '../read-ahead/csv-work.ts';
import type { Chunk } from '../read-ahead/read-ahead-memory.ts';
import type { RowsAhead } from '../read-ahead/read-ahead-rows.ts';
import type { CsvDefect } from './csv-input.ts';
import { countLineBreaks, invalidLine, lastRowEnd } from './lines.ts';
import type { Window } from './window.ts';

/**
 * Size of the index: 512 KiB. It is enough for a window of that size with four bytes per field; with fewer entries,
 * files with narrow fields would get a second, small batch from each window. It is also more than the maximum number of
 * fields in a row, see `full`.
 */
const ENTRIES = 131_072;

/**
 * Maximum bytes scanned after a cell that is read again: a file may have many such cells, and each one causes another
 * scan.
 */
const LITERAL_SCAN_BYTES = 8192;

export class StructuralIndex implements RowsAhead {
  /** Address of the first structural that has not been used by a row. */
  cursor: number;
  /** Address after the structural that ends the last complete and valid row. */
  completeEnd: number;
  /** Address of the first byte of the row at `cursor`. */
  rowStart: number;
  /** Number of rows between `cursor` and `completeEnd` when the scan ended, including blank rows. */
  rowEnds = 0;
  /** True if all these rows have the same number of columns as the file. Set by the row table at first use. */
  uniform: boolean | null = null;
  /** Error of the row after `completeEnd`, and its address. */
  defect: { readonly kind: CsvDefect; readonly address: number } | null = null;
  /** True if these rows may contain misplaced quotes. */
  literal = false;
  /** True if these rows have been searched for quotes after spaces. */
  isSearched = false;
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #delimiter: number;
  readonly #quote: number;
  /** Address of the scan state. */
  readonly #state: number;
  /** Address of the structurals, with space for ENTRIES of them. */
  readonly #entries: number;
  #literalPending = false;
  /** Limit of the next scan. */
  #scanEndMax = Number.POSITIVE_INFINITY;
  /** Line number at `#lineAddress`, from which lines are counted. */
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

  /** Address up to which the window has been scanned. */
  get scanned(): number {
    return this.#get(AT);
  }

  /** True if the scan has stopped inside a quoted field. */
  get quoted(): boolean {
    return this.#get(MODE) === MODE_QUOTED;
  }

  /** True if the incomplete row has more fields than a row may have. */
  get full(): boolean {
    return this.cursor === this.#entries && this.#get(OUT) > this.#entries + (ENTRIES - BLOCK_ENTRIES) * 4;
  }

  /**
   * True if the next scan ends before the window does. A row that this scan leaves incomplete may be complete after the
   * following scan.
   */
  get isScanLimited(): boolean {
    return this.#scanEndMax !== Number.POSITIVE_INFINITY;
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
   * Takes over the structurals that another thread found in complete rows. The window already holds these rows.
   * @param slot bytes that contain the structurals at the same address as here
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
    this.isSearched = false;
    this.#literalPending = false;
    this.#begin(start + chunk.bytes);
    // `readLiterally` keeps the structurals of a row before its quote.
    this.#set(OUT, this.completeEnd);
    this.#set(LINES, chunk.lines);
  }

  /** Scans the incomplete row again after it has moved to a new address. */
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

  /**
   * Scans again from the cell at this address, and treats its quote as an ordinary character. Called if no complete row
   * is left.
   * @param address address of the quote, in the row at the cursor
   */
  readLiterally(address: number): void {
    const { u8, u32 } = this.#heap;
    let entry = this.cursor;
    while (entry < this.#get(OUT) && u32[entry >>> 2]! < address) entry += 4;
    this.#set(LINES, this.#get(LINES) - countLineBreaks(u8, address, this.scanned));
    this.#set(OUT, entry);
    this.#set(AT, address + 1);
    this.#set(MODE, MODE_UNQUOTED);
    this.completeEnd = this.cursor;
    this.rowEnds = 0;
    this.defect = null;
    this.#literalPending = true;
    this.#scanEndMax = address + LITERAL_SCAN_BYTES;
  }

  /** Continues the scan. Called if no complete row is left. Returns true if rows (or an error) are now available. */
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
    const scanEnd = Math.min(window.scanEnd, this.#scanEndMax);
    this.#scanEndMax = Number.POSITIVE_INFINITY;
    this.#kernel.scan(this.#state, scanEnd, limit, this.#delimiter, this.#quote);
    const literalMet = (this.#get(FLAGS) & FLAG_LITERAL_QUOTE) !== 0;
    this.literal = literalMet || this.#literalPending;
    this.isSearched = false;
    this.completeEnd = this.#entries;
    this.uniform = null;
    this.rowEnds = this.#get(ROW_ENDS);
    if (this.rowEnds === 0) {
      this.#literalPending = this.literal;
      return false;
    }
    // A misplaced quote may be in the incomplete row, so the flag also applies to the rows of the next scan.
    this.#literalPending = literalMet;
    this.completeEnd = this.#afterRowEnd(this.#get(OUT));
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

  /** Searches backwards from `after` for the address after a structural that ends a row. */
  #afterRowEnd(after: number): number {
    return lastRowEnd(this.#heap.u8, this.#heap.u32, this.#entries, after);
  }

  #checkText(): void {
    const { u8, u32 } = this.#heap;
    const end = u32[(this.completeEnd >>> 2) - 1]! + 1;
    const nul = (this.#get(FLAGS) & FLAG_NUL) === 0 ? -1 : u8.subarray(this.rowStart, end).indexOf(0);
    if (nul >= 0) this.#cut('nul', this.rowStart + nul);
    if (!isUtf8(u8.subarray(this.rowStart, end))) this.#cut('utf8', invalidLine(u8, this.rowStart, end));
  }

  /**
   * Checks the first row of a large window, the only row that can exceed the limits. Returns false if it does not fit
   * into any window.
   */
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

  /** Excludes the row with this address and all later rows. The earliest error wins. */
  #cut(kind: CsvDefect, address: number): void {
    if (this.defect !== null && this.defect.address <= address) return;
    const { u32 } = this.#heap;
    this.defect = { kind, address };
    let entry = this.#entries;
    while (entry < this.completeEnd && u32[entry >>> 2]! < address) entry += 4;
    this.completeEnd = this.#afterRowEnd(entry);
    this.uniform = false;
  }
}

function isRowTooLong(u8: Uint8Array, start: number, end: number): boolean {
  const breakBytes = u8[end] === LF && u8[end - 1] === CR ? 1 : 0;
  return end - breakBytes - start > ROW_BYTES_MAX;
}
