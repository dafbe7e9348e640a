// What an edit did to a column of cells.
import { sameBytes, viewOf } from './cell';

/**
 * Ends an edit of text cells: a cell that became empty becomes null, one above `cellBytesMax` is listed in `todo` (u32
 * count, then rows). Gives how many cells differ from before, those of `todo` not counted.
 */
export function settleViews(before: usize, after: usize, rows: usize, count: u32, cellBytesMax: u32, todo: usize): u32 {
  let changed: u32 = 0,
    back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const old = viewOf(before, rows, i),
      now = viewOf(after, rows, i);
    const views = load<u64>(now);
    if (load<u64>(old) == views) continue;
    const length = load<u32>(now, 4),
      oldLength = load<u32>(old, 4),
      oldStart = load<u32>(old);
    if (length == 0) {
      if (oldLength == 0) {
        store<u64>(now, load<u64>(old));
        continue;
      }
      store<u64>(now, 0);
      changed++;
      continue;
    }
    if (length > cellBytesMax) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), load<u32>(rows + ((<usize>i) << 2)));
      continue;
    }
    if (oldStart == 0 || length != oldLength || !sameBytes(<usize>load<u32>(now), <usize>oldStart, <usize>length))
      changed++;
  }
  store<u32>(todo, back);
  return changed;
}
