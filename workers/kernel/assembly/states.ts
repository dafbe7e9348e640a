// Conditions over the rows of a list, one byte per position: false, true, null, or unknown. A state is unknown if no
// kernel can process the cell exactly, or if the row has an error. The compiled closures decide positions that are
// still unknown at the end. Scalar reference implementation: the closures of workers/expression, which a property test
// compares with these kernels.
import { META_NULL } from '../layout/cells';
import { AND, NULL, SET, TRUE, UNKNOWN } from '../layout/expressions';

/**
 * Result of combining two states, at index left * 4 + right: `&&`, then `||`. If one side decides the result, the other
 * side does not matter, even if it is unknown.
 */
const OUTCOMES: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 1, 2, 3, 0, 2, 2, 3, 0, 3, 3, 3,
  0, 1, 2, 3, 1, 1, 1, 1, 2, 1, 2, 3, 3, 1, 3, 3,
]);

/**
 * True if the state at a position already decides the result, so the next part of the condition need not be evaluated.
 */
// @ts-ignore: decorator
@inline
export function isSettled(states: usize, i: usize, mode: u32): bool {
  return mode != SET && <u32>load<u8>(states + i) == mode - AND;
}

// @ts-ignore: decorator
@inline
export function putState(states: usize, i: usize, mode: u32, state: u32): void {
  if (mode == SET) {
    store<u8>(states + i, <u8>state);
    return;
  }
  const outcome = OUTCOMES + ((<usize>(mode - AND)) << 4) + ((<usize>load<u8>(states + i)) << 2) + <usize>state;
  store<u8>(states + i, load<u8>(outcome));
}

/** Combines `others` with `states` by `mode`. */
export function combineStates(states: usize, others: usize, count: u32, mode: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) putState(states, i, mode, <u32>load<u8>(others + i));
}

/** Swaps true and false. Reads and overwrites up to 15 bytes after the end. */
export function negateStates(states: usize, count: u32): void {
  const table = v128(1, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  for (let i: usize = 0; i < <usize>count; i += 16) {
    v128.store(states + i, i8x16.swizzle(table, v128.load(states + i)));
  }
}

/** Loads the states of a boolean column. Its meta bytes are 0, 1, or 255 for null. */
export function loadBooleans(meta: usize, rows: usize, count: u32, states: usize, mode: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const value = <u32>load<u8>(meta + <usize>load<u32>(rows + (i << 2)));
    putState(states, i, mode, value > TRUE ? NULL : value);
  }
}

/** The first position from `from` on whose state is unknown, or `count`. */
export function findUnknown(states: usize, from: u32, count: u32): u32 {
  const unknown = i8x16.splat(<i8>UNKNOWN);
  for (let i = from; i < count; i += 16) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(states + <usize>i), unknown));
    if (mask != 0) return min<u32>(count, i + <u32>ctz(mask));
  }
  return count;
}

/** Keeps the rows of the list whose state is true, in place. Returns their number. */
export function keepTrue(states: usize, rows: usize, count: u32): u32 {
  let kept = rows;
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u32>(kept, load<u32>(rows + (i << 2)));
    kept += (<usize>(<u32>load<u8>(states + i) == TRUE)) << 2;
  }
  return <u32>((kept - rows) >> 2);
}

/**
 * Writes states to the meta bytes of a boolean column. Returns the number of non-null cells. Unknown rows are listed in
 * `todo`: u32 count, then the rows.
 */
export function storeStates(states: usize, rows: usize, count: u32, meta: usize, todo: usize): u32 {
  let filled: u32 = 0, left: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2)), state = <u32>load<u8>(states + i);
    store<u8>(meta + <usize>row, <u8>(state <= TRUE ? state : META_NULL));
    filled += <u32>(state <= TRUE);
    if (state == UNKNOWN) store<u32>(todo + (++left << 2), row);
  }
  store<u32>(todo, <u32>left);
  return filled;
}
