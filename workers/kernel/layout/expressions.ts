// The numbers by which the kernels of expressions are given their orders, and the states and marks that they leave.

/** State of a condition for a row; UNKNOWN: the closures must decide. */
export const FALSE: u32 = 0;
export const TRUE: u32 = 1;
export const NULL: u32 = 2;
export const UNKNOWN: u32 = 3;

/** How states are put to those that are there: in their place, behind `&&`, behind `||`. */
export const SET: u32 = 0;
export const AND: u32 = 1;
export const OR: u32 = 2;

/** What the values of a vector are; the last only of columns that are folded into groups. */
export const DOUBLE: u32 = 0;
export const INTEGER: u32 = 1;
export const DECIMAL: u32 = 2;
export const BOOLEAN: u32 = 3;

/** Tests on texts. */
export const TEXT_IS_ANY: u32 = 0;
export const TEXT_STARTS: u32 = 1;
export const TEXT_ENDS: u32 = 2;
export const TEXT_CONTAINS: u32 = 3;
export const TEXT_LESS: u32 = 4;
export const TEXT_LESS_OR_EQUAL: u32 = 5;
export const TEXT_IS_NULL: u32 = 6;

/** Longer texts are left to the closures, which count the steps that they cost. */
export const TEXT_BYTES_MAX: u32 = 16_384;

/** Address in the view of a text that is not known: the closures must decide. Address 0 is null. */
export const UNKNOWN_TEXT: u32 = 1;

/** Comparisons of numbers. */
export const LESS: u32 = 0;
export const LESS_OR_EQUAL: u32 = 1;
export const GREATER: u32 = 2;
export const GREATER_OR_EQUAL: u32 = 3;
export const EQUAL: u32 = 4;

export const ADD: u32 = 0;
export const SUBTRACT: u32 = 1;
export const MULTIPLY: u32 = 2;
export const DIVIDE: u32 = 3;

/** Parts of dates. */
export const DATE_YEAR: u32 = 0;
export const DATE_MONTH: u32 = 1;
export const DATE_DAY: u32 = 2;
export const DATE_WEEKDAY: u32 = 3;

/** A vector of numbers, u32 words as byte offsets. Values: 8 bytes each, f64 or the i64 digits of a decimal. */
export const VECTOR_VALUES: usize = 0;
/** A byte each: 0 for a value, else NULL or UNKNOWN. */
export const VECTOR_MARKS: usize = 4;
/** A byte each, of decimals. */
export const VECTOR_SCALES: usize = 8;
/** From value to value: 8, or 0 for a constant. */
export const VECTOR_STEP_BYTES: usize = 12;
export const VECTOR_BYTES: usize = 24;
