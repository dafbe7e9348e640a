// Memory layouts of kernels that read and write JSON in cells.

// Describes the columns that become members of a JSON object, for the kernel that writes such objects.

/** Words of a column: one of the MEMBER kinds, the address of its cells, their meta or native kinds, and its key. */
export const MEMBER_KIND: usize = 0;
export const MEMBER_AT: usize = 4;
export const MEMBER_META: usize = 8;
/** `"key":` with a preceding comma, of arbitrary length. */
export const MEMBER_KEY: usize = 12;
export const MEMBER_KEY_BYTES: usize = 16;
export const MEMBER_BYTES: usize = 20;

/** Texts, JSON copied unchanged, views with native kinds (in META), and typed columns. */
export const MEMBER_TEXT: u32 = 0;
export const MEMBER_JSON: u32 = 1;
export const MEMBER_NATIVE: u32 = 2;
export const MEMBER_BOOLEAN: u32 = 3;
export const MEMBER_INTEGER: u32 = 4;
export const MEMBER_DECIMAL: u32 = 5;
export const MEMBER_DATE: u32 = 6;
export const MEMBER_DATETIME: u32 = 7;

/**
 * Maximum size of a cell in bytes. Larger cells are left to the scalar implementation, because escaping can make them
 * six times as large.
 */
export const MEMBER_CELL_BYTES_MAX: u32 = 65_536;

// Paths to extract from JSON cells, stored as a tree in memory that the kernel and its caller share.

/**
 * u32 words of the head, given as byte offsets: the root, the destination of views (field n at FOUND + n * STRIDE), and
 * scratch memory for keys.
 */
export const ROOT: usize = 0;
export const FOUND: usize = 4;
export const STRIDE: usize = 8;
/** KEY_BYTES_MAX bytes in which a key is unescaped. */
export const KEY_SCRATCH: usize = 12;
/** In and out: the first free byte for texts (0: the texts did not fit). In: the end of the free memory. */
export const TEXT_NEXT: usize = 16;
export const TEXT_END: usize = 20;
export const PATHS_BYTES: usize = 24;

/**
 * Words of a node. The fields of a node and of its descendants have consecutive numbers: the node's own fields from
 * FIRST to HERE_END, those of its descendants up to END.
 */
export const FIRST: usize = 0;
export const HERE_END: usize = 4;
export const END: usize = 8;
/** Keys that lead to child nodes, WORDS_BYTES each: u32 address and length of the key, u32 node. */
export const KEYS: usize = 12;
export const KEY_COUNT: usize = 16;
/** Item numbers that lead to child nodes, in ascending order, WORDS_BYTES each: u32 number, unused, u32 node. */
export const ITEMS: usize = 20;
export const ITEM_COUNT: usize = 24;
export const NODE_BYTES: usize = 32;

export const WORDS_BYTES: usize = 12;
export const WORDS_LENGTH: usize = 4;
export const WORDS_NODE: usize = 8;

/** Maximum length of a key in bytes. Cells with longer keys are left to the scalar implementation. */
export const KEY_BYTES_MAX: usize = 4096;
