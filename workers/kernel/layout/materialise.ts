// The state of the kernel `materialise`, in and out: u32 words as byte offsets.

/** In the selection. */
export const POSITION: usize = 0;
/** First free address of the arena. */
export const NEXT: usize = 4;
/** Bytes that the cell at POSITION needs where it does not fit, else 0. */
export const WANTED: usize = 8;
export const STATE_BYTES: usize = 12;
