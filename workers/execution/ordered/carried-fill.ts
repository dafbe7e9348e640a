// Fills empty cells from the rows before or after, when all rows are one group, and from other columns of the same row.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import { KIND_TEXT, META_BIG, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import { checkMask, PAUSE, type Sliced, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import type { CellEdit, CellWork } from '../cells/cell-operator.ts';
import { placeText, settleText } from '../cells/text-chain.ts';
import { RowStack, RowStore, rowsBetween } from '../spill/row-store.ts';
import {
  type FillFrame,
  type LastValue,
  type Marks,
  marksColumn,
  marksOfColumn,
  settleNewColumn,
} from './fill-frame.ts';

/** Number of columns between two checks of the clock. */
const COLUMNS_AT_ONCE = 256;

// Fills the empty cells of one column from the rows before, across batches, until the value must be forgotten. Keeps
// one value.

export type ViewsData = Extract<ColumnData, { kind: 'views' }>;
export type TypedData = Extract<ColumnData, { kind: 'typed' }>;

/** Initial space for a kept text, in bytes. */
const KEPT_BYTES_FIRST = 256;

export interface FillMarks {
  /** Rows before which the previous values are forgotten, or null for no rows. */
  readonly forgets: Marks | null;
  /** Rows whose cells are filled, or null for all rows. Values of the other rows are used nevertheless. */
  readonly chosen: Marks | null;
}

export interface FillPlace {
  /** Index of the column in the batches. */
  readonly column: number;
  readonly inPlace: boolean;
  /** True if the column may have native kinds, even if some batches have no kinds. */
  readonly hasKinds: boolean;
  /** Index of a column with values that precede those of their row, or -1. */
  readonly seeds: number;
}

export class CarriedFill {
  readonly #arena: Arena;
  readonly #place: FillPlace;
  /** Used alternately: cells of the current batch refer to the text kept from the previous batch. */
  readonly #kept = [
    { at: 0, bytes: 0 },
    { at: 0, bytes: 0 },
  ];
  #turn = 0;
  /** Address and length of the kept text. Address 0 means no text. */
  #text: readonly [start: number, length: number] = [0, 0];
  /** Native kind of the kept text. */
  #kind = KIND_TEXT;
  #value: LastValue | null = null;

  constructor(arena: Arena, place: FillPlace) {
    this.#arena = arena;
    this.#place = place;
  }

  /**
   * Returns the column with filled cells, and the number of changed cells (for a new column, of cells with a value).
   * Valid until the next call.
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

  /** Same as above, with the kind of each text. */
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

/** Value of a non-null cell. */
export function typedValue({ heap }: Batch, column: TypedData, row: number): LastValue {
  const big = column.big?.get(row) ?? null;
  return { bits: heap.i64[(column.at >>> 3) + row]!, meta: heap.u8[column.meta + row]!, big };
}

/** Copies a text column. The copy has kinds if the column has kinds or `hasKinds` is true. */
export function copyViews(batch: Batch, index: number, hasKinds = false): ViewsData {
  const from = batch.views(index);
  const column = batch.columns[index]!;
  const { arena, heap } = batch;
  const at = arena.take(batch.rows * VIEW_BYTES);
  // Allocations may move the memory, so its views are fetched again after each one.
  heap.u8.copyWithin(at, from, from + batch.rows * VIEW_BYTES);
  const before = column.kind === 'views' ? column.kinds : undefined;
  if (before === undefined && !hasKinds) return { kind: 'views', at };
  const kinds = arena.take(batch.rows);
  if (before === undefined) heap.u8.fill(KIND_TEXT, kinds, kinds + batch.rows);
  else heap.u8.copyWithin(kinds, before, before + batch.rows);
  return { kind: 'views', at, kinds };
}

/**
 * Copies a typed column to change its cells. The result has no `field`, because it is no longer the column of the file
 * (batch.ts).
 */
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

// Fills empty cells from later rows if all rows are one group, without sorting. The rows are stored, and the columns
// involved are pushed onto a stack. They are popped last row first, filled, and pushed onto a second stack, which
// returns the cells in row order.

export class UpwardFill implements Operator {
  readonly #context: OperatorContext;
  readonly #frame: FillFrame;
  readonly #rows: RowStore;
  /** The columns to fill, followed by one boolean column per condition. */
  readonly #looked: RowStack;
  readonly #filled: RowStack;

  constructor(context: OperatorContext, frame: FillFrame) {
    const types = storedTypes(context.input);
    const sources = frame.sources.map((index) => types[index]!);
    this.#context = context;
    this.#frame = frame;
    this.#rows = new RowStore(context, types);
    this.#looked = new RowStack(context, [...sources, ...new Array<StoredType>(frame.conditions).fill('boolean')]);
    this.#filled = new RowStack(context, sources);
  }

  *push(given: Batch): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    const { batch, masks } = yield* this.#frame.mark(given);
    const { clock } = this.#context;
    for (const [index, column] of batch.columns.entries()) {
      if (column.kind !== 'typed') batch.views(index);
      if (index % COLUMNS_AT_ONCE === COLUMNS_AT_ONCE - 1 && clock.isDue()) yield PAUSE;
    }
    this.#rows.add(batch);
    const columns = this.#frame.sources.map((index) => batch.columns[index]!);
    this.#looked.push(batch.withColumns([...columns, ...masks.map((marks) => marksColumn(batch, marks))]));
    arena.release(mark);
  }

  *finish(): Steps {
    yield* this.#fill();
    this.#looked.drop();
    this.#rows.begin();
    for (let made = this.#filled.pop(); made !== null; made = this.#filled.pop()) {
      yield* this.#meet(made);
      yield;
    }
    this.#rows.drop();
    this.#filled.drop();
  }

  /** Processes the last rows first. */
  *#fill(): Steps {
    const { arena, clock, input, report } = this.#context;
    const { sources, inPlace, conditions } = this.#frame;
    const fills: CarriedFill[] = [];
    for (const [column, source] of sources.entries()) {
      const hasKinds = input[source]!.hasKinds === true;
      fills.push(new CarriedFill(arena, { column, inPlace: inPlace[column]!, hasKinds, seeds: -1 }));
      if (column % COLUMNS_AT_ONCE === COLUMNS_AT_ONCE - 1 && clock.isDue()) yield PAUSE;
    }
    for (let piece = this.#looked.pop(); piece !== null; piece = this.#looked.pop()) {
      const mark = arena.next;
      const turned = turnedRows(piece);
      const masks = Array.from({ length: conditions }, (_, at) => marksOfColumn(turned, sources.length + at));
      const made: ColumnData[] = [];
      for (const [target, fill] of fills.entries()) {
        const { column, changed } = fill.fill(turned, { forgets: null, chosen: this.#frame.chosen(target, masks) });
        report.cells_changed += changed;
        made.push(column);
        if (target % COLUMNS_AT_ONCE === COLUMNS_AT_ONCE - 1 && clock.isDue()) yield PAUSE;
      }
      this.#filled.push(piece.withColumns(made), true);
      arena.release(mark);
      yield;
    }
  }

  /** Inserts the filled cells into the stored rows. */
  *#meet(made: Batch): Slices {
    const { arena, next } = this.#context;
    for (let from = 0; from < made.live; ) {
      const mark = arena.next;
      const some = this.#rows.next(made.live - from);
      const cells = rowsBetween(made, from, from + some.live);
      yield* next(this.#frame.put(some, cells.columns));
      arena.release(mark);
      from += some.live;
    }
  }
}

/** Returns the same rows in reverse order. */
function turnedRows(batch: Batch): Batch {
  const { arena, live } = batch;
  const selection = arena.take(live * 4);
  const { u32 } = arena.heap;
  for (let position = 0; position < live; position++) {
    u32[(selection >>> 2) + position] = batch.physicalRow(live - 1 - position);
  }
  return batch.withSelection(selection, live);
}

// Fills empty text cells with the first non-empty text of other columns. Refers to existing texts instead of copying
// them.

/**
 * Source of the fill: a text of the Template, or the first of these columns (indexes in the batches) that is not empty.
 */
export type TextFilling = { readonly text: string } | { readonly columns: readonly number[] };

/** Returns an edit in place for rows whose cells are null or empty. Cells that nothing fills become null. */
export function filledTexts(context: OperatorContext, filling: TextFilling): CellEdit {
  const { arena } = context;
  const constant = 'text' in filling ? placeText(arena.heap, filling.text) : { at: 0, bytes: 0 };
  const columns = 'text' in filling ? [] : filling.columns;
  return function* (work): Sliced<ColumnData | null> {
    const { batch, column, rows, count } = work;
    const before = batch.views(column);
    const sources = columns.map((index) => batch.views(index) >>> 2);
    const at = arena.tryTake(batch.rows * VIEW_BYTES);
    if (at === 0) return null;
    const kinds = movedKinds(work, columns);
    if (kinds === 0) return null;
    const mask = checkMask(count);
    arena.heap.u8.copyWithin(at, before, before + batch.rows * VIEW_BYTES);
    for (let i = 0; i < count; i++) {
      if ((i & mask) === mask && context.clock.isDue()) yield PAUSE;
      // The memory may have moved during a pause.
      const { u32 } = arena.heap;
      const row = u32[(rows >>> 2) + i]!;
      const source = sources.find((views) => u32[views + row * 2 + 1] !== 0);
      u32[(at >>> 2) + row * 2] = source === undefined ? constant.at : u32[source + row * 2]!;
      u32[(at >>> 2) + row * 2 + 1] = source === undefined ? constant.bytes : u32[source + row * 2 + 1]!;
    }
    settleText(context, work, before, at, false);
    return kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds };
  };
}

/**
 * Returns the kinds for a column that is filled from others; undefined if no column has kinds, 0 if the arena is full.
 */
function movedKinds({ batch, column, rows, count }: CellWork, columns: readonly number[]): number | undefined {
  const kindsAt = (index: number): number | undefined => {
    const data = batch.columns[index]!;
    return data.kind === 'views' ? data.kinds : undefined;
  };
  const before = kindsAt(column);
  if (before === undefined && columns.every((index) => kindsAt(index) === undefined)) return undefined;
  const sources = columns.map((index) => ({ views: batch.views(index) >>> 2, kinds: kindsAt(index) }));
  const made = batch.arena.tryTake(batch.rows);
  if (made === 0) return 0;
  const { u8, u32 } = batch.heap;
  if (before === undefined) u8.fill(KIND_TEXT, made, made + batch.rows);
  else u8.copyWithin(made, before, before + batch.rows);
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    const source = sources.find(({ views }) => u32[views + row * 2 + 1] !== 0);
    u8[made + row] = source?.kinds === undefined ? KIND_TEXT : u8[source.kinds + row]!;
  }
  return made;
}
