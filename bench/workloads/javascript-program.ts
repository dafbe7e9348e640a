// A workload as someone writes it by hand in JavaScript, over rows of texts that a CSV library gives.

export type Cells = readonly string[];

/** Starts on the input's header. */
export type JavaScriptProgram = (header: Cells) => JavaScriptWork;

export interface JavaScriptWork {
  /** The output's columns. */
  readonly columns: Cells;
  /** The row that comes out, or null for none (yet). */
  row(cells: Cells): Cells | null;
  /** Rows that only come out at the end. */
  finish?(): Iterable<Cells>;
}

/** The positions of columns, which are known to be there. */
export function positions(header: Cells, columns: Cells): readonly number[] {
  return columns.map((column) => {
    const position = header.indexOf(column);
    if (position < 0) throw new Error(`the file has no column ${column}`);
    return position;
  });
}
