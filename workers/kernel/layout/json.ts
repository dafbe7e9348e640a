// Memory layout shared by the JSON kernels and their callers: the state, the table of keys, and the codes of syntax
// errors.

// The state: u32 words, given as byte offsets. The caller sets them, and the kernel updates those marked "out".

/** In and out: address at which to continue reading, after the last complete record or token. */
export const AT: usize = 0;
/** Number of line feeds passed so far, and the address after the last one (0: no line feed yet). */
export const LINES: usize = 4;
export const LINE_START: usize = 8;
/** Out: why the kernel stopped, one of the STATUS codes. */
export const STATUS: usize = 12;
/** Out, with STATUS_ERROR: address of the error, and its code (below). */
export const ERROR_AT: usize = 16;
export const ERROR: usize = 20;
/** Out: number of records read by this call. */
export const ROWS: usize = 24;
/** Position between records, one of the PHASE codes. */
export const PHASE: usize = 28;
/** FORM bits. */
export const FORM: usize = 32;
/** Addresses of the cells, column by column: views of 8 bytes and kinds of one byte. STRIDE: rows reserved per column. */
export const VIEWS: usize = 36;
export const KINDS: usize = 40;
export const STRIDE: usize = 44;
/** One byte per column: 1 if one of its cells must still be normalised (KIND_UNSETTLED). */
export const UNSETTLED: usize = 48;
/** Number of columns, for records that are lists. */
export const COLUMNS: usize = 52;
export const EMPTY_IS_NULL: usize = 56;
/** The table of keys. */
export const NODES: usize = 60;
export const NODE_COUNT: usize = 64;
export const NODES_MAX: usize = 68;
/** Hash table of u32 node numbers (0: free slot), and the number of slots (a power of two) minus one. */
export const SLOTS: usize = 72;
export const SLOT_MASK: usize = 76;
export const KEYS_NEXT: usize = 80;
export const KEYS_LIMIT: usize = 84;
export const SEED: usize = 88;
/** KEY_BYTES_MAX bytes in which a key is unescaped. */
export const SCRATCH: usize = 92;
/** TRAVERSAL_DEPTH_MAX bytes: stack of the brackets open at the current position. */
export const STACK: usize = 96;
/** Number of brackets open at AT, during a traversal. */
export const DEPTH: usize = 100;
export const CELL_BYTES_MAX: usize = 104;
/** Maximum number of members of one record. */
export const MEMBERS_MAX: usize = 108;
/** Number of levels of nested objects that become columns. 0: nested objects stay JSON cells. */
export const FLATTEN: usize = 112;
/** 0: do not predict a key from the preceding one. */
export const GUESSES: usize = 116;
/** 0: do not add unknown keys to the table. */
export const LEARNS: usize = 120;
/**
 * One entry (EXTRA words) for each record that is a list with too few cells, or with non-empty cells after the last
 * column, and for each record that is an object with lost cells; and their number. Address 0: not recorded.
 */
export const EXTRAS: usize = 124;
export const EXTRA_COUNT: usize = 128;
/** Out: number of members of the last record. */
export const MEMBERS: usize = 132;
/**
 * Traversal: values nested at most this deep are reported as events. For an event inside an object: the address range
 * of its key, without quotes.
 */
export const STOP_DEPTH: usize = 136;
export const KEY_START: usize = 140;
export const KEY_END: usize = 144;
/** Node of the key just read. 0: the key is not in the table. */
export const FOUND: usize = 148;
/** FLATTEN_LEVELS_MAX u32 words: the objects that enclose the current member. */
export const PARENTS: usize = 152;
/** Number of filled cells of the current record that were replaced, because their key occurs again. */
export const REPLACED: usize = 156;
export const STATE_BYTES: usize = 192;

/**
 * u32 words of an entry. For a list: row, and the addresses of the text after the last column (0, 0: the row is too
 * short). For an object: row, and the number of lost cells (REPLACED).
 */
export const EXTRA_ROW: usize = 0;
export const EXTRA_START: usize = 4;
export const EXTRA_END: usize = 8;
export const EXTRA_REPLACED: usize = 4;
export const EXTRA_BYTES: usize = 12;

export const FLATTEN_LEVELS_MAX: u32 = 8;

/** The rest of the window contains no complete record or token. */
export const STATUS_MORE: u32 = 0;
/** The requested number of rows was read. */
export const STATUS_FULL: u32 = 1;
/** The closing bracket of the list of records was passed. */
export const STATUS_LIST_END: u32 = 2;
export const STATUS_ERROR: u32 = 3;
/** The table of keys is full. */
export const STATUS_KEYS_FULL: u32 = 4;
/** The traversal reports the value that begins at AT. */
export const STATUS_EVENT: u32 = 5;
/** The traversal has passed its value. */
export const STATUS_DONE: u32 = 6;

/** The records are items of a list. Without this bit they follow each other directly. */
export const FORM_LIST: u32 = 1;
/** Each record is a list itself. */
export const FORM_ROWS_ARE_LISTS: u32 = 2;

/** Phases of reading: before the first record, after a record, after a comma. */
export const PHASE_FIRST: u32 = 0;
export const PHASE_BEHIND: u32 = 1;
export const PHASE_NEXT: u32 = 2;

/** Phases of a traversal: before a value, after an opening bracket, before a key, before an item, after a value. */
export const TRAVERSAL_VALUE: u32 = 0;
export const TRAVERSAL_FIRST: u32 = 1;
export const TRAVERSAL_KEY: u32 = 2;
export const TRAVERSAL_ITEM: u32 = 3;
export const TRAVERSAL_BEHIND: u32 = 4;

/**
 * Words of a node, given as byte offsets. A node is a key within the objects of one parent. Node 0 is the record itself
 * and has no key.
 */
export const NODE_KEY: usize = 0;
export const NODE_KEY_BYTES: usize = 4;
/** Number of bytes of the key as most files write it, with quotes and colon. 0: this key is never predicted. */
export const NODE_GUESS_BYTES: usize = 8;
export const NODE_HASH: usize = 12;
export const NODE_PARENT: usize = 16;
/** Node of the key that followed this one in the previous record. */
export const NODE_NEXT: usize = 20;
/** i32, negative if the cells of this key are not needed. */
export const NODE_COLUMN: usize = 24;
/** SEEN bits. */
export const NODE_SEEN: usize = 28;
/** GUESS_BYTES_MAX bytes. */
export const NODE_GUESS: usize = 32;
export const NODE_SHIFT: usize = 6;

export const GUESS_BYTES_MAX: usize = 32;

export const SEEN_VALUE: u32 = 1;
export const SEEN_NULL: u32 = 2;
export const SEEN_OBJECT: u32 = 4;

/** A cell copied unchanged from the file: a string with escapes, or JSON with white space. */
export const KIND_UNSETTLED: u32 = 0x80;

/** Maximum length of a key in bytes, larger than that of any requested header. */
export const KEY_BYTES_MAX: usize = 65_536;

/** Maximum depth of brackets in one cell. Other readers of JSON cells have the same limit. */
export const DEPTH_MAX: u32 = 200;

/** Maximum depth in a whole file. It is larger because the cells are inside other brackets. */
export const TRAVERSAL_DEPTH_MAX: u32 = 256;

/** A valid text can look invalid within this many bytes of the window's end, because its continuation is missing. */
export const LOOK_BYTES: usize = 16;

/**
 * Flag in the end address of a string with escapes, or of a value with white space, and in the length of an unescaped
 * text in which a lone surrogate was replaced. All addresses are below this bit.
 */
export const MARKED: usize = 0x8000_0000;

/** Error codes: what was expected, or which limit was exceeded. */
export const EXPECTED_VALUE: u32 = 1;
export const EXPECTED_KEY: u32 = 2;
export const EXPECTED_KEY_OR_BRACE: u32 = 3;
export const EXPECTED_COLON: u32 = 4;
export const EXPECTED_COMMA_OR_BRACE: u32 = 5;
export const EXPECTED_COMMA_OR_BRACKET: u32 = 6;
export const EXPECTED_QUOTE: u32 = 7;
export const EXPECTED_ESCAPE: u32 = 8;
export const EXPECTED_DIGIT: u32 = 9;
export const EXPECTED_OBJECT: u32 = 10;
export const EXPECTED_LIST: u32 = 11;
export const TOO_DEEP: u32 = 12;
export const CELL_TOO_LONG: u32 = 13;
export const KEY_TOO_LONG: u32 = 14;
export const TOO_MANY_MEMBERS: u32 = 15;
export const KEYS_FULL: u32 = 16;
export const KEY_SURROGATE: u32 = 17;
