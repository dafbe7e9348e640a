// Rows that are already encoded as output bytes and wait to be sorted: encoding, sorting, merging, and packing of
// sorted runs.
import { ALL_ENTER, DIGITS, ENTRY_BYTES, FLAG_GUARDED, FLAG_REST, LENGTH, PLAYER_BYTES, RUN_BYTES, RUN_WORD } from '../layout/encoded-rows';
import { copy, viewOf } from './cell';
import { copyRange } from './emit-cells';
import { emitCsv } from './emit-csv';
import { emitJson } from './emit-json';
import { EMITTER, EMITTER_JSON, GUARDED, OUT_NEXT } from '../layout/output-program';

// Rows that are already encoded as output bytes and wait to be sorted. An entry has 16 bytes: u64 the first 8 bytes of
// the row's key as a number, u32 address of the row's bytes, u32 their length with two flags. FLAG_GUARDED: the row's
// bytes are followed by the u32 number of formulas guarded in them. FLAG_REST: then follow the u32 length and the bytes
// of the rest of the key, after its first 8 bytes. No key is a prefix of another key.

export const KEY_BYTES: usize = 8;

const FLAG_REST_BIT: u32 = 31;

/** Number of rows to prefetch: their source and target stay in the L1 cache. */
const AHEAD: usize = 64;

/** Maximum number of bytes of a row to prefetch. */
const TOUCHED: u32 = 255;

/**
 * Encodes the rows at positions [from, count) of the selection with an emit program (JSON or CSV) into [next, limit),
 * and writes their entries to [entries, entriesEnd), as long as both fit. `keys`: views by physical row. Returns the
 * next free address, and stores the position in `reached`. The program's count of formulas is restored.
 */
export function finishRows(program: usize, selection: usize, from: u32, count: u32, keys: usize, entries: usize, entriesEnd: usize, next: usize, limit: usize, reached: usize): usize {
  const json = load<u32>(program, EMITTER) == EMITTER_JSON;
  const guardedBefore = load<u32>(program, GUARDED);
  let i = from;
  for (; i < count && entries < entriesEnd; i++) {
    const key = viewOf(keys, selection, i);
    const start = <usize>load<u32>(key), length = <usize>load<u32>(key, 4);
    const done = json ? emitJson(program, selection, i, i + 1, next, limit) : emitCsv(program, selection, i, i + 1, next, limit);
    if (done == 0) break;
    let end = <usize>load<u32>(program, OUT_NEXT);
    let flags = <u32>(end - next);
    const guarded = load<u32>(program, GUARDED) - guardedBefore;
    if (guarded != 0) {
      store<u32>(program, guardedBefore, GUARDED);
      if (end + 4 > limit) break;
      store<u32>(end, guarded);
      end += 4;
      flags |= FLAG_GUARDED;
    }
    if (length > KEY_BYTES) {
      const rest = length - KEY_BYTES;
      if (end + 4 + rest > limit) break;
      store<u32>(end, <u32>rest);
      end = copy(end + 4, start + KEY_BYTES, start + length);
      flags |= FLAG_REST;
    }
    store<u64>(entries, wordOf(start, length));
    store<u32>(entries, <u32>next, 8);
    store<u32>(entries, flags, 12);
    entries += ENTRY_BYTES;
    next = end;
  }
  store<u32>(reached, i);
  return next;
}

/** Up to 8 bytes at p as a big-endian number. Missing bytes are 0. */
// @ts-ignore: decorator
@inline
function wordOf(p: usize, length: usize): u64 {
  if (length == 0) return 0;
  const word = bswap<u64>(load<u64>(p));
  return length >= 8 ? word : word & ~((<u64>0xffffffffffffffff) >> ((<u64>length) << 3));
}

/** Address of the rest of an entry's key: u32 length, bytes. Only with FLAG_REST. */
// @ts-ignore: decorator
@inline
function restOf(entry: usize): usize {
  const flags = load<u32>(entry, 12);
  return <usize>load<u32>(entry, 8) + <usize>(flags & LENGTH) + (flags & FLAG_GUARDED ? 4 : 0);
}

/** Number of bytes that belong to an entry, from its address on. */
// @ts-ignore: decorator
@inline
function heldBytes(flags: u32, at: usize): usize {
  let bytes = <usize>(flags & LENGTH);
  if (flags & FLAG_GUARDED) bytes += 4;
  if (flags & FLAG_REST) bytes += 4 + <usize>load<u32>(at + bytes);
  return bytes;
}

/** Reads the cache lines of several entries' rows, so that their cache misses overlap. The result is meaningless. */
function touch(entry: usize, end: usize): u32 {
  let sink: u32 = 0;
  for (; entry < end; entry += ENTRY_BYTES) {
    const p = <usize>load<u32>(entry, 8);
    const last = p + <usize>(load<u32>(entry, 12) & TOUCHED);
    sink ^= <u32>load<u8>(p) ^ <u32>load<u8>(p, 64) ^ <u32>load<u8>(p, 128) ^ <u32>load<u8>(last);
  }
  return sink;
}

/**
 * Copies the rows of entries `from` to `to` to [out, limit) as long as they fit. Overwrites up to 64 bytes after
 * `limit`. Returns the end of the copy, and stores the entry reached in `reached`. Adds the formulas of these rows to
 * the program's count.
 */
export function gatherFinished(program: usize, entries: usize, from: u32, to: u32, out: usize, limit: usize, reached: usize): usize {
  let entry = entries + (<usize>from) * ENTRY_BYTES;
  const end = entries + (<usize>to) * ENTRY_BYTES;
  let sink: u32 = 0;
  for (let ready = entry; entry < end; entry += ENTRY_BYTES) {
    if (entry == ready) {
      ready = min(entry + AHEAD * ENTRY_BYTES, end);
      sink ^= touch(entry, ready);
    }
    const at = <usize>load<u32>(entry, 8);
    const flags = load<u32>(entry, 12), length = <usize>(flags & LENGTH);
    if (out + length > limit) break;
    if (flags & FLAG_GUARDED) store<u32>(program, load<u32>(program, GUARDED) + load<u32>(at + length), GUARDED);
    out = copyRange(out, at, at + length);
  }
  keep(sink);
  store<u32>(reached, <u32>((entry - entries) / ENTRY_BYTES));
  return out;
}

/** Receives the results of prefetching, so that the compiler does not remove the reads. */
let kept: u32 = 0;

// @ts-ignore: decorator
@inline
function keep(sink: u32): void {
  kept = sink;
}

// Sorts the entries of encoded rows stably by their keys: a chunk of entries by radix sort, and several sorted chunks
// by a tournament merge.

const DIGIT_BITS: u64 = 8;

/** Minimum number of entries for which the radix sort is worth initialising its counters. */
const RADIX_MIN: u32 = 64;

/**
 * Up to this many ties are sorted by comparison. More are sorted by their next 8 bytes, so that memory is read
 * sequentially.
 */
const COMPARED_MAX: u32 = 8;

/** Maximum depth of ties within ties, so that no file can exhaust the stack. Deeper ties are sorted by comparison. */
const DEPTH_MAX: u32 = 64;

/** Sorts `count` entries with a spare array of the same size and counters of SORT_COUNTS_BYTES. */
export function sortFinished(entries: usize, spare: usize, count: u32, counts: usize): void {
  sortWords(entries, spare, count, counts);
  sortTies(entries, spare, count, 0, 0, counts);
}

/** Sorts the entries by their words, with the result in `entries`. Digits that are equal in all words are skipped. */
function sortWords(entries: usize, spare: usize, count: u32, counts: usize): void {
  const bytes = (<usize>count) * ENTRY_BYTES;
  if (count < 2) return;
  let differing: u64 = 0, isSorted = true;
  let last = load<u64>(entries);
  const first = last;
  for (let entry = entries + ENTRY_BYTES; entry < entries + bytes; entry += ENTRY_BYTES) {
    const word = load<u64>(entry);
    differing |= word ^ first;
    isSorted = isSorted && last <= word;
    last = word;
  }
  if (isSorted) return;
  if (count < RADIX_MIN) {
    insertWords(entries, bytes);
    return;
  }
  let from = entries, to = spare;
  countDigits(entries, bytes, differing, counts);
  for (let shift: u64 = 0; shift < 64; shift += DIGIT_BITS, counts += DIGITS << 2) {
    if (((differing >> shift) & (DIGITS - 1)) == 0) continue;
    scatter(from, to, bytes, shift, counts);
    const swapped = from;
    from = to;
    to = swapped;
  }
  if (from != entries) memory.copy(entries, from, bytes);
}

/** Counts the values of the digits at which the words differ. */
function countDigits(entries: usize, bytes: usize, differing: u64, counts: usize): void {
  for (let shift: u64 = 0; shift < 64; shift += DIGIT_BITS, counts += DIGITS << 2) {
    if (((differing >> shift) & (DIGITS - 1)) == 0) continue;
    memory.fill(counts, 0, DIGITS << 2);
    for (let entry = entries; entry < entries + bytes; entry += ENTRY_BYTES) {
      const at = counts + ((<usize>((load<u64>(entry) >> shift) & (DIGITS - 1))) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
}

/** Moves entries to the positions given by one digit. `counts` holds the counts of that digit's values. */
function scatter(from: usize, to: usize, bytes: usize, shift: u64, counts: usize): void {
  let next = <u32>to;
  for (let at = counts; at < counts + (DIGITS << 2); at += 4) {
    const here = load<u32>(at);
    store<u32>(at, next);
    next += here * <u32>ENTRY_BYTES;
  }
  const end = from + bytes;
  for (let entry = from; entry < end; entry += ENTRY_BYTES) {
    const moved = v128.load(entry);
    const at = counts + ((<usize>((v128.extract_lane<u64>(moved, 0) >> shift) & (DIGITS - 1))) << 2);
    const target = load<u32>(at);
    store<u32>(at, target + <u32>ENTRY_BYTES);
    v128.store(<usize>target, moved);
  }
}

function insertWords(entries: usize, bytes: usize): void {
  for (let entry = entries + ENTRY_BYTES; entry < entries + bytes; entry += ENTRY_BYTES) {
    const moved = v128.load(entry);
    const word = v128.extract_lane<u64>(moved, 0);
    let hole = entry;
    for (; hole > entries && load<u64>(hole - ENTRY_BYTES) > word; hole -= ENTRY_BYTES) {
      v128.store(hole, v128.load(hole - ENTRY_BYTES));
    }
    v128.store(hole, moved);
  }
}

/** Sorts entries with equal words by the bytes of their keys from `offset` on, after the first 8 bytes. */
function sortTies(entries: usize, spare: usize, count: u32, offset: usize, depth: u32, counts: usize): void {
  const end = entries + (<usize>count) * ENTRY_BYTES;
  let from = entries;
  while (from < end) {
    const word = load<u64>(from);
    let to = from + ENTRY_BYTES;
    while (to < end && load<u64>(to) == word) to += ENTRY_BYTES;
    const ties = <u32>((to - from) / ENTRY_BYTES);
    if (ties > 1 && load<u32>(from, 12) & FLAG_REST) sortRests(from, spare + (from - entries), ties, offset, depth, counts);
    from = to;
  }
}

/** Like sortTies for entries that all have the same word. The word is restored before it returns. */
function sortRests(entries: usize, spare: usize, count: u32, offset: usize, depth: u32, counts: usize): void {
  if (count <= COMPARED_MAX || depth > DEPTH_MAX) {
    sortByComparison(entries, spare, count, offset);
    return;
  }
  const word = load<u64>(entries);
  const end = entries + (<usize>count) * ENTRY_BYTES;
  // Bytes that all keys share do not increase the depth.
  for (let hasMoreWords = true; hasMoreWords; offset += 8) {
    hasMoreWords = loadWords(entries, end, offset);
    sortWords(entries, spare, count, counts);
    if (load<u64>(entries) == load<u64>(end - ENTRY_BYTES)) continue;
    if (hasMoreWords) sortTies(entries, spare, count, offset + 8, depth + 1, counts);
    break;
  }
  for (let entry = entries; entry < end; entry += ENTRY_BYTES) store<u64>(entry, word);
}

/**
 * Replaces the words by the 8 bytes at `offset` in the rest of each key. Returns true if a key has more bytes after
 * them.
 */
function loadWords(entries: usize, end: usize, offset: usize): bool {
  let hasMoreWords = false;
  for (let entry = entries; entry < end; entry += ENTRY_BYTES) {
    const rest = restOf(entry), length = <usize>load<u32>(rest);
    hasMoreWords = hasMoreWords || length > offset + 8;
    store<u64>(entry, length > offset ? wordOf(rest + 4 + offset, length - offset) : 0);
  }
  return hasMoreWords;
}

/** Merge sort by the bytes of the keys from `offset` on. */
function sortByComparison(entries: usize, spare: usize, count: u32, offset: usize): void {
  const bytes = (<usize>count) * ENTRY_BYTES;
  if (areInOrder(entries, entries + bytes, offset)) return;
  let from = entries, to = spare;
  for (let width = ENTRY_BYTES; width < bytes; width <<= 1) {
    for (let start: usize = 0; start < bytes; start += width << 1) {
      const middle = min(start + width, bytes), end = min(start + width + width, bytes);
      let a = from + start, b = from + middle, o = to + start;
      for (; o < to + end; o += ENTRY_BYTES) {
        const left = a < from + middle && (b >= from + end || compareRests(a, b, offset) <= 0);
        v128.store(o, v128.load(left ? a : b));
        if (left) a += ENTRY_BYTES;
        else b += ENTRY_BYTES;
      }
    }
    const swapped = from;
    from = to;
    to = swapped;
  }
  if (from != entries) memory.copy(entries, from, bytes);
}

function areInOrder(entries: usize, end: usize, offset: usize): bool {
  for (let entry = entries + ENTRY_BYTES; entry < end; entry += ENTRY_BYTES) {
    if (compareRests(entry - ENTRY_BYTES, entry, offset) > 0) return false;
  }
  return true;
}

/** Compares two entries with the same word by the rest of their keys from `offset` on. */
function compareRests(a: usize, b: usize, offset: usize): i32 {
  if ((load<u32>(a, 12) & load<u32>(b, 12) & FLAG_REST) == 0) return 0;
  const left = restOf(a), right = restOf(b);
  const leftLength = <usize>load<u32>(left), rightLength = <usize>load<u32>(right);
  const most = min(leftLength, rightLength);
  if (offset < most) {
    const order = memory.compare(left + 4 + offset, right + 4 + offset, most - offset);
    if (order != 0) return order;
  }
  return leftLength == rightLength ? 0 : leftLength < rightLength ? -1 : 1;
}

/** A tournament player: u64 word, u32 length and flags of its entry, u32 its run. */
const NO_RUN: u32 = 0xffffffff;

/**
 * Merges sorted runs of entries into [out, out + most entries) and returns the number of entries. Equal entries keep
 * the order of their runs. Stops when a run is empty. `runs`: u32 next entry and u32 end of each run, initially not
 * empty, advanced by this function. `tree`: 16 bytes per run, kept for the next call. `entering`: ALL_ENTER on the
 * first call and after runs were renumbered, the number of the run that was refilled, or the number of runs if no run
 * was refilled.
 */
export function mergeFinished(runs: usize, runCount: u32, tree: usize, out: usize, most: u32, entering: u32): u32 {
  if (entering == ALL_ENTER) {
    // Each node holds the loser of its match. The overall winner is at the root, 0.
    for (let node: u32 = 0; node < runCount; node++) store<u32>(tree + (<usize>node) * PLAYER_BYTES, NO_RUN, 12);
    for (let run: u32 = 0; run < runCount; run++) enter(runs, runCount, tree, run);
  } else if (entering < runCount) enter(runs, runCount, tree, entering);
  let n: u32 = 0;
  while (n < most) {
    const winner = load<u32>(tree, 12);
    const run = runs + (<usize>winner) * RUN_BYTES;
    const entry = <usize>load<u32>(run);
    v128.store(out + (<usize>(n++)) * ENTRY_BYTES, v128.load(entry));
    store<u32>(run, <u32>(entry + ENTRY_BYTES));
    if (<u32>(entry + ENTRY_BYTES) == load<u32>(run, 4)) break;
    enter(runs, runCount, tree, winner);
  }
  return n;
}

/** Lets a run's next entry play from its leaf upwards, until a node without an opponent. */
// @ts-ignore: decorator
@inline
function enter(runs: usize, runCount: u32, tree: usize, entering: u32): void {
  let run = entering;
  let entry = <usize>load<u32>(runs + (<usize>run) * RUN_BYTES);
  let word = load<u64>(entry), flags = load<u32>(entry, 12);
  for (let node = (runCount + entering) >> 1; node > 0; node >>= 1) {
    const place = tree + (<usize>node) * PLAYER_BYTES;
    const otherWord = load<u64>(place);
    const otherFlags = load<u32>(place, 8), other = load<u32>(place, 12);
    if (other == NO_RUN) {
      putPlayer(place, word, flags, run);
      return;
    }
    // The winner is unpredictable, so code without branches takes half the time.
    const isTie = <u32>(otherWord == word);
    let loses = <u32>(otherWord < word) | (isTie & <u32>(other < run));
    if (isTie & ((flags & otherFlags) >> FLAG_REST_BIT)) loses = <u32>comesBefore(runs, other, run);
    putPlayer(place, select(word, otherWord, loses), select(flags, otherFlags, loses), select(run, other, loses));
    word = select(otherWord, word, loses);
    flags = select(otherFlags, flags, loses);
    run = select(other, run, loses);
  }
  putPlayer(tree, word, flags, run);
}

// @ts-ignore: decorator
@inline
function putPlayer(place: usize, word: u64, flags: u32, run: u32): void {
  store<u64>(place, word);
  store<u32>(place, flags, 8);
  store<u32>(place, run, 12);
}

/** Order of two runs whose next entries have the same word. */
function comesBefore(runs: usize, a: u32, b: u32): bool {
  const left = <usize>load<u32>(runs + (<usize>a) * RUN_BYTES), right = <usize>load<u32>(runs + (<usize>b) * RUN_BYTES);
  const order = compareRests(left, right, 0);
  return order < 0 || (order == 0 && a < b);
}

// Stores sorted runs of entries in half the bytes or less, because neighbouring words differ little. A step consists of
// a u8 head, the entry's length with its flags as u16 or u32, and the difference to the previous word. Bits 0 to 3 of
// the head: number of stored bytes of the difference. Bits 4 to 6: number of omitted zero bytes below them. Bit 7: the
// length is u32. In memory, the u32 address of the row follows. In files, the row's bytes follow.

/** Head, length, and a complete word. */
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

/** The difference between a step's word and the previous word. */
// @ts-ignore: decorator
@inline
function aboveOf(step: usize, head: u32): u64 {
  // Shifts twice by half, because a shift by 64 would have no effect.
  const half = <u64>((head & 15) << 2);
  const mask = ~(((<u64>0xffffffffffffffff) << half) << half);
  return (load<u64>(step + 3 + <usize>((head >> 7) << 1)) & mask) << <u64>((head >> 1) & 56);
}

/**
 * Packs entries `from` to `to` into [out, limit) as long as they fit. Returns the end, and stores the entry reached in
 * the state.
 */
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

/**
 * Unpacks at most `most` entries of [from, end) and returns their number. Stores the address after the last one in the
 * state.
 */
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

/** Like packEntries, with the rows' bytes. Overwrites up to 64 bytes after `limit`. */
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

/** Maximum number of bytes of a packed entry with its row. */
export function packedBytes(entry: usize): u32 {
  return <u32>(STEP_BYTES_MAX + heldBytes(load<u32>(entry, 12), <usize>load<u32>(entry, 8)));
}

/** Like listEntries. A row that is cut off at `end` is not listed. */
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
