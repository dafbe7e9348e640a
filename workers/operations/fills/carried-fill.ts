// Fills the empty cells of one column from the rows before them, from batch to batch, until it is told to forget. It keeps
// one value.
import type { Arena } from '../../arena.ts';
import { type Batch, type ColumnData, META_BIG, META_NULL, VIEW_BYTES } from '../../batch.ts';
import type { LastValue } from './last-cells.ts';

export type ViewsData = Extract<ColumnData, { kind: 'views' }>;
export type TypedData = Extract<ColumnData, { kind: 'typed' }>;

/** The first room for a kept text, in bytes. */
const KEPT_BYTES_FIRST = 256;

export class CarriedFill {
  readonly #arena: Arena;
  readonly #column: number;
  /** Two places by turns: cells of the batch at hand point to the one of the batch before. */
  readonly #kept = [
    { at: 0, bytes: 0 },
    { at: 0, bytes: 0 },
  ];
  #turn = 0;
  /** Of texts: address and length, address 0 for none. */
  #text: readonly [start: number, length: number] = [0, 0];
  #value: LastValue | null = null;

  /** @param column index in the batches */
  constructor(arena: Arena, column: number) {
    this.#arena = arena;
    this.#column = column;
  }

  /**
   * The column with its cells filled, and how many were. At a position where `forgets` has 1 the values before are
   * forgotten. The cells are valid until the next call.
   */
  fill(batch: Batch, forgets: Uint8Array | null): { readonly column: ColumnData; readonly filled: number } {
    const column = batch.columns[this.#column]!;
    if (column.kind === 'typed') {
      const made = copyTyped(batch, column);
      return { column: made, filled: this.#fillTyped(batch, made, forgets) };
    }
    const made = copyViews(batch, batch.views(this.#column));
    const filled = this.#fillViews(batch, made.at, forgets);
    this.#keepText();
    return { column: made, filled };
  }

  #fillViews(batch: Batch, views: number, forgets: Uint8Array | null): number {
    const { u32 } = batch.heap;
    let [start, length] = this.#text;
    let filled = 0;
    for (let position = 0; position < batch.live; position++) {
      const view = (views >>> 2) + u32[(batch.selection >>> 2) + position]! * 2;
      if (forgets !== null && forgets[position] === 1) start = 0;
      if (u32[view] !== 0 && u32[view + 1] !== 0) {
        start = u32[view]!;
        length = u32[view + 1]!;
      } else if (start !== 0) {
        u32[view] = start;
        u32[view + 1] = length;
        filled++;
      }
    }
    this.#text = [start, length];
    return filled;
  }

  #keepText(): void {
    const [start, length] = this.#text;
    const before = this.#kept[this.#turn]!;
    if (start === 0 || (before.at === start && before.bytes >= length)) return;
    this.#turn = 1 - this.#turn;
    const kept = this.#kept[this.#turn]!;
    const { heap } = this.#arena;
    if (kept.bytes < length) {
      kept.bytes = Math.max(KEPT_BYTES_FIRST, length * 2);
      kept.at = heap.allocate(kept.bytes);
    }
    heap.u8.copyWithin(kept.at, start, start + length);
    this.#text = [kept.at, length];
  }

  #fillTyped(batch: Batch, column: TypedData, forgets: Uint8Array | null): number {
    const { u8, u32, i64 } = batch.heap;
    let filled = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = u32[(batch.selection >>> 2) + position]!;
      if (forgets !== null && forgets[position] === 1) this.#value = null;
      const meta = u8[column.meta + row]!;
      if (meta !== META_NULL) {
        this.#value = { bits: i64[(column.at >>> 3) + row]!, meta, big: column.big?.get(row) ?? null };
      } else if (this.#value !== null) {
        writeTyped(batch, column, row, this.#value);
        filled++;
      }
    }
    return filled;
  }
}

export function copyViews(batch: Batch, from: number): ViewsData {
  const at = batch.arena.take(batch.rows * VIEW_BYTES);
  batch.heap.u8.copyWithin(at, from, from + batch.rows * VIEW_BYTES);
  return { kind: 'views', at };
}

export function copyTyped(batch: Batch, from: TypedData): TypedData {
  const at = batch.arena.take(batch.rows * VIEW_BYTES);
  const meta = batch.arena.take(batch.rows);
  batch.heap.u8.copyWithin(at, from.at, from.at + batch.rows * VIEW_BYTES);
  batch.heap.u8.copyWithin(meta, from.meta, from.meta + batch.rows);
  return { ...from, at, meta, big: from.type === 'decimal' ? new Map(from.big) : null };
}

export function writeTyped({ heap }: Batch, column: TypedData, row: number, { bits, meta, big }: LastValue): void {
  heap.u8[column.meta + row] = meta;
  if (meta === META_BIG) column.big?.set(row, big!);
  else heap.i64[(column.at >>> 3) + row] = bits;
}
