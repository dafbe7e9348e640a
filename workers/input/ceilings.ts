// Ceilings of an uploaded file's shape: what lies above them is MALFORMED_FILE, in every format.

/** Bytes of one cell as it stands in the file, quotes included: keeps single strings far below what V8 can hold. */
export const CELL_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes of one row without its line break: what the node's one large-row arena is made for. */
export const ROW_BYTES_MAX = 16 * 1024 * 1024;

/** Columns of a file, and fields of any of its rows: as many as the widest spreadsheet has. */
export const COLUMNS_MAX = 16_384;
