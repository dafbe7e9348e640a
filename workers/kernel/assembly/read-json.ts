// Reads records of JSON, objects or lists, into views of their cells: a cell is where it stands in the file. A key is first
// compared with the one that came behind the same key last time, and looked up where it is another.
import {
  AT,
  COLUMNS,
  EXPECTED_COMMA_OR_BRACE,
  EXPECTED_COMMA_OR_BRACKET,
  EXPECTED_KEY,
  EXPECTED_KEY_OR_BRACE,
  EXPECTED_LIST,
  EXPECTED_OBJECT,
  EXPECTED_VALUE,
  EXTRA_COUNT,
  EXTRAS,
  FLATTEN,
  FORM,
  FORM_LIST,
  FORM_ROWS_ARE_LISTS,
  FOUND,
  GUESSES,
  KEYS_FULL,
  LEARNS,
  LINE_START,
  LINES,
  LOOK_BYTES,
  MEMBERS,
  MEMBERS_MAX,
  NODE_COLUMN,
  NODE_GUESS_BYTES,
  NODE_NEXT,
  NODE_PARENT,
  NODE_SEEN,
  NODE_SHIFT,
  NODES,
  PARENTS,
  PHASE,
  PHASE_BEHIND,
  PHASE_NEXT,
  ROWS,
  SEEN_NULL,
  SEEN_OBJECT,
  SEEN_VALUE,
  STATUS,
  STATUS_FULL,
  STATUS_KEYS_FULL,
  STATUS_LIST_END,
  STATUS_MORE,
  STATUS_TROUBLE,
  TOO_MANY_MEMBERS,
  TROUBLE,
  TROUBLE_AT,
} from '../layout/json';
import { isGuess, readKey } from './json-keys';
import { behindSpace, CLOSE_LIST, CLOSE_OBJECT, COMMA, fail, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json-tokens';
import { NULL_LETTER, readCell } from './json-values';

/**
 * Goes on from AT up to `end`, or until ROWS are `rowsMax`. A record that is not complete is left, for a longer text; `last`:
 * there is none, `end` is that of the file. The views of all columns must be null before.
 */
export function readJson(state: usize, end: usize, rowsMax: u32, last: u32): void {
  const form = load<u32>(state, FORM);
  const areLists = (form & FORM_ROWS_ARE_LISTS) != 0;
  const opening: u32 = areLists ? OPEN_LIST : OPEN_OBJECT;
  let status: u32 = STATUS_FULL;
  let row: u32 = 0;
  while (row < rowsMax) {
    let p = behindSpace(<usize>load<u32>(state, AT), end, state);
    store<u32>(state, <u32>p, AT);
    if (p >= end) {
      status = STATUS_MORE;
      break;
    }
    const byte = <u32>load<u8>(p);
    const phase = load<u32>(state, PHASE);
    if ((form & FORM_LIST) != 0) {
      if (byte == CLOSE_LIST && phase != PHASE_NEXT) {
        store<u32>(state, <u32>(p + 1), AT);
        status = STATUS_LIST_END;
        break;
      }
      if (phase == PHASE_BEHIND) {
        if (byte != COMMA) {
          fail(state, p, EXPECTED_COMMA_OR_BRACKET);
          status = STATUS_TROUBLE;
          break;
        }
        store<u32>(state, <u32>(p + 1), AT);
        store<u32>(state, PHASE_NEXT, PHASE);
        continue;
      }
    }
    const lines = load<u32>(state, LINES);
    const lineStart = load<u32>(state, LINE_START);
    if (byte != opening) p = fail(state, p, areLists ? EXPECTED_LIST : EXPECTED_OBJECT);
    else p = areLists ? readList(p, end, state, row) : readObject(p, end, state, row);
    if (p == 0 || p > end) {
      status = statusOf(p, end, state, last);
      if (status != STATUS_TROUBLE) {
        store<u32>(state, lines, LINES);
        store<u32>(state, lineStart, LINE_START);
      }
      break;
    }
    store<u32>(state, <u32>p, AT);
    store<u32>(state, PHASE_BEHIND, PHASE);
    row++;
  }
  store<u32>(state, row, ROWS);
  store<u32>(state, status, STATUS);
}

/** What it means that a record could not be read. Near the end of a text that goes on nothing is sure. */
function statusOf(p: usize, end: usize, state: usize, last: u32): u32 {
  if (p > end) return STATUS_MORE;
  if (load<u32>(state, TROUBLE) == KEYS_FULL) return STATUS_KEYS_FULL;
  return last == 0 && <usize>load<u32>(state, TROUBLE_AT) + LOOK_BYTES > end ? STATUS_MORE : STATUS_TROUBLE;
}

function readObject(start: usize, end: usize, state: usize, row: u32): usize {
  const nodes = <usize>load<u32>(state, NODES);
  const flatten = load<u32>(state, FLATTEN);
  const guesses = load<u32>(state, GUESSES) != 0;
  const learns = load<u32>(state, LEARNS) != 0;
  const membersMax = load<u32>(state, MEMBERS_MAX);
  const parents = <usize>load<u32>(state, PARENTS);
  let parent: u32 = 0;
  let level: usize = 0;
  let members: u32 = 0;
  let before = nodes;
  let isFirst = true;
  let p = behindSpace(start + 1, end, state);
  while (p < end) {
    if (!isFirst || <u32>load<u8>(p) != CLOSE_OBJECT) {
      members++;
      let index = load<u32>(before, NODE_NEXT);
      let node = nodes + ((<usize>index) << NODE_SHIFT);
      if (isGuess(p, node) && load<u32>(node, NODE_PARENT) == parent) {
        p += <usize>load<u32>(node, NODE_GUESS_BYTES);
      } else {
        p = readKey(p, end, state, parent, isFirst ? EXPECTED_KEY_OR_BRACE : EXPECTED_KEY);
        if (p == 0) return 0;
        index = load<u32>(state, FOUND);
        node = nodes + ((<usize>index) << NODE_SHIFT);
        if (guesses) store<u32>(before, index, NODE_NEXT);
      }
      if (members > membersMax) return fail(state, p, TOO_MANY_MEMBERS);
      before = node;
      p = behindSpace(p, end, state);
      // What stands behind the end is neither a value nor, where a key was guessed across it, that of this key.
      if (p >= end) return fail(state, end, EXPECTED_VALUE);
      const byte = <u32>load<u8>(p);
      if (byte == OPEN_OBJECT && level < <usize>flatten) {
        if (learns) note(node, SEEN_OBJECT);
        store<u32>(parents + (level << 2), parent);
        level++;
        parent = index;
        isFirst = true;
        p = behindSpace(p + 1, end, state);
        continue;
      }
      if (learns) note(node, byte == NULL_LETTER ? SEEN_NULL : SEEN_VALUE);
      p = readCell(p, byte, end, state, load<i32>(node, NODE_COLUMN), row);
      if (p == 0) return 0;
    }
    isFirst = false;
    // Behind a value, or before the brace of an empty object.
    let isBehind = true;
    while (isBehind) {
      p = behindSpace(p, end, state);
      const byte = <u32>load<u8>(p);
      if (byte == COMMA) {
        p = behindSpace(p + 1, end, state);
        isBehind = false;
        continue;
      }
      if (byte != CLOSE_OBJECT) return fail(state, p, EXPECTED_COMMA_OR_BRACE);
      p++;
      if (level == 0) {
        store<u32>(state, members, MEMBERS);
        return p;
      }
      if (p > end) return fail(state, end, EXPECTED_KEY);
      level--;
      parent = load<u32>(parents + (level << 2));
    }
  }
  return fail(state, end, EXPECTED_KEY);
}

/** What has stood at a key decides whether it is a column. */
// @ts-ignore: decorator
@inline
function note(node: usize, seen: u32): void {
  store<u32>(node, load<u32>(node, NODE_SEEN) | seen, NODE_SEEN);
}

function readList(start: usize, end: usize, state: usize, row: u32): usize {
  const columns = load<u32>(state, COLUMNS);
  const membersMax = load<u32>(state, MEMBERS_MAX);
  let members: u32 = 0;
  let hasExtra = false;
  let p = behindSpace(start + 1, end, state);
  if (<u32>load<u8>(p) != CLOSE_LIST) {
    for (;;) {
      if (p >= end) return fail(state, end, EXPECTED_VALUE);
      if (members == membersMax) return fail(state, p, TOO_MANY_MEMBERS);
      const byte = <u32>load<u8>(p);
      const isInside = members < columns;
      const behind = readCell(p, byte, end, state, isInside ? <i32>members : -1, row);
      if (behind == 0) return 0;
      const isEmpty = byte == NULL_LETTER || (byte == QUOTE && behind == p + 2);
      if (!isInside && !isEmpty) hasExtra = true;
      members++;
      p = behindSpace(behind, end, state);
      const sign = <u32>load<u8>(p);
      if (sign == CLOSE_LIST) break;
      if (sign != COMMA) return fail(state, p, EXPECTED_COMMA_OR_BRACKET);
      p = behindSpace(p + 1, end, state);
    }
  }
  store<u32>(state, members, MEMBERS);
  if (hasExtra && p < end) {
    const count = load<u32>(state, EXTRA_COUNT);
    store<u32>(<usize>load<u32>(state, EXTRAS) + ((<usize>count) << 2), row);
    store<u32>(state, count + 1, EXTRA_COUNT);
  }
  return p + 1;
}
