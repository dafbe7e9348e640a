// Where the data rows of a workbook stand in its sheets: blank and hidden rows are passed over, and sheets are read one after
// the other, so that the number of a data row does not tell it. Kept as stretches of rows that follow each other.
import type { SheetRow } from '../reader.ts';

/** Beyond so many stretches nothing is known: 24 bytes each, and sheets with more of them are rare. */
const STRETCHES_MAX = 8192;

export class RowPlaces {
  /** By stretch: its first data row from 1, the sheet from 1, and that row's number in the sheet from 1. */
  readonly #rows: number[] = [];
  readonly #sheets: number[] = [];
  readonly #sheetRows: number[] = [];
  #sheet = 0;
  /** The data row behind the last that is known, and the row of the sheet where it would continue the stretch. */
  #next = 1;
  #nextSheetRow = 0;

  beginSheet(sheet: number): void {
    this.#sheet = sheet;
    this.#nextSheetRow = 0;
  }

  /** @param row must be the one behind the last that was added, or nothing is known of it and those behind it */
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

  /** The same for data rows from `row` on, whose numbers in the sheet ascend. */
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

  /** Null where it is not known. */
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
