// Fingerprints of keys: 128 bits of SipHash (Aumasson and Bernstein 2012, output of 128 bits as in their reference), under a
// key of 128 random bits. Who does not know that key cannot choose two texts with one fingerprint. Twin: plain/fingerprint.ts.
import { PRINT_BYTES } from '../layout/keys';
import { viewOf } from './cell';

/** A fingerprint per position of the row list at `prints`; `key`: address of 16 bytes. That of null is 0. */
export function fingerprintViews(views: usize, rows: usize, count: u32, key: usize, prints: usize): void {
  const low = load<u64>(key), high = load<u64>(key, 8);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
    const print = prints + (<usize>i) * PRINT_BYTES;
    if (s == 0) v128.store(print, i64x2.splat(0));
    else fingerprint(s, length, low, high, print);
  }
}

/** Reads up to 7 bytes behind the text. Its rounds, two for each 8 bytes and four for each half of the end, are written out. */
// @ts-ignore: decorator
@inline
function fingerprint(s: usize, length: usize, low: u64, high: u64, print: usize): void {
  let v0 = low ^ 0x736f6d6570736575, v1 = high ^ 0x646f72616e646f6d ^ 0xee;
  let v2 = low ^ 0x6c7967656e657261, v3 = high ^ 0x7465646279746573;
  const left = (<u64>length & 7) << 3, tail = s + (length & ~7);
  const last = (<u64>length << 56) | (load<u64>(tail) & (((<u64>1) << left) - 1));
  for (; s <= tail; s += 8) {
    const word = s == tail ? last : load<u64>(s);
    v3 ^= word;
    v0 += v1;
    v2 += v3;
    v1 = rotl<u64>(v1, 13) ^ v0;
    v3 = rotl<u64>(v3, 16) ^ v2;
    v0 = rotl<u64>(v0, 32) + v3;
    v2 += v1;
    v1 = rotl<u64>(v1, 17) ^ v2;
    v3 = rotl<u64>(v3, 21) ^ v0;
    v2 = rotl<u64>(v2, 32);
    v0 += v1;
    v2 += v3;
    v1 = rotl<u64>(v1, 13) ^ v0;
    v3 = rotl<u64>(v3, 16) ^ v2;
    v0 = rotl<u64>(v0, 32) + v3;
    v2 += v1;
    v1 = rotl<u64>(v1, 17) ^ v2;
    v3 = rotl<u64>(v3, 21) ^ v0;
    v2 = rotl<u64>(v2, 32);
    v0 ^= word;
  }
  v2 ^= 0xee;
  for (let half: usize = 0; half < PRINT_BYTES; half += 8) {
    for (let round = 0; round < 4; round++) {
      v0 += v1;
      v2 += v3;
      v1 = rotl<u64>(v1, 13) ^ v0;
      v3 = rotl<u64>(v3, 16) ^ v2;
      v0 = rotl<u64>(v0, 32) + v3;
      v2 += v1;
      v1 = rotl<u64>(v1, 17) ^ v2;
      v3 = rotl<u64>(v3, 21) ^ v0;
      v2 = rotl<u64>(v2, 32);
    }
    store<u64>(print + half, v0 ^ v1 ^ v2 ^ v3);
    v1 ^= 0xdd;
  }
}
