// Lets a read-ahead thread find rows for one reader: starts a job when enough of the file is available, and copies the
// results into the Run's window and the reader's memory, as if the reader had found them itself.
import { REGION_PADDING_BYTES } from '../../memory/heap.ts';
import type { Window } from '../csv/window.ts';
import type { ReadAheadJob } from './read-ahead-job.ts';
import { type Chunk, SLOT_BYTES } from './read-ahead-memory.ts';
import type { ReadAheadThread } from './read-ahead-thread.ts';

/** Interval for polling a read-ahead thread whose disk is slow. */
const PAUSE_MILLISECONDS = 1;

/** Interface of a reader whose rows another thread can find. */
export interface RowsAhead {
  /** Address of the first byte of the next row. */
  readonly rowStart: number;
  /** Address after all memory to which the other thread writes, except the window. */
  readonly end: number;
  /** Describes the work, or returns null if only the reader can do it now. */
  work(): ReadAheadJob['rows'] | null;
  /**
   * Takes over the rows of a chunk, whose text is in the window from its base on. `slot` contains the results next to
   * the text.
   */
  put(slot: Uint8Array, chunk: Chunk, base: number): void;
  /** The next row will begin at this address and is scanned again. The window is still unchanged. */
  restart(start: number): void;
}

export class ReadAheadRows {
  readonly #readAhead: ReadAheadThread;
  readonly #window: Window;
  readonly #rows: RowsAhead;
  /** File offset after the rows that the job has delivered, or null without a job. */
  #at: number | null = null;
  #isUseful = true;
  #hasBrought = false;

  constructor(readAhead: ReadAheadThread, window: Window, rows: RowsAhead) {
    this.#readAhead = readAhead;
    this.#window = window;
    this.#rows = rows;
  }

  /** True while a job is active, so that a 'wait' of `advance` must use `wait` of this class. */
  get isAway(): boolean {
    return this.#at !== null;
  }

  /**
   * Called when all rows have been taken. 'rows': more rows are available. 'alone': the reader must continue itself.
   */
  advance(): 'rows' | 'wait' | 'alone' {
    if (this.#at === null && !this.#send()) return 'alone';
    const chunk = this.#readAhead.next();
    if (chunk === 'none') return 'wait';
    if (chunk === 'over') {
      this.#end(this.#hasBrought);
      return 'alone';
    }
    this.#take(chunk);
    return 'rows';
  }

  wait(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
  }

  /** Ends the job: the reader continues itself with the next row. */
  leave(): void {
    if (this.#at !== null) this.#end(true);
  }

  /** Ends the job and starts no other one: the reader reads the delivered rows again and then continues itself. */
  stop(): void {
    if (this.#at !== null) this.#window.seek(this.#at);
    this.#isUseful = false;
    this.close();
  }

  close(): void {
    if (this.#at !== null) this.#readAhead.recall();
    this.#at = null;
  }

  #send(): boolean {
    const { rowStart } = this.#rows;
    const rest = this.#isUseful && !this.#window.large ? this.#window.rest(rowStart) : null;
    if (rest === null) return false;
    const { jobBytesMin, jobBytesMax } = this.#readAhead.settings;
    this.#readAhead.prepare(rest);
    if (rest.to - rest.from < jobBytesMin || !this.#readAhead.isIdle || !this.#fitsSlot()) return false;
    const rows = this.#rows.work();
    if (rows === null) return false;
    const { base, windowBytes, decode } = this.#window;
    const to = Math.min(rest.to, rest.from + jobBytesMax);
    const range = { ...rest, to, ends: rest.ends && to === rest.to };
    if (!this.#readAhead.send({ ...range, base, windowBytes, decode, rows })) return false;
    this.#at = rest.from;
    this.#hasBrought = false;
    this.#rows.restart(rowStart);
    this.#window.leave(rowStart);
    return true;
  }

  #fitsSlot(): boolean {
    const afterWindow = this.#window.base + this.#window.smallBytes;
    return Math.max(afterWindow, this.#rows.end) + REGION_PADDING_BYTES <= SLOT_BYTES;
  }

  #take(chunk: Chunk): void {
    const { base } = this.#window;
    const { bytes } = this.#readAhead;
    this.#at! += chunk.fileBytes;
    const end = base + chunk.bytes;
    this.#window.put(bytes.subarray(base, end), bytes[end]!, chunk.last, this.#at!);
    this.#rows.put(bytes, chunk, base);
    this.#readAhead.taken();
    this.#hasBrought = true;
    if (chunk.last) this.close();
  }

  /**
   * @param isUseful false if the job delivered nothing: the file probably has more rows of that kind, so no further job
   * is started
   */
  #end(isUseful: boolean): void {
    this.#isUseful = isUseful;
    this.#rows.restart(this.#window.base);
    this.#window.goOnAt(this.#at!);
    this.close();
  }
}
