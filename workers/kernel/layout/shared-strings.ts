// What the kernel that reads shared strings (assembly/read-strings.ts) and its callers share: u32 words of the state as byte
// offsets.

/** In and out: where reading goes on, the first byte of a tag. */
export const AT: usize = 0;
/** Out: why the kernel stopped (layout/xml.ts). */
export const STATUS: usize = 4;
/** In and out: the next address for texts, which go up to TEXTS_END. */
export const TEXTS_AT: usize = 8;
export const TEXTS_END: usize = 12;
/** In and out: the next place for the u32 address and u32 length of a text, up to ENTRIES_END. */
export const ENTRIES_AT: usize = 16;
export const ENTRIES_END: usize = 20;
/** See layout/xml.ts. */
export const PREFIX: usize = 24;
export const STATE_BYTES: usize = 48;

/** Texts whose entries lie together in one page, as a power of two. */
export const PAGE_SHIFT: u32 = 13;
export const ENTRY_BYTES: usize = 8;
