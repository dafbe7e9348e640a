// Codes that select the operation of expression kernels, and the states and marks that these kernels produce.

/** State of a condition for a row. UNKNOWN: the compiled closures must decide. */
export const FALSE: u32 = 0;
export const TRUE: u32 = 1;
export const NULL: u32 = 2;
export const UNKNOWN: u32 = 3;

/** Modes of combining new states with the existing ones: replace them, AND (`&&`), or OR (`||`). */
export const SET: u32 = 0;
export const AND: u32 = 1;
export const OR: u32 = 2;

/** Type of the values of a vector. BOOLEAN occurs only in columns that are aggregated. */
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

/**
 * Maximum length of a text. Longer texts are left to the compiled closures, which count the steps that these texts
 * cost.
 */
export const TEXT_BYTES_MAX: u32 = 16_384;

/** Address in the view of a text that is not known yet: the compiled closures must decide. Address 0 is null. */
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

/**
 * A vector of numbers, u32 words given as byte offsets. The values have 8 bytes each: an f64, or the i64 digits of a
 * decimal.
 */
export const VECTOR_VALUES: usize = 0;
/** One byte per value: 0 if the value is valid, otherwise NULL or UNKNOWN. */
export const VECTOR_MARKS: usize = 4;
/** One byte per value, for decimals only. */
export const VECTOR_SCALES: usize = 8;
/** Distance between values in bytes: 8, or 0 for a constant. */
export const VECTOR_STEP_BYTES: usize = 12;
export const VECTOR_BYTES: usize = 24;
