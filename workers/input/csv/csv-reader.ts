// The CSV fast lane: bytes to batches whose columns stay raw in the window until somebody asks for their text.
import { BATCH_ROWS_MAX, Batch, type RawColumn, type RawTable } from '../../batch/batch.ts';
import { type CodeCounts, type RunReport, tellComments } from '../../run/report.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { ReadAheadRows } from '../read-ahead/read-ahead-rows.ts';
import type { FileHead, RowReader } from '../reader.ts';
import { failWideRows, mergeCounts } from './counts.ts';
import { type CsvReaderParts, goOnAtOnce, headOf } from './csv-input.ts';
import { type CsvHeader, headerRules, readHeader } from './header.ts';
import { malformed } from './malformed.ts';
import { Materialiser } from './materialiser.ts';
import { placeNullTexts } from './null-texts.ts';
import { leadingRecords } from './record.ts';
import { RecordFeed } from './record-feed.ts';
import { RowNumbers } from './row-numbers.ts';
import { RowTable } from './row-table.ts';
import { StructuralIndex } from './structural-index.ts';
import { WINDOW_BYTES, Window } from './window.ts';

/** Stands for no quote in the kernels: valid UTF-8 never holds it, and a text that does fails as not valid. */
const NO_QUOTE = 0xff;

/** Stands for no delimiter, for the same reason. */
const NO_DELIMITER = 0xfe;

/** Of most files, and of all Runs of a thread the same: they never change. */
const FIRST_COLUMNS: readonly RawColumn[] = Array.from({ length: 64 }, (_, field) => ({ kind: 'raw', field }));

function rawColumns(count: number): readonly RawColumn[] {
  if (count <= FIRST_COLUMNS.length) return FIRST_COLUMNS.slice(0, count);
  return Array.from({ length: count }, (_, field) => FIRST_COLUMNS[field] ?? { kind: 'raw', field });
}

/**
 * Reads up to the header, waiting for bytes. The dialect must be a fast one (isFastDialect). Throws Failed
 * (MALFORMED_FILE); the source is then closed.
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
  /** The same, where the table is plain. */
  readonly #plain: RawTable;
  #blankRows: number;

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
    const rules = { columns, quote, raggedFails, strayFails, emptyIsNull: nullTexts.empty };
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
    if (table.stop !== null) throw malformed(table.stop.kind, index.lineOf(table.stop.address));
    const state = this.#feed.advance();
    if (state === 'end') failWideRows(this.#counts, this.rowsRead, this.#columns.length, this.#parts);
    if (state !== 'rows') return state;
    table.take(index, rowsMax, this.rowsRead + 1);
    return this.#batch(rowsMax);
  }

  wait(): Promise<void> {
    return this.#feed.wait();
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#counts);
    tellComments(report, this.#parts.comments);
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
