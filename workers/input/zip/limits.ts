// Ceilings of a ZIP archive. Sizes that the archive declares are claims: what counts is what comes out of it.

/** Entries of an archive: a workbook with thousands of sheets and pictures stays below. Each takes 200 bytes of heap. */
export const ENTRIES_MAX = 20_000;

/** Bytes of the central directory: entries with names of some hundred bytes each. */
export const DIRECTORY_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes that all entries of one archive may inflate to together, unless the service allows less. */
export const INFLATED_BYTES_MAX = 8 * 1024 * 1024 * 1024;

/**
 * Inflated bytes per compressed byte of a stretch of an entry. Sheets of equal rows reach 60, the most that deflate can do is 1,032, and
 * only runs of one short pattern come near.
 */
export const INFLATION_RATIO_MAX = 200;

/** Inflated bytes of a stretch whose ratio is looked at, so that a small sheet of equal cells is no bomb. */
export const RATIO_FREE_BYTES = 16 * 1024 * 1024;

/** Compressed bytes that are read at a time. */
export const COMPRESSED_PIECE_BYTES = 64 * 1024;

/** Inflated bytes that are handed on at a time; twice as many lie ready at most. */
export const INFLATED_PIECE_BYTES = 256 * 1024;

/** Declared bytes up to which an entry is inflated at once: that takes less than a way through the thread pool and back. */
export const AT_ONCE_BYTES_MAX = 128 * 1024;
