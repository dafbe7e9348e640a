// The window of a CSV reader: a region of the Run's memory that is filled from the source and moves forward row by row.
// An incomplete row is moved to the front; if it is larger than the region, it moves to a larger region. Two states:
// small (the region of the reservation) and large (a row outgrew it and passed the large-row gate).
import type { Heap } from '../../memory/heap.ts';
import { REGION_PADDING_BYTES } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import { withoutEndMarks } from '../end-mark.ts';
import type { ByteSource, DecodeWork, FileRest } from '../source/source.ts';

/**
 * Bytes read at a time. Sized so that the data is still in the L2 cache when the scan and the kernels read it. Half
 * this size doubles the number of batches, and each batch costs 0.1 ms between the kernels: 10 % of the time if five
 * columns are changed.
 */
export const WINDOW_BYTES = 524_288;

/** Minimum size for tests: a smaller window could not hold a byte order mark or the look-ahead. */
const WINDOW_BYTES_MIN = 16;

/**
 * Growth of a region that is too small for a row. With this factor, few steps are needed, and the regions that are left
 * behind take little memory.
 */
const GROWTH_FACTOR = 5;

/**
 * Additional space in a region for the longest row, for its line break and the look-ahead of a reader. Without it, a
 * row that is too long would not be noticed.
 */
const LARGEST_SLACK_BYTES = 256;

const LF = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

interface Region {
  readonly base: number;
  readonly bytes: number;
}

export class Window {
  /** Address of the first byte that no emitted row has used. */
  start: number;
  /** Address after the last byte. In a complete window, a line feed is at or before this address. */
  filled: number;
  /** True at the end of the source: the last row has its line feed, and end-of-text marks (Ctrl-Z) are removed. */
  complete = false;
  readonly #heap: Heap;
  readonly #source: ByteSource;
  readonly #largeRow: LargeRowAccess;
  /** Bytes read at a time. */
  readonly windowBytes: number;
  readonly #small: Region;
  #largest: Region;
  #region: Region;
  /** Largest region that the large-row gate has allowed, in bytes. */
  #allowedBytes = 0;
  /** True if nothing has been read yet from a source that may begin with a byte order mark. */
  #atMark: boolean;
  /** Address at which the current fill ends, or 0 between fills. */
  #goal = 0;
  /** Number of bytes at the end that are end-of-text marks, unless more bytes follow. */
  #endMarks = 0;

  /** @param atStart whether the source begins at the start of the file */
  constructor(
    heap: Heap,
    source: ByteSource,
    largeRow: LargeRowAccess,
    windowBytes: number,
    { atStart }: { readonly atStart: boolean } = { atStart: true },
  ) {
    this.#atMark = atStart;
    this.#heap = heap;
    this.#source = source;
    this.#largeRow = largeRow;
    this.windowBytes = Math.max(windowBytes, WINDOW_BYTES_MIN);
    this.#small = this.#allocate(this.windowBytes * 2);
    this.#largest = this.#small;
    this.#region = this.#small;
    this.start = this.#small.base;
    this.filled = this.start;
    this.#endLineBefore(this.start);
  }

  /** Address up to which bytes can be scanned: the scan of each byte needs the next byte. */
  get scanEnd(): number {
    return this.complete ? this.filled : Math.max(this.start, this.textEnd - 1);
  }

  /** Address after the last byte that is certainly text. */
  get textEnd(): number {
    return this.filled - this.#endMarks;
  }

  /** True between a 'wait' and the 'filled' that ends it. The row may have moved, so nothing may be scanned. */
  get filling(): boolean {
    return this.#goal !== 0;
  }

  /** True if the window holds a row that is larger than the small region. */
  get large(): boolean {
    return this.#region !== this.#small;
  }

  /**
   * Reads until a whole window has arrived or the source ends, so that batches do not depend on how bytes arrive. After
   * 'wait', call `wait`, then `fill` again.
   * @param start first byte of the incomplete row. After 'filled', the property `start` is its new address.
   */
  fill(start: number): 'filled' | 'wait' {
    if (this.#goal === 0) {
      this.start = start;
      if (!this.#makeSpace()) return 'wait';
      this.#goal = Math.min(this.filled + this.windowBytes, this.#end());
    }
    while (this.filled < this.#goal) {
      const bytes = this.#source.read(this.#heap.u8.subarray(this.filled, this.#goal));
      this.filled += bytes;
      if (this.#source.ended) break;
      if (bytes === 0) return 'wait';
    }
    if (this.#atMark) this.#skipMark();
    this.#endMarks = this.#countEndMarks();
    if (this.filled < this.#goal) this.#finish();
    this.#goal = 0;
    return 'filled';
  }

  async wait(): Promise<void> {
    if (this.#goal !== 0) return this.#source.wait();
    const bytes = this.#largerBytes();
    await this.#largeRow.acquire(this.#heap, bytes);
    this.#allowedBytes = bytes;
  }

  close(): void {
    this.#source.close();
  }

  /** Address of the small region, which has space for two windows. */
  get base(): number {
    return this.#small.base;
  }

  get smallBytes(): number {
    return this.#small.bytes;
  }

  /**
   * Returns the rest of the file, from a row that begins in this window. Returns null if the source does not deliver
   * the bytes of the file unchanged.
   */
  rest(rowStart: number): FileRest | null {
    const rest = this.#source.rest?.() ?? null;
    if (rest === null) return null;
    const text = this.#heap.u8.subarray(rowStart, this.filled);
    return { ...rest, from: rest.from - (this.#source.bytesOf?.(text) ?? text.length) };
  }

  /** Describes how to decode the file's bytes to text, or null if no decoding is needed. */
  get decode(): DecodeWork | null {
    return this.#source.decode?.() ?? null;
  }

  /** Discards the incomplete row that begins here. Another thread reads it again. */
  leave(rowStart: number): void {
    this.start = rowStart;
    this.filled = rowStart;
  }

  /**
   * Called instead of `fill`: takes complete rows that another thread has read up to offset `at` of the file.
   * @param next byte after the rows, which shows whether a CR at their end is part of a CRLF
   */
  put(rows: Uint8Array, next: number, complete: boolean, at: number): void {
    this.#source.passed?.(at);
    const { u8 } = this.#heap;
    this.start = this.base;
    this.filled = this.start + rows.length;
    this.complete = complete;
    this.#endMarks = 0;
    this.#region = this.#small;
    this.#endLineBefore(this.start);
    u8.set(rows, this.start);
    u8[this.filled] = complete ? LF : next;
  }

  /** Continues after the last of these rows: the next fill begins at this offset of the file. */
  goOnAt(at: number): void {
    this.#source.seek!(at);
    this.begin();
  }

  /** Sets the file offset of the next read. Bytes in the window are kept. */
  seek(at: number): void {
    this.#source.seek!(at);
  }

  /** Empties the window at its end, because the source has another part. */
  resume(): void {
    this.complete = false;
    this.begin();
  }

  /** Empties the window, before the source delivers the next bytes. */
  begin(): void {
    this.start = this.base;
    this.filled = this.start;
    this.#region = this.#small;
    this.#endLineBefore(this.start);
  }

  /**
   * Moves the incomplete row to the front or to a larger region. Returns false if the large-row gate must be passed
   * first.
   */
  #makeSpace(): boolean {
    const carryBytes = this.filled - this.start;
    if (this.start !== this.#region.base) {
      this.#moveTo(carryBytes < this.#small.bytes ? this.#small : this.#region);
      return true;
    }
    if (this.filled < this.#end()) return true;
    if (this.#largest.bytes <= this.#region.bytes) {
      if (this.#allowedBytes < this.#largerBytes()) return false;
      this.#largest = this.#allocate(this.#largerBytes());
    }
    this.#moveTo(this.#largest);
    return true;
  }

  #moveTo(region: Region): void {
    this.#heap.u8.copyWithin(region.base, this.start, this.filled);
    this.filled = region.base + (this.filled - this.start);
    this.start = region.base;
    this.#region = region;
    this.#endLineBefore(this.start);
  }

  /** Size of the next larger region. */
  #largerBytes(): number {
    const largestBytes = ROW_BYTES_MAX + Math.max(this.windowBytes, LARGEST_SLACK_BYTES);
    return Math.min(this.#region.bytes * GROWTH_FACTOR, largestBytes);
  }

  #allocate(bytes: number): Region {
    const base = this.#heap.allocate(bytes + 2 * REGION_PADDING_BYTES) + REGION_PADDING_BYTES;
    return { base, bytes };
  }

  #end(): number {
    return this.#region.base + this.#region.bytes;
  }

  /** Writes a line end before the first row, because the kernels read the byte before each row. */
  #endLineBefore(address: number): void {
    this.#heap.u8[address - 1] = LF;
  }

  #countEndMarks(): number {
    return this.filled - withoutEndMarks(this.#heap.u8, this.start, this.filled);
  }

  #finish(): void {
    const { u8 } = this.#heap;
    this.complete = true;
    this.filled -= this.#endMarks;
    this.#endMarks = 0;
    if (this.filled > this.start && u8[this.filled - 1] !== LF) u8[this.filled++] = LF;
    u8[this.filled] = LF;
  }

  #skipMark(): void {
    const { u8 } = this.#heap;
    this.#atMark = false;
    if (this.filled - this.start < BYTE_ORDER_MARK.length) return;
    if (!BYTE_ORDER_MARK.every((byte, index) => u8[this.start + index] === byte)) return;
    this.start += BYTE_ORDER_MARK.length;
    this.#endLineBefore(this.start);
  }
}
