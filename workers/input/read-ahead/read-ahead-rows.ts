// Rows that a read-ahead thread finds for one reader: sends it on jobs where enough of the file is there, and puts what it found
// into the Run's window, and where the reader has its cells, as if it had read them itself.
import { REGION_PADDING_BYTES } from '../../memory/heap.ts';
import type { Window } from '../csv/window.ts';
import type { ReadAheadJob } from './read-ahead-job.ts';
import { type Chunk, SLOT_BYTES } from './read-ahead-memory.ts';
import type { ReadAheadThread } from './read-ahead-thread.ts';

/** Between two looks at a read-ahead thread whose disk is slow. */
const PAUSE_MILLISECONDS = 1;

/** How a reader finds its rows, for whom they are found elsewhere. */
export interface RowsAhead {
  /** First byte of the row that is read next. */
  readonly rowStart: number;
  /** Address behind all memory that the other thread writes to, the window aside. */
  readonly end: number;
  /** What to do; null: nobody else can do it now. */
  work(): ReadAheadJob['rows'] | null;
  /** Takes the rows of a chunk, whose text stands in the window from its base on. `slot`: what stands beside the text. */
  put(slot: Uint8Array, chunk: Chunk, base: number): void;
  /** The next row begins at this address now, and is read again. */
  restart(start: number): void;
}

export class ReadAheadRows {
  readonly #readAhead: ReadAheadThread;
  readonly #window: Window;
  readonly #rows: RowsAhead;
  /** Byte of the file behind what the job has brought; null: there is no job. */
  #at: number | null = null;
  #isUseful = true;
  #hasBrought = false;

  constructor(readAhead: ReadAheadThread, window: Window, rows: RowsAhead) {
    this.#readAhead = readAhead;
    this.#window = window;
    this.#rows = rows;
  }

  /** True between `advance` telling 'wait' and what it waits for. */
  get isAway(): boolean {
    return this.#at !== null;
  }

  /** 'rows': the next ones are there. 'alone': the reader goes on by itself. Called when all rows were taken. */
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

  /** Ends the job: the reader goes on by itself from the row that comes next. */
  leave(): void {
    if (this.#at !== null) this.#end(true);
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
    const behindWindow = this.#window.base + this.#window.roomBytes;
    return Math.max(behindWindow, this.#rows.end) + REGION_PADDING_BYTES <= SLOT_BYTES;
  }

  #take(chunk: Chunk): void {
    const { base } = this.#window;
    const { bytes } = this.#readAhead;
    this.#at! += chunk.fileBytes;
    this.#window.put(bytes.subarray(base, base + chunk.bytes), chunk.last, this.#at!);
    this.#rows.put(bytes, chunk, base);
    this.#readAhead.taken();
    this.#hasBrought = true;
    if (chunk.last) this.close();
  }

  /** @param isUseful a file in which it found nothing that it could bring has more such rows */
  #end(isUseful: boolean): void {
    this.#isUseful = isUseful;
    this.#window.goOnAt(this.#at!);
    this.#rows.restart(this.#window.start);
    this.close();
  }
}
