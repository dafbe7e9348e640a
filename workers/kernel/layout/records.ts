// Rows as records: how the columns are described from which they are written or into which they are read, and the entries by
// which records are sorted.

/** Of a column, u32 words as byte offsets: its kind, address, and address of meta. */
export const COLUMN_KIND: usize = 0;
export const COLUMN_AT: usize = 4;
export const COLUMN_META: usize = 8;
export const COLUMN_BYTES: usize = 12;

export const KIND_VIEWS: u32 = 0;
export const KIND_TYPED: u32 = 1;
/** A byte for each row; at address 0 all are zero. */
export const KIND_BYTES: u32 = 2;

/** u64 the key's first 8 bytes as a number, u32 address of the record, u32 unused. */
export const ENTRY_BYTES: usize = 16;
export const ENTRY_RECORD: usize = 8;

/** Values of a digit by which entries are sorted, and bytes of their counters. */
export const DIGITS: usize = 2048;
export const SORT_COUNTS_BYTES: usize = DIGITS * 4;
