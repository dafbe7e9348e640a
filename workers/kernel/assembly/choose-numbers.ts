// Vectors of numbers (vector.ts) out of several: as a condition says, and where one has none.
import { NULL, TRUE, UNKNOWN, VECTOR_MARKS, VECTOR_SCALES } from '../layout/expressions';
import { markAt, scaleAt, valueAt } from './vector';

// @ts-ignore: decorator
@inline
function copyNumber(from: usize, to: usize, i: usize): void {
  store<u64>(valueAt(to, i), load<u64>(valueAt(from, i)));
  store<u8>(<usize>load<u32>(to, VECTOR_MARKS) + i, <u8>markAt(from, i));
  store<u8>(<usize>load<u32>(to, VECTOR_SCALES) + i, <u8>scaleAt(from, i));
}

/** The number of the first vector where the state is true, of the second where it is false or null. */
export function chooseNumbers(states: usize, count: u32, then: usize, otherwise: usize, result: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const state = <u32>load<u8>(states + i);
    copyNumber(state == TRUE ? then : otherwise, result, i);
    if (state == UNKNOWN) store<u8>(<usize>load<u32>(result, VECTOR_MARKS) + i, <u8>UNKNOWN);
  }
}

/** Puts the numbers of another vector where there are none; with `all` everywhere. */
export function fillNumbers(vector: usize, others: usize, count: u32, all: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) if (all || markAt(vector, i) == NULL) copyNumber(others, vector, i);
}
