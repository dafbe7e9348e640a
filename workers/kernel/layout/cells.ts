// How cells lie in memory: views of texts, and the bytes of meta beside typed values. workers/batch/batch.ts says what a
// column is.

/** Bytes of one cell's view: u32 address, u32 length. Address 0 is null. */
export const VIEW_BYTES: usize = 8;

/** In `meta` of a typed column: this cell is null. */
export const META_NULL: u32 = 255;

/** In `meta` of a decimal column: the cell does not fit 64 bits and lies in `big`. Smaller numbers are the cell's scale. */
export const META_BIG: u32 = 254;

/** Largest scale that the meta byte of a decimal holds. */
export const META_SCALE_MAX: u32 = 253;
