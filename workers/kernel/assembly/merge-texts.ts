// Joins the cells of several columns row by row. Plain twin: operations/merge-columns.ts.
import { copy, viewOf } from './cell';

/**
 * Views of the joined texts by physical row; null where they are empty. `sources`: u32 address of the views of each column. With
 * `skipsEmpty` empty cells and their separators are left out. Gives the next free address, 0 when they do not fit; a text that
 * is too long gets a length above the ceiling.
 */
export function mergeTexts(sources: usize, sourceCount: u32, rows: usize, count: u32, separator: usize, separatorBytes: usize, skipsEmpty: u32, cellBytesMax: usize, made: usize, next: usize, limit: usize): usize {
  const last = sources + ((<usize>sourceCount) << 2);
  for (let i: u32 = 0; i < count; i++) {
    const to = viewOf(made, rows, i);
    let bytes: usize = 0, parts: usize = 0;
    for (let source = sources; source < last; source += 4) {
      const length = <usize>load<u32>(viewOf(<usize>load<u32>(source), rows, i), 4);
      if (length == 0 && skipsEmpty != 0) continue;
      bytes += length;
      parts++;
    }
    if (parts > 1) bytes += (parts - 1) * separatorBytes;
    if (bytes == 0) {
      store<u64>(to, 0);
      continue;
    }
    if (bytes > cellBytesMax) {
      store<u64>(to, <u64>next | ((<u64>(cellBytesMax + 1)) << 32));
      continue;
    }
    if (next + bytes + 16 > limit) return 0;
    const start = next;
    for (let source = sources; source < last; source += 4) {
      const view = viewOf(<usize>load<u32>(source), rows, i);
      const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
      if (length == 0 && skipsEmpty != 0) continue;
      next = copy(next, s, s + length);
      if (--parts != 0) next = copy(next, separator, separator + separatorBytes);
    }
    store<u64>(to, <u64>start | ((<u64>bytes) << 32));
  }
  return next;
}
