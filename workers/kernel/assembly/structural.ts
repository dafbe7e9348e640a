// What the two scans share: the layout of their state and the modes of a field. Not an export of the module.

/** u32 slots of the scan's state, as byte offsets (read and written by the reader too: plain/scan.ts names them). */
export const AT: usize = 0;
export const MODE: usize = 4;
export const OUT: usize = 8;
export const LINES: usize = 12;
export const ROW_ENDS: usize = 16;
export const FLAGS: usize = 20;

export const FLAG_NUL: u32 = 1;
export const FLAG_LITERAL_QUOTE: u32 = 2;

/** Before a field's first byte. */
export const MODE_START: u32 = 0;
/** In a field in which quotes are literal. */
export const MODE_UNQUOTED: u32 = 1;
/** Behind an opening quote. */
export const MODE_QUOTED: u32 = 2;
/** Behind a quote in a quoted field: the closing one, or the first of two. */
export const MODE_CLOSED: u32 = 3;

export const LF: u32 = 10;
export const CR: u32 = 13;
