// How the kernel changes the case of letters: the letter from which on it changes them, and its table.

/** The first of the letters that change. */
export const TO_UPPER: u32 = 97;
export const TO_LOWER: u32 = 65;

/** Code points that the table begins with, of one and two bytes in UTF-8. */
export const NEAR_POINTS: u32 = 0x800;

/** U+1E00 to U+1FFF (Vietnamese, Greek with accents), which the table holds behind U+07FF. */
export const FAR_FIRST: u32 = 0x1e00;
export const FAR_POINTS: u32 = 0x200;

/** Code points below this have an entry in the table of letters without accents. */
export const ACCENT_POINTS: u32 = 0x250;

/** Entry of a character that has no accent. */
export const AS_IT_IS: u32 = 0xffff;
