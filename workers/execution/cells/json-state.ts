// The state that the kernels of JSON want, for texts in cells: brackets are counted, lines and troubles are nobody's.
import { CELL_BYTES_MAX, DEPTH_MAX, STACK, STATE_BYTES } from '../../kernel/layout/json.ts';
import type { Heap } from '../../memory/heap.ts';

/** No cell is too long: it was read. */
const ANY_LENGTH = 0xffff_ffff;

export function jsonState(heap: Heap): number {
  const state = heap.allocate(STATE_BYTES);
  const stack = heap.allocate(DEPTH_MAX);
  const { u32 } = heap;
  u32.fill(0, state >>> 2, (state + STATE_BYTES) >>> 2);
  u32[(state + STACK) >>> 2] = stack;
  u32[(state + CELL_BYTES_MAX) >>> 2] = ANY_LENGTH;
  return state;
}
