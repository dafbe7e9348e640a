// A hash table of keys in the Run's memory: open addressing, ids in the order of insertion. It never allocates:
// it stops where it lacks room and its owner grows it. Its head and slots: layout/keys.ts.
import { ABSENT, KEY_SLOT_BYTES, TABLE_HELD, TABLE_HELD_MAX, TABLE_LIMIT, TABLE_MASK, TABLE_NEXT, TABLE_SLOTS } from '../layout/keys';
import { copy, sameBytes, viewOf } from './cell';

const NULL_KEY: u32 = 1;
const NULL_LENGTH: u32 = 0xffffffff;

/** Reads the slots that the hashes will need, so that their cache misses overlap. The result means nothing. */
export function touchSlots(table: usize, hashes: usize, count: u32): u32 {
  const slots = <usize>load<u32>(table, TABLE_SLOTS), mask = load<u32>(table, TABLE_MASK);
  let sink: u32 = 0;
  for (let i: u32 = 0; i < count; i++) sink ^= load<u32>(slots + ((<usize>(load<u32>(hashes + ((<usize>i) << 3)) & mask)) * KEY_SLOT_BYTES));
  return sink;
}

/** Inserts the keys of positions `from` to `count`; `ids` gets each one's id. Gives the position reached. */
export function insertKeys(table: usize, views: usize, rows: usize, from: u32, count: u32, hashes: usize, ids: usize): u32 {
  const slots = <usize>load<u32>(table, TABLE_SLOTS), mask = load<u32>(table, TABLE_MASK), most = load<u32>(table, TABLE_HELD_MAX), limit = <usize>load<u32>(table, TABLE_LIMIT);
  let held = load<u32>(table, TABLE_HELD), next = <usize>load<u32>(table, TABLE_NEXT), i = from;
  for (; i < count; i++) {
    const view = viewOf(views, rows, i);
    const hash = load<u32>(hashes + ((<usize>i) << 3));
    const s = load<u32>(view), length = s == 0 ? NULL_LENGTH : load<u32>(view, 4);
    const slot = findSlot(slots, mask, hash, s, length);
    let id = load<u32>(slot, 12);
    if (load<u32>(slot, 4) == 0) {
      const bytes: usize = s == 0 ? 0 : <usize>length;
      if (held >= most || next + bytes > limit) break;
      id = held++;
      store<u32>(slot, hash);
      store<u32>(slot, s == 0 ? NULL_KEY : <u32>next, 4);
      store<u32>(slot, length, 8);
      store<u32>(slot, id, 12);
      next = copy(next, <usize>s, <usize>s + bytes);
    }
    store<u32>(ids + ((<usize>i) << 2), id);
  }
  store<u32>(table, held, TABLE_HELD);
  store<u32>(table, <u32>next, TABLE_NEXT);
  return i;
}

/** The ids of keys, ABSENT for those that the table does not hold. */
export function findKeys(table: usize, views: usize, rows: usize, from: u32, count: u32, hashes: usize, ids: usize): void {
  const slots = <usize>load<u32>(table, TABLE_SLOTS), mask = load<u32>(table, TABLE_MASK);
  for (let i = from; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = load<u32>(view), length = s == 0 ? NULL_LENGTH : load<u32>(view, 4);
    const slot = findSlot(slots, mask, load<u32>(hashes + ((<usize>i) << 3)), s, length);
    store<u32>(ids + ((<usize>i) << 2), load<u32>(slot, 4) == 0 ? ABSENT : load<u32>(slot, 12));
  }
}

// @ts-ignore: decorator
@inline
function findSlot(slots: usize, mask: u32, hash: u32, s: u32, length: u32): usize {
  let j = hash & mask;
  let slot = slots + (<usize>j) * KEY_SLOT_BYTES;
  for (let at = load<u32>(slot, 4); at != 0; at = load<u32>(slot, 4)) {
    if (load<u32>(slot) == hash && load<u32>(slot, 8) == length && (s == 0 || sameBytes(<usize>at, <usize>s, <usize>length))) break;
    j = (j + 1) & mask;
    slot = slots + (<usize>j) * KEY_SLOT_BYTES;
  }
  return slot;
}

/** Moves all keys to a larger array of `slotCount` slots (a power of two) at `slots`. */
export function moveSlots(table: usize, slots: usize, slotCount: u32): void {
  const old = <usize>load<u32>(table, TABLE_SLOTS), oldCount = load<u32>(table, TABLE_MASK) + 1, mask = slotCount - 1;
  memory.fill(slots, 0, (<usize>slotCount) * KEY_SLOT_BYTES);
  for (let i: u32 = 0; i < oldCount; i++) {
    const from = old + (<usize>i) * KEY_SLOT_BYTES;
    if (load<u32>(from, 4) == 0) continue;
    let j = load<u32>(from) & mask;
    while (load<u32>(slots + (<usize>j) * KEY_SLOT_BYTES, 4)) j = (j + 1) & mask;
    v128.store(slots + (<usize>j) * KEY_SLOT_BYTES, v128.load(from));
  }
  store<u32>(table, <u32>slots, TABLE_SLOTS);
  store<u32>(table, mask, TABLE_MASK);
}

/**
 * Splits a row list by ids: rows whose id is new (at least `known`, ids rise as they are given) go to `fresh`, the
 * others to `seen` (0: nobody wants them). Gives how many are new.
 */
export function splitByNew(rows: usize, from: u32, count: u32, ids: usize, known: u32, fresh: usize, seen: usize): u32 {
  let n: u32 = 0, m: u32 = 0, highest = known;
  for (let i = from; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    if (load<u32>(ids + ((<usize>i) << 2)) == highest) {
      store<u32>(fresh + (<usize>(n++) << 2), row);
      highest++;
    } else if (seen) store<u32>(seen + (<usize>(m++) << 2), row);
  }
  return n;
}
