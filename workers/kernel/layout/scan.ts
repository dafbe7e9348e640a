// Memory layout shared by the CSV scans and their callers: the state, the modes of a field, and the bytes that end
// rows.

/** u32 words of the state, in and out, given as byte offsets. */
export const AT: usize = 0;
export const MODE: usize = 4;
export const OUT: usize = 8;
export const LINES: usize = 12;
export const ROW_ENDS: usize = 16;
export const FLAGS: usize = 20;
export const STATE_BYTES: usize = 24;

export const FLAG_NUL: u32 = 1;
export const FLAG_LITERAL_QUOTE: u32 = 2;

/** Before a field's first byte. */
export const MODE_START: u32 = 0;
/** In a field in which quotes are literal. */
export const MODE_UNQUOTED: u32 = 1;
/** After an opening quote. */
export const MODE_QUOTED: u32 = 2;
/** After a quote in a quoted field: either the closing quote or the first of two. */
export const MODE_CLOSED: u32 = 3;

/**
 * Minimum free capacity, in entries, for scanning another block: a block of 64 bytes writes at most 64 entries, and 8
 * more than it counts.
 */
export const BLOCK_ENTRIES: usize = 72;

export const LF: u32 = 10;
export const CR: u32 = 13;
