// What the kernel that reads the rows of a sheet (assembly/read-sheet.ts) and its callers share: u32 words of the state as
// byte offsets.

/** In and out: where reading goes on, the first byte of a tag. */
export const AT: usize = 0;
/** Out: why the kernel stopped (layout/xml.ts). */
export const STATUS: usize = 4;
/** In: rows of the sheet that may end in one call. Out: how many did. */
export const CLOSED_MAX: usize = 8;
export const CLOSED: usize = 12;

// The place in the sheet, in and out.
/** 1 behind a row's opening tag. */
export const IS_IN_ROW: usize = 16;
/** Number of the row that was begun last, from 1. */
export const ROW: usize = 20;
/** Column of the next cell that does not name its own. */
export const NEXT_COLUMN: usize = 24;
/** The row is none of those that are wanted. */
export const IS_LEFT_OUT: usize = 28;

// Which cells are wanted.
export const FIRST_ROW: usize = 32;
export const LAST_ROW: usize = 36;
/** 1: rows that say that they are hidden are left out. */
export const SKIPS_HIDDEN: usize = 40;
/** COLUMNS_MAX i32 columns by those of the sheet, below 0 where they are left out; 0: they are the same. */
export const COLUMNS_MAP: usize = 44;
/** See layout/xml.ts. */
export const PREFIX: usize = 48;

// What cells mean.
/** One byte for each style (MEANING words), and how many there are. */
export const STYLES: usize = 68;
export const STYLES_COUNT: usize = 72;
export const IS_1904: usize = 76;
/** u32 addresses of pages of u32 address and u32 length (layout/shared-strings.ts); and how many texts there are. */
export const SHARED_PAGES: usize = 80;
export const SHARED_COUNT: usize = 84;
/** Out: bytes of shared texts in the rows that ended. In and out: those of the row at hand. */
export const SHARED_BYTES: usize = 88;
export const SHARED_ROW_BYTES: usize = 92;

// Where cells go.
/** A view of 8 bytes and a kind of one byte for each row of a column, STRIDE of them from column to column. */
export const VIEWS: usize = 96;
export const KINDS: usize = 100;
export const STRIDE: usize = 104;
export const COLUMNS: usize = 108;
/** In and out: rows so far, and the next address for texts, which go up to TEXTS_END. */
export const ROWS: usize = 112;
export const TEXTS_AT: usize = 116;
export const ROWS_MAX: usize = 120;
export const TEXTS_END: usize = 124;
/** No row is begun with fewer bytes left than these. */
export const FREE_BYTES_MIN: usize = 128;
/** 1: rows are counted, their cells not kept. */
export const IS_COUNTING: usize = 132;
/** Rows of the sheet above this one are passed over. */
export const FIRST_DATA_ROW: usize = 136;
/** The list of null texts (layout/null-texts.ts), 0 = none; and whether the empty one means null. */
export const NULL_TEXTS: usize = 140;
export const EMPTY_IS_NULL: usize = 144;
/** 1: a cell beyond the columns is a failure. */
export const RAGGED_FAILS: usize = 148;

// The row at hand, in and out.
export const IS_PASSED_OVER: usize = 152;
export const IS_BLANK: usize = 156;
export const IS_WIDE: usize = 160;
export const ROW_BYTES: usize = 164;
/** A cell of the row has an empty text, which goes when the row is blank. */
export const HAS_EMPTY: usize = 168;

// Ceilings.
export const COLUMNS_MAX: usize = 172;
export const ROW_BYTES_MAX: usize = 176;

/** A u32 for each row: its number in the sheet. */
export const SHEET_ROWS: usize = 180;

export const STATE_BYTES: usize = 192;

/** More bytes than are ever free. */
export const NEVER_FREE: u32 = 0xffffffff;

/** What a number in a cell of a style is. */
export const MEANING_PLAIN: u32 = 0;
export const MEANING_DATE: u32 = 1;
export const MEANING_DATE_TIME: u32 = 2;
export const MEANING_TIME: u32 = 3;

/** Rows that a sheet can number: what 31 bits hold. */
export const ROW_NUMBER_MAX: u32 = 0x7fffffff;
