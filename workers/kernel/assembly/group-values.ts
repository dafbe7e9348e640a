// Values that metrics of groups hold until all rows have arrived: lists of values, distinct values, and percentiles.
import { META_BIG, META_NULL, META_SCALE_MAX } from '../layout/cells';
import {
  CHUNK_CELLS,
  CHUNK_CELLS_FIRST,
  CHUNK_CELLS_MOST,
  CHUNK_NEXT,
  CHUNK_WORDS,
  CONDITION,
  CURSOR_CELL,
  CURSOR_CHUNK,
  CURSOR_GROUP,
  ENTRY_BYTES,
  ENTRY_COUNT,
  ENTRY_GROUP,
  ENTRY_META,
  ENTRY_WORD,
  HELD_COUNT,
  HELD_FIRST,
  HELD_LAST,
  HELD_USED,
  IDS,
  KEEP_FIRST,
  KEEP_LARGEST,
  KEEP_LAST,
  META,
  ROWS,
  STATES,
  STATE_META,
  STRIDE_BYTES,
  VALUES,
} from '../layout/groups';
import { copy } from './cell';
import { DOUBLE } from '../layout/expressions';
import { POWERS_OF_TEN, fits, raised } from './numbers';

// Buffers the values of groups in lists (layout/groups.ts), iterates over these lists, and keeps one text per
// group. The lists are allocated in a block. A kernel stops when the block is full, and the caller continues with
// another block.

/** Upper bound for the bytes of a chunk besides its cells, and for its alignment. */
const CHUNK_SPARE: usize = 64;

// @ts-ignore: decorator
@inline
function isChosen(fold: usize, row: usize): bool {
  const condition = <usize>load<u32>(fold, CONDITION);
  return condition == 0 || load<u8>(condition + row) == 1;
}

// @ts-ignore: decorator
@inline
function stateOf(fold: usize, i: u32): usize {
  const id = <usize>load<u32>(<usize>load<u32>(fold, IDS) + ((<usize>i) << 2));
  return <usize>load<u32>(fold, STATES) + id * <usize>load<u32>(fold, STRIDE_BYTES);
}

/** Number of cells of the new chunk that the group needs for another value, or 0 if the last chunk has a free cell. */
// @ts-ignore: decorator
@inline
function wantedCells(state: usize): u32 {
  const last = <usize>load<u32>(state, HELD_LAST);
  if (last == 0) return CHUNK_CELLS_FIRST;
  const cells = load<u32>(last, CHUNK_CELLS);
  return load<u32>(state, HELD_USED) < cells ? 0 : min(cells * 2, CHUNK_CELLS_MOST);
}

/** Returns the first free address after the new chunk. */
function addChunk(state: usize, cells: u32, next: usize): usize {
  const at = (next + 7) & ~7;
  const last = <usize>load<u32>(state, HELD_LAST);
  store<u32>(at, 0, CHUNK_NEXT);
  store<u32>(at, cells, CHUNK_CELLS);
  if (last == 0) store<u32>(state, <u32>at, HELD_FIRST);
  else store<u32>(last, <u32>at, CHUNK_NEXT);
  store<u32>(state, <u32>at, HELD_LAST);
  store<u32>(state, 0, HELD_USED);
  return at + CHUNK_WORDS + ((<usize>cells) << 3) + <usize>((cells + 7) & ~7);
}

// @ts-ignore: decorator
@inline
function put(state: usize, word: u64, meta: u8): void {
  const last = <usize>load<u32>(state, HELD_LAST);
  const used = <usize>load<u32>(state, HELD_USED);
  store<u64>(last + CHUNK_WORDS + (used << 3), word);
  store<u8>(last + CHUNK_WORDS + ((<usize>load<u32>(last, CHUNK_CELLS)) << 3) + used, meta);
  store<u32>(state, <u32>used + 1, HELD_USED);
  store<u64>(state, load<u64>(state, HELD_COUNT) + 1, HELD_COUNT);
}

/**
 * Appends the non-null cells of positions `from` to `count` to the lists of their groups. The cells are those of a
 * typed column, or (META 0 in the description) of views, whose texts are copied. Stores the block's first free address
 * in `reached`. Returns the position reached.
 */
export function holdValues(fold: usize, from: u32, count: u32, next: usize, limit: usize, reached: usize): u32 {
  const values = <usize>load<u32>(fold, VALUES), meta = <usize>load<u32>(fold, META), rows = <usize>load<u32>(fold, ROWS);
  let i = from;
  for (; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    let kind: u32 = 0, s: usize = 0, length: usize = 0;
    if (meta == 0) {
      s = <usize>load<u32>(values + (row << 3));
      if (s == 0) continue;
      length = <usize>load<u32>(values + (row << 3), 4);
    } else {
      kind = <u32>load<u8>(meta + row);
      if (kind == META_NULL) continue;
    }
    if (!isChosen(fold, row)) continue;
    const state = stateOf(fold, i);
    const cells = wantedCells(state);
    if (next + CHUNK_SPARE + (<usize>cells) * 9 + length > limit) break;
    if (cells != 0) next = addChunk(state, cells, next);
    if (meta == 0) {
      put(state, (<u64>next) | ((<u64>length) << 32), 0);
      next = copy(next, s, s + length);
    } else put(state, load<u64>(values + (row << 3)), <u8>kind);
  }
  store<u32>(reached, <u32>next);
  return i;
}

/**
 * Keeps one text per group (selected by KEEP_FIRST and the other modes). The group's state holds its view, with its
 * native kind as meta (META in the description: address of the kinds, 0: no kinds). The first among equal texts is
 * kept.
 */
export function keepTexts(fold: usize, from: u32, count: u32, which: u32, next: usize, limit: usize, reached: usize): u32 {
  const values = <usize>load<u32>(fold, VALUES), kinds = <usize>load<u32>(fold, META), rows = <usize>load<u32>(fold, ROWS);
  let i = from;
  for (; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const s = <usize>load<u32>(values + (row << 3));
    if (s == 0 || !isChosen(fold, row)) continue;
    const state = stateOf(fold, i);
    const length = <usize>load<u32>(values + (row << 3), 4);
    const held = <usize>load<u32>(state), heldLength = <usize>load<u32>(state, 4);
    if (held != 0) {
      if (which == KEEP_FIRST) continue;
      if (which != KEEP_LAST) {
        const order = comparedTexts(s, length, held, heldLength);
        if (which == KEEP_LARGEST ? order <= 0 : order >= 0) continue;
      }
    }
    // A text that is not longer overwrites the previous one.
    let at = held;
    if (held == 0 || length > heldLength) {
      if (next + CHUNK_SPARE + length > limit) break;
      at = next;
      next += length;
    }
    memory.copy(at, s, length);
    store<u32>(state, <u32>at);
    store<u32>(state, <u32>length, 4);
    store<u8>(state, kinds == 0 ? 0 : load<u8>(kinds + row), STATE_META);
  }
  store<u32>(reached, <u32>next);
  return i;
}

/** Compares bytes, which for UTF-8 is the order of code points. */
function comparedTexts(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const length = min(aLength, bLength);
  const order = memory.compare(a, b, length);
  if (order != 0) return order;
  return aLength < bLength ? -1 : aLength > bLength ? 1 : 0;
}

/**
 * Iterates over the lists of the groups from the cursor up to `end`. Writes up to `most` values with their meta and
 * their group numbers. Returns the number of values, which is less than `most` only at the end.
 */
export function gatherHeld(
  states: usize, stride: u32, cursor: usize, end: u32, most: u32, words: usize, metas: usize, groups: usize,
): u32 {
  let group = load<u32>(cursor, CURSOR_GROUP), chunk = <usize>load<u32>(cursor, CURSOR_CHUNK), cell = load<u32>(cursor, CURSOR_CELL);
  let n: u32 = 0;
  for (; group < end; group++, chunk = 0) {
    const state = states + (<usize>group) * (<usize>stride);
    const last = <usize>load<u32>(state, HELD_LAST);
    if (chunk == 0) {
      chunk = <usize>load<u32>(state, HELD_FIRST);
      cell = 0;
    }
    for (; chunk != 0; chunk = <usize>load<u32>(chunk, CHUNK_NEXT), cell = 0) {
      const cells = load<u32>(chunk, CHUNK_CELLS);
      const used = chunk == last ? load<u32>(state, HELD_USED) : cells;
      const from = chunk + CHUNK_WORDS, meta = from + ((<usize>cells) << 3);
      const take = min(used - cell, most - n);
      for (let k: u32 = 0; k < take; k++, cell++, n++) {
        store<u64>(words + ((<usize>n) << 3), load<u64>(from + ((<usize>cell) << 3)));
        store<u8>(metas + n, load<u8>(meta + cell));
        store<u32>(groups + ((<usize>n) << 2), group);
      }
      if (cell < used) {
        store<u32>(cursor, group, CURSOR_GROUP);
        store<u32>(cursor, <u32>chunk, CURSOR_CHUNK);
        store<u32>(cursor, cell, CURSOR_CELL);
        return n;
      }
    }
  }
  store<u32>(cursor, end, CURSOR_GROUP);
  store<u32>(cursor, 0, CURSOR_CHUNK);
  return n;
}

// Counts the distinct values of groups, or finds the most frequent one. A hash table has numbered the values.

/** Counts values by their numbers (u32 by position). A new number begins an entry with its value and its group. */
export function countEntries(entries: usize, known: u32, ids: usize, count: u32, words: usize, metas: usize, groups: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const id = load<u32>(ids + (i << 2));
    const entry = entries + (<usize>id) * ENTRY_BYTES;
    if (id == known) {
      known++;
      store<u64>(entry, load<u64>(words + (i << 3)), ENTRY_WORD);
      store<u32>(entry, load<u32>(groups + (i << 2)), ENTRY_GROUP);
      store<u32>(entry, 1, ENTRY_COUNT);
      store<u32>(entry, <u32>load<u8>(metas + i), ENTRY_META);
    } else store<u32>(entry, load<u32>(entry, ENTRY_COUNT) + 1, ENTRY_COUNT);
  }
}

/**
 * Computes the result of groups `from` to `end`, all of whose entries are given: the number of distinct values, or
 * (`mostFrequent`) the most frequent value, and among equally frequent values the one seen first. `best`: one u32 per
 * group.
 */
export function settleEntries(
  states: usize, stride: u32, from: u32, end: u32, entries: usize, count: u32, mostFrequent: u32, best: usize,
): void {
  for (let group = from; group < end; group++) {
    const state = states + (<usize>group) * (<usize>stride);
    store<u64>(state, 0);
    store<u8>(state, mostFrequent ? <u8>META_NULL : 0, STATE_META);
    store<u32>(best + ((<usize>(group - from)) << 2), 0);
  }
  for (let i: usize = 0; i < <usize>count; i++) {
    const entry = entries + i * ENTRY_BYTES;
    const group = load<u32>(entry, ENTRY_GROUP);
    const state = states + (<usize>group) * (<usize>stride);
    if (!mostFrequent) {
      store<u64>(state, load<u64>(state) + 1);
      continue;
    }
    const most = best + ((<usize>(group - from)) << 2);
    const n = load<u32>(entry, ENTRY_COUNT);
    if (n <= load<u32>(most)) continue;
    store<u32>(most, n);
    store<u64>(state, load<u64>(entry, ENTRY_WORD));
    store<u8>(state, <u8>load<u32>(entry, ENTRY_META), STATE_META);
  }
}

// Computes percentiles of groups, with linear interpolation between two values. Radix-sorts the values in the lists of
// groups, so no order of the values is slower than another. The result replaces the list in the group's state. Stops if
// a result needs more than 64 bits. Scalar reference implementation: execution/aggregate/accumulators.ts.

/** Maximum number of values sorted by insertion. */
const INSERTED_MOST: u32 = 48;

const DIGIT_BITS: u64 = 8;
const DIGITS: u32 = 256;
const COUNTS: usize = memory.data(1024);

const SIGN: u64 = 0x8000000000000000;

/** Sort key of a value in ascending order. Equal values have equal keys. */
// @ts-ignore: decorator
@inline
function keyOf(word: u64, form: u32, raise: u32): u64 {
  if (form != DOUBLE) return <u64>raised(<i64>word, raise) ^ SIGN;
  // Negative zero equals zero.
  if (word == SIGN) word = 0;
  return word & SIGN ? ~word : word | SIGN;
}

/** Largest scale among the values of a list, or 254 or 255 if a value does not fit 64 bits. */
function scaleOf(state: usize, form: u32): u32 {
  const last = <usize>load<u32>(state, HELD_LAST);
  let scale: u32 = 0;
  for (let chunk = <usize>load<u32>(state, HELD_FIRST); chunk != 0; chunk = <usize>load<u32>(chunk, CHUNK_NEXT)) {
    const cells = load<u32>(chunk, CHUNK_CELLS);
    const used = chunk == last ? load<u32>(state, HELD_USED) : cells;
    const words = chunk + CHUNK_WORDS, metas = words + ((<usize>cells) << 3);
    for (let i: usize = 0; i < <usize>used; i++) {
      scale = max(scale, <u32>load<u8>(metas + i));
      if (form != DOUBLE) continue;
      const value = load<f64>(words + (i << 3));
      if (value != value) return META_NULL;
    }
  }
  return scale;
}

/** Writes the sort keys of a list. Returns false if a value does not fit 64 bits at the scale. */
function writeKeys(state: usize, form: u32, scale: u32, keys: usize): bool {
  const last = <usize>load<u32>(state, HELD_LAST);
  for (let chunk = <usize>load<u32>(state, HELD_FIRST); chunk != 0; chunk = <usize>load<u32>(chunk, CHUNK_NEXT)) {
    const cells = load<u32>(chunk, CHUNK_CELLS);
    const used = chunk == last ? load<u32>(state, HELD_USED) : cells;
    const words = chunk + CHUNK_WORDS, metas = words + ((<usize>cells) << 3);
    for (let i: usize = 0; i < <usize>used; i++, keys += 8) {
      const word = load<u64>(words + (i << 3));
      const raise = form == DOUBLE ? 0 : scale - <u32>load<u8>(metas + i);
      if (raise != 0 && !fits(<i64>word, raise)) return false;
      store<u64>(keys, keyOf(word, form, raise));
    }
  }
  return true;
}

/** Sorts keys. Returns the address of the result: `keys` or `spare`. */
function sortKeysInto(keys: usize, spare: usize, count: u32): usize {
  if (count <= INSERTED_MOST) {
    for (let i: usize = 8; i < (<usize>count) << 3; i += 8) {
      const key = load<u64>(keys + i);
      let j = i;
      for (; j > 0 && load<u64>(keys + j - 8) > key; j -= 8) store<u64>(keys + j, load<u64>(keys + j - 8));
      store<u64>(keys + j, key);
    }
    return keys;
  }
  const first = load<u64>(keys);
  let varying: u64 = 0;
  for (let i: usize = 0; i < <usize>count; i++) varying |= load<u64>(keys + (i << 3)) ^ first;
  for (let shift: u64 = 0; shift < 64; shift += DIGIT_BITS) {
    if (((varying >> shift) & (DIGITS - 1)) == 0) continue;
    memory.fill(COUNTS, 0, DIGITS << 2);
    for (let i: usize = 0; i < <usize>count; i++) {
      const at = COUNTS + (<usize>((load<u64>(keys + (i << 3)) >> shift) & (DIGITS - 1)) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
    let before: u32 = 0;
    for (let digit: usize = 0; digit < DIGITS; digit++) {
      const n = load<u32>(COUNTS + (digit << 2));
      store<u32>(COUNTS + (digit << 2), before);
      before += n;
    }
    for (let i: usize = 0; i < <usize>count; i++) {
      const key = load<u64>(keys + (i << 3));
      const at = COUNTS + (<usize>((key >> shift) & (DIGITS - 1)) << 2);
      const place = load<u32>(at);
      store<u32>(at, place + 1);
      store<u64>(spare + ((<usize>place) << 3), key);
    }
    const sorted = spare;
    spare = keys;
    keys = sorted;
  }
  return keys;
}

/**
 * Finds the value at index `place` of the sorted order in its list and returns its word. Equal values keep their
 * original order. Its meta goes to `foundMeta`.
 */
let foundMeta: u32 = 0;
function valueAt(state: usize, keys: usize, place: u32, form: u32, scale: u32): u64 {
  const key = load<u64>(keys + ((<usize>place) << 3));
  let before = place;
  while (before > 0 && load<u64>(keys + ((<usize>(before - 1)) << 3)) == key) before--;
  let skip = place - before;
  const last = <usize>load<u32>(state, HELD_LAST);
  for (let chunk = <usize>load<u32>(state, HELD_FIRST); chunk != 0; chunk = <usize>load<u32>(chunk, CHUNK_NEXT)) {
    const cells = load<u32>(chunk, CHUNK_CELLS);
    const used = chunk == last ? load<u32>(state, HELD_USED) : cells;
    const words = chunk + CHUNK_WORDS, metas = words + ((<usize>cells) << 3);
    for (let i: usize = 0; i < <usize>used; i++) {
      const word = load<u64>(words + (i << 3)), meta = <u32>load<u8>(metas + i);
      if (keyOf(word, form, form == DOUBLE ? 0 : scale - meta) != key) continue;
      foundMeta = meta;
      if (skip == 0) return word;
      skip--;
    }
  }
  return 0;
}

/**
 * Computes the results of groups `from` to `count`. `part`: the percentage, with `partScale` digits after the decimal
 * point. `keysMemory`: memory for twice `keysMax` keys. Returns the group reached: one with more values than that, or
 * one for the scalar implementation.
 */
export function settlePercentiles(
  states: usize, stride: u32, from: u32, count: u32, form: u32, part: u64, partScale: u32,
  keysMemory: usize, keysMax: u32,
): u32 {
  for (let group = from; group < count; group++) {
    const state = states + (<usize>group) * (<usize>stride);
    const n = load<u64>(state, HELD_COUNT);
    if (n == 0) {
      store<u64>(state, 0);
      store<u8>(state, <u8>META_NULL, STATE_META);
      continue;
    }
    if (n > <u64>keysMax) return group;
    const scale = scaleOf(state, form);
    if (scale > META_SCALE_MAX) return group;
    if (!writeKeys(state, form, scale, keysMemory)) return group;
    const keys = sortKeysInto(keysMemory, keysMemory + ((<usize>keysMax) << 3), <u32>n);
    const whole = load<u64>(POWERS_OF_TEN + ((<usize>(partScale + 2)) << 3));
    const way = part * (n - 1);
    const place = <u32>(way / whole);
    if (!settleBetween(state, keys, place, way % whole, partScale + 2, form, scale)) return group;
  }
  return count;
}

/** Interpolates between two values. The fraction is `rest`, with `restScale` digits after the decimal point. */
function settleBetween(state: usize, keys: usize, place: u32, rest: u64, restScale: u32, form: u32, scale: u32): bool {
  const low = valueAt(state, keys, place, form, scale), lowScale = foundMeta;
  if (rest == 0) {
    store<u64>(state, low);
    store<u8>(state, <u8>lowScale, STATE_META);
    return true;
  }
  const high = valueAt(state, keys, place + 1, form, scale), highScale = foundMeta;
  if (form == DOUBLE) {
    const x = reinterpret<f64>(low), y = reinterpret<f64>(high);
    store<f64>(state, x + (y - x) * (<f64>rest / <f64>load<u64>(POWERS_OF_TEN + ((<usize>restScale) << 3))));
    store<u8>(state, 0, STATE_META);
    return true;
  }
  while (rest % 10 == 0) {
    rest /= 10;
    restScale--;
  }
  const most = max(lowScale, highScale);
  if (most + restScale > META_SCALE_MAX) return false;
  const a = raised(<i64>low, most - lowScale), b = raised(<i64>high, most - highScale);
  const step = b - a;
  if (((b ^ a) & (b ^ step)) < 0 || !fits(a, restScale)) return false;
  const start = raised(a, restScale);
  if (step != 0 && (step < 0 || <u64>step > <u64>i64.MAX_VALUE / rest)) return false;
  const way = step * <i64>rest;
  let value = start + way;
  if (((value ^ start) & (value ^ way)) < 0) return false;
  let digits = most + restScale;
  for (; digits > most && value % 10 == 0; digits--) value /= 10;
  store<i64>(state, value);
  store<u8>(state, <u8>digits, STATE_META);
  return true;
}
