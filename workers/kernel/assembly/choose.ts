// One of two texts in each row, as a condition says, and conditions on the number of characters. Twin: plain/marks.ts.
import { viewOf } from './cell';
import { FALSE, isSettled, NULL, putState, TRUE } from './states';

/**
 * Gives each row whose state is false or true the first or second text of `texts` (u32 address and length each) as its view;
 * the others go to `todo`: u32 count, then the rows.
 */
export function chooseTexts(states: usize, rows: usize, count: u32, texts: usize, views: usize, todo: usize): void {
  let left: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const state = <usize>load<u8>(states + <usize>i);
    if (state > <usize>TRUE) store<u32>(todo + (++left << 2), load<u32>(rows + ((<usize>i) << 2)));
    else store<u64>(viewOf(views, rows, i), load<u64>(texts + (state << 3)));
  }
  store<u32>(todo, <u32>left);
}

/** Whether each text has `least` to `most` characters (code points). */
export function matchLength(views: usize, rows: usize, count: u32, least: u32, most: u32, states: usize, mode: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view);
    if (start == 0) {
      putState(states, <usize>i, mode, NULL);
      continue;
    }
    const characters = countCharacters(start, start + <usize>load<u32>(view, 4));
    putState(states, <usize>i, mode, characters >= least && characters <= most ? TRUE : FALSE);
  }
}

/** Bytes that do not go on with a character: all but those from 80 to BF. */
// @ts-ignore: decorator
@inline
function countCharacters(p: usize, end: usize): u32 {
  const limit = i8x16.splat(-65);
  let characters: u32 = 0;
  for (; p + 16 <= end; p += 16) characters += <u32>popcnt(i8x16.bitmask(i8x16.gt_s(v128.load(p), limit)));
  if (p == end) return characters;
  const firsts = <u32>i8x16.bitmask(i8x16.gt_s(v128.load(p), limit));
  return characters + <u32>popcnt(firsts & ((1 << <u32>(end - p)) - 1));
}
