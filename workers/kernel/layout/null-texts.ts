// List of the non-empty texts that mean "missing", u32 words given as byte offsets.

export const COUNT: usize = 0;
/** Bit set of the lengths of these texts. The last bit covers all lengths from LENGTH_BIT_MAX on. */
export const LENGTHS: usize = 4;
export const LENGTH_BIT_MAX: u32 = 31;
/** Each text: u32 length, then its bytes, padded to a multiple of four. */
export const TEXTS: usize = 8;
