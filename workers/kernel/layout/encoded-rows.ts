// Rows that lie as the bytes that they will be in the output, until a sort knows their places: their entries, and who plays
// in the tournament that merges runs of them.

/** u64 first bytes of the key as a number, u32 address of the bytes, u32 how many with flags. */
export const ENTRY_BYTES: usize = 16;
export const PLAYER_BYTES: usize = 16;

/** Values of a digit by which entries are sorted, of which a word has eight; and bytes of their counters. */
export const DIGITS: usize = 256;
export const SORT_COUNTS_BYTES: usize = 8 * DIGITS * 4;

/** The state of who packs or lists a run: u32 what was reached, at RUN_WORD the u64 word before. A run begins with 0. */
export const RUN_WORD: usize = 8;
export const RUN_STATE_BYTES: usize = 16;

/** A run that is merged: u32 next entry, u32 end. */
export const RUN_BYTES: usize = 8;

/** In place of the run that goes on: all enter the tournament. */
export const ALL_ENTER: u32 = 0xffffffff;
