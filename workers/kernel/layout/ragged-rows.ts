// What indexRaggedRows and its caller share: state, rules, stops, events.

/** u32 words of the state, in and out, as byte offsets. */
export const STRUCTURALS: usize = 0;
export const BEFORE: usize = 4;
export const ROWS: usize = 8;
export const EVENTS: usize = 12;
export const PLAIN: usize = 16;
export const STOP: usize = 20;
export const STOP_AT: usize = 24;
export const STATE_BYTES: usize = 28;

/** Bits of the rules. */
export const RAGGED_FAILS: u32 = 1;
export const STRAY_FAILS: u32 = 2;
export const MAY_BE_STRAY: u32 = 4;
/** In a file of one column a blank line is an empty field (which is null), else a missing one. */
export const EMPTY_IS_NULL: u32 = 8;

export const STOP_RAGGED: u32 = 1;
export const STOP_STRAY: u32 = 2;
export const STOP_COLUMNS: u32 = 3;

/** What is to be reported of a row: u32 row of the table, 1 when non-empty fields were dropped, number of stray fields. */
export const EVENT_ROW: usize = 0;
export const EVENT_EXTRA: usize = 4;
export const EVENT_STRAYS: usize = 8;
export const EVENT_BYTES: usize = 12;
