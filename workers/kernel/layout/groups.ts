// Memory layouts of aggregations over groups and of the values that they hold.

// Memory layout of aggregations over groups: the description of one aggregation, and the states of its groups.

/** u32 words of the description, given as byte offsets. */
export const ROWS: usize = 0;
/** Group id of each row, by position. */
export const IDS: usize = 4;
/** Meta of a boolean column that selects the rows. 0: all rows. */
export const CONDITION: usize = 8;
/** Values or views, and meta (0 for views), of the aggregated column. */
export const VALUES: usize = 12;
export const META: usize = 16;
/** Address of group 0's state, and distance between states in bytes. */
export const STATES: usize = 20;
export const STRIDE_BYTES: usize = 24;
export const FOLD_BYTES: usize = 28;

/** A state: u64 value, u8 meta as in typed columns (META_NULL: no value yet). */
export const STATE_META: usize = 8;
export const STATE_BYTES: usize = 16;

/** The state of a sum of doubles: f64 high, f64 low, u8 meta. */
export const DOUBLES_LOW: usize = 8;
export const DOUBLES_META: usize = 16;
export const DOUBLES_BYTES: usize = 24;

// Values that an aggregation buffers per group until all rows have arrived: lists of chunks that double in size,
// allocated in growing blocks.

/** State of a group: u32 first and last chunk (0: no chunk), u32 cells used in the last chunk, u64 number of values. */
export const HELD_FIRST: usize = 0;
export const HELD_LAST: usize = 4;
export const HELD_USED: usize = 8;
export const HELD_COUNT: usize = 16;
export const HELD_BYTES: usize = 24;

/**
 * A chunk: u32 next chunk (0: last), u32 number of its cells, then one word per cell (typed value, or view of a text),
 * then one byte of meta per cell.
 */
export const CHUNK_NEXT: usize = 0;
export const CHUNK_CELLS: usize = 4;
export const CHUNK_WORDS: usize = 8;

/**
 * Number of cells in a group's first chunk, and maximum number per chunk. The first is small because many groups have
 * only one or two values.
 */
export const CHUNK_CELLS_FIRST: u32 = 2;
export const CHUNK_CELLS_MOST: u32 = 512;

/**
 * Position of an iteration over the groups' lists: u32 group, u32 chunk (0: before the group's first chunk), u32 cell.
 */
export const CURSOR_GROUP: usize = 0;
export const CURSOR_CHUNK: usize = 4;
export const CURSOR_CELL: usize = 8;
export const CURSOR_BYTES: usize = 16;

/** Entry of a distinct value of a group: u64 word, u32 group, u32 number of occurrences, u32 meta. */
export const ENTRY_WORD: usize = 0;
export const ENTRY_GROUP: usize = 8;
export const ENTRY_COUNT: usize = 12;
export const ENTRY_META: usize = 16;
export const ENTRY_BYTES: usize = 24;

/** Selects which of a group's texts to keep. */
export const KEEP_FIRST: u32 = 0;
export const KEEP_LAST: u32 = 1;
export const KEEP_LEAST: u32 = 2;
export const KEEP_LARGEST: u32 = 3;
