// Rounds doubles as the decimals that their shortest texts spell. Plain twin: roundNumber in workers/operations/round.ts.
import { META_NULL } from '../layout/cells';
import { DOUBLE_PLACES_MAX } from '../layout/numbers';
import { rounded } from './read-numbers';

/** Decimals of 15 digits and the doubles next to them belong to each other one to one. */
const DIGITS_LIMIT: f64 = 1e15;

const POWERS: usize = memory.data<f64>([1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]);

/**
 * Rounds the cells of a row list to `scale` places (0 to 15), into `made` and `madeMeta`, which may hold the cells before
 * (`changes` 1: count those that differ from them, else those that are not null). Cells of more than 15 digits and those that
 * the rounding refuses go to `todo`: u32 count, then the rows; they are not counted.
 */
export function roundDoubles(at: usize, meta: usize, rows: usize, count: u32, scale: u32, rounding: u32, made: usize, madeMeta: usize, changes: u32, todo: usize): u32 {
  let changed: u32 = 0, left: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const mark = load<u8>(meta + row);
    store<u8>(madeMeta + row, mark);
    if (<u32>mark == META_NULL) continue;
    const value = load<f64>(at + (row << 3)), size = abs(value);
    const places = placesOf(size);
    const digits = places > DOUBLE_PLACES_MAX ? -1 : <i64>nearest(size * load<f64>(POWERS + ((<usize>places) << 3)));
    let result = size;
    if (places > scale && digits >= 0) {
      const kept = rounded(<u64>digits, places - scale, rounding);
      result = kept < 0 ? NaN : <f64>kept / load<f64>(POWERS + ((<usize>scale) << 3));
    }
    if (digits < 0 || result != result) {
      store<u32>(todo + (++left << 2), <u32>row);
      continue;
    }
    // Zero has no sign.
    if (result != 0) result = copysign(result, value);
    if (!changes || reinterpret<u64>(result) != reinterpret<u64>(value)) changed++;
    store<f64>(made + (row << 3), result);
  }
  store<u32>(todo, <u32>left);
  return changed;
}

/** The digits behind the point that spell the double; more than DOUBLE_PLACES_MAX when 15 digits do not. */
// @ts-ignore: decorator
@inline
function placesOf(size: f64): u32 {
  for (let places: u32 = 0; places <= DOUBLE_PLACES_MAX; places++) {
    const power = load<f64>(POWERS + ((<usize>places) << 3));
    const digits = nearest(size * power);
    if (!(digits < DIGITS_LIMIT)) break;
    if (digits / power == size) return places;
  }
  return DOUBLE_PLACES_MAX + 1;
}
