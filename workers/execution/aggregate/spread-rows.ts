// Rows with the numbers of the cells to which they go: those of their groups, or, where groups have several, cells of these.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Arena } from '../../memory/arena.ts';
import { KEY_ABSENT } from '../keys/hash-table.ts';
import type { GroupedRows } from './group-states.ts';

/** Rows of a group are spread over cells. */
export interface Spread {
  readonly width: number;
  /** The cells that come out of those of the metrics, and their types. */
  readonly makes: readonly StoredType[];
  made(columns: readonly ColumnData[], count: number): ColumnData[] | null;
  /** Address of the cell of each row (u32 by position, KEY_ABSENT for none); 0 when the arena is full. */
  places(batch: Batch, rows: number, count: number): number;
}

/** Those rows of a list that have a group. */
export function knownRows(arena: Arena, { rows, ids, count }: GroupedRows): GroupedRows {
  const known = { rows: arena.take(count * 4), ids: arena.take(count * 4), count: 0 };
  const { u32 } = arena.heap;
  for (let position = 0; position < count; position++) {
    const id = u32[(ids >>> 2) + position]!;
    if (id === KEY_ABSENT) continue;
    u32[(known.rows >>> 2) + known.count] = u32[(rows >>> 2) + position]!;
    u32[(known.ids >>> 2) + known.count++] = id;
  }
  return known;
}

/** Those rows of a list that have a group and a cell there (`places`: u32 by position), with the numbers of the cells. */
export function spreadRows(
  arena: Arena,
  { rows, ids, count }: GroupedRows,
  places: number,
  width: number,
): GroupedRows {
  const cells = { rows: arena.take(count * 4), ids: arena.take(count * 4), count: 0 };
  const { u32 } = arena.heap;
  for (let position = 0; position < count; position++) {
    const id = u32[(ids >>> 2) + position]!;
    const place = u32[(places >>> 2) + position]!;
    if (id === KEY_ABSENT || place === KEY_ABSENT) continue;
    u32[(cells.rows >>> 2) + cells.count] = u32[(rows >>> 2) + position]!;
    u32[(cells.ids >>> 2) + cells.count++] = id * width + place;
  }
  return cells;
}
