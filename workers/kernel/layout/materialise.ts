// State of the kernel `materialise`, in and out: u32 words given as byte offsets.

/** Position in the selection. */
export const POSITION: usize = 0;
/** First free address of the arena. */
export const NEXT: usize = 4;
/** Number of bytes that the cell at POSITION needs if it did not fit, otherwise 0. */
export const WANTED: usize = 8;
export const STATE_BYTES: usize = 12;
