// The list of texts other than the empty one that mean "missing", u32 words as byte offsets.

export const COUNT: usize = 0;
/** A bit for each length that a text has, the last for all from LENGTH_BIT_MAX on. */
export const LENGTHS: usize = 4;
export const LENGTH_BIT_MAX: u32 = 31;
/** Of each text: u32 length, bytes, up to a multiple of four. */
export const TEXTS: usize = 8;
