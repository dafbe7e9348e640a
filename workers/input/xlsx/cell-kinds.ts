// What a cell holds, as the sheet tells it.

/** A cell's `t`: first and last byte of the word tell them apart. */
export const TYPE_NUMBER = 0;
export const TYPE_SHARED = 1;
export const TYPE_BOOLEAN = 2;
export const TYPE_ERROR = 3;
export const TYPE_FORMULA_TEXT = 4;
export const TYPE_INLINE = 5;
export const TYPE_DATE = 6;
