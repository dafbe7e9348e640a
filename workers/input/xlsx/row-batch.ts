// Collects the cells of data rows in the columns of a batch.

import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import { KIND_TEXT, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import * as words from '../../kernel/layout/sheet.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import { type CodeCounts, countCode } from '../../protocol/report.ts';
import type { CsvInput } from '../../template/template.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import { type NullTexts as NullList, placeNullTexts } from '../csv/null-texts.ts';
import { type RaggedRow, RowNumbers, rejectedLengths, rejectsRagged } from '../csv/selected-rows.ts';
import type { SheetRow } from '../reader.ts';
import type { CellSink, LostCell } from './cell-sink.ts';
import { malformedWorkbook } from './limits.ts';
import type { GetWord, KernelRows, SetWord } from './sheet-kernel.ts';

// Compares cells of a sheet with the null_values of the Template, on bytes. The length alone excludes most cells.

class NullTexts {
  readonly #byLength: readonly (readonly Buffer[] | undefined)[];

  constructor(values: readonly string[]) {
    const byLength: Buffer[][] = [];
    for (const value of new Set(values)) {
      const bytes = Buffer.from(value);
      byLength[bytes.length] = [...(byLength[bytes.length] ?? []), bytes];
    }
    this.#byLength = byLength;
  }

  has(bytes: Uint8Array, start: number, length: number): boolean {
    const candidates = this.#byLength[length];
    if (candidates === undefined) return false;
    return candidates.some((text) => text.compare(bytes, start, start + length) === 0);
  }
}

// Positions of the data rows of a workbook in its sheets. Blank and hidden rows are skipped, and several sheets are
// read in sequence, so the number of a data row is not its position. Stored as runs of consecutive rows.

/**
 * Maximum number of runs, of 24 bytes each. Positions of rows after the last run are unknown. Sheets with more runs are
 * rare.
 */
const STRETCHES_MAX = 8192;

export class RowPlaces {
  /** For each run: its first data row, its sheet, and the number of that row in the sheet, all from 1. */
  readonly #rows: number[] = [];
  readonly #sheets: number[] = [];
  readonly #sheetRows: number[] = [];
  #sheet = 0;
  /** The next data row to add, and the sheet row at which it would continue the current run. */
  #next = 1;
  #nextSheetRow = 0;

  beginSheet(sheet: number): void {
    this.#sheet = sheet;
    this.#nextSheetRow = 0;
  }

  /**
   * Adds a data row.
   * @param row must follow the row that was added last. Otherwise the positions of this and all later rows are unknown.
   */
  add(row: number, sheetRow: number): void {
    if (row !== this.#next) return;
    if (sheetRow !== this.#nextSheetRow) {
      if (this.#rows.length >= STRETCHES_MAX) return;
      this.#rows.push(row);
      this.#sheets.push(this.#sheet);
      this.#sheetRows.push(sheetRow);
    }
    this.#next = row + 1;
    this.#nextSheetRow = sheetRow + 1;
  }

  /** Adds consecutive data rows from `row` on, whose numbers in the sheet ascend. */
  addAll(row: number, sheetRows: Uint32Array): void {
    const { length } = sheetRows;
    if (length === 0) return;
    const first = sheetRows[0]!;
    this.add(row, first);
    if (sheetRows[length - 1]! - first === length - 1 && this.#next === row + 1) {
      this.#next = row + length;
      this.#nextSheetRow = first + length;
    } else for (let index = 1; index < length; index++) this.add(row + index, sheetRows[index]!);
  }

  /** Returns null if the position is unknown. */
  of(row: number): SheetRow | null {
    if (row < 1 || row >= this.#next) return null;
    let low = 0;
    for (let high = this.#rows.length; high - low > 1; ) {
      const middle = (low + high) >>> 1;
      if (this.#rows[middle]! <= row) low = middle;
      else high = middle;
    }
    return { sheet: this.#sheets[low]!, row: this.#sheetRows[low]! + row - this.#rows[low]! };
  }
}

// Collects the cells of data rows in the columns of a batch, in the Run's memory: texts, native kinds, and counts of
// warnings.

/** Maximum number of cells in a batch: 256 KiB of views. */
const CELLS_MAX = 32_768;

/**
 * Size of the region for the views, kinds and texts of a batch, in bytes. A row that needs more gets additional
 * regions.
 */
const REGION_BYTES = 1024 * 1024;

/** A batch with fewer free bytes takes no more rows. Most rows are shorter. */
const FREE_BYTES_MIN = 32 * 1024;

/**
 * Size of an additional region for the texts of a large row, in bytes. A longer text gets a separate region of its length.
 */
const LARGE_BYTES = 1024 * 1024;

/** Texts up to this length are copied in a loop, which is faster than a call into the runtime. */
const SHORT_BYTES_MAX = 24;

export interface RowRules {
  /** Number of columns of the sheet, without the column for the sheet's name. */
  readonly columns: number;
  /** True if the last column is the name of the sheet. */
  readonly hasSheetName: boolean;
  readonly nullValues: readonly string[];
  readonly ragged: CsvInput['ragged'];
}

export class RowBatch implements CellSink, KernelRows {
  readonly kernelRows = this;
  readonly counts: CodeCounts = {};
  rowsRead = 0;
  readonly places = new RowPlaces();
  /** Rows of the sheet above this row are skipped. */
  firstRow = 1;
  readonly #arena: Arena;
  readonly #heap: Heap;
  readonly #rules: RowRules;
  readonly #nulls: NullTexts;
  readonly #nullList: NullList;
  readonly #selection: RowNumbers;
  readonly #rowsCapacity: number;
  readonly #region: number;
  readonly #kinds: number;
  readonly #sheetRows: number;
  readonly #texts: number;
  readonly #limit: number;
  #sheetName: Buffer = Buffer.alloc(0);
  #sheetNameAt = 0;
  /** Number of rows in the batch, and its maximum. `#isCounting` is true if rows are only counted. */
  #rows = 0;
  #rowsMax = 0;
  #isCounting = false;
  /** Address for the next text, and the end of its region. */
  #next = 0;
  #end = 0;
  #large: { readonly at: number; readonly bytes: number }[] = [];
  isFull = false;
  /** State of the current row: its number in the sheet, and its properties so far. */
  #sheetRow = 0;
  #isPassedOver = false;
  #isBlank = true;
  #isWide = false;
  #hasEmpty = false;
  #rowBytes = 0;
  /** Texts after the last column, if long rows are rejected. */
  #extra: string[] = [];
  #ragged: RaggedRow[] = [];

  constructor(arena: Arena, rules: RowRules) {
    const { heap } = arena;
    this.#arena = arena;
    this.#heap = heap;
    this.#rules = rules;
    this.#nulls = new NullTexts(rules.nullValues);
    this.#nullList = placeNullTexts(heap, rules.nullValues, '');
    this.#selection = new RowNumbers(heap);
    const columns = rules.columns + (rules.hasSheetName ? 1 : 0);
    this.#rowsCapacity = Math.min(BATCH_ROWS_MAX, Math.max(1, Math.floor(CELLS_MAX / columns)));
    this.#region = heap.allocate(REGION_BYTES);
    this.#sheetRows = heap.allocate(this.#rowsCapacity * 4);
    this.#kinds = this.#region + columns * this.#rowsCapacity * VIEW_BYTES;
    this.#texts = this.#kinds + columns * this.#rowsCapacity;
    this.#limit = this.#region + REGION_BYTES;
  }

  /** Called before the rows of another sheet. */
  beginSheet(name: string, firstRow: number): void {
    this.#sheetName = Buffer.from(name);
    this.firstRow = firstRow;
  }

  /** @param rowsMax 0 to only count the rows */
  begin(rowsMax: number): void {
    const { columns, hasSheetName } = this.#rules;
    this.#isCounting = rowsMax === 0;
    this.#rowsMax = this.#isCounting ? this.#rowsCapacity : Math.min(rowsMax, this.#rowsCapacity);
    this.#rows = 0;
    this.#ragged = [];
    this.isFull = false;
    this.#next = this.#texts;
    this.#end = this.#limit;
    for (const { at, bytes } of this.#large) this.#heap.release(at, bytes);
    this.#large = [];
    this.#heap.u8.fill(0, this.#region, this.#region + columns * this.#rowsCapacity * VIEW_BYTES);
    if (hasSheetName) this.#placeSheetName();
  }

  /** Rows of the batch that the Template rejects because of their length. */
  get raggedRows(): readonly RaggedRow[] {
    return rejectedLengths(this.#ragged, this.#rules.ragged);
  }

  get rows(): number {
    return this.#rows;
  }

  get rowsMax(): number {
    return this.#rowsMax;
  }

  /** Returns the batch with the rows since `begin`. */
  take(): Batch {
    const rows = this.#isCounting ? 0 : this.#rows;
    const columns: ViewsColumn[] = [];
    if (this.#rules.hasSheetName) this.#nameSheet(rows);
    const { columns: count, hasSheetName } = this.#rules;
    for (let column = 0; column < count; column++) {
      const at = this.#region + column * this.#rowsCapacity * VIEW_BYTES;
      columns.push({ kind: 'views', at, kinds: this.#kinds + column * this.#rowsCapacity });
    }
    if (hasSheetName) columns.push({ kind: 'views', at: this.#region + count * this.#rowsCapacity * VIEW_BYTES });
    return new Batch({
      arena: this.#arena,
      rows,
      selection: this.#selection.upTo(rows),
      live: rows,
      columns,
      raw: null,
      sourceRows: { first: this.rowsRead - this.#rows + 1 },
      materialise: () => {
        throw new Error('a workbook has no raw columns');
      },
    });
  }

  beginRow(row: number): void {
    this.#sheetRow = row;
    this.#isPassedOver = row < this.firstRow;
    this.#isBlank = true;
    this.#isWide = false;
    this.#hasEmpty = false;
    this.#rowBytes = 0;
    this.#extra = [];
  }

  cell(column: number, kind: number, bytes: Uint8Array, start: number, end: number, stays = false): void {
    if (this.#isPassedOver) return;
    const length = end - start;
    if (length > 0) this.#isBlank = false;
    if (column >= this.#rules.columns) {
      if (length > 0) this.#wide(bytes, start, end);
      return;
    }
    this.#rowBytes += length;
    if (this.#rowBytes > ROW_BYTES_MAX) throw malformedWorkbook('a row is too long');
    if (this.#isCounting) return;
    const row = this.#rows;
    const isNull = this.#nulls.has(bytes, start, length);
    if (length === 0 && !isNull) this.#hasEmpty = true;
    const at = isNull ? 0 : stays ? start : this.#copy(bytes, start, length);
    const { u8, u32 } = this.#heap;
    const view = (this.#region + (column * this.#rowsCapacity + row) * VIEW_BYTES) >>> 2;
    if (u32[view] !== 0) this.#countReplaced();
    u32[view] = at;
    u32[view + 1] = isNull ? 0 : length;
    u8[this.#kinds + column * this.#rowsCapacity + row] = kind;
  }

  lost(column: number, why: LostCell): void {
    if (this.#isPassedOver || column >= this.#rules.columns) return;
    this.#isBlank = false;
    countCode(this.counts, why, this.rowsRead + 1);
    const view = (this.#region + (column * this.#rowsCapacity + this.#rows) * VIEW_BYTES) >>> 2;
    const { u8, u32 } = this.#heap;
    if (u32[view] !== 0) this.#countReplaced();
    u32[view] = 0;
    u32[view + 1] = 0;
    u8[this.#kinds + column * this.#rowsCapacity + this.#rows] = KIND_TEXT;
  }

  endRow(): void {
    if (this.#isPassedOver) return;
    if (this.#isBlank) {
      if (this.#hasEmpty) this.#forgetRow();
      return;
    }
    if (this.#isWide) this.#countWide();
    this.#rows++;
    this.places.add(++this.rowsRead, this.#sheetRow);
    this.#checkFreeSpace();
  }

  /** Counts a filled cell that is replaced, because its row has a cell twice. */
  #countReplaced(): void {
    countCode(this.counts, 'DUPLICATE_KEY', this.rowsRead + 1);
  }

  #countWide(): void {
    countCode(this.counts, 'RAGGED_ROW', this.rowsRead + 1);
    if (this.#isCounting) return;
    const extra = this.#extra.length === 0 ? null : this.#extra.join('\t');
    this.#ragged.push({ row: this.#rows, code: 'RAGGED_ROW', extra });
  }

  lend(set: SetWord): void {
    set(words.VIEWS, this.#region);
    set(words.KINDS, this.#kinds);
    set(words.SHEET_ROWS, this.#sheetRows);
    set(words.STRIDE, this.#rowsCapacity);
    set(words.COLUMNS, this.#rules.columns);
    set(words.ROWS, this.#rows);
    set(words.TEXTS_AT, this.#next);
    set(words.ROWS_MAX, this.#rowsMax);
    set(words.TEXTS_END, this.#end);
    // A row with additional regions ends its batch.
    set(words.FREE_BYTES_MIN, this.#large.length > 0 ? words.NEVER_FREE : FREE_BYTES_MIN);
    set(words.IS_COUNTING, this.#isCounting ? 1 : 0);
    set(words.FIRST_DATA_ROW, this.firstRow);
    set(words.NULL_TEXTS, this.#nullList.list);
    set(words.EMPTY_IS_NULL, this.#nullList.empty ? 1 : 0);
    set(words.LEAVES_WIDE, this.#rules.ragged === 'pad' ? 0 : 1);
    set(words.IS_PASSED_OVER, this.#isPassedOver ? 1 : 0);
    set(words.IS_BLANK, this.#isBlank ? 1 : 0);
    set(words.IS_WIDE, this.#isWide ? 1 : 0);
    set(words.ROW_BYTES, this.#rowBytes);
    set(words.HAS_EMPTY, this.#hasEmpty ? 1 : 0);
  }

  takeBack(get: GetWord): void {
    const before = this.#rows;
    this.#rows = get(words.ROWS);
    this.#sheetRow = get(words.ROW);
    const sheetRows = this.#heap.u32.subarray((this.#sheetRows >>> 2) + before, (this.#sheetRows >>> 2) + this.#rows);
    this.places.addAll(this.rowsRead + 1, sheetRows);
    this.rowsRead += this.#rows - before;
    this.#next = get(words.TEXTS_AT);
    this.#isPassedOver = get(words.IS_PASSED_OVER) !== 0;
    this.#isBlank = get(words.IS_BLANK) !== 0;
    this.#isWide = get(words.IS_WIDE) !== 0;
    this.#rowBytes = get(words.ROW_BYTES);
    this.#hasEmpty = get(words.HAS_EMPTY) !== 0;
    if (this.#rows > before) this.#checkFreeSpace();
  }

  #checkFreeSpace(): void {
    this.isFull = this.#rows >= this.#rowsMax || this.#large.length > 0 || this.#end - this.#next < FREE_BYTES_MIN;
  }

  #wide(bytes: Uint8Array, start: number, end: number): void {
    const { ragged } = this.#rules;
    if (ragged === 'fail') throw malformedWorkbook('a row has a cell beyond the columns of the header row');
    this.#isWide = true;
    if (!rejectsRagged({ ragged })) return;
    this.#rowBytes += end - start;
    if (this.#rowBytes > ROW_BYTES_MAX) throw malformedWorkbook('a row is too long');
    this.#extra.push(Buffer.from(bytes.subarray(start, end)).toString());
  }

  #copy(bytes: Uint8Array, start: number, length: number): number {
    // Allocating may grow and move the Run's memory.
    const isOwn = bytes === this.#heap.u8;
    if (this.#next + length > this.#end) this.#enlarge(length);
    const at = this.#next;
    this.#next += length;
    const { u8 } = this.#heap;
    const source = isOwn ? u8 : bytes;
    if (length < SHORT_BYTES_MAX) for (let byte = 0; byte < length; byte++) u8[at + byte] = source[start + byte]!;
    else u8.set(source.subarray(start, start + length), at);
    return at;
  }

  /** The arena cannot hold these texts, because it is emptied while a row waits for its remaining cells. */
  #enlarge(length: number): void {
    const bytes = Math.max(length, LARGE_BYTES);
    const at = this.#heap.allocate(bytes);
    this.#large.push({ at, bytes });
    this.#next = at;
    this.#end = at + bytes;
  }

  #placeSheetName(): void {
    this.#sheetNameAt = this.#copy(this.#sheetName, 0, this.#sheetName.length);
  }

  #nameSheet(rows: number): void {
    const { u32 } = this.#heap;
    const views = (this.#region + this.#rules.columns * this.#rowsCapacity * VIEW_BYTES) >>> 2;
    for (let row = 0; row < rows; row++) {
      u32[views + row * 2] = this.#sheetNameAt;
      u32[views + row * 2 + 1] = this.#sheetName.length;
    }
  }

  /** Clears a blank row, so that its empty texts do not become cells of the next row. */
  #forgetRow(): void {
    const { u32 } = this.#heap;
    for (let column = 0; column < this.#rules.columns; column++) u32.fill(0, ...this.#viewWords(column));
  }

  /** Index of the first word of the view in the current row, and of the word after the view. */
  #viewWords(column: number): [number, number] {
    const view = (this.#region + (column * this.#rowsCapacity + this.#rows) * VIEW_BYTES) >>> 2;
    return [view, view + VIEW_BYTES / 4];
  }
}
