// The fast CSV reader: turns bytes into batches whose columns stay raw in the window until an operation needs their
// text.

import { utf8Text } from '../../batch/ascii-text.ts';
import {
  BATCH_ROWS_MAX,
  Batch,
  type RawColumn,
  type RawTable,
  type ViewsColumn,
  ViewsOfField,
} from '../../batch/batch.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { NEXT, POSITION, STATE_BYTES, WANTED } from '../../kernel/layout/materialise.ts';
import type { Heap } from '../../memory/heap.ts';
import { type CodeCounts, type RunReport, reportSkipped } from '../../protocol/report.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import { ReadAheadRows } from '../read-ahead/read-ahead-rows.ts';
import type { FileHead, RowReader } from '../reader.ts';
import {
  type CsvReaderParts,
  failWideRows,
  goOnAtOnce,
  headOf,
  malformed,
  mergeCounts,
  OPEN_QUOTES_MAX,
} from './csv-input.ts';
import { type CsvHeader, headerRules, type LeadingRecord, type LeadingRecords, readHeader } from './header.ts';
import { failOnLateQuote } from './late-quote.ts';
import { openQuote } from './lines.ts';
import { type NullTexts, placeNullTexts } from './null-texts.ts';
import { RowTable } from './row-table.ts';
import { type RaggedRow, RowNumbers, rejectedLengths, rejectsRagged } from './selected-rows.ts';
import { StructuralIndex } from './structural-index.ts';
import { WINDOW_BYTES, Window } from './window.ts';

// Makes clean views of raw columns (see Materialise in workers/batch/batch.ts), and finds the columns that cannot stay
// raw because one of their cells is a null text.

class Materialiser {
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #nullTexts: NullTexts;
  readonly #quote: number;
  readonly #columns: number;
  readonly #state: number;
  readonly #marks: number;

  constructor(heap: Heap, kernel: KernelExports, nullTexts: NullTexts, quote: number, columns: number) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#nullTexts = nullTexts;
    this.#quote = quote;
    this.#columns = columns;
    this.#state = heap.allocate(STATE_BYTES);
    this.#marks = nullTexts.list === 0 ? 0 : heap.allocate(columns);
  }

  readonly views = (batch: Batch, column: RawColumn): ViewsColumn => {
    const { raw, arena } = batch;
    if (raw === null) throw new Error('a raw column without a raw table');
    const at = arena.take(batch.rows * VIEW_BYTES);
    const entries = raw.at + column.field * 4;
    const state = this.#state;
    this.#heap.u32[(state + POSITION) >>> 2] = 0;
    for (;;) {
      this.#heap.u32[(state + NEXT) >>> 2] = arena.next;
      this.#kernel.materialise(
        this.#state,
        entries,
        raw.stride * 4,
        batch.selection,
        batch.live,
        at,
        arena.limit,
        this.#quote,
        this.#nullTexts.empty ? 1 : 0,
        this.#nullTexts.list,
      );
      arena.next = this.#heap.u32[(state + NEXT) >>> 2]!;
      const wanted = this.#heap.u32[(state + WANTED) >>> 2]!;
      if (wanted === 0) return new ViewsOfField(at, column.field);
      arena.enlarge(wanted);
    }
  };

  /** Makes views of every column whose raw text does not show which cells are null. */
  resolveNullTexts(batch: Batch): void {
    const { list, always } = this.#nullTexts;
    if (always) {
      for (let index = 0; index < this.#columns; index++) this.#leaveRaw(batch, index);
      return;
    }
    if (list === 0 || batch.raw === null) return;
    this.#heap.u8.fill(0, this.#marks, this.#marks + this.#columns);
    this.#kernel.findNullTexts(batch.raw.at, batch.rows, this.#columns, this.#quote, list, this.#marks);
    for (let index = 0; index < this.#columns; index++) {
      if (this.#heap.u8[this.#marks + index] === 1) this.#leaveRaw(batch, index);
    }
  }

  /** Turns a column into views: from now on, only the views say which cells are null. */
  #leaveRaw(batch: Batch, index: number): void {
    batch.columns[index] = { kind: 'views', at: batch.views(index) };
  }
}

// Complete rows of the window, and single records as texts for what precedes the data rows.

// Supplies complete rows: scans the window, refills it when its rows are used up, and throws the error of an unreadable
// row once all rows before it have been taken.

/** Length of the CRLF after the longest row. */
const LINE_BREAK_BYTES = 2;

class RecordFeed {
  readonly heap: Heap;
  readonly window: Window;
  readonly index: StructuralIndex;
  /** Read-ahead of the rows after the header, if a thread reads ahead. */
  readAheadRows: ReadAheadRows | null = null;
  readonly #delimiter: number;
  readonly #quote: number;

  constructor(heap: Heap, window: Window, index: StructuralIndex, delimiter: number, quote: number) {
    this.heap = heap;
    this.window = window;
    this.index = index;
    this.#delimiter = delimiter;
    this.#quote = quote;
  }

  /** 'rows' means that the index holds at least one complete row. Throws Failed. */
  advance(): 'rows' | 'wait' | 'end' {
    const { window, index } = this;
    for (;;) {
      if (index.cursor < index.completeEnd) return 'rows';
      if (index.defect !== null) throw malformed(index.defect.kind, index.lineOf(index.defect.address));
      if (!window.filling && index.scanned < window.scanEnd) {
        const isLimited = index.isScanLimited;
        if (!index.scan(window) && !isLimited) this.#checkIncompleteRow();
        continue;
      }
      if (!window.filling && window.complete) {
        if (index.rowStart < window.filled) this.#failOpenQuote();
        return 'end';
      }
      const ahead = window.filling ? 'alone' : (this.readAheadRows?.advance() ?? 'alone');
      if (ahead === 'wait') return 'wait';
      if (ahead === 'rows') continue;
      if (window.fill(index.rowStart) === 'wait') return 'wait';
      if (window.start !== index.rowStart) index.restart(window.start);
    }
  }

  /** True if no record follows. */
  get isAtEnd(): boolean {
    const { window, index } = this;
    const isScanned = index.cursor >= index.completeEnd && index.scanned >= window.scanEnd;
    return window.complete && !window.filling && isScanned && index.rowStart >= window.filled;
  }

  /** See RowReader. */
  resume(): void {
    this.window.resume();
    this.index.restart(this.window.start);
  }

  /** Call it after a 'wait'. */
  wait(): Promise<void> {
    return this.readAheadRows?.isAway ? this.readAheadRows.wait() : this.window.wait();
  }

  close(): void {
    this.readAheadRows?.close();
    this.window.close();
  }

  /**
   * See StructuralIndex.readLiterally. Stops reading ahead, because the other thread would continue after the row end
   * found so far.
   */
  readLiterally(address: number): void {
    this.readAheadRows?.stop();
    this.index.readLiterally(address);
  }

  /** Throws LateQuote if one of the indexed rows has a quoted field after spaces. Examines each row once. */
  failOnLateQuote(): void {
    const { index, window, heap } = this;
    if (index.isSearched) return;
    index.isSearched = true;
    failOnLateQuote(heap.u8, heap.u32, index, window.filled, { delimiter: this.#delimiter, quote: this.#quote });
  }

  #checkIncompleteRow(): void {
    const { window, index } = this;
    // If the index is full, the scanned bytes decide, not the bytes that happen to be in the window.
    const seenBytes = (index.full ? index.scanned : window.filled) - index.rowStart;
    const tooLong = seenBytes > ROW_BYTES_MAX + LINE_BREAK_BYTES;
    if (tooLong || index.full) throw malformed(tooLong ? 'row' : 'columns', index.lineOf(index.rowStart));
  }

  #failOpenQuote(): never {
    const { window, index } = this;
    const at = openQuote(this.heap.u8, index.rowStart, window.filled, this.#delimiter, this.#quote);
    throw malformed('quote', index.lineOf(at));
  }
}

// Reads single records of the structural index as texts, for the records before the data rows. Too slow for data rows.

const LF = 10;
const CR = 13;

const LINE_BREAK = /[\n\r]/;

/** @param quote '' for no quote */
function leadingRecords(feed: RecordFeed, quote: string): LeadingRecords {
  return new IndexedRecord(feed, quote);
}

/**
 * The record at the cursor of the index. One object serves all records: most records are only skipped, and there may be
 * millions.
 */
class IndexedRecord implements LeadingRecord, LeadingRecords {
  readonly #feed: RecordFeed;
  fields = 0;
  blank = true;
  readonly #heap: Heap;
  readonly #index: StructuralIndex;
  readonly #quote: string;
  /** Address after the last structural of the record. */
  #after = 0;

  constructor(feed: RecordFeed, quote: string) {
    this.#feed = feed;
    this.#heap = feed.heap;
    this.#index = feed.index;
    this.#quote = quote;
  }

  peek(): LeadingRecord | 'wait' | 'end' {
    const state = this.#feed.advance();
    return state === 'rows' ? this.#look() : state;
  }

  wait(): Promise<void> {
    return this.#feed.window.wait();
  }

  get line(): number {
    return this.#index.lineOf(this.#index.rowStart);
  }

  #look(): this {
    const { u8, u32 } = this.#heap;
    const { cursor, rowStart } = this.#index;
    let entry = cursor;
    while (u8[u32[entry >>> 2]!] !== LF && u8[u32[entry >>> 2]!] !== CR) entry += 4;
    this.fields = (entry - cursor) / 4 + 1;
    this.blank = entry === cursor && textEnd(u8, rowStart, u32[entry >>> 2]!) === rowStart;
    this.#after = entry + 4;
    return this;
  }

  skip(): void {
    const index = this.#index;
    index.rowStart = this.#heap.u32[(this.#after >>> 2) - 1]! + 1;
    index.cursor = this.#after;
    index.rowEnds--;
  }

  swallowedLine(): number {
    const { u8, u32 } = this.#heap;
    const index = this.#index;
    // Returns early: most files have no misplaced quote, and millions of records may be skipped.
    if (!index.literal || this.#quote === '') return 0;
    let start = index.rowStart;
    for (let field = 0; field < this.fields; field++) {
      const end = u32[(index.cursor >>> 2) + field]!;
      const text = utf8Text(u8, start, textEnd(u8, start, end) - start);
      if (cleanText(text, this.#quote) === null && LINE_BREAK.test(text)) return index.lineOf(start);
      start = end + 1;
    }
    return 0;
  }

  read(): { texts: string[]; strayLine: number } {
    const { u8, u32 } = this.#heap;
    const index = this.#index;
    const texts: string[] = [];
    let stray = 0;
    let start = index.rowStart;
    for (let field = 0; field < this.fields; field++) {
      const end = u32[(index.cursor >>> 2) + field]!;
      const text = utf8Text(u8, start, textEnd(u8, start, end) - start);
      const clean = cleanText(text, this.#quote);
      if (clean === null && stray === 0) stray = start;
      texts.push(clean ?? text);
      start = end + 1;
    }
    return { texts, strayLine: stray === 0 ? 0 : index.lineOf(stray) };
  }
}

/** Returns the end of a field's text. The CR of a CRLF belongs to the line break. */
function textEnd(u8: Uint8Array, start: number, end: number): number {
  return u8[end] === LF && end > start && u8[end - 1] === CR ? end - 1 : end;
}

/** Returns the text of a field without its quotes, or null if text after the closing quote makes the field literal. */
function cleanText(text: string, quote: string): string | null {
  if (quote === '' || !text.startsWith(quote)) return text;
  const inner = text.slice(1, -1);
  if (text.length < 2 || !text.endsWith(quote) || inner.replaceAll(quote + quote, '').includes(quote)) return null;
  return inner.replaceAll(quote + quote, quote);
}

/** Quote byte for the kernels if there is no quote. Valid UTF-8 never contains it, and invalid text fails anyway. */
const NO_QUOTE = 0xff;

/** Delimiter byte for the kernels if there is no delimiter, for the same reason. */
const NO_DELIMITER = 0xfe;

/** Raw columns shared by all Runs of a thread: they never change, and most files have no more columns. */
const FIRST_COLUMNS: readonly RawColumn[] = Array.from({ length: 64 }, (_, field) => ({ kind: 'raw', field }));

function rawColumns(count: number): readonly RawColumn[] {
  if (count <= FIRST_COLUMNS.length) return FIRST_COLUMNS.slice(0, count);
  return Array.from({ length: count }, (_, field) => FIRST_COLUMNS[field] ?? { kind: 'raw', field });
}

/**
 * Reads up to and including the header, waiting for bytes. The dialect must be a fast one (isFastDialect). Throws
 * Failed (MALFORMED_FILE) and closes the source.
 */
export function* openCsvReader(parts: CsvReaderParts): Coroutine<RowReader> {
  const { heap, kernel, dialect } = parts;
  const delimiter = dialect.delimiter === '' ? NO_DELIMITER : dialect.delimiter.charCodeAt(0);
  const quote = dialect.quote === '' ? NO_QUOTE : dialect.quote.charCodeAt(0);
  const window = new Window(heap, parts.source, parts.largeRow, parts.windowBytes ?? WINDOW_BYTES, {
    atStart: parts.headers === undefined,
  });
  try {
    while (window.fill(window.start) === 'wait') yield window.wait();
    const index = new StructuralIndex(heap, kernel.exports, delimiter, quote, window.start);
    const feed = new RecordFeed(heap, window, index, delimiter, quote);
    const header = yield* headerOf(parts, feed);
    if (parts.readAhead !== undefined) feed.readAheadRows = new ReadAheadRows(parts.readAhead, window, index);
    return new CsvReader(parts, feed, header, delimiter, quote);
  } catch (error) {
    window.close();
    throw error;
  }
}

function* headerOf(parts: CsvReaderParts, feed: RecordFeed): Coroutine<CsvHeader> {
  const { dialect, headers, giveWay } = parts;
  if (headers !== undefined) return { texts: headers, blankRecords: 0 };
  const records = leadingRecords(feed, dialect.quote);
  return yield* readHeader(records, dialect, headerRules(parts), giveWay ?? goOnAtOnce);
}

class CsvReader implements RowReader {
  readonly head: FileHead;
  rowsRead = 0;
  readonly #parts: CsvReaderParts;
  readonly #feed: RecordFeed;
  readonly #table: RowTable;
  readonly #materialiser: Materialiser;
  readonly #counts: CodeCounts = {};
  readonly #columns: readonly RawColumn[];
  readonly #selection: RowNumbers;
  readonly #raw: RawTable;
  /** Same table as `#raw`, marked as plain. */
  readonly #plain: RawTable;
  #blankRows: number;
  /** Number of quotes so far that are not closed on their line. */
  #openQuotes = 0;

  constructor(parts: CsvReaderParts, feed: RecordFeed, header: CsvHeader, delimiter: number, quote: number) {
    const { heap, dialect } = parts;
    const kernel = parts.kernel.exports;
    const columns = header.texts.length;
    const nullTexts = placeNullTexts(heap, parts.nullValues, dialect.quote);
    this.#parts = parts;
    this.#feed = feed;
    this.#blankRows = columns === 1 ? header.blankRecords : 0;
    const raggedFails = parts.ragged === 'fail';
    const strayFails = parts.strayQuotes === 'fail';
    const escapeMarks = parts.escapesAreOpen === true ? dialect : null;
    const keepsExtra = rejectsRagged(parts);
    const rules = { columns, quote, raggedFails, strayFails, emptyIsNull: nullTexts.empty, keepsExtra, escapeMarks };
    this.#table = new RowTable(heap, kernel, rules, this.#counts);
    this.#materialiser = new Materialiser(heap, kernel, nullTexts, quote, columns);
    this.#columns = rawColumns(columns);
    this.#selection = new RowNumbers(heap);
    const { at } = this.#table;
    const rawQuote = dialect.quote === '' ? 0 : quote;
    this.#raw = { at, stride: columns + 1, delimiter, quote: rawQuote, plain: false };
    this.#plain = { at, stride: columns + 1, delimiter, quote: rawQuote, plain: true };
    this.head = headOf(parts, header.texts);
  }

  next(rowsMax: number): Batch | 'wait' | 'end' {
    const { index, window } = this.#feed;
    const table = this.#table;
    if (this.#blankRows > 0) {
      table.fillMissing(Math.min(this.#blankRows, rowsMax === 0 ? BATCH_ROWS_MAX : rowsMax), window.start);
      this.#blankRows -= table.rows;
      return this.#batch(rowsMax);
    }
    if (table.stop?.kind === 'swallowed') this.#keepRowsApart(table.stop.address);
    if (table.stop !== null) throw malformed(table.stop.kind, index.lineOf(table.stop.address));
    const state = this.#feed.advance();
    if (state === 'end') failWideRows(this.#counts, this.rowsRead, this.#columns.length, this.#parts);
    if (state !== 'rows') return state;
    if (index.literal && this.#parts.seeksLateQuotes === true) this.#feed.failOnLateQuote();
    table.take(index, rowsMax, this.rowsRead + 1);
    return this.#batch(rowsMax);
  }

  get raggedRows(): readonly RaggedRow[] {
    return rejectedLengths(this.#table.ragged, this.#parts.ragged);
  }

  get isAtEnd(): boolean {
    return this.#blankRows === 0 && this.#table.stop === null && this.#feed.isAtEnd;
  }

  /**
   * Treats a quote that is not closed on its line as an ordinary character, so that the following rows do not become
   * part of its cell.
   */
  #keepRowsApart(address: number): void {
    if (++this.#openQuotes > (this.#parts.openQuotesMax ?? OPEN_QUOTES_MAX)) return;
    this.#table.stop = null;
    this.#feed.readLiterally(address);
  }

  wait(): Promise<void> {
    return this.#feed.wait();
  }

  resume(): void {
    this.#feed.resume();
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#counts);
    reportSkipped(report, this.#parts);
  }

  close(): void {
    this.#feed.close();
  }

  #batch(rowsMax: number): Batch {
    const first = this.rowsRead + 1;
    this.rowsRead += this.#table.rows;
    const rows = rowsMax === 0 ? 0 : this.#table.rows;
    const batch = new Batch({
      arena: this.#parts.arena,
      rows,
      selection: this.#selection.upTo(rows),
      live: rows,
      columns: this.#columns,
      raw: this.#table.plain ? this.#plain : this.#raw,
      sourceRows: { first },
      materialise: this.#materialiser.views,
    });
    if (rows > 0) this.#materialiser.resolveNullTexts(batch);
    return batch;
  }
}
