// Size limits of an uploaded table, the same in every format. A file that exceeds one fails with MALFORMED_FILE.

/**
 * Maximum size of one cell in bytes, as written in the file with its quotes. Keeps single strings far below V8's limit.
 */
export const CELL_BYTES_MAX = 4 * 1024 * 1024;

/** Maximum size of one row in bytes, without its line break. The node's one large-row arena is sized for it. */
export const ROW_BYTES_MAX = 16 * 1024 * 1024;

/** Maximum number of columns of a file, and of fields in any row: as many as the widest spreadsheet has. */
export const COLUMNS_MAX = 16_384;

/**
 * Maximum size of all column names of a file together, in bytes of UTF-8. Each step of a Run, and its output, may have
 * its own copy of the names. The widest table reaches it with names of 256 bytes.
 */
export const HEADERS_BYTES_MAX = 4 * 1024 * 1024;
