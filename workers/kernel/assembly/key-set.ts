// A set of fingerprints in the Run's memory: open addressing, 8 bytes a slot (first word of the fingerprint, address of its
// other three). It never allocates: it stops where it lacks room and its owner grows it.
// Header (u32): 0 slots, 4 mask, 8 fingerprints held, 12 held at most, 16 next free address, 20 limit of addresses.

const REST_BYTES: usize = 12;

/** In place of the number of a fingerprint that was there already, and of one that is not there. */
const KNOWN: u32 = 0xfffffffe;
const ABSENT: u32 = 0xffffffff;

/** Reads the slots that the fingerprints will need, so that their cache misses overlap. The result means nothing. */
export function touchPrints(set: usize, prints: usize, count: u32): u32 {
  const slots = <usize>load<u32>(set), mask = load<u32>(set, 4);
  let sink: u32 = 0;
  for (let i: u32 = 0; i < count; i++) sink ^= load<u32>(slots + ((<usize>(load<u32>(prints + ((<usize>i) << 4)) & mask)) << 3));
  return sink;
}

/** Adds those of positions `from` to `count`; `ids` tells of each its number, in the order of adding, or KNOWN. Gives the position reached. */
export function addPrints(set: usize, prints: usize, from: u32, count: u32, ids: usize): u32 {
  const slots = <usize>load<u32>(set), mask = load<u32>(set, 4), most = load<u32>(set, 12), limit = <usize>load<u32>(set, 20);
  let held = load<u32>(set, 8), next = <usize>load<u32>(set, 16), i = from;
  for (; i < count; i++) {
    const print = prints + ((<usize>i) << 4);
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
  store<u32>(set, held, 8);
  store<u32>(set, <u32>next, 16);
  return i;
}

/** Says KNOWN or ABSENT of each. */
export function findPrints(set: usize, prints: usize, from: u32, count: u32, ids: usize): void {
  const slots = <usize>load<u32>(set), mask = load<u32>(set, 4);
  for (let i = from; i < count; i++) {
    const slot = findPrint(slots, mask, prints + ((<usize>i) << 4));
    store<u32>(ids + ((<usize>i) << 2), load<u32>(slot, 4) == 0 ? ABSENT : KNOWN);
  }
}

// @ts-ignore: decorator
@inline
function findPrint(slots: usize, mask: u32, print: usize): usize {
  const word = load<u32>(print);
  let j = word & mask;
  let slot = slots + ((<usize>j) << 3);
  for (let at = <usize>load<u32>(slot, 4); at != 0; at = <usize>load<u32>(slot, 4)) {
    if (load<u32>(slot) == word && load<u32>(at) == load<u32>(print, 4) && load<u64>(at, 4) == load<u64>(print, 8)) break;
    j = (j + 1) & mask;
    slot = slots + ((<usize>j) << 3);
  }
  return slot;
}

/** Moves all to a larger array of `slotCount` slots (a power of two) at `slots`. */
export function movePrints(set: usize, slots: usize, slotCount: u32): void {
  const old = <usize>load<u32>(set), oldCount = load<u32>(set, 4) + 1, mask = slotCount - 1;
  memory.fill(slots, 0, (<usize>slotCount) << 3);
  for (let i: u32 = 0; i < oldCount; i++) {
    const from = old + ((<usize>i) << 3);
    if (load<u32>(from, 4) == 0) continue;
    let j = load<u32>(from) & mask;
    while (load<u32>(slots + ((<usize>j) << 3), 4)) j = (j + 1) & mask;
    store<u64>(slots + ((<usize>j) << 3), load<u64>(from));
  }
  store<u32>(set, <u32>slots);
  store<u32>(set, mask, 4);
}
