// The text of a JSON file as the kernels go through it: the window, where they stand in it, and the place of what is wrong.
// It can begin again with another source. States: at work, and filling (between a 'wait' and the next try).
import { isUtf8 } from 'node:buffer';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import {
  AT,
  CELL_BYTES_MAX as CELL_BYTES_WORD,
  DEPTH,
  KEY_END,
  KEY_START,
  LINE_START,
  LINES,
  MEMBERS_MAX,
  PHASE,
  ROWS,
  STACK,
  STATE_BYTES,
  STATUS,
  STATUS_DONE,
  STATUS_EVENT,
  STATUS_FULL,
  STATUS_KEYS_FULL,
  STATUS_LIST_END,
  STATUS_TROUBLE,
  STOP_DEPTH,
  TROUBLE,
  TROUBLE_AT,
  WALK_DEPTH_MAX,
  WALK_ITEM,
} from '../../kernel/layout/json.ts';
import type { Heap } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import { Window } from '../csv/window.ts';
import { ReadAheadRows, type RowsAhead } from '../read-ahead/read-ahead-rows.ts';
import type { ReadAheadThread } from '../read-ahead/read-ahead-thread.ts';
import type { ByteSource } from '../source/source.ts';
import { invalidByte } from './invalid-byte.ts';
import { endsEarly, expectedAt, notUtf8, recordTooLong, type TextPlace } from './malformed-json.ts';
import { ReplaceableSource } from './replaceable-source.ts';

/** `more`: nothing complete is left in the window. */
export type ReadStatus = 'more' | 'full' | 'list_end' | 'keys_full';
/** `event`: before a value that lies not too deep; `done`: behind the value that was begun. */
export type WalkStatus = 'more' | 'event' | 'done';

const READ_STATUSES: Readonly<Record<number, ReadStatus>> = {
  [STATUS_FULL]: 'full',
  [STATUS_LIST_END]: 'list_end',
  [STATUS_KEYS_FULL]: 'keys_full',
};
const WALK_STATUSES: Readonly<Record<number, WalkStatus>> = { [STATUS_EVENT]: 'event', [STATUS_DONE]: 'done' };

const LF = 10;

/** Where a kernel began. */
interface Mark {
  readonly at: number;
  readonly lines: number;
  readonly lineStart: number;
}

export class JsonText {
  readonly heap: Heap;
  readonly state: number;
  readonly #kernel: KernelExports;
  readonly #window: Window;
  readonly #source: ReplaceableSource;
  /** Reads records ahead where the source is a large file, once the reader has said how. */
  #ahead: ReadAheadRows | null = null;
  /** Whether the end of the source is the end of the file. */
  #isWhole = true;
  /** Byte of the text at address 0. */
  #origin = 0;
  /** Byte of the text at which the line of AT begins. */
  #lineStart = 0;
  /** The same of the line before. */
  #lastLineStart = 0;

  /** @param windowBytes read at a time; results do not depend on it */
  constructor(heap: Heap, kernel: KernelExports, largeRow: LargeRowAccess, windowBytes: number) {
    this.heap = heap;
    this.#kernel = kernel;
    this.#source = new ReplaceableSource();
    this.#window = new Window(heap, this.#source, largeRow, windowBytes, { atStart: false });
    this.state = heap.allocate(STATE_BYTES);
    heap.u8.fill(0, this.state, this.state + STATE_BYTES);
    this.set(STACK, heap.allocate(WALK_DEPTH_MAX));
    this.set(CELL_BYTES_WORD, CELL_BYTES_MAX);
    this.set(MEMBERS_MAX, COLUMNS_MAX);
  }

  /** @param source UTF-8 without a byte order mark. @param isWhole see #isWhole */
  begin(source: ByteSource, isWhole: boolean): void {
    this.#source.replace(source);
    this.#window.begin();
    this.#window.complete = false;
    this.#isWhole = isWhole;
    this.set(AT, this.#window.start);
    this.set(LINES, 0);
    this.set(LINE_START, 0);
    this.#origin = -this.#window.start;
    this.#lineStart = 0;
  }

  get(word: number): number {
    return this.heap.u32[(this.state + word) >>> 2]!;
  }

  set(word: number, value: number): void {
    this.heap.u32[(this.state + word) >>> 2] = value;
  }

  /** Sends a read-ahead thread for records from now on. */
  readAhead(readAhead: ReadAheadThread, rows: RowsAhead): void {
    this.#ahead = new ReadAheadRows(readAhead, this.#window, rows);
  }

  /** After 'more': 'rows' where the read-ahead thread has brought some; 'alone': they are read here. */
  advance(): 'rows' | 'wait' | 'alone' {
    const isOver = this.#window.filling || this.#window.complete;
    return isOver ? 'alone' : (this.#ahead?.advance() ?? 'alone');
  }

  /** What a read-ahead thread does goes on here. */
  leaveAhead(): void {
    this.#ahead?.leave();
  }

  /** The text goes on at this address, where what follows was put. */
  moveTo(address: number): void {
    this.#origin += this.get(AT) - address;
    this.set(AT, address);
  }

  /** Passes what another thread has read of it, which stands at AT. */
  passed(bytes: number, lines: number, lineStart: number): void {
    this.#passLines(lineStart, this.#lineStart);
    this.set(LINES, this.get(LINES) + lines);
    this.set(AT, this.get(AT) + bytes);
  }

  /** Records of the last `read`. */
  get rows(): number {
    return this.get(ROWS);
  }

  /** The byte at which the text stands. */
  get byte(): number {
    return this.heap.u8[this.get(AT)]!;
  }

  /** Reads complete records of the window. Throws Failed. */
  read(rowsMax: number): ReadStatus {
    if (this.#window.filling) {
      this.set(ROWS, 0);
      return 'more';
    }
    const before = this.#mark();
    this.#kernel.readJson(this.state, this.#window.filled, rowsMax, this.#isLast ? 1 : 0);
    this.#check(before);
    return READ_STATUSES[this.get(STATUS)] ?? 'more';
  }

  /** Goes on with a walk from its phase (see walkJson). Throws Failed. */
  walk(stopDepth: number): WalkStatus {
    if (this.#window.filling) return 'more';
    const before = this.#mark();
    this.set(STOP_DEPTH, stopDepth);
    this.#kernel.walkJson(this.state, this.#window.filled, this.#isLast ? 1 : 0);
    this.#check(before);
    return WALK_STATUSES[this.get(STATUS)] ?? 'more';
  }

  /** Goes to the next byte that is no white space: an event. */
  peek(): WalkStatus {
    this.set(PHASE, WALK_ITEM);
    this.set(DEPTH, 0);
    return this.walk(0);
  }

  /** Passes one byte, which is there. */
  pass(): void {
    this.set(AT, this.get(AT) + 1);
  }

  /** The key of the value before which a walk stands, null in a list. */
  key(): string | null {
    const start = this.get(KEY_START);
    if (start === 0) return null;
    const raw = Buffer.from(this.heap.u8.buffer, start, this.get(KEY_END) - start).toString();
    return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  /** After 'more': 'wait' (then `wait`, and again), or 'end' where the source has no more. Throws Failed. */
  fill(): 'filled' | 'wait' | 'end' {
    const window = this.#window;
    const at = this.get(AT);
    if (!window.filling) {
      if (window.complete) return 'end';
      if (window.filled - at > ROW_BYTES_MAX) throw recordTooLong(this.place(at));
    }
    const filled = window.fill(at);
    // The incomplete record may have moved in any case.
    this.#origin += at - window.start;
    this.set(AT, window.start);
    return filled;
  }

  wait(): Promise<void> {
    return this.#ahead?.isAway ? this.#ahead.wait() : this.#window.wait();
  }

  close(): void {
    this.#ahead?.close();
    this.#window.close();
  }

  /** Of AT, or of an address behind it in the line of AT. */
  place(address: number = this.get(AT)): TextPlace {
    return { line: this.get(LINES) + 1, column: address + this.#origin - this.#lineStart + 1 };
  }

  /** Of the end of the text: behind its last line, whose line feed the window has added where there was none. */
  end(): TextPlace {
    const { start, filled } = this.#window;
    const { u8 } = this.heap;
    const last = filled - 1;
    const before = u8.subarray(start, last).lastIndexOf(LF);
    const isPassed = this.#lineStart > last + this.#origin;
    const inWindow = start + before + 1 + this.#origin;
    const lineStart = before >= 0 ? inWindow : isPassed ? this.#lastLineStart : this.#lineStart;
    return { line: this.get(LINES) + (isPassed ? 0 : 1), column: last + this.#origin - lineStart + 1 };
  }

  get #isLast(): boolean {
    return this.#window.complete && this.#isWhole;
  }

  #mark(): Mark {
    this.set(LINE_START, 0);
    return { at: this.get(AT), lines: this.get(LINES), lineStart: this.#lineStart };
  }

  #check(before: Mark): void {
    const { u8 } = this.heap;
    const isTrouble = this.get(STATUS) === STATUS_TROUBLE;
    const to = isTrouble ? Math.min(this.get(TROUBLE_AT), this.#window.filled) : this.get(AT);
    if (!isUtf8(u8.subarray(before.at, to))) throw this.#notUtf8(before, to);
    this.#passLines(this.get(LINE_START), before.lineStart);
    if (!isTrouble) return;
    const at = this.get(TROUBLE_AT);
    if (this.#isLast && at >= this.#window.filled - 1) throw endsEarly(this.end());
    throw expectedAt(this.place(at), this.get(TROUBLE));
  }

  /** @param lineStart address behind the last line feed, 0: there was none */
  #passLines(lineStart: number, before: number): void {
    if (lineStart === 0) return;
    this.#lastLineStart = before;
    this.#lineStart = lineStart + this.#origin;
  }

  #notUtf8({ at, lines, lineStart }: Mark, to: number): Error {
    const { u8 } = this.heap;
    const invalid = invalidByte(u8, at, to);
    let line = lines + 1;
    let start = lineStart;
    for (let address = at; address < invalid; address++) {
      if (u8[address] !== LF) continue;
      line++;
      start = address + 1 + this.#origin;
    }
    return notUtf8({ line, column: invalid + this.#origin - start + 1 });
  }
}
