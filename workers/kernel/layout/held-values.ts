// Values that a metric holds of each group until all rows have come: lists of chunks that double, in growing blocks.

/** The state of a group: u32 first and last chunk (0: none), u32 cells used in the last; u64 how many values came. */
export const HELD_FIRST: usize = 0;
export const HELD_LAST: usize = 4;
export const HELD_USED: usize = 8;
export const HELD_COUNT: usize = 16;
export const HELD_BYTES: usize = 24;

/** A chunk: u32 next one (0: none), u32 its cells; then a word each (typed value, or view of a text), then a byte of meta each. */
export const CHUNK_NEXT: usize = 0;
export const CHUNK_CELLS: usize = 4;
export const CHUNK_WORDS: usize = 8;

/** Cells of a group's first chunk, and of one at most: many groups have one value or two. */
export const CHUNK_CELLS_FIRST: u32 = 2;
export const CHUNK_CELLS_MOST: u32 = 512;

/** Where a walk over the lists of groups stands: u32 group, u32 chunk (0: before the group's first), u32 cell. */
export const CURSOR_GROUP: usize = 0;
export const CURSOR_CHUNK: usize = 4;
export const CURSOR_CELL: usize = 8;
export const CURSOR_BYTES: usize = 16;

/** What is known of a different value of a group: u64 word, u32 group, u32 how often it came, u32 meta. */
export const ENTRY_WORD: usize = 0;
export const ENTRY_GROUP: usize = 8;
export const ENTRY_COUNT: usize = 12;
export const ENTRY_META: usize = 16;
export const ENTRY_BYTES: usize = 24;

/** Which of a group's texts is kept. */
export const KEEP_FIRST: u32 = 0;
export const KEEP_LAST: u32 = 1;
export const KEEP_LEAST: u32 = 2;
export const KEEP_LARGEST: u32 = 3;
