// Ceilings of Parquet files that are this reader's own. Those of cells, rows and columns are every format's (../ceilings.ts).

/** Bytes of the metadata at the end of a file: a thousand row groups of a thousand columns have some 100 MB. */
export const FOOTER_BYTES_MAX = 128 * 1024 * 1024;

/** Elements of a schema, groups and columns together: four for each column that a file may have. */
export const SCHEMA_ELEMENTS_MAX = 65_536;

/** Groups inside each other: lists and maps take two each. */
export const SCHEMA_DEPTH_MAX = 64;

/** Structs and lists of the metadata inside each other that are skipped: the format itself has seven. */
export const THRIFT_DEPTH_MAX = 32;

/** Bytes of one page, not compressed; writers make pages of 1 MiB, and a few of some 10 MiB. */
export const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of a page header that are read at first, and at most: it may hold the smallest and the largest value of the page. */
export const PAGE_HEADER_BYTES = 1024;
/** See PAGE_HEADER_BYTES. */
export const PAGE_HEADER_BYTES_MAX = 4 * 1024 * 1024;

/** Digits behind the point of a decimal: DuckDB and Arrow end at 38 and 76. */
export const DECIMAL_SCALE_MAX = 256;

/** Bytes of a decimal's unscaled value. */
export const DECIMAL_BYTES_MAX = 128;

/** Cells of a batch at most, so that a wide file's batches stay in the cache: 256 KiB of views. */
export const BATCH_CELLS_MAX = 32_768;

/** Bytes of made JSON after which a batch ends. */
export const BATCH_JSON_BYTES = 512 * 1024;

/** Lists and objects inside each other in a cell that says it is JSON; deeper ones are plain text. */
export const JSON_DEPTH_MAX = 200;
