// Checksums of ZIP entries and SHA-256 digests of texts.
import { viewOf } from './cell';

// Checksum of ZIP entries (CRC-32, reflected polynomial 0xEDB88320), eight bytes per step. Tests compare it with
// node:zlib.

/** Eight tables of 256 words, computed on the first call. */
const TABLES: usize = memory.data(8192);
let isReady = false;

const POLYNOMIAL: u32 = 0xedb88320;

/** Checksum of [at, at + length), continuing the checksum `before` (0 at the start). */
export function crc32(before: u32, at: usize, length: usize): u32 {
  if (!isReady) makeTables();
  let crc = ~before;
  const end = at + length;
  for (; at + 8 <= end; at += 8) {
    const low = load<u32>(at) ^ crc;
    const high = load<u32>(at, 4);
    crc =
      entry(7, low & 255) ^ entry(6, (low >> 8) & 255) ^ entry(5, (low >> 16) & 255) ^ entry(4, low >> 24) ^
      entry(3, high & 255) ^ entry(2, (high >> 8) & 255) ^ entry(1, (high >> 16) & 255) ^ entry(0, high >> 24);
  }
  for (; at < end; at++) crc = (crc >> 8) ^ entry(0, (crc ^ <u32>load<u8>(at)) & 255);
  return ~crc;
}

// @ts-ignore: decorator
@inline
function entry(table: usize, byte: u32): u32 {
  return load<u32>(TABLES + (table << 10) + ((<usize>byte) << 2));
}

function makeTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
    store<u32>(TABLES + ((<usize>byte) << 2), crc);
  }
  for (let table: usize = 1; table < 8; table++) {
    for (let byte: u32 = 0; byte < 256; byte++) {
      const crc = entry(table - 1, byte);
      store<u32>(TABLES + (table << 10) + ((<usize>byte) << 2), (crc >> 8) ^ entry(0, crc & 255));
    }
  }
  isReady = true;
}

// SHA-256 digests of texts (FIPS 180-4), with a key HMAC (RFC 2104), encoded as hexadecimal or Base64. Scalar reference
// implementation: node:crypto, in operations/hash.ts.

/** Scratch memory of the kernel: the message schedule, a block, the state, and the digest's bytes. */
const SCHEDULE: usize = 0;
const BLOCK: usize = 256;
const STATE: usize = 320;
const DIGEST: usize = 352;

const BLOCK_BYTES: usize = 64;
const STATE_BYTES: usize = 32;
const DIGEST_BYTES: usize = 32;

/** Size of a message's length at the end of its last block. */
const LENGTH_BYTES: usize = 8;

/** Maximum number of characters of a digest, with the bytes that block copies overwrite. */
const DIGEST_SPACE: usize = 96;

/** Number of bits per hexadecimal character. */
const HEX_BITS: u32 = 4;

const START: usize = memory.data<u32>([0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]);

const ROUNDS: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
  0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
  0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);

/**
 * Writes the digest of each text to views by physical row (null stays null). `key`: 128 bytes, the HMAC blocks that
 * precede the message and the inner digest. 0: no key. `alphabet`: the characters, each for `bits` bits. `length`:
 * number of characters to keep. `fill`: padding character up to a multiple of four, 0 for no padding. Returns the next
 * free address, or 0 if the arena is full.
 */
export function digestTexts(views: usize, rows: usize, count: u32, key: usize, alphabet: usize, bits: u32, fill: u32, length: u32, scratch: usize, next: usize, limit: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view);
    if (start == 0) continue;
    if (next + DIGEST_SPACE > limit) return 0;
    digest(scratch, key, start, <usize>load<u32>(view, 4));
    if (key != 0) digest(scratch, key + BLOCK_BYTES, scratch + DIGEST, DIGEST_BYTES);
    const end = min(putLetters(next, scratch + DIGEST, alphabet, bits, fill), next + <usize>length);
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(end - next), 4);
    next = end;
  }
  return next;
}

/** Digest of a message, preceded by the block at `before` (0: no block), written as bytes to DIGEST. */
function digest(scratch: usize, before: usize, start: usize, length: usize): void {
  const state = scratch + STATE, block = scratch + BLOCK;
  memory.copy(state, START, STATE_BYTES);
  const total = length + (before == 0 ? 0 : BLOCK_BYTES);
  if (before != 0) addBlock(scratch, before);
  let left = length;
  for (; left >= BLOCK_BYTES; left -= BLOCK_BYTES, start += BLOCK_BYTES) addBlock(scratch, start);
  memory.copy(block, start, left);
  store<u8>(block + left, 0x80);
  memory.fill(block + left + 1, 0, BLOCK_BYTES - left - 1);
  if (left + 1 + LENGTH_BYTES > BLOCK_BYTES) {
    addBlock(scratch, block);
    memory.fill(block, 0, BLOCK_BYTES);
  }
  store<u64>(block + BLOCK_BYTES - LENGTH_BYTES, bswap<u64>(<u64>total << 3));
  addBlock(scratch, block);
  for (let at: usize = 0; at < DIGEST_BYTES; at += 4) store<u32>(scratch + DIGEST + at, bswap<u32>(load<u32>(state + at)));
}

function addBlock(scratch: usize, block: usize): void {
  const words = scratch + SCHEDULE, state = scratch + STATE;
  for (let at: usize = 0; at < 64; at += 4) store<u32>(words + at, bswap<u32>(load<u32>(block + at)));
  for (let at: usize = 64; at < 256; at += 4) {
    const p = words + at;
    const early = load<u32>(p - 60), late = load<u32>(p - 8);
    const s0 = rotr(early, 7) ^ rotr(early, 18) ^ (early >> 3);
    const s1 = rotr(late, 17) ^ rotr(late, 19) ^ (late >> 10);
    store<u32>(p, load<u32>(p - 64) + s0 + load<u32>(p - 28) + s1);
  }
  let a = load<u32>(state), b = load<u32>(state, 4), c = load<u32>(state, 8), d = load<u32>(state, 12);
  let e = load<u32>(state, 16), f = load<u32>(state, 20), g = load<u32>(state, 24), h = load<u32>(state, 28);
  // After eight rounds, each word is back in its own variable.
  for (let at: usize = 0; at < 256; at += 32) {
    const w = words + at, k = ROUNDS + at;
    h += sum(e, f, g, load<u32>(w) + load<u32>(k)); d += h; h += most(a, b, c);
    g += sum(d, e, f, load<u32>(w, 4) + load<u32>(k, 4)); c += g; g += most(h, a, b);
    f += sum(c, d, e, load<u32>(w, 8) + load<u32>(k, 8)); b += f; f += most(g, h, a);
    e += sum(b, c, d, load<u32>(w, 12) + load<u32>(k, 12)); a += e; e += most(f, g, h);
    d += sum(a, b, c, load<u32>(w, 16) + load<u32>(k, 16)); h += d; d += most(e, f, g);
    c += sum(h, a, b, load<u32>(w, 20) + load<u32>(k, 20)); g += c; c += most(d, e, f);
    b += sum(g, h, a, load<u32>(w, 24) + load<u32>(k, 24)); f += b; b += most(c, d, e);
    a += sum(f, g, h, load<u32>(w, 28) + load<u32>(k, 28)); e += a; a += most(b, c, d);
  }
  store<u32>(state, load<u32>(state) + a);
  store<u32>(state, load<u32>(state, 4) + b, 4);
  store<u32>(state, load<u32>(state, 8) + c, 8);
  store<u32>(state, load<u32>(state, 12) + d, 12);
  store<u32>(state, load<u32>(state, 16) + e, 16);
  store<u32>(state, load<u32>(state, 20) + f, 20);
  store<u32>(state, load<u32>(state, 24) + g, 24);
  store<u32>(state, load<u32>(state, 28) + h, 28);
}

// @ts-ignore: decorator
@inline
function sum(e: u32, f: u32, g: u32, added: u32): u32 {
  return (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) + added;
}

// @ts-ignore: decorator
@inline
function most(a: u32, b: u32, c: u32): u32 {
  return (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));
}

/** Returns the address after the characters. */
function putLetters(out: usize, bytes: usize, alphabet: usize, bits: u32, fill: u32): usize {
  const start = out;
  if (bits == HEX_BITS) {
    for (let at: usize = 0; at < DIGEST_BYTES; at++, out += 2) {
      const byte = <usize>load<u8>(bytes + at);
      store<u8>(out, load<u8>(alphabet + (byte >> 4)));
      store<u8>(out, load<u8>(alphabet + (byte & 15)), 1);
    }
    return out;
  }
  let held: u32 = 0, left: u32 = 0;
  for (let at: usize = 0; at < DIGEST_BYTES; at++) {
    held = (held << 8) | <u32>load<u8>(bytes + at);
    for (left += 8; left >= bits; out++) {
      left -= bits;
      store<u8>(out, load<u8>(alphabet + <usize>((held >> left) & ((1 << bits) - 1))));
    }
  }
  if (left > 0) store<u8>(out++, load<u8>(alphabet + <usize>((held << (bits - left)) & ((1 << bits) - 1))));
  if (fill != 0) while (((out - start) & 3) != 0) store<u8>(out++, <u8>fill);
  return out;
}
