// Reads a sheet from its first row to its last, row by row and cell by cell, into a sink. What it says of its own size is
// not looked at: it is often missing or wrong.

import { ROW_NUMBER_MAX } from '../../kernel/layout/sheet.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import type { CellRange } from './cell-range.ts';
import { CellReader } from './cell-reader.ts';
import type { CellSink } from './cell-sink.ts';
import { CellValues, type CellValuesParts } from './cell-values.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import type { KernelRows, KernelStop, SheetKernel, SheetPlace } from './sheet-kernel.ts';
import type { WindowRoom } from './window-room.ts';
import { CLOSE, EMPTY, END, MORE, OPEN, XmlTokens } from './xml-tokens.ts';
import { XmlWindow } from './xml-window.ts';

const LESS = 0x3c;
const SPACE = 0x20;
const LETTER_C = 0x63;

/** A sheet of cells that the kernel leaves is offered to it again after 2 to the power of so many. */
const FRUITLESS_MAX = 6;

/** Windows that are gone through without a row before others may go on: a millisecond of work each. */
const EMPTY_WINDOWS_MAX = 4;

export interface SheetSettings extends CellValuesParts {
  /** Is told of the bytes of shared strings in each row; throws Failed when they are too many. */
  readonly countShared: (bytes: number) => void;
  /** Rows and columns that are hidden are left out. */
  readonly skipHidden: boolean;
  /** Only these cells, the first of them as column 0; null = all. */
  readonly range: CellRange | null;
  readonly room: WindowRoom;
  /** Reads what it can where rows go to a sink that takes them from it; null: each cell is told. */
  readonly kernel: SheetKernel | null;
}

export class SheetReader {
  readonly #tokens: XmlTokens;
  readonly #cell: CellReader;
  readonly #values: CellValues;
  readonly #settings: SheetSettings;
  /** Column of the output by column of the sheet, -1 where it is left out; null when they are the same. */
  #columns: Int32Array | null;
  readonly #place: SheetPlace = { row: 0, isInRow: false, isRowLeftOut: false, nextColumn: 0 };
  #isInData = false;
  #isEnded = false;
  /** Calls of the kernel in a row that read nothing, and tokens until it is asked again. */
  #fruitless = 0;
  #rest = 0;
  /** Elements around a row; 0: the kernel cannot read this sheet. */
  #dataDepth = 0;

  constructor(source: PieceSource, settings: SheetSettings) {
    const tokens = new XmlTokens(new XmlWindow(source, settings.room));
    this.#tokens = tokens;
    this.#cell = new CellReader(tokens);
    this.#values = new CellValues(settings);
    this.#settings = settings;
    this.#columns = settings.range === null ? null : columnsOf(settings.range);
  }

  /** The row that was begun last, as the sheet counts, from 1; 0 before the first. */
  get row(): number {
    return this.#place.row;
  }

  /** A row was begun that did not end yet. */
  get isInRow(): boolean {
    return this.#place.isInRow;
  }

  /** The column of the sheet, from 0, of the cell that was read last or comes next. */
  get column(): number {
    return this.#place.isInRow ? this.#cell.column : 0;
  }

  /** Where cells of a column of the sheet are told, -1: nowhere. */
  columnOf(column: number): number {
    return this.#columns === null ? column : (this.#columns[column] ?? -1);
  }

  /**
   * Reads at most so many rows, or until the sink is full. 'more': there may be others; 'wait': bytes are missing, then await
   * `wait`. Throws Failed.
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

  /** @param at where the tag begins */
  #beforeData(token: number, at: number): void {
    const tokens = this.#tokens;
    if (tokens.is('sheetData')) {
      this.#isInData = token === OPEN;
      this.#isEnded = token === EMPTY;
      if (this.#columns !== null) this.#numberColumns();
      const { kernel, range, skipHidden } = this.#settings;
      const prefix = tokens.bytes.subarray(at + 1, tokens.start);
      const isReady = kernel?.begin({ range, skipHidden, columns: this.#columns, prefix }) === true;
      this.#dataDepth = isReady ? tokens.depth : 0;
    } else if (this.#settings.skipHidden && tokens.is('col')) this.#hideColumns();
  }

  /** It reads rows, and within them cells. */
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
    this.#columns ??= Int32Array.from({ length: COLUMNS_MAX }, (_, column) => column);
    this.#columns.fill(-1, Math.max(1, first) - 1, Math.min(last, COLUMNS_MAX));
  }

  /** Those that are left move up to where hidden ones were. */
  #numberColumns(): void {
    let next = 0;
    for (const [column, place] of this.#columns!.entries()) if (place >= 0) this.#columns![column] = next++;
  }

  #beginRow(sink: CellSink, token: number): void {
    const tokens = this.#tokens;
    let isHidden = false;
    let row = this.#place.row + 1;
    while (tokens.nextAttribute()) {
      if (tokens.attributeIs('r')) row = Math.max(row, this.#number());
      else if (tokens.attributeIs('hidden')) isHidden = this.#isTrue();
    }
    if (row > ROW_NUMBER_MAX) throw malformedWorkbook('a row has a number beyond all sheets');
    this.#place.row = row;
    const { range, skipHidden } = this.#settings;
    if (range !== null && row > range.lastRow) this.#isEnded = true;
    this.#place.isRowLeftOut =
      (range !== null && (row < range.firstRow || row > range.lastRow)) || (skipHidden && isHidden);
    this.#place.nextColumn = 0;
    this.#cell.column = 0;
    this.#place.isInRow = token === OPEN;
    if (this.#place.isRowLeftOut) return;
    sink.beginRow(row);
    if (token === EMPTY) sink.endRow();
  }

  /** False where it is written in another form than most. */
  #plainCell(sink: CellSink): boolean {
    const cell = this.#cell;
    const { bytes, at } = this.#tokens;
    if (bytes[at] !== LESS || bytes[at + 2] !== SPACE || !cell.readPlain(this.#place.nextColumn)) return false;
    this.#place.nextColumn = cell.column + 1;
    if (this.#place.isRowLeftOut) return true;
    const column = this.#columns === null ? cell.column : this.#columns[cell.column]!;
    if (column >= 0) this.#values.give(cell, column, sink);
    return true;
  }

  /** False when more bytes are wanted for the cell. */
  #cellOrOther(sink: CellSink, token: number): boolean {
    const tokens = this.#tokens;
    if (tokens.end - tokens.start !== 1 || tokens.bytes[tokens.start] !== LETTER_C) {
      return token === EMPTY || this.#passOver();
    }
    const cell = this.#cell;
    if (!cell.read(this.#place.nextColumn, token === EMPTY)) return false;
    this.#place.nextColumn = cell.column + 1;
    if (this.#place.isRowLeftOut || token === EMPTY) return true;
    const column = this.#columns === null ? cell.column : this.#columns[cell.column]!;
    if (column >= 0) this.#values.give(cell, column, sink);
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

  /** True at the end of a row that was told. */
  #closed(sink: CellSink): boolean {
    const tokens = this.#tokens;
    if (!this.#isInData) return false;
    if (this.#place.isInRow && tokens.is('row')) {
      this.#place.isInRow = false;
      if (this.#place.isRowLeftOut) return false;
      this.#settings.countShared(this.#values.sharedBytes);
      this.#values.sharedBytes = 0;
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

function columnsOf({ firstColumn, lastColumn }: CellRange): Int32Array {
  const within = (column: number): boolean => column >= firstColumn && column <= lastColumn;
  return Int32Array.from({ length: COLUMNS_MAX }, (_, column) => (within(column) ? column - firstColumn : -1));
}
