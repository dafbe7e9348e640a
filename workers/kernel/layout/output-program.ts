// Where the words of an output program lie, as byte offsets: the programs of CSV and JSON (workers/output) are written by
// them, the kernels read them.

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
// CSV only: all steps are runs, and no cell is special for being empty.
export const RUNS_ONLY: usize = 92;
/** Which kernel writes rows by the program. */
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
// JSON only: what stands before a value, and where an object began (written by the kernel).
export const PREFIX_AT: usize = 40;
export const PREFIX_LENGTH: usize = 44;
export const BEGAN_AT: usize = 48;
// CSV only: bytes that a run may take beside those of its fields.
export const ROOM: usize = 52;
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
/** JSON only: views with native kinds at SECOND, each cell written by its own. */
export const KIND_NATIVE: u32 = 10;

export const FLAG_GUARD: u32 = 1;
export const FLAG_QUOTE: u32 = 2;
export const FLAG_QUOTE_EMPTY: u32 = 4;
export const FLAG_SCAN: u32 = 8;
/** JSON: the value is a string, whose opening quote ends the prefix. */
export const FLAG_STRING: u32 = 16;
/** JSON: native numbers are strings. */
export const FLAG_NUMBER_STRING: u32 = 32;
/** CSV: the views have native kinds, at SECOND. */
export const FLAG_KINDS: u32 = 64;
/** CSV: cells with a native kind are quoted too. */
export const FLAG_QUOTE_NATIVE: u32 = 128;

/** A table of classes has one byte for each first byte of a cell. */
export const CLASSES_BYTES: usize = 256;
export const CLASS_QUOTE: u32 = 1;
export const CLASS_GUARD: u32 = 2;
export const CLASS_SIGN: u32 = 4;
export const CLASS_NULL: u32 = 8;

export const QUOTE: u32 = 0x22;
