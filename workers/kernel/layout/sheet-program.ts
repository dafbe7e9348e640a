// Where the words of a sheet's program lie, as byte offsets: the writer of workbooks (workers/output/xlsx) lays it out, the
// kernel emitSheet writes rows by it.

// Words of the head.
/** Columns of a row. */
export const SHEET_STEPS: usize = 0;
/** Number of the next row of the sheet, from 1; the kernel counts it on. */
export const ROW_NUMBER: usize = 4;
/** Address behind the last row written. */
export const SHEET_OUT_NEXT: usize = 8;
export const SHEET_HEAD_BYTES: usize = 16;

// Words of a step: one column.
export const CELL_KIND: usize = 0;
/** Address of views or values. */
export const CELL_SOURCE: usize = 4;
/** Address of the bytes beside: meta of typed values, native kinds of views (0: all are texts). */
export const CELL_SECOND: usize = 8;
/** What stands before a row's number: `<c r="A`. */
export const OPEN_AT: usize = 12;
export const OPEN_LENGTH: usize = 16;
/** What stands between the number and the content, by what a cell is: address and length each. */
export const TEXT_FORM: usize = 20;
export const NUMBER_FORM: usize = 28;
export const BOOLEAN_FORM: usize = 36;
export const DATE_FORM: usize = 44;
export const DATETIME_FORM: usize = 52;
export const TIME_FORM: usize = 60;
export const CELL_STEP_BYTES: usize = 68;

// Kinds of steps.
export const CELLS_VIEWS: u32 = 0;
/** Views of numbers' texts; what is none, such as NaN, is a text. */
export const CELLS_NUMBER: u32 = 1;
export const CELLS_INTEGER: u32 = 2;
export const CELLS_DECIMAL: u32 = 3;
export const CELLS_DATE: u32 = 4;
export const CELLS_DATETIME: u32 = 5;
export const CELLS_BOOLEAN: u32 = 6;

/** Bytes that are copied of an opening and of a form, whatever their length: what is placed there has as many behind it. */
export const OPEN_BYTES_MAX: usize = 16;
export const FORM_BYTES_MAX: usize = 48;

/** Longest `_x0000_` of one byte. */
export const XML_ESCAPE_BYTES_MAX: usize = 7;

/** Digits that a spreadsheet keeps of a number: longer integers and decimals are texts. */
export const NUMBER_DIGITS_MAX: u32 = 15;

/** Serial day of 1970-01-01; serials from 61 on (1900-03-01) are right in the calendar of 1900, which has a day too many. */
export const SERIAL_OF_EPOCH: u32 = 25_569;
export const SERIAL_MIN: u32 = 61;
/** 9999-12-31. */
export const SERIAL_MAX: u32 = 2_958_465;

/** Digits of a time as a part of its day: 0.1 µs. */
export const DAY_DIGITS: u32 = 12;
