// Memory layouts and constants of the kernels that edit texts.

// Entries of a table of 256 bytes that says what happens to each byte of a cell: drop the byte, keep the byte, or leave
// the whole cell to the scalar implementation.

export const DROP: u32 = 0;
export const KEEP: u32 = 1;
export const LEAVE: u32 = 2;

// Constants of case conversion and accent removal: which letters change, and the ranges of code points that the tables
// cover.

/** First ASCII letter that changes. */
export const TO_UPPER: u32 = 97;
export const TO_LOWER: u32 = 65;

/** Number of code points at the start of the table: all that take one or two bytes in UTF-8. */
export const NEAR_POINTS: u32 = 0x800;

/** U+1E00 to U+1FFF (Vietnamese, Greek with accents). Their entries follow that of U+07FF. */
export const FAR_FIRST: u32 = 0x1e00;
export const FAR_POINTS: u32 = 0x200;

/** Code points below this one have an entry in the table for accent removal. */
export const ACCENT_POINTS: u32 = 0x250;

/** Entry of a character without an accent. */
export const AS_IT_IS: u32 = 0xffff;

// Memory layout shared by the kernel that splits key-value pairs and its caller: the separators, the requested keys,
// and the progress.

/**
 * u32 words given as byte offsets. In: address and length of the separator between pairs, and of the separator after a
 * key.
 */
export const PAIR: usize = 0;
export const PAIR_BYTES: usize = 4;
export const COLON: usize = 8;
export const COLON_BYTES: usize = 12;
/** List of the lower-case keys (u32 address and u32 length each), and their number. */
export const KEYS: usize = 16;
export const KEY_COUNT: usize = 20;
/**
 * Length of the longest key in bytes, and the hash table of keys: KEY_SLOTS u32 words, each the key's number from 1, or
 * 0 for a free slot.
 */
export const KEY_BYTES_MAX: usize = 24;
export const SLOTS: usize = 28;
/** In and out: the position at which to continue, and the address of its next pair (0: its first pair). */
export const POSITION: usize = 32;
export const NEXT_PAIR: usize = 36;
export const STATE_BYTES: usize = 40;

/**
 * A power of two that is more than twice the maximum number of keys of an operation, so that most keys are in the slot
 * of their hash.
 */
export const KEY_SLOTS: u32 = 256;

/** Number of text bytes after which the kernel returns: about a millisecond if each pair has three bytes. */
export const PORTION_BYTES: u32 = 65_536;
