// Memory layouts of compiled patterns and of the automata that match them.

// Memory layout of compiled patterns (assembly/patterns.ts): sizes and byte offsets.

/** Maximum number of items in a pattern: the kernel records where each item's match begins. */
export const ITEMS_MAX: u32 = 64;

/** u32 words of the head. */
export const ITEMS: usize = 0;
export const FROM_START: usize = 4;
export const TO_END: usize = 8;
export const PIECES: usize = 12;
export const REPLACEMENTS_MAX: usize = 16;
export const PIECES_AT: usize = 20;
/** 1 if all character sets are ASCII. */
export const IS_ASCII: usize = 24;
/** Number of leading items that are exactly one character, these characters, and their mask (u64). */
export const LITERALS: usize = 28;
export const LITERALS_OFFSET: usize = 32;
export const MASK_OFFSET: usize = 40;
/** The items follow the head. */
export const HEAD_BYTES: usize = 48;

/** An item: 16 bytes with one bit per ASCII character, u32 minimum and u32 maximum number of repetitions. */
export const ITEM_LEAST: usize = 16;
export const ITEM_MOST: usize = 20;
export const ITEM_BYTES: usize = 32;

/**
 * A piece of a replacement: its kind, then either u32 address and length of a text, or the range of items [from, to)
 * whose match is inserted.
 */
export const PIECE_TEXT: u32 = 0;
export const PIECE_GROUP: u32 = 1;
export const PIECE_FROM: usize = 4;
export const PIECE_TO: usize = 8;
export const PIECE_BYTES: usize = 12;

// Memory layout of a byte automaton (assembly/patterns.ts): the head (u32 words, given as byte offsets) and the
// entries of its transition table.

/** Address of a table of 256 bytes: the class of each byte. */
export const CLASSES: usize = 0;
/** Class of the end of a text. */
export const END_CLASS: usize = 4;
/** Address of the first state's row, or one of the outcomes below. */
export const START: usize = 8;
/** The state's row and the class at which the kernel stopped because the transition has not been built yet. */
export const MISSING_STATE: usize = 12;
export const MISSING_CLASS: usize = 16;
export const AUTOMATON_HEAD_BYTES: usize = 20;

/** A row has one u32 per class: the address of the next state's row, or one of these outcomes. */
export const UNBUILT: u32 = 0;
/** No continuation can match. */
export const DEAD: u32 = 1;
export const MATCHED: u32 = 2;
/** The automaton has more states than fit into its memory. */
export const TOO_MANY: u32 = 3;

// Memory layout of a two-way byte automaton (assembly/patterns.ts): the head (u32 words, given as byte offsets),
// its rows and its actions.
//
// A first pass runs from the end of a text to its start and records the state at each byte, which says what can still
// match from there. A second pass runs forward from a match's start. The recorded states show it which transition to
// take at each byte, so it never backtracks.

/** Address of a table of 256 bytes: the class of each byte. */
export const WAY_CLASSES: usize = 0;
/** Class of the start of a text, where the backward pass ends. */
export const START_CLASS: usize = 4;
/** Row of the state after the last byte, where the backward pass begins. */
export const LAST_ROW: usize = 8;
/** Address of the list of actions, each a u32 count of slots and then the slots. */
export const ACTIONS: usize = 12;
/** Number of slots to clear before each match. */
export const SLOTS: usize = 16;
/**
 * Address of the slots: u32 positions in the current text, 0 for unset. The first two are the start and end of the
 * match.
 */
export const SLOTS_AT: usize = 20;
/** Address of the recorded states: one u32 per byte of the longest accepted text, and one more for its end. */
export const NOTES: usize = 24;
/** Maximum length of a text in bytes. Longer texts are left to the scalar implementation. */
export const LENGTH_MAX: usize = 28;
/** The missing transition at which a kernel stopped: the row, and the class (or, with IS_WAY, the entry). */
export const WANTED_ROW: usize = 32;
export const WANTED_PLACE: usize = 36;
export const WANTED_IS_WAY: usize = 40;
/** Next free address in the arena, which a writing kernel keeps from call to call. */
export const NEXT_FREE: usize = 44;
/** The entry used at the start of a text. */
export const START_ENTRY: usize = 48;
export const MACHINE_BYTES: usize = 52;

/**
 * Head of a row: the address of its forward transitions (0 before they are built), and what to add to the number of an
 * entry that follows this row's byte.
 */
export const ROW_WAYS: usize = 0;
export const ROW_VARIANT: usize = 4;
/**
 * After the head, a row has one u32 per class: the row of the preceding byte, possibly with MAY_START, or one of the
 * two values below.
 */
export const ROW_HEAD_BYTES: usize = 8;
export const NO_ROW: u32 = 0;
/** The automaton has more states than fit into its memory. */
export const ROWS_FULL: u32 = 2;
/**
 * Flag: a match may begin at the current byte, seen from the preceding one. Row addresses are even, so this bit is
 * free.
 */
export const MAY_START: u32 = 1;

/**
 * Effect of the preceding byte on assertions. Entries are numbered with this value. Patterns without assertions use
 * only the first.
 */
export const AFTER_OTHER: u32 = 0;
export const AFTER_NEWLINE: u32 = 1;
export const AFTER_WORD: u32 = 2;
export const AFTER_NOTHING: u32 = 3;

/**
 * A forward transition: the next entry plus one in the low 16 bits, and the action (0 for no action) in the high 16
 * bits.
 */
export const WAY_UNKNOWN: u32 = 0;
export const WAY_MATCHED: u32 = 0xffff;
export const WAYS_FULL: u32 = 0xfffe;

/** Returned instead of a position when the arena is full. */
export const ARENA_FULL: u32 = 0xffffffff;
