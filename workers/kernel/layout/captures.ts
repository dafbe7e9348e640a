// A two-way automaton of bytes (assembly/capture-pattern.ts): its head, u32 words as byte offsets, its rows and its actions.
//
// One walk from the end of a text to its start notes the state at each byte, which says what can still match from there. A
// second walk from a match's start knows by it at each byte which way to take, and so never takes one in vain.

/** Address of a table of 256 bytes: the class of each byte. */
export const WAY_CLASSES: usize = 0;
/** Class that stands for the start of a text, in which the walk from its end ends. */
export const START_CLASS: usize = 4;
/** Row of the state behind the last byte. */
export const LAST_ROW: usize = 8;
/** Address of the list of actions: u32 count of slots, then the slots. */
export const ACTIONS: usize = 12;
/** Slots that are cleared before each match. */
export const SLOTS: usize = 16;
/** Address of the slots: u32 places in the text at work, 0 where none is; the first two are the match's own. */
export const SLOTS_AT: usize = 20;
/** Room for a u32 for each byte of the longest text that is taken, and one more. */
export const NOTES: usize = 24;
/** Longer texts are handed back, in bytes. */
export const LENGTH_MAX: usize = 28;
/** Where a kernel stopped for want of a way: the row, and the class, or with IS_WAY the entry. */
export const WANTED_ROW: usize = 32;
export const WANTED_PLACE: usize = 36;
export const WANTED_IS_WAY: usize = 40;
/** What a kernel that writes keeps from call to call: the next free address. */
export const NEXT_FREE: usize = 44;
/** The entry at the start of a text. */
export const START_ENTRY: usize = 48;
export const MACHINE_BYTES: usize = 52;

/** Head of a row: the address of its ways, 0 while there are none, and what an entry behind its byte adds. */
export const ROW_WAYS: usize = 0;
export const ROW_VARIANT: usize = 4;
/** Behind it a u32 for each class: the row of the byte before, with MAY_START, or one of the two below. */
export const ROW_HEAD_BYTES: usize = 8;
export const NO_ROW: u32 = 0;
/** There are more states than fit. */
export const ROWS_FULL: u32 = 2;
/** A match may begin at the byte at work, seen from the one before; rows lie at addresses that leave this bit free. */
export const MAY_START: u32 = 1;

/** What a byte before does to assertions; entries are numbered with it. Without assertions there is the first alone. */
export const AFTER_OTHER: u32 = 0;
export const AFTER_NEWLINE: u32 = 1;
export const AFTER_WORD: u32 = 2;
export const AFTER_NOTHING: u32 = 3;

/** A way: what entry follows, plus one, in the low 16 bits; the action, 0 for none, above. */
export const WAY_UNKNOWN: u32 = 0;
export const WAY_MATCHED: u32 = 0xffff;
export const WAYS_FULL: u32 = 0xfffe;

/** In the place of a position: the arena is full. */
export const ARENA_FULL: u32 = 0xffffffff;
