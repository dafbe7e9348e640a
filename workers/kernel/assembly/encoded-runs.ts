// Sorted runs of entries (assembly/encoded-rows.ts) in half the bytes or less, since neighbours have nearly the same word.
// A step is u8 head, u16 or u32 the entry's length with its flags, and by how much its word is above the one before: the head's
// bits 0 to 3 tell how many bytes of this follow, 4 to 6 how many zero bytes below them are left out, 7 whether it is the u32.
// Then comes in memory the u32 address of the row, in files what it points to.
import { ENTRY_BYTES, RUN_WORD } from '../layout/encoded-rows';
import { copyRange } from './emit-copy';
import { AHEAD, FLAG_GUARDED, FLAG_REST, heldBytes, keep, LENGTH, touch } from './encoded-rows';

/** Head, length, and all of a word. */
const STEP_BYTES_MAX: usize = 13;
const ADDRESS_BYTES: usize = 4;

// @ts-ignore: decorator
@inline
function putStep(out: usize, flags: u32, above: u64): usize {
  const zeros = ctz(above) & 56;
  const kept = above >> zeros;
  const bytes = (71 - clz(kept)) >> 3;
  const isLong = <u64>(flags > 0xffff);
  store<u8>(out, <u8>(bytes | (zeros << 1) | (isLong << 7)));
  store<u32>(out, flags, 1);
  out += 3 + <usize>(isLong << 1);
  store<u64>(out, kept);
  return out + <usize>bytes;
}

// @ts-ignore: decorator
@inline
function stepBytes(head: u32): usize {
  return <usize>(3 + ((head >> 7) << 1) + (head & 15));
}

// @ts-ignore: decorator
@inline
function flagsOf(step: usize, head: u32): u32 {
  return load<u32>(step, 1) & (head >> 7 ? 0xffffffff : 0xffff);
}

/** What a step's word is above the one before. */
// @ts-ignore: decorator
@inline
function aboveOf(step: usize, head: u32): u64 {
  // In two halves, since a shift by 64 would be none.
  const half = <u64>((head & 15) << 2);
  const mask = ~(((<u64>0xffffffffffffffff) << half) << half);
  return (load<u64>(step + 3 + <usize>((head >> 7) << 1)) & mask) << <u64>((head >> 1) & 56);
}

/** Writes entries `from` to `to` to [out, limit) as far as they fit. Gives the end; the entry reached goes to the state. */
export function packEntries(entries: usize, from: u32, to: u32, out: usize, limit: usize, state: usize): usize {
  let word = load<u64>(state, RUN_WORD), i = from;
  for (; i < to && out + STEP_BYTES_MAX + ADDRESS_BYTES <= limit; i++) {
    const entry = entries + (<usize>i) * ENTRY_BYTES, next = load<u64>(entry);
    out = putStep(out, load<u32>(entry, 12), next - word);
    store<u32>(out, load<u32>(entry, 8));
    out += ADDRESS_BYTES;
    word = next;
  }
  store<u32>(state, i);
  store<u64>(state, word, RUN_WORD);
  return out;
}

/** Writes at most `most` entries of [from, end) and gives how many. The address behind the last goes to the state. */
export function listEntries(from: usize, end: usize, entries: usize, most: u32, state: usize): u32 {
  let word = load<u64>(state, RUN_WORD), n: u32 = 0;
  for (; n < most && from < end; n++) {
    const head = <u32>load<u8>(from), at = from + stepBytes(head);
    word += aboveOf(from, head);
    putEntry(entries + (<usize>n) * ENTRY_BYTES, word, load<u32>(at), flagsOf(from, head));
    from = at + ADDRESS_BYTES;
  }
  store<u32>(state, <u32>from);
  store<u64>(state, word, RUN_WORD);
  return n;
}

/** As packEntries, with the rows; up to 64 bytes behind `limit` are overwritten. */
export function packFinished(entries: usize, from: u32, to: u32, out: usize, limit: usize, state: usize): usize {
  let word = load<u64>(state, RUN_WORD), entry = entries + (<usize>from) * ENTRY_BYTES;
  const end = entries + (<usize>to) * ENTRY_BYTES;
  let sink: u32 = 0;
  for (let ready = entry; entry < end; entry += ENTRY_BYTES) {
    if (entry == ready) {
      ready = min(entry + AHEAD * ENTRY_BYTES, end);
      sink ^= touch(entry, ready);
    }
    const at = <usize>load<u32>(entry, 8), flags = load<u32>(entry, 12), next = load<u64>(entry);
    const bytes = heldBytes(flags, at);
    if (out + STEP_BYTES_MAX + bytes > limit) break;
    out = putStep(out, flags, next - word);
    out = copyRange(out, at, at + bytes);
    word = next;
  }
  keep(sink);
  store<u32>(state, <u32>((entry - entries) / ENTRY_BYTES));
  store<u64>(state, word, RUN_WORD);
  return out;
}

/** Bytes that an entry takes at most with its row. */
export function packedBytes(entry: usize): u32 {
  return <u32>(STEP_BYTES_MAX + heldBytes(load<u32>(entry, 12), <usize>load<u32>(entry, 8)));
}

/** As listEntries; at `end` a row may be cut off, which is not listed. */
export function listFinished(from: usize, end: usize, entries: usize, most: u32, state: usize): u32 {
  let word = load<u64>(state, RUN_WORD), n: u32 = 0;
  for (; n < most && from < end; n++) {
    const head = <u32>load<u8>(from), at = from + stepBytes(head);
    if (at > end) break;
    const flags = flagsOf(from, head);
    let bytes = <usize>(flags & LENGTH) + (flags & FLAG_GUARDED ? 4 : 0);
    if (flags & FLAG_REST) {
      if (at + bytes + 4 > end) break;
      bytes += 4 + <usize>load<u32>(at + bytes);
    }
    if (at + bytes > end) break;
    word += aboveOf(from, head);
    putEntry(entries + (<usize>n) * ENTRY_BYTES, word, <u32>at, flags);
    from = at + bytes;
  }
  store<u32>(state, <u32>from);
  store<u64>(state, word, RUN_WORD);
  return n;
}

// @ts-ignore: decorator
@inline
function putEntry(entry: usize, word: u64, address: u32, flags: u32): void {
  store<u64>(entry, word);
  store<u32>(entry, address, 8);
  store<u32>(entry, flags, 12);
}
