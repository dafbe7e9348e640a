// Rows that are sorted by group: where groups begin, the positions of rows, and the first rows of each group.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Slices, Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { groupOrder, joinedKeys } from '../aggregate/group-order.ts';
import { type RowOrder, RowSorter } from './row-sorter.ts';
import { SortKeys, type SortTerm } from './sort-keys.ts';

// Positions of rows among all rows, as cells: big-endian whole numbers whose bytes sort in the order of the positions,
// or inverted for the reverse order.

export const PLACE_BYTES = 8;

const TWO_32 = 2 ** 32;

/** Creates a column with the positions of a batch's live rows: `first` and the following ones. */
export function placeColumn(arena: Arena, batch: Batch, first: number, turned: boolean): ColumnData {
  const views = arena.take(batch.rows * VIEW_BYTES);
  const places = arena.take(batch.live * PLACE_BYTES);
  const { u8, u32 } = arena.heap;
  for (let position = 0; position < batch.live; position++) {
    const at = places + position * PLACE_BYTES;
    const view = (views >>> 2) + batch.physicalRow(position) * 2;
    const place = first + position;
    const high = Math.floor(place / TWO_32);
    const low = place % TWO_32;
    writeWord(u8, at, turned ? ~high : high);
    writeWord(u8, at + 4, turned ? ~low : low);
    u32[view] = at;
    u32[view + 1] = PLACE_BYTES;
  }
  return { kind: 'views', at: views };
}

/** Reads the positions of a batch's live rows. They must not be inverted. */
export function placesOf(batch: Batch, column: ColumnData): Float64Array {
  const views = viewsOf(column) >>> 2;
  const { u8, u32 } = batch.heap;
  const places = new Float64Array(batch.live);
  for (let position = 0; position < batch.live; position++) {
    const at = u32[views + batch.physicalRow(position) * 2]!;
    places[position] = readWord(u8, at) * TWO_32 + readWord(u8, at + 4);
  }
  return places;
}

/** Sorts rows by a column of positions, ascending, also if the positions are inverted. */
export function byPlace(index: number, turned: boolean): RowOrder {
  return {
    prepare: () => undefined,
    make: (batch) => (turned ? turnedPlaces(batch, index) : viewsOf(batch.columns[index]!)),
  };
}

/** Returns 0 if the arena is full. */
function turnedPlaces(batch: Batch, index: number): number {
  const { arena } = batch;
  const places = viewsOf(batch.columns[index]!);
  const views = arena.tryTake(batch.rows * VIEW_BYTES);
  const made = arena.tryTake(batch.live * PLACE_BYTES);
  if (views === 0 || made === 0) return 0;
  const { u8, u32 } = arena.heap;
  for (let position = 0; position < batch.live; position++) {
    const view = batch.physicalRow(position) * 2;
    const at = made + position * PLACE_BYTES;
    const from = u32[(places >>> 2) + view]!;
    for (let byte = 0; byte < PLACE_BYTES; byte++) u8[at + byte] = ~u8[from + byte]!;
    u32[(views >>> 2) + view] = at;
    u32[(views >>> 2) + view + 1] = PLACE_BYTES;
  }
  return views;
}

function writeWord(u8: Uint8Array, at: number, word: number): void {
  u8[at] = word >>> 24;
  u8[at + 1] = word >>> 16;
  u8[at + 2] = word >>> 8;
  u8[at + 3] = word;
}

function readWord(u8: Uint8Array, at: number): number {
  return ((u8[at]! << 24) | (u8[at + 1]! << 16) | (u8[at + 2]! << 8) | u8[at + 3]!) >>> 0;
}

/** Address of a column of keys or positions. */
export function viewsOf(column: ColumnData): number {
  if (column.kind !== 'views') throw new Error('keys and places are views');
  return column.at;
}

// Marks in sorted rows where groups begin, and which rows equal the previous row.

/** One byte per row, by position. */
export interface GroupMarks {
  /** 1 if a group begins. */
  readonly starts: Uint8Array;
  /** 1 if the whole key equals that of the previous row in the same group. */
  readonly ties: Uint8Array;
}

/** Number of rows at the end of a batch that are searched first for the start of its last group. */
const LAST_ROWS = 64;

export class SortedGroups {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  readonly #columns: number;
  #lastKey: Uint8Array | null = null;

  /** @param columns number of leading key columns (RowKeys) that form the group; 0 if all rows are one group */
  constructor(context: Pick<OperatorContext, 'arena' | 'kernel'>, columns: number) {
    this.#context = context;
    this.#columns = columns;
  }

  /**
   * Returns the position of the first row of the last group, or 0 if no group begins after the first row. Does not
   * influence `mark`.
   */
  lastStart(batch: Batch): number {
    const { arena, kernel } = this.#context;
    const mark = arena.next;
    const starts = arena.take(batch.live * 2);
    const keys = viewsOf(batch.columns[0]!);
    let found = 0;
    // Most groups are small, so the last rows are examined first.
    for (let rows = Math.min(LAST_ROWS, batch.live); found === 0; rows = batch.live) {
      const from = batch.live - rows;
      const at = batch.selection + from * 4;
      kernel.exports.markGroups(keys, at, rows, this.#columns, 0, 0, starts, starts + batch.live);
      const last = arena.heap.u8.subarray(starts, starts + rows).lastIndexOf(1);
      if (last > 0) found = from + last;
      if (rows === batch.live) break;
    }
    arena.release(mark);
    return found;
  }

  /** @param batch rows that follow those of the previous call; their first column is the key */
  mark(batch: Batch): GroupMarks {
    const { arena, kernel } = this.#context;
    const mark = arena.next;
    const keys = viewsOf(batch.columns[0]!);
    const last = this.#lastKey;
    const lastAt = last === null ? 0 : arena.take(last.length);
    const [startsAt, tiesAt] = [arena.take(batch.live), arena.take(batch.live)];
    const { u8, u32 } = arena.heap;
    if (last !== null) u8.set(last, lastAt);
    const { markGroups } = kernel.exports;
    markGroups(keys, batch.selection, batch.live, this.#columns, lastAt, last?.length ?? 0, startsAt, tiesAt);
    const end = (keys >>> 2) + batch.physicalRow(batch.live - 1) * 2;
    // Copied, because the bytes are valid only for this batch.
    this.#lastKey = u8.slice(u32[end]!, u32[end]! + u32[end + 1]!);
    const starts = u8.slice(startsAt, startsAt + batch.live);
    const ties = u8.slice(tiesAt, tiesAt + batch.live);
    arena.release(mark);
    return { starts, ties };
  }
}

// Emits the first rows of each group by an order, sorted over all groups. Works in bounded memory: the rows are sorted
// by group, the sorter drops those beyond the limit, and the remaining ones are sorted again.

export class TopOfGroups implements Operator {
  readonly #context: OperatorContext;
  readonly #n: number;
  readonly #marks: SortedGroups;
  readonly #sorter: RowSorter;
  readonly #kept: RowSorter;
  #taken = 0;
  #inGroup = 0;

  /** @param groups indexes of the columns that form the group */
  constructor(context: OperatorContext, n: number, groups: readonly number[], terms: readonly SortTerm[]) {
    const types = [...storedTypes(context.input), 'text' as const];
    const order = new SortKeys(context, terms);
    this.#context = context;
    this.#n = n;
    this.#marks = new SortedGroups(context, groups.length);
    const wanted = { first: n, groups: groups.length };
    this.#sorter = new RowSorter(context, types, groupOrder(context, groups, terms), wanted);
    this.#kept = new RowSorter(context, types, {
      prepare: () => undefined,
      editLong: (batch, clock) => order.editLong(batch, clock),
      // Equal rows of different groups keep their source order.
      make(batch) {
        const keys = order.make(batch);
        return keys === 0 ? 0 : joinedKeys(context, batch, keys, viewsOf(batch.columns[types.length - 1]!));
      },
    });
  }

  *push(batch: Batch): Slices {
    const { arena } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const places = placeColumn(arena, batch, this.#taken, false);
    this.#taken += batch.live;
    const placed = batch.withColumns([...batch.columns, places]);
    yield* this.#sorter.editLong(placed);
    this.#sorter.add(placed);
    arena.release(mark);
  }

  *finish(): Steps {
    yield* this.#sorter.finish((batch) => this.#keep(batch));
    yield* this.#kept.finish((batch) => this.#context.next(batch.withColumns(batch.columns.slice(1, -1))));
  }

  *#keep(batch: Batch): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    const selection = arena.take(batch.live * 4);
    const { starts } = this.#marks.mark(batch);
    const { u32 } = arena.heap;
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      if (starts[position] === 1) this.#inGroup = 0;
      if (this.#inGroup++ < this.#n) u32[(selection >>> 2) + live++] = batch.physicalRow(position);
    }
    const rows = batch.withColumns(batch.columns.slice(1)).withSelection(selection, live);
    if (live > 0) {
      yield* this.#kept.editLong(rows);
      this.#kept.add(rows);
    }
    arena.release(mark);
  }
}
