// Reads the rows of a workbook: one sheet or table, or several sheets with the same columns, in sequence.
import type { Batch } from '../../batch/batch.ts';
import { Failed } from '../../protocol/failure.ts';
import type { RunReport } from '../../protocol/report.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { mergeCounts } from '../csv/csv-input.ts';
import type { RaggedRow } from '../csv/selected-rows.ts';
import type { FileHead, RowReader, SheetRow } from '../reader.ts';
import type { CellRange } from './cell-range.ts';
import type { CellSink } from './cell-sink.ts';
import { MergedSink } from './merged-cells.ts';
import type { ChosenSheet, OpenWorkbook } from './open-workbook.ts';
import type { RowBatch } from './row-batch.ts';
import type { SheetHeader } from './sheet-header.ts';
import type { SheetReader, SheetSettings } from './sheet-reader.ts';

/** A sheet whose rows are read. */
export interface ReadSheet {
  readonly chosen: ChosenSheet;
  readonly header: SheetHeader;
  /** Merged ranges whose values are repeated. */
  readonly merged: readonly CellRange[];
  /** See SheetSettings. */
  readonly order: readonly number[] | null;
}

export interface WorkbookReaderParts {
  readonly workbook: OpenWorkbook;
  readonly sheets: readonly ReadSheet[];
  readonly head: FileHead;
  readonly rows: RowBatch;
  readonly skipHidden: boolean;
  /** True if other Runs should continue now. */
  readonly isDue: () => boolean;
  readonly close: () => void;
}

interface PassSettings {
  readonly skipHidden: boolean;
  readonly merged: readonly CellRange[];
  /** See SheetSettings. */
  readonly order?: readonly number[] | null;
  readonly sink: CellSink;
}

/** One sheet with its reader and the sink of its cells. */
export class SheetPass {
  readonly #reader: SheetReader;
  readonly #chosen: ChosenSheet;
  readonly #sink: CellSink;

  constructor(workbook: OpenWorkbook, chosen: ChosenSheet, { skipHidden, merged, order = null, sink }: PassSettings) {
    const reader = openedSheet(workbook, chosen, { skipHidden, order });
    this.#reader = reader;
    this.#chosen = chosen;
    const columnOf = (column: number): number => reader.columnOf(column);
    const countRepeated = (bytes: number): void => workbook.countRepeated(bytes);
    this.#sink = merged.length === 0 ? sink : new MergedSink(sink, merged, columnOf, countRepeated);
  }

  /** Same as SheetReader.read. Throws Failed with the position in the message. */
  read(rowsMax: number): 'more' | 'wait' | 'end' {
    try {
      return this.#reader.read(this.#sink, rowsMax);
    } catch (error) {
      throw error instanceof Failed ? this.#placed(error) : error;
    }
  }

  get isInRow(): boolean {
    return this.#reader.isInRow;
  }

  /** Number of columns of the sheet or table that are read. Known after the first row. */
  get columns(): number {
    return this.#reader.columnsTold;
  }

  wait(): Promise<void> {
    return this.#reader.wait();
  }

  close(): void {
    this.#reader.close();
  }

  #placed({ failure }: Failed): Failed {
    const { row, column } = this.#reader;
    if (failure.code !== 'MALFORMED_FILE') return new Failed(failure.code, failure.message, failure);
    const place = row === 0 ? 'before its first row' : `at row ${row}, column ${columnLetters(column)} or after it`;
    return new Failed(failure.code, `${failure.message} (Sheet ${this.#chosen.number}, ${place}.)`);
  }
}

function openedSheet(
  workbook: OpenWorkbook,
  { sheet, range, number }: ChosenSheet,
  settings: Pick<SheetSettings, 'skipHidden' | 'order'>,
): SheetReader {
  try {
    return workbook.read(sheet, { ...settings, range });
  } catch (error) {
    if (!(error instanceof Failed) || error.failure.code !== 'MALFORMED_FILE') throw error;
    throw new Failed('MALFORMED_FILE', `${error.failure.message} (Sheet ${number}.)`);
  }
}

export class WorkbookReader implements RowReader {
  readonly head: FileHead;
  readonly #parts: WorkbookReaderParts;
  readonly #rows: RowBatch;
  #index = -1;
  #pass: SheetPass | null = null;
  #isEnded = false;
  /** True if the current batch began before a wait. Its last row may be incomplete. */
  #isBegun = false;

  constructor(parts: WorkbookReaderParts) {
    this.head = parts.head;
    this.#parts = parts;
    this.#rows = parts.rows;
  }

  get rowsRead(): number {
    return this.#rows.rowsRead;
  }

  placeOf(row: number): SheetRow | null {
    return this.#rows.places.of(row);
  }

  next(rowsMax: number): Batch | 'wait' | 'end' {
    if (this.#isEnded) return 'end';
    const rows = this.#rows;
    if (this.#pass === null) this.#beginSheet();
    if (!this.#isBegun) rows.begin(rowsMax);
    this.#isBegun = false;
    for (;;) {
      const pass = this.#pass!;
      const state = pass.read(rows.rowsMax);
      if (state === 'wait' || (state === 'more' && pass.isInRow)) {
        this.#isBegun = true;
        return 'wait';
      }
      if (state === 'more') return rows.take();
      this.#endSheet();
      // A batch contains rows of one sheet only.
      if (rows.rows > 0) return rows.take();
      if (this.#isEnded) return 'end';
      this.#beginSheet();
      rows.begin(rowsMax);
      // Thousands of sheets may have no rows, so the loop must yield.
      if (!this.#parts.isDue()) continue;
      this.#isBegun = true;
      return 'wait';
    }
  }

  get raggedRows(): readonly RaggedRow[] {
    return this.#rows.raggedRows;
  }

  wait(): Promise<void> {
    return this.#pass!.wait();
  }

  describe(report: RunReport): void {
    mergeCounts(report.input.errors, this.#rows.counts);
  }

  close(): void {
    this.#pass?.close();
    this.#parts.workbook.close();
    this.#parts.close();
  }

  #beginSheet(): void {
    this.#index++;
    const { workbook, sheets, skipHidden, rows } = this.#parts;
    const { chosen, header, merged, order } = sheets[this.#index]!;
    rows.beginSheet(chosen.sheet.name, header.firstDataRow);
    rows.places.beginSheet(chosen.number);
    this.#pass = new SheetPass(workbook, chosen, { skipHidden, merged, order, sink: rows });
  }

  #endSheet(): void {
    this.#pass?.close();
    this.#pass = null;
    this.#isEnded = this.#index + 1 === this.#parts.sheets.length;
  }
}

/** Reads a sheet from its first row until the sink is full. Throws Failed. */
export function* readUntilFull(pass: SheetPass, sink: CellSink, giveWay: () => Promise<void> | null): Coroutine<void> {
  try {
    for (;;) {
      const state = pass.read(ROWS_AT_ONCE);
      if (state === 'end' || sink.isFull === true) return;
      const wait = state === 'wait' ? pass.wait() : giveWay();
      if (wait !== null) yield wait;
    }
  } finally {
    pass.close();
  }
}

/** Number of rows between two checks of the clock. */
const ROWS_AT_ONCE = 256;

/** 0 is A, 26 is AA. */
function columnLetters(column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}
