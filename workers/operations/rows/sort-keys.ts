// Keys for sorting rows of batches by some of their columns.
import { type Batch, VIEW_BYTES } from '../../batch.ts';
import { bindAll, CellReader } from '../cells/cell-values.ts';
import type { RowOrder } from './row-sorter.ts';
import { type SortColumn, SortKeyWriter } from './sort-key.ts';

/** A column to sort by, and its index in the batches. */
export interface SortTerm extends SortColumn {
  readonly index: number;
}

export class SortKeys implements RowOrder {
  readonly #readers: readonly CellReader[];
  readonly #writer: SortKeyWriter;

  constructor(terms: readonly SortTerm[]) {
    this.#readers = terms.map(({ type, index }) => new CellReader(type, index));
    this.#writer = new SortKeyWriter(terms);
  }

  prepare(): void {}

  make(batch: Batch): number {
    const { arena } = batch;
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    if (views === 0) return 0;
    bindAll(batch, () => {
      for (const reader of this.#readers) reader.bind(batch);
    });
    const { u8, u32 } = arena.heap;
    const values: unknown[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = u32[(batch.selection >>> 2) + position]!;
      for (const [index, reader] of this.#readers.entries()) values[index] = reader.read(row);
      const key = this.#writer.key(values);
      if (arena.freeBytes < key.length) return 0;
      u8.set(key, arena.next);
      u32[(views >>> 2) + row * 2] = arena.next;
      u32[(views >>> 2) + row * 2 + 1] = key.length;
      arena.next += key.length;
    }
    return views;
  }
}

/** A sorted batch without its key. */
export function withoutKey(batch: Batch): Batch {
  return batch.withColumns(batch.columns.slice(1));
}
