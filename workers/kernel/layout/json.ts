// What the JSON kernels and their callers share: the state, the table of keys, and what was expected where a text is no JSON.

/** u32 words of the state, in and out, as byte offsets. Where reading goes on: behind the last complete record, or token. */
export const AT: usize = 0;
/** Line feeds passed so far, and the address behind the last of them; 0 = none was passed. */
export const LINES: usize = 4;
export const LINE_START: usize = 8;
/** Out: why the kernel stopped, one of the STATUS words. */
export const STATUS: usize = 12;
/** Out, with STATUS_TROUBLE: where, and one of the words below. */
export const TROUBLE_AT: usize = 16;
export const TROUBLE: usize = 20;
/** Out: records read by this call. */
export const ROWS: usize = 24;
/** Between records: one of the PHASE words. */
export const PHASE: usize = 28;
/** FORM bits. */
export const FORM: usize = 32;
/** A view of 8 bytes and a kind of one byte for each row of a column, STRIDE of them from column to column. */
export const VIEWS: usize = 36;
export const KINDS: usize = 40;
export const STRIDE: usize = 44;
/** A byte for each column: 1 where a cell of it is to be settled (KIND_UNSETTLED). */
export const UNSETTLED: usize = 48;
/** Of records that are lists. */
export const COLUMNS: usize = 52;
export const EMPTY_IS_NULL: usize = 56;
/** The table of keys. */
export const NODES: usize = 60;
export const NODE_COUNT: usize = 64;
export const NODES_MAX: usize = 68;
/** u32 numbers of nodes by their hash, 0 = free; a power of two, less one. */
export const SLOTS: usize = 72;
export const SLOT_MASK: usize = 76;
export const KEYS_NEXT: usize = 80;
export const KEYS_LIMIT: usize = 84;
export const SEED: usize = 88;
/** KEY_BYTES_MAX bytes for a key while it is unescaped. */
export const SCRATCH: usize = 92;
/** WALK_DEPTH_MAX bytes: the brackets around a place. */
export const STACK: usize = 96;
/** Brackets open around AT, in a walk. */
export const DEPTH: usize = 100;
export const CELL_BYTES_MAX: usize = 104;
/** Members of one record at most. */
export const MEMBERS_MAX: usize = 108;
/** Objects inside each other that become columns; 0: none does. */
export const FLATTEN: usize = 112;
/** 0: no key is guessed from the one before it. */
export const GUESSES: usize = 116;
/** 0: unknown keys are not added to the table. */
export const LEARNS: usize = 120;
/** u32 numbers of the rows that are lists with filled cells behind the last column, and how many there are. */
export const EXTRAS: usize = 124;
export const EXTRA_COUNT: usize = 128;
/** Out: members of the last record. */
export const MEMBERS: usize = 132;
/** Of a walk: values at most so deep are events; of an event in an object, its key without the quotes. */
export const STOP_DEPTH: usize = 136;
export const KEY_START: usize = 140;
export const KEY_END: usize = 144;
/** Node that a key was found to be; 0: it is not in the table. */
export const FOUND: usize = 148;
/** FLATTEN_LEVELS_MAX u32 for the objects around a member. */
export const PARENTS: usize = 152;
export const STATE_BYTES: usize = 192;

export const FLATTEN_LEVELS_MAX: u32 = 8;

/** No complete record or token is left before the end. */
export const STATUS_MORE: u32 = 0;
/** As many rows as were wanted. */
export const STATUS_FULL: u32 = 1;
/** The bracket that closes the list of records was passed. */
export const STATUS_LIST_END: u32 = 2;
export const STATUS_TROUBLE: u32 = 3;
/** The table of keys has no room for one more. */
export const STATUS_KEYS_FULL: u32 = 4;
/** A walk stands before a value. */
export const STATUS_EVENT: u32 = 5;
/** A walk is behind its value. */
export const STATUS_DONE: u32 = 6;

/** Records stand in a list; without it one after the other. */
export const FORM_LIST: u32 = 1;
/** Records are lists themselves. */
export const FORM_ROWS_ARE_LISTS: u32 = 2;

/** Of reading: before the first record, behind a record, behind a comma. */
export const PHASE_FIRST: u32 = 0;
export const PHASE_BEHIND: u32 = 1;
export const PHASE_NEXT: u32 = 2;

/** Of a walk: before a value, behind an opening bracket, before a key, before an item, behind a value. */
export const WALK_VALUE: u32 = 0;
export const WALK_FIRST: u32 = 1;
export const WALK_KEY: u32 = 2;
export const WALK_ITEM: u32 = 3;
export const WALK_BEHIND: u32 = 4;

/** Words of a node as byte offsets: a key in the objects of one parent. Node 0 is the record itself, and no key. */
export const NODE_KEY: usize = 0;
export const NODE_KEY_BYTES: usize = 4;
/** Bytes of the key as it stands in most files, with quotes and colon; 0: it is never guessed. */
export const NODE_GUESS_BYTES: usize = 8;
export const NODE_HASH: usize = 12;
export const NODE_PARENT: usize = 16;
/** Node of the key that came after this one last time. */
export const NODE_NEXT: usize = 20;
/** i32, below 0: its cells are not wanted. */
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

/** A cell as it stands in the file: with escapes, or JSON with white space. */
export const KIND_UNSETTLED: u32 = 0x80;

/** Longer keys than any header that is looked for, in bytes. */
export const KEY_BYTES_MAX: usize = 65_536;

/** Brackets inside each other in one cell: as deep as JSON in a cell is read. */
export const DEPTH_MAX: u32 = 200;

/** The same in a whole file: with room for what may stand around its cells. */
export const WALK_DEPTH_MAX: u32 = 256;

/** A text may look broken this near to an end behind which it goes on. */
export const LOOK_BYTES: usize = 16;

/** Bit of a string's end that holds escapes, and of a value's end that holds white space: addresses are below it. */
export const MARKED: usize = 0x8000_0000;

/** What was expected, or is too much. */
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
