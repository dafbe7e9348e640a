// What the kernel that splits pairs shares with its caller: what it looks for, and how far it has come.

/** u32 words as byte offsets. In: address and bytes of what stands between pairs, and of what ends a key. */
export const PAIR: usize = 0;
export const PAIR_BYTES: usize = 4;
export const COLON: usize = 8;
export const COLON_BYTES: usize = 12;
/** List of keys in small letters, u32 address and bytes each, and how many there are. */
export const KEYS: usize = 16;
export const KEY_COUNT: usize = 20;
/** Bytes of the longest key, and of all keys by their hash: KEY_SLOTS u32, the key's number from 1, 0 for none. */
export const KEY_BYTES_MAX: usize = 24;
export const SLOTS: usize = 28;
/** In and out: the position at which is gone on, and the address of its next pair; 0: its first. */
export const POSITION: usize = 32;
export const NEXT_PAIR: usize = 36;
export const STATE_BYTES: usize = 40;

/** A power of two above twice as many keys as an operation may have, so that most lie where their hash says. */
export const KEY_SLOTS: u32 = 256;

/** Bytes of text after which it stops: a millisecond where each pair has three bytes. */
export const PORTION_BYTES: u32 = 65_536;
