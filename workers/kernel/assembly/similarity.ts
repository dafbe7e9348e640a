// Kernels that compare spellings: the Jaro-Winkler similarity of two texts, and keys that spellings of the same name
// share.
import { NULL, UNKNOWN, UNKNOWN_TEXT, VECTOR_MARKS } from '../layout/expressions';
import { viewOf } from './cell';
import { valueAt } from './number-vectors';
import { LEAVE } from '../layout/texts';

// Jaro-Winkler similarity of texts. Scalar reference implementation: values/similarity.ts, which rounds identically. It
// handles texts of more than 64 characters and texts with a character above U+FFFF.

const CHARACTERS_MAX: u32 = 64;

/** Characters of both texts and the matching ones, u16 each. */
const LEFT: usize = memory.data(160);
const RIGHT: usize = memory.data(160);
const MATCHED: usize = memory.data(160);

const PREFIX_MAX: u32 = 4;
const PREFIX_WEIGHT: f64 = 0.1;
const BOOST_ABOVE: f64 = 0.7;

/**
 * Writes the similarity at each position, or null if one of the texts is null. Returns 0 if a text is unknown or longer
 * than `bytesMax` bytes. Such a text can fail the whole expression; other failures affect only a part of it.
 */
export function compareSimilarity(
  views: usize, rows: usize, otherViews: usize, otherRows: usize, count: u32, vector: usize, bytesMax: u32,
): u32 {
  const marks = <usize>load<u32>(vector, VECTOR_MARKS);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), other = viewOf(otherViews, otherRows, i);
    const a = <usize>load<u32>(view), b = <usize>load<u32>(other);
    let mark: u32 = 0;
    if (a == <usize>UNKNOWN_TEXT || b == <usize>UNKNOWN_TEXT) return 0;
    if (a == 0 || b == 0) mark = NULL;
    else {
      const bytes = load<u32>(view, 4), otherBytes = load<u32>(other, 4);
      if (max(bytes, otherBytes) > bytesMax) return 0;
      const left = decode(a, a + <usize>bytes, LEFT), right = decode(b, b + <usize>otherBytes, RIGHT);
      if (left > CHARACTERS_MAX || right > CHARACTERS_MAX) mark = UNKNOWN;
      else store<f64>(valueAt(vector, <usize>i), jaroWinkler(left, right));
    }
    store<u8>(marks + <usize>i, <u8>mark);
  }
  return 1;
}

/**
 * Decodes the characters of a text, u16 each. Returns their number, or more than CHARACTERS_MAX if the kernel cannot
 * handle them.
 */
function decode(p: usize, end: usize, out: usize): u32 {
  let count: u32 = 0;
  while (p < end) {
    if (count == CHARACTERS_MAX) return CHARACTERS_MAX + 1;
    const first = <u32>load<u8>(p);
    let code = first;
    if (first < 0x80) p++;
    else if (first < 0xe0) {
      code = ((first & 0x1f) << 6) | (<u32>load<u8>(p, 1) & 0x3f);
      p += 2;
    } else if (first < 0xf0) {
      code = ((first & 0x0f) << 12) | ((<u32>load<u8>(p, 1) & 0x3f) << 6) | (<u32>load<u8>(p, 2) & 0x3f);
      p += 3;
    } else return CHARACTERS_MAX + 1;
    store<u16>(out + ((<usize>count) << 1), <u16>code);
    count++;
  }
  return count;
}

function jaroWinkler(left: u32, right: u32): f64 {
  if (left == 0 && right == 0) return 1;
  const jaro = jaroOf(left, right);
  if (jaro <= BOOST_ABOVE) return jaro;
  let prefix: u32 = 0;
  while (prefix < PREFIX_MAX && prefix < left && prefix < right && characterOf(LEFT, prefix) == characterOf(RIGHT, prefix)) prefix++;
  return jaro + <f64>prefix * PREFIX_WEIGHT * (1 - jaro);
}

function jaroOf(left: u32, right: u32): f64 {
  const longer = max(left, right) >> 1;
  const reach: u32 = longer == 0 ? 0 : longer - 1;
  let open: u64 = right == 64 ? <u64>-1 : ((<u64>1) << right) - 1;
  let taken: u64 = 0;
  let same: u32 = 0;
  for (let index: u32 = 0; index < left; index++) {
    const from: u32 = index > reach ? index - reach : 0, to = index + reach + 1;
    if (from >= right) break;
    const within: u64 = (to >= 64 ? <u64>-1 : ((<u64>1) << to) - 1) & ((<u64>-1) << from);
    const character = characterOf(LEFT, index);
    const places = equalTo(character, right) & open & within;
    if (places == 0) continue;
    const place = places & (0 - places);
    open ^= place;
    taken |= place;
    store<u16>(MATCHED + ((<usize>same) << 1), <u16>character);
    same++;
  }
  if (same == 0) return 0;
  let moved: u32 = 0;
  for (let place: u32 = 0; taken != 0; place++, taken &= taken - 1) {
    moved += <u32>(characterOf(RIGHT, <u32>ctz(taken)) != characterOf(MATCHED, place));
  }
  const matches = <f64>same;
  return (matches / <f64>left + matches / <f64>right + (matches - <f64>(moved >> 1)) / matches) / 3;
}

// @ts-ignore: decorator
@inline
function characterOf(list: usize, index: u32): u32 {
  return <u32>load<u16>(list + ((<usize>index) << 1));
}

/** Bit mask of the right characters that equal this one. Bits after the last character are meaningless. */
// @ts-ignore: decorator
@inline
function equalTo(character: u32, right: u32): u64 {
  const wanted = i16x8.splat(<i16>character);
  let found: u64 = 0;
  for (let at: u32 = 0; at < right; at += 16) {
    const p = RIGHT + ((<usize>at) << 1);
    const low = i16x8.eq(v128.load(p), wanted), high = i16x8.eq(v128.load(p, 16), wanted);
    found |= <u64>(<u32>i8x16.bitmask(i8x16.narrow_i16x8_s(low, high))) << <u64>at;
  }
  return found;
}

// Builds keys that different spellings of a name share: its distinct words in lower case, sorted. Scalar reference
// implementation: fingerprintOf in values/similarity.ts, which handles cells with non-ASCII characters and cells that
// exceed the limits below.

const WORDS_MAX: usize = 32;
const TEXT_BYTES_MAX: usize = 1024;

/** The cell after the table was applied to its bytes. */
const SPELLED: usize = memory.data(1024);
/** Start and end of each word, u32 each, in sorted order. */
const WORDS: usize = memory.data(256);

const SPACE: u32 = 32;

/**
 * Replaces each cell by its key. The rows have no null cells.
 * @param table u8 per byte: its replacement, 0 to drop it, a space to end a word, or LEAVE to list the cell in `todo`
 * @returns the next free address, or 0 if the arena is full
 */
export function wordKeys(views: usize, rows: usize, count: u32, table: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: usize = 0, back: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    const view = views + ((<usize>row) << 3);
    const start = <usize>load<u32>(view), bytes = <usize>load<u32>(view, 4);
    if (next + bytes > limit) return 0;
    const words = bytes > TEXT_BYTES_MAX ? WORDS_MAX + 1 : sortedWords(start, start + bytes, table);
    if (words > WORDS_MAX) {
      store<u32>(todo + (++back << 2), row);
      continue;
    }
    const end = joined(words, next);
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(end - next), 4);
    next = end;
    store<u32>(rows + (kept++ << 2), row);
  }
  store<u32>(todo, <u32>back);
  return next;
}

/**
 * Writes the distinct words of the text to WORDS. Returns their number, or more than WORDS_MAX if the cell must be
 * listed in `todo`.
 */
function sortedWords(p: usize, end: usize, table: usize): usize {
  let words: usize = 0, out = SPELLED, word = SPELLED;
  for (; p < end; p++) {
    const byte = <u32>load<u8>(table + <usize>load<u8>(p));
    if (byte == LEAVE) return WORDS_MAX + 1;
    if (byte == SPACE) {
      if (out > word && (words = withWord(words, word, out)) > WORDS_MAX) return words;
      word = out;
    } else if (byte != 0) store<u8>(out++, <u8>byte);
  }
  return out > word ? withWord(words, word, out) : words;
}

/** Inserts a word in sorted order, unless the list already contains it. */
function withWord(words: usize, start: usize, end: usize): usize {
  let at = words;
  for (; at > 0; at--) {
    const other = WORDS + ((at - 1) << 3);
    const order = compare(<usize>load<u32>(other), <usize>load<u32>(other, 4), start, end);
    if (order == 0) return words;
    if (order < 0) break;
  }
  if (words == WORDS_MAX) return words + 1;
  const place = WORDS + (at << 3);
  memory.copy(place + 8, place, (words - at) << 3);
  store<u32>(place, <u32>start);
  store<u32>(place, <u32>end, 4);
  return words + 1;
}

/** Compares two texts: negative, 0 or positive if the first one is less than, equal to or greater than the second. */
function compare(a: usize, aEnd: usize, b: usize, bEnd: usize): i32 {
  for (; a < aEnd && b < bEnd; a++, b++) {
    const order = <i32>load<u8>(a) - <i32>load<u8>(b);
    if (order != 0) return order;
  }
  return <i32>(aEnd - a) - <i32>(bEnd - b);
}

/** Writes the words with spaces between them. The result is never longer than the original text. */
function joined(words: usize, out: usize): usize {
  for (let word: usize = 0; word < words; word++) {
    if (word > 0) store<u8>(out++, <u8>SPACE);
    const entry = WORDS + (word << 3);
    const start = <usize>load<u32>(entry), bytes = <usize>load<u32>(entry, 4) - start;
    memory.copy(out, start, bytes);
    out += bytes;
  }
  return out;
}
