// Byte offsets in output programs, which writers fill in and emit kernels execute.

// Byte offsets in an output program. The CSV and JSON writers (workers/output) fill in these programs, and the kernels
// execute them.

// Words of the program's head.
export const DELIMITER: usize = 0;
export const DELIMITER_LENGTH: usize = 4;
export const LINE_ENDING: usize = 8;
export const LINE_ENDING_LENGTH: usize = 12;
export const CELL_CLASSES: usize = 16;
export const RUN_CLASSES: usize = 20;
export const STOP_AT_FORMULA: usize = 24;
export const RAW_AT: usize = 28;
export const RAW_STRIDE_BYTES: usize = 32;
export const RAW_QUOTE: usize = 36;
export const NULLS_AT: usize = 40;
export const NULLS_COUNT: usize = 44;
export const EMPTY_IS_NULL: usize = 48;
export const EMPTY_IS_SPECIAL: usize = 52;
export const DECIMAL_MARK: usize = 56;
export const STEPS: usize = 60;
export const OUT_NEXT: usize = 64;
export const GUARDED: usize = 68;
// JSON only.
export const ROW_AT: usize = 72;
export const ROW_LENGTH: usize = 76;
export const TAIL_AT: usize = 80;
export const TAIL_LENGTH: usize = 84;
export const OMIT_NULLS: usize = 88;
// CSV only: all steps are runs, and empty cells need no special treatment.
export const RUNS_ONLY: usize = 92;
/** The kernel that executes the program. */
export const EMITTER: usize = 96;
export const HEAD_BYTES: usize = 128;

export const EMITTER_CSV: u32 = 0;
export const EMITTER_JSON: u32 = 1;

// Words of a step.
export const KIND: usize = 0;
export const SOURCE: usize = 4;
export const SECOND: usize = 8;
export const FLAGS: usize = 12;
export const NULL_AT: usize = 16;
export const NULL_LENGTH: usize = 20;
export const TRUE_AT: usize = 24;
export const TRUE_LENGTH: usize = 28;
export const FALSE_AT: usize = 32;
export const FALSE_LENGTH: usize = 36;
// JSON only: the text before a value, and the address at which an object began (written by the kernel).
export const PREFIX_AT: usize = 40;
export const PREFIX_LENGTH: usize = 44;
export const BEGAN_AT: usize = 48;
// CSV only: maximum number of bytes that a run writes in addition to those of its fields.
export const EXTRA_BYTES_MAX: usize = 52;
export const STEP_BYTES: usize = 64;

export const KIND_RUN: u32 = 0;
export const KIND_FIELD: u32 = 1;
export const KIND_VIEWS: u32 = 2;
export const KIND_INTEGER: u32 = 3;
export const KIND_DECIMAL: u32 = 4;
export const KIND_DATE: u32 = 5;
export const KIND_DATETIME: u32 = 6;
export const KIND_BOOLEAN: u32 = 7;
export const KIND_OPEN: u32 = 8;
export const KIND_CLOSE: u32 = 9;
/** JSON only: views with native kinds at SECOND. The kind of each cell decides how it is written. */
export const KIND_NATIVE: u32 = 10;

export const FLAG_GUARD: u32 = 1;
export const FLAG_QUOTE: u32 = 2;
export const FLAG_QUOTE_EMPTY: u32 = 4;
export const FLAG_SCAN: u32 = 8;
/** JSON: the value is a string. Its opening quote is the last byte of the prefix. */
export const FLAG_STRING: u32 = 16;
/** JSON: write native numbers as strings. */
export const FLAG_NUMBER_STRING: u32 = 32;
/** CSV: the views have native kinds at SECOND. */
export const FLAG_KINDS: u32 = 64;
/** CSV: quote cells with a native kind, too. */
export const FLAG_QUOTE_NATIVE: u32 = 128;

/** A table of classes has one byte for each possible first byte of a cell. */
export const CLASSES_BYTES: usize = 256;
export const CLASS_QUOTE: u32 = 1;
export const CLASS_GUARD: u32 = 2;
export const CLASS_SIGN: u32 = 4;
export const CLASS_NULL: u32 = 8;
/** First byte of a blank that spreadsheets skip, or of a full-width sign: the guard inspects the bytes that follow. */
export const CLASS_BLANK: u32 = 16;

export const QUOTE: u32 = 0x22;

// Byte offsets in a sheet program. The XLSX writer (workers/output/xlsx) fills in the program, and the kernel emitSheet
// executes it to write rows.

// Words of the head.
/** Number of columns. */
export const SHEET_STEPS: usize = 0;
/** Number of the sheet's next row, from 1. The kernel increments it. */
export const ROW_NUMBER: usize = 4;
/** Address after the last row written. */
export const SHEET_OUT_NEXT: usize = 8;
export const SHEET_HEAD_BYTES: usize = 16;

// Words of a step, which writes one column.
export const CELL_KIND: usize = 0;
/** Address of views or values. */
export const CELL_SOURCE: usize = 4;
/** Address of one byte per cell: meta of typed values, or native kinds of views (0: all cells are texts). */
export const CELL_SECOND: usize = 8;
/** Text before a row's number, such as `<c r="A`. */
export const OPEN_AT: usize = 12;
export const OPEN_LENGTH: usize = 16;
/** Texts between the row's number and the content, as address and length. One for each type of cell. */
export const TEXT_FORM: usize = 20;
export const NUMBER_FORM: usize = 28;
export const BOOLEAN_FORM: usize = 36;
export const DATE_FORM: usize = 44;
export const DATETIME_FORM: usize = 52;
export const TIME_FORM: usize = 60;
export const CELL_STEP_BYTES: usize = 68;

// Kinds of steps.
export const CELLS_VIEWS: u32 = 0;
/** Views of formatted numbers. A view that is not a number, such as NaN, is written as text. */
export const CELLS_NUMBER: u32 = 1;
export const CELLS_INTEGER: u32 = 2;
export const CELLS_DECIMAL: u32 = 3;
export const CELLS_DATE: u32 = 4;
export const CELLS_DATETIME: u32 = 5;
export const CELLS_BOOLEAN: u32 = 6;

/**
 * Number of bytes copied for an opening and for a form, whatever their actual length. So at least this many bytes must
 * be readable at each such text.
 */
export const OPEN_BYTES_MAX: usize = 16;
export const FORM_BYTES_MAX: usize = 48;

/** Longest `_x0000_` escape that one byte can produce. */
export const XML_ESCAPE_BYTES_MAX: usize = 7;

/** Number of significant digits that a spreadsheet keeps. Longer integers and decimals are written as text. */
export const NUMBER_DIGITS_MAX: u32 = 15;

/**
 * Serial day of 1970-01-01. Only serials from 61 (1900-03-01) on are correct, because the spreadsheet calendar has a
 * day in 1900 that never existed.
 */
export const SERIAL_OF_EPOCH: u32 = 25_569;
export const SERIAL_MIN: u32 = 61;
/** Serial day of 9999-12-31. */
export const SERIAL_MAX: u32 = 2_958_465;

/** Number of decimal digits for a time as a fraction of its day: precise to 0.1 µs. */
export const DAY_DIGITS: u32 = 12;

// Limits for deciding which cells a spreadsheet might interpret as a formula: the shape of telephone numbers, and the
// maximum length of a harmless cell.

/** Longer cells are never treated as harmless numbers. The limit bounds the work on a hostile cell. */
export const HARMLESS_BYTES_MAX: usize = 128;

/** Minimum number of digits of a telephone number: shorter texts are sums ("+1-1"). */
export const PHONE_DIGITS_MIN: u32 = 6;

/** E.164 allows 15; a trunk zero in brackets and an extension may follow. */
export const PHONE_DIGITS_MAX: u32 = 20;

// Byte offsets in the description of a page of a Parquet column (workers/output/parquet), to which kernels append.

/** Address of the next value. */
export const PAGE_NEXT: usize = 0;
/** End of the memory of the page. */
export const PAGE_LIMIT: usize = 4;
/** The page is full once the next value's address is at least this. */
export const PAGE_FULL: usize = 8;
/** Address of one bit for each row: 1 if its cell is not null. */
export const PAGE_PRESENT: usize = 12;
/** Number of rows in the page, and their maximum. */
export const PAGE_ROWS: usize = 16;
export const PAGE_ROWS_MAX: usize = 20;
/** Number of rows whose cell is null. */
export const PAGE_NULLS: usize = 24;
export const PAGE_DESCRIPTION_BYTES: usize = 28;

/** Size of the hash table of `deflateSnappy`. */
export const SNAPPY_TABLE_BYTES: usize = 32_768;
