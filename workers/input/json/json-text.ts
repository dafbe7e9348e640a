// The text of a JSON file for the kernels: the window, the position in it, and the location of errors.
import { isUtf8 } from 'node:buffer';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import {
  AT,
  CELL_BYTES_MAX as CELL_BYTES_WORD,
  DEPTH,
  ERROR,
  ERROR_AT,
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
  STATUS_ERROR,
  STATUS_EVENT,
  STATUS_FULL,
  STATUS_KEYS_FULL,
  STATUS_LIST_END,
  STOP_DEPTH,
  TRAVERSAL_DEPTH_MAX,
  TRAVERSAL_ITEM,
} from '../../kernel/layout/json.ts';
import type { Heap } from '../../memory/heap.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import { Window } from '../csv/window.ts';
import { isOpen } from '../encoding/non-ascii-lines.ts';
import type { OpenSettings } from '../format.ts';
import { ReadAheadRows, type RowsAhead } from '../read-ahead/read-ahead-rows.ts';
import type { ReadAheadThread } from '../read-ahead/read-ahead-thread.ts';
import { BytesSource } from '../source/bytes-source.ts';
import type { ByteSource, DecodeWork, FileRest } from '../source/source.ts';
import { endsEarly, expectedAt, notUtf8, recordTooLong, type TextPlace } from './malformed-json.ts';

// Finds the position at which a text is not UTF-8. Used only after an error, off the fast path.

/** Maximum length of a character in bytes. */
const CHARACTER_BYTES_MAX = 4;

/** Number of bytes checked per step before the position is narrowed down. */
const STEP_BYTES = 4096;

/** Returns the address of the first byte in [from, to) that is not part of a valid character, or `to`. */
function invalidByte(u8: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const step = characterStart(u8, at, Math.min(at + STEP_BYTES, to), to);
    if (isUtf8(u8.subarray(at, step))) at = step;
    else return firstInvalid(u8, at, step);
  }
  return to;
}

function firstInvalid(u8: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const bytes = characterBytes(u8, at, to);
    if (bytes === 0) return at;
    at += bytes;
  }
  return to;
}

/** Length of the character at `at`, or 0 if no valid character begins there. */
function characterBytes(u8: Uint8Array, at: number, to: number): number {
  for (let bytes = 1; bytes <= CHARACTER_BYTES_MAX && at + bytes <= to; bytes++) {
    if (isUtf8(u8.subarray(at, at + bytes))) return bytes;
  }
  return 0;
}

/** Returns the last position after `from` and up to `at` at which a character may begin. */
function characterStart(u8: Uint8Array, from: number, at: number, to: number): number {
  if (at === to) return to;
  for (let back = 0; back < CHARACTER_BYTES_MAX && at - back > from; back++) {
    if ((u8[at - back]! & 0xc0) !== 0x80) return at - back;
  }
  return at;
}

// A source that can be replaced by another one, because a JSON file is scanned before it is read.

class ReplaceableSource implements ByteSource {
  #inner: ByteSource = new BytesSource(new Uint8Array(0));

  /** Does not close the previous source. */
  replace(source: ByteSource): void {
    this.#inner = source;
  }

  get ended(): boolean {
    return this.#inner.ended;
  }

  read(target: Uint8Array): number {
    return this.#inner.read(target);
  }

  rest(): FileRest | null {
    return this.#inner.rest?.() ?? null;
  }

  seek(at: number): void {
    this.#inner.seek!(at);
  }

  passed(at: number): void {
    this.#inner.passed?.(at);
  }

  addedBytes(lineStart: number, at: number): number {
    return this.#inner.addedBytes?.(lineStart, at) ?? 0;
  }

  bytesOf(text: Uint8Array): number {
    return this.#inner.bytesOf?.(text) ?? text.length;
  }

  decode(): DecodeWork | null {
    return this.#inner.decode?.() ?? null;
  }

  wait(): Promise<void> {
    return this.#inner.wait();
  }

  close(): void {
    this.#inner.close();
  }
}

// The text of a JSON file for the kernels: the window, the position in it, and the location of errors. Can restart with
// another source. Two states: working, and filling (between a 'wait' and the next attempt).

/** `more`: the window contains no further complete record. */
export type ReadStatus = 'more' | 'full' | 'list_end' | 'keys_full';
/** `event`: at a value that is not below the stop depth. `done`: after the value at which the traversal began. */
export type TraversalStatus = 'more' | 'event' | 'done';

const READ_STATUSES: Readonly<Record<number, ReadStatus>> = {
  [STATUS_FULL]: 'full',
  [STATUS_LIST_END]: 'list_end',
  [STATUS_KEYS_FULL]: 'keys_full',
};
const TRAVERSAL_STATUSES: Readonly<Record<number, TraversalStatus>> = {
  [STATUS_EVENT]: 'event',
  [STATUS_DONE]: 'done',
};

const LF = 10;
const SPACE = 32;

/** Number of bytes before and after an error that select the hint in a message. */
const HINT_BYTES = 16;

/** Position at which a kernel call began. */
interface Mark {
  readonly at: number;
  readonly lines: number;
  readonly lineStart: number;
}

export class JsonText {
  readonly heap: Heap;
  readonly state: number;
  /** Yields to other Runs. Returns null if it is not yet time to yield. */
  readonly giveWay: () => Promise<void> | null;
  readonly #isDue: () => boolean;
  /** True if `wait` only yields until the next turn of the event loop. */
  #isResting = false;
  readonly #kernel: KernelExports;
  readonly #window: Window;
  readonly #source: ReplaceableSource;
  /** Reads ahead if the source is a large file. Set by the reader. */
  #ahead: ReadAheadRows | null = null;
  /** True if the end of the source is the end of the file. */
  #isWhole = true;
  /** Offset in the text of address 0. */
  #origin = 0;
  /** Offset in the text at which the current line begins. */
  #lineStart = 0;
  /** Offset in the text at which the previous line begins. */
  #lastLineStart = 0;
  /** Last bytes before the start of the window. */
  #before: Uint8Array = new Uint8Array(0);

  /** @param windowBytes bytes read at a time; results do not depend on it */
  constructor({ arena: { heap }, kernel, largeRow, clock, giveWay }: OpenSettings, windowBytes: number) {
    this.heap = heap;
    this.#isDue = () => clock?.isDue() === true;
    this.giveWay = () => (this.#isDue() ? (giveWay?.() ?? null) : null);
    this.#kernel = kernel.exports;
    this.#source = new ReplaceableSource();
    this.#window = new Window(heap, this.#source, largeRow, windowBytes, { atStart: false });
    this.state = heap.allocate(STATE_BYTES);
    heap.u8.fill(0, this.state, this.state + STATE_BYTES);
    this.set(STACK, heap.allocate(TRAVERSAL_DEPTH_MAX));
    this.set(CELL_BYTES_WORD, CELL_BYTES_MAX);
    this.set(MEMBERS_MAX, COLUMNS_MAX);
  }

  /**
   * @param source UTF-8 without a byte order mark
   * @param isWhole see #isWhole
   */
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
    this.#before = new Uint8Array(0);
  }

  /** Continues with another part of the file. */
  resume(): void {
    this.#window.resume();
    this.set(AT, this.#window.start);
    this.#before = new Uint8Array(0);
  }

  /** True if no record follows. */
  get isAtEnd(): boolean {
    const { complete, filling, filled } = this.#window;
    let at = this.get(AT);
    while (at < filled && this.heap.u8[at]! <= SPACE) at++;
    return complete && !filling && at >= filled;
  }

  get(word: number): number {
    return this.heap.u32[(this.state + word) >>> 2]!;
  }

  set(word: number, value: number): void {
    this.heap.u32[(this.state + word) >>> 2] = value;
  }

  /** Lets a read-ahead thread read records from now on. */
  readAhead(readAhead: ReadAheadThread, rows: RowsAhead): void {
    this.#ahead = new ReadAheadRows(readAhead, this.#window, rows);
  }

  /**
   * Called after 'more'. 'rows': the read-ahead thread has delivered rows. 'alone': this thread must read on itself.
   */
  advance(): 'rows' | 'wait' | 'alone' {
    const isOver = this.#window.filling || this.#window.complete;
    return isOver ? 'alone' : (this.#ahead?.advance() ?? 'alone');
  }

  /** Takes over the work of the read-ahead thread. */
  leaveAhead(): void {
    this.#ahead?.leave();
  }

  /**
   * Called before the window moves to the current position. Keeps the last bytes before it, because an error in the next
   * record may be a comma there.
   */
  keepBefore(): void {
    this.#before = this.#bytesBefore(this.get(AT));
  }

  /** Continues at this address, to which the following text was copied. */
  moveTo(address: number): void {
    this.#origin += this.get(AT) - address;
    this.set(AT, address);
  }

  /** Skips text at the current position that another thread has read. */
  passed(bytes: number, lines: number, lineStart: number): void {
    this.#passLines(lineStart, this.#lineStart);
    this.set(LINES, this.get(LINES) + lines);
    this.set(AT, this.get(AT) + bytes);
  }

  /** Number of records of the last `read`. */
  get rows(): number {
    return this.get(ROWS);
  }

  /** The byte at the current position. */
  get byte(): number {
    return this.heap.u8[this.get(AT)]!;
  }

  /** Reads the complete records in the window. Throws Failed. */
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

  /** Continues a traversal from its phase (see traverseJson). Throws Failed. */
  traverse(stopDepth: number): TraversalStatus {
    if (this.#window.filling) return 'more';
    const before = this.#mark();
    this.set(STOP_DEPTH, stopDepth);
    this.#kernel.traverseJson(this.state, this.#window.filled, this.#isLast ? 1 : 0);
    this.#check(before);
    return TRAVERSAL_STATUSES[this.get(STATUS)] ?? 'more';
  }

  /** Advances to the next byte that is not white space, which is an event. */
  peek(): TraversalStatus {
    this.set(PHASE, TRAVERSAL_ITEM);
    this.set(DEPTH, 0);
    return this.traverse(0);
  }

  /** Skips one byte, which must be available. */
  pass(): void {
    this.set(AT, this.get(AT) + 1);
  }

  /** Key of the value at the current event, or null inside a list. */
  key(): string | null {
    const start = this.get(KEY_START);
    if (start === 0) return null;
    const raw = Buffer.from(this.heap.u8.buffer, start, this.get(KEY_END) - start).toString();
    return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  /**
   * Called after 'more'. 'wait': call `wait`, then `fill` again. 'end': the source has no more bytes. Throws Failed.
   */
  fill(): 'filled' | 'wait' | 'end' {
    const window = this.#window;
    const at = this.get(AT);
    if (!window.filling) {
      if (window.complete) return 'end';
      if (window.filled - at > ROW_BYTES_MAX) throw recordTooLong(this.place(at));
    }
    if (!window.filling) this.keepBefore();
    const filled = window.fill(at);
    // The incomplete record may have moved in any case.
    this.#origin += at - window.start;
    this.set(AT, window.start);
    return filled;
  }

  /** Returns true if it is time to yield; `wait` then yields. */
  rests(): boolean {
    this.#isResting = this.#isDue();
    return this.#isResting;
  }

  wait(): Promise<void> {
    if (this.#isResting) {
      this.#isResting = false;
      return new Promise((resolve) => setImmediate(resolve));
    }
    return this.#ahead?.isAway ? this.#ahead.wait() : this.#window.wait();
  }

  close(): void {
    this.#ahead?.close();
    this.#window.close();
  }

  /** Place of the current position, or of a later address in the same line. */
  place(address: number = this.get(AT)): TextPlace {
    return { line: this.get(LINES) + 1, column: this.#column(this.#lineStart, address + this.#origin) };
  }

  /**
   * Place of the end of the text: the end of its last line. The window adds a line feed if the text does not end with
   * one.
   */
  end(): TextPlace {
    const { start, filled } = this.#window;
    const { u8 } = this.heap;
    const last = filled - 1;
    const before = u8.subarray(start, last).lastIndexOf(LF);
    const isPassed = this.#lineStart > last + this.#origin;
    const inWindow = start + before + 1 + this.#origin;
    const lineStart = before >= 0 ? inWindow : isPassed ? this.#lastLineStart : this.#lineStart;
    return { line: this.get(LINES) + (isPassed ? 0 : 1), column: this.#column(lineStart, last + this.#origin) };
  }

  /** @param at offset in the text */
  #column(lineStart: number, at: number): number {
    return at - lineStart + 1 - this.#source.addedBytes(lineStart, at);
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
    const isError = this.get(STATUS) === STATUS_ERROR;
    const to = isError ? Math.min(this.get(ERROR_AT), this.#window.filled) : this.get(AT);
    if (!isUtf8(u8.subarray(before.at, to))) throw this.#notUtf8(before, to);
    this.#passLines(this.get(LINE_START), before.lineStart);
    if (!isError) return;
    const at = this.get(ERROR_AT);
    if (this.#isLast && at >= this.#window.filled - 1) throw endsEarly(this.end());
    const found = u8.subarray(at, Math.min(at + HINT_BYTES, this.#window.filled));
    throw expectedAt(this.place(at), this.get(ERROR), this.#bytesBefore(at), found);
  }

  /** Copy of the bytes before this address that select a hint. */
  #bytesBefore(address: number): Uint8Array {
    const inWindow = this.heap.u8.subarray(Math.max(address - HINT_BYTES, this.#window.start), address);
    return Buffer.concat([this.#before, inWindow]).subarray(-HINT_BYTES);
  }

  /** @param lineStart address after the last line feed, or 0 without a line feed */
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
    const place = { line, column: this.#column(start, invalid + this.#origin) };
    // The window adds a line feed after the text.
    const isCutOff = this.#isLast && isOpen(u8.subarray(invalid, this.#window.filled - 1));
    return isCutOff ? endsEarly(place) : notUtf8(place);
  }
}
