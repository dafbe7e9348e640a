// Batches for tests, made from rows of texts in memory that the next batch overwrites.
import { Batch, type ColumnData } from '../../../workers/batch/batch.ts';
import { ColumnBuilder } from '../../../workers/batch/column-builder.ts';
import type { Schema } from '../../../workers/batch/schema.ts';
import { constantValue } from '../../../workers/execution/cells/constant-value.ts';
import { VIEW_BYTES } from '../../../workers/kernel/layout/cells.ts';
import type { Arena } from '../../../workers/memory/arena.ts';
import type { Heap } from '../../../workers/memory/heap.ts';

export type Cell = string | null;
export type Rows = readonly (readonly Cell[])[];

/**
 * Memory that each batch overwrites, like the window of a reader: an operation that keeps views of an earlier batch reads
 * garbage.
 */
export class Window {
  readonly #heap: Heap;
  readonly #start: number;
  readonly #bytes: number;
  #next: number;

  constructor(heap: Heap, bytes: number) {
    this.#heap = heap;
    this.#bytes = bytes;
    this.#start = heap.allocate(bytes);
    this.#next = this.#start;
  }

  clear(): void {
    this.#heap.u8.fill(0xee, this.#start, this.#start + this.#bytes);
    this.#next = this.#start;
  }

  take(bytes: number): number {
    const at = (this.#next + 7) & ~7;
    this.#next = at + bytes;
    if (this.#next > this.#start + this.#bytes) throw new Error('the window is too small');
    return at;
  }
}

/** Maximum bytes of a batch of `size` rows, including dead rows. */
export function windowBytes(rows: Rows, columns: number, size: number): number {
  let most = 0;
  for (let at = 0; at < rows.length; at += Math.max(size, 1)) {
    let bytes = 1024;
    for (const row of rows.slice(at, at + Math.max(size, 1))) {
      bytes += 64 + columns * 24 + row.reduce((sum, cell) => sum + Buffer.byteLength(cell ?? '') + 8, 0);
    }
    most = Math.max(most, bytes);
  }
  return most;
}

/** A batch of text columns. A sparse batch has dead rows between the others. */
export function buildBatch(
  arena: Arena,
  window: Window,
  columns: number,
  rows: Rows,
  firstSource: number,
  sparse: boolean,
): Batch {
  const { heap } = arena;
  const step = sparse ? 2 : 1;
  const physical = rows.length * step;
  window.clear();
  const data: ColumnData[] = Array.from({ length: columns }, (_, column) => {
    const at = window.take(physical * VIEW_BYTES);
    for (const [index, row] of rows.entries()) {
      const cell = row[column] ?? null;
      const bytes = Buffer.from(cell ?? '', 'utf8');
      const start = window.take(bytes.length);
      heap.u8.set(bytes, start);
      heap.u32.set([cell === null ? 0 : start, bytes.length], (at + index * step * VIEW_BYTES) >>> 2);
    }
    return { kind: 'views', at };
  });
  const selection = window.take(rows.length * 4);
  for (let index = 0; index < rows.length; index++) heap.u32[(selection >>> 2) + index] = index * step;
  const sources = window.take(physical * 8);
  for (let row = 0; row < physical; row++) heap.f64[(sources >>> 3) + row] = firstSource + Math.floor(row / step);
  return new Batch({
    arena,
    rows: physical,
    selection,
    live: rows.length,
    columns: data,
    raw: null,
    sourceRows: { at: sources },
    materialise: () => {
      throw new Error('there are no raw columns here');
    },
  });
}

/** The batch with its texts parsed as values of the columns' types. */
export function withTypes(batch: Batch, schema: Schema): Batch {
  const columns = batch.columns.map((column, index): ColumnData => {
    const { type } = schema[index]!;
    if (type === 'text' || type === 'json' || column.kind !== 'views') return column;
    const builder = new ColumnBuilder(batch.arena, type);
    for (let size = batch.rows * 9 + 64; !builder.begin(batch.rows); size *= 2) batch.arena.enlarge(size);
    for (let at = 0; at < batch.live; at++) {
      const row = batch.physicalRow(at);
      const value = constantValue(batch.text(column, row), type);
      if ('problem' in value) throw new Error(value.problem);
      builder.set(row, value.value);
    }
    return builder.column;
  });
  return batch.withColumns(columns);
}
