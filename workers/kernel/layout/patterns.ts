// The programs of patterns (assembly/replace-pattern.ts): sizes, and what stands where in bytes.

/** Items of one pattern at most: the kernel notes where each began. */
export const ITEMS_MAX: u32 = 64;

/** u32 words of the head. */
export const ITEMS: usize = 0;
export const FROM_START: usize = 4;
export const TO_END: usize = 8;
export const PIECES: usize = 12;
export const REPLACEMENTS_MAX: usize = 16;
export const PIECES_AT: usize = 20;
/** Whether all sets are of ASCII. */
export const IS_ASCII: usize = 24;
/** How many items at the start are one character each; these characters, and their mask (u64). */
export const LITERALS: usize = 28;
export const LITERALS_OFFSET: usize = 32;
export const MASK_OFFSET: usize = 40;
/** Behind the head lie the items. */
export const HEAD_BYTES: usize = 48;

/** An item: 16 bytes with a bit for each ASCII character, u32 least, u32 most. */
export const ITEM_LEAST: usize = 16;
export const ITEM_MOST: usize = 20;
export const ITEM_BYTES: usize = 32;

/** A piece of a replacement: its kind, then u32 address and length of a text, or the items [from, to) whose text it is. */
export const PIECE_TEXT: u32 = 0;
export const PIECE_GROUP: u32 = 1;
export const PIECE_FROM: usize = 4;
export const PIECE_TO: usize = 8;
export const PIECE_BYTES: usize = 12;
