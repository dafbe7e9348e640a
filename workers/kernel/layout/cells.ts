// Memory layouts of cells, of their native kinds, and of the state for copying rows.

// Memory layout of cells: views of texts, and the `meta` bytes of typed values. workers/batch/batch.ts describes
// columns.

/** Size of a cell's view: u32 address, u32 length. Address 0 means null. */
export const VIEW_BYTES: usize = 8;

/** In `meta` of a typed column: this cell is null. */
export const META_NULL: u32 = 255;

/**
 * In `meta` of a decimal column: the cell does not fit 64 bits and is stored in `big`. Smaller values are the cell's
 * scale.
 */
export const META_BIG: u32 = 254;

/** Largest scale that the meta byte of a decimal holds. */
export const META_SCALE_MAX: u32 = 253;

// Native kinds: the type that a typed file (such as JSON or XLSX) states for a cell, one byte per cell, stored next to
// the cell's text. The text is already in the canonical form of its kind, so later steps need not parse it again.

export const KIND_TEXT: u32 = 0;
/**
 * A number as JSON writes it: `-`, digits without leading zeros, fraction, exponent. NaN and the infinities are texts.
 */
export const KIND_NUMBER: u32 = 1;
/** `true` or `false`. */
export const KIND_BOOLEAN: u32 = 2;
/** For example 2026-01-31. Years 0000 to 9999. */
export const KIND_DATE: u32 = 3;
/**
 * For example 2026-01-31T13:05:00. Has a fraction only if it is not zero, and a trailing `Z` if the file states UTC.
 */
export const KIND_DATETIME: u32 = 4;
/** For example 13:05:00, with an optional fraction as above. */
export const KIND_TIME: u32 = 5;
/** A list or an object as JSON, without white space between its tokens. */
export const KIND_JSON: u32 = 6;

/** Number of kinds. */
export const NATIVE_KINDS: u32 = 7;

// State shared by the kernels that make several rows from one and their callers: the current position among the rows,
// and the lists of copies that the kernels fill.

/**
 * u32 words, given as byte offsets. In and out: the position at which to continue, and how much of its cell is
 * finished.
 */
export const POSITION: usize = 0;
/** Number of bytes and values of that cell that are finished. 0: not started. */
export const DONE_BYTES: usize = 4;
export const DONE_ITEMS: usize = 8;
/** In and out: number of copies in the lists. In: capacity of the lists. */
export const COPIES: usize = 12;
export const COPIES_MAX: usize = 16;
/** One entry per copy: u32 physical row, and the view of the value. */
export const LIST_ROWS: usize = 20;
export const LIST_VIEWS: usize = 24;
/** One byte per copy, its native kind (address 0: no kinds), and the native kinds of the cells by physical row. */
export const LIST_KINDS: usize = 28;
export const CELL_KINDS: usize = 32;
/** i64 number of the value within its cell, from 1, and a byte of meta. Address 0: the numbers are not needed. */
export const LIST_NUMBERS: usize = 36;
export const LIST_META: usize = 40;
/** Maximum number of values in one cell. */
export const ITEMS_MAX: usize = 44;
/** In and out, used by kernels that write texts: the first free byte, and the end of the free memory. */
export const NEXT_FREE: usize = 48;
export const FREE_END: usize = 52;
export const STATE_BYTES: usize = 64;

/**
 * Why a kernel stopped: after the last row, the lists are full, no memory left for texts, or the cell at POSITION needs
 * the scalar implementation.
 */
export const STOPPED_AT_END: u32 = 0;
export const STOPPED_FULL: u32 = 1;
export const STOPPED_NO_SPACE: u32 = 2;
export const STOPPED_AT_CELL: u32 = 3;
