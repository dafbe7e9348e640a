// Memory layouts of row keys, of sort keys, and of the tables that hold keys.

// Memory layout of row keys, and of the hash tables that hold keys or their fingerprints.

/** Size of a key made of one decimal: its digits, then its scale. */
export const DECIMAL_KEY_BYTES: usize = 9;

/** In a composed key, stored instead of a column's length when the length follows in four bytes. */
export const LONG: usize = 255;

/** Encodings of a typed value as a key. */
export const KEY_WORD: u32 = 0;
export const KEY_DOUBLE: u32 = 1;
export const KEY_BOOLEAN: u32 = 2;
export const KEY_DECIMAL: u32 = 3;

/** Head of a table of keys or fingerprints, u32 words given as byte offsets. */
export const TABLE_SLOTS: usize = 0;
/** Number of slots (a power of two) minus one. */
export const TABLE_MASK: usize = 4;
export const TABLE_HELD: usize = 8;
export const TABLE_HELD_MAX: usize = 12;
/** Next free address of the memory that the slots point into, and the end of that memory. */
export const TABLE_NEXT: usize = 16;
export const TABLE_LIMIT: usize = 20;
export const TABLE_BYTES: usize = 24;

/** A slot of a key: u32 low half of the hash, u32 address of the key, u32 its length, u32 its id. */
export const KEY_SLOT_BYTES: usize = 16;

/** A slot of a fingerprint: u32 first word of the fingerprint, u32 address of the other three words. */
export const PRINT_SLOT_BYTES: usize = 8;
/** Size of a fingerprint: four u32 words. The first selects the slot, and the second can select the partition file. */
export const PRINT_BYTES: usize = 16;
/** Bytes that a set of fingerprints stores per fingerprint outside its slot. */
export const REST_BYTES: usize = 12;

/** Returned instead of an id. ABSENT: not in the table or set. KNOWN: already in the set. */
export const ABSENT: u32 = 0xffffffff;
export const KNOWN: u32 = 0xfffffffe;

// Memory layout of the hash table of short keys.

/** Maximum length of a key in this table, in bytes. */
export const SHORT_KEY_BYTES_MAX: u32 = 16;

/** Head of the table, u32 words given as byte offsets: number of keys, and its maximum. The slots follow. */
export const HELD: usize = 0;
export const HELD_MAX: usize = 4;
export const SLOTS_AT: usize = 16;

/** A slot: 16 bytes of key, u32 number + 1 (0: free). */
export const SLOT_NUMBER: usize = 16;
export const SLOT_BYTES: usize = 32;

/** Number of slots, a power of two. At most half of them are used. */
export const SLOT_BITS: u32 = 12;
export const SLOTS: usize = 4096;
export const KEY_CACHE_KEYS_MAX: u32 = 2048;
export const KEY_CACHE_BYTES: usize = SLOTS_AT + SLOTS * SLOT_BYTES;

// Memory layout of sort keys, and of the sort terms from which they are built (assembly/sort.ts).

/** Kinds of a term's values. */
export const TEXT: u32 = 0;
export const INTEGER: u32 = 1;
export const DECIMAL: u32 = 2;
export const NUMBER: u32 = 3;
export const BOOLEAN: u32 = 4;

/** First byte of each column within a key. */
export const NULL_FIRST: u8 = 0;
export const VALUE: u8 = 1;
export const NULL_LAST: u8 = 2;

/**
 * Encoded value of zero. The signed exponents of decimals are encoded above and below it, with a bias larger than any
 * number of their digits.
 */
export const ZERO: u32 = 0x8000;
export const EXPONENT_BIAS: u32 = 2048;

/**
 * A sort term, u32 words given as byte offsets: kind, values or views, meta, whether the order is descending, whether
 * nulls come first.
 */
export const TERM_KIND: usize = 0;
export const TERM_VALUES: usize = 4;
export const TERM_META: usize = 8;
export const TERM_DESCENDING: usize = 12;
export const TERM_NULLS_FIRST: usize = 16;
export const TERM_BYTES: usize = 20;
