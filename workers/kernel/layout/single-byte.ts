// Memory layout shared by the kernel that decodes single-byte encodings and its callers: the state and the table, as
// u32 words.

/** Address of the next byte to decode, in and out. */
export const FROM: usize = 0;
/** Address after the decoded text, in and out. */
export const TO: usize = 4;
export const STATE_BYTES: usize = 8;

/**
 * One word per byte from 0x80 on: its UTF-8 in the low three bytes (first byte lowest) and its length in the highest
 * byte. A word of 0: the encoding does not define this byte.
 */
export const TABLE_BYTES: usize = 512;
export const LENGTH_SHIFT: u32 = 24;
/** Maximum number of UTF-8 bytes for one input byte: single-byte encodings contain no character above U+FFFF. */
export const UTF8_BYTES_MAX: usize = 3;
