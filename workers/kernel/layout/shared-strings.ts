// Memory layout shared by the kernel that reads shared strings (assembly/sheet-texts.ts) and its callers: u32 words of
// the state, given as byte offsets.

/** In and out: address at which to continue reading, the first byte of a tag. */
export const AT: usize = 0;
/** Out: why the kernel stopped, one of the codes in layout/sheet.ts. */
export const STATUS: usize = 4;
/** In and out: the next address for texts. In: the end of their memory. */
export const TEXTS_AT: usize = 8;
export const TEXTS_END: usize = 12;
/**
 * In and out: the next address for an entry (u32 address and u32 length of a text). In: the end of the entries' memory.
 */
export const ENTRIES_AT: usize = 16;
export const ENTRIES_END: usize = 20;
/** See layout/sheet.ts. */
export const PREFIX: usize = 24;
export const STATE_BYTES: usize = 48;

/** Number of texts whose entries share one page, as a power of two. */
export const PAGE_SHIFT: u32 = 13;
export const ENTRY_BYTES: usize = 8;
