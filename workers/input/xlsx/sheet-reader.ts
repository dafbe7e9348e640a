// Reads a sheet sequentially, row by row and cell by cell, into a sink. Ignores the declared dimensions of the sheet,
// which are often missing or wrong.

import { ROW_NUMBER_MAX } from '../../kernel/layout/sheet.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import type { CellRange } from './cell-range.ts';
import { CellReader } from './cell-reader.ts';
import type { CellSink } from './cell-sink.ts';
import { CellValues, type CellValuesParts } from './cell-values.ts';
import { malformedWorkbook } from './limits.ts';
import type { KernelRows, KernelStop, SheetKernel, SheetPlace } from './sheet-kernel.ts';
import { CLOSE, EMPTY, END, MORE, OPEN, XmlTokens } from './xml-tokens.ts';
import { type WindowMemory, XmlWindow } from './xml-window.ts';

const LESS = 0x3c;
const SPACE = 0x20;
const LETTER_C = 0x63;

/**
 * Limit of the back-off. After n calls that read nothing, the kernel is called again after 2^n tokens, and n is at most
 * this number.
 */
const FRUITLESS_MAX = 6;

/** Number of windows without a row after which the reader yields to other Runs. Each takes a millisecond. */
const EMPTY_WINDOWS_MAX = 4;

export interface SheetSettings extends CellValuesParts {
  /** Receives the bytes of shared strings in each row. Throws Failed if there are too many. */
  readonly countShared: (bytes: number) => void;
  /** If true, hidden rows and columns are skipped. */
  readonly skipHidden: boolean;
  /** Reads only these cells, with the first one as column 0. null for all cells. */
  readonly range: CellRange | null;
  /** Output column for each column, -1 if it is not read. Null if the columns keep their places. */
  readonly order: readonly number[] | null;
  readonly windowMemory: WindowMemory;
  /** Reads rows for sinks that have `kernelRows`. null to report every cell. */
  readonly kernel: SheetKernel | null;
}

export class SheetReader {
  readonly #tokens: XmlTokens;
  readonly #cell: CellReader;
  readonly #values: CellValues;
  readonly #settings: SheetSettings;
  /** Output column for each column of the sheet, -1 for skipped columns. null if both are the same. */
  #columns: Int32Array | null;
  readonly #place: SheetPlace = { row: 0, isInRow: false, isRowLeftOut: false, nextColumn: 0 };
  #isInData = false;
  #isEnded = false;
  /** Number of kernel calls that read nothing in this row, and number of tokens until the next call. */
  #fruitless = 0;
  #rest = 0;
  /** Number of elements around a row, or 0 if the kernel cannot read this sheet. */
  #dataDepth = 0;

  constructor(source: PieceSource, settings: SheetSettings) {
    const tokens = new XmlTokens(new XmlWindow(source, settings.windowMemory));
    this.#tokens = tokens;
    this.#cell = new CellReader(tokens);
    this.#values = new CellValues(settings);
    this.#settings = settings;
    this.#columns = settings.range === null ? null : columnsOf(settings.range);
  }

  /** Number in the sheet of the row that was begun last, from 1. 0 before the first row. */
  get row(): number {
    return this.#place.row;
  }

  /** True if a row has begun but not ended. */
  get isInRow(): boolean {
    return this.#place.isInRow;
  }

  /** Column in the sheet, from 0, of the current or next cell. */
  get column(): number {
    return this.#place.isInRow ? this.#cell.column : 0;
  }

  /** Output column of a column of the sheet, or -1 if it is skipped. */
  columnOf(column: number): number {
    return this.#columns === null ? column : (this.#columns[column] ?? -1);
  }

  /** Number of columns of the sheet that are reported. */
  get columnsTold(): number {
    return this.#columns === null ? COLUMNS_MAX : this.#columns.filter((column) => column >= 0).length;
  }

  /**
   * Reads at most `rowsMax` rows, or until the sink is full. 'more': there may be more rows. 'wait': bytes are missing,
   * so await `wait`. Throws Failed.
   */
  read(sink: CellSink, rowsMax: number): 'more' | 'wait' | 'end' {
    const tokens = this.#tokens;
    const kernelRows = sink.kernelRows ?? null;
    let rows = 0;
    let windows = 0;
    if (tokens.isStarved && !tokens.refill(0)) return 'wait';
    while (!this.#isEnded) {
      if (kernelRows !== null && this.#isForKernel() && --this.#rest < 0) {
        const before = tokens.at;
        const stop = this.#readByKernel(kernelRows, rowsMax - rows);
        rows += this.#settings.kernel!.closed;
        this.#fruitless = stop === 'left' && tokens.at === before ? Math.min(this.#fruitless + 1, FRUITLESS_MAX) : 0;
        this.#rest = (1 << this.#fruitless) - 1;
        if (stop === 'full') return 'more';
        if (stop === 'more' && !tokens.window.isLast) {
          if (!tokens.refill(tokens.at)) return 'wait';
          if (++windows >= EMPTY_WINDOWS_MAX && rows === 0) return 'more';
          continue;
        }
      }
      const at = tokens.at;
      if (this.#place.isInRow && tokens.bytes[at + 1] === LETTER_C && this.#plainCell(sink)) continue;
      const depth = tokens.depth;
      const token = tokens.next();
      if (token === MORE) {
        if (!tokens.refill(tokens.at)) return 'wait';
        if (++windows >= EMPTY_WINDOWS_MAX && rows === 0) return 'more';
      } else if (token === END) this.#isEnded = true;
      else if (token === CLOSE) {
        if (!this.#closed(sink)) continue;
        rows++;
        if (rows >= rowsMax || sink.isFull === true) return 'more';
      } else if (token === OPEN || token === EMPTY) {
        if (!this.#isInData) this.#beforeData(token, at);
        else if (this.#place.isInRow) {
          if (this.#cellOrOther(sink, token)) continue;
          tokens.at = at;
          tokens.depth = depth;
          if (!tokens.refill(at)) return 'wait';
        } else if (tokens.is('row')) this.#beginRow(sink, token);
      }
    }
    return 'end';
  }

  wait(): Promise<void> {
    return this.#tokens.window.wait();
  }

  close(): void {
    this.#tokens.window.close();
  }

  /** @param at position of the tag */
  #beforeData(token: number, at: number): void {
    const tokens = this.#tokens;
    if (tokens.is('sheetData')) {
      this.#isInData = token === OPEN;
      this.#isEnded = token === EMPTY;
      if (this.#columns !== null) this.#numberColumns();
      if (this.#settings.order !== null) this.#orderColumns(this.#settings.order);
      const { kernel, range, skipHidden } = this.#settings;
      const prefix = tokens.bytes.subarray(at + 1, tokens.start);
      const isReady = kernel?.begin({ range, skipHidden, columns: this.#columns, prefix }) === true;
      this.#dataDepth = isReady ? tokens.depth : 0;
    } else if (this.#settings.skipHidden && tokens.is('col')) this.#hideColumns();
  }

  /** True at a position where the kernel can read: between rows, or between cells of a row. */
  #isForKernel(): boolean {
    return (
      this.#dataDepth > 0 && this.#isInData && this.#tokens.depth === this.#dataDepth + (this.#place.isInRow ? 1 : 0)
    );
  }

  #readByKernel(rows: KernelRows, rowsMax: number): KernelStop {
    const tokens = this.#tokens;
    const { kernel, countShared } = this.#settings;
    const place = this.#place;
    const stop = kernel!.read(tokens, place, rows, rowsMax, this.#values.sharedBytes);
    this.#values.sharedBytes = kernel!.sharedRowBytes;
    this.#cell.column = Math.max(0, place.nextColumn - 1);
    if (place.isInRow) tokens.setOpen(this.#dataDepth + 1, 'row');
    else tokens.depth = this.#dataDepth;
    countShared(kernel!.sharedBytes);
    return stop;
  }

  #hideColumns(): void {
    const tokens = this.#tokens;
    let first = 1;
    let last = 0;
    let isHidden = false;
    while (tokens.nextAttribute()) {
      if (tokens.attributeIs('min')) first = this.#number();
      else if (tokens.attributeIs('max')) last = this.#number();
      else if (tokens.attributeIs('hidden')) isHidden = this.#isTrue();
    }
    if (!isHidden) return;
    this.#columns ??= sameColumns();
    this.#columns.fill(-1, Math.max(1, first) - 1, Math.min(last, COLUMNS_MAX));
  }

  /** Numbers the visible columns consecutively. */
  #numberColumns(): void {
    let next = 0;
    for (const [column, place] of this.#columns!.entries()) if (place >= 0) this.#columns![column] = next++;
  }

  /** Columns after those in `order` keep their place. */
  #orderColumns(order: readonly number[]): void {
    const columns = this.#columns ?? sameColumns();
    this.#columns = columns;
    for (const [column, place] of columns.entries()) if (place >= 0) columns[column] = order[place] ?? place;
  }

  #beginRow(sink: CellSink, token: number): void {
    const tokens = this.#tokens;
    let isHidden = false;
    let row = this.#place.row + 1;
    while (tokens.nextAttribute()) {
      if (tokens.attributeIs('r')) row = this.#ascending(row, this.#number());
      else if (tokens.attributeIs('hidden')) isHidden = this.#isTrue();
    }
    if (row > ROW_NUMBER_MAX) throw malformedWorkbook('a row number is greater than a sheet allows');
    this.#place.row = row;
    const { range, skipHidden } = this.#settings;
    if (range !== null && row > range.lastRow) this.#isEnded = true;
    this.#place.isRowLeftOut =
      (range !== null && (row < range.firstRow || row > range.lastRow)) || (skipHidden && isHidden);
    this.#place.nextColumn = 0;
    this.#cell.column = 0;
    this.#place.isInRow = token === OPEN;
    if (this.#place.isRowLeftOut) {
      if (skipHidden) sink.hidden?.beginRow(row);
      return;
    }
    sink.beginRow(row);
    if (token === EMPTY) sink.endRow();
  }

  /**
   * Returns the number of a row. If the number in the file is not greater than the previous one, the row counts as the
   * next row. In a table, such a row is refused, because the number decides whether the row is read.
   * @param next smallest number that the row can have
   * @param given number in the file, or 0 if it is invalid
   */
  #ascending(next: number, given: number): number {
    if (given > 0 && given < next && this.#settings.range !== null)
      throw malformedWorkbook('the row numbers of a sheet with a table do not ascend');
    return Math.max(next, given);
  }

  /** Returns false if the cell does not have the usual form. */
  #plainCell(sink: CellSink): boolean {
    const cell = this.#cell;
    const { bytes, at } = this.#tokens;
    if (bytes[at] !== LESS || bytes[at + 2] !== SPACE || !cell.readPlain(this.#place.nextColumn)) return false;
    this.#give(sink);
    return true;
  }

  #give(sink: CellSink): void {
    const cell = this.#cell;
    this.#place.nextColumn = cell.column + 1;
    const column = this.#place.isRowLeftOut ? -1 : this.columnOf(cell.column);
    if (column >= 0) this.#values.give(cell, column, sink);
    else if (sink.hidden !== undefined && this.#settings.skipHidden) this.#values.give(cell, cell.column, sink.hidden);
  }

  /** Returns false if more bytes are needed for the cell. */
  #cellOrOther(sink: CellSink, token: number): boolean {
    const tokens = this.#tokens;
    if (tokens.end - tokens.start !== 1 || tokens.bytes[tokens.start] !== LETTER_C) {
      return token === EMPTY || this.#passOver();
    }
    const cell = this.#cell;
    if (!cell.read(this.#place.nextColumn, token === EMPTY)) return false;
    if (token === EMPTY) this.#place.nextColumn = cell.column + 1;
    else this.#give(sink);
    return true;
  }

  #passOver(): boolean {
    const tokens = this.#tokens;
    const depth = tokens.depth;
    for (;;) {
      const token = tokens.next();
      if (token === MORE) return false;
      if (token === CLOSE && tokens.depth < depth) return true;
    }
  }

  /** Returns true at the end of a row that was reported. */
  #closed(sink: CellSink): boolean {
    const tokens = this.#tokens;
    if (!this.#isInData) return false;
    if (this.#place.isInRow && tokens.is('row')) {
      this.#place.isInRow = false;
      this.#settings.countShared(this.#values.sharedBytes);
      this.#values.sharedBytes = 0;
      if (this.#place.isRowLeftOut) return false;
      sink.endRow();
      return true;
    }
    if (tokens.is('sheetData')) this.#isEnded = true;
    return false;
  }

  #number(): number {
    const { bytes, valueStart, valueEnd } = this.#tokens;
    let value = 0;
    for (let at = valueStart; at < valueEnd; at++) {
      const digit = bytes[at]! - 0x30;
      if (digit < 0 || digit > 9 || value > ROW_NUMBER_MAX) return value > ROW_NUMBER_MAX ? value : 0;
      value = value * 10 + digit;
    }
    return value;
  }

  #isTrue(): boolean {
    return this.#tokens.valueIs('1') || this.#tokens.valueIs('true');
  }
}

function sameColumns(): Int32Array {
  return Int32Array.from({ length: COLUMNS_MAX }, (_, column) => column);
}

function columnsOf({ firstColumn, lastColumn }: CellRange): Int32Array {
  const within = (column: number): boolean => column >= firstColumn && column <= lastColumn;
  return Int32Array.from({ length: COLUMNS_MAX }, (_, column) => (within(column) ? column - firstColumn : -1));
}
