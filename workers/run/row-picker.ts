// Lets only some rows of a file through, by their source rows, in the order in which they are read.
import type { Batch } from '../batch/batch.ts';

const ROW_NUMBER_BYTES = 4;

export class RowPicker {
  readonly #rows: readonly number[];
  /** Of the first of `rows` that has not come yet. */
  #next = 0;

  /** @param rows source rows, ascending */
  constructor(rows: readonly number[]) {
    this.#rows = rows;
  }

  /** @returns the batch with those of its live rows that are picked: of many files mostly none, which costs nothing */
  pick(batch: Batch): Batch {
    const next = this.#rows[this.#next];
    if (batch.live === 0 || next === undefined || next > sourceRow(batch, batch.live - 1)) return batch.slice(0, 0);
    const at = batch.arena.take(batch.live * ROW_NUMBER_BYTES);
    const { u32 } = batch.heap;
    let live = 0;
    for (let position = 0; position < batch.live && this.#next < this.#rows.length; position++) {
      const row = sourceRow(batch, position);
      while (this.#rows[this.#next]! < row) this.#next++;
      if (this.#rows[this.#next] !== row) continue;
      u32[(at >>> 2) + live++] = batch.physicalRow(position);
    }
    return batch.withSelection(at, live);
  }
}

function sourceRow(batch: Batch, position: number): number {
  return batch.sourceRow(batch.physicalRow(position));
}
