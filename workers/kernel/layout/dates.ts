// The programs of date patterns (assembly/dates.ts): kinds of parts and what stands where.

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

/** In place of a pivot: the year has four digits. */
export const LONG_YEAR: u32 = 0xffffffff;

/** A program: u32 number of its patterns, then each: its head, then its parts. */
export const PROGRAM_HEAD_BYTES: usize = 4;

/** Head of a pattern, byte offsets: u32 number of its parts, u32 width (0: its texts differ in width), u32 pivot. */
export const PARTS: usize = 0;
export const WIDTH: usize = 4;
export const PIVOT: usize = 8;
/** Four tables by place of a text of that width: which are digits, which are literals, the literals. */
export const DIGITS_AT: usize = 12;
export const LITERALS_AT: usize = 28;
export const TEXT_AT: usize = 44;
/** Which place of the text goes where in CCYYMMDDhhmmss (in patterns that are written: the other way round). */
export const PLACES_AT: usize = 60;
export const PLACES_MAX: usize = 16;
export const PATTERN_BYTES: usize = 76;

/** A part, u32 words as byte offsets: kind, least and most digits, the byte of a literal or the pivot of a short year. */
export const PART_KIND: usize = 0;
export const PART_LEAST: usize = 4;
export const PART_MOST: usize = 8;
export const PART_EXTRA: usize = 12;
export const PART_BYTES: usize = 16;
