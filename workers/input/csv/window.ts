// The bytes of a CSV that are at hand: a region of the Run's memory that is filled from the source and moves on row by
// row. An incomplete row is carried to the front; one that is larger than the region moves to a larger one.
// States: small (the region of the reservation), large (a row outgrew it: the large-row gate was passed).
import type { Heap } from '../../memory/heap.ts';
import { REGION_PADDING_BYTES } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import { withoutEndMarks } from '../end-mark.ts';
import type { DecodeWork } from '../source/decode-work.ts';
import type { ByteSource, FileRest } from '../source/source.ts';

/**
 * Bytes read at a time: what the scan and the kernels then read is still in the L2 cache. Half of it makes twice as many
 * batches, on each of which the code between the kernels takes 0.1 ms: a tenth of the time where five columns are changed.
 */
export const WINDOW_BYTES = 524_288;

/** Below this a test's window could not hold a byte order mark or the look ahead. */
const WINDOW_BYTES_MIN = 16;

/** A region that is too small for a row gives way to one this many times as large: few steps, little left behind. */
const GROWTH_FACTOR = 5;

/** A region for the longest row also holds its line break and what a lane looks ahead: else nothing would show that a row is too long. */
const LARGEST_SLACK_BYTES = 256;

const LF = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

interface Region {
  readonly base: number;
  readonly bytes: number;
}

export class Window {
  /** First byte that no row handed out has used. */
  start: number;
  /** Address behind the last byte. Once complete, a line feed stands there or before it. */
  filled: number;
  /** Nothing will follow; the last row has its line feed, and marks of the end (Ctrl-Z) are gone. */
  complete = false;
  readonly #heap: Heap;
  readonly #source: ByteSource;
  readonly #largeRow: LargeRowAccess;
  /** Bytes read at a time. */
  readonly windowBytes: number;
  readonly #small: Region;
  #largest: Region;
  #region: Region;
  /** A region may be as large as this: what the gate allowed. */
  #allowedBytes = 0;
  /** Nothing was read yet of a source that may begin with a byte order mark. */
  #atMark: boolean;
  /** Address up to which this filling goes, 0 between fillings. */
  #goal = 0;
  /** Bytes at the end that are marks of the end of the file, unless something follows them. */
  #endMarks = 0;

  /** @param atStart whether the source begins where the file does */
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

  /** Address up to which bytes can be judged: each needs the byte behind it. */
  get scanEnd(): number {
    return this.complete ? this.filled : Math.max(this.start, this.textEnd - 1);
  }

  /** Address behind the last byte of which it is certain that it is text. */
  get textEnd(): number {
    return this.filled - this.#endMarks;
  }

  /** True between a 'wait' and the 'filled' that ends it: the row may have moved, nothing is to be scanned yet. */
  get filling(): boolean {
    return this.#goal !== 0;
  }

  /** True while the window holds a row that is larger than the small region. */
  get large(): boolean {
    return this.#region !== this.#small;
  }

  /**
   * Reads until a whole window is there or the source ends, so that batches do not depend on how bytes arrive. 'wait':
   * call `wait`, then again. `start`: the incomplete row's first byte; the property tells where it is when filled.
   */
  fill(start: number): 'filled' | 'wait' {
    if (this.#goal === 0) {
      this.start = start;
      if (!this.#makeRoom()) return 'wait';
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

  /** Address of the small region, which has room for two windows. */
  get base(): number {
    return this.#small.base;
  }

  get roomBytes(): number {
    return this.#small.bytes;
  }

  /** What of the file begins at a row that begins in this window; null: what is read is not the file as it stands. */
  rest(rowStart: number): FileRest | null {
    const rest = this.#source.rest?.() ?? null;
    if (rest === null) return null;
    const text = this.#heap.u8.subarray(rowStart, this.filled);
    return { ...rest, from: rest.from - (this.#source.bytesOf?.(text) ?? text.length) };
  }

  /** What makes the text of the file's bytes; null: nothing has to. */
  get decode(): DecodeWork | null {
    return this.#source.decode?.() ?? null;
  }

  /** Leaves the row that begins here, which is not complete, to another thread, who reads it again. */
  leave(rowStart: number): void {
    this.start = rowStart;
    this.filled = rowStart;
  }

  /** Takes complete rows that another thread has read up to the byte `at` of the file, instead of a filling. */
  put(rows: Uint8Array, complete: boolean, at: number): void {
    this.#source.passed?.(at);
    const { u8 } = this.#heap;
    this.start = this.base;
    this.filled = this.start + rows.length;
    this.complete = complete;
    this.#endMarks = 0;
    this.#region = this.#small;
    this.#endLineBefore(this.start);
    u8.set(rows, this.start);
    u8[this.filled] = LF;
  }

  /** Behind the last of such rows: the next filling begins at this byte of the file. */
  goOnAt(at: number): void {
    this.#source.seek!(at);
    this.begin();
  }

  /** With nothing of what was read: the source gives what comes next. */
  begin(): void {
    this.start = this.base;
    this.filled = this.start;
    this.#region = this.#small;
    this.#endLineBefore(this.start);
  }

  /** Moves the incomplete row to the front, or to a larger region. False: the gate to the large row must be passed first. */
  #makeRoom(): boolean {
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

  /** Of the region after this one. */
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

  /** A row's first byte stands behind a line end, the first one too: kernels look at the byte before. */
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
