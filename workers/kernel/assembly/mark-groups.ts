// Among rows that are sorted by keys of their group and then of their order (groupOrder in execution/aggregate/group-order.ts):
// where groups begin, and which rows are equal to the one before.
import { LONG } from '../layout/keys';
import { viewOf } from './cell';

/**
 * Writes a byte for each of `count` rows: to `starts` whether a group begins, to `ties` whether the whole key is that of the row
 * before, within its group. `keys`: views by physical row; `last`: the key of the row before the first one, 0 for none.
 */
export function markGroups(keys: usize, rows: usize, count: u32, columns: u32, last: usize, lastBytes: usize, starts: usize, ties: usize): void {
  let before = last, beforeBytes = lastBytes;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(keys, rows, i);
    const key = <usize>load<u32>(view), bytes = <usize>load<u32>(view, 4);
    const group = groupBytes(key, columns);
    const isSame = before != 0 && group <= beforeBytes && memory.compare(key, before, group) == 0;
    store<u8>(starts + <usize>i, isSame ? 0 : 1);
    store<u8>(ties + <usize>i, isSame && bytes == beforeBytes && memory.compare(key + group, before + group, bytes - group) == 0 ? 1 : 0);
    before = key;
    beforeBytes = bytes;
  }
}

/** Bytes of a key that are its group's: each column has its length + 1 (0 for null) before it, or LONG and its length. */
export function groupBytes(key: usize, columns: u32): usize {
  let at = key;
  for (let column: u32 = 0; column < columns; column++) {
    const first = <usize>load<u8>(at++);
    if (first == LONG) at += 4 + <usize>load<u32>(at);
    else if (first != 0) at += first - 1;
  }
  return at - key;
}
