// Fills the empty cells of one column from the rows before them, from batch to batch, until it is told to forget. It keeps
// one value.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { META_BIG, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Arena } from '../../memory/arena.ts';
import { type Marks, settleNewColumn } from './fill-frame.ts';
import type { LastValue } from './last-cells.ts';

export type ViewsData = Extract<ColumnData, { kind: 'views' }>;
export type TypedData = Extract<ColumnData, { kind: 'typed' }>;

/** The first room for a kept text, in bytes. */
const KEPT_BYTES_FIRST = 256;

export interface FillMarks {
  /** Rows before which the values before are forgotten; null: none. */
  readonly forgets: Marks | null;
  /** Rows whose cells are filled; null: all. The values of the others count all the same. */
  readonly chosen: Marks | null;
}

export interface FillPlace {
  /** Index of the column in the batches. */
  readonly column: number;
  readonly inPlace: boolean;
  /** The column may have native kinds, though not each batch brings some. */
  readonly hasKinds: boolean;
  /** Index of a column of values that come before those of their row, or -1. */
  readonly seeds: number;
}

export class CarriedFill {
  readonly #arena: Arena;
  readonly #place: FillPlace;
  /** Two places by turns: cells of the batch at hand point to the one of the batch before. */
  readonly #kept = [
    { at: 0, bytes: 0 },
    { at: 0, bytes: 0 },
  ];
  #turn = 0;
  /** Of texts: address and length, address 0 for none. */
  #text: readonly [start: number, length: number] = [0, 0];
  /** Its native kind. */
  #kind = KIND_TEXT;
  #value: LastValue | null = null;

  constructor(arena: Arena, place: FillPlace) {
    this.#arena = arena;
    this.#place = place;
  }

  /**
   * The column with its cells filled, and how many changed (of a new column: how many have a value). The cells are valid
   * until the next call.
   */
  fill(batch: Batch, marks: FillMarks): { readonly column: ColumnData; readonly changed: number } {
    const { column: index, inPlace } = this.#place;
    const column = batch.columns[index]!;
    const isTyped = column.kind === 'typed';
    const made = isTyped ? copyTyped(batch, column) : copyViews(batch, index, this.#place.hasKinds);
    const filled = made.kind === 'typed' ? this.#fillTyped(batch, made, marks) : this.#fillViews(batch, made, marks);
    if (!isTyped) this.#keepText();
    return { column: made, changed: inPlace ? filled : settleNewColumn(batch, made, marks.chosen) };
  }

  #fillViews(batch: Batch, made: ViewsData, { forgets, chosen }: FillMarks): number {
    if (made.kinds !== undefined) return this.#fillKinds(batch, made, made.kinds, { forgets, chosen });
    const views = made.at;
    const seeds = this.#place.seeds < 0 ? 0 : batch.views(this.#place.seeds);
    const { u32 } = batch.heap;
    let [start, length] = this.#text;
    this.#kind = KIND_TEXT;
    let filled = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = u32[(batch.selection >>> 2) + position]! * 2;
      const view = (views >>> 2) + row;
      const seed = (seeds >>> 2) + row;
      if (forgets !== null && forgets[position] === 1) start = 0;
      if (seeds !== 0 && u32[seed] !== 0) {
        start = u32[seed]!;
        length = u32[seed + 1]!;
      }
      if (u32[view] !== 0 && u32[view + 1] !== 0) {
        start = u32[view]!;
        length = u32[view + 1]!;
      } else if (start !== 0 && (chosen === null || chosen[position] === 1)) {
        u32[view] = start;
        u32[view + 1] = length;
        filled++;
      }
    }
    this.#text = [start, length];
    return filled;
  }

  /** As above, and each text with its kind. */
  #fillKinds(batch: Batch, { at }: ViewsData, kinds: number, { forgets, chosen }: FillMarks): number {
    const seeds = this.#place.seeds < 0 ? null : batch.columns[this.#place.seeds]!;
    const { u8, u32 } = batch.heap;
    let [start, length] = this.#text;
    let kind = this.#kind;
    let filled = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const view = (at >>> 2) + row * 2;
      if (forgets !== null && forgets[position] === 1) start = 0;
      if (seeds?.kind === 'views' && u32[(seeds.at >>> 2) + row * 2] !== 0) {
        start = u32[(seeds.at >>> 2) + row * 2]!;
        length = u32[(seeds.at >>> 2) + row * 2 + 1]!;
        kind = seeds.kinds === undefined ? KIND_TEXT : u8[seeds.kinds + row]!;
      }
      if (u32[view] !== 0 && u32[view + 1] !== 0) {
        start = u32[view]!;
        length = u32[view + 1]!;
        kind = u8[kinds + row]!;
      } else if (start !== 0 && (chosen === null || chosen[position] === 1)) {
        u32[view] = start;
        u32[view + 1] = length;
        u8[kinds + row] = kind;
        filled++;
      }
    }
    this.#text = [start, length];
    this.#kind = kind;
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

  #fillTyped(batch: Batch, column: TypedData, { forgets, chosen }: FillMarks): number {
    const { u8, u32 } = batch.heap;
    const seeds = this.#place.seeds < 0 ? null : batch.columns[this.#place.seeds]!;
    let filled = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = u32[(batch.selection >>> 2) + position]!;
      if (forgets !== null && forgets[position] === 1) this.#value = null;
      if (seeds?.kind === 'typed' && u8[seeds.meta + row] !== META_NULL) this.#value = typedValue(batch, seeds, row);
      if (u8[column.meta + row] !== META_NULL) {
        this.#value = typedValue(batch, column, row);
      } else if (this.#value !== null && (chosen === null || chosen[position] === 1)) {
        writeTyped(batch, column, row, this.#value);
        filled++;
      }
    }
    return filled;
  }
}

/** The value of a cell that is not null. */
export function typedValue({ heap }: Batch, column: TypedData, row: number): LastValue {
  const big = column.big?.get(row) ?? null;
  return { bits: heap.i64[(column.at >>> 3) + row]!, meta: heap.u8[column.meta + row]!, big };
}

/** Of a column of text; with a kind for each cell where it has some, or `hasKinds`. */
export function copyViews(batch: Batch, index: number, hasKinds = false): ViewsData {
  const from = batch.views(index);
  const column = batch.columns[index]!;
  const { arena, heap } = batch;
  const at = arena.take(batch.rows * VIEW_BYTES);
  // Views of the memory are taken anew behind each allocation, which may move it.
  heap.u8.copyWithin(at, from, from + batch.rows * VIEW_BYTES);
  const before = column.kind === 'views' ? column.kinds : undefined;
  if (before === undefined && !hasKinds) return { kind: 'views', at };
  const kinds = arena.take(batch.rows);
  if (before === undefined) heap.u8.fill(KIND_TEXT, kinds, kinds + batch.rows);
  else heap.u8.copyWithin(kinds, before, before + batch.rows);
  return { kind: 'views', at, kinds };
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
