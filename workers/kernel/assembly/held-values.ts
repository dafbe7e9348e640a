// Holds the values of groups in lists (layout/held-values.ts), walks over the lists, and keeps one text of each group. The
// lists grow into a block; a kernel stops where it has no room, and its owner goes on with another.
import { META_NULL } from '../layout/cells';
import { CONDITION, IDS, META, ROWS, STATE_META, STATES, STRIDE_BYTES, VALUES } from '../layout/fold';
import {
  CHUNK_CELLS,
  CHUNK_CELLS_FIRST,
  CHUNK_CELLS_MOST,
  CHUNK_NEXT,
  CHUNK_WORDS,
  CURSOR_CELL,
  CURSOR_CHUNK,
  CURSOR_GROUP,
  HELD_COUNT,
  HELD_FIRST,
  HELD_LAST,
  HELD_USED,
  KEEP_FIRST,
  KEEP_LAST,
  KEEP_LARGEST,
} from '../layout/held-values';
import { copy } from './cell';

/** More than a chunk takes beside its cells, and than is lost when it is aligned. */
const CHUNK_SPARE: usize = 64;

// @ts-ignore: decorator
@inline
function isChosen(fold: usize, row: usize): bool {
  const condition = <usize>load<u32>(fold, CONDITION);
  return condition == 0 || load<u8>(condition + row) == 1;
}

// @ts-ignore: decorator
@inline
function stateOf(fold: usize, i: u32): usize {
  const id = <usize>load<u32>(<usize>load<u32>(fold, IDS) + ((<usize>i) << 2));
  return <usize>load<u32>(fold, STATES) + id * <usize>load<u32>(fold, STRIDE_BYTES);
}

/** Cells of the chunk that the group needs for one more value; 0: it has room. */
// @ts-ignore: decorator
@inline
function wantedCells(state: usize): u32 {
  const last = <usize>load<u32>(state, HELD_LAST);
  if (last == 0) return CHUNK_CELLS_FIRST;
  const cells = load<u32>(last, CHUNK_CELLS);
  return load<u32>(state, HELD_USED) < cells ? 0 : min(cells * 2, CHUNK_CELLS_MOST);
}

/** Gives the first free address behind the new chunk. */
function addChunk(state: usize, cells: u32, next: usize): usize {
  const at = (next + 7) & ~7;
  const last = <usize>load<u32>(state, HELD_LAST);
  store<u32>(at, 0, CHUNK_NEXT);
  store<u32>(at, cells, CHUNK_CELLS);
  if (last == 0) store<u32>(state, <u32>at, HELD_FIRST);
  else store<u32>(last, <u32>at, CHUNK_NEXT);
  store<u32>(state, <u32>at, HELD_LAST);
  store<u32>(state, 0, HELD_USED);
  return at + CHUNK_WORDS + ((<usize>cells) << 3) + <usize>((cells + 7) & ~7);
}

// @ts-ignore: decorator
@inline
function put(state: usize, word: u64, meta: u8): void {
  const last = <usize>load<u32>(state, HELD_LAST);
  const used = <usize>load<u32>(state, HELD_USED);
  store<u64>(last + CHUNK_WORDS + (used << 3), word);
  store<u8>(last + CHUNK_WORDS + ((<usize>load<u32>(last, CHUNK_CELLS)) << 3) + used, meta);
  store<u32>(state, <u32>used + 1, HELD_USED);
  store<u64>(state, load<u64>(state, HELD_COUNT) + 1, HELD_COUNT);
}

/**
 * Adds the cells of positions `from` to `count` that are not null to the lists of their groups: of a typed column, or (META
 * 0 in the description) of views, whose texts are copied. The first free address of the block goes to `reached`. Gives the
 * position reached.
 */
export function holdValues(fold: usize, from: u32, count: u32, next: usize, limit: usize, reached: usize): u32 {
  const values = <usize>load<u32>(fold, VALUES), meta = <usize>load<u32>(fold, META), rows = <usize>load<u32>(fold, ROWS);
  let i = from;
  for (; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    let kind: u32 = 0, s: usize = 0, length: usize = 0;
    if (meta == 0) {
      s = <usize>load<u32>(values + (row << 3));
      if (s == 0) continue;
      length = <usize>load<u32>(values + (row << 3), 4);
    } else {
      kind = <u32>load<u8>(meta + row);
      if (kind == META_NULL) continue;
    }
    if (!isChosen(fold, row)) continue;
    const state = stateOf(fold, i);
    const cells = wantedCells(state);
    if (next + CHUNK_SPARE + (<usize>cells) * 9 + length > limit) break;
    if (cells != 0) next = addChunk(state, cells, next);
    if (meta == 0) {
      put(state, (<u64>next) | ((<u64>length) << 32), 0);
      next = copy(next, s, s + length);
    } else put(state, load<u64>(values + (row << 3)), <u8>kind);
  }
  store<u32>(reached, <u32>next);
  return i;
}

/**
 * Keeps one text of each group (KEEP_FIRST and others) as a view in its state, with its native kind (META in the description:
 * address of the kinds, 0: none) as meta. Of equal texts the first stays.
 */
export function keepTexts(fold: usize, from: u32, count: u32, which: u32, next: usize, limit: usize, reached: usize): u32 {
  const values = <usize>load<u32>(fold, VALUES), kinds = <usize>load<u32>(fold, META), rows = <usize>load<u32>(fold, ROWS);
  let i = from;
  for (; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const s = <usize>load<u32>(values + (row << 3));
    if (s == 0 || !isChosen(fold, row)) continue;
    const state = stateOf(fold, i);
    const length = <usize>load<u32>(values + (row << 3), 4);
    const held = <usize>load<u32>(state), heldLength = <usize>load<u32>(state, 4);
    if (held != 0) {
      if (which == KEEP_FIRST) continue;
      if (which != KEEP_LAST) {
        const order = comparedTexts(s, length, held, heldLength);
        if (which == KEEP_LARGEST ? order <= 0 : order >= 0) continue;
      }
    }
    // A text that is not longer takes the place of the one before.
    let at = held;
    if (held == 0 || length > heldLength) {
      if (next + CHUNK_SPARE + length > limit) break;
      at = next;
      next += length;
    }
    memory.copy(at, s, length);
    store<u32>(state, <u32>at);
    store<u32>(state, <u32>length, 4);
    store<u8>(state, kinds == 0 ? 0 : load<u8>(kinds + row), STATE_META);
  }
  store<u32>(reached, <u32>next);
  return i;
}

/** Byte by byte, which is the order of code points. */
function comparedTexts(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const length = min(aLength, bLength);
  const order = memory.compare(a, b, length);
  if (order != 0) return order;
  return aLength < bLength ? -1 : aLength > bLength ? 1 : 0;
}

/**
 * Goes on over the lists of the groups from the cursor on and before `end`: writes up to `most` values with their meta and
 * the groups' numbers. Gives how many; fewer than `most` at the end.
 */
export function gatherHeld(
  states: usize, stride: u32, cursor: usize, end: u32, most: u32, words: usize, metas: usize, groups: usize,
): u32 {
  let group = load<u32>(cursor, CURSOR_GROUP), chunk = <usize>load<u32>(cursor, CURSOR_CHUNK), cell = load<u32>(cursor, CURSOR_CELL);
  let n: u32 = 0;
  for (; group < end; group++, chunk = 0) {
    const state = states + (<usize>group) * (<usize>stride);
    const last = <usize>load<u32>(state, HELD_LAST);
    if (chunk == 0) {
      chunk = <usize>load<u32>(state, HELD_FIRST);
      cell = 0;
    }
    for (; chunk != 0; chunk = <usize>load<u32>(chunk, CHUNK_NEXT), cell = 0) {
      const cells = load<u32>(chunk, CHUNK_CELLS);
      const used = chunk == last ? load<u32>(state, HELD_USED) : cells;
      const from = chunk + CHUNK_WORDS, meta = from + ((<usize>cells) << 3);
      const take = min(used - cell, most - n);
      for (let k: u32 = 0; k < take; k++, cell++, n++) {
        store<u64>(words + ((<usize>n) << 3), load<u64>(from + ((<usize>cell) << 3)));
        store<u8>(metas + n, load<u8>(meta + cell));
        store<u32>(groups + ((<usize>n) << 2), group);
      }
      if (cell < used) {
        store<u32>(cursor, group, CURSOR_GROUP);
        store<u32>(cursor, <u32>chunk, CURSOR_CHUNK);
        store<u32>(cursor, cell, CURSOR_CELL);
        return n;
      }
    }
  }
  store<u32>(cursor, end, CURSOR_GROUP);
  store<u32>(cursor, 0, CURSOR_CHUNK);
  return n;
}
