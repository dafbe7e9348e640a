// Reads lines of fixed columns: bytes to batches whose views lie in the window. Line breaks are LF, CRLF and CR.
import { isUtf8 } from 'node:buffer';
import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { Failed } from '../../protocol/failure.ts';
import { type CodeCounts, countCode, type RunReport, tellComments } from '../../run/report.ts';
import type { CsvInput, FixedColumn } from '../../template/template.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import { mergeCounts } from '../csv/counts.ts';
import { countLineBreaks, invalidLine } from '../csv/lines.ts';
import { malformed } from '../csv/malformed.ts';
import { RowNumbers } from '../csv/row-numbers.ts';
import { WINDOW_BYTES, Window } from '../csv/window.ts';
import type { MetaSearch } from '../meta-values.ts';
import type { FileHead, MetaValues, RowReader } from '../reader.ts';
import type { ByteSource } from '../source/source.ts';
import { LineCutter } from './cut-line.ts';

/** Cells of a batch at most: 256 KiB of views. */
const CELLS_MAX = 32_768;

/** See FixedReader. */
const LINE_WORDS = 4;

/** A CRLF behind the longest line. */
const LINE_BREAK_BYTES = 2;

const LF = 10;
const CR = 13;

export interface FixedReaderParts {
  readonly format: string;
  readonly heap: Heap;
  readonly arena: Arena;
  /** UTF-8. */
  readonly source: ByteSource;
  /** Before it was decoded, for the FileHead. */
  readonly encoding: string;
  readonly columns: readonly FixedColumn[];
  /** 0-based line of the header, blank ones counted; null: there is none. It and those above it are skipped. */
  readonly headerRow: number | null;
  readonly nullValues: readonly string[];
  readonly ragged: CsvInput['ragged'];
  readonly largeRow: LargeRowAccess;
  /** Is shown the lines above the header, each one field. */
  readonly preamble: MetaSearch;
  /** Counts the lines that are left out. */
  readonly comments?: { readonly lines: number } | undefined;
  /** Values below the table, and without a header those of its first lines. */
  readonly values: MetaValues;
  /** Bytes read at a time; results do not depend on it. */
  readonly windowBytes?: number;
}

/** Reads up to the first data line, waiting for bytes. Throws Failed; the source is then closed. */
export function* openFixedReader(parts: FixedReaderParts): Coroutine<RowReader> {
  const window = new Window(parts.heap, parts.source, parts.largeRow, parts.windowBytes ?? WINDOW_BYTES);
  try {
    const reader = new FixedReader(parts, window);
    for (let line = 0; parts.headerRow !== null && line <= parts.headerRow; line++) {
      for (let state = reader.skipLine(); state !== 'line'; state = reader.skipLine()) {
        if (state === 'end') throw malformed('header', 0);
        yield reader.wait();
      }
      if (line < parts.headerRow && parts.preamble.wants(line)) parts.preamble.take(line, [reader.skipped], '');
    }
    reader.keepMeta();
    return reader;
  } catch (error) {
    window.close();
    throw error;
  }
}

class FixedReader implements RowReader {
  head: FileHead;
  rowsRead = 0;
  readonly #parts: FixedReaderParts;
  readonly #window: Window;
  readonly #cutter: LineCutter;
  readonly #counts: CodeCounts = {};
  readonly #selection: RowNumbers;
  readonly #emptyIsNull: boolean;
  readonly #nullTexts: readonly Buffer[];
  readonly #rowsMax: number;
  /** Of the lines of a batch LINE_WORDS each: first byte, byte behind the last, whether all is ASCII, its number. */
  readonly #lines: Uint32Array;
  /** First byte of the next line; it moves when the window does. */
  #next: number;
  /** First byte of the line that was skipped last. */
  #skippedAt = 0;
  /** Lines read, blank ones and the header too. */
  #linesRead = 0;

  constructor(parts: FixedReaderParts, window: Window) {
    const { columns, nullValues } = parts;
    this.#parts = parts;
    this.#window = window;
    this.#next = window.start;
    this.#cutter = new LineCutter(columns);
    this.#selection = new RowNumbers(parts.heap);
    this.#emptyIsNull = nullValues.includes('');
    this.#nullTexts = nullValues.filter((text) => text !== '').map((text) => Buffer.from(text));
    this.#rowsMax = Math.max(1, Math.min(BATCH_ROWS_MAX, Math.floor(CELLS_MAX / columns.length)));
    this.#lines = new Uint32Array(this.#rowsMax * LINE_WORDS);
    this.head = {
      format: parts.format,
      type: parts.format,
      encoding: parts.encoding,
      delimiter: null,
      quote: null,
      headerRow: parts.headerRow,
      headers: columns.map(({ name }) => name),
    };
  }

  next(rowsMax: number): Batch | 'wait' | 'end' {
    const limit = rowsMax === 0 ? this.#rowsMax : Math.min(rowsMax, this.#rowsMax);
    const linesBefore = this.#linesRead;
    const lines = this.#lines;
    let state = this.#fill();
    if (state !== 'line') return state;
    const from = this.#next;
    let rows = 0;
    // Blank lines are looked at in chunks too: between them the thread gives way.
    for (let looked = 0; state === 'line' && rows < limit && looked < BATCH_ROWS_MAX; looked++) {
      rows += Number(this.#findLine(lines, rows * LINE_WORDS));
      state = this.#lineIsThere() ? 'line' : 'wait';
    }
    this.#check(from, this.#next, linesBefore);
    return this.#batch(rows, rowsMax === 0);
  }

  wait(): Promise<void> {
    return this.#window.wait();
  }

  /** Skips one line. */
  skipLine(): 'line' | 'wait' | 'end' {
    const state = this.#fill();
    if (state !== 'line') return state;
    const [from, linesBefore] = [this.#next, this.#linesRead];
    this.#findLine(this.#lines, 0);
    this.#check(from, this.#next, linesBefore);
    this.#skippedAt = from;
    return 'line';
  }

  /** The line that was skipped last. */
  get skipped(): string {
    const { u8 } = this.#parts.heap;
    return Buffer.from(u8.slice(this.#skippedAt, this.#next))
      .toString()
      .replace(/\r?\n$|\r$/, '');
  }

  /** Behind the last line above the table. */
  keepMeta(): void {
    this.head = { ...this.head, meta: { ...this.#parts.preamble.values, ...this.#parts.values } };
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#counts);
    tellComments(report, this.#parts.comments);
  }

  close(): void {
    this.#window.close();
  }

  /** Until a whole line is in the window. */
  #fill(): 'line' | 'wait' | 'end' {
    const window = this.#window;
    for (;;) {
      if (!window.filling) {
        if (this.#lineIsThere()) return 'line';
        if (window.complete) return 'end';
        if (window.filled - this.#next > ROW_BYTES_MAX + LINE_BREAK_BYTES) throw malformed('row', this.#linesRead + 1);
      }
      if (window.fill(this.#next) === 'wait') return 'wait';
      this.#next = window.start;
    }
  }

  /** Whether the line that begins at `#next` is whole: a CR needs the byte behind it. */
  #lineIsThere(): boolean {
    const { u8 } = this.#parts.heap;
    const end = this.#window.scanEnd;
    for (let at = this.#next; at < end; at++) if (u8[at] === LF || u8[at] === CR) return true;
    return false;
  }

  /** Takes the line that is there; false for a blank one. */
  #findLine(lines: Uint32Array, place: number): boolean {
    const { u8 } = this.#parts.heap;
    const from = this.#next;
    let at = from;
    let bits = 0;
    for (let byte = u8[at]!; byte !== LF && byte !== CR; byte = u8[++at]!) bits |= byte;
    if (at - from > ROW_BYTES_MAX) throw malformed('row', this.#linesRead + 1);
    this.#next = u8[at] === CR && u8[at + 1] === LF ? at + 2 : at + 1;
    this.#linesRead++;
    if (at === from) return false;
    lines[place] = from;
    lines[place + 1] = at;
    lines[place + 2] = Number(bits < 0x80);
    lines[place + 3] = this.#linesRead;
    return true;
  }

  #check(from: number, to: number, linesBefore: number): void {
    const { u8 } = this.#parts.heap;
    const text = u8.subarray(from, to);
    const nul = text.indexOf(0);
    if (nul >= 0) throw malformed('nul', linesBefore + 1 + countLineBreaks(u8, from, from + nul));
    if (isUtf8(text)) return;
    throw malformed('utf8', linesBefore + 1 + countLineBreaks(u8, from, invalidLine(u8, from, to)));
  }

  #batch(rows: number, isUnread: boolean): Batch {
    const { arena, columns } = this.#parts;
    const first = this.rowsRead + 1;
    const places = columns.map(() => arena.take(rows * VIEW_BYTES));
    for (let row = 0; row < rows; row++) this.#cutRow(row, first + row, places);
    this.rowsRead += rows;
    return new Batch({
      arena,
      rows: isUnread ? 0 : rows,
      selection: this.#selection.upTo(rows),
      live: isUnread ? 0 : rows,
      columns: places.map((at): ViewsColumn => ({ kind: 'views', at })),
      raw: null,
      sourceRows: { first },
      materialise: () => {
        throw new Error('fixed columns are never raw');
      },
    });
  }

  #cutRow(row: number, sourceRow: number, places: readonly number[]): void {
    const { heap, ragged } = this.#parts;
    const { cells } = this.#cutter;
    const line = this.#lines.subarray(row * LINE_WORDS, (row + 1) * LINE_WORDS);
    if (this.#cutter.cut(heap.u8, line[0]!, line[1]!, line[2] === 1)) {
      if (ragged === 'fail') throw tooLong(line[3]!);
      countCode(this.#counts, 'RAGGED_ROW', sourceRow);
    }
    for (let column = 0; column < places.length; column++) {
      const view = (places[column]! >>> 2) + row * 2;
      const [start, end] = [cells[column * 2]!, cells[column * 2 + 1]!];
      const isNull = start === 0 || this.#isNull(start, end);
      heap.u32[view] = isNull ? 0 : start;
      heap.u32[view + 1] = isNull ? 0 : end - start;
    }
  }

  #isNull(start: number, end: number): boolean {
    if (start === end) return this.#emptyIsNull;
    const { u8 } = this.#parts.heap;
    return this.#nullTexts.some((text) => text.length === end - start && text.equals(u8.subarray(start, end)));
  }
}

function tooLong(line: number): Failed {
  return new Failed('MALFORMED_FILE', `Line ${line} holds text behind the last column of input.fixed.`);
}
