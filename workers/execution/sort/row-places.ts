// The places of rows among all, as cells: whole numbers, big-endian, so that their bytes have the order of the places, or,
// turned, the opposite one.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { RowOrder } from './row-sorter.ts';

export const PLACE_BYTES = 8;

const TWO_32 = 2 ** 32;

/** A column with the places of a batch's live rows: `first` and those that follow. */
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

/** The places of a batch's live rows, by position; they are not turned. */
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

/** Sorts rows by a column of places, in rising order also when they are turned. */
export function byPlace(index: number, turned: boolean): RowOrder {
  return {
    prepare: () => undefined,
    make: (batch) => (turned ? turnedPlaces(batch, index) : viewsOf(batch.columns[index]!)),
  };
}

/** 0 when the arena is full. */
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

/** Address of a column of keys or places. */
export function viewsOf(column: ColumnData): number {
  if (column.kind !== 'views') throw new Error('keys and places are views');
  return column.at;
}
