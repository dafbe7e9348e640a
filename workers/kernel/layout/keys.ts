// The bytes of keys, and the tables that hold them or their fingerprints.

/** A key of one decimal: its digits, then its scale. */
export const DECIMAL_KEY_BYTES: usize = 9;

/** In a composed key, in place of a column's length: the length follows in four bytes. */
export const LONG: usize = 255;

/** How the key of a typed value is made. */
export const KEY_WORD: u32 = 0;
export const KEY_DOUBLE: u32 = 1;
export const KEY_BOOLEAN: u32 = 2;
export const KEY_DECIMAL: u32 = 3;

/** The head of a table of keys or fingerprints, u32 words as byte offsets. */
export const TABLE_SLOTS: usize = 0;
/** The number of slots, a power of two, less one. */
export const TABLE_MASK: usize = 4;
export const TABLE_HELD: usize = 8;
export const TABLE_HELD_MAX: usize = 12;
/** Next free address of what the slots point to, and where that ends. */
export const TABLE_NEXT: usize = 16;
export const TABLE_LIMIT: usize = 20;
export const TABLE_BYTES: usize = 24;

/** u32 low half of the hash, u32 address of the key, u32 its length, u32 its id. */
export const KEY_SLOT_BYTES: usize = 16;

/** u32 first word of the fingerprint, u32 address of the other three. */
export const PRINT_SLOT_BYTES: usize = 8;
/** Of a fingerprint: four u32, of which the first places it and the second may part files. */
export const PRINT_BYTES: usize = 16;
/** What a set of fingerprints holds of each beside its slot. */
export const REST_BYTES: usize = 12;

/** In place of an id: a table or set does not hold it; a set held it before. */
export const ABSENT: u32 = 0xffffffff;
export const KNOWN: u32 = 0xfffffffe;
