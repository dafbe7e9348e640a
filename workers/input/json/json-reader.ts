// The reader of JSON: records become batches of views into the window, each cell with its native kind.
import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  COLUMNS,
  EMPTY_IS_NULL,
  EXTRA_COUNT,
  EXTRAS,
  KINDS,
  STRIDE,
  UNSETTLED,
  VIEWS,
} from '../../kernel/layout/json.ts';
import type { Arena } from '../../memory/arena.ts';
import { type CodeCounts, countCode, type RunReport } from '../../run/report.ts';
import { mergeCounts } from '../csv/counts.ts';
import type { NullTexts } from '../csv/null-texts.ts';
import { RowNumbers } from '../csv/row-numbers.ts';
import type { ReadAheadThread } from '../read-ahead/read-ahead-thread.ts';
import type { FileHead, RowReader } from '../reader.ts';
import { JsonAhead, type JsonCells } from './json-ahead.ts';
import type { JsonRecords } from './json-records.ts';
import type { JsonText } from './json-text.ts';
import type { KeyTable } from './key-table.ts';

/** Cells of a batch at most: 512 KiB of views. Wide files have fewer rows in a batch. */
const CELLS_MAX = 65_536;

type JsonColumn = ViewsColumn & { readonly kinds: number };

export interface JsonReaderParts {
  readonly head: FileHead;
  readonly text: JsonText;
  readonly records: JsonRecords;
  readonly arena: Arena;
  readonly kernel: KernelExports;
  readonly nullTexts: NullTexts;
  readonly keys: KeyTable;
  /** By column its node in the table of keys; none where records are lists. */
  readonly nodes: readonly number[];
  /** Reads ahead where the source is a large file. */
  readonly readAhead: ReadAheadThread | undefined;
  /** Hears that the table of keys is full. */
  readonly onFull: () => void;
  /** The file, where it is not the text's. */
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
  /** Cells of columns that nobody reads are null from the first batch on. */
  readonly #cells: JsonCells;
  #isFirst = true;
  readonly #selection: RowNumbers;
  readonly #counts: CodeCounts = {};

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
    this.#extras = heap.allocate(this.#rowsMax * 4);
    heap.u8.fill(0, this.#unsettled, this.#unsettled + columns);
    this.#selection = new RowNumbers(heap);
    this.#columns = parts.head.headers.map((_, column) => ({
      kind: 'views',
      at: this.#views + column * this.#rowsMax * VIEW_BYTES,
      kinds: this.#kinds + column * this.#rowsMax,
    }));
    this.#cells = { columns: this.#columns, rowsMax: 0, unsettled: this.#unsettled, columnCount: columns };
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
    this.#countExtras(first);
    if (rowsMax > 0) this.#settle(rows);
    return this.#batch(rowsMax === 0 ? 0 : rows, first);
  }

  wait(): Promise<void> {
    return this.#parts.text.wait();
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#counts);
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

  /** What a record lacks is null. */
  #clear(rows: number): void {
    const { u8 } = this.#parts.text.heap;
    if (this.#isFirst) u8.fill(0, this.#views, this.#views + this.#columns.length * this.#rowsMax * VIEW_BYTES);
    else for (const { at } of this.#cells.columns) u8.fill(0, at, at + rows * VIEW_BYTES);
    this.#isFirst = false;
  }

  /** Cells with escapes, JSON with white space, and texts that mean "missing". */
  #settle(rows: number): void {
    const { text, kernel, nullTexts } = this.#parts;
    const { u8 } = text.heap;
    for (const [index, column] of this.#columns.entries()) {
      const isUnsettled = u8[this.#unsettled + index] !== 0;
      if (!isUnsettled && nullTexts.list === 0) continue;
      u8[this.#unsettled + index] = 0;
      kernel.settleCells(column.at, column.kinds, rows, nullTexts.list);
    }
  }

  #countExtras(first: number): void {
    const { text } = this.#parts;
    const count = text.get(EXTRA_COUNT);
    if (count === 0) return;
    const rows = text.heap.u32.subarray(this.#extras >>> 2, (this.#extras >>> 2) + count);
    for (const row of rows) countCode(this.#counts, 'RAGGED_ROW', first + row);
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
