// Rows that are already encoded as output bytes and wait to be sorted: the layout of their entries, and of the players
// in the tournament that merges sorted runs.

/** u64 first bytes of the key as a number, u32 address of the row's bytes, u32 their length with flags. */
export const ENTRY_BYTES: usize = 16;
/** In the length of an entry's row: flags, and the bits of the length itself (see assembly/encoded-rows.ts). */
export const FLAG_REST: u32 = 0x80000000;
export const FLAG_GUARDED: u32 = 0x40000000;
export const LENGTH: u32 = 0x3fffffff;

export const PLAYER_BYTES: usize = 16;

/** Number of values of a radix-sort digit (a word has eight digits), and size of the counters in bytes. */
export const DIGITS: usize = 256;
export const SORT_COUNTS_BYTES: usize = 8 * DIGITS * 4;

/**
 * State while the entries of a run are packed or unpacked: u32 end of the entries so far, and at RUN_WORD the previous
 * u64 word, which is 0 at the start of a run.
 */
export const RUN_WORD: usize = 8;
export const RUN_STATE_BYTES: usize = 16;

/** A run being merged: u32 next entry, u32 end. */
export const RUN_BYTES: usize = 8;

/** Argument for the start of a merge, when all runs enter the tournament; later calls pass the run that just supplied a row. */
export const ALL_ENTER: u32 = 0xffffffff;
