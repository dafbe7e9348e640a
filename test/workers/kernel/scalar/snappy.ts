// Scalar reference implementations of the kernels that inflate and deflate Snappy (format_description.txt of google/snappy).

const LITERAL = 0;
const COPY_1 = 1;
const COPY_2 = 2;

/** The tag contains the length of literals up to this length. */
const SHORT_LITERAL = 60;

const LENGTH_BYTES_MAX = 5;

/** @returns true if `input` was valid and filled `output` to its last byte */
export function inflateSnappy(input: Uint8Array, output: Uint8Array): boolean {
  const body = bodyStart(input, output.length);
  if (body < 0) return false;
  let at = body;
  let out = 0;
  while (at < input.length) {
    const tag = input[at++]!;
    const kind = tag & 3;
    if (kind === LITERAL) {
      let length = (tag >>> 2) + 1;
      if (length > SHORT_LITERAL) {
        const bytes = length - SHORT_LITERAL;
        if (at + bytes > input.length) return false;
        length = littleEndian(input, at, bytes) + 1;
        at += bytes;
      }
      if (length > input.length - at || length > output.length - out) return false;
      copy(input, at, output, out, length);
      at += length;
      out += length;
      continue;
    }
    const offsetBytes = kind === COPY_1 ? 1 : kind === COPY_2 ? 2 : 4;
    if (at + offsetBytes > input.length) return false;
    const length = kind === COPY_1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = littleEndian(input, at, offsetBytes) + (kind === COPY_1 ? (tag >>> 5) * 256 : 0);
    at += offsetBytes;
    if (offset === 0 || offset > out || length > output.length - out) return false;
    if (offset >= length) output.copyWithin(out, out - offset, out - offset + length);
    else for (let index = 0; index < length; index++) output[out + index] = output[out + index - offset]!;
    out += length;
  }
  return out === output.length;
}

/** Offset of the first byte after the length; -1 if the length is not that of the output. */
function bodyStart(input: Uint8Array, expected: number): number {
  let length = 0;
  let factor = 1;
  for (let at = 0; at < Math.min(input.length, LENGTH_BYTES_MAX); at++) {
    const byte = input[at]!;
    length += (byte & 127) * factor;
    if (byte < 128) return length === expected ? at + 1 : -1;
    factor *= 128;
  }
  return -1;
}

/** Below this many bytes a loop is faster than the call into the runtime. */
const SHORT_COPY = 32;

function copy(input: Uint8Array, at: number, output: Uint8Array, out: number, length: number): void {
  if (length <= SHORT_COPY) for (let index = 0; index < length; index++) output[out + index] = input[at + index]!;
  else output.set(input.subarray(at, at + length), out);
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = count - 1; index >= 0; index--) value = value * 256 + bytes[at + index]!;
  return value;
}

// Deflates: greedy matches of at least four bytes within 64 KiB, found by a hash table.

/** Matches do not cross the boundaries of these fragments, so that two bytes are enough for every distance. */
const FRAGMENT_BYTES = 65_536;

const HASH_BITS = 14;
const HASH_FACTOR = 0x1e35a7bd;

/** No match starts in the last bytes of a fragment. */
const MARGIN_BYTES = 15;
const MATCH_MIN = 4;
const COPY_MAX = 64;

/** Number of failed attempts (as a power of two) after which the step grows by a byte. */
const TRIES_BITS = 5;

/**
 * Compresses [from, from + length) to `to`.
 * @returns the first address after the output
 */
export function deflateSnappy(bytes: Uint8Array, from: number, length: number, to: number): number {
  let out = to;
  let rest = length;
  for (; rest >= 128; rest >>>= 7) bytes[out++] = (rest & 127) | 128;
  bytes[out++] = rest;
  for (let at = from; at < from + length; at += FRAGMENT_BYTES) {
    out = deflateFragment(bytes, at, Math.min(FRAGMENT_BYTES, from + length - at), out);
  }
  return out;
}

function deflateFragment(bytes: Uint8Array, from: number, length: number, to: number): number {
  const table = new Uint16Array(1 << HASH_BITS);
  const end = from + length;
  const last = end - MARGIN_BYTES;
  let out = to;
  let literal = from;
  let tries = 1 << TRIES_BITS;
  for (let at = from + 1; at < last; ) {
    const word = wordAt(bytes, at);
    const slot = Math.imul(word, HASH_FACTOR) >>> (32 - HASH_BITS);
    const match = from + table[slot]!;
    table[slot] = at - from;
    if (match >= at || wordAt(bytes, match) !== word) {
      at += tries++ >>> TRIES_BITS;
      continue;
    }
    tries = 1 << TRIES_BITS;
    out = writeLiteral(bytes, literal, at, out);
    let matched = MATCH_MIN;
    while (at + matched < end && bytes[at + matched] === bytes[match + matched]) matched++;
    out = writeCopy(bytes, at - match, matched, out);
    at += matched;
    literal = at;
  }
  return writeLiteral(bytes, literal, end, out);
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function writeLiteral(bytes: Uint8Array, from: number, end: number, to: number): number {
  const length = end - from;
  if (length === 0) return to;
  let out = to;
  const value = length - 1;
  if (value < SHORT_LITERAL) bytes[out++] = value << 2;
  else {
    const lengthBytes = value < 256 ? 1 : 2;
    bytes[out++] = (SHORT_LITERAL - 1 + lengthBytes) << 2;
    bytes[out++] = value & 255;
    if (lengthBytes === 2) bytes[out++] = value >>> 8;
  }
  bytes.copyWithin(out, from, end);
  return out + length;
}

function writeCopy(bytes: Uint8Array, distance: number, length: number, to: number): number {
  let out = to;
  for (let left = length; left > 0; ) {
    // After a copy, nothing must be left, or enough for another copy.
    const some = left <= COPY_MAX ? left : Math.min(COPY_MAX, left - 1);
    bytes[out++] = ((some - 1) << 2) | COPY_2;
    bytes[out++] = distance & 255;
    bytes[out++] = distance >>> 8;
    left -= some;
  }
  return out;
}
