// The bytes of sort keys and of the terms that they are made by (assembly/sort-keys.ts).

/** Kinds of a term's values. */
export const TEXT: u32 = 0;
export const INTEGER: u32 = 1;
export const DECIMAL: u32 = 2;
export const NUMBER: u32 = 3;
export const BOOLEAN: u32 = 4;

/** First byte of each column of a key. */
export const NULL_FIRST: u8 = 0;
export const VALUE: u8 = 1;
export const NULL_LAST: u8 = 2;

/** Around this lie the signed exponents of decimals, which are biased above any number of their digits. */
export const ZERO: u32 = 0x8000;
export const EXPONENT_BIAS: u32 = 2048;

/** A term, u32 words as byte offsets: kind, values or views, meta, whether it falls, whether nulls come first. */
export const TERM_KIND: usize = 0;
export const TERM_VALUES: usize = 4;
export const TERM_META: usize = 8;
export const TERM_FALLS: usize = 12;
export const TERM_NULLS_FIRST: usize = 16;
export const TERM_BYTES: usize = 20;
