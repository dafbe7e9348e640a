// Compresses and decompresses Snappy (format_description.txt of google/snappy). Scalar reference implementation:
// test/workers/kernel/scalar/snappy.ts.
import { SNAPPY_TABLE_BYTES } from '../layout/output-program';
import { copy as copyPadded } from './cell';

// Decompresses into memory of known size. Data that would exceed it is invalid, and nothing is written outside it. The
// work is bounded by the size of the input.

const LITERAL: u32 = 0;
const COPY_1: u32 = 1;
const COPY_2: u32 = 2;

/** Maximum length of a literal that is encoded in its tag. */
const SHORT_LITERAL: u32 = 60;

/** Maximum number of bits of the encoded length. A length of more than 32 bits is invalid. */
const LENGTH_BITS_MAX: u32 = 35;

/** Number of bytes copied per step where enough memory is available. */
const STEP: usize = 8;

/** Returns true if [at, end) is valid and fills [out, outEnd) to the last byte. The two ranges must not overlap. */
export function inflateSnappy(at: usize, end: usize, out: usize, outEnd: usize): bool {
  let expected: u64 = 0;
  for (let shift: u32 = 0; ; shift += 7) {
    if (at >= end || shift >= LENGTH_BITS_MAX) return false;
    const byte = <u64>load<u8>(at++);
    expected |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  if (expected != <u64>(outEnd - out)) return false;
  const outStart = out;
  while (at < end) {
    const tag = <u32>load<u8>(at++);
    const kind = tag & 3;
    if (kind == LITERAL) {
      let length = <u64>(tag >>> 2) + 1;
      if (length > SHORT_LITERAL) {
        const bytes = <usize>(length - SHORT_LITERAL);
        if (bytes > end - at) return false;
        length = <u64>littleEndian(at, bytes) + 1;
        at += bytes;
      }
      if (length > <u64>(end - at) || length > <u64>(outEnd - out)) return false;
      copy(at, out, <usize>length, min(end - at, outEnd - out));
      at += <usize>length;
      out += <usize>length;
      continue;
    }
    const offsetBytes: usize = kind == COPY_1 ? 1 : kind == COPY_2 ? 2 : 4;
    if (offsetBytes > end - at) return false;
    const length: usize = kind == COPY_1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = <usize>(littleEndian(at, offsetBytes) + (kind == COPY_1 ? (tag >>> 5) << 8 : 0));
    at += offsetBytes;
    if (offset == 0 || offset > out - outStart || length > outEnd - out) return false;
    // Source and target overlap within one step, so bytes are copied one by one.
    if (offset >= STEP) copy(out - offset, out, length, outEnd - out);
    else for (let index: usize = 0; index < length; index++) store<u8>(out + index, load<u8>(out + index - offset));
    out += length;
  }
  return out == outEnd;
}

/** @param freeBytes number of bytes that may be read and written from both addresses on */
function copy(from: usize, to: usize, length: usize, freeBytes: usize): void {
  if (length <= 64 && length + STEP <= freeBytes) {
    for (let index: usize = 0; index < length; index += STEP) store<u64>(to + index, load<u64>(from + index));
  } else for (let index: usize = 0; index < length; ) {
    if (length - index >= STEP) {
      store<u64>(to + index, load<u64>(from + index));
      index += STEP;
    } else {
      store<u8>(to + index, load<u8>(from + index));
      index++;
    }
  }
}

function littleEndian(at: usize, count: usize): u32 {
  if (count == 1) return load<u8>(at);
  if (count == 2) return load<u16>(at);
  if (count == 4) return load<u32>(at);
  return <u32>load<u16>(at) | (<u32>load<u8>(at, 2) << 16);
}

// Compresses: greedy matches of at least four bytes within 64 KiB, found by a hash table; the step size grows in data
// without matches. Deterministic.

/** Matches do not cross the boundaries of these fragments, so that two bytes are enough for every distance. */
const FRAGMENT: usize = 65536;

const HASH_BITS: u32 = 14;
const HASH_FACTOR: u32 = 0x1e35a7bd;

/** No match starts in the last bytes of a fragment. */
const MARGIN: usize = 15;
const MATCH_MIN: usize = 4;
const COPY_MAX: usize = 64;

/** Number of failed attempts (as a power of two) after which the step grows by a byte. */
const TRIES_BITS: u32 = 5;

/**
 * Compresses [from, from + length) to `to` and returns the end of the output, which has at most length + length / 64 + 8
 * bytes. May write up to 15 bytes after the returned end; the caller reserves them. `table`: SNAPPY_TABLE_BYTES bytes,
 * overwritten.
 */
export function deflateSnappy(from: usize, length: usize, to: usize, table: usize): usize {
  let left = length;
  for (; left >= 128; left >>= 7) store<u8>(to++, <u8>(left | 128));
  store<u8>(to++, <u8>left);
  const end = from + length;
  for (let at = from; at < end; at += FRAGMENT) to = deflateFragment(at, min(at + FRAGMENT, end), to, table);
  return to;
}

function deflateFragment(from: usize, end: usize, to: usize, table: usize): usize {
  memory.fill(table, 0, SNAPPY_TABLE_BYTES);
  const last = end - min(MARGIN, end - from);
  let literal = from;
  let tries: u32 = 1 << TRIES_BITS;
  for (let at = from + 1; at < last; ) {
    const word = load<u32>(at);
    const slot = table + (<usize>((word * HASH_FACTOR) >>> (32 - HASH_BITS)) << 1);
    const match = from + <usize>load<u16>(slot);
    store<u16>(slot, <u16>(at - from));
    if (match >= at || load<u32>(match) != word) {
      at += <usize>(tries++ >>> TRIES_BITS);
      continue;
    }
    tries = 1 << TRIES_BITS;
    to = putLiteral(literal, at, to);
    const length = matchedBytes(at, match, end);
    to = putCopies(at - match, length, to);
    at += length;
    literal = at;
  }
  return putLiteral(literal, end, to);
}

/** Number of equal bytes from `at` and from `match` on, up to `end`. The first four are equal. */
// @ts-ignore: decorator
@inline
function matchedBytes(at: usize, match: usize, end: usize): usize {
  let length = MATCH_MIN;
  for (; at + length + STEP <= end; length += STEP) {
    const differing = load<u64>(at + length) ^ load<u64>(match + length);
    if (differing != 0) return length + <usize>(ctz(differing) >>> 3);
  }
  while (at + length < end && load<u8>(at + length) == load<u8>(match + length)) length++;
  return length;
}

// @ts-ignore: decorator
@inline
function putLiteral(from: usize, end: usize, to: usize): usize {
  if (from == end) return to;
  const value = <u32>(end - from) - 1;
  if (value < SHORT_LITERAL) store<u8>(to++, <u8>(value << 2));
  else if (value < 256) {
    store<u8>(to, <u8>(SHORT_LITERAL << 2));
    store<u8>(to + 1, <u8>value);
    to += 2;
  } else {
    store<u8>(to, <u8>((SHORT_LITERAL + 1) << 2));
    store<u16>(to + 1, <u16>value);
    to += 3;
  }
  return copyPadded(to, from, end);
}

// @ts-ignore: decorator
@inline
function putCopies(distance: usize, length: usize, to: usize): usize {
  for (let left = length; left > 0; ) {
    // After a copy, nothing must be left, or enough for another copy.
    const some = left <= COPY_MAX ? left : min(COPY_MAX, left - 1);
    store<u8>(to, <u8>(((<u32>some - 1) << 2) | COPY_2));
    store<u16>(to + 1, <u16>distance);
    to += 3;
    left -= some;
  }
  return to;
}
