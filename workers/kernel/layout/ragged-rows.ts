// Memory layout shared by indexRaggedRows and its caller: state, rules, stop codes and events.

/** u32 words of the state, in and out, given as byte offsets. */
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
/**
 * In a file of one column, a blank line is an empty field (and so null) with this bit, and a missing field without it.
 */
export const EMPTY_IS_NULL: u32 = 8;

export const STOP_RAGGED: u32 = 1;
export const STOP_STRAY: u32 = 2;
export const STOP_COLUMNS: u32 = 3;
/**
 * A quoted field contains line breaks and has text after its closing quote, so its opening quote was not closed on the
 * same line.
 */
export const STOP_SWALLOWED: u32 = 4;

/** Event of a row to be reported: u32 row of the table, its length (LENGTH_...), number of stray fields. */
export const EVENT_ROW: usize = 0;
export const EVENT_LENGTH: usize = 4;
export const EVENT_STRAYS: usize = 8;
export const EVENT_BYTES: usize = 12;

export const LENGTH_FITS: u32 = 0;
/** Non-empty fields were dropped. */
export const LENGTH_LONG: u32 = 1;
/** Fields are missing. */
export const LENGTH_SHORT: u32 = 2;
