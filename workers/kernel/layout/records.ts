// Memory layout of rows stored as records: descriptions of the columns that records are written from or read into, and
// the entries by which records are sorted.

/** Description of a column, u32 words given as byte offsets: kind, address, and address of meta. */
export const COLUMN_KIND: usize = 0;
export const COLUMN_AT: usize = 4;
export const COLUMN_META: usize = 8;
export const COLUMN_BYTES: usize = 12;

export const KIND_VIEWS: u32 = 0;
export const KIND_TYPED: u32 = 1;
/** One byte per row. Address 0 means that all bytes are zero. */
export const KIND_BYTES: u32 = 2;

/** A sort entry: u64 first 8 bytes of the key as a number, u32 address of the record, u32 unused. */
export const ENTRY_BYTES: usize = 16;
export const ENTRY_RECORD: usize = 8;

/** Number of values of a radix-sort digit, and size of its counters in bytes. */
export const DIGITS: usize = 2048;
export const SORT_COUNTS_BYTES: usize = DIGITS * 4;
