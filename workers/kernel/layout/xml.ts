// What kernels that read XML share with those who call them.

/** Behind the end of what a kernel reads stand so many `<`, where its steps over digits and letters end. */
export const FENCE_BYTES: usize = 32;

/** Before the names of a part's elements, with its colon: a word for its bytes, and then those. */
export const PREFIX_BYTES_MAX: usize = 16;
export const PREFIX_WORD_BYTES: usize = 4;

/** Why a kernel stopped: no complete tag or cell is left before the end. */
export const STATUS_MORE: u32 = 0;
/** The batch takes no more rows, or as many rows ended as may. */
export const STATUS_FULL: u32 = 1;
/** What stands here is for another reader: the end of the rows, a rare form, or a mistake. */
export const STATUS_LEFT: u32 = 2;
