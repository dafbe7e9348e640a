// Copies of rows behind or before one operation that are of interest wherever they stand in the file: those that it changed,
// and those in trouble there. A row is known by its source row, and by its place among those of the same source row.
import { type IndexedRows, RowIndex } from './row-index.ts';

/** Cells that may still be copied, of all operations together. */
export class CellAllowance {
  #left: number;

  constructor(cells: number) {
    this.#left = cells;
  }

  /** False: there are fewer. */
  take(cells: number): boolean {
    if (cells > this.#left) return false;
    this.#left -= cells;
    return true;
  }
}

export interface ChangedCell {
  readonly column: number;
  /** Before the operation. */
  readonly text: string | null;
}

export interface KeptRow {
  readonly sourceRow: number;
  /** Among the rows of the same source row, from 0. */
  readonly repeat: number;
  readonly cells: readonly (string | null)[];
  readonly changed: readonly ChangedCell[];
}

export class KeptRows implements IndexedRows {
  readonly #rowsMax: number;
  readonly #allowance: CellAllowance;
  readonly #rows: KeptRow[] = [];
  readonly #index = new RowIndex(this);
  #isFull = false;

  constructor(rowsMax: number, allowance: CellAllowance) {
    this.#rowsMax = rowsMax;
    this.#allowance = allowance;
  }

  /** It takes no more, so that nobody needs to look for them. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get count(): number {
    return this.#rows.length;
  }

  sourceRow(place: number): number {
    return this.#rows[place]!.sourceRow;
  }

  repeat(place: number): number {
    return this.#rows[place]!.repeat;
  }

  /** In the order in which they came. */
  get rows(): readonly KeptRow[] {
    return this.#rows;
  }

  add(row: KeptRow): void {
    if (this.#isFull) return;
    if (!this.#allowance.take(row.cells.length + row.changed.length)) {
      this.#isFull = true;
      return;
    }
    this.#rows.push(row);
    this.#isFull = this.#rows.length === this.#rowsMax;
  }

  find(sourceRow: number, repeat: number): KeptRow | null {
    return this.#rows[this.#index.find(sourceRow, repeat)] ?? null;
  }
}
