// Ceilings of a workbook's parts.

/** Elements within each other: sheets need 6, styles and tables 8. */
export const XML_DEPTH_MAX = 64;

/** Bytes of a part that is read as a whole (relationships, workbook, styles, a table): the largest styles seen take 12 MiB. */
export const PART_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes of a sheet or of the shared strings that are looked at at a time; it grows to hold one larger cell. */
export const WINDOW_BYTES = 512 * 1024;

/** Bytes of another part that are looked at at a time: most are smaller. */
export const SMALL_WINDOW_BYTES = 32 * 1024;

/** Bytes of one cell with its markup: a text of CELL_BYTES_MAX whose every third character is escaped fits. */
export const WINDOW_BYTES_MAX = 16 * 1024 * 1024;

/** Shared strings of a workbook: 16 for each row that a sheet can have. They take 8 bytes each beside their text. */
export const SHARED_STRINGS_MAX = 16 * 1024 * 1024;

/** Bytes of all shared strings together: what 32-bit offsets reach with room to spare. */
export const SHARED_STRING_BYTES_MAX = 2 * 1024 * 1024 * 1024;

/** Cell formats of a workbook, and number formats of its own: spreadsheet programs have 65,490 at most. */
export const STYLES_MAX = 65_536;

/** Links of one part to others: a sheet has some, a workbook one for each sheet. */
export const RELATIONSHIPS_MAX = 20_000;

/** Merged cells of a sheet whose values are repeated: each takes 60 bytes. */
export const MERGED_RANGES_MAX = 65_536;

/** Bytes of all merged values that are repeated in one row: titles and groups, which are short. */
export const MERGED_BYTES_MAX = 1024 * 1024;

/** Sheets of a workbook: spreadsheet programs give up far below. */
export const SHEETS_MAX = 10_000;
