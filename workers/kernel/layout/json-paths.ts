// The paths that are looked for in JSON cells, as a tree in memory: what the kernel and its caller share.

/** u32 words of the head as byte offsets: the root, where views go (field n at FOUND + n * STRIDE), scratch for keys. */
export const ROOT: usize = 0;
export const FOUND: usize = 4;
export const STRIDE: usize = 8;
/** KEY_BYTES_MAX bytes, for a key while it is unescaped. */
export const KEY_SCRATCH: usize = 12;
/** In and out: the first free byte for texts; 0: they did not fit. And the end of what is free. */
export const TEXT_NEXT: usize = 16;
export const TEXT_END: usize = 20;
export const PATHS_BYTES: usize = 24;

/**
 * Words of a node. Fields of a node and of all below it follow each other: those of the node itself from FIRST to HERE_END,
 * those below up to END.
 */
export const FIRST: usize = 0;
export const HERE_END: usize = 4;
export const END: usize = 8;
/** Keys that lead on: WORDS_BYTES each, u32 address and length of the key, u32 node. */
export const KEYS: usize = 12;
export const KEY_COUNT: usize = 16;
/** Numbers of items that lead on, upwards: WORDS_BYTES each, u32 number, unused, u32 node. */
export const ITEMS: usize = 20;
export const ITEM_COUNT: usize = 24;
export const NODE_BYTES: usize = 32;

export const WORDS_BYTES: usize = 12;
export const WORDS_LENGTH: usize = 4;
export const WORDS_NODE: usize = 8;

/** Longer keys, in bytes, are someone else's. */
export const KEY_BYTES_MAX: usize = 4096;
