// Aggregates cells into the states of their groups: counts, sums, minimum and maximum, first and last. layout/groups.ts
// describes the states and the description of an aggregation. If a kernel cannot process a cell exactly, it stops and
// returns the position. The caller processes that cell and then continues. Scalar reference implementation:
// workers/execution/aggregate/accumulators.ts.
import { META_BIG, META_NULL } from '../layout/cells';
import { BOOLEAN, DECIMAL, DOUBLE } from '../layout/expressions';
import {
  CONDITION,
  DOUBLES_LOW,
  DOUBLES_META,
  IDS,
  META,
  ROWS,
  STATES,
  STATE_META,
  STRIDE_BYTES,
  VALUES,
} from '../layout/groups';
import { fits, raised } from './numbers';

// @ts-ignore: decorator
@inline
function rowAt(fold: usize, i: u32): usize {
  return <usize>load<u32>(<usize>load<u32>(fold, ROWS) + ((<usize>i) << 2));
}

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

/** Counts rows. */
export function foldCount(fold: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (!isChosen(fold, rowAt(fold, i))) continue;
    const state = stateOf(fold, i);
    store<u64>(state, load<u64>(state) + 1);
  }
}

/** Counts the non-null cells of a typed column, or (meta 0) of views. */
export function foldValues(fold: usize, count: u32): void {
  const values = <usize>load<u32>(fold, VALUES), meta = <usize>load<u32>(fold, META);
  for (let i: u32 = 0; i < count; i++) {
    const row = rowAt(fold, i);
    if (meta == 0 ? load<u32>(values + (row << 3)) == 0 : <u32>load<u8>(meta + row) == META_NULL) continue;
    if (!isChosen(fold, row)) continue;
    const state = stateOf(fold, i);
    store<u64>(state, load<u64>(state) + 1);
  }
}

/** Adds integers (their meta is 0) or decimals. Stops when the sum would exceed 64 bits. */
export function foldSum(fold: usize, from: u32, count: u32): u32 {
  const values = <usize>load<u32>(fold, VALUES), meta = <usize>load<u32>(fold, META);
  for (let i = from; i < count; i++) {
    const row = rowAt(fold, i);
    const scale = <u32>load<u8>(meta + row);
    if (scale == META_NULL || !isChosen(fold, row)) continue;
    if (scale == META_BIG) return i;
    const value = load<i64>(values + (row << 3));
    const state = stateOf(fold, i);
    const held = <u32>load<u8>(state, STATE_META);
    let sum = load<i64>(state);
    if (held == scale) {
      const made = sum + value;
      if (((made ^ sum) & (made ^ value)) < 0) return i;
      store<i64>(state, made);
      continue;
    }
    if (held != META_NULL) {
      const most = max(held, scale);
      if (!fits(sum, most - held) || !fits(value, most - scale)) return i;
      const a = raised(sum, most - held), b = raised(value, most - scale);
      const made = a + b;
      if (((made ^ a) & (made ^ b)) < 0) return i;
      store<i64>(state, made);
      store<u8>(state, <u8>most, STATE_META);
      continue;
    }
    store<i64>(state, value);
    store<u8>(state, <u8>scale, STATE_META);
  }
  return count;
}

/**
 * Adds doubles exactly. A state holds the sum as two doubles, f64 high and f64 low, and then META_NULL until there is a
 * value. Stops when two doubles cannot represent the sum, which Knuth's two-sum detects.
 */
export function foldDoubles(fold: usize, from: u32, count: u32): u32 {
  const values = <usize>load<u32>(fold, VALUES), meta = <usize>load<u32>(fold, META);
  for (let i = from; i < count; i++) {
    const row = rowAt(fold, i);
    if (<u32>load<u8>(meta + row) == META_NULL || !isChosen(fold, row)) continue;
    const x = load<f64>(values + (row << 3));
    const state = stateOf(fold, i);
    const high = load<f64>(state), low = load<f64>(state, DOUBLES_LOW);
    const sum = high + x;
    const back = sum - high;
    const lost = (high - (sum - back)) + (x - back);
    const rest = low + lost;
    const restBack = rest - low;
    const restLost = (low - (rest - restBack)) + (lost - restBack);
    // This condition also stops at infinities and NaN.
    if (!(restLost == 0) || !(abs(sum) <= f64.MAX_VALUE)) return i;
    store<f64>(state, sum);
    store<f64>(state, rest, DOUBLES_LOW);
    store<u8>(state, 0, DOUBLES_META);
  }
  return count;
}

/** Keeps the minimum (`largest` 0) or maximum, and the first among equal values. Stops at decimals beyond 64 bits. */
export function foldExtreme(fold: usize, from: u32, count: u32, form: u32, largest: u32): u32 {
  const values = <usize>load<u32>(fold, VALUES), meta = <usize>load<u32>(fold, META);
  for (let i = from; i < count; i++) {
    const row = rowAt(fold, i);
    const kind = <u32>load<u8>(meta + row);
    if (kind == META_NULL || !isChosen(fold, row)) continue;
    const state = stateOf(fold, i);
    const held = <u32>load<u8>(state, STATE_META);
    if (form == DECIMAL && (kind == META_BIG || held == META_BIG)) return i;
    const value = values + (row << 3);
    if (held != META_NULL) {
      const order = form == BOOLEAN ? <i32>kind - <i32>held : compared(value, kind, state, held, form);
      if (largest ? order <= 0 : order >= 0) continue;
    }
    if (form != BOOLEAN) store<u64>(state, load<u64>(value));
    store<u8>(state, <u8>kind, STATE_META);
  }
  return count;
}

function compared(a: usize, aScale: u32, b: usize, bScale: u32, form: u32): i32 {
  if (form == DOUBLE) {
    const x = load<f64>(a), y = load<f64>(b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  let x = load<i64>(a), y = load<i64>(b);
  if (form == DECIMAL && aScale != bScale) {
    // If a value does not fit 64 bits at the larger scale, its magnitude is larger than that of every value that fits.
    if (aScale < bScale) {
      if (!fits(x, bScale - aScale)) return x < 0 ? -1 : 1;
      x = raised(x, bScale - aScale);
    } else {
      if (!fits(y, aScale - bScale)) return y < 0 ? 1 : -1;
      y = raised(y, aScale - bScale);
    }
  }
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Keeps the first non-null value, or with `last` the last one. Stops at decimals beyond 64 bits. */
export function foldEnd(fold: usize, from: u32, count: u32, form: u32, last: u32): u32 {
  const values = <usize>load<u32>(fold, VALUES), meta = <usize>load<u32>(fold, META);
  for (let i = from; i < count; i++) {
    const row = rowAt(fold, i);
    const kind = <u32>load<u8>(meta + row);
    if (kind == META_NULL || !isChosen(fold, row)) continue;
    const state = stateOf(fold, i);
    const held = <u32>load<u8>(state, STATE_META);
    if (held != META_NULL && !last) continue;
    if (form == DECIMAL && (kind == META_BIG || held == META_BIG)) return i;
    if (form != BOOLEAN) store<u64>(state, load<u64>(values + (row << 3)));
    store<u8>(state, <u8>kind, STATE_META);
  }
  return count;
}

/** Writes the states of `count` groups, beginning with the one at `states`, into a typed column from row 0 on. */
export function unpackStates(states: usize, stride: u32, count: u32, at: usize, meta: usize): void {
  for (let i: usize = 0; i < <usize>count; i++, states += <usize>stride) {
    store<u64>(at + (i << 3), load<u64>(states));
    store<u8>(meta + i, load<u8>(states, STATE_META));
  }
}
