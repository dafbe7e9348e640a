// Native kinds: what a cell of a file is that knows its type, beside the text that all see of it. One byte a cell. The text
// is the canonical one of the kind, so that a reader's work ends with it and nobody has to look again.

export const KIND_TEXT: u32 = 0;
/** As JSON writes numbers: `-`, digits without a leading zero, fraction, exponent. NaN and the infinities are texts. */
export const KIND_NUMBER: u32 = 1;
/** `true` or `false`. */
export const KIND_BOOLEAN: u32 = 2;
/** 2026-01-31, of the years 0000 to 9999. */
export const KIND_DATE: u32 = 3;
/** 2026-01-31T13:05:00, a fraction of the second only where there is one; `Z` behind it where the file says UTC. */
export const KIND_DATETIME: u32 = 4;
/** 13:05:00, a fraction as above. */
export const KIND_TIME: u32 = 5;
/** A list or an object as JSON, without spaces between its tokens. */
export const KIND_JSON: u32 = 6;

/** How many kinds there are. */
export const NATIVE_KINDS: u32 = 7;
