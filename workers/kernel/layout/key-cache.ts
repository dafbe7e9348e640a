// The table of short keys.

/** Longer keys are not for this table. */
export const SHORT_KEY_BYTES_MAX: u32 = 16;

/** Its head, u32 words as byte offsets: keys held, and how many at most; behind it lie the slots. */
export const HELD: usize = 0;
export const HELD_MAX: usize = 4;
export const SLOTS_AT: usize = 16;

/** 16 bytes key, u32 number + 1 (0 = free). */
export const SLOT_NUMBER: usize = 16;
export const SLOT_BYTES: usize = 32;

/** Slots, a power of two, of which half are used at most. */
export const SLOT_BITS: u32 = 12;
export const SLOTS: usize = 4096;
export const KEY_CACHE_KEYS_MAX: u32 = 2048;
export const KEY_CACHE_BYTES: usize = SLOTS_AT + SLOTS * SLOT_BYTES;
