// The value at a part of the way through the sorted values of each group, between two of them where it falls between: what
// the lists of held-values.ts hold is sorted by radix, so that no order of values costs more than another. The value takes
// the place of the list in the state. What needs more than 64 bits stops the kernel. Plain twin: execution/aggregate/
// holistic-metrics.ts.
import { META_BIG, META_NULL, META_SCALE_MAX } from '../layout/cells';
import { DOUBLE } from '../layout/expressions';
import { STATE_META } from '../layout/fold';
import { CHUNK_CELLS, CHUNK_NEXT, CHUNK_WORDS, HELD_COUNT, HELD_FIRST, HELD_LAST, HELD_USED } from '../layout/held-values';
import { fits, raised, TENS } from './scaled';

/** Up to so many values are sorted by insertion. */
const INSERTED_MOST: u32 = 48;

const DIGIT_BITS: u64 = 8;
const DIGITS: u32 = 256;
const COUNTS: usize = memory.data(1024);

const SIGN: u64 = 0x8000000000000000;

/** The key of a value in rising order; equal values have equal keys. */
// @ts-ignore: decorator
@inline
function keyOf(word: u64, form: u32, raise: u32): u64 {
  if (form != DOUBLE) return <u64>raised(<i64>word, raise) ^ SIGN;
  // -0 is 0.
  if (word == SIGN) word = 0;
  return word & SIGN ? ~word : word | SIGN;
}

/** The largest scale of the values of a list, 254 or 255 where one is no value of 64 bits. */
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

/** Writes the keys of a list; false where one has no room at the scale. */
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

/** Sorts keys; gives where they lie then: here or in the spare room. */
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
 * The address of the value that has place `place` in the sorted keys, in its list: of equal ones they stand as they came.
 * Its meta goes to `foundMeta`.
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
 * Settles groups `from` to `count`: `part` of a hundred, with `partScale` digits behind the point. `room` has place for
 * `roomCells` keys twice. Gives the group reached: one that has more values than that, or that the plain twin has to do.
 */
export function settlePercentiles(
  states: usize, stride: u32, from: u32, count: u32, form: u32, part: u64, partScale: u32, room: usize, roomCells: u32,
): u32 {
  for (let group = from; group < count; group++) {
    const state = states + (<usize>group) * (<usize>stride);
    const n = load<u64>(state, HELD_COUNT);
    if (n == 0) {
      store<u64>(state, 0);
      store<u8>(state, <u8>META_NULL, STATE_META);
      continue;
    }
    if (n > <u64>roomCells) return group;
    const scale = scaleOf(state, form);
    if (scale > META_SCALE_MAX) return group;
    if (!writeKeys(state, form, scale, room)) return group;
    const keys = sortKeysInto(room, room + ((<usize>roomCells) << 3), <u32>n);
    const whole = load<u64>(TENS + ((<usize>(partScale + 2)) << 3));
    const way = part * (n - 1);
    const place = <u32>(way / whole);
    if (!settleBetween(state, keys, place, way % whole, partScale + 2, form, scale)) return group;
  }
  return count;
}

/** The rest of the way is `rest` with `restScale` digits behind the point. */
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
    store<f64>(state, x + (y - x) * (<f64>rest / <f64>load<u64>(TENS + ((<usize>restScale) << 3))));
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
