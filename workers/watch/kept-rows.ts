// Copies of rows before or after one operation that are of interest regardless of their position in the file, found by
// their row numbers.

// Finds stored rows by their source row and their index among the rows of that source row. The index is built at the
// first lookup, so that storing rows stays cheap: at each edit of a Template, 2,000 rows are stored for each of a
// dozen operations.

/** The stored rows. Rows are only appended. */
export interface IndexedRows {
  readonly count: number;
  sourceRow(place: number): number;
  /** Index among the rows of the same source row, starting at 0. */
  repeat(place: number): number;
}

export class RowIndex {
  readonly #rows: IndexedRows;
  readonly #places = new Map<string, number>();
  /** Number of rows already indexed. */
  #indexed = 0;

  constructor(rows: IndexedRows) {
    this.#rows = rows;
  }

  /** Returns -1 if the row is not stored. */
  find(sourceRow: number, repeat: number): number {
    for (; this.#indexed < this.#rows.count; this.#indexed++)
      this.#places.set(keyOf(this.#rows.sourceRow(this.#indexed), this.#rows.repeat(this.#indexed)), this.#indexed);
    return this.#places.get(keyOf(sourceRow, repeat)) ?? -1;
  }
}

function keyOf(sourceRow: number, repeat: number): string {
  return `${sourceRow}/${repeat}`;
}

// Copies of rows before or after one operation that are of interest regardless of their position in the file: rows
// that the operation changed, and rows with errors at it. A row is identified by its source row and its index among
// the rows of that source row.

/** Number of cells that may still be copied, shared by all operations. */
export class CellAllowance {
  #left: number;

  constructor(cells: number) {
    this.#left = cells;
  }

  /** Returns false, and takes nothing, if fewer cells are left. */
  take(cells: number): boolean {
    if (cells > this.#left) return false;
    this.#left -= cells;
    return true;
  }
}

export interface ChangedCell {
  readonly column: number;
  /** The text before the operation. */
  readonly text: string | null;
}

export interface KeptRow {
  readonly sourceRow: number;
  /** Index among the rows of the same source row, starting at 0. */
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

  /** True if no more rows are accepted, so that callers can stop looking for them. */
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

  /** In the order of arrival. */
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
