// Limits for Parquet files, and failures caused by a file's content.
import { Failed } from '../../protocol/failure.ts';

// Limits for Parquet files only. Limits of cells, rows and columns apply to all formats (../ceilings.ts).

/**
 * Maximum size of the metadata at the end of a file, in bytes. A thousand row groups of a thousand columns need about
 * 100 MB.
 */
export const FOOTER_BYTES_MAX = 128 * 1024 * 1024;

/**
 * Maximum number of Thrift values in the schema, in one row group, and after the row groups. Each of these is read
 * without a pause. The value allows for 65,536 stored columns with 64 values each; writers write about 40.
 */
export const METADATA_VALUES_MAX = 4_194_304;

/** Maximum number of schema elements, groups and columns together: four for each column that a file may have. */
export const SCHEMA_ELEMENTS_MAX = 65_536;

/** Maximum nesting depth of groups. Lists and maps take two levels each. */
export const SCHEMA_DEPTH_MAX = 64;

/** Maximum nesting depth of skipped structs and lists in the metadata. The format itself uses seven levels. */
export const THRIFT_DEPTH_MAX = 32;

/** Maximum decompressed size of a page, in bytes. Writers make pages of 1 MiB, and a few of some 10 MiB. */
export const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Number of bytes read first for a page header. It is read again with more bytes, up to PAGE_HEADER_BYTES_MAX, as it
 * may contain the smallest and the largest value of the page.
 */
export const PAGE_HEADER_BYTES = 1024;
/** See PAGE_HEADER_BYTES. */
export const PAGE_HEADER_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Maximum number of pages without values per column of a row group: a dictionary, and an index for each kind of page.
 */
export const EMPTY_PAGES_MAX = 32;

/**
 * Maximum number of pages for one row of a list, map or struct. Writers begin a page with a row, and a cell has at most
 * 4 MiB.
 */
export const ROW_PAGES_MAX = 1_000;

/** Number of page headers read between two checks of the clock. */
export const HEADERS_AT_ONCE = 256;

/** Maximum number of decimal places. DuckDB supports 38, Arrow 76. */
export const DECIMAL_SCALE_MAX = 256;

/** Maximum size of a decimal's unscaled value, in bytes. */
export const DECIMAL_BYTES_MAX = 128;

/** Maximum number of cells in a batch: 256 KiB of views, so that batches of wide files stay in the cache. */
export const BATCH_CELLS_MAX = 32_768;

/** Size of created JSON in bytes after which a batch ends. */
export const BATCH_JSON_BYTES = 512 * 1024;

/** Maximum nesting depth of lists and objects in a JSON cell. Deeper values are plain text. */
export const JSON_DEPTH_MAX = 200;

// Failures of broken or unsupported Parquet files, with the offset in the file.

/** @param position offset in the file, from 0 */
export function malformedParquet(what: string, position: number): Failed {
  return new Failed('MALFORMED_FILE', `The Parquet file is broken: ${what}, at byte ${position}.`);
}

/** For valid features of the format that this reader does not support. */
export function unsupportedParquet(what: string): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', `The file is Parquet with ${what}, which is not read.`);
}
