// Which cells a spreadsheet could take for a formula: what telephone numbers look like, and how far it is looked.

/** Longer cells are no numbers; it bounds the work on a hostile cell. */
export const HARMLESS_BYTES_MAX: usize = 128;

/** A telephone number has at least this many digits: shorter ones are sums ("+1-1"). */
export const PHONE_DIGITS_MIN: u32 = 6;

/** E.164 allows 15; a trunk zero in brackets and an extension may follow. */
export const PHONE_DIGITS_MAX: u32 = 20;
