// Copies of the first rows behind one operation. A row is known by its source row, and by its place among those of the same
// source row: so it is found again behind the next operation.
import type { Schema } from '../batch/schema.ts';
import { type IndexedRows, RowIndex } from './row-index.ts';

export class StepRows implements IndexedRows {
  readonly schema: Schema;
  readonly #rowsMax: number;
  readonly #sourceRows: number[] = [];
  /** Among the rows of the same source row, from 0. */
  readonly #repeats: number[] = [];
  readonly #seen = new Map<number, number>();
  readonly #index = new RowIndex(this);
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
      this.#sourceRows.push(row);
      this.#repeats.push(repeat);
      this.#cells.push(new Array<string | null>(this.schema.length).fill(null));
    }
    return first;
  }

  /** @param text as cellText gives it */
  set(row: number, column: number, text: string | null): void {
    this.#cells[row]![column] = text;
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
    return this.#index.find(sourceRow, repeat);
  }

  /** -1: there is no such column. */
  columnOf(id: number): number {
    return this.#columnsById.get(id) ?? -1;
  }
}
