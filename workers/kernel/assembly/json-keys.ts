// The table of keys: which column a member of a record is. A key of an object inside a record is one of its own, below the
// key of that object.
import {
  EXPECTED_COLON,
  FOUND,
  GUESS_BYTES_MAX,
  KEY_BYTES_MAX,
  KEY_TOO_LONG,
  KEYS_FULL,
  KEYS_LIMIT,
  KEYS_NEXT,
  LEARNS,
  MARKED,
  NODE_COLUMN,
  NODE_COUNT,
  NODE_GUESS,
  NODE_GUESS_BYTES,
  NODE_HASH,
  NODE_KEY,
  NODE_KEY_BYTES,
  NODE_NEXT,
  NODE_PARENT,
  NODE_SEEN,
  NODE_SHIFT,
  NODES,
  NODES_MAX,
  SCRATCH,
  SEED,
  SLOT_MASK,
  SLOTS,
} from '../layout/json';
import { unescape } from './json-cells';
import { BACKSLASH, behindSpace, COLON, fail, QUOTE, stringEnd } from './json-tokens';

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;

/** Bytes of `"":`. */
const AROUND_KEY: usize = 3;

/** Whether the bytes here are the key of this node in quotes, with its colon: the usual way to write it. */
// @ts-ignore: decorator
@inline
export function isGuess(p: usize, node: usize): bool {
  const bytes = load<u32>(node, NODE_GUESS_BYTES);
  const low = <u32>i8x16.bitmask(i8x16.ne(v128.load(p), v128.load(node, NODE_GUESS)));
  if (bytes <= 16) return bytes != 0 && (low & ((1 << bytes) - 1)) == 0;
  const high = <u32>i8x16.bitmask(i8x16.ne(v128.load(p, 16), v128.load(node, NODE_GUESS + 16)));
  return low == 0 && (high & ((1 << (bytes - 16)) - 1)) == 0;
}

/** A key with its colon, wherever white space stands and whatever is escaped. Its node is FOUND. `expected`: where none is. */
export function readKey(p: usize, end: usize, state: usize, parent: u32, expected: u32): usize {
  if (<u32>load<u8>(p) != QUOTE) return fail(state, p, expected);
  let start = p + 1;
  const close = stringEnd(start, end, state);
  if (close == 0) return 0;
  const behind = close & ~MARKED;
  let bytes = behind - start;
  if (bytes > KEY_BYTES_MAX) return fail(state, p, KEY_TOO_LONG);
  const colon = behindSpace(behind + 1, end, state);
  // A key is only learnt when all of it stands before the end.
  if (colon >= end || <u32>load<u8>(colon) != COLON) return fail(state, colon, EXPECTED_COLON);
  if (close != behind) {
    const scratch = <usize>load<u32>(state, SCRATCH);
    bytes = unescape(start, behind, scratch);
    start = scratch;
  }
  const node = nodeOf(state, parent, start, bytes);
  if (node < 0) return fail(state, p, KEYS_FULL);
  store<u32>(state, <u32>node, FOUND);
  return colon + 1;
}

/** 0: it is unknown, and unknown keys are not added. Below 0: there is no room for it. */
function nodeOf(state: usize, parent: u32, start: usize, bytes: usize): i32 {
  const nodes = <usize>load<u32>(state, NODES);
  const slots = <usize>load<u32>(state, SLOTS);
  const mask = load<u32>(state, SLOT_MASK);
  const hash = hashOf(start, bytes, load<u32>(state, SEED) ^ (parent * 0x9e3779b1));
  let slot = hash & mask;
  for (;;) {
    const index = load<u32>(slots + ((<usize>slot) << 2));
    if (index == 0) break;
    const node = nodes + ((<usize>index) << NODE_SHIFT);
    if (
      load<u32>(node, NODE_HASH) == hash &&
      load<u32>(node, NODE_PARENT) == parent &&
      <usize>load<u32>(node, NODE_KEY_BYTES) == bytes &&
      memory.compare(<usize>load<u32>(node, NODE_KEY), start, bytes) == 0
    ) {
      return <i32>index;
    }
    slot = (slot + 1) & mask;
  }
  if (load<u32>(state, LEARNS) == 0) return 0;
  const index = load<u32>(state, NODE_COUNT);
  const place = <usize>load<u32>(state, KEYS_NEXT);
  if (index >= load<u32>(state, NODES_MAX) || place + bytes > <usize>load<u32>(state, KEYS_LIMIT)) return -1;
  store<u32>(state, index + 1, NODE_COUNT);
  store<u32>(state, <u32>(place + bytes), KEYS_NEXT);
  store<u32>(slots + ((<usize>slot) << 2), index);
  memory.copy(place, start, bytes);
  const node = nodes + ((<usize>index) << NODE_SHIFT);
  store<u32>(node, <u32>place, NODE_KEY);
  store<u32>(node, <u32>bytes, NODE_KEY_BYTES);
  store<u32>(node, hash, NODE_HASH);
  store<u32>(node, parent, NODE_PARENT);
  store<u32>(node, 0, NODE_NEXT);
  store<i32>(node, -1, NODE_COLUMN);
  store<u32>(node, 0, NODE_SEEN);
  putGuess(node, place, bytes);
  return <i32>index;
}

/** A key that must be escaped cannot be guessed: its own bytes could be those of other members. */
function putGuess(node: usize, key: usize, bytes: usize): void {
  store<u32>(node, 0, NODE_GUESS_BYTES);
  if (bytes + AROUND_KEY > GUESS_BYTES_MAX) return;
  for (let index: usize = 0; index < bytes; index++) {
    const byte = <u32>load<u8>(key + index);
    if (byte == QUOTE || byte == BACKSLASH || byte < 0x20) return;
  }
  const guess = node + NODE_GUESS;
  store<u8>(guess, <u8>QUOTE);
  memory.copy(guess + 1, key, bytes);
  store<u8>(guess + bytes + 1, <u8>QUOTE);
  store<u8>(guess + bytes + 2, <u8>COLON);
  store<u32>(node, <u32>(bytes + AROUND_KEY), NODE_GUESS_BYTES);
}

/** The seed is a secret of the reader: nobody can prepare a file whose keys all meet. */
function hashOf(s: usize, bytes: usize, seed: u32): u32 {
  let h: u64 = (<u64>bytes ^ ((<u64>seed) << 16) ^ <u64>seed) * P1;
  let p = s;
  const e = s + bytes;
  for (; p + 8 <= e; p += 8) {
    h = (h ^ load<u64>(p)) * P1;
    h ^= h >> 29;
  }
  const left = <u64>(e - p);
  if (left) h = (h ^ (load<u64>(p) & (((<u64>1) << (left << 3)) - 1))) * P2;
  h ^= h >> 32;
  h *= P2;
  return <u32>(h >> 32);
}
