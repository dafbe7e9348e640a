// Conditions on the number of characters of texts.
import { FALSE, NULL, TRUE, UNKNOWN, UNKNOWN_TEXT } from '../layout/expressions';
import { viewOf } from './cell';
import { charactersOf } from './characters';
import { isSettled, putState } from './states';

/** Whether each text has `least` to `most` characters (code points). */
export function matchLength(views: usize, rows: usize, count: u32, least: u32, most: u32, states: usize, mode: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view);
    if (start <= <usize>UNKNOWN_TEXT) {
      putState(states, <usize>i, mode, start == 0 ? NULL : UNKNOWN);
      continue;
    }
    const characters = <u32>charactersOf(start, start + <usize>load<u32>(view, 4));
    putState(states, <usize>i, mode, characters >= least && characters <= most ? TRUE : FALSE);
  }
}
