// Finds rows that are kept by their source row, and by their place among those of the same source row. Rows are found when
// somebody looks at one, so that what keeps them does not pay for it: 2,000 rows behind each of a dozen operations are kept
// for each edit.

/** The rows, which are only added to. */
export interface IndexedRows {
  readonly count: number;
  sourceRow(place: number): number;
  /** Among the rows of the same source row, from 0. */
  repeat(place: number): number;
}

export class RowIndex {
  readonly #rows: IndexedRows;
  readonly #places = new Map<string, number>();
  /** Rows that are in it. */
  #indexed = 0;

  constructor(rows: IndexedRows) {
    this.#rows = rows;
  }

  /** -1: it is not among them. */
  find(sourceRow: number, repeat: number): number {
    for (; this.#indexed < this.#rows.count; this.#indexed++)
      this.#places.set(keyOf(this.#rows.sourceRow(this.#indexed), this.#rows.repeat(this.#indexed)), this.#indexed);
    return this.#places.get(keyOf(sourceRow, repeat)) ?? -1;
  }
}

function keyOf(sourceRow: number, repeat: number): string {
  return `${sourceRow}/${repeat}`;
}
