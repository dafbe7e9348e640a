// Reads lines of fixed-width columns into batches with views of the window. Line breaks are LF, CRLF and CR.

import { isUtf8 } from 'node:buffer';
import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import type { LargeRowAccess } from '../../memory/large-row.ts';
import { Failed } from '../../protocol/failure.ts';
import { type CodeCounts, countCode, type RunReport, reportSkipped } from '../../protocol/report.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import type { CsvInput, FixedColumn } from '../../template/template.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import { malformed, mergeCounts } from '../csv/csv-input.ts';
import { countLineBreaks, invalidLine } from '../csv/lines.ts';
import { type RaggedRow, RowNumbers, rejectedLengths, rejectsRagged } from '../csv/selected-rows.ts';
import { WINDOW_BYTES, Window } from '../csv/window.ts';
import type { MetaSearch } from '../meta-values.ts';
import type { FileHead, MetaValues, RowReader } from '../reader.ts';
import type { ByteSource } from '../source/source.ts';

// Finds the cells in a line of fixed-width columns. In an ASCII line, a character is a byte; in any other line,
// characters (code points) are counted first. Padding spaces around a cell are not part of it.

const SPACE = 0x20;

/** The two highest bits of a UTF-8 continuation byte. */
const CONTINUATION = 0x80;

export class LineCutter {
  readonly #starts: readonly number[];
  readonly #ends: readonly number[];
  /** Number of characters up to the end of the last column. */
  readonly #characters: number;
  /** Address of each character of the line, up to the one after the last column. */
  readonly #places: Uint32Array;
  /** Start and end address of each cell of the line that was split last, or 0 if the line ends before the cell. */
  readonly cells: Uint32Array;
  /** Address after the last column of that line. */
  end = 0;

  constructor(columns: readonly FixedColumn[]) {
    this.#starts = columns.map(({ start }) => start - 1);
    this.#ends = columns.map(({ start, length }) => start - 1 + length);
    this.#characters = Math.max(...this.#ends);
    this.#places = new Uint32Array(this.#characters + 1);
    this.cells = new Uint32Array(columns.length * 2);
  }

  /**
   * Splits the line [from, to), which is UTF-8 without its line break.
   * @returns whether the line has anything except spaces after the last column
   */
  cut(u8: Uint8Array, from: number, to: number, isAscii: boolean): boolean {
    if (isAscii) {
      for (let column = 0; column < this.#starts.length; column++) {
        this.#put(u8, column, Math.min(from + this.#starts[column]!, to), Math.min(from + this.#ends[column]!, to), to);
      }
      this.end = from + this.#characters;
      return holdsText(u8, this.end, to);
    }
    const places = this.#places;
    let count = 0;
    for (let at = from; at < to && count <= this.#characters; at++) {
      if ((u8[at]! & 0xc0) !== CONTINUATION) places[count++] = at;
    }
    const placeOf = (character: number): number => (character < count ? places[character]! : to);
    for (let column = 0; column < this.#starts.length; column++) {
      this.#put(u8, column, placeOf(this.#starts[column]!), placeOf(this.#ends[column]!), to);
    }
    this.end = placeOf(this.#characters);
    return holdsText(u8, this.end, to);
  }

  #put(u8: Uint8Array, column: number, from: number, to: number, lineEnd: number): void {
    const isMissing = from >= lineEnd;
    while (from < to && u8[from] === SPACE) from++;
    while (from < to && u8[to - 1] === SPACE) to--;
    this.cells[column * 2] = isMissing ? 0 : from;
    this.cells[column * 2 + 1] = to;
  }
}

function holdsText(u8: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (u8[at] !== SPACE) return true;
  return false;
}

/** Maximum number of cells in a batch: 256 KiB of views. */
const CELLS_MAX = 32_768;

/** Number of u32 words per line, see FixedReader. */
const LINE_WORDS = 4;

/** Length of the CRLF after the longest line. */
const LINE_BREAK_BYTES = 2;

const LF = 10;
const CR = 13;

export interface FixedReaderParts {
  readonly format: string;
  readonly heap: Heap;
  readonly arena: Arena;
  /** Source of UTF-8 text. */
  readonly source: ByteSource;
  /** Encoding of the file for FileHead, before decoding. */
  readonly encoding: string;
  /** See FileHead. */
  readonly encodingGuess?: string | undefined;
  readonly columns: readonly FixedColumn[];
  /**
   * 0-based line number of the header (blank lines count), or null without a header. The header and the lines above it
   * are skipped.
   */
  readonly headerRow: number | null;
  readonly nullValues: readonly string[];
  readonly ragged: CsvInput['ragged'];
  readonly largeRow: LargeRowAccess;
  /** Receives the lines above the header, each as one field. */
  readonly preamble: MetaSearch;
  /** Counters of the comment lines and NUL bytes that the sources leave out. */
  readonly comments?: { readonly lines: number } | undefined;
  readonly nul?: { readonly nulBytes: number } | undefined;
  /**
   * If true, a file of a single line that is several times as long as all columns fails: its records have no line ends.
   */
  readonly hasLineEnds?: boolean;
  /** Values below the table. Without a header, also the values in its first lines. */
  readonly values: MetaValues;
  /** Bytes read at a time; results do not depend on it. */
  readonly windowBytes?: number;
}

/** Reads up to the first data line, waiting for bytes. Throws Failed and closes the source. */
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
  #ragged: RaggedRow[] = [];
  /** Number of bytes of the last line that continues after the last column. */
  #lastLongBytes = 0;
  readonly #selection: RowNumbers;
  readonly #emptyIsNull: boolean;
  readonly #nullTexts: readonly Buffer[];
  readonly #rowsMax: number;
  /**
   * For each line of a batch, LINE_WORDS words: first byte, byte after the last, whether the line is ASCII, line
   * number.
   */
  readonly #lines: Uint32Array;
  /** Address of the first byte of the next line. It moves with the window. */
  #next: number;
  /** Address of the first byte of the line that was skipped last. */
  #skippedAt = 0;
  /** Number of lines read, including blank lines and the header. */
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
      ...(parts.encodingGuess !== undefined && { encodingGuess: parts.encodingGuess }),
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
    if (state === 'end') this.#failWithoutLineEnds();
    if (state !== 'line') return state;
    const from = this.#next;
    let rows = 0;
    // Blank lines are read in chunks as well, and the thread yields between chunks.
    for (let looked = 0; state === 'line' && rows < limit && looked < BATCH_ROWS_MAX; looked++) {
      rows += Number(this.#findLine(lines, rows * LINE_WORDS));
      state = this.#lineIsThere() ? 'line' : 'wait';
    }
    this.#check(from, this.#next, linesBefore);
    return this.#batch(rows, rowsMax === 0);
  }

  get raggedRows(): readonly RaggedRow[] {
    return rejectedLengths(this.#ragged, this.#parts.ragged);
  }

  wait(): Promise<void> {
    return this.#window.wait();
  }

  skipLine(): 'line' | 'wait' | 'end' {
    const state = this.#fill();
    if (state !== 'line') return state;
    const [from, linesBefore] = [this.#next, this.#linesRead];
    this.#findLine(this.#lines, 0);
    this.#check(from, this.#next, linesBefore);
    this.#skippedAt = from;
    return 'line';
  }

  /** Text of the line that was skipped last. */
  get skipped(): string {
    const { u8 } = this.#parts.heap;
    return Buffer.from(u8.slice(this.#skippedAt, this.#next))
      .toString()
      .replace(/\r?\n$|\r$/, '');
  }

  /** Call it after the last line above the table. */
  keepMeta(): void {
    this.head = { ...this.head, meta: { ...this.#parts.preamble.values, ...this.#parts.values } };
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#counts);
    reportSkipped(report, this.#parts);
  }

  close(): void {
    this.#window.close();
  }

  /** Fails a file of one line that would contain several records, as their cells would be dropped. */
  #failWithoutLineEnds(): void {
    const { columns, hasLineEnds } = this.#parts;
    const characters = Math.max(...columns.map(({ start, length }) => start - 1 + length));
    if (hasLineEnds && this.#linesRead === 1 && this.#lastLongBytes >= characters * 2) throw noLineEnds();
  }

  /** Fills the window until it contains a whole line. */
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

  /** True if the line that begins at `#next` is complete. A CR needs the byte after it. */
  #lineIsThere(): boolean {
    const { u8 } = this.#parts.heap;
    const end = this.#window.scanEnd;
    for (let at = this.#next; at < end; at++) if (u8[at] === LF || u8[at] === CR) return true;
    return false;
  }

  /** Takes the complete line at `#next`. Returns false for a blank line. */
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
    this.#ragged = [];
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
      const extra = rejectsRagged(this.#parts)
        ? Buffer.from(heap.u8.subarray(this.#cutter.end, line[1]!)).toString().trimEnd()
        : null;
      this.#ragged.push({ row, code: 'RAGGED_ROW', extra });
      this.#lastLongBytes = line[1]! - line[0]!;
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

function noLineEnds(): Failed {
  const message =
    'The file is one line, which continues after the last column of input.fixed. Its records seem to have no line ends. ' +
    'Write their length in characters into the Template: input.fixed.record_length.';
  return new Failed('MALFORMED_FILE', message);
}

function tooLong(line: number): Failed {
  return new Failed('MALFORMED_FILE', `Line ${line} has text after the last column of input.fixed.`);
}
