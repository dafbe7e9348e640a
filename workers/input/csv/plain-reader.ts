// The slow CSV reader, for dialects that the kernels do not support: splits bytes into records with csv-parse, and
// records into cells.

import { isUtf8 } from 'node:buffer';
import { Parser } from 'csv-parse';
import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import { type CodeCounts, countCode, type RunReport, reportSkipped } from '../../protocol/report.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';
import type { FileHead, RowReader } from '../reader.ts';
import { type CsvReaderParts, failWideRows, goOnAtOnce, headOf, malformed, mergeCounts } from './csv-input.ts';
import { type CsvHeader, headerRules, type LeadingRecord, type LeadingRecords, readHeader } from './header.ts';
import { countLineBreaks, invalidLine } from './lines.ts';
import { isLikelyEscaped } from './row-table.ts';
import { type RaggedRow, RowNumbers, rejectedLengths, rejectsRagged } from './selected-rows.ts';
import { WINDOW_BYTES, Window } from './window.ts';

// Splits bytes into records with csv-parse, for dialects that the kernels do not support. The only importer of
// csv-parse. Drives the parser step by step instead of as a stream, so that a reader can request rows synchronously.

interface ParsedRecord {
  readonly fields: readonly string[];
  /** Number of bytes fed up to the end of the record's line break. */
  readonly end: number;
}

class RecordParser {
  #records: ParsedRecord[] = [];
  readonly #parser: SteppedParser;

  /** @param quote '' for no quote */
  constructor(delimiter: string, quote: string) {
    this.#parser = new SteppedParser(delimiter, quote, (fields, end) => this.#records.push({ fields, end }));
  }

  /** The parser keeps the last bytes, so they must not change afterwards. */
  feed(bytes: Buffer): void {
    this.#parser._transform(bytes, 'utf8', throwFault);
  }

  /** Number of fields that have been read of the current record. */
  get openFields(): number {
    return this.#parser.state.record.length;
  }

  /** Signals the end of input. Returns false if a quoted field is still open. */
  finish(): boolean {
    let closed = true;
    this.#parser._flush((error) => {
      if (error === null || error === undefined) return;
      if ((error as { code?: string }).code !== 'CSV_QUOTE_NOT_CLOSED') throw error;
      closed = false;
    });
    return closed;
  }

  /** Returns the records parsed since the last call. */
  take(): ParsedRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}

class SteppedParser extends Parser {
  declare readonly state: { readonly record: readonly string[] };
  readonly #take: (fields: readonly string[], end: number) => void;

  constructor(delimiter: string, quote: string, take: (fields: readonly string[], end: number) => void) {
    super({
      delimiter,
      quote: quote === '' ? null : quote,
      escape: quote === '' ? null : quote,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
    });
    this.#take = take;
  }

  /** Called by csv-parse for each record. */
  override push(fields: readonly string[] | null): boolean {
    if (fields !== null) this.#take(fields, this.info.bytes);
    // csv-parse compares the number of fields with that of the first record, and copies each record that differs into an
    // error that is never read. With a count of 0, it takes each record for the first one and compares nothing.
    (this.info as { records: number }).records = 0;
    return true;
  }
}

function throwFault(error?: Error | null): void {
  if (error !== null && error !== undefined) throw error;
}

// Splits the text of one record exactly by the rules of docs/reference/input.md, in any dialect. Used if csv-parse has
// lost how a field was written (text after a closing quote), and to find positions in a record.

interface SplitRecord {
  readonly texts: readonly string[];
  /** Start of each field. */
  readonly starts: readonly number[];
  /** Indexes of fields with text after their closing quote. */
  readonly strays: readonly number[];
  /** Start of the quoted field that is not closed, or -1. */
  readonly open: number;
}

/** @param quote '' for no quote */
function splitRecord(text: string, delimiter: string, quote: string): SplitRecord {
  const texts: string[] = [];
  const starts: number[] = [];
  const strays: number[] = [];
  let at = 0;
  for (;;) {
    const start = at;
    starts.push(start);
    const closing = quote !== '' && text.startsWith(quote, at) ? closingQuote(text, quote, at + quote.length) : -2;
    if (closing === -1) return { texts, starts, strays, open: start };
    const from = closing === -2 ? start : closing + quote.length;
    at = fieldEnd(text, from, delimiter);
    if (closing === -2 || at > from) {
      if (closing !== -2) strays.push(texts.length);
      texts.push(text.slice(start, at));
    } else texts.push(text.slice(start + quote.length, closing).replaceAll(quote + quote, quote));
    if (!text.startsWith(delimiter, at)) return { texts, starts, strays, open: -1 };
    at += delimiter.length;
  }
}

function closingQuote(text: string, quote: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at >= 0 && text.startsWith(quote, at + quote.length)) at = text.indexOf(quote, at + 2 * quote.length);
  return at;
}

function fieldEnd(text: string, from: number, delimiter: string): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '\n' || character === '\r' || text.startsWith(delimiter, at)) return at;
  }
  return text.length;
}

// Records of the slow CSV reader, one by one in file order, with their errors. Runs csv-parse over the same window that
// the fast reader uses.

/** Bytes that csv-parse holds back: a line break and its look-ahead. */
const HELD_BACK_BYTES = 66;

/** Number of bytes that csv-parse receives at a time. */
const PIECE_BYTES = 32_768;

/** Number of bytes that it receives between two pauses: a few milliseconds of work if each is a delimiter or a quote. */
const TURN_BYTES = 4 * PIECE_BYTES;

const LF = 10;
const CR = 13;

const LINE_BREAK = /[\n\r]/;

interface PlainRecord extends LeadingRecord {
  readonly texts: readonly string[];
  /** Number of fields with text after their closing quote. */
  readonly strays: number;
  /** Returns the bytes of the record with its line break. Valid until the next record is requested. */
  raw(): Uint8Array;
}

class PlainRecords implements LeadingRecords {
  readonly #heap: Heap;
  readonly #window: Window;
  readonly #delimiter: string;
  readonly #quote: string;
  readonly #parser: RecordParser;
  #ready: ParsedRecord[] = [];
  #taken = 0;
  /** Address, line number and offset in the fed bytes of the next record. */
  #start: number;
  #line = 1;
  #offset = 0;
  /** Address up to which bytes have been fed to the parser. */
  #fed: number;
  #finished = false;
  #peeked: PlainRecord | null = null;
  /** Bytes fed since the last pause. */
  #fedInTurn = 0;
  /** True if the last `peek` stopped so that other work of the thread gets its turn. */
  #isResting = false;
  /** A record with more fields fails before its end. */
  fieldsMax = Number.POSITIVE_INFINITY;

  constructor(heap: Heap, window: Window, delimiter: string, quote: string) {
    this.#heap = heap;
    this.#window = window;
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.#parser = new RecordParser(delimiter, quote);
    this.#start = window.start;
    this.#fed = window.start;
  }

  /** Throws Failed at every call if the next record cannot be read. */
  peek(): PlainRecord | 'wait' | 'end' {
    if (this.#peeked !== null) return this.#peeked;
    for (;;) {
      const parsed = this.#ready[this.#taken];
      if (parsed !== undefined) {
        this.#peeked = this.#judge(parsed);
        this.#taken++;
        return this.#peeked;
      }
      if (this.#parser.openFields > this.fieldsMax) throw malformed('columns', this.#line);
      if (this.#window.filling || this.#fed === this.#window.textEnd) {
        const filled = this.#fill();
        if (filled !== 'filled') return filled;
      } else if (this.#fedInTurn >= TURN_BYTES) {
        this.#fedInTurn = 0;
        this.#isResting = true;
        return 'wait';
      } else this.#feed();
    }
  }

  /** Reads more bytes into the window, after the parser has received all of its bytes. */
  #fill(): 'filled' | 'wait' | 'end' {
    const window = this.#window;
    this.#isResting = false;
    if (!window.filling) {
      if (window.complete && this.#finished) return this.#end();
      if (window.filled - this.#start > ROW_BYTES_MAX + HELD_BACK_BYTES) throw malformed('row', this.#line);
    }
    if (window.complete && !window.filling) {
      this.#finished = true;
      this.#parser.finish();
      this.#takeParsed();
      return 'filled';
    }
    if (window.fill(this.#start) === 'wait') return 'wait';
    this.#fed += window.start - this.#start;
    this.#start = window.start;
    return 'filled';
  }

  #feed(): void {
    const end = Math.min(this.#fed + PIECE_BYTES, this.#window.textEnd);
    // The bytes are copied, because the parser holds back the last ones, and the window moves.
    this.#parser.feed(Buffer.from(this.#heap.u8.subarray(this.#fed, end)));
    this.#fedInTurn += end - this.#fed;
    this.#fed = end;
    this.#takeParsed();
  }

  #takeParsed(): void {
    this.#ready = this.#parser.take();
    this.#taken = 0;
  }

  skip(): void {
    this.#peeked = null;
  }

  async wait(): Promise<void> {
    if (this.#isResting) await new Promise((resolve) => setImmediate(resolve));
    else await this.#window.wait();
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
    const swallowed = exact?.strays.find((field) => LINE_BREAK.test(exact.texts[field]!));
    const swallowedLine = swallowed === undefined ? 0 : this.#lineIn(text, exact!.starts[swallowed]!);
    const record: PlainRecord = {
      texts,
      fields: texts.length,
      blank: contentEnd(u8, start, end) === start,
      line: this.#line,
      strays: exact?.strays.length ?? 0,
      read: () => ({ texts, strayLine }),
      swallowedLine: () => swallowedLine,
      // `raw` is a function, because growing memory detaches earlier views.
      raw: () => this.#heap.u8.subarray(start, end),
    };
    this.#line += countLineBreaks(u8, start, end);
    this.#start = end;
    this.#offset = parsed.end;
    return record;
  }

  /** Throws the earliest of these errors: a cell above the limit, a NUL byte, a line that is not UTF-8. */
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

/** Returns the start of the record's line break. */
function contentEnd(u8: Uint8Array, start: number, end: number): number {
  if (u8[end - 1] === LF && end - 1 > start && u8[end - 2] === CR) return end - 2;
  return u8[end - 1] === LF || u8[end - 1] === CR ? end - 1 : end;
}

/** Returns the number of bytes before the first cell above the limit, or -1. */
function longCell(text: string, exact: SplitRecord, delimiter: string): number {
  for (const [field, start] of exact.starts.entries()) {
    const next = exact.starts[field + 1];
    const raw =
      next === undefined ? text.slice(start).replace(/\r?\n$|\r$/, '') : text.slice(start, next - delimiter.length);
    if (Buffer.byteLength(raw) > CELL_BYTES_MAX) return Buffer.byteLength(text.slice(0, start));
  }
  return -1;
}

// The slow CSV reader, for dialects that the kernels do not support (delimiters of several bytes, other quotes). It has
// the same rules, counts, limits and messages as the fast reader. Its batches contain views.

/** Maximum number of cells in a batch: 256 KiB of views. */
const CELLS_MAX = 32_768;

/** Delimiter if there is no delimiter: a text that contains it fails anyway, as it is not text. */
const NO_DELIMITER = '\0';

type Row = readonly (string | null)[];

/** Same as openCsvReader, for any dialect. */
export function* openPlainReader(parts: CsvReaderParts): Coroutine<RowReader> {
  const { heap, dialect } = parts;
  const window = new Window(heap, parts.source, parts.largeRow, parts.windowBytes ?? WINDOW_BYTES);
  try {
    const records = new PlainRecords(heap, window, dialect.delimiter || NO_DELIMITER, dialect.quote);
    const header = yield* readHeader(records, dialect, headerRules(parts), parts.giveWay ?? goOnAtOnce);
    return new PlainReader(parts, window, records, header);
  } catch (error) {
    window.close();
    throw error;
  }
}

class PlainReader implements RowReader {
  readonly head: FileHead;
  rowsRead = 0;
  readonly #parts: CsvReaderParts;
  readonly #window: Window;
  readonly #records: PlainRecords;
  readonly #columns: number;
  readonly #nullTexts: ReadonlySet<string>;
  readonly #counts: CodeCounts = {};
  readonly #rowsMax: number;
  readonly #selection: RowNumbers;
  #ragged: RaggedRow[] = [];
  #blankRows: number;

  constructor(parts: CsvReaderParts, window: Window, records: PlainRecords, header: CsvHeader) {
    const { heap } = parts;
    this.#parts = parts;
    this.#window = window;
    this.#records = records;
    records.fieldsMax = COLUMNS_MAX;
    this.#columns = header.texts.length;
    this.#nullTexts = new Set(parts.nullValues);
    this.#rowsMax = Math.min(BATCH_ROWS_MAX, Math.max(1, Math.floor(CELLS_MAX / this.#columns)));
    this.#blankRows = this.#columns === 1 ? header.blankRecords : 0;
    this.#selection = new RowNumbers(heap);
    this.head = headOf(parts, header.texts);
  }

  next(rowsMax: number): Batch | 'wait' | 'end' {
    const limit = rowsMax === 0 ? this.#rowsMax : Math.min(rowsMax, this.#rowsMax);
    const rows: Row[] = [];
    this.#ragged = [];
    // Blank lines are read in chunks as well, and the thread yields between chunks.
    for (let looked = 0; rows.length < limit && looked < BATCH_ROWS_MAX; looked++) {
      const row = this.#nextRow(this.rowsRead + rows.length + 1, rows.length > 0);
      if (typeof row === 'string') {
        if (rows.length > 0) break;
        if (row === 'end') failWideRows(this.#counts, this.rowsRead, this.#columns, this.#parts);
        return row;
      }
      if (row !== null) rows.push(row);
    }
    const first = this.rowsRead + 1;
    this.rowsRead += rows.length;
    return this.#batch(rowsMax === 0 ? [] : rows, first);
  }

  get raggedRows(): readonly RaggedRow[] {
    return rejectedLengths(this.#ragged, this.#parts.ragged);
  }

  wait(): Promise<void> {
    return this.#records.wait();
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#counts);
    reportSkipped(report, this.#parts);
  }

  close(): void {
    this.#window.close();
  }

  /**
   * Returns null for a blank line.
   * @param later whether a failure may wait until the rows before it are emitted; the next call then throws it
   */
  #nextRow(sourceRow: number, later: boolean): Row | null | 'wait' | 'end' {
    if (this.#blankRows > 0) {
      this.#blankRows--;
      return [null];
    }
    try {
      const record = this.#records.peek();
      if (typeof record === 'string') return record;
      const row = this.#row(record, sourceRow);
      this.#records.skip();
      return row;
    } catch (error) {
      if (later && error instanceof Failed) return 'wait';
      throw error;
    }
  }

  #row(record: PlainRecord, sourceRow: number): Row | null {
    const { texts, line } = record;
    const columns = this.#columns;
    if (record.blank) return columns === 1 ? [null] : null;
    const extra = texts.length > columns && texts.slice(columns).some((text) => text !== '');
    if (texts.length > COLUMNS_MAX) throw malformed('columns', line);
    if (this.#isLikelyEscaped(record, extra)) throw malformed('escape', line);
    if (record.swallowedLine() !== 0) throw malformed('swallowed', record.swallowedLine());
    if (this.#parts.ragged === 'fail' && (extra || texts.length < columns)) throw malformed('ragged', line);
    if (this.#parts.strayQuotes === 'fail' && record.strays > 0) throw malformed('stray', record.read().strayLine);
    if (extra || texts.length < columns) {
      const code = extra ? 'RAGGED_ROW' : 'SHORT_ROW';
      countCode(this.#counts, code, sourceRow);
      this.#ragged.push({ row: sourceRow - this.rowsRead - 1, code, extra: extra ? this.#extraOf(texts) : null });
    }
    for (let stray = 0; stray < record.strays; stray++) countCode(this.#counts, 'STRAY_QUOTE', sourceRow);
    const row: (string | null)[] = [];
    for (let column = 0; column < columns; column++) {
      const text = texts[column];
      row.push(text === undefined || this.#nullTexts.has(text) ? null : text);
    }
    return row;
  }

  /** Text of the additional cells. A cell that needs quotes gets them again. */
  #extraOf(texts: readonly string[]): string | null {
    const { dialect } = this.#parts;
    if (!rejectsRagged(this.#parts)) return null;
    const { delimiter, quote } = dialect;
    const written = texts.slice(this.#columns).map((text) => {
      if (quote === '' || !(text.includes(delimiter) || text.includes(quote) || /[\r\n]/.test(text))) return text;
      return quote + text.replaceAll(quote, quote + quote) + quote;
    });
    return written.join(delimiter);
  }

  #isLikelyEscaped({ raw, texts, strays }: PlainRecord, isLong: boolean): boolean {
    if (this.#parts.escapesAreOpen !== true) return false;
    const faults = { isLong, isShort: texts.length < this.#columns, hasStrays: strays > 0 };
    const isOdd = faults.isLong || faults.isShort || faults.hasStrays;
    return isOdd && isLikelyEscaped(raw(), this.#parts.dialect, faults);
  }

  #batch(rows: readonly Row[], first: number): Batch {
    const { arena } = this.#parts;
    const columns: ViewsColumn[] = [];
    for (let column = 0; column < this.#columns; column++) {
      const at = arena.take(rows.length * VIEW_BYTES);
      for (let row = 0; row < rows.length; row++) this.#write(at + row * VIEW_BYTES, rows[row]![column] ?? null);
      columns.push({ kind: 'views', at });
    }
    return new Batch({
      arena,
      rows: rows.length,
      selection: this.#selection.upTo(rows.length),
      live: rows.length,
      columns,
      raw: null,
      sourceRows: { first },
      materialise: () => {
        throw new Error('the plain CSV reader has no raw columns');
      },
    });
  }

  #write(view: number, text: string | null): void {
    const { arena, heap } = this.#parts;
    // Writing may move the arena, so the address is computed backwards from its end.
    const bytes = text === null ? 0 : arena.write(text);
    heap.u32[view >>> 2] = text === null ? 0 : arena.next - bytes;
    heap.u32[(view >>> 2) + 1] = bytes;
  }
}
