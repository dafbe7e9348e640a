// Records of the plain lane one by one, in the order of the file, with what is wrong in them: csv-parse over the same
// window that the fast lane reads.
import { isUtf8 } from 'node:buffer';
import type { Heap } from '../../memory/heap.ts';
import { CELL_BYTES_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import type { LeadingRecord, LeadingRecords } from './header.ts';
import { countLineBreaks, invalidLine } from './lines.ts';
import { malformed } from './malformed.ts';
import { type ParsedRecord, RecordParser } from './record-parser.ts';
import { type SplitRecord, splitRecord } from './split-record.ts';
import type { Window } from './window.ts';

/** A line break and what csv-parse looks ahead. */
const HELD_BACK_BYTES = 66;

const LF = 10;
const CR = 13;

export interface PlainRecord extends LeadingRecord {
  readonly texts: readonly string[];
  /** Fields with text behind their closing quote. */
  readonly strays: number;
}

export class PlainRecords implements LeadingRecords {
  readonly #heap: Heap;
  readonly #window: Window;
  readonly #delimiter: string;
  readonly #quote: string;
  readonly #parser: RecordParser;
  #ready: ParsedRecord[] = [];
  #taken = 0;
  /** Address, line and place in what was fed of the next record. */
  #start: number;
  #line = 1;
  #offset = 0;
  /** Address up to which the window was fed. */
  #fed: number;
  #finished = false;
  #peeked: PlainRecord | null = null;

  constructor(heap: Heap, window: Window, delimiter: string, quote: string) {
    this.#heap = heap;
    this.#window = window;
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.#parser = new RecordParser(delimiter, quote);
    this.#start = window.start;
    this.#fed = window.start;
  }

  /** Throws Failed when the next record cannot be read, at every call. */
  peek(): PlainRecord | 'wait' | 'end' {
    if (this.#peeked !== null) return this.#peeked;
    for (;;) {
      const parsed = this.#ready[this.#taken];
      if (parsed !== undefined) {
        this.#peeked = this.#judge(parsed);
        this.#taken++;
        return this.#peeked;
      }
      const window = this.#window;
      if (!window.filling) {
        if (window.complete && this.#finished) return this.#end();
        if (window.filled - this.#start > ROW_BYTES_MAX + HELD_BACK_BYTES) throw malformed('row', this.#line);
      }
      if (window.complete && !window.filling) {
        this.#finished = true;
        this.#parser.finish();
      } else {
        if (window.fill(this.#start) === 'wait') return 'wait';
        this.#fed += window.start - this.#start;
        this.#start = window.start;
        // A copy: the parser holds back the last bytes, and the window moves.
        this.#parser.feed(Buffer.from(this.#heap.u8.subarray(this.#fed, window.textEnd)));
        this.#fed = window.textEnd;
      }
      this.#ready = this.#parser.take();
      this.#taken = 0;
    }
  }

  skip(): void {
    this.#peeked = null;
  }

  wait(): Promise<void> {
    return this.#window.wait();
  }

  #end(): 'end' {
    const { u8 } = this.#heap;
    if (this.#start === this.#window.filled) return 'end';
    const text = textOf(u8, this.#start, this.#window.filled);
    const { open } = splitRecord(text, this.#delimiter, this.#quote);
    throw malformed('quote', this.#lineIn(text, Math.max(open, 0)));
  }

  #judge(parsed: ParsedRecord): PlainRecord {
    const { u8 } = this.#heap;
    const start = this.#start;
    const end = start + (parsed.end - this.#offset);
    if (contentEnd(u8, start, end) - start > ROW_BYTES_MAX) throw malformed('row', this.#line);
    let exact: SplitRecord | null = null;
    if (
      end - start > CELL_BYTES_MAX ||
      (this.#quote !== '' && parsed.fields.some((text) => text.startsWith(this.#quote)))
    ) {
      exact = splitRecord(textOf(u8, start, end), this.#delimiter, this.#quote);
    }
    this.#failOnText(start, end, exact);
    const stray = exact?.strays[0];
    const text = stray === undefined ? '' : textOf(u8, start, end);
    const texts = exact?.texts ?? parsed.fields;
    const strayLine = stray === undefined ? 0 : this.#lineIn(text, exact!.starts[stray]!);
    const record: PlainRecord = {
      texts,
      fields: texts.length,
      blank: contentEnd(u8, start, end) === start,
      line: this.#line,
      strays: exact?.strays.length ?? 0,
      read: () => ({ texts, strayLine }),
    };
    this.#line += countLineBreaks(u8, start, end);
    this.#start = end;
    this.#offset = parsed.end;
    return record;
  }

  /** The earliest of a cell above the ceiling, a NUL and a line that is not UTF-8. */
  #failOnText(start: number, end: number, exact: SplitRecord | null): void {
    const { u8 } = this.#heap;
    const raw = u8.subarray(start, end);
    const cell =
      end - start > CELL_BYTES_MAX && exact !== null ? longCell(textOf(u8, start, end), exact, this.#delimiter) : -1;
    const nul = raw.indexOf(0);
    if (cell < 0 && nul < 0 && isUtf8(raw)) return;
    const invalid = invalidLine(u8, start, end);
    const found = [
      { kind: 'cell', at: cell } as const,
      { kind: 'nul', at: nul } as const,
      { kind: 'utf8', at: invalid < 0 ? -1 : invalid - start } as const,
    ].filter(({ at }) => at >= 0);
    const first = found.reduce((best, other) => (other.at < best.at ? other : best));
    throw malformed(first.kind, this.#line + countLineBreaks(u8, start, start + first.at));
  }

  #lineIn(text: string, at: number): number {
    const before = Buffer.from(`${text.slice(0, at)} `);
    return this.#line + countLineBreaks(before, 0, before.length - 1);
  }
}

function textOf(u8: Uint8Array, start: number, end: number): string {
  return Buffer.from(u8.buffer, start, end - start).toString('utf8');
}

/** Where the record's line break begins. */
function contentEnd(u8: Uint8Array, start: number, end: number): number {
  if (u8[end - 1] === LF && end - 1 > start && u8[end - 2] === CR) return end - 2;
  return u8[end - 1] === LF || u8[end - 1] === CR ? end - 1 : end;
}

/** Bytes before the first cell above the ceiling, or -1. */
function longCell(text: string, exact: SplitRecord, delimiter: string): number {
  for (const [field, start] of exact.starts.entries()) {
    const next = exact.starts[field + 1];
    const raw =
      next === undefined ? text.slice(start).replace(/\r?\n$|\r$/, '') : text.slice(start, next - delimiter.length);
    if (Buffer.byteLength(raw) > CELL_BYTES_MAX) return Buffer.byteLength(text.slice(0, start));
  }
  return -1;
}
