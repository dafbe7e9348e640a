// Snappy compression (format_description.txt of google/snappy): greedy matches of at least four bytes within 64 KiB,
// found by a hash table; the step size grows in data without matches. Deterministic.

/** Matches do not cross the boundaries of these fragments, so that two bytes are enough for every distance. */
const FRAGMENT_BYTES = 65_536;

const HASH_BITS = 14;
const HASH_FACTOR = 0x1e35a7bd;

/** No match starts in the last bytes of a fragment. */
const MARGIN_BYTES = 15;
const MATCH_MIN = 4;
const COPY_MAX = 64;
const COPY_2 = 2;

/** Number of failed attempts (as a power of two) after which the step grows by a byte. */
const TRIES_BITS = 5;
const SHORT_LITERAL_MAX = 60;
const LENGTH_BYTES_MAX = 5;

/** Maximum size of the compressed bytes. */
export function snappyBytesMax(bytes: number): number {
  return LENGTH_BYTES_MAX + bytes + Math.ceil(bytes / 6) + 32;
}

export class SnappyDeflate {
  readonly #table = new Uint16Array(1 << HASH_BITS);

  /**
   * Compresses [from, from + length) to `to`, where snappyBytesMax bytes must be free.
   * @returns the first address after the output
   */
  deflate(bytes: Uint8Array, from: number, length: number, to: number): number {
    let out = to;
    let rest = length;
    while (rest >= 128) {
      bytes[out++] = (rest & 127) | 128;
      rest = Math.floor(rest / 128);
    }
    bytes[out++] = rest;
    for (let at = from; at < from + length; at += FRAGMENT_BYTES) {
      out = this.#fragment(bytes, at, Math.min(FRAGMENT_BYTES, from + length - at), out);
    }
    return out;
  }

  #fragment(bytes: Uint8Array, from: number, length: number, to: number): number {
    const table = this.#table.fill(0);
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
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function writeLiteral(bytes: Uint8Array, from: number, end: number, to: number): number {
  const length = end - from;
  if (length === 0) return to;
  let out = to;
  const value = length - 1;
  if (value < SHORT_LITERAL_MAX) bytes[out++] = value << 2;
  else {
    const lengthBytes = value < 256 ? 1 : 2;
    bytes[out++] = (SHORT_LITERAL_MAX - 1 + lengthBytes) << 2;
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
