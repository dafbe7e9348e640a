// What kernels that read, round and write numbers share with their callers.

/** In place of a scale: as written. */
export const AS_WRITTEN: u32 = 0xffffffff;

/** Roundings; the first refuses where digits would be lost. */
export const EXACT: u32 = 0;
export const HALF_EVEN: u32 = 1;
export const HALF_UP: u32 = 2;
export const DOWN: u32 = 3;

/** How numbers are read, u32 words as byte offsets: decimal mark, grouping (0 = none), whether a minus may stand before. */
export const READ_MARK: usize = 0;
export const READ_GROUPING: usize = 4;
export const READ_SIGNED: usize = 8;
/** DOUBLE, INTEGER or DECIMAL (layout/expressions.ts). */
export const READ_FORM: usize = 12;
/** Digits behind the point, or AS_WRITTEN. */
export const READ_SCALE: usize = 16;
export const READ_ROUNDING: usize = 20;
/** Whether a double may be minus zero. */
export const READ_MINUS_ZERO: usize = 24;
/** Set by the kernel: whether all cells read stand there as their integers or decimals are written with that mark. */
export const READ_ARE_WRITTEN: usize = 28;
export const READ_BYTES: usize = 32;

/** How numbers are written, u32 words as byte offsets: scale or AS_WRITTEN, and rounding. */
export const WRITE_SCALE: usize = 0;
export const WRITE_ROUNDING: usize = 4;
/** Then address and length of texts: the decimal mark, what stands between groups, before and behind numbers. */
export const WRITE_MARK: usize = 8;
export const WRITE_GROUPING: usize = 16;
export const WRITE_PREFIX: usize = 24;
export const WRITE_SUFFIX: usize = 32;
/** What stands before and behind numbers below zero. */
export const WRITE_BEFORE_NEGATIVE: usize = 40;
export const WRITE_BEHIND_NEGATIVE: usize = 48;
export const WRITE_BYTES: usize = 56;

/** Larger scales, and decimals beyond 64 bits, whose mark is above all scales, are not for the kernels. */
export const SCALE_MAX: u32 = 18;

/** Digits behind the point up to which doubles are rounded: decimals of 15 digits are doubles one to one. */
export const DOUBLE_PLACES_MAX: u32 = 15;

/** What rounding and writing decimals give when a cell is not for them. */
export const ROUNDING_GIVEN_UP: u32 = 0xffffffff;
export const WRITING_GIVEN_UP: usize = 1;
