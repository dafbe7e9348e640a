// The ceiling of one cell that an operation computes.

/** Bytes of UTF-8, the same as for a cell that is read. A longer one is the row error TOO_LONG. */
export const CELL_BYTES_MAX = 4 * 1024 * 1024;
