// A set of fingerprints in the Run's memory: open addressing. It never allocates: it stops where it lacks room and its
// owner grows it. Its head and slots: layout/keys.ts.
import { ABSENT, KNOWN, PRINT_BYTES, PRINT_SLOT_BYTES, REST_BYTES, TABLE_HELD, TABLE_HELD_MAX, TABLE_LIMIT, TABLE_MASK, TABLE_NEXT, TABLE_SLOTS } from '../layout/keys';

/** Reads the slots that the fingerprints will need, so that their cache misses overlap. The result means nothing. */
export function touchPrints(set: usize, prints: usize, count: u32): u32 {
  const slots = <usize>load<u32>(set, TABLE_SLOTS), mask = load<u32>(set, TABLE_MASK);
  let sink: u32 = 0;
  for (let i: u32 = 0; i < count; i++) sink ^= load<u32>(slots + ((<usize>(load<u32>(prints + (<usize>i) * PRINT_BYTES) & mask)) * PRINT_SLOT_BYTES));
  return sink;
}

/** Adds those of positions `from` to `count`; `ids` tells of each its number, in the order of adding, or KNOWN. Gives the position reached. */
export function addPrints(set: usize, prints: usize, from: u32, count: u32, ids: usize): u32 {
  const slots = <usize>load<u32>(set, TABLE_SLOTS), mask = load<u32>(set, TABLE_MASK), most = load<u32>(set, TABLE_HELD_MAX), limit = <usize>load<u32>(set, TABLE_LIMIT);
  let held = load<u32>(set, TABLE_HELD), next = <usize>load<u32>(set, TABLE_NEXT), i = from;
  for (; i < count; i++) {
    const print = prints + (<usize>i) * PRINT_BYTES;
    const slot = findPrint(slots, mask, print);
    let id = KNOWN;
    if (load<u32>(slot, 4) == 0) {
      if (held >= most || next + REST_BYTES > limit) break;
      id = held++;
      store<u32>(slot, load<u32>(print));
      store<u32>(slot, <u32>next, 4);
      store<u32>(next, load<u32>(print, 4));
      store<u64>(next, load<u64>(print, 8), 4);
      next += REST_BYTES;
    }
    store<u32>(ids + ((<usize>i) << 2), id);
  }
  store<u32>(set, held, TABLE_HELD);
  store<u32>(set, <u32>next, TABLE_NEXT);
  return i;
}

/** Says KNOWN or ABSENT of each. */
export function findPrints(set: usize, prints: usize, from: u32, count: u32, ids: usize): void {
  const slots = <usize>load<u32>(set, TABLE_SLOTS), mask = load<u32>(set, TABLE_MASK);
  for (let i = from; i < count; i++) {
    const slot = findPrint(slots, mask, prints + (<usize>i) * PRINT_BYTES);
    store<u32>(ids + ((<usize>i) << 2), load<u32>(slot, 4) == 0 ? ABSENT : KNOWN);
  }
}

// @ts-ignore: decorator
@inline
function findPrint(slots: usize, mask: u32, print: usize): usize {
  const word = load<u32>(print);
  let j = word & mask;
  let slot = slots + (<usize>j) * PRINT_SLOT_BYTES;
  for (let at = <usize>load<u32>(slot, 4); at != 0; at = <usize>load<u32>(slot, 4)) {
    if (load<u32>(slot) == word && load<u32>(at) == load<u32>(print, 4) && load<u64>(at, 4) == load<u64>(print, 8)) break;
    j = (j + 1) & mask;
    slot = slots + (<usize>j) * PRINT_SLOT_BYTES;
  }
  return slot;
}

/** Moves all to a larger array of `slotCount` slots (a power of two) at `slots`. */
export function movePrints(set: usize, slots: usize, slotCount: u32): void {
  const old = <usize>load<u32>(set, TABLE_SLOTS), oldCount = load<u32>(set, TABLE_MASK) + 1, mask = slotCount - 1;
  memory.fill(slots, 0, (<usize>slotCount) * PRINT_SLOT_BYTES);
  for (let i: u32 = 0; i < oldCount; i++) {
    const from = old + (<usize>i) * PRINT_SLOT_BYTES;
    if (load<u32>(from, 4) == 0) continue;
    let j = load<u32>(from) & mask;
    while (load<u32>(slots + (<usize>j) * PRINT_SLOT_BYTES, 4)) j = (j + 1) & mask;
    store<u64>(slots + (<usize>j) * PRINT_SLOT_BYTES, load<u64>(from));
  }
  store<u32>(set, <u32>slots, TABLE_SLOTS);
  store<u32>(set, mask, TABLE_MASK);
}
