// Memory layouts and constants shared by the kernels that read workbooks and their callers.

// Memory layout shared by the kernel that reads the rows of a sheet (assembly/read-sheet.ts) and its callers: u32 words
// of the state, given as byte offsets.

/** In and out: address at which to continue reading, the first byte of a tag. */
export const AT: usize = 0;
/** Out: why the kernel stopped, one of the STATUS codes below. */
export const STATUS: usize = 4;
/** In: maximum number of sheet rows to complete in one call. Out: how many were completed. */
export const CLOSED_MAX: usize = 8;
export const CLOSED: usize = 12;

// Position in the sheet, in and out.
/** 1 after a row's opening tag. */
export const IS_IN_ROW: usize = 16;
/** Number of the row that began last, from 1. */
export const ROW: usize = 20;
/** Column of the next cell that does not state its own. */
export const NEXT_COLUMN: usize = 24;
/** 1 if the current row is outside the requested rows. */
export const IS_LEFT_OUT: usize = 28;

// Requested cells.
export const FIRST_ROW: usize = 32;
export const LAST_ROW: usize = 36;
/** 1: skip rows that the file marks as hidden. */
export const SKIPS_HIDDEN: usize = 40;
/**
 * COLUMNS_MAX i32 words that map each sheet column to a table column, negative if the column is skipped. Address 0: the
 * columns are the same.
 */
export const COLUMNS_MAP: usize = 44;
/** Prefix of element names with its colon: the bytes are stored here. */
export const PREFIX: usize = 48;

// Interpretation of cells.
/** One byte per style (one of the MEANING codes), and the number of styles. */
export const STYLES: usize = 68;
export const STYLES_COUNT: usize = 72;
export const IS_1904: usize = 76;
/**
 * u32 addresses of pages, each with entries of u32 address and u32 length (layout/shared-strings.ts), and the number of
 * shared strings.
 */
export const SHARED_PAGES: usize = 80;
export const SHARED_COUNT: usize = 84;
/** Out: bytes of shared strings in the completed rows. In and out: bytes of shared strings in the current row. */
export const SHARED_BYTES: usize = 88;
export const SHARED_ROW_BYTES: usize = 92;

// Where to store cells.
/**
 * For each row of a column, a view of 8 bytes and a kind of one byte. STRIDE is the number of rows from one column to
 * the next.
 */
export const VIEWS: usize = 96;
export const KINDS: usize = 100;
export const STRIDE: usize = 104;
export const COLUMNS: usize = 108;
/** In and out: number of rows so far, and the next address for texts. In: the end of their memory. */
export const ROWS: usize = 112;
export const TEXTS_AT: usize = 116;
export const ROWS_MAX: usize = 120;
export const TEXTS_END: usize = 124;
/** Minimum number of free bytes to begin a row. */
export const FREE_BYTES_MIN: usize = 128;
/** 1: count rows without storing their cells. */
export const IS_COUNTING: usize = 132;
/** Sheet rows before this one are skipped. */
export const FIRST_DATA_ROW: usize = 136;
/** The list of null texts (layout/null-texts.ts, 0: no list), and whether the empty text means null. */
export const NULL_TEXTS: usize = 140;
export const EMPTY_IS_NULL: usize = 144;
/** 1: a cell after the last column is left to the other reader. */
export const LEAVES_WIDE: usize = 148;

// The current row, in and out.
export const IS_PASSED_OVER: usize = 152;
export const IS_BLANK: usize = 156;
export const IS_WIDE: usize = 160;
export const ROW_BYTES: usize = 164;
/** The row has a cell with an empty text, which is dropped if the row turns out to be blank. */
export const HAS_EMPTY: usize = 168;

// Limits.
export const COLUMNS_MAX: usize = 172;
export const ROW_BYTES_MAX: usize = 176;

/** One u32 per row: its number in the sheet. */
export const SHEET_ROWS: usize = 180;

export const STATE_BYTES: usize = 192;

/** Larger than any possible number of free bytes. */
export const NEVER_FREE: u32 = 0xffffffff;

/** Meaning of a number in a cell of this style. */
export const MEANING_PLAIN: u32 = 0;
export const MEANING_DATE: u32 = 1;
export const MEANING_DATE_TIME: u32 = 2;
export const MEANING_TIME: u32 = 3;

/** Maximum row number, limited by 31 bits. */
export const ROW_NUMBER_MAX: u32 = 0x7fffffff;

// Constants shared by the kernels that read XML and their callers.

/**
 * Number of `<` bytes that must follow the text which a kernel reads, so that its loops over digits and letters stop
 * there.
 */
export const FENCE_BYTES: usize = 32;

/** Namespace prefix of a part's element names, with its colon: a word for its length, then its bytes. */
export const PREFIX_BYTES_MAX: usize = 16;
export const PREFIX_WORD_BYTES: usize = 4;

/** Why a kernel stopped: the rest of the window contains no complete tag or cell. */
export const STATUS_MORE: u32 = 0;
/** The batch is full, or the requested number of rows was completed. */
export const STATUS_FULL: u32 = 1;
/** The next element needs another reader: it is the end of the rows, a rare form, or an error. */
export const STATUS_LEFT: u32 = 2;
