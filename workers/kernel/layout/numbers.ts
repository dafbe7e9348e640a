// Memory layouts and codes of the kernels for numbers and dates.

// Memory layout and codes shared by the kernels that parse, round and format numbers and their callers.

/** Special scale: keep the digits as written. */
export const AS_WRITTEN: u32 = 0xffffffff;

/** Rounding modes. EXACT refuses to drop digits other than zero. */
export const EXACT: u32 = 0;
export const HALF_EVEN: u32 = 1;
export const HALF_UP: u32 = 2;
export const DOWN: u32 = 3;

/**
 * Format of the numbers to parse, u32 words given as byte offsets: decimal mark, grouping mark (0: no grouping), and 1
 * if a leading minus is allowed.
 */
export const READ_MARK: usize = 0;
export const READ_GROUPING: usize = 4;
export const READ_SIGNED: usize = 8;
/** DOUBLE, INTEGER or DECIMAL (layout/expressions.ts). */
export const READ_FORM: usize = 12;
/** Number of digits after the decimal point, or AS_WRITTEN. */
export const READ_SCALE: usize = 16;
export const READ_ROUNDING: usize = 20;
/** 1 if a double may be negative zero. */
export const READ_MINUS_ZERO: usize = 24;
/**
 * Set by the kernel: 1 if every cell read is in canonical form, which means that its integer or decimal would be
 * written as the same text with that mark.
 */
export const READ_ARE_WRITTEN: usize = 28;
export const READ_BYTES: usize = 32;

/** Format of the numbers to write, u32 words given as byte offsets: scale or AS_WRITTEN, and rounding mode. */
export const WRITE_SCALE: usize = 0;
export const WRITE_ROUNDING: usize = 4;
/** Address and length of texts: the decimal mark, the group separator, the prefix and the suffix. */
export const WRITE_MARK: usize = 8;
export const WRITE_GROUPING: usize = 16;
export const WRITE_PREFIX: usize = 24;
export const WRITE_SUFFIX: usize = 32;
/** Texts before and after negative numbers. */
export const WRITE_BEFORE_NEGATIVE: usize = 40;
export const WRITE_BEHIND_NEGATIVE: usize = 48;
export const WRITE_BYTES: usize = 56;

/**
 * Maximum scale. The kernels handle neither larger scales nor decimals beyond 64 bits, whose META_BIG is greater than
 * every scale.
 */
export const SCALE_MAX: u32 = 18;

/**
 * Maximum number of digits after the decimal point when rounding doubles: up to 15 significant digits, decimals map
 * one-to-one to doubles.
 */
export const DOUBLE_PLACES_MAX: u32 = 15;

/** Returned by the rounding and writing of decimals when a cell needs the scalar implementation. */
export const ROUNDING_GIVEN_UP: u32 = 0xffffffff;
export const WRITING_GIVEN_UP: usize = 1;

// Memory layout of compiled date patterns (assembly/dates.ts): the kinds of parts and their offsets.

/** Kinds of a pattern's parts. */
export const LITERAL: u32 = 0;
export const YEAR: u32 = 1;
export const SHORT_YEAR: u32 = 2;
export const MONTH: u32 = 3;
export const DAY: u32 = 4;
export const HOUR: u32 = 5;
export const MINUTE: u32 = 6;
export const SECOND: u32 = 7;
export const FRACTION: u32 = 8;

/** Stored instead of a pivot when the year has four digits. */
export const LONG_YEAR: u32 = 0xffffffff;

/** A program is the u32 number of its patterns, followed by each pattern's head and parts. */
export const PROGRAM_HEAD_BYTES: usize = 4;

/** Head of a pattern, as byte offsets: u32 number of its parts, u32 width (0: its texts vary in width), u32 pivot. */
export const PARTS: usize = 0;
export const WIDTH: usize = 4;
export const PIVOT: usize = 8;
/**
 * Tables of fixed-width patterns, indexed by position in the text: mask of digits, mask of literals, and the literals.
 */
export const DIGITS_AT: usize = 12;
export const LITERALS_AT: usize = 28;
export const TEXT_AT: usize = 44;
/**
 * For each digit of CCYYMMDDhhmmss, its position in the text. In patterns for writing: for each position in the text,
 * the digit.
 */
export const PLACES_AT: usize = 60;
export const PLACES_MAX: usize = 16;
export const PATTERN_BYTES: usize = 76;

/**
 * A part, u32 words given as byte offsets: kind, minimum and maximum number of digits, the byte of a literal or the
 * pivot of a short year.
 */
export const PART_KIND: usize = 0;
export const PART_LEAST: usize = 4;
export const PART_MOST: usize = 8;
export const PART_EXTRA: usize = 12;
export const PART_BYTES: usize = 16;
