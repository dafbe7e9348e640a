// Puts entries of finished rows (assembly/encoded-rows.ts) in the order of their keys, equal ones as they came: a chunk of
// entries by radix sort, several sorted chunks by a tournament.
import { ALL_ENTER, DIGITS, ENTRY_BYTES, PLAYER_BYTES, RUN_BYTES } from '../layout/encoded-rows';
import { FLAG_REST, FLAG_REST_BIT, restOf, wordOf } from './encoded-rows';

const DIGIT_BITS: u64 = 8;

/** From here on the radix sort is worth its counters. */
const RADIX_MIN: u32 = 64;

/** Up to here ties are compared, above they are sorted by their next 8 bytes, so that memory is read in order. */
const COMPARED_MAX: u32 = 8;

/** Levels of ties within ties, so that no file can use up the stack: deeper ones are compared. */
const DEPTH_MAX: u32 = 64;

/** Sorts `count` entries with a spare array of the same size and counters of SORT_COUNTS_BYTES. */
export function sortFinished(entries: usize, spare: usize, count: u32, counts: usize): void {
  sortWords(entries, spare, count, counts);
  sortTies(entries, spare, count, 0, 0, counts);
}

/** Sorts by the words of the entries; the result lies in `entries`. Digits in which no two words differ cost nothing. */
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

/** Counts the digits of the places in which words differ. */
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

/** Moves entries to where the digit of one place says; `counts` are those of the digits there. */
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

/** Sorts the entries of one word among each other by what their keys hold from `offset` (beyond the first 8 bytes) on. */
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

/** As sortTies for entries that are all one tie. Their word is theirs again when it returns. */
function sortRests(entries: usize, spare: usize, count: u32, offset: usize, depth: u32, counts: usize): void {
  if (count <= COMPARED_MAX || depth > DEPTH_MAX) {
    sortByComparison(entries, spare, count, offset);
    return;
  }
  const word = load<u64>(entries);
  const end = entries + (<usize>count) * ENTRY_BYTES;
  // What all have in common takes no level.
  for (let goesOn = true; goesOn; offset += 8) {
    goesOn = loadWords(entries, end, offset);
    sortWords(entries, spare, count, counts);
    if (load<u64>(entries) == load<u64>(end - ENTRY_BYTES)) continue;
    if (goesOn) sortTies(entries, spare, count, offset + 8, depth + 1, counts);
    break;
  }
  for (let entry = entries; entry < end; entry += ENTRY_BYTES) store<u64>(entry, word);
}

/** Puts the 8 bytes of the keys' rests at `offset` in the place of their words; true when a key has more behind them. */
function loadWords(entries: usize, end: usize, offset: usize): bool {
  let goesOn = false;
  for (let entry = entries; entry < end; entry += ENTRY_BYTES) {
    const rest = restOf(entry), length = <usize>load<u32>(rest);
    goesOn = goesOn || length > offset + 8;
    store<u64>(entry, length > offset ? wordOf(rest + 4 + offset, length - offset) : 0);
  }
  return goesOn;
}

/** Merge sort by what the keys are from `offset` on. */
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

/** The order of two entries with the same word, by what their keys hold beyond it from `offset` on. */
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

/** A player of the tournament: u64 word, u32 told of its entry (assembly/encoded-rows.ts), u32 its run. */
const NOBODY: u32 = 0xffffffff;

/**
 * Merges sorted runs of entries into [out, out + most entries) and gives how many; of equal ones those of the earlier run
 * come first. It ends when a run is empty. `runs`: u32 next entry and u32 end of each, none empty at the start, moved on.
 * `tree`: 16 bytes for each run, kept for the next call. `entering`: ALL_ENTER at first and where runs have other numbers now, else
 * the run that was empty and goes on, else the number of runs.
 */
export function mergeFinished(runs: usize, runCount: u32, tree: usize, out: usize, most: u32, entering: u32): u32 {
  if (entering == ALL_ENTER) {
    // A node holds the player that lost there; the one that won all stands at the root, 0.
    for (let node: u32 = 0; node < runCount; node++) store<u32>(tree + (<usize>node) * PLAYER_BYTES, NOBODY, 12);
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

/** Lets a run's next entry play from its leaf upwards, as far as somebody waits there. */
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
    if (other == NOBODY) {
      putPlayer(place, word, flags, run);
      return;
    }
    // Nobody can foretell who wins: to ask without a branch takes half the time.
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

/** Of two runs whose next entries have the same word. */
function comesBefore(runs: usize, a: u32, b: u32): bool {
  const left = <usize>load<u32>(runs + (<usize>a) * RUN_BYTES), right = <usize>load<u32>(runs + (<usize>b) * RUN_BYTES);
  const order = compareRests(left, right, 0);
  return order < 0 || (order == 0 && a < b);
}
