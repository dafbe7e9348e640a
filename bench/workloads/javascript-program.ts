// A workload as hand-written JavaScript over rows of texts from a CSV library.

export type Cells = readonly string[];

/** Called with the header of the input. */
export type JavaScriptProgram = (header: Cells) => JavaScriptWork;

export interface JavaScriptWork {
  /** Columns of the output. */
  readonly columns: Cells;
  /** Returns the output row, or null for no row (yet). */
  row(cells: Cells): Cells | null;
  /** Returns rows that are only emitted at the end. */
  finish?(): Iterable<Cells>;
}

/** Returns the positions of columns, which must exist. */
export function positions(header: Cells, columns: Cells): readonly number[] {
  return columns.map((column) => {
    const position = header.indexOf(column);
    if (position < 0) throw new Error(`the file has no column ${column}`);
    return position;
  });
}
