// Rows that are already encoded as output bytes and wait to be sorted: the layout of their entries, and of the players
// in the tournament that merges sorted runs.

/** u64 first bytes of the key as a number, u32 address of the row's bytes, u32 their length with flags. */
export const ENTRY_BYTES: usize = 16;
export const PLAYER_BYTES: usize = 16;

/** Number of values of a radix-sort digit (a word has eight digits), and size of the counters in bytes. */
export const DIGITS: usize = 256;
export const SORT_COUNTS_BYTES: usize = 8 * DIGITS * 4;

/**
 * State of packing or listing a run: u32 the end that was reached, and at RUN_WORD the previous u64 word. A run begins
 * with word 0.
 */
export const RUN_WORD: usize = 8;
export const RUN_STATE_BYTES: usize = 16;

/** A run being merged: u32 next entry, u32 end. */
export const RUN_BYTES: usize = 8;

/** Passed instead of the number of the run that continues: all runs enter the tournament. */
export const ALL_ENTER: u32 = 0xffffffff;
