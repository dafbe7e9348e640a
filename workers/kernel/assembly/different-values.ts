// Of the different values of groups, which a hash table has numbered: how many there are, and which came most often.
import { META_NULL } from '../layout/cells';
import { STATE_META } from '../layout/fold';
import { ENTRY_BYTES, ENTRY_COUNT, ENTRY_GROUP, ENTRY_META, ENTRY_WORD } from '../layout/held-values';

/** Counts values by their numbers (u32 by position): a new one begins an entry with its value and its group. */
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
 * Settles groups `from` to `end`, of which the entries hold all: how many entries each has, or (`mostFrequent`) the value
 * that came most often, of several the one that came first. `best`: u32 for each group.
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
