// Folds of cells into the states of their groups: the description of a fold, and the states.

/** u32 words of the description, as byte offsets. */
export const ROWS: usize = 0;
/** Ids of the rows' groups, by position. */
export const IDS: usize = 4;
/** Meta of a boolean column that chooses rows; 0: all. */
export const CONDITION: usize = 8;
/** Values or views, and meta (0: views) of the column that is folded. */
export const VALUES: usize = 12;
export const META: usize = 16;
/** State of group 0, and bytes from one state to the next. */
export const STATES: usize = 20;
export const STRIDE_BYTES: usize = 24;
export const FOLD_BYTES: usize = 28;

/** A state: u64 value, u8 meta as in typed columns (META_NULL: no value yet). */
export const STATE_META: usize = 8;
export const STATE_BYTES: usize = 16;

/** The state of a sum of doubles: f64 high, f64 low, u8 meta. */
export const DOUBLES_LOW: usize = 8;
export const DOUBLES_META: usize = 16;
export const DOUBLES_BYTES: usize = 24;
