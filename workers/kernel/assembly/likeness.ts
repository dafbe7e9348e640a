// How like texts are, by Jaro and Winkler. Plain twin: values/likeness.ts, whose every rounding is the same here; it gets texts of
// more than 64 characters, or with one beyond U+FFFF.
import { NULL, UNKNOWN, UNKNOWN_TEXT, VECTOR_MARKS } from '../layout/expressions';
import { viewOf } from './cell';
import { valueAt } from './vector';

const CHARACTERS_MAX: u32 = 64;

/** Characters of both texts and those that match, u16 each. */
const LEFT: usize = memory.data(160);
const RIGHT: usize = memory.data(160);
const MATCHED: usize = memory.data(160);

const PREFIX_MAX: u32 = 4;
const PREFIX_WEIGHT: f64 = 0.1;
const BOOST_ABOVE: f64 = 0.7;

/**
 * Likeness at each position; null where a text is. 0: it stopped at a text that is not known or of more than `bytesMax`
 * bytes, whose likeness may end the whole expression, where other failures are only those of a part.
 */
export function compareLikeness(
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

/** Characters of a text, u16 each; gives how many, more than CHARACTERS_MAX where they cannot be had. */
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

/** A bit for each character on the right that is this one; bits behind the last mean nothing. */
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
