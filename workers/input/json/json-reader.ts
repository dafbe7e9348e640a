// The JSON reader: turns records into batches with views of the window, also with a read-ahead thread.

import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  AT,
  COLUMNS,
  EMPTY_IS_NULL,
  EXTRA_BYTES,
  EXTRA_COUNT,
  EXTRA_END,
  EXTRA_REPLACED,
  EXTRA_ROW,
  EXTRA_START,
  EXTRAS,
  KINDS,
  LINE_START,
  PHASE,
  ROWS,
  STATE_BYTES,
  STRIDE,
  UNSETTLED,
  VIEWS,
} from '../../kernel/layout/json.ts';
import type { Arena } from '../../memory/arena.ts';
import { type CodeCounts, countCode, countInAnyOrder, type RunReport, reportSkipped } from '../../protocol/report.ts';
import type { CsvInput } from '../../template/template.ts';
import { mergeCounts } from '../csv/csv-input.ts';
import type { NullTexts } from '../csv/null-texts.ts';
import { type RaggedRow, RowNumbers, rejectedLengths, rejectsRagged } from '../csv/selected-rows.ts';
import type { JsonWork } from '../read-ahead/json-work.ts';
import type { Chunk } from '../read-ahead/read-ahead-memory.ts';
import type { RowsAhead } from '../read-ahead/read-ahead-rows.ts';
import type { ReadAheadThread } from '../read-ahead/read-ahead-thread.ts';
import type { FileHead, RowReader } from '../reader.ts';
import type { JsonRecords } from './json-records.ts';
import type { JsonText } from './json-text.ts';
import type { KeyTable } from './key-table.ts';
import { otherLength } from './malformed-json.ts';

// Connects a JSON reader to a read-ahead thread: describes the work for the thread, and takes over its results.

/** Positions of the cells of a batch in the memory of a reader. */
interface JsonCells {
  /** Only the columns that are used. */
  columns: readonly { readonly at: number; readonly kinds: number }[];
  /** Maximum number of rows of the batch that was last requested. */
  rowsMax: number;
  /** Address of one byte per column of the file. */
  readonly unsettled: number;
  readonly columnCount: number;
  /** Address of the entries for rows with lost cells (EXTRAS). */
  readonly extras: number;
}

class JsonAhead implements RowsAhead {
  readonly end: number;
  readonly #text: JsonText;
  readonly #keys: KeyTable;
  readonly #cells: JsonCells;

  /** Created after the reader has allocated all its memory. */
  constructor(text: JsonText, keys: KeyTable, cells: JsonCells) {
    this.#text = text;
    this.#keys = keys;
    this.#cells = cells;
    this.end = text.heap.end;
  }

  get rowStart(): number {
    return this.#text.get(AT);
  }

  work(): JsonWork {
    const { state, heap } = this.#text;
    const { columns, rowsMax, unsettled, columnCount } = this.#cells;
    const images = [
      { at: state, bytes: heap.u8.slice(state, state + STATE_BYTES) },
      { at: unsettled, bytes: new Uint8Array(columnCount) },
      ...this.#keys.images(),
    ];
    return { format: 'json', state, images, views: columns.map(({ at }) => at), rowsMax };
  }

  put(slot: Uint8Array, { bytes, entries: rows, lines }: Chunk, base: number): void {
    const text = this.#text;
    const { u8 } = text.heap;
    const copy = (at: number, length: number): void => u8.set(slot.subarray(at, at + length), at);
    const { columns, unsettled, columnCount, extras } = this.#cells;
    for (const { at, kinds } of columns) {
      copy(at, rows * VIEW_BYTES);
      copy(kinds, rows);
    }
    copy(unsettled, columnCount);
    slot.fill(0, unsettled, unsettled + columnCount);
    const words = new Uint32Array(slot.buffer, text.state, STATE_BYTES >>> 2);
    const lost = words[EXTRA_COUNT >>> 2]!;
    copy(extras, lost * EXTRA_BYTES);
    text.set(EXTRA_COUNT, lost);
    text.moveTo(base);
    text.passed(bytes, lines, words[LINE_START >>> 2]!);
    text.set(PHASE, words[PHASE >>> 2]!);
    text.set(ROWS, rows);
  }

  restart(start: number): void {
    this.#text.keepBefore();
    this.#text.moveTo(start);
  }
}

// The JSON reader: turns records into batches with views of the window. Each cell has its native kind.

/** Maximum number of cells in a batch: 512 KiB of views. Batches of wide files have fewer rows. */
const CELLS_MAX = 65_536;

type JsonColumn = ViewsColumn & { readonly kinds: number };

export interface JsonReaderParts {
  readonly head: FileHead;
  readonly text: JsonText;
  readonly records: JsonRecords;
  readonly arena: Arena;
  readonly kernel: KernelExports;
  readonly nullTexts: NullTexts;
  readonly ragged: CsvInput['ragged'];
  readonly keys: KeyTable;
  /** For each column, its node in the key table. Empty if records are lists. */
  readonly nodes: readonly number[];
  /** Reads ahead if the source is a large file. */
  readonly readAhead: ReadAheadThread | undefined;
  /** Counts the values that were replaced, if NaN is null. */
  readonly nan: { readonly values: number } | undefined;
  /** Called when the key table is full. */
  readonly onFull: () => void;
  /** Closes the file, if the text does not own it. */
  readonly close: () => void;
}

export class JsonReader implements RowReader {
  readonly head: FileHead;
  rowsRead = 0;
  readonly #parts: JsonReaderParts;
  readonly #rowsMax: number;
  readonly #views: number;
  readonly #kinds: number;
  readonly #unsettled: number;
  readonly #extras: number;
  readonly #columns: readonly JsonColumn[];
  /** Cells of unused columns are null from the first batch on. */
  readonly #cells: JsonCells;
  #isFirst = true;
  readonly #selection: RowNumbers;
  readonly #counts: CodeCounts = {};
  /** Counted separately, so that the order of codes in the report does not depend on batches. */
  readonly #surrogates: CodeCounts = {};
  #ragged: RaggedRow[] = [];

  constructor(parts: JsonReaderParts) {
    this.#parts = parts;
    this.head = parts.head;
    const { heap } = parts.text;
    const columns = parts.head.headers.length;
    this.#rowsMax = Math.min(BATCH_ROWS_MAX, Math.floor(CELLS_MAX / Math.max(1, columns)));
    const cells = this.#rowsMax * columns;
    this.#views = heap.allocate(cells * VIEW_BYTES);
    this.#kinds = heap.allocate(cells);
    this.#unsettled = heap.allocate(columns);
    this.#extras = heap.allocate(this.#rowsMax * EXTRA_BYTES);
    heap.u8.fill(0, this.#unsettled, this.#unsettled + columns);
    this.#selection = new RowNumbers(heap);
    this.#columns = parts.head.headers.map((_, column) => ({
      kind: 'views',
      at: this.#views + column * this.#rowsMax * VIEW_BYTES,
      kinds: this.#kinds + column * this.#rowsMax,
    }));
    this.#cells = {
      columns: this.#columns,
      rowsMax: 0,
      unsettled: this.#unsettled,
      columnCount: columns,
      extras: this.#extras,
    };
    this.#tell(columns);
    const { text, keys, records, readAhead } = parts;
    if (readAhead !== undefined && !records.areLists) text.readAhead(readAhead, new JsonAhead(text, keys, this.#cells));
  }

  useColumns(fields: Iterable<number>): void {
    const { keys, nodes, records } = this.#parts;
    if (records.areLists) return;
    const used = new Set(fields);
    for (const [column, node] of nodes.entries()) if (!used.has(column)) keys.setColumn(node, -1);
    this.#cells.columns = this.#columns.filter((_, column) => used.has(column));
  }

  next(rowsMax: number): Batch | 'wait' | 'end' {
    const { text, records, onFull } = this.#parts;
    const limit = Math.min(rowsMax === 0 ? this.#rowsMax : rowsMax, this.#rowsMax);
    if (limit < this.#cells.rowsMax) text.leaveAhead();
    this.#cells.rowsMax = limit;
    this.#clear(limit);
    const state = records.next(limit, onFull);
    if (state !== 'rows') return state;
    const { rows } = text;
    const first = this.rowsRead + 1;
    this.rowsRead += rows;
    if (records.areLists) this.#countLengths(first);
    else this.#countReplaced(first);
    this.#settle(rows, first, rowsMax > 0);
    return this.#batch(rowsMax === 0 ? 0 : rows, first);
  }

  get isAtEnd(): boolean {
    return this.#parts.text.isAtEnd;
  }

  get raggedRows(): readonly RaggedRow[] {
    return rejectedLengths(this.#ragged, this.#parts.ragged);
  }

  wait(): Promise<void> {
    return this.#parts.text.wait();
  }

  resume(): void {
    this.#parts.records.resume();
  }

  describe(report: RunReport): void {
    // In the order of their first rows, as in a Run whose parts are read by several threads.
    const counts = [this.#counts, this.#surrogates].toSorted((one, other) => firstRowOf(one) - firstRowOf(other));
    for (const some of counts) mergeCounts(report.input.errors, some);
    reportSkipped(report, { valuesBeside: this.#parts.records.valuesBeside, nan: this.#parts.nan });
  }

  close(): void {
    this.#parts.text.close();
    this.#parts.close();
  }

  #tell(columns: number): void {
    const { text, nullTexts } = this.#parts;
    text.set(VIEWS, this.#views);
    text.set(KINDS, this.#kinds);
    text.set(STRIDE, this.#rowsMax);
    text.set(UNSETTLED, this.#unsettled);
    text.set(COLUMNS, columns);
    text.set(EXTRAS, this.#extras);
    text.set(EXTRA_COUNT, 0);
    text.set(EMPTY_IS_NULL, nullTexts.empty ? 1 : 0);
  }

  /** A member that a record lacks is null. */
  #clear(rows: number): void {
    const { u8 } = this.#parts.text.heap;
    if (this.#isFirst) u8.fill(0, this.#views, this.#views + this.#columns.length * this.#rowsMax * VIEW_BYTES);
    else for (const { at } of this.#cells.columns) u8.fill(0, at, at + rows * VIEW_BYTES);
    this.#isFirst = false;
  }

  /**
   * Finishes cells that the kernel leaves open: texts with escapes, JSON with white space, and null texts. Counts texts
   * in which a lone surrogate was replaced.
   * @param isUsed false if the rows are only counted
   */
  #settle(rows: number, first: number, isUsed: boolean): void {
    const { text, kernel, nullTexts } = this.#parts;
    const nullList = isUsed ? nullTexts.list : 0;
    const { u8, u32 } = text.heap;
    for (const [index, column] of this.#columns.entries()) {
      const isUnsettled = u8[this.#unsettled + index] !== 0;
      if (!isUnsettled && nullList === 0) continue;
      u8[this.#unsettled + index] = 0;
      // The list of extras can be reused, because its entries have been counted.
      const replaced = kernel.settleCells(column.at, column.kinds, rows, nullList, this.#extras);
      for (let i = 0; i < replaced; i++) {
        countInAnyOrder(this.#surrogates, 'LONE_SURROGATE', first + u32[(this.#extras >>> 2) + i]!);
      }
    }
  }

  /** Counts lists with too few or too many cells. Throws Failed if the Template refuses such files. */
  #countLengths(first: number): void {
    const { text, ragged } = this.#parts;
    this.#ragged = [];
    const count = text.get(EXTRA_COUNT);
    const { u8, u32 } = text.heap;
    for (let entry = this.#extras; entry < this.#extras + count * EXTRA_BYTES; entry += EXTRA_BYTES) {
      const row = u32[(entry + EXTRA_ROW) >>> 2]!;
      const [start, end] = [u32[(entry + EXTRA_START) >>> 2]!, u32[(entry + EXTRA_END) >>> 2]!];
      if (ragged === 'fail') throw otherLength(first + row);
      const code = start === 0 ? 'SHORT_ROW' : 'RAGGED_ROW';
      countCode(this.#counts, code, first + row);
      const isKept = start !== 0 && rejectsRagged({ ragged });
      const extra = isKept ? Buffer.from(u8.subarray(start, end)).toString().trimEnd() : null;
      this.#ragged.push({ row, code, extra });
    }
    text.set(EXTRA_COUNT, 0);
  }

  /** Counts cells that were replaced because their record has their key twice. */
  #countReplaced(first: number): void {
    const { text } = this.#parts;
    const count = text.get(EXTRA_COUNT);
    const { u32 } = text.heap;
    for (let entry = this.#extras; entry < this.#extras + count * EXTRA_BYTES; entry += EXTRA_BYTES) {
      const row = first + u32[(entry + EXTRA_ROW) >>> 2]!;
      for (let cells = u32[(entry + EXTRA_REPLACED) >>> 2]!; cells > 0; cells--) {
        countCode(this.#counts, 'DUPLICATE_KEY', row);
      }
    }
    text.set(EXTRA_COUNT, 0);
  }

  #batch(rows: number, first: number): Batch {
    return new Batch({
      arena: this.#parts.arena,
      rows,
      selection: this.#selection.upTo(rows),
      live: rows,
      columns: this.#columns,
      raw: null,
      sourceRows: { first },
      materialise: () => {
        throw new Error('JSON has no raw columns');
      },
    });
  }
}

function firstRowOf(counts: CodeCounts): number {
  return Math.min(...Object.values(counts).map(({ rows }) => rows[0] ?? Number.POSITIVE_INFINITY));
}
