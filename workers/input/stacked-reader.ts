// Reads several files one after the other as one table: the files of an archive, or the inputs of one command. Only one
// file is open at a time, and its memory is released before the next file is opened.
//
// States of the reader: a file is open; between two files (`next` returns 'wait', and `wait` opens the next file); ended.
import type { Batch, ColumnData, ViewsColumn } from '../batch/batch.ts';
import { columnsShown } from '../batch/schema.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Heap } from '../memory/heap.ts';
import { Failed } from '../protocol/failure.ts';
import type { RunReport } from '../protocol/report.ts';
import { type Coroutine, inSlices, runCoroutine } from '../scheduling/coroutine.ts';
import { mergeCounts } from './csv/csv-input.ts';
import type { RaggedRow } from './csv/selected-rows.ts';
import { NOTHING_TRIED } from './encoding/encoding.ts';
import type { FileSettings } from './format.ts';
import { missingMetaFailure } from './meta-values.ts';
import type { FileHead, MetaValues, PlacedFile, RowReader } from './reader.ts';
import { type FirstTable, firstTable, placesInFirst } from './stacked-columns.ts';

/** A file that is read after others. */
export interface StackedFile {
  /** Name without folders, or null. Only the output and messages for the owner of the file contain it. */
  readonly name: string | null;
  readonly ending: string;
  /** Returns the rows of the file, or the files of an archive, which take its place. */
  open(settings: FileSettings): Coroutine<RowReader | readonly StackedFile[]>;
  /** Releases what `open` does not close. */
  close?(): void;
}

/** The file that is open. */
interface OpenFile {
  readonly file: StackedFile;
  readonly reader: RowReader;
  /** For each column of the stack, the column of the file, or -1 for a column of nulls. Null if they are the same. */
  readonly columns: readonly number[] | null;
}

/** Counts of what readers left out. */
const SKIPPED = ['comment_lines', 'nul_bytes', 'nan_values', 'values_beside_list'] as const;

/** Fixed heap memory for one file that has been read, in bytes: its name and its values above the table. */
const FILE_BYTES = 200;

const NO_HEAD: FileHead = {
  format: '',
  type: '',
  encoding: '',
  delimiter: null,
  quote: null,
  headerRow: null,
  headers: [],
};

/** Reads the head of the first file. Throws Failed. */
export function* openStack(files: readonly StackedFile[], settings: FileSettings): Coroutine<RowReader> {
  const reader = new StackedReader(files, settings);
  try {
    yield* reader.openNext();
    return reader;
  } catch (error) {
    reader.close();
    throw error;
  }
}

class StackedReader implements RowReader {
  head: FileHead = NO_HEAD;
  readonly #settings: FileSettings;
  readonly #heap: Heap;
  /** Files that have not been opened yet, in reverse order: taking the next one from the end copies nothing. */
  readonly #waiting: StackedFile[];
  #open: OpenFile | null = null;
  #first: FirstTable = { texts: [], added: [], fields: null };
  /** Regions of the heap that the open file uses, with their sizes. */
  readonly #regions = new Map<number, number>();
  #used: ReadonlySet<number> | null = null;
  /** First row, name and values of each file so far. */
  readonly #firstRows: number[] = [];
  readonly #names: (string | null)[] = [];
  readonly #metas: MetaValues[] = [];
  /** Rows of the files before the open one. */
  #rowsBefore = 0;
  /** How later files were read, if that was detected and the head does not show it. */
  #read: Partial<Pick<FileHead, 'encoding' | 'encodingGuess' | 'escape' | 'quotesAfterSpace'>> = {};
  /** Sum of the input reports of the files before the open one. */
  readonly #said = emptyInput();

  constructor(files: readonly StackedFile[], settings: FileSettings) {
    this.#waiting = files.toReversed();
    this.#settings = settings;
    this.#heap = settings.arena.heap;
  }

  get rowsRead(): number {
    return this.#rowsBefore + (this.#open?.reader.rowsRead ?? 0);
  }

  get raggedRows(): readonly RaggedRow[] {
    return this.#open?.reader.raggedRows ?? [];
  }

  next(rowsMax: number): Batch | 'wait' | 'end' {
    if (this.#open === null) return this.#waiting.length === 0 ? 'end' : 'wait';
    const { reader } = this.#open;
    const batch = this.#noting(() => reader.next(rowsMax));
    if (batch === 'wait') return 'wait';
    if (batch !== 'end') return this.#placed(batch);
    this.#closeFile();
    return this.next(rowsMax);
  }

  async wait(): Promise<void> {
    if (this.#open !== null) {
      await this.#open.reader.wait();
      return;
    }
    // Thousands of files may have no rows, so other Runs get their turn between two files.
    await new Promise((resolve) => setImmediate(resolve));
    await runCoroutine(this.openNext());
  }

  useColumns(fields: Iterable<number>): void {
    this.#used = new Set(fields);
    this.#passUsedColumns();
  }

  fileOf(row: number): PlacedFile | null {
    let index = this.#firstRows.length - 1;
    if (this.#firstRows[index]! > row) {
      let low = 0;
      while (index - low > 1) {
        const middle = (low + index) >>> 1;
        if (this.#firstRows[middle]! <= row) low = middle;
        else index = middle;
      }
      index = low;
    }
    const [name = null, meta = {}] = [this.#names[index], this.#metas[index]];
    return { number: index + 1, name, meta, row: row - this.#firstRows[index]! + 1 };
  }

  describe(report: RunReport): void {
    this.#describeOpen();
    const { errors, ...skipped } = this.#said.input;
    mergeCounts(report.input.errors, errors);
    for (const name of SKIPPED) if ((skipped[name] ?? 0) > 0) report.input[name] = skipped[name]!;
    report.input.files = this.#firstRows.length;
    if (this.#read.escape !== undefined) report.input.escape = this.#read.escape;
    if (this.#read.quotesAfterSpace === true) report.input.quotes_after_space = true;
    if (this.#read.encodingGuess === undefined || report.input.encoding_guess !== undefined) return;
    report.input.encoding = this.#read.encoding!;
    report.input.encoding_guess = this.#read.encodingGuess;
  }

  close(): void {
    this.#closeFile();
    for (const file of this.#waiting.splice(0).reverse()) file.close?.();
  }

  /** Opens the next file. Throws Failed. */
  *openNext(): Coroutine<void> {
    for (;;) {
      const file = this.#waiting.at(-1)!;
      const number = this.#firstRows.length + 1;
      this.#heap.noteRegions(this.#regions);
      try {
        const opened = yield* file.open(this.#settingsOf(file, number));
        this.#waiting.pop();
        if ('next' in opened) {
          this.#open = { file, reader: opened, columns: null };
          this.#open = { file, reader: opened, columns: yield* this.#columnsOf(file, opened, number) };
          this.#begin(file, opened);
          return;
        }
        for (const inner of opened.toReversed()) this.#waiting.push(inner);
      } catch (error) {
        throw labelled(error, number, file.name);
      } finally {
        this.#heap.noteRegions(null);
      }
    }
  }

  #settingsOf({ ending }: StackedFile, number: number): FileSettings {
    const { encodingTries, readAhead: _readAhead, more: _more, ...settings } = this.#settings;
    return { ...settings, ending, encodingTries: encodingTries?.files?.get(number) ?? NOTHING_TRIED };
  }

  *#columnsOf(file: StackedFile, { head }: RowReader, number: number): Coroutine<readonly number[] | null> {
    const { expected } = this.#settings;
    if (number === 1) {
      this.#first = yield* inSlices(firstTable(head.headers, expected), this.#settings);
      this.head = this.#headOf(file, { ...head, headers: [...head.headers, ...this.#first.added] });
      return this.#first.added.length === 0 ? null : this.#columnsFrom(head.headers.map((_, at) => at));
    }
    if (head.hasKinds !== undefined && this.head.hasKinds === undefined) throw new Failed('MALFORMED_FILE', OTHER_TYPE);
    const places = yield* inSlices(placesInFirst(this.#first, head.headers, expected), this.#settings);
    if (places === null) throw otherHeader(head.headers);
    const lack = missingMetaFailure(this.#settings.input, head.meta);
    if (lack !== null) throw new Failed(lack.code, lack.message);
    return this.#columnsFrom(places);
  }

  /** @param places for each column of the file, its place in the stack or -1 */
  #columnsFrom(places: readonly number[]): readonly number[] {
    const { texts, added } = this.#first;
    const columns = new Array<number>(texts.length + added.length).fill(-1);
    for (const [column, place] of places.entries()) if (place >= 0) columns[place] = column;
    return columns;
  }

  /** Cells may have kinds if a later file may have kinds. */
  #headOf(file: StackedFile, head: FileHead): FileHead {
    const isMixed = head.hasKinds !== undefined || this.#waiting.some(({ ending }) => ending !== file.ending);
    return { ...head, isRewritten: true, ...(isMixed && { hasKinds: head.headers.map(() => true) }) };
  }

  #begin({ name }: StackedFile, { head }: RowReader): void {
    const { meta = {} } = head;
    const differing =
      this.#metas.length === 0 ? [] : Object.keys(meta).filter((key) => meta[key] !== this.#metas[0]![key]);
    if (differing.length > 0 && this.#settings.needsOneMeta === true)
      throw new Failed('TEMPLATE_CHECK_FAILED', OTHER_META);
    const isSame = this.#metas.length > 0 && differing.length === 0;
    const metaBytes = isSame ? 0 : JSON.stringify(meta).length * 2;
    this.#settings.takeMemory?.(FILE_BYTES + metaBytes);
    this.#firstRows.push(this.#rowsBefore + 1);
    this.#names.push(name);
    this.#metas.push(isSame ? this.#metas[0]! : meta);
    const { encoding, encodingGuess, quotesAfterSpace } = head;
    if (encodingGuess !== undefined) this.#read = { encoding, encodingGuess, ...this.#read };
    if (head.escape !== undefined) this.#read = { ...this.#read, escape: head.escape };
    if (quotesAfterSpace === true) this.#read = { ...this.#read, quotesAfterSpace };
    this.#passUsedColumns();
  }

  #passUsedColumns(): void {
    const [used, open] = [this.#used, this.#open];
    if (used === null || open === null) return;
    const { columns, reader } = open;
    reader.useColumns?.([...used].map((place) => columns?.[place] ?? place).filter((column) => column >= 0));
  }

  #placed(batch: Batch): Batch {
    const { columns } = this.#open!;
    if (this.#rowsBefore === 0 && columns === null) return batch;
    const own = batch.columns;
    const placed = columns === null ? own : columns.map((column): ColumnData => own[column] ?? nulls(batch));
    return batch.stacked(placed, this.#rowsBefore);
  }

  /** Notes the regions that `work` allocates, to release them at the end of the file. */
  #noting<T>(work: () => T): T {
    this.#heap.noteRegions(this.#regions);
    try {
      return work();
    } catch (error) {
      throw labelled(error, this.#firstRows.length, this.#open!.file.name);
    } finally {
      this.#heap.noteRegions(null);
    }
  }

  #describeOpen(): void {
    if (this.#open === null) return;
    const { input } = this.#said;
    const own = emptyInput();
    this.#open.reader.describe(own as RunReport);
    for (const counts of Object.values(own.input.errors))
      counts.rows = counts.rows.map((row) => row + this.#rowsBefore);
    mergeCounts(input.errors, own.input.errors);
    for (const name of SKIPPED) input[name] = (input[name] ?? 0) + (own.input[name] ?? 0);
  }

  #closeFile(): void {
    if (this.#open === null) return;
    const { file, reader } = this.#open;
    this.#describeOpen();
    this.#rowsBefore += reader.rowsRead;
    this.#open = null;
    this.#heap.noteRegions(this.#regions);
    reader.close();
    this.#heap.noteRegions(null);
    for (const [at, bytes] of this.#regions) this.#heap.release(at, bytes);
    this.#regions.clear();
    file.close?.();
  }
}

/** A column of nulls. */
function nulls({ arena, rows }: Batch): ViewsColumn {
  const bytes = rows * VIEW_BYTES;
  const at = arena.take(bytes);
  arena.heap.u8.fill(0, at, at + bytes);
  return { kind: 'views', at };
}

/** Adds to a failure which file it is about. */
function labelled(error: unknown, number: number, name: string | null): unknown {
  if (error instanceof Failed) error.addFile(number, name);
  return error;
}

const OTHER_HEADER =
  'The file has a different header than the first file that is read: files that are read one after the other must have ' +
  'the same columns, in any order. Name the columns that the Template needs (input.columns with other_columns: drop).';

const OTHER_TYPE =
  'The cells of the file have types, but those of the first file do not, although their names have the same ending. ' +
  'Give the files the endings of their formats.';

const OTHER_META =
  'The file has other values above or below its table (input.preamble, input.footer) than the first file that is read. ' +
  'Only expressions can use the values of each file (run.meta.<name>); check_totals and output.csv.preamble need the ' +
  'same values in all files.';

function otherHeader(headers: readonly string[]): Failed {
  const columns = headers.map((header, index) => ({ name: header === '' ? `column_${index + 1}` : header }));
  const localMessage = `${OTHER_HEADER} ${columnsShown(columns, 'Its columns')}`;
  return new Failed('TEMPLATE_COLUMNS_MISSING', OTHER_HEADER, { columns: [], localMessage });
}

/** The part of a report to which readers add counts. */
function emptyInput(): Pick<RunReport, 'input'> {
  return { input: { type: '', encoding: '', delimiter: null, header_row: null, errors: {} } };
}
