// Kernels for regular expressions: searching with an automaton, patterns that one pass can match, and patterns with
// capture groups, which need two passes.
import {
  ACTIONS,
  ARENA_FULL,
  CLASSES,
  END_CLASS,
  FROM_START,
  HEAD_BYTES,
  IS_ASCII,
  ITEMS,
  ITEMS_MAX,
  ITEM_BYTES,
  ITEM_LEAST,
  ITEM_MOST,
  LAST_ROW,
  LENGTH_MAX,
  LITERALS,
  LITERALS_OFFSET,
  MASK_OFFSET,
  MATCHED,
  MAY_START,
  MISSING_CLASS,
  MISSING_STATE,
  NEXT_FREE,
  NOTES,
  NO_ROW,
  PIECES,
  PIECES_AT,
  PIECE_BYTES,
  PIECE_FROM,
  PIECE_GROUP,
  PIECE_TO,
  REPLACEMENTS_MAX,
  ROWS_FULL,
  ROW_HEAD_BYTES,
  ROW_VARIANT,
  SLOTS,
  SLOTS_AT,
  START,
  START_CLASS,
  START_ENTRY,
  TOO_MANY,
  TO_END,
  UNBUILT,
  WANTED_IS_WAY,
  WANTED_PLACE,
  WANTED_ROW,
  WAYS_FULL,
  WAY_CLASSES,
  WAY_MATCHED,
  WAY_UNKNOWN,
} from '../layout/patterns';
import { FALSE, NULL, TEXT_BYTES_MAX, TRUE, UNKNOWN, UNKNOWN_TEXT } from '../layout/expressions';
import { copy, hasHighByte, members, viewOf } from './cell';
import { isSettled, putState } from './states';

// Searches for a pattern in cells, with an automaton whose states are built on demand
// (workers/execution/expressions/state-evaluator.ts).

/**
 * Searches the texts from position `from` on. Returns `count` when all are finished. If a transition has not been built
 * yet, returns the position of the text and records what is missing in the automaton's head.
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

// Finds and replaces matches of a pattern that needs no backtracking: a sequence of character sets, each repeated a
// number of times. Cells with bytes above 127 are left to the scalar implementation, unless all sets are ASCII, in
// which case such bytes match none of them. Scalar reference implementation: patternStep in
// workers/execution/cells/replace-steps.ts, with the engines in workers/expression/patterns/regular-expression.ts.
// Compiled patterns: layout/patterns.ts.

/** Starts of the items of the current match, and its end. */
const STARTS: usize = memory.data((<i32>ITEMS_MAX + 1) * 4);

/**
 * Finds the first match in each cell. The text matched by the items [from, to) becomes the view in `found`, null if
 * empty. Cells that only an engine can search, and with `listsMisses` those without a match, are listed in `todo`: u32
 * count, then the rows.
 */
export function findPattern(views: usize, rows: usize, count: u32, program: usize, from: u32, to: u32, listsMisses: u32, found: usize, todo: usize): void {
  const items = <usize>load<u32>(program, ITEMS), fixedStart = load<u32>(program, FROM_START) != 0, bytesDo = load<u32>(program, IS_ASCII) != 0;
  let back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), made = found + (view - views);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    store<u64>(made, 0);
    if (s == 0) continue;
    const isWide = !bytesDo && hasHighByte(s, e);
    const end = isWide ? 0 : firstMatch(program, s, e, fixedStart);
    if (end == 0) {
      if (!isWide && !listsMisses) continue;
      back++;
      store<u32>(todo + ((<usize>back) << 2), <u32>((view - views) >> 3));
      continue;
    }
    store<u32>(STARTS + (items << 2), <u32>end);
    const start = load<u32>(STARTS + ((<usize>from) << 2)), length = load<u32>(STARTS + ((<usize>to) << 2)) - start;
    if (length == 0) continue;
    store<u32>(made, start);
    store<u32>(made, length, 4);
  }
  store<u32>(todo, back);
}

// @ts-ignore: decorator
@inline
function firstMatch(program: usize, s: usize, e: usize, fixedStart: bool): usize {
  if (fixedStart) return matchAt(program, s, e);
  for (let p = firstMember(program + HEAD_BYTES, s, e); p < e; p = firstMember(program + HEAD_BYTES, p + 1, e)) {
    const end = matchAt(program, p, e);
    if (end != 0) return end;
  }
  return 0;
}

export function replacePattern(views: usize, rows: usize, count: u32, program: usize, cellBytesMax: u32, next: usize, limit: usize, todo: usize): usize {
  const bytesDo = load<u32>(program, IS_ASCII) != 0, fixedStart = load<u32>(program, FROM_START) != 0;
  let kept: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = <u32>((view - views) >> 3);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    if (!bytesDo && hasHighByte(s, e)) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
      continue;
    }
    store<u32>(rows + ((<usize>(kept++)) << 2), row);
    const o = fixedStart ? replaceStart(program, s, e, next, limit) : replaceAll(program, s, e, next, limit, <usize>cellBytesMax);
    if (o == 0) return 0;
    if (o == next) continue;
    // A spare byte follows each changed cell, so that a cell that became empty differs from an unchanged one.
    const length = o - next - 1;
    store<u64>(view, <u64>next | ((<u64>(length > <usize>cellBytesMax ? <usize>cellBytesMax + 1 : length)) << 32));
    next = o;
  }
  store<u32>(todo, back);
  return next;
}

/** Returns the end of the changed cell plus one byte, `o` if nothing matched, or 0 if the cell does not fit. */
// @ts-ignore: decorator
@inline
function replaceStart(program: usize, s: usize, e: usize, o: usize, limit: usize): usize {
  const end = matchAt(program, s, e);
  return end == 0 ? o : endCell(putPieces(program, end, o, limit), end, e, limit);
}

/** Like replaceStart, but for matches anywhere in the cell. */
function replaceAll(program: usize, s: usize, e: usize, o: usize, limit: usize, cellBytesMax: usize): usize {
  let left = load<u32>(program, REPLACEMENTS_MAX);
  const start = o;
  let from = s;
  for (let p = firstMember(program + HEAD_BYTES, s, e); p < e && left != 0; ) {
    const end = matchAt(program, p, e);
    if (end == 0) {
      p = firstMember(program + HEAD_BYTES, p + 1, e);
      continue;
    }
    left--;
    if (o + (p - from) + 16 > limit) return 0;
    o = putPieces(program, end, copy(o, from, p), limit);
    if (o == 0) return 0;
    from = end;
    if (o - start > cellBytesMax) break;
    p = firstMember(program + HEAD_BYTES, end, e);
  }
  return from == s ? start : endCell(o, from, e, limit);
}

/** Copies the text after the last match. */
// @ts-ignore: decorator
@inline
function endCell(o: usize, from: usize, e: usize, limit: usize): usize {
  return o == 0 || o + (e - from) + 16 > limit ? 0 : copy(o, from, e) + 1;
}

/** End of the match at p, or 0 for no match. A match is never empty. */
function matchAt(program: usize, p: usize, e: usize): usize {
  const literals = <usize>load<u32>(program, LITERALS);
  let item = program + HEAD_BYTES, start = STARTS;
  const itemsEnd = item + <usize>load<u32>(program, ITEMS) * ITEM_BYTES;
  if (literals != 0) {
    if (e - p < literals || ((load<u64>(p) ^ load<u64>(program, LITERALS_OFFSET)) & load<u64>(program, MASK_OFFSET)) != 0) return 0;
    v128.store(start, i32x4.add(i32x4.splat(<i32>p), i32x4(0, 1, 2, 3)));
    v128.store(start, i32x4.add(i32x4.splat(<i32>p), i32x4(4, 5, 6, 7)), 16);
    p += literals;
    item += literals * ITEM_BYTES;
    start += literals << 2;
  }
  for (; item < itemsEnd; item += ITEM_BYTES, start += 4) {
    store<u32>(start, <u32>p);
    const least = <usize>load<u32>(item, ITEM_LEAST), most = <usize>load<u32>(item, ITEM_MOST);
    if (most == 1) {
      if (p < e && holds(item, <u32>load<u8>(p))) p++;
      else if (least != 0) return 0;
      continue;
    }
    const end = e - p > most ? p + most : e;
    const set = v128.load(item);
    let q = p;
    for (; q < end; q += 16) {
      const others = members(set, v128.load(q)) ^ 0xffff;
      if (others == 0) continue;
      q += <usize>ctz(others);
      break;
    }
    if (q > end) q = end;
    if (q - p < least) return 0;
    p = q;
  }
  return load<u32>(program, TO_END) != 0 && p != e ? 0 : p;
}

/** True if a character is in an item's ASCII set. */
// @ts-ignore: decorator
@inline
function holds(item: usize, c: u32): bool {
  return c < 0x80 && ((<u32>load<u8>(item + <usize>(c >> 3)) >> (c & 7)) & 1) != 0;
}

/**
 * The first position from p on where a match may begin: the first character in the set of an item that must not be
 * empty. Returns e if there is no such character.
 */
// @ts-ignore: decorator
@inline
function firstMember(item: usize, p: usize, e: usize): usize {
  if (load<u32>(item, ITEM_LEAST) == 0) return p;
  const set = v128.load(item);
  for (; p < e; p += 16) {
    const found = members(set, v128.load(p));
    if (found != 0) return min(p + <usize>ctz(found), e);
  }
  return e;
}

/** Writes the replacement of the match that ends at `end`. Returns 0 if it does not fit. */
function putPieces(program: usize, end: usize, o: usize, limit: usize): usize {
  store<u32>(STARTS + (<usize>load<u32>(program, ITEMS) << 2), <u32>end);
  let piece = <usize>load<u32>(program, PIECES_AT);
  const piecesEnd = piece + <usize>load<u32>(program, PIECES) * PIECE_BYTES;
  for (; piece < piecesEnd; piece += PIECE_BYTES) {
    let s = <usize>load<u32>(piece, PIECE_FROM), length = <usize>load<u32>(piece, PIECE_TO);
    if (load<u32>(piece) == PIECE_GROUP) {
      length = <usize>load<u32>(STARTS + (length << 2));
      s = <usize>load<u32>(STARTS + (s << 2));
      length -= s;
    }
    if (o + length + 16 > limit) return 0;
    o = copy(o, s, s + length);
  }
  return o;
}

// Finds the capture groups of a pattern in cells, replaces matches and splits cells at matches. The kernels use a
// two-way automaton whose rows are built on demand (workers/execution/cells/pattern-matcher.ts). Every cell is traversed
// at most twice, whatever the pattern. Scalar reference implementation: the engines in
// expression/patterns/regular-expression.ts.
//
// Each kernel begins with the cell at position `from`. It returns `count` when all cells are finished. If a row or a
// transition has not been built yet, it returns the position of the cell and records what is missing in the automaton's
// head. The caller builds the missing part and calls again with that position. `todo`: u32 count, then the rows left to
// the scalar implementation.

/** Outcomes of a traversal. */
const GOOD: u32 = 0;
/** A row or transition has not been built yet, see the head. */
const WANTED: u32 = 1;
/** The cell is left to the scalar implementation. */
const LEAVE: u32 = 2;

/**
 * Finds the first match in each cell. The text between the slot of group n and the next slot becomes the view in
 * `found` + n * `stride`, by physical row. The view is null if the group did not participate, and also if its text is
 * empty unless `keepsEmpty` is set. `wanted`: u32 slot of each group. With `listsMisses`, cells without a match are
 * listed in `todo`.
 */
export function findCaptures(views: usize, rows: usize, count: u32, from: u32, machine: usize, wanted: usize, groups: u32, keepsEmpty: u32, listsMisses: u32, found: usize, stride: usize, todo: usize): u32 {
  const slots = <usize>load<u32>(machine, SLOTS_AT), wantedEnd = wanted + (<usize>groups << 2);
  for (let i = from; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    let outcome = s == 0 ? GOOD : noteStates(machine, s, e), isMiss = s == 0;
    if (outcome == GOOD && s != 0) {
      const start = nextStart(machine, s, s, e);
      isMiss = start > e;
      if (!isMiss) outcome = runForward(machine, s, start);
    }
    if (outcome == WANTED) return i;
    if (outcome == LEAVE || (isMiss && listsMisses != 0 && s != 0)) listTodo(todo, <u32>((view - views) >> 3));
    let made = found + (view - views);
    for (let group = wanted; group < wantedEnd; group += 4, made += stride) {
      store<u64>(made, 0);
      if (outcome == LEAVE || isMiss) continue;
      const place = slots + (<usize>load<u32>(group) << 2);
      const start = load<u32>(place), length = load<u32>(place, 4) - start;
      if (start != 0 && (length != 0 || keepsEmpty != 0)) putView(made, <usize>start, <usize>(start + length));
    }
  }
  return count;
}

/**
 * Replaces the first `times` matches in each cell by pieces, like replacePattern. The head holds the next free address.
 * Returns ARENA_FULL if a cell does not fit.
 */
export function replaceCaptures(views: usize, rows: usize, count: u32, from: u32, machine: usize, pieces: usize, piecesEnd: usize, times: u32, cellBytesMax: u32, limit: usize, todo: usize): u32 {
  for (let i = from; i < count; i++) {
    const view = viewOf(views, rows, i), row = <u32>((view - views) >> 3);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    const kept = <usize>(i - load<u32>(todo)) << 2;
    let outcome = s == 0 ? GOOD : noteStates(machine, s, e);
    if (outcome == GOOD) {
      store<u32>(rows + kept, row);
      if (s == 0) continue;
      const o = <usize>load<u32>(machine, NEXT_FREE);
      const end = replaceIn(machine, s, e, pieces, piecesEnd, times, <usize>cellBytesMax, o, limit);
      if (end == o) continue;
      if (end > <usize>LEAVE) {
        // A spare byte follows each changed cell, so that a cell that became empty differs from an unchanged one.
        const length = end - o - 1;
        store<u64>(view, <u64>o | ((<u64>(length > <usize>cellBytesMax ? <usize>cellBytesMax + 1 : length)) << 32));
        store<u32>(machine, <u32>end, NEXT_FREE);
        continue;
      }
      if (end == 0) return ARENA_FULL;
      outcome = <u32>end;
    }
    if (outcome == WANTED) return i;
    listTodo(todo, row);
  }
  return count;
}

/**
 * Returns the end of the changed cell plus one byte, `o` if nothing matched, 0 if the cell does not fit, or else WANTED
 * or LEAVE.
 */
function replaceIn(machine: usize, s: usize, e: usize, pieces: usize, piecesEnd: usize, times: u32, cellBytesMax: usize, o: usize, limit: usize): usize {
  const slots = <usize>load<u32>(machine, SLOTS_AT), first = o;
  let from = s, before: usize = 0, left = times, isChanged = false;
  for (let p = nextStart(machine, s, s, e); p <= e && left != 0; ) {
    const outcome = runForward(machine, s, p);
    if (outcome != GOOD) return <usize>outcome;
    const end = <usize>load<u32>(slots, 4);
    // An empty match directly after another match does not count.
    if (end != p || end != before) {
      left--;
      isChanged = true;
      if (o + (p - from) + 16 > limit) return 0;
      o = putCapturedPieces(slots, pieces, piecesEnd, copy(o, from, p), limit);
      if (o == 0) return 0;
      from = end;
      if (o - first > cellBytesMax) break;
    }
    before = end;
    p = nextStart(machine, s, end == p ? end + 1 : end, e);
  }
  if (!isChanged) return first;
  return o + (e - from) + 16 > limit ? 0 : copy(o, from, e) + 1;
}

/** Writes the replacement of a match. Returns 0 if it does not fit. */
function putCapturedPieces(slots: usize, pieces: usize, piecesEnd: usize, o: usize, limit: usize): usize {
  for (let piece = pieces; piece < piecesEnd; piece += PIECE_BYTES) {
    let s = <usize>load<u32>(piece, PIECE_FROM), length = <usize>load<u32>(piece, PIECE_TO);
    if (load<u32>(piece) == PIECE_GROUP) {
      const slot = slots + (s << 2);
      s = <usize>load<u32>(slot);
      length = <usize>load<u32>(slot, 4) - s;
    }
    if (o + length + 16 > limit) return 0;
    o = copy(o, s, s + length);
  }
  return o;
}

/**
 * Splits each cell at its non-empty matches. Part n becomes the view in `found` + n * `stride`, by physical row. Among
 * `parts` parts, the part with number `last` extends to the end of the cell. Missing parts are null.
 */
export function splitCaptures(views: usize, rows: usize, count: u32, from: u32, machine: usize, parts: u32, last: u32, found: usize, stride: usize, todo: usize): u32 {
  const slots = <usize>load<u32>(machine, SLOTS_AT);
  for (let i = from; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    let made = found + (view - views), part: u32 = 0, start = s;
    let outcome = s == 0 ? GOOD : noteStates(machine, s, e);
    if (outcome == GOOD && s != 0) {
      for (let p = s; part < parts && part != last; ) {
        p = nextStart(machine, s, p, e);
        if (p > e) break;
        outcome = runForward(machine, s, p);
        if (outcome != GOOD) break;
        const end = <usize>load<u32>(slots, 4);
        if (end == p) {
          p++;
          continue;
        }
        putView(made, start, p);
        made += stride;
        part++;
        start = p = end;
      }
    }
    if (outcome == WANTED) return i;
    if (outcome == LEAVE) {
      listTodo(todo, <u32>((view - views) >> 3));
      continue;
    }
    if (s != 0 && part < parts) {
      putView(made, start, e);
      made += stride;
      part++;
    }
    for (; part < parts; part++, made += stride) store<u64>(made, 0);
  }
  return count;
}

// @ts-ignore: decorator
@inline
function putView(at: usize, s: usize, e: usize): void {
  store<u32>(at, <u32>s);
  store<u32>(at, <u32>(e - s), 4);
}

// @ts-ignore: decorator
@inline
function listTodo(todo: usize, row: u32): void {
  const back = load<u32>(todo) + 1;
  store<u32>(todo, back);
  store<u32>(todo + (<usize>back << 2), row);
}

/** Records the row of the state for each byte of [s, e) and for the end, with MAY_START where a match may begin. */
function noteStates(machine: usize, s: usize, e: usize): u32 {
  if (e - s > <usize>load<u32>(machine, LENGTH_MAX)) return LEAVE;
  const classes = <usize>load<u32>(machine, WAY_CLASSES);
  let row = load<u32>(machine, LAST_ROW), note = <usize>load<u32>(machine, NOTES) + ((e - s) << 2);
  let kind: usize = 0, entry: u32 = 0;
  for (let p = e; p > s; note -= 4) {
    kind = <usize>load<u8>(classes + <usize>load<u8>(--p));
    entry = load<u32>(<usize>row + (kind << 2), ROW_HEAD_BYTES);
    if (entry <= ROWS_FULL) return stopAt(machine, row, <u32>kind, entry);
    store<u32>(note, row | (entry & MAY_START));
    row = entry & ~MAY_START;
  }
  kind = <usize>load<u32>(machine, START_CLASS);
  entry = load<u32>(<usize>row + (kind << 2), ROW_HEAD_BYTES);
  if (entry <= ROWS_FULL) return stopAt(machine, row, <u32>kind, entry);
  store<u32>(note, row | (entry & MAY_START));
  return GOOD;
}

function stopAt(machine: usize, row: u32, kind: u32, entry: u32): u32 {
  if (entry != NO_ROW) return LEAVE;
  store<u32>(machine, row, WANTED_ROW);
  store<u32>(machine, kind, WANTED_PLACE);
  store<u32>(machine, 0, WANTED_IS_WAY);
  return WANTED;
}

/** Returns the first position from p on where a match begins, or a position after e if there is no match. */
function nextStart(machine: usize, s: usize, p: usize, e: usize): usize {
  let note = <usize>load<u32>(machine, NOTES) + ((p - s) << 2);
  const bits = i32x4.splat(<i32>MAY_START);
  for (; p + 4 <= e; p += 4, note += 16) if (v128.any_true(v128.and(v128.load(note), bits))) break;
  for (; p <= e; p++, note += 4) if ((load<u32>(note) & MAY_START) != 0) return p;
  return e + 1;
}

/** Follows the match that begins at p. The slots then hold the start and end of the match and of its groups. */
function runForward(machine: usize, s: usize, p: usize): u32 {
  const notes = <usize>load<u32>(machine, NOTES), actions = <usize>load<u32>(machine, ACTIONS);
  const slots = <usize>load<u32>(machine, SLOTS_AT), slotsEnd = slots + (<usize>load<u32>(machine, SLOTS) << 2);
  for (let slot = slots; slot < slotsEnd; slot += 4) store<u32>(slot, 0);
  store<u32>(slots, <u32>p);
  let entry = load<u32>(machine, START_ENTRY);
  if (p != s) entry = load<u32>(<usize>(load<u32>(notes + ((p - 1 - s) << 2)) & ~MAY_START), ROW_VARIANT);
  let way: u32;
  do {
    const row = <usize>(load<u32>(notes + ((p - s) << 2)) & ~MAY_START), ways = <usize>load<u32>(row);
    way = ways == 0 ? WAY_UNKNOWN : load<u32>(ways + (<usize>entry << 2));
    if (way == WAY_UNKNOWN) {
      store<u32>(machine, <u32>row, WANTED_ROW);
      store<u32>(machine, entry, WANTED_PLACE);
      store<u32>(machine, 1, WANTED_IS_WAY);
      return WANTED;
    }
    const action = <usize>(way >> 16), c = <u32>load<u8>(p);
    if (action != 0) setSlots(actions + (action << 2), slots, <u32>p);
    store<u32>(slots, <u32>p, 4);
    way &= 0xffff;
    entry = way - 1;
    p += c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  } while (way < WAYS_FULL);
  return way == WAY_MATCHED ? GOOD : LEAVE;
}

function setSlots(action: usize, slots: usize, p: u32): void {
  const end = action + 4 + (<usize>load<u32>(action) << 2);
  for (let at = action + 4; at < end; at += 4) store<u32>(slots + (<usize>load<u32>(at) << 2), p);
}
