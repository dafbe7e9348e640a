// Types of cells as the sheet declares them.

/** Values of a cell's `t` attribute. */
export const TYPE_NUMBER = 0;
export const TYPE_SHARED = 1;
export const TYPE_BOOLEAN = 2;
export const TYPE_ERROR = 3;
export const TYPE_FORMULA_TEXT = 4;
export const TYPE_INLINE = 5;
export const TYPE_DATE = 6;
