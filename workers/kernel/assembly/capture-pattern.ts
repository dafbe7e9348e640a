// Finds what groups of a pattern take in cells, replaces matches and cuts cells at them, by a two-way automaton whose rows are
// made as they are met (workers/execution/cells/pattern-walker.ts). Every cell is walked twice, however the pattern matches.
// Plain twins: the engines of expression/patterns/regular-expression.ts.
//
// Each kernel begins with the cell at position `from` and gives the position at which a row or a way is missing, which the
// head of the automaton tells of, else `count`; it is called again from there. `todo`: u32 count, then the rows handed back.
import {
  ACTIONS,
  ARENA_FULL,
  LAST_ROW,
  LENGTH_MAX,
  MAY_START,
  NEXT_FREE,
  NO_ROW,
  NOTES,
  ROW_HEAD_BYTES,
  ROW_VARIANT,
  ROWS_FULL,
  SLOTS,
  SLOTS_AT,
  START_CLASS,
  START_ENTRY,
  WANTED_IS_WAY,
  WANTED_PLACE,
  WANTED_ROW,
  WAY_CLASSES,
  WAY_MATCHED,
  WAY_UNKNOWN,
  WAYS_FULL,
} from '../layout/captures';
import { PIECE_BYTES, PIECE_FROM, PIECE_GROUP, PIECE_TO } from '../layout/patterns';
import { copy, viewOf } from './cell';

/** How a walk ends. */
const GOOD: u32 = 0;
/** Something is missing: see the head. */
const WANTED: u32 = 1;
/** The cell is not for this kernel. */
const BACK: u32 = 2;

/**
 * Finds the first match in each cell; what stands between the slot of group n and the next becomes the view in `found` + n *
 * `stride`, by physical row: null where the group took no part, and where it is empty unless `keepsEmpty`. `wanted`: u32 slot of
 * each group. With `missesBack` cells without a match are handed back.
 */
export function findCaptures(views: usize, rows: usize, count: u32, from: u32, machine: usize, wanted: usize, groups: u32, keepsEmpty: u32, missesBack: u32, found: usize, stride: usize, todo: usize): u32 {
  const slots = <usize>load<u32>(machine, SLOTS_AT), wantedEnd = wanted + (<usize>groups << 2);
  for (let i = from; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    let outcome = s == 0 ? GOOD : noteStates(machine, s, e), isMiss = s == 0;
    if (outcome == GOOD && s != 0) {
      const start = nextStart(machine, s, s, e);
      isMiss = start > e;
      if (!isMiss) outcome = walk(machine, s, start);
    }
    if (outcome == WANTED) return i;
    if (outcome == BACK || (isMiss && missesBack != 0 && s != 0)) handBack(todo, <u32>((view - views) >> 3));
    let made = found + (view - views);
    for (let group = wanted; group < wantedEnd; group += 4, made += stride) {
      store<u64>(made, 0);
      if (outcome == BACK || isMiss) continue;
      const place = slots + (<usize>load<u32>(group) << 2);
      const start = load<u32>(place), length = load<u32>(place, 4) - start;
      if (start != 0 && (length != 0 || keepsEmpty != 0)) putView(made, <usize>start, <usize>(start + length));
    }
  }
  return count;
}

/**
 * Replaces the first `times` matches in each cell by pieces, as replacePattern does. The next free address is in the head; gives
 * ARENA_FULL where a cell does not fit.
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
      if (end > <usize>BACK) {
        // One byte stands behind each cell that changed, so that an empty one differs from one that did not.
        const length = end - o - 1;
        store<u64>(view, <u64>o | ((<u64>(length > <usize>cellBytesMax ? <usize>cellBytesMax + 1 : length)) << 32));
        store<u32>(machine, <u32>end, NEXT_FREE);
        continue;
      }
      if (end == 0) return ARENA_FULL;
      outcome = <u32>end;
    }
    if (outcome == WANTED) return i;
    handBack(todo, row);
  }
  return count;
}

/** The end of the changed cell and one byte; `o` itself when nothing matched; 0 when it does not fit, else WANTED or BACK. */
function replaceIn(machine: usize, s: usize, e: usize, pieces: usize, piecesEnd: usize, times: u32, cellBytesMax: usize, o: usize, limit: usize): usize {
  const slots = <usize>load<u32>(machine, SLOTS_AT), first = o;
  let from = s, before: usize = 0, left = times, isChanged = false;
  for (let p = nextStart(machine, s, s, e); p <= e && left != 0; ) {
    const outcome = walk(machine, s, p);
    if (outcome != GOOD) return <usize>outcome;
    const end = <usize>load<u32>(slots, 4);
    // An empty match right behind a match is none.
    if (end != p || end != before) {
      left--;
      isChanged = true;
      if (o + (p - from) + 16 > limit) return 0;
      o = putPieces(slots, pieces, piecesEnd, copy(o, from, p), limit);
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

/** Puts what a match is replaced by; 0 when it does not fit. */
function putPieces(slots: usize, pieces: usize, piecesEnd: usize, o: usize, limit: usize): usize {
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
 * Cuts each cell at the matches that are not empty. Part n becomes the view in `found` + n * `stride`, by physical row; of `parts`
 * the one with the number `last` reaches to the end of the cell; those that are not there are null.
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
        outcome = walk(machine, s, p);
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
    if (outcome == BACK) {
      handBack(todo, <u32>((view - views) >> 3));
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
function handBack(todo: usize, row: u32): void {
  const back = load<u32>(todo) + 1;
  store<u32>(todo, back);
  store<u32>(todo + (<usize>back << 2), row);
}

/** Notes for each byte of [s, e), and for the end, the row of its state, with MAY_START where a match may begin. */
function noteStates(machine: usize, s: usize, e: usize): u32 {
  if (e - s > <usize>load<u32>(machine, LENGTH_MAX)) return BACK;
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
  if (entry != NO_ROW) return BACK;
  store<u32>(machine, row, WANTED_ROW);
  store<u32>(machine, kind, WANTED_PLACE);
  store<u32>(machine, 0, WANTED_IS_WAY);
  return WANTED;
}

/** The first place from p on where a match begins; behind e when there is none. */
function nextStart(machine: usize, s: usize, p: usize, e: usize): usize {
  let note = <usize>load<u32>(machine, NOTES) + ((p - s) << 2);
  const bits = i32x4.splat(<i32>MAY_START);
  for (; p + 4 <= e; p += 4, note += 16) if (v128.any_true(v128.and(v128.load(note), bits))) break;
  for (; p <= e; p++, note += 4) if ((load<u32>(note) & MAY_START) != 0) return p;
  return e + 1;
}

/** Walks the match that begins at p: its slots hold where it and its groups begin and end. */
function walk(machine: usize, s: usize, p: usize): u32 {
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
  return way == WAY_MATCHED ? GOOD : BACK;
}

function setSlots(action: usize, slots: usize, p: u32): void {
  const end = action + 4 + (<usize>load<u32>(action) << 2);
  for (let at = action + 4; at < end; at += 4) store<u32>(slots + (<usize>load<u32>(at) << 2), p);
}
