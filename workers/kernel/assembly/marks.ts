// Marks of rows: a byte for each physical row of a batch, 1 where something is known of it; and what lists leave of others.
// Plain twin: plain/marks.ts.
import { TRUE } from '../layout/expressions';
import { viewOf } from './cell';

/** 1 for rows whose state is true, 0 for the others of the list. */
export function markTrue(states: usize, rows: usize, count: u32, marks: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u8>(marks + <usize>load<u32>(rows + (i << 2)), <u8>(<u32>load<u8>(states + i) == TRUE));
  }
}

/** 1 for rows whose view is not null, 0 for the others of the list. */
export function markFound(views: usize, rows: usize, count: u32, marks: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u8>(marks + row, <u8>(load<u32>(views + (row << 3)) != 0));
  }
}

/** 1 too for rows whose text is null or empty. */
export function markEmpty(views: usize, rows: usize, count: u32, marks: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), mark = marks + ((view - views) >> 3);
    const isEmpty = <u8>(load<u32>(view) == 0) | <u8>(load<u32>(view, 4) == 0);
    store<u8>(mark, load<u8>(mark) | isEmpty);
  }
}

/** 1 too for rows whose meta byte is `value`. */
export function markMeta(meta: usize, rows: usize, count: u32, value: u32, marks: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u8>(marks + row, load<u8>(marks + row) | <u8>(<u32>load<u8>(meta + row) == value));
  }
}

/** 1 in `others` too for rows without a mark. */
export function markOthers(marks: usize, rows: usize, count: u32, others: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u8>(others + row, load<u8>(others + row) | (load<u8>(marks + row) ^ 1));
  }
}

/** Keeps the rows of the list that have a mark, in place; gives how many. */
export function keepMarked(marks: usize, rows: usize, count: u32): u32 {
  let kept = rows;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    store<u32>(kept, row);
    kept += (<usize>load<u8>(marks + <usize>row)) << 2;
  }
  return <u32>((kept - rows) >> 2);
}

/**
 * Writes the rows of a list that another one, of some of them in the same order, does not name. Gives how many; there is room
 * for all in `kept`.
 */
export function keepUnlisted(rows: usize, count: u32, listed: usize, listedCount: u32, kept: usize): u32 {
  const end = rows + ((<usize>count) << 2), listedEnd = listed + ((<usize>listedCount) << 2);
  let o = kept;
  for (; rows < end; rows += 4) {
    const row = load<u32>(rows);
    // Behind its end may stand anything.
    const isListed = <usize>((listed < listedEnd) & (load<u32>(listed) == row));
    store<u32>(o, row);
    listed += isListed << 2;
    o += (isListed ^ 1) << 2;
  }
  return <u32>((o - kept) >> 2);
}
