// Takes the cells of a sheet's data rows into the columns of a batch, in the Run's memory: texts, native kinds, and what
// is to be counted of them.
import { BATCH_ROWS_MAX, Batch, type ViewsColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import * as words from '../../kernel/layout/sheet.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import { type CodeCounts, countCode } from '../../run/report.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import { type NullTexts as NullList, placeNullTexts } from '../csv/null-texts.ts';
import { RowNumbers } from '../csv/row-numbers.ts';
import type { CellSink, LostCell } from './cell-sink.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import { NullTexts } from './null-texts.ts';
import { RowPlaces } from './row-places.ts';
import type { GetWord, KernelRows, SetWord } from './sheet-kernel.ts';

/** Cells of a batch at most: 256 KiB of views. */
const CELLS_MAX = 32_768;

/** Bytes of a batch's views, kinds and texts. A row that needs more has regions of its own. */
const REGION_BYTES = 1024 * 1024;

/** A batch with fewer bytes free than these takes no more rows: most rows are shorter. */
const FREE_BYTES_MIN = 32 * 1024;

/** Bytes of a region for texts of a large row; a longer text has one as long as itself. */
const LARGE_BYTES = 1024 * 1024;

/** Shorter texts are copied by a loop: a call into the runtime takes longer. */
const SHORT_BYTES_MAX = 24;

export interface RowRules {
  /** Of the sheet, without the one for the sheet's name. */
  readonly columns: number;
  /** The last column is the name of the sheet. */
  readonly hasSheetName: boolean;
  readonly nullValues: readonly string[];
  readonly raggedFails: boolean;
}

export class RowBatch implements CellSink, KernelRows {
  readonly kernelRows = this;
  readonly counts: CodeCounts = {};
  rowsRead = 0;
  readonly places = new RowPlaces();
  /** Rows of the sheet above this one are passed over. */
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
  /** Rows of this batch, and how many it may have; 0: they are counted alone. */
  #rows = 0;
  #rowsMax = 0;
  #isCounting = false;
  /** Where texts go, and the end of their region. */
  #next = 0;
  #end = 0;
  #large: { readonly at: number; readonly bytes: number }[] = [];
  isFull = false;
  /** Of the row at hand: its number in the sheet, and what was found in it. */
  #sheetRow = 0;
  #isPassedOver = false;
  #isBlank = true;
  #isWide = false;
  #hasEmpty = false;
  #rowBytes = 0;

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

  /** The next rows are of another sheet. */
  beginSheet(name: string, firstRow: number): void {
    this.#sheetName = Buffer.from(name);
    this.firstRow = firstRow;
  }

  /** @param rowsMax 0: rows are counted alone */
  begin(rowsMax: number): void {
    const { columns, hasSheetName } = this.#rules;
    this.#isCounting = rowsMax === 0;
    this.#rowsMax = this.#isCounting ? this.#rowsCapacity : Math.min(rowsMax, this.#rowsCapacity);
    this.#rows = 0;
    this.isFull = false;
    this.#next = this.#texts;
    this.#end = this.#limit;
    for (const { at, bytes } of this.#large) this.#heap.giveBack(at, bytes);
    this.#large = [];
    this.#heap.u8.fill(0, this.#region, this.#region + columns * this.#rowsCapacity * VIEW_BYTES);
    if (hasSheetName) this.#placeSheetName();
  }

  get rows(): number {
    return this.#rows;
  }

  get rowsMax(): number {
    return this.#rowsMax;
  }

  /** What was taken since `begin`. */
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
  }

  cell(column: number, kind: number, bytes: Uint8Array, start: number, end: number, stays = false): void {
    if (this.#isPassedOver) return;
    const length = end - start;
    if (length > 0) this.#isBlank = false;
    if (column >= this.#rules.columns) {
      if (length > 0) this.#wide();
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
    u32[view] = at;
    u32[view + 1] = isNull ? 0 : length;
    u8[this.#kinds + column * this.#rowsCapacity + row] = kind;
  }

  lost(column: number, why: LostCell): void {
    if (this.#isPassedOver || column >= this.#rules.columns) return;
    this.#isBlank = false;
    countCode(this.counts, why, this.rowsRead + 1);
    const view = (this.#region + (column * this.#rowsCapacity + this.#rows) * VIEW_BYTES) >>> 2;
    this.#heap.u32[view] = 0;
    this.#heap.u8[this.#kinds + column * this.#rowsCapacity + this.#rows] = KIND_TEXT;
  }

  endRow(): void {
    if (this.#isPassedOver) return;
    if (this.#isBlank) {
      if (this.#hasEmpty) this.#forgetRow();
      return;
    }
    if (this.#isWide) countCode(this.counts, 'RAGGED_ROW', this.rowsRead + 1);
    this.#rows++;
    this.places.add(++this.rowsRead, this.#sheetRow);
    this.#lookForRoom();
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
    // A batch ends with the row that has regions of its own.
    set(words.FREE_BYTES_MIN, this.#large.length > 0 ? words.NEVER_FREE : FREE_BYTES_MIN);
    set(words.IS_COUNTING, this.#isCounting ? 1 : 0);
    set(words.FIRST_DATA_ROW, this.firstRow);
    set(words.NULL_TEXTS, this.#nullList.list);
    set(words.EMPTY_IS_NULL, this.#nullList.empty ? 1 : 0);
    set(words.RAGGED_FAILS, this.#rules.raggedFails ? 1 : 0);
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
    if (this.#rows > before) this.#lookForRoom();
  }

  #lookForRoom(): void {
    this.isFull = this.#rows >= this.#rowsMax || this.#large.length > 0 || this.#end - this.#next < FREE_BYTES_MIN;
  }

  #wide(): void {
    if (this.#rules.raggedFails) throw malformedWorkbook('a row has a cell beyond the columns of the header row');
    this.#isWide = true;
  }

  #copy(bytes: Uint8Array, start: number, length: number): number {
    // The Run's memory may grow and move.
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

  /** The arena cannot take them: it is emptied while a row waits for its rest. */
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

  /** A blank row's empty texts are no cells of the next. */
  #forgetRow(): void {
    const { u32 } = this.#heap;
    for (let column = 0; column < this.#rules.columns; column++) u32.fill(0, ...this.#viewWords(column));
  }

  /** The words of the view of the row at hand, and the one behind. */
  #viewWords(column: number): [number, number] {
    const view = (this.#region + (column * this.#rowsCapacity + this.#rows) * VIEW_BYTES) >>> 2;
    return [view, view + VIEW_BYTES / 4];
  }
}
