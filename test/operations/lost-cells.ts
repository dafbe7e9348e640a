// Applications of each operation to the columns `id`, `k`, `v` and `w` of lost-cells.test.ts, with the intended changes.
// Independent of the test framework.

export interface Application {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Columns whose cells the operation is meant to edit, in the rows of `where`. */
  readonly edits?: readonly string[];
  /** Columns that the operation removes. */
  readonly removes?: readonly string[];
  /** The operation makes rows from other rows. */
  readonly groups?: true;
  /** The operation does not receive rows after the last row that it accepts. */
  readonly ends?: true;
}

/** The reference table `codes`. */
export const TABLE = 'key,text\n12,twelve\n7.25,seven\nx,ex\nw1,one\n';

/** The same operation in place, by a pattern, on all matching columns, and into a new column. */
export function onCells(parameters: Readonly<Record<string, unknown>>): Application[] {
  return [
    { parameters: { columns: 'v', ...parameters }, edits: ['v'] },
    { parameters: { columns: { pattern: '^v$' }, ...parameters }, edits: ['v'] },
    { parameters: { columns: ['v'], into: 'made', ...parameters } },
  ];
}
