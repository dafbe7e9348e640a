// Copies of the first rows behind one operation. A row is known by its source row, and by its place among those of the same
// source row: so it is found again behind the next operation.
import type { Schema } from '../batch/schema.ts';

/** Characters of a cell that are kept: a screen shows no more. Behind them stands "…". */
export const CELL_CHARACTERS_MAX = 2_000;

export class StepRows {
  readonly schema: Schema;
  readonly #rowsMax: number;
  readonly #sourceRows: number[] = [];
  /** Among the rows of the same source row, from 0. */
  readonly #repeats: number[] = [];
  readonly #seen = new Map<number, number>();
  readonly #places = new Map<string, number>();
  readonly #cells: (string | null)[][] = [];
  readonly #columnsById: ReadonlyMap<number, number>;

  constructor(schema: Schema, rowsMax: number) {
    this.schema = schema;
    this.#rowsMax = rowsMax;
    this.#columnsById = new Map(schema.map(({ id }, index) => [id, index]));
  }

  /** Rows that it would still take. */
  get room(): number {
    return this.#rowsMax - this.#cells.length;
  }

  get count(): number {
    return this.#cells.length;
  }

  /** @returns the index of the first of them */
  add(count: number, sourceRow: (position: number) => number): number {
    const first = this.#cells.length;
    for (let position = 0; position < count; position++) {
      const row = sourceRow(position);
      const repeat = this.#seen.get(row) ?? 0;
      this.#seen.set(row, repeat + 1);
      this.#places.set(`${row}/${repeat}`, this.#cells.length);
      this.#sourceRows.push(row);
      this.#repeats.push(repeat);
      this.#cells.push(Array.from({ length: this.schema.length }, () => null));
    }
    return first;
  }

  set(row: number, column: number, text: string | null): void {
    const isLong = text !== null && text.length > CELL_CHARACTERS_MAX;
    this.#cells[row]![column] = isLong ? `${text.slice(0, CELL_CHARACTERS_MAX)}…` : text;
  }

  sourceRow(row: number): number {
    return this.#sourceRows[row]!;
  }

  repeat(row: number): number {
    return this.#repeats[row]!;
  }

  cells(row: number): readonly (string | null)[] {
    return this.#cells[row]!;
  }

  /** -1: it is not among them. */
  find(sourceRow: number, repeat: number): number {
    return this.#places.get(`${sourceRow}/${repeat}`) ?? -1;
  }

  /** -1: there is no such column. */
  columnOf(id: number): number {
    return this.#columnsById.get(id) ?? -1;
  }

  /** Places of the cells of a row that had another text before, with that text; a column or row that is new has none. */
  changes(row: number, before: StepRows): { readonly column: number; readonly text: string | null }[] {
    const found = before.find(this.sourceRow(row), this.repeat(row));
    if (found < 0) return [];
    const [cells, cellsBefore] = [this.cells(row), before.cells(found)];
    return this.schema.flatMap(({ id }, column) => {
      const place = before.columnOf(id);
      if (place < 0 || cellsBefore[place] === cells[column]) return [];
      return [{ column, text: cellsBefore[place]! }];
    });
  }
}
