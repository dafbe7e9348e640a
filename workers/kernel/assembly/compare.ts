// What an edit did to a column of cells.
import { sameBytes, viewOf } from './cell';

/**
 * Ends an edit of text cells: one above `cellBytesMax` is listed in `todo` (u32 count, then rows), one that became empty
 * becomes null (with `emptyToNull`). `before` 0: all were null. Gives how many cells differ from before, those of `todo`
 * not counted.
 */
export function settleViews(before: usize, after: usize, rows: usize, count: u32, emptyToNull: u32, cellBytesMax: u32, todo: usize): u32 {
  let changed: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const now = viewOf(after, rows, i);
    const views = load<u64>(now), old = before == 0 ? 0 : load<u64>(viewOf(before, rows, i));
    if (old == views) continue;
    const length = load<u32>(now, 4), start = load<u32>(now), oldLength = <u32>(old >> 32), oldStart = <u32>old;
    if (length == 0) {
      if (oldLength == 0 && (emptyToNull || (start == 0) == (oldStart == 0))) {
        store<u64>(now, old);
        continue;
      }
      if (emptyToNull || start == 0) store<u64>(now, 0);
      changed++;
      continue;
    }
    if (length > cellBytesMax) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), load<u32>(rows + ((<usize>i) << 2)));
      continue;
    }
    if (oldStart == 0 || length != oldLength || !sameBytes(<usize>start, <usize>oldStart, <usize>length)) changed++;
  }
  store<u32>(todo, back);
  return changed;
}
