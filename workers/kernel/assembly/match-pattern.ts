// Whether a pattern is found in cells, by an automaton whose states are made as they are met
// (workers/execution/expressions/pattern-search.ts).
import { CLASSES, END_CLASS, MATCHED, MISSING_CLASS, MISSING_STATE, START, TOO_MANY, UNBUILT } from '../layout/automaton';
import { FALSE, NULL, TEXT_BYTES_MAX, TRUE, UNKNOWN, UNKNOWN_TEXT } from '../layout/expressions';
import { viewOf } from './cell';
import { isSettled, putState } from './states';

/**
 * Goes through the texts from position `from` on. Gives the position at which a transition is missing, which the head of the
 * automaton tells of, else `count`.
 */
export function matchPattern(automaton: usize, views: usize, rows: usize, count: u32, from: u32, states: usize, mode: u32): u32 {
  const classes = <usize>load<u32>(automaton, CLASSES), end = <usize>load<u32>(automaton, END_CLASS);
  const start = load<u32>(automaton, START);
  for (let i = from; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    let p = <usize>load<u32>(view);
    const length = load<u32>(view, 4);
    if (p <= <usize>UNKNOWN_TEXT || length > TEXT_BYTES_MAX) {
      putState(states, <usize>i, mode, p == 0 ? NULL : UNKNOWN);
      continue;
    }
    const e = p + <usize>length;
    let state = start, before = start;
    let kind: usize = 0;
    while (state > TOO_MANY && p < e) {
      kind = <usize>load<u8>(classes + <usize>load<u8>(p++));
      before = state;
      state = load<u32>(<usize>state + (kind << 2));
    }
    if (state > TOO_MANY) {
      kind = end;
      before = state;
      state = load<u32>(<usize>state + (kind << 2));
    }
    if (state == UNBUILT) {
      store<u32>(automaton, before, MISSING_STATE);
      store<u32>(automaton, <u32>kind, MISSING_CLASS);
      return i;
    }
    putState(states, <usize>i, mode, state == TOO_MANY ? UNKNOWN : state == MATCHED ? TRUE : FALSE);
  }
  return count;
}
