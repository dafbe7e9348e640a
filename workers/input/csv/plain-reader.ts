// The plain CSV lane: dialects that the kernels do not read (delimiters of several bytes, other quotes), with the same
// rules, counts, ceilings and messages as the fast lane; its batches hold views.
import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { Failed } from '../../protocol/failure.ts';
import { type CodeCounts, countCode, type RunReport, tellComments } from '../../run/report.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import type { FileHead, RowReader } from '../reader.ts';
import { failWideRows, mergeCounts } from './counts.ts';
import { type CsvReaderParts, goOnAtOnce, headOf } from './csv-input.ts';
import { type CsvHeader, headerRules, readHeader } from './header.ts';
import { malformed } from './malformed.ts';
import { type PlainRecord, PlainRecords } from './plain-records.ts';
import { RowNumbers } from './row-numbers.ts';
import { WINDOW_BYTES, Window } from './window.ts';

/** Cells of a batch at most: 256 KiB of views. */
const CELLS_MAX = 32_768;

/** Stands for no delimiter: a text that holds it fails as no text. */
const NO_DELIMITER = '\0';

type Row = readonly (string | null)[];

/** As openCsvReader, for any dialect. */
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
  #blankRows: number;

  constructor(parts: CsvReaderParts, window: Window, records: PlainRecords, header: CsvHeader) {
    const { heap } = parts;
    this.#parts = parts;
    this.#window = window;
    this.#records = records;
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
    // Blank lines are looked at in chunks too: between them the thread gives way.
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

  wait(): Promise<void> {
    return this.#window.wait();
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#counts);
    tellComments(report, this.#parts.comments);
  }

  close(): void {
    this.#window.close();
  }

  /** null: a blank line. @param later a failure may wait until the rows before it were handed out: it comes again */
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
    if (this.#parts.ragged === 'fail' && (extra || texts.length < columns)) throw malformed('ragged', line);
    if (this.#parts.strayQuotes === 'fail' && record.strays > 0) throw malformed('stray', record.read().strayLine);
    if (extra) countCode(this.#counts, 'RAGGED_ROW', sourceRow);
    for (let stray = 0; stray < record.strays; stray++) countCode(this.#counts, 'STRAY_QUOTE', sourceRow);
    const row: (string | null)[] = [];
    for (let column = 0; column < columns; column++) {
      const text = texts[column];
      row.push(text === undefined || this.#nullTexts.has(text) ? null : text);
    }
    return row;
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
        throw new Error('the plain lane has no raw columns');
      },
    });
  }

  #write(view: number, text: string | null): void {
    const { arena, heap } = this.#parts;
    // Writing may move the arena on, so the address is told from behind.
    const bytes = text === null ? 0 : arena.write(text);
    heap.u32[view >>> 2] = text === null ? 0 : arena.next - bytes;
    heap.u32[(view >>> 2) + 1] = bytes;
  }
}
