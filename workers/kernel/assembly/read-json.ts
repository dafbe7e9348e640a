// Reads records of a JSON file into views of their cells, and traverses files to find the list of records.
import {
  AT,
  COLUMNS,
  DEPTH,
  EXPECTED_COLON,
  EXPECTED_COMMA_OR_BRACE,
  EXPECTED_COMMA_OR_BRACKET,
  EXPECTED_KEY,
  EXPECTED_KEY_OR_BRACE,
  EXPECTED_LIST,
  EXPECTED_OBJECT,
  EXPECTED_VALUE,
  EXTRAS,
  EXTRA_BYTES,
  EXTRA_COUNT,
  EXTRA_END,
  EXTRA_ROW,
  EXTRA_START,
  FLATTEN,
  FORM,
  FORM_LIST,
  FORM_ROWS_ARE_LISTS,
  FOUND,
  GUESSES,
  GUESS_BYTES_MAX,
  KEYS_FULL,
  KEYS_LIMIT,
  KEYS_NEXT,
  KEY_BYTES_MAX,
  KEY_END,
  KEY_START,
  KEY_SURROGATE,
  KEY_TOO_LONG,
  LEARNS,
  LINES,
  LINE_START,
  LOOK_BYTES,
  MARKED,
  MEMBERS,
  MEMBERS_MAX,
  NODES,
  NODES_MAX,
  NODE_COLUMN,
  NODE_COUNT,
  NODE_GUESS,
  NODE_GUESS_BYTES,
  NODE_HASH,
  NODE_KEY,
  NODE_KEY_BYTES,
  NODE_NEXT,
  NODE_PARENT,
  NODE_SEEN,
  NODE_SHIFT,
  PARENTS,
  PHASE,
  PHASE_BEHIND,
  PHASE_NEXT,
  REPLACED,
  ROWS,
  SCRATCH,
  SEED,
  SEEN_NULL,
  SEEN_OBJECT,
  SEEN_VALUE,
  SLOTS,
  SLOT_MASK,
  STACK,
  STATUS,
  STATUS_DONE,
  STATUS_EVENT,
  STATUS_FULL,
  STATUS_KEYS_FULL,
  STATUS_LIST_END,
  STATUS_MORE,
  STATUS_ERROR,
  STOP_DEPTH,
  STRIDE,
  TOO_DEEP,
  TOO_MANY_MEMBERS,
  ERROR,
  ERROR_AT,
  VIEWS,
  TRAVERSAL_BEHIND,
  TRAVERSAL_DEPTH_MAX,
  TRAVERSAL_FIRST,
  TRAVERSAL_ITEM,
  TRAVERSAL_KEY,
  TRAVERSAL_VALUE,
} from '../layout/json';
import { unescape } from './json-cells';
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  NULL_LETTER,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  TO_CLOSE,
  afterSpace,
  expectedIn,
  fail,
  readCell,
  scalarEnd,
  stringEnd,
} from './json-tokens';

// Table of keys: finds the column of a member of a record. Keys of nested objects are separate entries, children of the
// nested object's key.

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;

/** Length of `"":`. */
const AROUND_KEY: usize = 3;

/** True if the bytes at p are this node's key in quotes with its colon, the usual way to write it. */
// @ts-ignore: decorator
@inline
function isGuess(p: usize, node: usize): bool {
  const bytes = load<u32>(node, NODE_GUESS_BYTES);
  const low = <u32>i8x16.bitmask(i8x16.ne(v128.load(p), v128.load(node, NODE_GUESS)));
  if (bytes <= 16) return bytes != 0 && (low & ((1 << bytes) - 1)) == 0;
  const high = <u32>i8x16.bitmask(i8x16.ne(v128.load(p, 16), v128.load(node, NODE_GUESS + 16)));
  return low == 0 && (high & ((1 << (bytes - 16)) - 1)) == 0;
}

/**
 * Reads a key with its colon, with any white space and escapes. Stores its node in FOUND. `expected`: error code if
 * there is no key.
 */
function readKey(p: usize, end: usize, state: usize, parent: u32, expected: u32): usize {
  if (<u32>load<u8>(p) != QUOTE) return fail(state, p, expected);
  let start = p + 1;
  const close = stringEnd(start, end, state);
  if (close == 0) return 0;
  const after = close & ~MARKED;
  let bytes = after - start;
  if (bytes > KEY_BYTES_MAX) return fail(state, p, KEY_TOO_LONG);
  if (close != after) {
    const scratch = <usize>load<u32>(state, SCRATCH);
    bytes = unescape(start, after, scratch);
    // Reported before the lines after the key are counted, because the error is at the key.
    if ((bytes & MARKED) != 0) return fail(state, p, KEY_SURROGATE);
    start = scratch;
  }
  const colon = afterSpace(after + 1, end, state);
  // A key is added only if all its bytes are before the end of the window.
  if (colon >= end || <u32>load<u8>(colon) != COLON) return fail(state, colon, EXPECTED_COLON);
  const node = nodeOf(state, parent, start, bytes);
  if (node < 0) return fail(state, p, KEYS_FULL);
  store<u32>(state, <u32>node, FOUND);
  return colon + 1;
}

/**
 * Finds or adds the node of a key. Returns 0 if the key is unknown and unknown keys are not added, or a negative number
 * if the table is full.
 */
function nodeOf(state: usize, parent: u32, start: usize, bytes: usize): i32 {
  const nodes = <usize>load<u32>(state, NODES);
  const slots = <usize>load<u32>(state, SLOTS);
  const mask = load<u32>(state, SLOT_MASK);
  const hash = hashOf(start, bytes, load<u32>(state, SEED) ^ (parent * 0x9e3779b1));
  let slot = hash & mask;
  for (;;) {
    const index = load<u32>(slots + ((<usize>slot) << 2));
    if (index == 0) break;
    const node = nodes + ((<usize>index) << NODE_SHIFT);
    if (
      load<u32>(node, NODE_HASH) == hash &&
      load<u32>(node, NODE_PARENT) == parent &&
      <usize>load<u32>(node, NODE_KEY_BYTES) == bytes &&
      memory.compare(<usize>load<u32>(node, NODE_KEY), start, bytes) == 0
    ) {
      return <i32>index;
    }
    slot = (slot + 1) & mask;
  }
  if (load<u32>(state, LEARNS) == 0) return 0;
  const index = load<u32>(state, NODE_COUNT);
  const place = <usize>load<u32>(state, KEYS_NEXT);
  if (index >= load<u32>(state, NODES_MAX) || place + bytes > <usize>load<u32>(state, KEYS_LIMIT)) return -1;
  store<u32>(state, index + 1, NODE_COUNT);
  store<u32>(state, <u32>(place + bytes), KEYS_NEXT);
  store<u32>(slots + ((<usize>slot) << 2), index);
  memory.copy(place, start, bytes);
  const node = nodes + ((<usize>index) << NODE_SHIFT);
  store<u32>(node, <u32>place, NODE_KEY);
  store<u32>(node, <u32>bytes, NODE_KEY_BYTES);
  store<u32>(node, hash, NODE_HASH);
  store<u32>(node, parent, NODE_PARENT);
  store<u32>(node, 0, NODE_NEXT);
  store<i32>(node, -1, NODE_COLUMN);
  store<u32>(node, 0, NODE_SEEN);
  putGuess(node, place, bytes);
  return <i32>index;
}

/**
 * A key with characters that need escaping is never predicted, because its raw bytes could be those of other members.
 */
function putGuess(node: usize, key: usize, bytes: usize): void {
  store<u32>(node, 0, NODE_GUESS_BYTES);
  if (bytes + AROUND_KEY > GUESS_BYTES_MAX) return;
  for (let index: usize = 0; index < bytes; index++) {
    const byte = <u32>load<u8>(key + index);
    if (byte == QUOTE || byte == BACKSLASH || byte < 0x20) return;
  }
  const guess = node + NODE_GUESS;
  store<u8>(guess, <u8>QUOTE);
  memory.copy(guess + 1, key, bytes);
  store<u8>(guess + bytes + 1, <u8>QUOTE);
  store<u8>(guess + bytes + 2, <u8>COLON);
  store<u32>(node, <u32>(bytes + AROUND_KEY), NODE_GUESS_BYTES);
}

/** The reader's secret seed prevents anyone from preparing a file whose keys all collide. */
function hashOf(s: usize, bytes: usize, seed: u32): u32 {
  let h: u64 = (<u64>bytes ^ ((<u64>seed) << 16) ^ <u64>seed) * P1;
  let p = s;
  const e = s + bytes;
  for (; p + 8 <= e; p += 8) {
    h = (h ^ load<u64>(p)) * P1;
    h ^= h >> 29;
  }
  const left = <u64>(e - p);
  if (left) h = (h ^ (load<u64>(p) & (((<u64>1) << (left << 3)) - 1))) * P2;
  h ^= h >> 32;
  h *= P2;
  return <u32>(h >> 32);
}

// Reads JSON records (objects or lists) into views of their cells, which point into the file's text. Each key is first
// compared with the key that followed the same predecessor in the previous record, and looked up in the table only if
// it differs.

/**
 * Continues from AT up to `end`, or until `rowsMax` records were read. An incomplete record is left for the next call,
 * which must receive a longer text. `last`: `end` is the end of the file. The views of all columns must be null before.
 */
export function readJson(state: usize, end: usize, rowsMax: u32, last: u32): void {
  const form = load<u32>(state, FORM);
  const areLists = (form & FORM_ROWS_ARE_LISTS) != 0;
  const opening: u32 = areLists ? OPEN_LIST : OPEN_OBJECT;
  let status: u32 = STATUS_FULL;
  let row: u32 = 0;
  while (row < rowsMax) {
    let p = afterSpace(<usize>load<u32>(state, AT), end, state);
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
          status = statusOf(fail(state, p, EXPECTED_COMMA_OR_BRACKET), end, state, last);
          break;
        }
        store<u32>(state, <u32>(p + 1), AT);
        store<u32>(state, PHASE_NEXT, PHASE);
        continue;
      }
    }
    const lines = load<u32>(state, LINES);
    const lineStart = load<u32>(state, LINE_START);
    store<u32>(state, 0, REPLACED);
    if (byte != opening) p = fail(state, p, areLists ? EXPECTED_LIST : EXPECTED_OBJECT);
    else p = areLists ? readList(p, end, state, row) : readObject(p, end, state, row);
    if (p == 0 || p > end) {
      status = statusOf(p, end, state, last);
      if (status != STATUS_ERROR) {
        store<u32>(state, lines, LINES);
        store<u32>(state, lineStart, LINE_START);
        clearRow(state, row);
      }
      break;
    }
    store<u32>(state, <u32>p, AT);
    store<u32>(state, PHASE_BEHIND, PHASE);
    const replaced = load<u32>(state, REPLACED);
    if (replaced != 0) noteRow(state, row, replaced, 0);
    row++;
  }
  store<u32>(state, row, ROWS);
  store<u32>(state, status, STATUS);
}

/** Sets the cells of a row to null. The record is read again, and must not find its own cells. */
function clearRow(state: usize, row: u32): void {
  const columns = load<u32>(state, COLUMNS);
  const views = <usize>load<u32>(state, VIEWS);
  const stride = load<u32>(state, STRIDE);
  for (let column: u32 = 0; column < columns; column++) {
    store<u64>(views + ((<usize>(column * stride + row)) << 3), 0);
  }
}

/**
 * Status after a record could not be read. An error near the end of an incomplete text may only mean that more bytes
 * are needed.
 */
function statusOf(p: usize, end: usize, state: usize, last: u32): u32 {
  if (p > end) return STATUS_MORE;
  if (load<u32>(state, ERROR) == KEYS_FULL) return STATUS_KEYS_FULL;
  return last == 0 && <usize>load<u32>(state, ERROR_AT) + LOOK_BYTES > end ? STATUS_MORE : STATUS_ERROR;
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
  let p = afterSpace(start + 1, end, state);
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
      p = afterSpace(p, end, state);
      // Bytes after the end are arbitrary, and a predicted key may extend beyond the end.
      if (p >= end) return fail(state, end, EXPECTED_VALUE);
      const byte = <u32>load<u8>(p);
      if (byte == OPEN_OBJECT && level < <usize>flatten) {
        if (learns) note(node, SEEN_OBJECT);
        store<u32>(parents + (level << 2), parent);
        level++;
        parent = index;
        isFirst = true;
        p = afterSpace(p + 1, end, state);
        continue;
      }
      if (learns) note(node, byte == NULL_LETTER ? SEEN_NULL : SEEN_VALUE);
      p = readCell(p, byte, end, state, load<i32>(node, NODE_COLUMN), row);
      if (p == 0) return 0;
    }
    isFirst = false;
    // Expects what follows a value, or the brace of an empty object.
    let isBehind = true;
    while (isBehind) {
      p = afterSpace(p, end, state);
      const byte = <u32>load<u8>(p);
      if (byte == COMMA) {
        p = afterSpace(p + 1, end, state);
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

/** Records the types of values seen at a key, which decide whether the key becomes a column. */
// @ts-ignore: decorator
@inline
function note(node: usize, seen: u32): void {
  store<u32>(node, load<u32>(node, NODE_SEEN) | seen, NODE_SEEN);
}

/** Records a row whose cells do not fit the columns (EXTRAS). */
function noteRow(state: usize, row: u32, from: usize, to: usize): void {
  const entries = <usize>load<u32>(state, EXTRAS);
  if (entries == 0) return;
  const count = load<u32>(state, EXTRA_COUNT);
  const entry = entries + <usize>count * EXTRA_BYTES;
  store<u32>(entry, row, EXTRA_ROW);
  store<u32>(entry, <u32>from, EXTRA_START);
  store<u32>(entry, <u32>to, EXTRA_END);
  store<u32>(state, count + 1, EXTRA_COUNT);
}

function readList(start: usize, end: usize, state: usize, row: u32): usize {
  const columns = load<u32>(state, COLUMNS);
  const membersMax = load<u32>(state, MEMBERS_MAX);
  let members: u32 = 0;
  let hasExtra = false;
  let extraStart: usize = 0;
  let p = afterSpace(start + 1, end, state);
  if (<u32>load<u8>(p) != CLOSE_LIST) {
    for (;;) {
      if (p >= end) return fail(state, end, EXPECTED_VALUE);
      if (members == membersMax) return fail(state, p, TOO_MANY_MEMBERS);
      const byte = <u32>load<u8>(p);
      const isInside = members < columns;
      if (members == columns) extraStart = p;
      const after = readCell(p, byte, end, state, isInside ? <i32>members : -1, row);
      if (after == 0) return 0;
      const isEmpty = byte == NULL_LETTER || (byte == QUOTE && after == p + 2);
      if (!isInside && !isEmpty) hasExtra = true;
      members++;
      p = afterSpace(after, end, state);
      const sign = <u32>load<u8>(p);
      if (sign == CLOSE_LIST) break;
      if (sign != COMMA) return fail(state, p, EXPECTED_COMMA_OR_BRACKET);
      p = afterSpace(p + 1, end, state);
    }
  }
  store<u32>(state, members, MEMBERS);
  if ((hasExtra || members < columns) && p < end) noteRow(state, row, hasExtra ? extraStart : 0, hasExtra ? p : 0);
  return p + 1;
}

// Traverses JSON of any size token by token, independent of the records' structure: to find the list of records, and to
// validate the JSON around it.

/**
 * Continues from AT in PHASE, DEPTH brackets deep, until the end of the current value (STATUS_DONE), or up to a value
 * that is nested at most STOP_DEPTH deep (STATUS_EVENT: AT is its first byte, and the next call continues into it). If
 * `end` is not the end of the file (`last` 0), stops after the last complete token.
 */
export function traverseJson(state: usize, end: usize, last: u32): void {
  const stack = <usize>load<u32>(state, STACK);
  for (;;) {
    const phase = load<u32>(state, PHASE);
    const depth = load<u32>(state, DEPTH);
    if (phase == TRAVERSAL_BEHIND && depth == 0) return store<u32>(state, STATUS_DONE, STATUS);
    const p = afterSpace(<usize>load<u32>(state, AT), end, state);
    store<u32>(state, <u32>p, AT);
    if (p >= end) return store<u32>(state, STATUS_MORE, STATUS);
    const lines = load<u32>(state, LINES);
    const lineStart = load<u32>(state, LINE_START);
    const next = step(p, end, state, stack, phase, depth);
    const isOpen = next >= end && last == 0;
    if (next == 0 || isOpen) {
      const cutOff = isOpen || (last == 0 && <usize>load<u32>(state, ERROR_AT) + LOOK_BYTES > end);
      if (cutOff) {
        store<u32>(state, lines, LINES);
        store<u32>(state, lineStart, LINE_START);
        store<u32>(state, phase, PHASE);
        store<u32>(state, depth, DEPTH);
      }
      return store<u32>(state, cutOff ? STATUS_MORE : STATUS_ERROR, STATUS);
    }
    store<u32>(state, <u32>next, AT);
    const isBefore = phase == TRAVERSAL_KEY || phase == TRAVERSAL_ITEM;
    if (isBefore && depth <= load<u32>(state, STOP_DEPTH)) return store<u32>(state, STATUS_EVENT, STATUS);
  }
}

/** Reads one token, or a key with its colon. Sets the next phase and depth. */
function step(p: usize, end: usize, state: usize, stack: usize, phase: u32, depth: u32): usize {
  const byte = <u32>load<u8>(p);
  if (phase == TRAVERSAL_KEY) return keyOf(p, end, state);
  if (phase == TRAVERSAL_ITEM) {
    store<u32>(state, 0, KEY_START);
    store<u32>(state, TRAVERSAL_VALUE, PHASE);
    return p;
  }
  if (phase == TRAVERSAL_VALUE) {
    if (byte != OPEN_OBJECT && byte != OPEN_LIST) {
      store<u32>(state, TRAVERSAL_BEHIND, PHASE);
      return scalarEnd(p, end, state);
    }
    if (depth == TRAVERSAL_DEPTH_MAX) return fail(state, p, TOO_DEEP);
    store<u8>(stack + <usize>depth, <u8>byte);
    store<u32>(state, depth + 1, DEPTH);
    store<u32>(state, TRAVERSAL_FIRST, PHASE);
    return p + 1;
  }
  const bracket = <u32>load<u8>(stack + <usize>depth - 1);
  const inside = bracket == OPEN_OBJECT ? TRAVERSAL_KEY : TRAVERSAL_ITEM;
  if (byte == bracket + TO_CLOSE) {
    store<u32>(state, depth - 1, DEPTH);
    store<u32>(state, TRAVERSAL_BEHIND, PHASE);
    return p + 1;
  }
  store<u32>(state, inside, PHASE);
  if (phase == TRAVERSAL_FIRST) {
    return inside == TRAVERSAL_KEY && byte != QUOTE ? fail(state, p, EXPECTED_KEY_OR_BRACE) : p;
  }
  return byte == COMMA ? p + 1 : fail(state, p, expectedIn(bracket));
}

/** Reads a key, up to the first byte of its value. */
function keyOf(p: usize, end: usize, state: usize): usize {
  if (<u32>load<u8>(p) != QUOTE) return fail(state, p, EXPECTED_KEY);
  const close = stringEnd(p + 1, end, state);
  if (close == 0) return 0;
  const after = close & ~MARKED;
  const colon = afterSpace(after + 1, end, state);
  if (<u32>load<u8>(colon) != COLON) return fail(state, colon, EXPECTED_COLON);
  store<u32>(state, <u32>(p + 1), KEY_START);
  store<u32>(state, <u32>after, KEY_END);
  store<u32>(state, TRAVERSAL_VALUE, PHASE);
  return afterSpace(colon + 1, end, state);
}
