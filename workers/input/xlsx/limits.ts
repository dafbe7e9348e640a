// Limits for workbooks, and failures caused by a workbook's content.
import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';

// Limits for the parts of a workbook.

/** Maximum nesting depth of elements. Sheets need 6, styles and tables 8. */
export const XML_DEPTH_MAX = 64;

/**
 * Maximum size of a part that is read as a whole (relationships, workbook, styles, a table), in bytes. The largest
 * styles seen have 12 MiB.
 */
export const PART_BYTES_MAX = 32 * 1024 * 1024;

/** Maximum size of one tag or text of such a part, in bytes. */
export const SMALL_WINDOW_BYTES_MAX = 1024 * 1024;

/** Maximum number of attributes of one element in such a part. The elements that are read have fewer than 20. */
export const ATTRIBUTES_MAX = 1_000;

/** Maximum size of one attribute in such a part, in bytes. A number format has at most 255 characters. */
export const ATTRIBUTE_BYTES_MAX = 32 * 1024;

/** Initial size of the window over a sheet or the shared strings, in bytes. The window grows for a larger cell. */
export const WINDOW_BYTES = 512 * 1024;

/** Initial size of the window over any other part, in bytes. Most of these parts are smaller. */
export const SMALL_WINDOW_BYTES = 32 * 1024;

/**
 * Maximum size of one cell with its markup, in bytes. A text of CELL_BYTES_MAX fits if every third character is
 * escaped.
 */
export const WINDOW_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Maximum number of shared strings of a workbook: 16 for each possible row of a sheet. Each takes 8 bytes in addition
 * to its text.
 */
export const SHARED_STRINGS_MAX = 16 * 1024 * 1024;

/** Maximum size of all shared strings together, in bytes. 32-bit offsets can address it with space to spare. */
export const SHARED_STRING_BYTES_MAX = 2 * 1024 * 1024 * 1024;

/** Maximum number of cell formats, and of custom number formats, of a workbook. Spreadsheet programs allow 65,490. */
export const STYLES_MAX = 65_536;

/** Maximum number of relationships of one part. A workbook has one per sheet. */
export const RELATIONSHIPS_MAX = 20_000;

/**
 * Maximum number of merged ranges whose values are repeated, in all sheets that are read together. Each takes 60 bytes.
 */
export const MERGED_RANGES_MAX = 65_536;

/**
 * Maximum size of all repeated merged values in one row, in bytes. Such values are titles and groups, which are short.
 */
export const MERGED_BYTES_MAX = 1024 * 1024;

/**
 * Maximum number of cells in the rows used to find the header, including blank cells before others. Each takes at least
 * 8 bytes.
 */
export const SAMPLE_CELLS_MAX = 100_000;

/** Maximum number of sheets of a workbook. Spreadsheet programs fail far below. */
export const SHEETS_MAX = 10_000;

/**
 * Maximum number of tags and texts in one cell. A cell is read without a pause, and a part takes about 100 ns. A cell of
 * 32,767 characters, the most that spreadsheet programs allow, has 400,000 if its format changes at nearly each of them.
 */
export const CELL_PARTS_MAX = 400_000;

// Failures of damaged workbooks. A message says which rule is broken and contains nothing of the content.

/** @param reason continues "The workbook is damaged: " */
export function malformedWorkbook(reason: string): Failed {
  return new Failed('MALFORMED_FILE', `The workbook is damaged: ${reason}.`);
}

/**
 * Adds the part of the workbook to a failure.
 * @param part for example "In its styles"
 */
export function* inPart<T>(part: () => string, reading: Coroutine<T>): Coroutine<T> {
  try {
    return yield* reading;
  } catch (error) {
    if (!(error instanceof Failed) || error.failure.code !== 'MALFORMED_FILE') throw error;
    throw new Failed('MALFORMED_FILE', `${error.failure.message} (In ${part()}.)`);
  }
}
