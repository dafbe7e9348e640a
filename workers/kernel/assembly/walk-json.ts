// Goes through JSON of any size token by token, whatever the records are: to find the list that holds them, and to check what
// stands around it.
import {
  AT,
  DEPTH,
  EXPECTED_COLON,
  EXPECTED_KEY,
  EXPECTED_KEY_OR_BRACE,
  KEY_END,
  KEY_START,
  LINE_START,
  LINES,
  LOOK_BYTES,
  MARKED,
  PHASE,
  STACK,
  STATUS,
  STATUS_DONE,
  STATUS_EVENT,
  STATUS_MORE,
  STATUS_TROUBLE,
  STOP_DEPTH,
  TOO_DEEP,
  TROUBLE_AT,
  WALK_BEHIND,
  WALK_DEPTH_MAX,
  WALK_FIRST,
  WALK_ITEM,
  WALK_KEY,
  WALK_VALUE,
} from '../layout/json';
import {
  behindSpace,
  COLON,
  COMMA,
  expectedIn,
  fail,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  scalarEnd,
  stringEnd,
  TO_CLOSE,
} from './json-tokens';

/**
 * Goes on from AT in PHASE, DEPTH brackets deep, behind the value that it is in (STATUS_DONE), or up to a value that lies at
 * most STOP_DEPTH deep (STATUS_EVENT: AT is at its first byte, and to call again goes on into it). Stops at the last token
 * that is complete where `end` is not the end of the file (`last` 0).
 */
export function walkJson(state: usize, end: usize, last: u32): void {
  const stack = <usize>load<u32>(state, STACK);
  for (;;) {
    const phase = load<u32>(state, PHASE);
    const depth = load<u32>(state, DEPTH);
    if (phase == WALK_BEHIND && depth == 0) return store<u32>(state, STATUS_DONE, STATUS);
    const p = behindSpace(<usize>load<u32>(state, AT), end, state);
    store<u32>(state, <u32>p, AT);
    if (p >= end) return store<u32>(state, STATUS_MORE, STATUS);
    const lines = load<u32>(state, LINES);
    const lineStart = load<u32>(state, LINE_START);
    const next = step(p, end, state, stack, phase, depth);
    const isOpen = next >= end && last == 0;
    if (next == 0 || isOpen) {
      const cutOff = isOpen || (last == 0 && <usize>load<u32>(state, TROUBLE_AT) + LOOK_BYTES > end);
      if (cutOff) {
        store<u32>(state, lines, LINES);
        store<u32>(state, lineStart, LINE_START);
        store<u32>(state, phase, PHASE);
        store<u32>(state, depth, DEPTH);
      }
      return store<u32>(state, cutOff ? STATUS_MORE : STATUS_TROUBLE, STATUS);
    }
    store<u32>(state, <u32>next, AT);
    const isBefore = phase == WALK_KEY || phase == WALK_ITEM;
    if (isBefore && depth <= load<u32>(state, STOP_DEPTH)) return store<u32>(state, STATUS_EVENT, STATUS);
  }
}

/** One token, or a key with its colon. Sets the next phase and depth. */
function step(p: usize, end: usize, state: usize, stack: usize, phase: u32, depth: u32): usize {
  const byte = <u32>load<u8>(p);
  if (phase == WALK_KEY) return keyOf(p, end, state);
  if (phase == WALK_ITEM) {
    store<u32>(state, 0, KEY_START);
    store<u32>(state, WALK_VALUE, PHASE);
    return p;
  }
  if (phase == WALK_VALUE) {
    if (byte != OPEN_OBJECT && byte != OPEN_LIST) {
      store<u32>(state, WALK_BEHIND, PHASE);
      return scalarEnd(p, end, state);
    }
    if (depth == WALK_DEPTH_MAX) return fail(state, p, TOO_DEEP);
    store<u8>(stack + <usize>depth, <u8>byte);
    store<u32>(state, depth + 1, DEPTH);
    store<u32>(state, WALK_FIRST, PHASE);
    return p + 1;
  }
  const bracket = <u32>load<u8>(stack + <usize>depth - 1);
  const inside = bracket == OPEN_OBJECT ? WALK_KEY : WALK_ITEM;
  if (byte == bracket + TO_CLOSE) {
    store<u32>(state, depth - 1, DEPTH);
    store<u32>(state, WALK_BEHIND, PHASE);
    return p + 1;
  }
  store<u32>(state, inside, PHASE);
  if (phase == WALK_FIRST) {
    return inside == WALK_KEY && byte != QUOTE ? fail(state, p, EXPECTED_KEY_OR_BRACE) : p;
  }
  return byte == COMMA ? p + 1 : fail(state, p, expectedIn(bracket));
}

/** Up to the first byte of the value. */
function keyOf(p: usize, end: usize, state: usize): usize {
  if (<u32>load<u8>(p) != QUOTE) return fail(state, p, EXPECTED_KEY);
  const close = stringEnd(p + 1, end, state);
  if (close == 0) return 0;
  const behind = close & ~MARKED;
  const colon = behindSpace(behind + 1, end, state);
  if (<u32>load<u8>(colon) != COLON) return fail(state, colon, EXPECTED_COLON);
  store<u32>(state, <u32>(p + 1), KEY_START);
  store<u32>(state, <u32>behind, KEY_END);
  store<u32>(state, WALK_VALUE, PHASE);
  return behindSpace(colon + 1, end, state);
}
