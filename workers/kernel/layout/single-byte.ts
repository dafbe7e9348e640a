// What the kernel that decodes single-byte encodings and its callers share: its state and its table, u32 words.

/** Address of the next byte to be decoded, in and out. */
export const FROM: usize = 0;
/** Address behind the text that was made of them, in and out. */
export const TO: usize = 4;
export const STATE_BYTES: usize = 8;

/**
 * A word for each byte from 0x80 on: its UTF-8 in the low three bytes, first byte lowest, and how many there are in the
 * highest. None: the encoding has no such byte.
 */
export const TABLE_BYTES: usize = 512;
export const LENGTH_SHIFT: u32 = 24;
/** Of UTF-8 that one byte becomes at most: all single-byte encodings stay within U+FFFF. */
export const UTF8_BYTES_MAX: usize = 3;
